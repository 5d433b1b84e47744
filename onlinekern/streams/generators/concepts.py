"""Concepts of two to twenty-four features with labels by simple rules; joined, they drift."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.streams.generators.drifting import (
    Draw,
    DriftStream,
    Row,
    RowStream,
    RuleStream,
    check_below,
    check_share,
    uniforms,
)

THRESHOLDS = (8.0, 9.0, 7.0, 9.5)
# The segments of a seven-segment display that each digit lights.
SEGMENTS = (
    (1, 1, 1, 0, 1, 1, 1), (0, 0, 1, 0, 0, 1, 0), (1, 0, 1, 1, 1, 0, 1), (1, 0, 1, 1, 0, 1, 1),
    (0, 1, 1, 1, 0, 1, 0), (1, 1, 0, 1, 0, 1, 1), (1, 1, 0, 1, 1, 1, 1), (1, 0, 1, 0, 0, 1, 0),
    (1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 0, 1, 1),
)  # fmt: skip
N_SEGMENTS, N_IRRELEVANT = 7, 17
# river and MOA compare "0.01 + u <= share", so the share is one hundredth lower than the parameter.
NOISE_OFFSET = 0.01


@dataclass(frozen=True, kw_only=True)
class SEA(DriftStream):
    """SEA concepts: three uniform features in [0, 10], 1 if the sum of two exceeds a threshold.

    The concepts are those of [1]_.

    Parameters
    ----------
    concept : {0, 1, 2, 3}, default=0
        The threshold: 8, 9, 7 or 9.5. The third feature is irrelevant.
    noise : float in [0, 1], default=0.0
        Share of flipped labels.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] W. N. Street, Y. Kim (2001). A streaming ensemble algorithm (SEA) for large-scale
       classification. ACM SIGKDD International Conference on Knowledge Discovery and Data Mining,
       377-382.

    Examples
    --------
    >>> from onlinekern.streams import SEA
    >>> X, y = SEA(concept=0, random_state=42).take(3)
    >>> X.round(3).tolist(), y.tolist()
    ([[6.394, 0.25, 2.75], [2.232, 7.365, 6.767], [8.922, 0.869, 4.219]], [0, 1, 1])
    """

    concept: int = 0
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_below("concept", self.concept, len(THRESHOLDS) - 1)
        check_share("noise", self.noise)

    @property
    def n_features(self) -> int:
        return 3

    def _start(self) -> Draw:
        uniform = uniforms(self.random_state)

        def draw(n: int) -> tuple[Floats, Array]:
            u = uniform.random((n, 4 if self.noise else 3))
            X = 10.0 * u[:, :3]
            positive = X[:, 0] + X[:, 1] > THRESHOLDS[self.concept]
            if self.noise:
                positive ^= u[:, 3] < self.noise
            return X, positive.astype(np.int64)

        return draw


@dataclass(frozen=True, kw_only=True)
class Sine(RuleStream):
    """Sine concepts: a point of the unit square, 1 if its first coordinate is below a curve.

    The concepts are those of [1]_.

    Parameters
    ----------
    concept : {0, 1, 2, 3}, default=0
        SINE1, ``x_0 < sin(x_1)``, and its reverse; SINE2, ``x_0 < 0.5 + 0.3 sin(3 pi x_1)``, and
        its reverse.
    balanced : bool, default=False
        Classes 1 and 0 by turns, from rejected draws.
    irrelevant_features : bool, default=False
        Add two uniform features that say nothing.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] J. Gama, P. Medas, G. Castillo, P. Rodrigues (2004). Learning with drift detection.
       Brazilian Symposium on Artificial Intelligence, 286-295.
    """

    n_concepts = 4
    irrelevant_features: bool = False

    @property
    def n_features(self) -> int:
        return 4 if self.irrelevant_features else 2

    def _candidates(self, rng: random.Random) -> Iterator[Row]:
        reverse = self.concept % 2 == 1
        while True:
            first, second = rng.random(), rng.random()
            curve = math.sin(second) if self.concept < 2 else wave(second)
            yield first, second, (first < curve) != reverse

    def _finished(self, row: Row, rng: random.Random) -> Row:
        if not self.irrelevant_features:
            return row
        return *row[:-1], rng.random(), rng.random(), row[-1]


def wave(x: float) -> float:
    """Return the curve of SINE2 and of the mixed concepts."""
    return 0.5 + 0.3 * math.sin(3 * math.pi * x)


@dataclass(frozen=True, kw_only=True)
class Mixed(RuleStream):
    """Mixed concepts: two features that are 0 or 1, and a point of the unit square.

    A sample is 0 if at least two of these are true: the first feature, the second one,
    ``x_3 < 0.5 + 0.3 sin(3 pi x_2)`` [1]_.

    Parameters
    ----------
    concept : {0, 1}, default=0
        1: the reverse.
    balanced : bool, default=False
        Classes 1 and 0 by turns, from rejected draws.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] J. Gama, P. Medas, G. Castillo, P. Rodrigues (2004). Learning with drift detection.
       Brazilian Symposium on Artificial Intelligence, 286-295.
    """

    n_concepts = 2

    @property
    def n_features(self) -> int:
        return 4

    def _candidates(self, rng: random.Random) -> Iterator[Row]:
        while True:
            v, w = rng.random() >= 0.5, rng.random() >= 0.5
            x, y = rng.random(), rng.random()
            most = v + w + (y < wave(x)) >= 2
            yield v, w, x, y, most == bool(self.concept)


@dataclass(frozen=True, kw_only=True)
class STAGGER(RuleStream):
    """STAGGER concepts: size, colour and shape of an object, each 0, 1 or 2.

    Sizes are small, medium, large; colours red, blue, green; shapes circle, square, triangle
    [1]_.

    Parameters
    ----------
    concept : {0, 1, 2}, default=0
        What is labelled 1: small and red; green or a circle; medium or large.
    balanced : bool, default=False
        Classes 1 and 0 by turns, from rejected draws.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] J. C. Schlimmer, R. H. Granger (1986). Incremental learning from noisy data. Machine
       Learning 1, 317-354.
    """

    n_concepts = 3

    @property
    def n_features(self) -> int:
        return 3

    def _candidates(self, rng: random.Random) -> Iterator[Row]:
        while True:
            size, colour, shape = rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2)
            rules = (size == 0 and colour == 0, colour == 2 or shape == 0, size != 0)
            yield size, colour, shape, rules[self.concept]


@dataclass(frozen=True, kw_only=True)
class LED(RowStream):
    """Digits of a seven-segment display, with segments that fail; ten classes.

    The display is that of [1]_.

    Parameters
    ----------
    noise : float in [0, 1], default=0.0
        Of each segment, the probability that it shows the wrong state; one hundredth of it less, as
        in river: ``0.01 + u <= noise``.
    irrelevant_features : bool, default=False
        Add 17 features that are 0 or 1 at random.
    n_drift_features : int, default=0
        Segments that change places with irrelevant features: another concept for ``ConceptDrift``.
        At most 7, and 0 without irrelevant features.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone (1984). Classification and
       regression trees. Wadsworth.
    """

    noise: float = 0.0
    irrelevant_features: bool = False
    n_drift_features: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("noise", self.noise)
        most = N_SEGMENTS if self.irrelevant_features else 0
        check_below("n_drift_features", self.n_drift_features, most)

    @property
    def n_features(self) -> int:
        return N_SEGMENTS + (N_IRRELEVANT if self.irrelevant_features else 0)

    @property
    def classes(self) -> Array:
        return np.arange(len(SEGMENTS))

    def _rows(self, rng: random.Random) -> Iterator[Row]:
        places = self._places(rng)
        n_random = self.n_features - N_SEGMENTS
        while True:
            digit = rng.randint(0, 9)
            values = [lit ^ (NOISE_OFFSET + rng.random() <= self.noise) for lit in SEGMENTS[digit]]
            values += [rng.randrange(2) for _ in range(n_random)]
            row = [0] * self.n_features
            for place, value in zip(places, values, strict=True):
                row[place] = value
            yield *row, digit

    def _places(self, rng: random.Random) -> list[int]:
        """Return the column of each feature."""
        places = list(range(self.n_features))
        if self.n_drift_features:
            first, offset = rng.randint(0, 6), rng.randint(0, N_IRRELEVANT - 1)
            for k in range(self.n_drift_features):
                segment = (k + first) % N_SEGMENTS
                other = N_SEGMENTS + (k + offset) % N_IRRELEVANT
                places[segment], places[other] = other, segment
        return places
