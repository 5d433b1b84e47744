"""Concepts that change a little with every sample: a rotating hyperplane, moving clusters."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.streams.errors import check_count
from onlinekern.streams.generators.concepts import NOISE_OFFSET
from onlinekern.streams.generators.drifting import (
    Draw,
    DriftStream,
    check_below,
    check_seed,
    check_share,
    uniforms,
)
from onlinekern.streams.generators.synthetic import check_finite


@dataclass(frozen=True, kw_only=True)
class Hyperplane(DriftStream):
    """A rotating hyperplane in the unit cube: 1 if ``w'x >= sum(w) / 2``.

    After each sample, the first `n_drift_features` weights change by `speed`, up or down [1]_.

    Parameters
    ----------
    n_features : int, default=10
    n_drift_features : int, default=2
        Weights that change.
    speed : float in [0, 1], default=0.0
        By how much, with each sample; 0.001 is the usual value of a gradual drift.
    noise : float in [0, 1], default=0.05
        Share of flipped labels; one hundredth less, as in river: ``0.01 + u <= noise``.
    turn : float in [0, 1], default=0.1
        Probability that a weight's direction is reversed; one hundredth less, too.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] G. Hulten, L. Spencer, P. Domingos (2001). Mining time-changing data streams. ACM SIGKDD
       International Conference on Knowledge Discovery and Data Mining, 97-106.

    Examples
    --------
    >>> from onlinekern.streams import Hyperplane
    >>> X, y = Hyperplane(speed=0.001, random_state=0).take(1000)
    >>> X.shape, bool(0.4 < y.mean() < 0.6)
    ((1000, 10), True)
    """

    n_features: int = 10
    n_drift_features: int = 2
    speed: float = 0.0
    noise: float = 0.05
    turn: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_features", self.n_features)
        check_below("n_drift_features", self.n_drift_features, self.n_features)
        for name in ("speed", "noise", "turn"):
            check_share(name, getattr(self, name))

    def _start(self) -> Draw:
        uniform = uniforms(self.random_state)
        weights = uniform.random(self.n_features)
        directions = np.ones(self.n_drift_features)
        d, k = self.n_features, self.n_drift_features

        def draw(n: int) -> tuple[Floats, Array]:
            nonlocal weights, directions
            u = uniform.random((n, d + 1 + k))
            turns = np.where(NOISE_OFFSET + u[:, d + 1 :] <= self.turn, -1.0, 1.0)
            # Row t has the directions in which the weights change after sample t.
            paths = np.cumprod(np.vstack([directions, turns]), axis=0)
            steps = np.zeros((n, d))
            steps[:, :k] = paths[:-1] * self.speed
            W = np.cumsum(np.vstack([weights, steps]), axis=0)
            weights, directions = W[-1], paths[-1]
            X = np.ascontiguousarray(u[:, :d])
            positive = np.einsum("ij,ij->i", W[:-1], X) >= 0.5 * W[:-1].sum(axis=1)
            positive ^= NOISE_OFFSET + u[:, d] <= self.noise
            return X, positive.astype(np.int64)

        return draw


@dataclass(frozen=True, kw_only=True)
class RandomRBF(DriftStream):
    """Random clusters, each of one class, with a weight and a width; their centres may drift.

    A sample lies around the centre of a cluster, in a random direction, at a normal distance
    [1]_.

    Parameters
    ----------
    n_classes : int, default=2
    n_features : int, default=10
    n_centroids : int, default=50
    speed : float >= 0, default=0.0
        Length of the step that a drifting centre makes before each sample; it turns back at the
        faces of the unit cube.
    n_drift_centroids : int or None, default=None
        Number of centres that drift, the first ones. None: all.
    random_state : int >= 0 or None, default=None
        Seed of the samples.
    model_state : int >= 0 or None, default=None
        Seed of the clusters.

    References
    ----------
    .. [1] A. Bifet, G. Holmes, B. Pfahringer, R. Kirkby, R. Gavaldà (2009). New ensemble methods
       for evolving data streams. ACM SIGKDD International Conference on Knowledge Discovery and
       Data Mining, 139-148.

    Examples
    --------
    >>> from onlinekern.streams import RandomRBF
    >>> stream = RandomRBF(n_classes=4, speed=0.001, random_state=0, model_state=0)
    >>> X, y = stream.take(1000)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 10), [0, 1, 2, 3])
    """

    n_classes: int = 2
    n_features: int = 10
    n_centroids: int = 50
    speed: float = 0.0
    n_drift_centroids: int | None = None
    model_state: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_seed("model_state", self.model_state)
        for name in ("n_classes", "n_features", "n_centroids"):
            check_count(name, getattr(self, name))
        check_finite("speed", self.speed, least=0.0)
        if self.n_drift_centroids is not None:
            check_below("n_drift_centroids", self.n_drift_centroids, self.n_centroids)

    @property
    def classes(self) -> Array:
        return np.arange(self.n_classes)

    def _start(self) -> Draw:
        clusters = Clusters(self)
        noise = PolarNoise(uniforms(self.random_state), self.n_features)

        def draw(n: int) -> tuple[Floats, Array]:
            picks, directions, distances = noise.take(n)
            chosen = clusters.chosen(picks)
            centres = clusters.centres_at(chosen)
            # Column by column, in the same order of additions as river.
            squares = np.zeros(n)
            for column in directions.T:
                squares += column * column
            scale = distances * clusters.widths[chosen] / np.sqrt(squares)
            return centres + directions * scale[:, None], clusters.labels[chosen]

        return draw


class Clusters:
    """The clusters of a ``RandomRBF``, with their present centres.

    Attributes
    ----------
    labels, widths : ndarray of shape (n_centroids,)
    """

    def __init__(self, stream: RandomRBF) -> None:
        rng = random.Random(stream.model_state)
        centres, labels, widths, weights = [], [], [], []
        for _ in range(stream.n_centroids):
            centres.append([rng.random() for _ in range(stream.n_features)])
            labels.append(rng.randint(0, stream.n_classes - 1))
            widths.append(rng.random())
            weights.append(rng.random())
        self._centres, self._ends = np.array(centres), np.cumsum(weights)
        self.labels, self.widths = np.array(labels, dtype=np.int64), np.array(widths)
        n_moving = stream.n_drift_centroids
        self._n_moving = stream.n_centroids if n_moving is None else n_moving
        # The directions use the same random numbers as the centres, because river uses the seed
        # twice.
        steps = uniforms(stream.model_state).random((self._n_moving, stream.n_features))
        squares = np.zeros(self._n_moving)
        for column in steps.T:
            squares += column * column
        self._directions, self._speed = steps / np.sqrt(squares)[:, None], stream.speed

    def chosen(self, picks: Floats) -> Array:
        """Return the cluster that each number in [0, 1) picks, by weight."""
        found = np.searchsorted(self._ends, picks * self._ends[-1], side="right")
        return np.minimum(found, len(self._ends) - 1)

    def centres_at(self, chosen: Array) -> Floats:
        """Return the centre of each sample's cluster, and move all of them before each sample."""
        if self._speed == 0 or self._n_moving == 0:
            return self._centres[chosen]
        found = np.empty((len(chosen), self._centres.shape[1]))
        moving, directions = self._centres[: self._n_moving], self._directions
        for t, cluster in enumerate(chosen):
            moving += directions * self._speed
            outside = (moving > 1) | (moving < 0)
            if outside.any():
                np.clip(moving, 0, 1, out=moving)
                directions[outside] *= -1
            found[t] = self._centres[cluster]
        return found


