"""Calibration of probabilities along a stream."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.calibration import CalibrationDisplay

from onlinekern.estimators.validation import wrong_type
from onlinekern.plotting.blocks import blocks_of, cut, name_of, with_classes
from onlinekern.plotting.style import axes_for
from onlinekern.streams.errors import check_count


class PrequentialCalibrationDisplay(CalibrationDisplay):
    """Calibration curve of probabilities that were predicted before each sample was learnt.

    This is a ``sklearn.calibration.CalibrationDisplay`` with its parameters, attributes and
    methods, which can also be made from a stream. It needs two classes.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Share of the positive class against the mean probability of each bin.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from onlinekern import KernelPAClassifier
    >>> from onlinekern.plotting import PrequentialCalibrationDisplay
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = KernelPAClassifier(gamma=0.4, max_support=200, when_full="oldest")
    >>> display = PrequentialCalibrationDisplay.from_stream(model, X, y, rows=200)
    >>> len(display.y_prob)
    1800
    """

    @classmethod
    def from_stream(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        rows: int = 100,
        n_bins: int = 10,
        strategy: str = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Learn a stream, and draw the observed frequencies against the predicted probabilities.

        Parameters
        ----------
        estimator : classifier
            Has ``partial_fit`` and ``predict_proba``. It is not cloned, and goes on learning.
        X : array-like or CSR matrix of shape (n_samples, n_features), or iterable of (X, y)
        y : array-like of shape (n_samples,), optional
            Must be None with an iterable.
        classes : array-like of shape (2,), optional
            They must be given for a classifier that has learnt nothing and an iterable.
        rows : int, default=100
            Number of samples predicted at a time before they are learnt. 1 is exact
            test-then-train, but slow. The first samples of a new model have no probabilities, and
            are left out.
        n_bins : int, default=10
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or with equal numbers of samples.
        pos_label : label, optional
            Class whose probability is drawn; by default ``classes_[1]``.
        name : str, optional
            Name in the legend; by default that of the class.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of `sklearn.calibration.CalibrationDisplay.plot`.

        Returns
        -------
        PrequentialCalibrationDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError
            If the estimator lacks one of the methods.
        ValueError
            If there are not two classes, `pos_label` is none of them, or all samples were needed
            for a first model.
        """
        ax = axes_for(f"{cls.__name__}.from_stream", ax)
        check_count("rows", rows)
        for method in ("partial_fit", "predict_proba"):
            if not hasattr(estimator, method):
                raise wrong_type("estimator", f"have {method}", estimator)
        blocks, known = with_classes(estimator, blocks_of(X, y), classes)
        if known is None or len(known) != 2:
            raise ValueError(f"classes must be two for a calibration curve, got {known}")
        positive = known[1] if pos_label is None else pos_label
        if positive not in known:
            raise ValueError(f"pos_label must be one of {known}, got {pos_label!r}")
        truths, found = probabilities(estimator, cut(blocks, rows), known, positive)
        return cls.from_predictions(
            truths, found, n_bins=n_bins, strategy=strategy, pos_label=True,
            name=name_of(estimator, name), ax=ax, **kwargs,
        )._named(positive)  # fmt: skip

    def _named(self, positive: Any) -> Self:
        self.pos_label = positive
        for axis, what in (("x", "mean probability"), ("y", "share")):
            self.ax_.set(**{f"{axis}label": f"{what} of class {positive}"})
        return self


def probabilities(estimator: Any, blocks: Any, classes: Any, positive: Any) -> tuple[Any, Any]:
    """Return whether each sample was of the positive class, and its predicted probability."""
    truths, found = [], []
    for X, y in blocks:
        learnt = getattr(estimator, "classes_", ())
        if len(learnt) == 2:
            column = int(np.flatnonzero(np.asarray(learnt) == positive)[0])
            found.append(estimator.predict_proba(X)[:, column])
            truths.append(y == positive)
        estimator.partial_fit(X, y, classes=classes)
    if not found:
        raise ValueError("X must hold more samples than the first rows, which have no probability")
    return np.concatenate(truths), np.concatenate(found)
