"""Perceptron and Passive-Aggressive learners that replace a support vector by the new one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onlinekern._constraints import NOT_NEGATIVE, POSITIVE
from onlinekern._kernel import BudgetedEstimator
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import LOSSES, POLICIES, RULES

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator


@dataclass(kw_only=True, eq=False, repr=False)
class RBPClassifier(OnlineClassifier, BudgetedEstimator):
    """Randomised Budget Perceptron (RBP).

    A sample with ``y f(x) <= 0`` becomes a support vector with coefficient y (times its weight);
    when the budget is full, a support vector chosen uniformly at random is evicted [1]_.

    Parameters
    ----------
    {budget}
    {kernel_parameters}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies the coefficient. With
    several classes, the coefficients of all classes are evicted with the support vector.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi, C. Gentile (2007). Tracking the best hyperplane with a
       simple budget Perceptron. Machine Learning 69.

    Examples
    --------
    >>> from onlinekern import RBPClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = RBPClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6), model.n_support_
    (True, 100)
    """

    def _rule(self) -> Any:
        return RULES["perceptron"]()

    def _budget(self, rng: Generator) -> Any:
        return POLICIES["random"](self.budget, rng)


@dataclass(kw_only=True, eq=False, repr=False)
class ForgetronClassifier(OnlineClassifier, BudgetedEstimator):
    """Self-tuned Forgetron: a Perceptron that shrinks its coefficients and evicts the oldest.

    A sample with ``y f(x) <= 0`` becomes a support vector with coefficient y. If the budget is then
    exceeded, all coefficients shrink by phi and the oldest support vector r is evicted. Let ``d =
    |a_r|`` and ``m = y_r f(x_r)`` before the shrinking, M the number of mistakes so far, and Q the
    sum of the damages of all evictions so far. phi is the largest number in (0, 1] with ``(d phi)^2
    + 2 d phi (1 - phi m) + Q <= 15/32 M``; the first two terms, the damage of this eviction, are
    then added to Q (section 5 of [1]_).

    Parameters
    ----------
    {budget}
    {kernel_parameters}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    The mistake bound of [1]_ holds for kernels with ``kappa(x, x) <= 1`` and weights of 1; the
    algorithm runs with any. `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies
    the coefficient. With K classes, d is the Euclidean norm of the K coefficients a_r, ``d m`` the
    inner product ``<a_r, f(x_r)>``, and M the number of samples that have become support vectors: Q
    then bounds the damage to the K functions together.

    References
    ----------
    .. [1] O. Dekel, S. Shalev-Shwartz, Y. Singer (2008). The Forgetron: a kernel-based Perceptron
       on a budget. SIAM Journal on Computing 37.

    Examples
    --------
    >>> from onlinekern import ForgetronClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = ForgetronClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6), model.n_support_
    (True, 100)
    """

    def _rule(self) -> Any:
        return RULES["perceptron"]()

    def _budget(self, rng: Generator) -> Any:
        return POLICIES["forgetron"](self.budget)


@dataclass(kw_only=True, eq=False, repr=False)
class BPA(BudgetedEstimator):
    """Mixin: the step of PA-I; the new support vector replaces the cheapest one to lose."""

    C: float = 1.0

    _constraints = {"C": POSITIVE}

    def _rule(self) -> Any:
        return RULES["pa1"](self._loss(), self.C)

    def _budget(self, rng: Generator) -> Any:
        return POLICIES["bpa_s"](self.budget)


@dataclass(kw_only=True, eq=False, repr=False)
class BPAClassifier(OnlineClassifier, BPA):
    """Budgeted Passive-Aggressive learning, simple (BPA-S).

    A sample x_t of hinge loss l > 0 takes the step of PA-I, ``tau = min(C, l / kappa_tt)``. When
    the budget is full, it replaces a support vector r and gets the coefficient ``a_r kappa_rt /
    kappa_tt + tau y``. This choice of r and coefficient minimises ``||f_new - f||^2 / 2 + C l_new``
    (section 3 of [1]_).

    Parameters
    ----------
    {budget}
    C : float > 0, default=1.0
        Aggressiveness: the largest step. Use 0.25 to 0.5 for noisy labels.
    {kernel_parameters}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    {bpa_notes}

    References
    ----------
    .. [1] Z. Wang, S. Vucetic (2010). Online passive-aggressive algorithms on a budget. AISTATS,
       Proceedings of Machine Learning Research 9.

    Examples
    --------
    >>> from onlinekern import BPAClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BPAClassifier(gamma=0.4, C=0.1, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_
    (True, 100)
    """

    def _loss(self) -> Any:
        return LOSSES["hinge"]()


@dataclass(kw_only=True, eq=False, repr=False)
class BPARegressor(OnlineRegressor, BPA):
    """Budgeted Passive-Aggressive regression, simple (BPA-S).

    `BPAClassifier` with the epsilon-insensitive loss: ``tau = min(C, l / kappa_tt)`` in the
    direction of ``y - f``. The sample replaces a support vector r and gets the coefficient ``a_r
    kappa_rt / kappa_tt + sign(y - f) tau``. The paper treats classification only [1]_; the
    minimisation is the same.

    Parameters
    ----------
    {budget}
    C : float > 0, default=1.0
        Aggressiveness: the largest step, in standard deviations of y.
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in standard deviations of y.
    {kernel_parameters}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    {bpa_notes}

    References
    ----------
    .. [1] Z. Wang, S. Vucetic (2010). Online passive-aggressive algorithms on a budget. AISTATS,
       Proceedings of Machine Learning Research 9.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import BPARegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = BPARegressor(gamma=1.0, epsilon=0.05, budget=30, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9), model.n_support_ <= 30
    (True, True)
    """

    epsilon: float = 0.1

    _constraints = {"epsilon": NOT_NEGATIVE}

    def _loss(self) -> Any:
        return LOSSES["epsilon_insensitive"](self.epsilon)
