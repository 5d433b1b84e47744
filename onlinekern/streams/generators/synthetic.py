"""The papers' artificial streams. Labels are -1 and +1; equal seeds give equal streams."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import repeat
from numbers import Real

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.streams.errors import check_count


def check_finite(name: str, value: float, least: float = -math.inf) -> None:
    """Raise ValueError unless a value is a finite number, and not below the least one."""
    if not isinstance(value, Real) or not math.isfinite(value) or value < least:
        above = "" if least == -math.inf else f" of at least {least:g}"
        raise ValueError(f"{name} must be a finite number{above}, got {value!r}")


def gaussian_mixture(
    n_samples: int, random_state: int | np.random.Generator | None = None
) -> tuple[Floats, Array]:
    """Draw from two overlapping normals in the plane (the SPA paper's artificial stream).

    With probability 0.4 a sample is N((0, 0), I), labelled -1, else N((2, 0), 4 I), labelled +1
    (section 4 of [1]_).

    Parameters
    ----------
    n_samples : int
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.

    Examples
    --------
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> X.shape
    (1000, 2)
    """
    check_count("n_samples", n_samples)
    generator = np.random.default_rng(random_state)
    positive = generator.random(n_samples) < 0.6
    X = generator.standard_normal((n_samples, 2))
    X[positive] = 2.0 * X[positive] + (2.0, 0.0)
    return X, np.where(positive, 1, -1)


def gaussian_mixture_blocks(
    random_state: int | np.random.Generator | None = None, block_size: int = 8192
) -> Iterator[tuple[Floats, Array]]:
    """Yield blocks of ``gaussian_mixture`` without end.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
    block_size : int

    Yields
    ------
    X : ndarray of shape (block_size, 2)
    y : ndarray of shape (block_size,)
    """
    check_count("block_size", block_size)
    generator = np.random.default_rng(random_state)
    return (gaussian_mixture(block_size, generator) for _ in repeat(None))


def two_normals(
    n_samples: int,
    n_features: int = 2,
    distance: float = 2.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Array]:
    """Draw from two normals N(-+ distance/2 * e_1, I), equally often.

    Parameters
    ----------
    n_samples, n_features : int
    distance : float
        Distance of the two means.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_finite("distance", distance)
    generator = np.random.default_rng(random_state)
    y = np.where(generator.random(n_samples) < 0.5, 1, -1)
    X = generator.standard_normal((n_samples, n_features))
    X[:, 0] += 0.5 * distance * y
    return X, y


def two_spirals(
    n_samples: int,
    *,
    turns: float = 2.0,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Array]:
    """Draw from two spirals wound into each other, inside the unit circle but for the noise.

    Parameters
    ----------
    n_samples : int
    turns : float
        Turns of each arm.
    noise : float
        Standard deviation of the normal noise added to each coordinate; the arms are
        ``1 / (2 * turns)`` apart.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from onlinekern.streams import two_spirals
    >>> X, y = two_spirals(1000, noise=0.02, random_state=0)
    >>> X.shape
    (1000, 2)
    """
    check_count("n_samples", n_samples)
    check_finite("turns", turns)
    check_finite("noise", noise, least=0.0)
    generator = np.random.default_rng(random_state)
    y = np.where(generator.random(n_samples) < 0.5, 1, -1)
    # The square root spreads the samples evenly along the arm.
    along = np.sqrt(generator.random(n_samples))
    angle = 2 * np.pi * turns * along
    X = (y * along)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * generator.standard_normal((n_samples, 2)), y


def chess_board(
    n_samples: int, *, size: int = 4, random_state: int | np.random.Generator | None = None
) -> tuple[Floats, Array]:
    """Draw evenly from a chess board on [-1, 1]^2; black squares are labelled +1.

    Parameters
    ----------
    n_samples : int
    size : int
        Squares per side.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from onlinekern.streams import chess_board
    >>> X, y = chess_board(1000, random_state=0)
    >>> sorted(set(y.tolist()))
    [-1, 1]
    """
    check_count("n_samples", n_samples)
    check_count("size", size)
    generator = np.random.default_rng(random_state)
    X = generator.uniform(-1.0, 1.0, (n_samples, 2))
    square = np.floor((X + 1.0) / 2.0 * size).astype(int).sum(axis=1)
    return X, np.where(square % 2 == 0, 1, -1)
