"""A learnt metric as a bar chart of importances, or as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.plotting.importances import ImportanceDisplay, asked_of
from onlinekern.plotting.style import axes_for
from onlinekern.preprocessing.steps import steps_of


class MetricDisplay(ImportanceDisplay):
    """Importances of features as bars (`ImportanceDisplay`), or a learnt metric as a matrix.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
    names : ndarray of shape (n_features,)
        Of the features.
    n : int, default=20
        So many features are shown, the most important ones; the others share a bar.
    metric : ndarray of shape (n_features, n_features), optional
        Without it there is no matrix to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        Of ``kind="bars"``, as in `ImportanceDisplay`.
    image_ : matplotlib AxesImage
        Of ``kind="matrix"``: the rows and columns of the metric, in the order of the features.
    shown : ndarray of shape (n_shown,), intp
        The features that are shown, the most important first.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelRLSRegressor
    >>> from onlinekern.plotting import MetricDisplay
    >>> X = np.random.default_rng(0).standard_normal((1000, 8))
    >>> y = np.sin(2 * X[:, 2]) + X[:, 5]
    >>> model = KernelRLSRegressor(metric="diagonal", random_state=0).fit(X, y)
    >>> display = MetricDisplay.from_estimator(model, n=3)
    >>> int(display.shown[0]), len(display.bars_)
    (2, 4)
    """

    def __init__(
        self, importances: Floats, names: Array, n: int = 20, metric: Floats | None = None
    ) -> None:
        super().__init__(importances, names, n)
        self.metric = metric

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: Literal["bars", "matrix"] = "bars",
        n: int = 20,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the importances, or the metric, of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Has ``feature_importances_``, such as kernel least squares with a metric, or is a
            pipeline with such a step.
        kind : {'bars', 'matrix'}, default='bars'
            'matrix' needs ``metric="full"``.
        n, feature_names, ax
            As in `ImportanceDisplay.from_estimator`.
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
            If there are not as many names as features.
        """
        importances, names = asked_of(estimator, n, feature_names)
        display = cls(importances, names, n, matrix_of(estimator))
        return display.plot(ax, kind=kind, **kwargs)

    def plot(
        self, ax: Any = None, *, kind: Literal["bars", "matrix"] = "bars", **kwargs: Any
    ) -> Self:
        """Draw the importances, or the metric.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        kind : {'bars', 'matrix'}, default='bars'
        **kwargs
            Arguments of matplotlib's ``barh`` or ``imshow``.

        Returns
        -------
        MetricDisplay
        """
        if kind == "bars":
            return super().plot(ax, **kwargs)
        if kind != "matrix":
            raise ValueError(f"kind must be 'bars' or 'matrix', got {kind!r}")
        if self.metric is None:
            raise TypeError("a matrix can be drawn of metric='full' only: use kind='bars'")
        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax)
        self.figure_ = self.ax_.figure
        own = np.sort(self.shown)
        shown = self.metric[np.ix_(own, own)]
        largest = max(float(np.abs(shown).max(initial=0)), np.finfo(float).tiny)
        style = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, **kwargs}
        self.image_ = self.ax_.imshow(shown, **style)
        ticks, labels = np.arange(len(own)), [str(name) for name in self.names[own]]
        self.ax_.set_xticks(ticks, labels, rotation=90, parse_math=False)
        self.ax_.set_yticks(ticks, labels, parse_math=False)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="metric")
        return self


def matrix_of(estimator: Any) -> Floats | None:
    """Return the matrix of the metric that an estimator, or a step of a pipeline, has learnt."""
    steps = steps_of(estimator)
    metrics = [one.metric_ for one in steps if hasattr(one, "metric_")]
    return metrics[-1] if metrics and np.ndim(metrics[-1]) == 2 else None