class PolarNoise:
    """Uniform picks, directions in a cube and normal distances, as ``random.gauss`` gives them.

    The normal numbers come in pairs: the first sample of two takes two uniform numbers more.
    """

    def __init__(self, uniform: np.random.Generator, n_features: int) -> None:
        self._uniform, self._d = uniform, n_features
        self._kept: Floats = np.empty((0, n_features + 2))

    def take(self, n: int) -> tuple[Floats, Floats, Floats]:
        """Return arrays of shape (n,), (n, n_features) and (n,)."""
        table = np.vstack([self._kept, self._pairs((n - len(self._kept) + 1) // 2)])
        table, self._kept = table[:n], table[n:]
        return table[:, 0], table[:, 1:-1], table[:, -1]

    def _pairs(self, n_pairs: int) -> Floats:
        d = self._d
        u = self._uniform.random((n_pairs, 2 * d + 4))
        angle, radius = 2 * np.pi * u[:, d + 1], np.sqrt(-2.0 * np.log(1.0 - u[:, d + 2]))
        table = np.empty((n_pairs, 2, d + 2))
        table[:, 0, :-1], table[:, 0, -1] = u[:, : d + 1], np.cos(angle) * radius
        table[:, 1, :-1], table[:, 1, -1] = u[:, d + 3 :], np.sin(angle) * radius
        table[:, :, 1:-1] = 2.0 * table[:, :, 1:-1] - 1.0
        return table.reshape(2 * n_pairs, d + 2)
