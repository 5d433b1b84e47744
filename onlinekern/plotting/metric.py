"""Which features a model looks at: bars of importances, and the matrix of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.types import Array, Floats
from onlinekern.plotting.style import COLOURS, axes_for
from onlinekern.streams.checks import check_count


class MetricDisplay:
    """Importances of features as bars, or a learnt metric as a matrix.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
    metric : ndarray of shape (n_features, n_features), optional
        Without it there is no matrix to draw.
    feature_names : sequence of str, optional
        By default the numbers of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        Of ``kind="bars"``, the most important feature on top.
    image_ : matplotlib AxesImage
        Of ``kind="matrix"``: the rows and columns of the metric.
    shown_ : ndarray of int
        Numbers of the features that were drawn: the most important ones, first as bars, in their
        own order as a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelRLSRegressor
    >>> from onlinekern.plotting import MetricDisplay
    >>> X = np.random.default_rng(0).standard_normal((1000, 8))
    >>> y = np.sin(2 * X[:, 2]) + X[:, 5]
    >>> model = KernelRLSRegressor(metric="diagonal", random_state=0).fit(X, y)
    >>> display = MetricDisplay.from_estimator(model, n=3)
    >>> int(display.shown_[0]), len(display.bars_)
    (2, 3)
    """

    def __init__(
        self,
        importances: Floats,
        metric: Floats | None = None,
        *,
        feature_names: Sequence[str] | Array | None = None,
    ) -> None:
        self.importances, self.metric = np.asarray(importances), metric
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: Literal["bars", "matrix"] = "bars",
        n: int = 20,
        feature_names: Sequence[str] | Array | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the importances, or the metric, of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Has ``feature_importances_``, such as kernel least squares with a metric and kernel
            forests, or is a pipeline that ends in such a learner.
        kind : {'bars', 'matrix'}, default='bars'
            'matrix' needs ``metric="full"``.
        n : int, default=20
            Largest number of features that are drawn.
        feature_names : sequence of str, optional
            By default the names that the learner has seen, or those of what the steps in front of
            it make; else the numbers of the features.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``barh`` or ``imshow``.

        Returns
        -------
        MetricDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator has learnt nothing.
        TypeError
            If it has no importances, or no matrix where one is wanted.
        ValueError
            If there is not a name for each feature.
        """
        check_count("n", n)
        check_is_fitted(estimator)
        learner = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not hasattr(learner, "feature_importances_"):
            raise TypeError(
                "estimator must have feature_importances_, such as kernel least squares with a "
                f"metric; got {type(learner).__name__}"
            )
        metric = getattr(learner, "metric_", None)
        metric = metric if metric is not None and metric.ndim == 2 else None
        importances = learner.feature_importances_
        if feature_names is None:
            feature_names = names_of(estimator, learner)
        display = cls(importances, metric, feature_names=feature_names)
        return display.plot(ax, kind=kind, n=n, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["bars", "matrix"] = "bars",
        n: int = 20,
        **kwargs: Any,
    ) -> Self:
        """Draw the importances, or the metric.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        kind : {'bars', 'matrix'}, default='bars'
        n : int, default=20
            Largest number of features that are drawn.
        **kwargs
            Arguments of matplotlib's ``barh`` or ``imshow``.

        Returns
        -------
        MetricDisplay
        """
        names = self._names()
        if kind not in ("bars", "matrix"):
            raise ValueError(f"kind must be 'bars' or 'matrix', got {kind!r}")
        if kind == "matrix" and self.metric is None:
            raise TypeError("a matrix can be drawn of metric='full' only: use kind='bars'")
        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax)
        self.figure_ = self.ax_.figure
        self.shown_ = np.argsort(-self.importances, kind="stable")[:n]
        if kind == "matrix":
            self._draw_matrix(names, kwargs)
        else:
            self._draw_bars(names, kwargs)
        return self

    def _names(self) -> list[str]:
        """Return the name of each feature."""
        count = len(self.importances)
        names = range(count) if self.feature_names is None else self.feature_names
        if len(names) != count:
            raise ValueError(
                f"feature_names must hold a name for each of {count} features, got {len(names)}"
            )
        return [str(name) for name in names]

    def _draw_bars(self, names: list[str], options: dict[str, Any]) -> None:
        places = np.arange(len(self.shown_))[::-1]
        style = {"color": COLOURS[0], **options}
        self.bars_ = self.ax_.barh(places, self.importances[self.shown_], **style)
        self.ax_.set_yticks(places, [names[j] for j in self.shown_])
        self.ax_.set_xlabel("share in the metric")
        for side in ("top", "right"):
            self.ax_.spines[side].set_visible(False)

    def _draw_matrix(self, names: list[str], options: dict[str, Any]) -> None:
        assert self.metric is not None
        self.shown_ = np.sort(self.shown_)
        shown = self.metric[np.ix_(self.shown_, self.shown_)]
        largest = max(float(np.abs(shown).max(initial=0)), np.finfo(float).tiny)
        style = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, **options}
        self.image_ = self.ax_.imshow(shown, **style)
        ticks, labels = np.arange(len(shown)), [names[j] for j in self.shown_]
        self.ax_.set_xticks(ticks, labels, rotation=90)
        self.ax_.set_yticks(ticks, labels)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="metric")


def names_of(estimator: Any, learner: Any) -> Any:
    """Return the names of what a learner sees; None where nobody knows them."""
    known = getattr(learner, "feature_names_in_", None)
    if known is not None or estimator is learner:
        return known
    names = getattr(estimator, "feature_names_in_", None)
    for _, step in estimator.steps[:-1]:
        if step is None or isinstance(step, str):
            continue
        if hasattr(step, "get_feature_names_out"):
            names = step.get_feature_names_out(names)
        elif getattr(step, "n_features_in_", None) != getattr(learner, "n_features_in_", None):
            return None
    return names
