"""Linear learners of the second order on explicit features of a kernel: AROW and SCW.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern._constraints import AVERAGE, COUNT, POSITIVE
from onlinekern._explicit import ExplicitEstimator
from onlinekern._fourier import WeightedFeatures
from onlinekern._linear import WEIGHT_BYTES
from onlinekern._scikit_learn import StrOptions
from onlinekern._second_order import check_memory, warn_of_degeneration
from onlinekern._tasks import OnlineClassifier
from onlinekern._threads import SingleThreadedBlas
from onlinekern._typing import Floats
from onlinekern.core import COVARIANCES, GATES, LOSSES, RULES
from onlinekern.core.models.mapped_second_order import MappedSecondOrderSpace
from onlinekern.second_order import CONFIDENCE
from onlinekern.spa import check_alpha_and_beta


@dataclass(kw_only=True, eq=False, repr=False)
class KernelSecondOrder(SingleThreadedBlas, WeightedFeatures, ExplicitEstimator):
    """Mixin: weights of the features and their covariance; a subclass says what the steps are."""

    covariance: str = "shared"
    sketch_size: int = 50
    gate: str = "margin"
    alpha: float = 1.0
    beta: float = 1.0
    weighted: bool = False
    average: bool | str | float = False

    _constraints = {
        "covariance": [StrOptions(set(COVARIANCES))],
        "sketch_size": COUNT,
        "gate": [StrOptions({"margin", "loss_proportional"})],
        "alpha": POSITIVE,
        "beta": POSITIVE,
        "weighted": ["boolean"],
        "average": AVERAGE,
    }

    def _n_bytes(self, n_features: int, n_outputs: int, itemsize: int, is_sparse: bool) -> int:
        # A variance for each weight at least.
        n_weights = self._length(n_features) * n_outputs * (2 + bool(self.average))
        features = super()._n_bytes(n_features, n_outputs, itemsize, is_sparse)
        return features + WEIGHT_BYTES * n_weights

    def _gate(self) -> Any:
        if self.gate == "margin":
            return GATES["always"]()
        check_alpha_and_beta(self)
        return GATES["loss_proportional"](self.alpha, self.beta, bool(self.weighted))

    def _explicit_space(self, X: Any, n_outputs: int, features: Any) -> Any:
        self._warned = False
        sizes = (self.sketch_size,) if self.covariance == "sketched" else ()
        check_memory(self.covariance, n_outputs, features.length, *sizes)
        covariance = COVARIANCES[self.covariance](n_outputs, features.length, *sizes)
        return MappedSecondOrderSpace(features, n_outputs, self.average, covariance=covariance)

    def _next_calls_blas(self) -> bool:
        return self.covariance == "sketched"

    def _finish(self) -> None:
        warn_of_degeneration(self)

    @property
    def covariance_(self) -> Floats:
        """Covariances of the last weights: (n_outputs, n), (n_outputs, n, n) or (1, n, n)."""
        array, places = self._read(lambda space: (space.covariance.to_array(), space.positions()))
        if array.ndim == 2:
            return np.ascontiguousarray(array[:, places])
        return array[:, places[:, None], places]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelAROWClassifier(OnlineClassifier, KernelSecondOrder):
    """Adaptive regularisation of weights (AROW) on explicit features of a kernel.

    `AROWClassifier` on ``phi = [x / sqrt(d), 1, z(x)]``, with Nystroem or random Fourier features z
    of a kernel: the weights are a Gaussian N(mu, S), at first N(0, I). A sample with hinge loss l >
    0 gives ``beta = 1 / (phi'S phi + r)``, ``mu <- mu + y l beta S phi`` and ``S <- S - beta (S
    phi)(S phi)'`` [1]_. With two classes and a whole matrix these are the decisions of
    `KernelRLSClassifier` with ``reg = r``, which learns in blocks and is faster; here the
    covariance may also be a diagonal or a sketch, or one of each class (see docs/accuracy.md).

    Parameters
    ----------
    r : float > 0, default=0.1
        The noise of a target: the larger, the smaller the steps. Values from 0.03 to 0.3 do much
        the same; less suits few and clean labels.
    {kernel_second_order_parameters}
    {lot_parameters}
    {second_order_average}
    {explicit_features}
    {any_selection}
    {explicit_linear}
    {explicit_kernel}
    {class_weight}
    {multi_class_features}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {kernel_second_order_attributes}

    Notes
    -----
    {kernel_second_order_notes}
    A `sample_weight` divides r.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22.
    {kernel_second_order_references}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import KernelAROWClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelAROWClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.92)
    True
    """

    r: float = 0.1

    _constraints = {"r": POSITIVE}

    def _rule(self) -> Any:
        return RULES["arow"](LOSSES["hinge"](), self.r)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelSCWClassifier(OnlineClassifier, KernelSecondOrder):
    """Soft confidence-weighted learning (SCW) on explicit features of a kernel.

    `SCWClassifier` on ``phi = [x / sqrt(d), 1, z(x)]``, with Nystroem or random Fourier features z
    of a kernel: the weights are a Gaussian N(mu, S), at first N(0, I). A sample that is classified
    correctly with a probability of less than `confidence` moves it, by the alpha and beta of SCW-I
    or SCW-II [1]_: ``mu <- mu + alpha y S phi``, ``S <- S - beta (S phi)(S phi)'``.

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness; less for noisy labels.
    variant : {'scw1', 'scw2'}, default='scw1'
        A linear or a quadratic cost of a violation.
    confidence : float in (0.5, 1), default=0.75
        eta of the paper: the probability with which a sample should be correct. With 0.5 nothing
        would be learnt.
    {kernel_second_order_parameters}
    {lot_parameters}
    {second_order_average}
    {explicit_features}
    {any_selection}
    {explicit_linear}
    {explicit_kernel}
    {class_weight}
    {multi_class_features}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {kernel_second_order_attributes}

    Notes
    -----
    {kernel_second_order_notes}
    A `sample_weight` multiplies C.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. C. H. Hoi (2012). Exact soft confidence-weighted learning.
       International Conference on Machine Learning.
    {kernel_second_order_references}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import KernelSCWClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelSCWClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.9)
    True
    """

    C: float = 1.0
    variant: str = "scw1"
    confidence: float = 0.75

    _constraints = {
        "C": POSITIVE,
        "variant": [StrOptions({"scw1", "scw2"})],
        "confidence": CONFIDENCE,
    }

    def _rule(self) -> Any:
        return RULES[self.variant](LOSSES["hinge"](), self.confidence, self.C)
