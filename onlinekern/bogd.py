"""BOGD: online gradient descent that evicts a random support vector."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern._gradient import LabelGradient, TargetGradient
from onlinekern._kernel import BudgetedEstimator
from onlinekern._scikit_learn import Interval, StrOptions
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import POLICIES

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator


@dataclass(kw_only=True, eq=False, repr=False)
class BOGD(BudgetedEstimator):
    """Mixin: gradient steps and random eviction that leaves the expected function unchanged."""

    removal: str = "uniform"
    cap: float | None = 1.0

    _constraints = {
        "removal": [StrOptions({"uniform", "nonuniform"})],
        "cap": [Interval(Real, 0, None, closed="neither"), None],
    }

    def _budget(self, rng: Generator) -> Any:
        most = np.inf if self.cap is None else self.eta * self.cap
        return POLICIES[self.removal](self.budget, rng, most)


@dataclass(kw_only=True, eq=False, repr=False)
class BOGDClassifier(OnlineClassifier, LabelGradient, BOGD):
    """Budgeted online gradient descent (BOGD, BOGD++).

    At each step ``f <- (1 - eta_t reg) f``, and a sample whose loss has a slope is added with
    coefficient ``-eta_t l'(f(x_t), y_t)``. When the budget B is full, a random support vector is
    evicted. The coefficient of every other support vector j is divided by ``1 - p_j``, where p_j is
    the probability of evicting j: the expectation of f does not change (algorithms 1 and 2 of
    [1]_).

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'}, \
default='hinge'
    {budget}
    {bogd_parameters}
    {gradient_parameters}
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
    {bogd_notes}

    References
    ----------
    .. [1] P. Zhao, J. Wang, P. Wu, R. Jin, S. C. H. Hoi (2012). Fast bounded online gradient
       descent algorithms for scalable kernel-based online learning. ICML.

    Examples
    --------
    >>> from onlinekern import BOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BOGDClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_
    (True, 100)
    """


@dataclass(kw_only=True, eq=False, repr=False)
class BOGDRegressor(OnlineRegressor, TargetGradient, BOGD):
    """Budgeted online gradient descent (BOGD, BOGD++) for regression.

    `BOGDClassifier` with a loss of regression [1]_.

    Parameters
    ----------
    loss : {'squared', 'absolute', 'epsilon_insensitive', 'huber'}, default='squared'
    {budget}
    {bogd_parameters}
    {gradient_parameters}
    {kernel_parameters}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    {bogd_notes}
    `cap` presumes targets of a range of about 1: without `standardize_target`, scale them, and
    centre them, as there is no intercept then.

    References
    ----------
    .. [1] P. Zhao, J. Wang, P. Wu, R. Jin, S. C. H. Hoi (2012). Fast bounded online gradient
       descent algorithms for scalable kernel-based online learning. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import BOGDRegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = BOGDRegressor(gamma=1.0, eta=0.1, budget=100, n_epochs=5, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9), model.n_support_
    (True, 100)
    """
