"""Coverage of intervals and sets of labels along a stream, and the threshold that adapts to it."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from typing import Any

import numpy as np

from onlinekern.core.learning.coverage import begin, follow
from onlinekern.estimators.declared import (
    Check,
    array,
    between,
    check_attributes,
    number,
    of,
    whole,
)
from onlinekern.estimators.savable import require
from onlinekern.estimators.types import Array, Floats

# The threshold is a quantile of the last KEPT scores, few enough to follow a stream. For a high
# coverage more are kept, so that BEYOND of them exceed the threshold, up to MOST_KEPT.
KEPT, MOST_KEPT, BEYOND = 512, 65_536, 10


class Coverage:
    """The threshold below which a share of the scores of a stream stays, adapted along it.

    Scores are taken before their samples are learnt. Thresholds do not depend on how a stream is
    divided into calls. The attributes are the state.

    Parameters
    ----------
    share : float in (0, 1)

    Attributes
    ----------
    recent, ordered : ndarray of shape (size,)
        The last scores: score k is at index k % size of `recent`; `ordered` has them ascending.
    levels, weights : ndarray of shape (8,)
        The adapted levels, shares to be missed, one for each rate, from ``share - 1`` to 1, and
        their weights.
    correction : float
        Correction that is added to the mean of the levels.
    seen : int
        Number of scores.
    threshold : float
        Threshold of the next score, infinite while there are too few scores.
    told, held : int
        Samples that had a finite threshold, and those of them that were covered.
    begun : bool
        Whether a sample has counted.
    """

    # Defaults for models of former versions.
    begun = True
    correction = 0.0

    def __init__(self, share: float) -> None:
        self.begun = False
        self.share = float(share)
        size = int(min(max(KEPT, np.ceil(BEYOND / (1 - self.share))), MOST_KEPT))
        self.recent, self.ordered, self.levels, self.weights = begin(size)
        self.levels[:] = 1 - self.share
        self.correction = 0.0
        self.seen = self.told = self.held = 0
        self.threshold = inf

    def copy(self) -> Coverage:
        """Return a copy in the same state."""
        twin: Any = object.__new__(Coverage)
        for name, value in vars(self).items():
            setattr(twin, name, value.copy() if isinstance(value, np.ndarray) else value)
        return twin

    def informative(self, scores: Floats, counts: Any) -> Floats:
        """Return the scores, with NaN for those that are not informative.

        These are scores of samples that do not count, and of the first one that counts, before
        which the learner had seen nothing.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        counts : ndarray of shape (n,), dtype bool
        """
        told = np.where(counts, scores, np.nan)
        if not self.begun:
            first = np.flatnonzero(counts)[:1]
            told[first] = np.nan
            self.begun = len(first) > 0
        return told

    def append(self, scores: Floats, held: Any = False) -> Floats:
        """Take scores up, of which NaN counts for nothing; return for each the threshold before it.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        held : bool or ndarray of shape (n,), default=False
            The samples that are covered whatever the threshold.
        """
        thresholds = self._follow(scores)
        told = ~np.isnan(scores) & (thresholds < inf)
        self.told += int(np.count_nonzero(told))
        self.held += int(np.count_nonzero(told & (held | (scores <= thresholds))))
        return thresholds

    def append_one(self, score: float, counts: bool, held: bool = False) -> Floats:
        """Add one score, if it is informative; return the threshold before it, an array."""
        if not counts or not self.begun:
            score = nan
        self.begun = self.begun or counts
        thresholds = self._follow(np.array([score], dtype=np.float64))
        threshold = float(thresholds[0])
        if score == score and threshold < inf:
            self.told += 1
            self.held += bool(held or score <= threshold)
        return thresholds

    def _follow(self, scores: Floats) -> Floats:
        """Add scores; return the threshold before each."""
        arrays = self.recent, self.ordered, self.levels, self.weights
        numbers = self.correction, self.seen, 1 - self.share
        thresholds, self.threshold, self.correction, self.seen = follow(scores, *arrays, *numbers)
        return thresholds

    def _check_loaded(self) -> None:
        """Raise ValueError if a state that was read does not fit together."""
        check_attributes(self, others=False)
        known = min(self.seen, len(self.recent))
        ascend = np.array_equal(np.sort(self.recent[:known]), self.ordered[:known])
        require(ascend, "its scores do not ascend")
        require(self.weights.sum() > 0, "its weights are 0")

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        yield "share", between(0, 1)
        missed, new = 1 - self.share, Coverage(self.share)
        for name in ("recent", "ordered"):
            yield name, array(*new.recent.shape, least=-inf, most=inf)
        yield "levels", array(*new.levels.shape, least=self.share - 1, most=1)
        yield "weights", array(*new.weights.shape, least=0, most=1)
        yield "threshold", number(-inf, inf)
        yield "seen", whole()
        yield "told", whole(0, self.seen)
        yield "held", whole(0, self.told)
        # Models of former versions lack these.
        if "correction" in vars(self):
            yield "correction", number(-missed, missed)
        if "begun" in vars(self):
            yield "begun", of(bool)


class TargetCoverage:
    """A `Coverage` for each of several targets, each of its own scores.

    Parameters
    ----------
    share : float in (0, 1)
    n_targets : int

    Attributes
    ----------
    each : list of Coverage
    """

    def __init__(self, share: float, n_targets: int) -> None:
        self.share = float(share)
        self.each = [Coverage(share) for _ in range(n_targets)]

    def copy(self) -> TargetCoverage:
        """Return a copy in the same state."""
        twin = TargetCoverage(self.share, 0)
        twin.each = [one.copy() for one in self.each]
        return twin

    @property
    def threshold(self) -> Floats:
        """Thresholds of the next scores, ndarray of shape (n_targets,)."""
        return np.array([one.threshold for one in self.each], dtype=np.float64)

    @property
    def told(self) -> Array:
        """Samples that had a finite threshold, ndarray of shape (n_targets,)."""
        return np.array([one.told for one in self.each])

    @property
    def held(self) -> Array:
        """Those of them that were covered, ndarray of shape (n_targets,)."""
        return np.array([one.held for one in self.each])

    def informative(self, scores: Floats, counts: Any) -> Floats:
        """Return the scores, with NaN for those that are not informative, as `Coverage` does.

        Parameters
        ----------
        scores : ndarray of shape (n, n_targets)
        counts : ndarray of shape (n,), dtype bool
        """
        told = [one.informative(own, counts) for one, own in zip(self.each, scores.T, strict=True)]
        return np.column_stack(told)

    def append(self, scores: Floats, held: Any = False) -> Floats:
        """Take scores up, of which NaN counts for nothing; return for each the threshold before it.

        Parameters
        ----------
        scores : ndarray of shape (n, n_targets)
        held : bool or ndarray of shape (n, n_targets), default=False
            The targets that are covered whatever the threshold.
        """
        covered = np.broadcast_to(held, scores.shape).T
        columns = zip(self.each, np.ascontiguousarray(scores.T), covered, strict=True)
        return np.column_stack([one.append(own, anyway) for one, own, anyway in columns])

    def append_one(self, scores: Floats, counts: bool, held: Any = False) -> Floats:
        """Add the scores of a sample; return the thresholds before, (1, n_targets)."""
        covered = np.broadcast_to(held, scores.shape).tolist()
        each = zip(self.each, scores.tolist(), covered, strict=True)
        return np.column_stack([one.append_one(own, counts, anyway) for one, own, anyway in each])

    def _check_loaded(self) -> None:
        """Raise ValueError if a state that was read does not fit together."""
        known = vars(self).keys() == vars(TargetCoverage(0.5, 0)).keys() and type(self.each) is list
        require(known, "its coverage is none")
        check_each(self.each, self.share, "target")


class ClassCoverage:
    """A `Coverage` for each class, of the scores of its own samples.

    Parameters
    ----------
    share : float in (0, 1)

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        The classes known, sorted.
    each : list of Coverage
        Their coverages. None of them is changed in place: updates replace them.
    """

    def __init__(self, share: float) -> None:
        self.share = float(share)
        self.labels: Array = np.empty(0)
        self.each: list[Coverage] = []

    def copy(self) -> ClassCoverage:
        """Return a copy in the same state."""
        twin = ClassCoverage(self.share)
        twin.labels, twin.each = self.labels, list(self.each)
        return twin

    def thresholds(self, labels: Array) -> Floats:
        """Return the thresholds of these classes now, ndarray of shape (n_classes,)."""
        return np.array([one.threshold for one in self._of(labels)], dtype=np.float64)

    def shares(self, labels: Array) -> Floats:
        """Return the coverage of these classes so far, NaN for those without a threshold."""
        counts = [(one.held, one.told) for one in self._of(labels)]
        return np.array([held / told if told else nan for held, told in counts], dtype=np.float64)

    @property
    def told(self) -> int:
        """Samples whose class had a finite threshold."""
        return sum(one.told for one in self.each)

    @property
    def held(self) -> int:
        """Those of them that were covered."""
        return sum(one.held for one in self.each)

    def append(
        self, scores: Floats, counts: Array, held: Any, numbers: Array, labels: Array
    ) -> Floats:
        """Add scores; return the thresholds of all classes before each.

        Parameters
        ----------
        scores, counts, held
            As `Coverage.informative` and `Coverage.append` take them.
        numbers : ndarray of int, shape (n,)
            The classes of the samples.
        labels : ndarray of shape (n_classes,)
            Those known now, sorted: those of before, and perhaps more.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        self.labels, self.each = labels, list(self._of(labels))
        found = np.repeat(self.thresholds(labels)[None], len(scores), axis=0)
        held = np.broadcast_to(held, scores.shape)
        for k in np.unique(numbers):
            own, one = numbers == k, self.each[k].copy()
            told = one.append(one.informative(scores[own], counts[own]), held[own])
            # A threshold stays until the next sample of the class has been learnt.
            found[:, k] = np.append(told, one.threshold)[np.cumsum(own) - own]
            self.each[k] = one
        return found

    def append_one(
        self, score: float, counts: bool, held: bool, number: int, labels: Array
    ) -> Floats:
        """Take up one score, as `append` does; return the thresholds before, (1, n_classes)."""
        found = self.thresholds(labels)[None]
        self.labels, self.each = labels, list(self._of(labels))
        self.each[number] = one = self.each[number].copy()
        one.append_one(score, counts, held)
        return found

    def _of(self, labels: Array) -> list[Coverage]:
        """Return the coverages of labels, those of the classes known among them."""
        if labels is self.labels:
            return self.each
        found = [Coverage(self.share) for _ in labels]
        if self.each:
            for place, one in zip(np.searchsorted(labels, self.labels), self.each, strict=True):
                found[place] = one
        return found

    def _check_loaded(self) -> None:
        """Raise ValueError if a state that was read does not fit together."""
        require(vars(self).keys() == vars(ClassCoverage(0.5)).keys(), "its coverage is none")
        labels, each = self.labels, self.each
        known = isinstance(labels, np.ndarray) and labels.ndim == 1 and type(each) is list
        require(known, "its coverage of classes is none")
        fits = len(labels) == len(each) and np.array_equal(np.unique(labels), labels)
        require(fits, "its coverage is of other classes")
        check_each(each, self.share, "class")


def check_each(each: list[Coverage], share: float, what: str) -> None:
    """Raise ValueError unless these are sound coverages of this share."""
    for one in each:
        require(type(one) is Coverage, f"the coverage of a {what} is none")
        one._check_loaded()
        require(one.share == share, f"the coverage of a {what} has another share")
