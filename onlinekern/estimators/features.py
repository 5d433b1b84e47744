"""Explicit features of a kernel: random Fourier features, Nystroem features, learners of them."""

from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from onlinekern.core import FEATURE_MAPS
from onlinekern.core.features.structured import signs_shape
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.kernel import PANEL, as_csr, new_kernel
from onlinekern.estimators.kernel_width import check_representable, own_name
from onlinekern.estimators.median_width import width_of
from onlinekern.estimators.memory import Form, check_size
from onlinekern.estimators.parameters import (
    Count,
    Finite,
    KernelName,
    KernelWidth,
    MatrixSize,
    Share,
    estimator,
)
from onlinekern.estimators.types import Array, Floats, Sparse

# These are kernels of the distance, whose features have frequencies.
DistanceKernel: TypeAlias = Literal["gaussian", "rbf", "laplacian"]
Frequencies: TypeAlias = Literal["auto", "plain", "orthogonal", "structured", "hashed"]

# A frequency of one feature takes 8 bytes as it is drawn, and 8 in the map.
FREQUENCY_BYTES = 2 * 8
# 'auto' hashes if there are more features and a matrix of more numbers: 540 MB as drawn.
# With fewer features only the frequencies can be many, and so are their weights.
WIDE = 1 << 14
MOST_FREQUENCIES = 1 << 25
# The table of hashed frequencies has this shape. 1 MB of float32 stays in the cache of a core;
# twice the rows halve an error that is small beside that of the frequencies (see features.hashed).
TABLE = 4096, 64


def kind_of_frequencies(parameters: Any, n_features: int) -> str:
    """Return what `frequencies` is for so many features: 'auto' depends on them alone."""
    if parameters.frequencies != "auto":
        return str(parameters.frequencies)
    return fitting("plain", parameters.n_components, n_features)


def fitting(kind: str, n_components: int, n_features: int) -> str:
    """Return this kind of frequencies, unless samples are so wide that the matrix is too large."""
    wide = n_features > WIDE and n_components * n_features > MOST_FREQUENCIES
    return "hashed" if wide else kind


def frequency_bytes(parameters: Any, n_features: int) -> int:
    """Return the bytes that random frequencies take at least."""
    kind = kind_of_frequencies(parameters, n_features)
    if kind == "hashed":
        # There are the table, and a cosine and a sine of each frequency.
        return FREQUENCY_BYTES * (TABLE[0] * TABLE[1] + parameters.n_components)
    if kind == "structured":
        return FREQUENCY_BYTES * int(np.prod(signs_shape(parameters.n_components, n_features)))
    return FREQUENCY_BYTES * n_features * parameters.n_components


def fourier_map(
    parameters: Any, gamma: Any, X: Any, draws: np.random.RandomState, constant: bool = False
) -> Any:
    """Return the map of random Fourier features of a kernel, for samples like X.

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
    """Return the frequencies of a map, ndarray of shape (n_components, n_features).

    Raises
    ------
    MemoryError
        If there is no room for them.
    """
    n, d = features.n_components, features.d
    # There are the matrix, and a copy in another order.
    check_size("n_components", n, 2 * features.itemsize * n * d, d)
    return features.frequencies()


def draw_frequencies(
    parameters: Any, gamma: Any, n_features: int, draws: np.random.RandomState
) -> Floats:
    """Draw frequencies of random Fourier features, from the spectral measure of a kernel.

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
    """Draw independent numbers of the distribution of the frequencies."""
    if own_name(parameters.kernel) == "laplacian":
        return gamma * draws.standard_cauchy(shape)
    return np.sqrt(2 * gamma) * draws.standard_normal(shape)


def _structured(
    parameters: Any, gamma: Any, n_features: int, draws: np.random.RandomState
) -> tuple[Any, Any]:
    """Draw signs and scales of the rows of Hadamard matrices.

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
    if own_name(parameters.kernel) != "gaussian":
        raise ValueError(
            f"frequencies={parameters.frequencies!r} needs kernel='gaussian', whose frequencies "
            f"have directions of equal probability; got kernel={parameters.kernel!r}"
        )


def orthogonal_normal(shape: tuple[int, int], draws: np.random.RandomState) -> Floats:
    """Draw standard normal rows that are orthogonal, as many as fit at a time.

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


# These kernels are the expectation of products of cosines.
SHIFT_INVARIANT = ("gaussian", "laplacian")


def kernel_part(features: Any) -> Any:
    """Return the map of the kernel's features, without a metric and the linear ones beside it."""
    while hasattr(features, "map"):
        features = features.map
    return features


def least_squares_bytes(length: int, n_outputs: int, itemsize: int) -> int:
    """Return the bytes of least squares of so many features, at least."""
    # There are the sums and the inverse, each with its copy; 64 rows and their products, twice.
    return length * (length * 2 * (8 + itemsize) + 64 * 2 * 2 * itemsize + 5 * 8 * n_outputs)


def weights_of_features(learner: Any) -> Floats:
    """Return the weights of the features, ndarray of shape (n_outputs, number of features)."""
    return learner._read_in_units(lambda space: space.effective())


