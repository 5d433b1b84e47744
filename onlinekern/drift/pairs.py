"""Detectors that compare pairs of a reference row and a new row, each of which is used once."""

from collections.abc import Iterator
from contextlib import nullcontext
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from onlinekern.drift.detector import Detector
from onlinekern.drift.queue import RowQueue
from onlinekern.estimators.atomic import all_or_nothing
from onlinekern.estimators.declared import SMALLEST, Check, array, each, none_or, of, whole
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import Count, estimator
from onlinekern.estimators.types import ArrayLike, Floats
from onlinekern.estimators.validation import no_name_warnings, one_row, validate_data

# The first rows give the centre and the scale of each feature, and the width of a kernel.
WARM_UP = 100
# So many pairs tell the share of each feature in an alarm.
RECENT = 128
# Standardised values are clipped, so that one outlier decides nothing.
CLIP = 10.0


@estimator
class PairDetector(Detector):
    """Base of the detectors of rows. A witness scores the rows of a pair before it learns them.

    A subclass has a witness: `_new_witness(rows)` makes one of the first rows, `_payoffs(pairs)`
    says what each pair pays, ndarray of shape (n_pairs, n_kinds), and `_learn(pairs)` teaches the
    witness a block. Pairs are rows: the reference row and the new one of the first pair, then those
    of the second.
    """

    n_reference: Count = 500

    # A witness learns so many pairs at once. More delay an alarm, fewer cost time.
    _block: ClassVar[int] = 16

    def _new_witness(self, rows: Floats) -> None:
        raise NotImplementedError(f"{type(self).__name__}._new_witness")

    def _payoffs(self, pairs: Floats) -> Floats:
        raise NotImplementedError(f"{type(self).__name__}._payoffs")

    def _learn(self, pairs: Floats) -> None:
        raise NotImplementedError(f"{type(self).__name__}._learn")

    def _forget(self) -> None:
        self._first: Floats | None = None
        self._n_first = 0
        self._queue: RowQueue | None = None
        self._pairs: Floats | None = None
        self._n_pairs = 0
        self._recent: tuple[Floats, ...] = ()
        self._waits = int(self.n_reference)

    def _keep_witness(self) -> None:
        """Make sure that a witness that learns leaves the one of before as it was."""

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Begin anew with reference rows: what is later compared with them bets on every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows from before a change, in any order that is not one of their values. The first 100
            give the scale of the features, the others are each compared with one new row.
        y : ignored

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If X is sparse.
        ValueError
            If X has no finite rows, or a parameter is invalid.
        """
        X = self._rows(X, reset=True)
        for name in ("_n_seen", "_found", "_alarmed"):
            self.__dict__.pop(name, None)
        self._begin()
        self._see(X, bets=False)
        self._n_seen = 0
        return self

    @all_or_nothing
    def update(self, x: ArrayLike) -> Self:
        """See one sample.

        Parameters
        ----------
        x : array-like of shape (n_features,), or float
            A number is a sample of one feature.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If x is sparse.
        ValueError
            If x has not `n_features_in_` finite features.
        """
        self._see_rows(one_row(x))
        return self

    @all_or_nothing
    def update_many(self, X: ArrayLike) -> Self:
        """See samples, in their order: the same bits as one `update` each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If X is sparse.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        self._see_rows(X)
        return self

    def _see_rows(self, X: Any) -> None:
        X = self._rows(X, reset=not self.__sklearn_is_fitted__())
        self._open()
        if self._queue is not None:
            self._queue = self._queue.copy()
            # A block that is learnt at the end of the call is the last that can fail.
            if self._n_pairs + self._most_pairs(len(X), self._queue) > self._block:
                self._keep_witness()
        self._see(X, bets=True)

    def _most_pairs(self, count: int, queue: RowQueue) -> int:
        """Return how many pairs so many rows make, if none raises an alarm."""
        surplus = len(queue) - self._waits
        if surplus < 0:
            return max(0, count + surplus + 1) // 2
        return min(count, surplus + 1) + max(0, count - surplus - 1) // 2

    def _rows(self, X: Any, reset: bool) -> Any:
        if sp.issparse(X):
            raise TypeError("X is sparse, and a detector compares dense rows: pass X.toarray()")
        unnamed = hasattr(self, "feature_names_in_") and not hasattr(X, "columns")
        # To ignore a warning takes longer than the check.
        with no_name_warnings() if unnamed else nullcontext():
            return validate_data(self, X, dtype=np.float64, reset=reset)

    def _see(self, X: Any, bets: bool) -> None:
        """See validated rows; without bets they are all reference rows."""
        position = 0
        while position < len(X):
            if self._queue is None:
                used = self._warm_up(X[position:])
            else:
                # A block of pairs takes two rows for each, and those that the queue lacks.
                lacking = len(X) if not bets else self._waits - len(self._queue)
                stop = position + max(2 * (self._block - self._n_pairs), lacking)
                used = self._compare(self._standardised(X[position:stop]), self._queue, bets)
            position += used
            self._n_seen += used

    def _warm_up(self, rows: Floats) -> int:
        """Take rows that give the scale of the features; return how many."""
        if self._first is None:
            check_size("n_features", rows.shape[1], 8 * WARM_UP * rows.shape[1])
            self._first = np.zeros((WARM_UP, rows.shape[1]))
        used = min(len(rows), WARM_UP - self._n_first)
        self._first[self._n_first : self._n_first + used] = rows[:used]
        self._n_first += used
        if self._n_first == WARM_UP:
            self._scale_by(self._first)
            self._queue = RowQueue()
            self._new_witness(self._standardised(self._first))
            self._first = None
        return used

    def _scale_by(self, rows: Floats) -> None:
        # The largest values may have squares that overflow.
        largest = np.abs(rows).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)
        shares = rows / unit
        deviation = shares.std(axis=0)
        self._centre = shares.mean(axis=0) * unit
        scale = unit * np.where(deviation > 1e-12, deviation, 1.0)
        self._scale = np.maximum(scale, np.finfo(float).tiny)

    def _standardised(self, rows: Floats) -> Floats:
        with np.errstate(over="ignore"):
            scaled = (rows - self._centre) / self._scale
        return np.clip(scaled, -CLIP, CLIP)

    def _compare(self, rows: Floats, queue: RowQueue, bets: bool) -> int:
        """Take rows until a block of pairs is full or an alarm is raised; return how many."""
        if self._pairs is None:
            self._pairs = np.zeros((2 * self._block, rows.shape[1]))
        pairs, first, ends, used = self._pairs, self._n_pairs, list[int](), 0
        for row in rows:
            used += 1
            if not bets or len(queue) < self._waits:
                queue.append(row)
                continue
            place = 2 * (first + len(ends))
            pairs[place], pairs[place + 1] = queue.pop(), row
            ends.append(used)
            if first + len(ends) == self._block:
                break
        if ends:
            found = self._play(pairs, first, len(ends))
            if found is not None:
                self._raise_alarm(self._n_seen + ends[found])
                return ends[found]
        return used

    def _play(self, pairs: Floats, first: int, count: int) -> int | None:
        """Bet on new pairs of a block, and learn it if it is full; return which raised an alarm."""
        payoffs = self._payoffs(pairs[2 * first : 2 * (first + count)])
        found = self._bet(payoffs.tolist())
        if found is not None:
            self._shares = self._shares_of(pairs[: 2 * (first + found + 1)])
            return found
        self._n_pairs = first + count
        if self._n_pairs == self._block:
            self._recent = (*self._recent[1 - RECENT // self._block :], pairs)
            self._pairs, self._n_pairs = None, 0
            self._learn(pairs)
        return None

    def _shares_of(self, last: Floats) -> Floats:
        """Return what each feature adds to the payoffs of the last pairs, as shares."""
        pairs = np.concatenate([*self._recent, last])
        paid = self._payoffs(pairs).mean()
        lost = np.zeros(pairs.shape[1])
        for feature in range(len(lost)):
            exchanged = pairs.copy()
            exchanged[::2, feature] = pairs[1::2, feature]
            exchanged[1::2, feature] = pairs[::2, feature]
            lost[feature] = max(0.0, paid - self._payoffs(exchanged).mean())
        total = lost.sum()
        return lost / total if total > 0 else lost

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        own, block = vars(self), 2 * self._block
        yield "n_features_in_", whole(1)
        d = self.n_features_in_
        yield "_pairs", none_or(array(block, d))
        yield "_n_pairs", whole(0, 0 if own.get("_pairs") is None else self._block - 1)
        yield "_waits", whole(1)
        yield "_recent", each(array(block, d))
        yield "_shares", none_or(array(d))
        if own.get("_queue") is None:
            yield "_n_first", whole(0, WARM_UP - 1)
            yield "_first", array(WARM_UP, d) if self._n_first else of(NoneType)
            return
        yield "_n_first", of(int)
        yield "_queue", lambda queue: isinstance(queue, RowQueue) and queue.is_sound(d)
        yield "_centre", array(d)
        yield "_scale", array(d, least=SMALLEST)
        yield from self._witness_attributes(d)

    def _witness_attributes(self, d: int) -> Iterator[tuple[str, Check]]:
        """Yield what belongs to a witness of d features, as `_attributes` does."""
        raise NotImplementedError(f"{type(self).__name__}._witness_attributes")

    @property
    def feature_shares_(self) -> Floats:
        """What each feature added to the last alarm, ndarray of shape (n_features,)."""
        try:
            return self.__dict__["_shares"].copy()
        except KeyError:
            raise AttributeError("feature_shares_ is there after an alarm") from None
