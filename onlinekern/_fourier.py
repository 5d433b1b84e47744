"""Random frequencies, and the estimators whose model has random Fourier features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern._base import Learner, new_generator
from onlinekern._constraints import COUNT, KERNEL_WIDTH
from onlinekern._memory import check_size
from onlinekern._scikit_learn import StrOptions
from onlinekern._typing import Floats
from onlinekern._warm_up import WarmingUp, width_of
from onlinekern.core import KERNEL_ALIASES

if TYPE_CHECKING:
    from onlinekern.core.stream import Model

FOURIER_CONSTRAINTS = {
    "gamma": KERNEL_WIDTH,
    "n_components": COUNT,
    "kernel": [StrOptions({"gaussian", "rbf", "laplacian"})],
    "frequencies": [StrOptions({"plain", "orthogonal"})],
}

# A frequency of one feature as it is drawn, and in the map.
FREQUENCY_BYTES = 2 * 8


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
    kernel = KERNEL_ALIASES.get(parameters.kernel, parameters.kernel)
    if parameters.frequencies == "orthogonal" and kernel != "gaussian":
        raise ValueError(
            "frequencies='orthogonal' needs kernel='gaussian', whose frequencies have directions "
            f"of equal probability; got kernel={parameters.kernel!r}"
        )
    check_size("n_components", shape[0], FREQUENCY_BYTES * shape[0] * n_features, n_features)
    if kernel == "laplacian":
        return gamma * draws.standard_cauchy(shape)
    normal = orthogonal_normal if parameters.frequencies == "orthogonal" else _normal
    return np.sqrt(2 * gamma) * normal(shape, draws)


def _normal(shape: tuple[int, int], draws: np.random.RandomState) -> Any:
    return draws.standard_normal(shape)


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


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedFeatures(Learner):
    """Mixin: the model's space has weights of features, and perhaps of a constant."""

    @property
    def coef_(self) -> Floats:
        """Weights of the features, ndarray of shape (n_outputs, number of features)."""
        return self._read_in_units(lambda space: space.effective())

    @property
    def intercept_(self) -> Floats:
        """Constants of the outputs, ndarray of shape (n_outputs,)."""
        return self._read_in_units(lambda space: space.offsets(), mean=True)


@dataclass(kw_only=True, eq=False, repr=False)
class FourierEstimator(WarmingUp):
    """Mixin for learners with random Fourier features.

    A subclass makes its space in `_fourier_space(X, n_outputs, frequencies)`.
    """

    kernel: str = "gaussian"
    gamma: float | str = "median"
    n_components: int = 200
    frequencies: str = "plain"

    _constraints = FOURIER_CONSTRAINTS
    _size = "n_components"

    def _n_bytes(self, n_features: int, n_outputs: int, itemsize: int, is_sparse: bool) -> int:
        return FREQUENCY_BYTES * n_features * self.n_components

    def _new_model(self, X: Any, draws: np.random.RandomState) -> Model:
        self.gamma_ = width_of(self, X)
        # The frequencies are drawn before the seed of the model's generator.
        frequencies = draw_frequencies(self, self.gamma_, X.shape[1], draws)
        head, rng = self._head(), new_generator(draws)
        space = self._fourier_space(X, head.n_outputs, frequencies)
        return self._compose(X, space, head, rng)
