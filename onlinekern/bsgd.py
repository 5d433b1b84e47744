"""BSGD: stochastic gradient descent on a budget of support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from onlinekern._constraints import NOT_NEGATIVE, POSITIVE
from onlinekern._kernel import BudgetedEstimator
from onlinekern._memory import check_size
from onlinekern._scikit_learn import Interval, StrOptions
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern._threads import SingleThreadedBlas
from onlinekern.core import LOSSES, POLICIES, RULES
from onlinekern.core.models.space import InverseTimeSpace

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator


@dataclass(kw_only=True, eq=False, repr=False)
class BSGD(SingleThreadedBlas, BudgetedEstimator):
    """Mixin: gradient steps of 1 / (reg t), and what keeps the support vectors within a budget."""

    reg: float = 1e-4
    maintenance: str = "merge"

    _space_type = InverseTimeSpace
    _constraints = {"reg": POSITIVE, "maintenance": [StrOptions({"remove", "project", "merge"})]}

    def _budget(self, rng: Generator) -> Any:
        gaussian = isinstance(self.kernel, str) and self.kernel in ("gaussian", "rbf")
        if self.maintenance == "merge" and not gaussian:
            raise ValueError(
                "maintenance='merge' needs kernel='gaussian', the only one with a formula for "
                f"merging, got kernel={self.kernel!r}; use maintenance='project' or 'remove'"
            )
        # Two numbers for each support vector are kept beside the set.
        check_size("budget", self.budget, 2 * 8 * self.budget)
        return POLICIES[self.maintenance](self.budget)


@dataclass(kw_only=True, eq=False, repr=False)
class BSGDClassifier(OnlineClassifier, BSGD):
    """Budgeted stochastic gradient descent (BSGD): kernel Pegasos on a budget.

    At step t all coefficients shrink by ``1 - 1/t``, and a sample with ``y f(x) < 1`` is added with
    coefficient ``y / (reg t)``. When there is one support vector more than `budget`, the smallest
    one, of least ``|alpha| sqrt(kappa(x, x))``, is removed (algorithm 1 of [1]_).

    Parameters
    ----------
    {bsgd_parameters}
    {class_weight}
    multi_class : {'margin', 'ovr'}, default='margin'
        For more than two classes: 'margin' compares the true class with its strongest rival, as the
        paper does (section 6 there), 'ovr' solves one binary problem per class. All classes share
        one set of support vectors.
    {kernel_parameters}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    {bsgd_notes}

    References
    ----------
    .. [1] Z. Wang, K. Crammer, S. Vucetic (2012). Breaking the curse of kernelization: budgeted
       stochastic gradient descent for large-scale SVM training. Journal of Machine Learning
       Research 13.
    .. [2] T. Glasmachers, S. Qaadan (2018). Speeding up budgeted stochastic gradient descent SVM
       training with precomputed golden section search. arXiv:1806.10180.

    Examples
    --------
    >>> from onlinekern import BSGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BSGDClassifier(gamma=0.4, reg=0.01, budget=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_
    (True, 50)
    """

    multi_class: str = "margin"

    def _rule(self) -> Any:
        return RULES["inverse_time"](LOSSES["hinge"](), self.reg)


@dataclass(kw_only=True, eq=False, repr=False)
class BSGDRegressor(OnlineRegressor, BSGD):
    """Budgeted stochastic gradient descent (BSGD) for regression.

    The model and its maintenance are those of `BSGDClassifier`, with a loss of regression.

    Parameters
    ----------
    loss : {'absolute', 'epsilon_insensitive'}, default='absolute'
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss in 'epsilon_insensitive'; in standard deviations
        of y.
    {bsgd_parameters}
    max_step : float > 0 or None, default=0.5
        Cap on the size of a step, ``|l'| / (reg t)`` times the weight, in standard deviations of
        y. Without it (None) the first predictions are far off: the first step has length
        ``1 / reg``.
    {kernel_parameters}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    {bsgd_notes}

    The steps do not depend on the scale of the target, and there is no intercept but its mean:
    without `standardize_target`, centre it, and scale it to a range of about 1.

    References
    ----------
    .. [1] Z. Wang, K. Crammer, S. Vucetic (2012). Breaking the curse of kernelization: budgeted
       stochastic gradient descent for large-scale SVM training. Journal of Machine Learning
       Research 13.
    .. [2] T. Glasmachers, S. Qaadan (2018). Speeding up budgeted stochastic gradient descent SVM
       training with precomputed golden section search. arXiv:1806.10180.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import BSGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = BSGDRegressor(gamma=1.0, budget=30, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    loss: str = "absolute"
    epsilon: float = 0.1
    reg: float = 1e-2
    max_step: float | None = 0.5

    _constraints = {
        "loss": [StrOptions({"absolute", "epsilon_insensitive"})],
        "epsilon": NOT_NEGATIVE,
        "max_step": [Interval(Real, 0, None, closed="neither"), None],
    }

    def _rule(self) -> Any:
        loss = LOSSES[self.loss](*[self.epsilon] if self.loss == "epsilon_insensitive" else [])
        return RULES["inverse_time"](loss, self.reg, *[self.max_step] if self.max_step else [])
