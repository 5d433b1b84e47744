"""Functional approximation: linear learners of features that stand for a kernel, FOGD and NOGD.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from onlinekern._constraints import AVERAGE, COUNT
from onlinekern._fourier import FourierEstimator, WeightedFeatures, frequencies_of
from onlinekern._gradient import LabelGradient, TargetGradient
from onlinekern._kernel import KernelEstimator
from onlinekern._scikit_learn import Interval
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern._threads import SingleThreadedBlas
from onlinekern._typing import Floats
from onlinekern._warm_up import WarmingUp
from onlinekern.core.models.mapped import MappedSpace
from onlinekern.core.models.nogd import NystroemSpace

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator


@dataclass(kw_only=True, eq=False, repr=False)
class FOGD(WeightedFeatures, FourierEstimator):
    """Mixin: a linear model of random Fourier features."""

    n_components: int = 400
    fit_intercept: bool = False
    average: bool | str | float = False

    _constraints = {"fit_intercept": ["boolean"], "average": AVERAGE}

    def _constant_feature(self) -> bool:
        return bool(self.fit_intercept)

    def _fourier_space(self, X: Any, n_outputs: int, features: Any) -> Any:
        return MappedSpace(features, n_outputs, self.average)

    @property
    def frequencies_(self) -> Floats:
        """Random frequencies, ndarray of shape (n_components, n_features)."""
        return self._read(lambda space: frequencies_of(space.map))


@dataclass(kw_only=True, eq=False, repr=False)
class FOGDClassifier(OnlineClassifier, LabelGradient, FOGD):
    """Fourier online gradient descent (FOGD).

    A linear model ``f(x) = w . z(x)`` of random Fourier features
    ``z(x) = [cos(omega_j . x), sin(omega_j . x)] / sqrt(D)``, whose inner products approximate the
    kernel, learns by ``w <- (1 - eta_t reg) w - eta_t l'(f(x_t), y_t) z(x_t)`` (algorithm 2 of
    [1]_). Time per sample and memory do not grow with the stream. The paper's setting:
    ``loss="hinge", schedule="constant"`` and the best eta of some, for example 0.5.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'}, \
default='logistic'
        The logistic loss with a decaying step makes a few mistakes less than the hinge with a
        constant one (docs/defaults.md).
    eta : float > 0, default=8.0
        Step size. Steps of the logistic loss are bounded by half of ``eta_t``. A constant step of
        the hinge is best from 0.1 to 1.
    schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='power'
        eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
    power : float >= 0, default=0.25
        Exponent of the schedule 'power'.
    {shrinking_and_widths}
    {fogd_parameters}
    {frequencies}
    {fourier_kernel}
    {fogd_options}
    {mapped_average}
    {class_weight}
    {multi_class_features}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {fogd_attributes}

    Notes
    -----
    {fogd_notes}

    References
    ----------
    {functional_reference}

    Examples
    --------
    >>> from onlinekern import FOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = FOGDClassifier(gamma=0.4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.coef_.shape
    (True, (1, 800))
    """

    loss: str = "logistic"
    eta: float = 8.0
    schedule: str = "power"
    power: float = 0.25


@dataclass(kw_only=True, eq=False, repr=False)
class FOGDRegressor(OnlineRegressor, TargetGradient, FOGD):
    """Fourier online gradient descent (FOGD) for regression.

    The model and its learning are those of `FOGDClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
    {target_losses}
    {gradient_parameters}
    {fogd_parameters}
    {frequencies}
    {fourier_kernel}
    {fogd_options}
    {mapped_average}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {fogd_attributes}

    Notes
    -----
    {fogd_notes}

    References
    ----------
    {functional_reference}

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import FOGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = FOGDRegressor(gamma=1.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """


@dataclass(kw_only=True, eq=False, repr=False)
class NOGD(SingleThreadedBlas, KernelEstimator, WarmingUp):
    """Mixin: kernel gradient descent, then a linear model of its support vectors' features."""

    budget: int = 500
    n_components: int | None = None
    average: bool | str | float = False

    _constraints = {
        # The eigenvectors of its kernel matrix are LAPACK's, which counts in 32 bits.
        "budget": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "n_components": [*COUNT, None],
        "average": AVERAGE,
    }

    def _space(self, X: Any, n_outputs: int, rng: Generator) -> Any:
        rank = self.budget if self.n_components is None else self.n_components
        if rank > self.budget:
            raise ValueError(
                f"n_components must be at most budget, got n_components={self.n_components} and "
                f"budget={self.budget}"
            )
        return NystroemSpace(self._kernel_support(X, n_outputs), self.budget, rank)

    def _next_calls_blas(self) -> bool:
        # Only the last landmark does: the eigenvectors of the kernel matrix follow it.
        space = self._model.space
        return not space.moved and space.support.n + 1 >= space.n_landmarks

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the model that predicts, ndarray of shape (n_outputs, n_SV)."""
        return self._read_in_units(lambda space: space.effective())


@dataclass(kw_only=True, eq=False, repr=False)
class NOGDClassifier(OnlineClassifier, LabelGradient, NOGD):
    """Nystroem online gradient descent (NOGD).

    The first `budget` support vectors come from kernel gradient descent. Their kernel matrix ``K =
    V D V'`` then gives features ``z(x) = D_k^{-1/2} V_k' k(x)`` over the k largest eigenvalues;
    k(x) are the kernel values of x with the support vectors. Gradient descent continues with ``f(x)
    = w . z(x)``, starting from the w that gives the same function (algorithm 3 of [1]_). From then
    on, time per sample and memory do not grow.

    Parameters
    ----------
    {label_losses}
    {gradient_parameters}
    {nogd_parameters}
    {kernel_parameters}
    {average}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    {nogd_notes}

    References
    ----------
    {functional_reference}

    Examples
    --------
    >>> from onlinekern import NOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = NOGDClassifier(gamma=0.4, eta=0.1, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.n_support_
    (True, 100)
    """


@dataclass(kw_only=True, eq=False, repr=False)
class NOGDRegressor(OnlineRegressor, TargetGradient, NOGD):
    """Nystroem online gradient descent (NOGD) for regression.

    The model and its learning are those of `NOGDClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
    {target_losses}
    {gradient_parameters}
    {nogd_parameters}
    {kernel_parameters}
    {average}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    {nogd_notes}

    References
    ----------
    {functional_reference}

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import NOGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = NOGDRegressor(gamma=1.0, budget=50, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """
