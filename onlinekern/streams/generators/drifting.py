"""Artificial streams that change: their base classes, and concepts joined into one stream."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, repeat
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.special import logit

from onlinekern.estimators.types import Array, Floats
from onlinekern.streams.errors import check_count
from onlinekern.streams.generators.synthetic import check_finite

# Function from a number of rows to the next rows: X of shape (n, n_features), y of shape (n,).
Draw: TypeAlias = Callable[[int], tuple[Floats, Array]]
Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class DriftStream(ABC):
    """An endless stream, which begins anew each time it is read.

    The random numbers are those of Python's ``random.Random``, used in the same order as in river
    0.26. So a stream has the same rows as river's stream of the same name and seed.

    Parameters
    ----------
    random_state : int >= 0 or None
        None: every reading gives other rows.
    """

    random_state: int | None = None

    def __post_init__(self) -> None:
        check_seed("random_state", self.random_state)

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Features of a sample."""

    @property
    def classes(self) -> Array:
        """All labels, ascending: ndarray of shape (n_classes,), int64."""
        return np.arange(2)

    def take(self, n_samples: int) -> tuple[Floats, Array]:
        """Return the first samples.

        Parameters
        ----------
        n_samples : int

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), float64
            Categories are whole numbers.
        y : ndarray of shape (n_samples,), int64
        """
        check_count("n_samples", n_samples)
        return self._start()(n_samples)

    def blocks(self, block_size: int = 8192) -> Iterator[tuple[Floats, Array]]:
        """Return an endless iterator of blocks; joined, they equal the samples of `take`.

        Parameters
        ----------
        block_size : int

        Returns
        -------
        iterator of (X, y)
            The samples, as `take` gives them with ``n_samples=block_size``.
        """
        check_count("block_size", block_size)
        draw = self._start()
        return (draw(block_size) for _ in repeat(None))

    @abstractmethod
    def _start(self) -> Draw:
        """Return a function that draws the next rows, from the first one on."""


class RowStream(DriftStream):
    """A stream drawn row by row, because the count of random numbers depends on the row."""

    @abstractmethod
    def _rows(self, rng: random.Random) -> Iterator[Row]:
        """Yield the features of each sample, followed by its label."""

    def _start(self) -> Draw:
        rows = self._rows(random.Random(self.random_state))

        def draw(n: int) -> tuple[Floats, Array]:
            table = np.array(list(islice(rows, n)), dtype=np.float64)
            return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)

        return draw


@dataclass(frozen=True, kw_only=True)
class RuleStream(RowStream):
    """A stream with several rules for its labels, 0 or 1.

    Parameters
    ----------
    concept : int, default=0
        The rule, a number below ``n_concepts``.
    balanced : bool, default=False
        Classes 1 and 0 by turns, from rejected draws.
    random_state : int >= 0 or None, default=None
    """

    n_concepts: ClassVar[int]
    concept: int = 0
    balanced: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_below("concept", self.concept, self.n_concepts - 1)

    def _rows(self, rng: random.Random) -> Iterator[Row]:
        # Further random numbers of an accepted row are drawn before the next candidate.
        for row in self._accepted(rng):
            yield self._finished(row, rng)

    def _accepted(self, rng: random.Random) -> Iterator[Row]:
        wanted = 1
        for row in self._candidates(rng):
            if not self.balanced or row[-1] == wanted:
                wanted = 1 - wanted
                yield row

    @abstractmethod
    def _candidates(self, rng: random.Random) -> Iterator[Row]:
        """Yield candidates for rows; if classes are balanced, some are rejected."""

    def _finished(self, row: Row, rng: random.Random) -> Row:
        """Return an accepted row in its final form."""
        return row


def uniforms(seed: int | None) -> np.random.Generator:
    """Return a NumPy generator whose `random` gives the numbers of ``random.Random(seed)``."""
    _, state, _ = random.Random(seed).getstate()
    bits = np.random.MT19937()
    key = np.array(state[:-1], dtype=np.uint32)
    bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": state[-1]}}
    return np.random.Generator(bits)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer of at least 0."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def check_seed(name: str, value: Any) -> None:
    """Raise ValueError unless a value is None or an integer of at least 0."""
    if value is not None and not is_whole(value):
        raise ValueError(f"{name} must be None or an integer of at least 0, got {value!r}")


def check_below(name: str, value: Any, most: int) -> None:
    """Raise ValueError unless a value is one of 0, 1, ..., most."""
    if not is_whole(value) or value > most:
        raise ValueError(f"{name} must be an integer from 0 to {most}, got {value!r}")


def check_share(name: str, value: Any) -> None:
    """Raise ValueError unless a value is a number from 0 to 1."""
    check_finite(name, value, least=0.0)
    if value > 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")


