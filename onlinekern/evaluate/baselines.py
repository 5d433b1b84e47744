"""The two baselines of every stream: nothing changes, and all is as it mostly was."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.types import Array, ArrayLike, Classes, Floats

# Elements of the tables that are made at once, so that many classes take no more memory than few.
MOST_ELEMENTS = 2**18


class NoChange:
    """Predicts the label or target of the sample before; before the first, `classes[0]` or 0.

    On a stream whose neighbours are alike it is hard to beat.
    """

    def __init__(self) -> None:
        self.last_: Any = None

    def partial_fit_predict(self, X: Any, y: ArrayLike, classes: Classes = None) -> Array:
        """Return the labels before those of y, and keep the last one."""
        y = np.asarray(y)
        if self.last_ is None:
            self.last_ = 0.0 if classes is None else np.asarray(classes)[0]
        predicted = np.concatenate([[self.last_], y])[:-1]
        self.last_ = y[-1] if len(y) else self.last_
        return predicted

    def predict(self, X: Any) -> Array:
        """Return the last label for each row."""
        return np.full(X.shape[0], self.last_)


class Majority:
    """Predicts the most frequent label so far, the first of several; the mean of the targets."""

    def __init__(self) -> None:
        self.classes_: Any = None
        self.counts_: Any = np.zeros(1)
        self.total_ = 0.0

    def partial_fit_predict(self, X: Any, y: ArrayLike, classes: Classes = None) -> Array:
        """Return what was most frequent, or the mean, before each of y."""
        y = np.asarray(y)
        if classes is None:
            return self._means(y)
        if self.classes_ is None:
            self.classes_ = np.unique(classes)
            self.counts_ = np.zeros(len(self.classes_), dtype=np.int64)
        numbers = np.searchsorted(self.classes_, y)
        step = max(1, MOST_ELEMENTS // len(self.classes_))
        best = [self._leaders(numbers[i : i + step]) for i in range(0, len(y), step)]
        return self.classes_[np.concatenate([np.zeros(0, dtype=np.intp), *best])]

    def predict(self, X: Any) -> Array:
        """Return the most frequent label, or the mean of the targets, for each row."""
        if self.classes_ is None:
            return np.full(X.shape[0], self.total_ / max(1, self.counts_[0]))
        return np.full(X.shape[0], self.classes_[self.counts_.argmax()])

    def _leaders(self, numbers: Array) -> Array:
        counts = np.zeros((len(numbers) + 1, len(self.counts_)), dtype=np.int64)
        counts[0] = self.counts_
        counts[np.arange(1, len(counts)), numbers] = 1
        counts = np.cumsum(counts, axis=0)
        self.counts_ = counts[-1]
        return counts[:-1].argmax(axis=1)

    def _means(self, y: Array) -> Floats:
        # One after the other, so that blocks of any size give the same bits.
        totals = np.cumsum(np.concatenate([[self.total_], y]))
        counts = self.counts_[0] + np.arange(len(y))
        self.total_, self.counts_ = float(totals[-1]), self.counts_ + len(y)
        return totals[:-1] / np.maximum(counts, 1)


# Name -> label in tables of classifications, of regressions, and class.
BASELINES = {
    "no-change": ("no change", "no change", NoChange),
    "majority": ("majority", "mean", Majority),
}
