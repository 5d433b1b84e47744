"""Importances of features as a bar chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.encoded_tables import feature_names
from onlinekern.estimators.types import Array, Floats
from onlinekern.plotting.style import COLOURS, GREY, axes_for, open_axes
from onlinekern.preprocessing.steps import steps_of
from onlinekern.streams.errors import check_count


class ImportanceDisplay:
    """Importances of the features of a model as bars, the largest first.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
    names : ndarray of shape (n_features,)
        Of the features.
    n : int, default=20
        So many features have bars of their own; the others share one.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        Bars in descending order, followed by the bar of the other features, if there are any.
    shown : ndarray of shape (n_shown,), intp
        The features with a bar of their own.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from onlinekern import KernelForestClassifier
    >>> from onlinekern.plotting import ImportanceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = KernelForestClassifier(n_trees=10, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(model, n=5)
    >>> len(display.bars_), display.ax_.get_yticklabels()[-1].get_text()
    (6, '25 others')
    """

    def __init__(self, importances: Floats, names: Array, n: int = 20) -> None:
        self.importances, self.names, self.n = np.asarray(importances), np.asarray(names), n
        self.shown = np.argsort(-self.importances, kind="stable")[:n]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n: int = 20,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the importances of the features of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Has ``feature_importances_``, as kernel forests, scikit-learn's forests and
            `onlinekern.evaluate.StreamImportance` have, or is a pipeline: then its last step that
            has some.
        n : int, default=20
            So many features have bars of their own; the others share one.
        feature_names : sequence of str, optional
            Of the features; default those that the model has seen, or that the steps in front of it
            give their features, else their numbers.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``barh``.

        Returns
        -------
        ImportanceDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator has learnt nothing.
        TypeError
            If it has no importances.
        ValueError
            If there are not as many names as features.
        """
        return cls(*asked_of(estimator, n, feature_names), n).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``barh``.

        Returns
        -------
        ImportanceDisplay
        """
        widths = self.importances[self.shown].tolist()
        labels = [str(name) for name in self.names[self.shown]]
        colours = [COLOURS[0]] * len(widths)
        left = len(self.importances) - len(self.shown)
        if left:
            widths.append(float(np.delete(self.importances, self.shown).sum()))
            labels.append(f"{left:,} other{'s' if left > 1 else ''}")
            colours.append(GREY)
        size = (6.0, 0.8 + 0.25 * len(widths))
        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax, figsize=size)
        self.figure_ = self.ax_.figure
        places = np.arange(len(widths))
        self.bars_ = self.ax_.barh(places, widths, **{"color": colours, "height": 0.7, **kwargs})
        self.ax_.set_yticks(places, labels, parse_math=False)
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel("importance")
        self.ax_.grid(True, axis="x", alpha=0.3)
        self.ax_.set_axisbelow(True)
        open_axes(self.ax_)
        return self


def asked_of(estimator: Any, n: int, names: Sequence[str] | None) -> tuple[Floats, Array]:
    """Return the importances of an estimator and the names of its features, after checks."""
    check_count("n", n)
    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    importances, known = found_in(estimator)
    known = known if names is None else np.asarray(list(names), dtype=object)
    if known.shape != importances.shape:
        raise ValueError(
            f"feature_names must be those of {len(importances)} features, got {len(known)}"
        )
    return importances, known


def found_in(estimator: Any) -> tuple[Floats, Array]:
    """Return importances and feature names of an estimator, or of a step of a pipeline."""
    steps = steps_of(estimator)
    places = [k for k, one in enumerate(steps) if has_importances(one)]
    if not places:
        raise TypeError(
            "estimator must have feature_importances_, as KernelForestClassifier has; got "
            f"{type(steps[-1]).__name__}, which has none"
        )
    step = steps[places[-1]]
    importances = np.asarray(step.feature_importances_, dtype=float)
    names = getattr(step, "importance_names_", None)
    if names is None:
        names = feature_names(step)
    if names is None and places[-1] > 0:
        names = names_before(estimator, places[-1])
        before = steps[places[-1] - 1]
        # A race behind an encoder has importances of the columns of the layout, not of all
        # features.
        if names is not None and len(names) != len(importances) and hasattr(before, "layout_"):
            names = before._names_in_layout()
    if names is None:
        names = np.array([f"feature {k}" for k in range(len(importances))], dtype=object)
    return importances, names


def has_importances(estimator: Any) -> bool:
    """Return whether an estimator has importances; NotFittedError if it only lacks a fit."""
    try:
        _ = estimator.feature_importances_
    except NotFittedError:  # which is an AttributeError, too
        raise
    except AttributeError:
        return False
    return True


def names_before(pipeline: Any, place: int) -> Array | None:
    """Return the feature names given by the steps before a step, or None."""
    try:
        names: Array = pipeline[:place].get_feature_names_out()
    except (AttributeError, ValueError):
        return None
    return names