@dataclass(frozen=True)
class ConceptDrift(DriftStream):
    """Several concepts joined into one stream: abrupt, gradual or recurring drift.

    Near a change at position p, sample t = 1, 2, ... comes from the new concept with probability
    ``1 / (1 + exp(-4 (t - p) / width))`` [1]_ [2]_. Each concept is a stream of its own, which
    continues where it was interrupted; none of its rows is skipped.

    Parameters
    ----------
    concepts : sequence of DriftStream
        Two or more, of the same number of features; any of them may be a ``ConceptDrift``.
    position : int or sequence of int, default=5000
        The middle of each change, ascending: one less than there are concepts. With `period`, that
        of the first change.
    width : float >= 0, default=1000
        Samples that a change takes, from 12 % of the new concept to 88 %. 0 is abrupt: the samples
        1 to `position` are of the old concept.
    period : int or None, default=None
        Recurring drift: after the first change there is one every `period` samples, and the last
        concept is followed by the first. None: each concept comes once, and the last one remains.
    random_state : int >= 0 or None, default=None
        Seed of the choice between the concepts; each has its own for its rows.

    Raises
    ------
    ValueError
        If an argument is invalid, or the concepts differ in their number of features.

    Notes
    -----
    Every sample takes one random number u, as in river's ``ConceptDriftStream`` and MOA's. It
    belongs to the concept of the time ``t - width / 4 * log(u / (1 - u))``, which is their rule for
    two concepts. Several nested streams draw a number for every change, and so differ from one
    stream with several changes.

    References
    ----------
    .. [1] A. Bifet, G. Holmes, R. Kirkby, B. Pfahringer (2010). MOA: massive online analysis.
       Journal of Machine Learning Research 11, 1601-1604.
    .. [2] J. Gama, I. Žliobaitė, A. Bifet, M. Pechenizkiy, A. Bouchachia (2014). A survey on
       concept drift adaptation. ACM Computing Surveys 46.

    Examples
    --------
    >>> from onlinekern.streams import SEA, ConceptDrift
    >>> concepts = [SEA(concept=k, random_state=k) for k in range(4)]
    >>> X, y = ConceptDrift(concepts, position=[250, 500, 750], width=50, random_state=0).take(1000)
    >>> X.shape
    (1000, 3)
    >>> turns = ConceptDrift(concepts[:2], position=250, width=0, period=250, random_state=0)
    >>> sum(len(y) for _, (_, y) in zip(range(3), turns.blocks(100)))
    300
    """

    concepts: Sequence[DriftStream]
    position: int | Sequence[int] = 5000
    width: float = 1000
    period: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        concepts = list(self.concepts)
        if len(concepts) < 2 or not all(isinstance(item, DriftStream) for item in concepts):
            raise ValueError(f"concepts must be two or more drift streams, got {self.concepts!r}")
        widths = [concept.n_features for concept in concepts]
        if len(set(widths)) > 1:
            raise ValueError(f"concepts must have the same number of features, got {widths}")
        check_finite("width", self.width, least=0.0)
        check_count("period", self.period, optional=True)
        positions = self._positions()
        for position in positions:
            check_count("position", position)
        n_changes = 1 if self.period is not None else len(concepts) - 1
        ascending = all(a < b for a, b in pairwise(positions))
        if len(positions) != n_changes or not ascending:
            raise ValueError(
                f"position must be {n_changes} ascending numbers of samples, got {self.position!r}"
            )

    @property
    def n_features(self) -> int:
        return self.concepts[0].n_features

    @property
    def classes(self) -> Array:
        return np.unique(np.concatenate([concept.classes for concept in self.concepts]))

    def concept_at(self, times: Any) -> Array:
        """Return the number of the concept of a time, where the old and the new are equally likely.

        Parameters
        ----------
        times : array-like of shape (n,)
            1 is the first sample's.

        Returns
        -------
        ndarray of shape (n,), int64
        """
        times = np.asarray(times, dtype=np.float64)
        positions = self._positions()
        if self.period is None:
            return np.searchsorted(np.array(positions), times, side="left")
        changes = np.ceil((times - positions[0]) / self.period)
        return np.maximum(changes, 0).astype(np.int64) % len(self.concepts)

    def _positions(self) -> list[Any]:
        one = not isinstance(self.position, Sequence | np.ndarray)
        return [self.position] if one else list(self.position)  # type: ignore[arg-type]

    def _start(self) -> Draw:
        uniform = uniforms(self.random_state)
        draws = [concept._start() for concept in self.concepts]
        seen = 0

        def draw(n: int) -> tuple[Floats, Array]:
            nonlocal seen
            times = np.arange(seen + 1, seen + n + 1, dtype=np.float64)
            seen += n
            u = uniform.random(n)
            if self.width > 0:
                times -= self.width / 4 * logit(u)
            chosen = self.concept_at(times)
            X, y = np.empty((n, self.n_features)), np.empty(n, dtype=np.int64)
            for number, draw_concept in enumerate(draws):
                rows = np.flatnonzero(chosen == number)
                if len(rows):
                    X[rows], y[rows] = draw_concept(len(rows))
            return X, y

        return draw