def constants_of_outputs(learner: Any) -> Floats:
    """Return the constants of the outputs, ndarray of shape (n_outputs,)."""
    return learner._read_in_units(lambda space: space.offsets(), mean=True)


@estimator
class FeatureEstimator(Learner):
    """Mixin of learners with Nystroem or random Fourier features of a kernel.

    A subclass makes its space in `_space`; the space has the map of the features as its attribute
    `map`, and calls `consider` for each sample that it learns.
    """

    features: Literal["nystroem", "fourier"] = "nystroem"
    n_components: MatrixSize = 400
    selection: Literal["first", "margin", "ald"] = "first"
    novelty: Share = 0.05
    linear: bool = True
    kernel: KernelName = "gaussian"
    gamma: KernelWidth = "median"
    degree: Count = 3
    coef0: Finite = 0.0

    _warms_up = True
    _size = "n_components"

    def _n_bytes(self, form: Form) -> int:
        if self.features == "fourier":
            kernel = own_name(self.kernel)
            return frequency_bytes(self._frequencies(kernel, form.n_features), form.n_features)
        # There are L^-1 in double and in the samples' dtype, and the first panel of landmarks.
        n_rows = 2 if form.is_sparse else PANEL
        panel = form.n_features * form.itemsize * n_rows
        return self.n_components**2 * (8 + form.itemsize) + panel

    def _length(self, n_features: int) -> int:
        """Return how many numbers a row of features has, at least."""
        return self.n_components + (n_features + 1 if self._has_linear(n_features) else 0)

    def _has_linear(self, n_features: int) -> bool:
        """Return whether samples of so many features stand beside the features of the kernel."""
        return bool(self.linear)

    def _features(self, X: Any, draws: np.random.RandomState) -> Any:
        """Return the map of the parameters, for samples like X."""
        self.gamma_ = width_of(self, X)
        self._sparse = sp.issparse(X)
        make = self._fourier if self.features == "fourier" else self._nystroem
        features = self._in_metric(make(X, draws))
        if self._has_linear(X.shape[1]):
            return FEATURE_MAPS["with_linear"](features)
        return features

    def _in_metric(self, features: Any) -> Any:
        """Return the features in the metric of the kernel; by default, as they are."""
        return features

    def _keeps_sparse(self) -> bool:
        """Return whether sparse samples may be kept as such."""
        return True

    def _fourier(self, X: Any, draws: np.random.RandomState) -> Any:
        kernel = own_name(self.kernel)
        if kernel not in SHIFT_INVARIANT:
            raise ValueError(
                f"features='fourier' needs one of the kernels {', '.join(SHIFT_INVARIANT)}; got "
                f"kernel={self.kernel!r}"
            )
        return fourier_map(self._frequencies(kernel, X.shape[1]), self.gamma_, X, draws)

    def _frequencies(self, kernel: str, n_features: int) -> Any:
        """Return the parameters of the frequencies that `fourier_map` reads."""
        if self.n_components % 2:
            raise ValueError(
                "n_components must be even with features='fourier', a cosine and a sine for each "
                f"frequency; got {self.n_components}"
            )
        kind, count = "orthogonal" if kernel == "gaussian" else "plain", self.n_components // 2
        fits = fitting(kind, count, n_features)
        return SimpleNamespace(kernel=kernel, n_components=count, frequencies=fits)

    def _nystroem(self, X: Any, draws: np.random.RandomState) -> Any:
        check_representable(self.gamma_, X, self.kernel)
        kernel = new_kernel(self.kernel, self.gamma_, self.degree, self.coef0)
        sparse = self._sparse and self._keeps_sparse()
        landmarks = SupportSet(kernel, X.shape[1], X.dtype, 1, False, sparse)
        return FEATURE_MAPS["nested_nystroem"](
            landmarks, self.n_components, self.selection, float(self.novelty)
        )

    def _layout(self, X: Any) -> Any:
        """Return X, as CSR where the landmarks are stored sparse."""
        landmarks = getattr(kernel_part(self._fitted_model.space.map), "landmarks", None)
        return as_csr(X, landmarks is not None and landmarks.stored_sparse)

    @property
    def landmarks_(self) -> Array | Sparse:
        """Landmarks of the Nystroem features, ndarray or CSR matrix (n_landmarks, n_features)."""
        self._check_kind("landmarks_", "nystroem")
        rows = self._read(lambda space: kernel_part(space.map).landmarks.rows())
        return as_csr(rows, self._sparse)

    @property
    def frequencies_(self) -> Floats:
        """Frequencies of the Fourier features, ndarray of shape (n_components / 2, n_features)."""
        self._check_kind("frequencies_", "fourier")
        return self._read(lambda space: frequencies_of(kernel_part(space.map)))

    def _check_kind(self, name: str, kind: str) -> None:
        part = "landmarks" if kind == "nystroem" else "frequencies"
        if not hasattr(kernel_part(self._fitted_model.space.map), part):
            raise AttributeError(f"{name} is there with features={kind!r} only")
