"""Learners of explicit features of a kernel, of either kind, and the parameters of the features."""

from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from onlinekern.core import FEATURE_MAPS, KERNEL_ALIASES
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.fourier_features import (
    fitting,
    fourier_map,
    frequencies_of,
    frequency_bytes,
)
from onlinekern.estimators.kernel import PANEL, new_kernel
from onlinekern.estimators.median_width import width_of
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

# Kernels that are the expectation of products of cosines.
SHIFT_INVARIANT = ("gaussian", "laplacian")


def kernel_part(features: Any) -> Any:
    """The map of the kernel's features, without the linear ones beside them."""
    return getattr(features, "map", features)


def least_squares_bytes(length: int, n_outputs: int, itemsize: int) -> int:
    """Memory of least squares of so many features, at least."""
    # The sums and the inverse, each with its copy; 64 rows and their products, twice.
    return length * (length * 2 * (8 + itemsize) + 64 * 2 * 2 * itemsize + 5 * 8 * n_outputs)


def weights_of_features(learner: Any) -> Floats:
    """Weights of the features, ndarray of shape (n_outputs, number of features)."""
    found: Floats = learner._read_in_units(lambda space: space.effective())
    return found


def constants_of_outputs(learner: Any) -> Floats:
    """Constants of the outputs, ndarray of shape (n_outputs,)."""
    found: Floats = learner._read_in_units(lambda space: space.offsets(), mean=True)
    return found


@estimator
class FeatureEstimator(Learner):
    """Mixin for learners with Nystroem or random Fourier features of a kernel.

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

    def _n_bytes(self, n_features: int, n_outputs: int, itemsize: int, is_sparse: bool) -> int:
        if self.features == "fourier":
            kernel = KERNEL_ALIASES.get(self.kernel, self.kernel)
            return frequency_bytes(self._frequencies(kernel, n_features), n_features)
        # L^-1 in double and in the dtype of the samples; the first panel of landmarks.
        return self.n_components**2 * (8 + itemsize) + n_features * itemsize * (
            2 if is_sparse else PANEL
        )

    def _length(self, n_features: int) -> int:
        """Numbers in a row of features, at least."""
        return self.n_components + (n_features + 1 if self.linear else 0)

    def _features(self, X: Any, draws: np.random.RandomState) -> Any:
        """The map of the parameters, for samples like X."""
        self.gamma_ = width_of(self, X)
        self._sparse = sp.issparse(X)
        make = self._fourier if self.features == "fourier" else self._nystroem
        features = make(X, draws)
        return FEATURE_MAPS["with_linear"](features) if self.linear else features

    def _fourier(self, X: Any, draws: np.random.RandomState) -> Any:
        kernel = KERNEL_ALIASES.get(self.kernel, self.kernel)
        if kernel not in SHIFT_INVARIANT:
            raise ValueError(
                f"features='fourier' needs one of the kernels {', '.join(SHIFT_INVARIANT)}; got "
                f"kernel={self.kernel!r}"
            )
        return fourier_map(self._frequencies(kernel, X.shape[1]), self.gamma_, X, draws)

    def _frequencies(self, kernel: str, n_features: int) -> Any:
        """The parameters of the frequencies that `fourier_map` reads."""
        if self.n_components % 2:
            raise ValueError(
                "n_components must be even with features='fourier', a cosine and a sine for each "
                f"frequency; got {self.n_components}"
            )
        kind, count = "orthogonal" if kernel == "gaussian" else "plain", self.n_components // 2
        return SimpleNamespace(
            kernel=kernel, n_components=count, frequencies=fitting(kind, count, n_features)
        )

    def _nystroem(self, X: Any, draws: np.random.RandomState) -> Any:
        kernel = new_kernel(self.kernel, self.gamma_, self.degree, self.coef0)
        landmarks = SupportSet(kernel, X.shape[1], X.dtype, 1, False, self._sparse)
        return FEATURE_MAPS["nested_nystroem"](
            landmarks, self.n_components, self.selection, float(self.novelty)
        )

    def _layout(self, X: Any) -> Any:
        """Dense samples become CSR where the landmarks are stored sparse."""
        landmarks = getattr(kernel_part(self._fitted_model.space.map), "landmarks", None)
        if not sp.issparse(X) and landmarks is not None and landmarks.stored_sparse:
            return sp.csr_matrix(X)
        return X

    @property
    def landmarks_(self) -> Array | Sparse:
        """Landmarks of the Nystroem features, ndarray or CSR matrix (n_landmarks, n_features)."""
        self._check_kind("landmarks_", "nystroem")
        rows = self._read(lambda space: kernel_part(space.map).landmarks.rows())
        return sp.csr_matrix(rows) if self._sparse and not sp.issparse(rows) else rows

    @property
    def frequencies_(self) -> Floats:
        """Frequencies of the Fourier features, ndarray of shape (n_components / 2, n_features)."""
        self._check_kind("frequencies_", "fourier")
        return self._read(lambda space: frequencies_of(kernel_part(space.map)))

    def _check_kind(self, name: str, kind: str) -> None:
        part = "landmarks" if kind == "nystroem" else "frequencies"
        if not hasattr(kernel_part(self._fitted_model.space.map), part):
            raise AttributeError(f"{name} is there with features={kind!r} only")
