"""Random Fourier features: their frequencies, and the maps made of them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from onlinekern.core import FEATURE_MAPS, KERNEL_ALIASES
from onlinekern.core.features.structured import signs_shape
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.types import Floats

# Kernels of the distance, whose features have frequencies.
DistanceKernel: TypeAlias = Literal["gaussian", "rbf", "laplacian"]
Frequencies: TypeAlias = Literal["auto", "plain", "orthogonal", "structured", "hashed"]

# A frequency of one feature as it is drawn, and in the map.
FREQUENCY_BYTES = 2 * 8
# Of more features, and with a matrix of more numbers, 'auto' hashes: it would take 540 MB as drawn.
# With fewer features it is the frequencies that are many, and so are their weights.
WIDE = 1 << 14
MOST_FREQUENCIES = 1 << 25
# Of the table of hashed frequencies. 1 MB of float32 stays in the cache of a core; twice the rows
# halve an error that is small beside that of the frequencies (see features.hashed).
TABLE = 4096, 64


def kind_of_frequencies(parameters: Any, n_features: int) -> str:
    """What `frequencies` is for so many features: 'auto' depends on them alone."""
    if parameters.frequencies != "auto":
        return str(parameters.frequencies)
    return fitting("plain", parameters.n_components, n_features)


def fitting(kind: str, n_components: int, n_features: int) -> str:
    """This kind of frequencies, unless samples are so wide that their matrix would be too large."""
    wide = n_features > WIDE and n_components * n_features > MOST_FREQUENCIES
    return "hashed" if wide else kind


def frequency_bytes(parameters: Any, n_features: int) -> int:
    """Memory that random frequencies take at least."""
    kind = kind_of_frequencies(parameters, n_features)
    if kind == "hashed":
        # The table, and a cosine and a sine of each frequency.
        return FREQUENCY_BYTES * (TABLE[0] * TABLE[1] + parameters.n_components)
    if kind == "structured":
        return FREQUENCY_BYTES * int(np.prod(signs_shape(parameters.n_components, n_features)))
    return FREQUENCY_BYTES * n_features * parameters.n_components


def fourier_map(
    parameters: Any, gamma: Any, X: Any, draws: np.random.RandomState, constant: bool = False
) -> Any:
    """The map of random Fourier features of a kernel, for samples like X.

    Parameters
    ----------
    parameters : object
        Has the attributes `kernel`, `n_components` and `frequencies`.
    gamma : float > 0
    X : ndarray or CSR matrix of shape (n, n_features)
    draws : numpy.random.RandomState
    constant : bool, default=False
        Whether the feature 1 is appended.

    Returns
    -------
    FeatureMap
    """
    d, kind = X.shape[1], kind_of_frequencies(parameters, X.shape[1])
    if kind == "hashed":
        count, n_bytes = parameters.n_components, frequency_bytes(parameters, d)
        check_size("n_components", count, n_bytes, d)
        table = _plain(parameters, gamma, TABLE, draws)
        seed = int(draws.randint(np.iinfo(np.int64).max, dtype=np.int64))
        arguments: tuple[Any, ...] = table, seed, count, d
    elif kind == "structured":
        arguments = *_structured(parameters, gamma, d, draws), d
    else:
        kind, arguments = "random", (draw_frequencies(parameters, gamma, d, draws),)
    return FEATURE_MAPS[f"{kind}_fourier"](*arguments, X.dtype, constant)


def frequencies_of(features: Any) -> Floats:
    """The frequencies of a map, ndarray of shape (n_components, n_features).

    Raises
    ------
    MemoryError
        If there is no room for them.
    """
    n, d = features.n_components, features.d
    # The matrix, and a copy in another order.
    check_size("n_components", n, 2 * features.itemsize * n * d, d)
    found: Floats = features.frequencies()
    return found


def draw_frequencies(
    parameters: Any, gamma: Any, n_features: int, draws: np.random.RandomState
) -> Floats:
    """Frequencies of random Fourier features, from the spectral measure of a kernel.

    Parameters
    ----------
    parameters : object
        Has the attributes `kernel`, `n_components` and `frequencies`.
    gamma : float > 0
    n_features : int
    draws : numpy.random.RandomState

    Returns
    -------
    ndarray of shape (n_components, n_features)
        From N(0, 2 gamma) for exp(-gamma ||x - z||^2), from the Cauchy distribution of scale gamma
        for exp(-gamma ||x - z||_1) (Rahimi and Recht 2007, figure 1).
    """
    shape = parameters.n_components, n_features
    check_size("n_components", shape[0], FREQUENCY_BYTES * shape[0] * n_features, n_features)
    if parameters.frequencies != "orthogonal":
        return _plain(parameters, gamma, shape, draws)
    _check_gaussian(parameters)
    return np.sqrt(2 * gamma) * orthogonal_normal(shape, draws)


def _plain(
    parameters: Any, gamma: Any, shape: tuple[int, int], draws: np.random.RandomState
) -> Any:
    """Independent numbers of the distribution of the frequencies."""
    if KERNEL_ALIASES.get(parameters.kernel, parameters.kernel) == "laplacian":
        return gamma * draws.standard_cauchy(shape)
    return np.sqrt(2 * gamma) * draws.standard_normal(shape)


def _structured(
    parameters: Any, gamma: Any, n_features: int, draws: np.random.RandomState
) -> tuple[Any, Any]:
    """Signs and scales of the rows of Hadamard matrices.

    The lengths of the frequencies are those of normal rows, as in `orthogonal_normal`.
    """
    _check_gaussian(parameters)
    count = parameters.n_components
    rounds, blocks, rows = signs_shape(count, n_features)
    check_size("n_components", count, FREQUENCY_BYTES * rounds * blocks * rows, n_features)
    signs = draws.randint(2, size=(rounds, blocks * rows)) * 2.0 - 1.0
    scales = np.sqrt(2 * gamma * draws.chisquare(rows, (1, count))) / rows ** (rounds / 2)
    return signs, scales


def _check_gaussian(parameters: Any) -> None:
    """Raise ValueError for frequencies that only the Gaussian kernel has."""
    if KERNEL_ALIASES.get(parameters.kernel, parameters.kernel) != "gaussian":
        raise ValueError(
            f"frequencies={parameters.frequencies!r} needs kernel='gaussian', whose frequencies "
            f"have directions of equal probability; got kernel={parameters.kernel!r}"
        )


def orthogonal_normal(shape: tuple[int, int], draws: np.random.RandomState) -> Floats:
    """Rows of a standard normal distribution that are orthogonal, as many as fit at a time.

    A row is a uniformly random direction times an independent chi distributed length, hence normal;
    the directions of each d rows are the columns of a random orthogonal matrix (Yu et al. 2016,
    section 3).
    """
    n, d = shape
    rows = np.empty(shape)
    for first in range(0, n, d):
        count = min(d, n - first)
        directions, triangle = np.linalg.qr(draws.standard_normal((d, count)))
        # The signs make the distribution uniform: LAPACK chooses its own.
        directions *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
        lengths = np.sqrt(draws.chisquare(d, count))
        rows[first : first + count] = directions.T * lengths[:, None]
    return rows
