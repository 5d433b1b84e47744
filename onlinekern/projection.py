"""Learners on a budget that solve with the Gram matrix of their support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern._constraints import COUNT, POSITIVE
from onlinekern._kernel import BudgetedEstimator
from onlinekern._memory import check_size
from onlinekern._tasks import OnlineClassifier
from onlinekern._threads import SingleThreadedBlas
from onlinekern._typing import Floats
from onlinekern.core import POLICIES, RULES
from onlinekern.core.budgets.projectron import budget_price

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectronClassifier(OnlineClassifier, BudgetedEstimator):
    """Projectron and Projectron++: a Perceptron that projects onto the span of its support vectors.

    Let k_t be the kernel values of a sample with the support vectors and ``d = K^-1 k_t``. The
    distance of the sample from their span is ``delta = sqrt(kappa_tt - k_t . d)``. A mistake (``y f
    <= 0``) with ``delta > eta`` becomes a support vector, as long as the budget is not full. Any
    other mistake changes the coefficients of the support vectors, ``alpha <- alpha + y d``
    (algorithm 2 of [1]_).

    With `plus_plus`, samples with ``0 < y f < 1`` and hinge loss ``l > delta p`` are projected too
    (algorithm 3 there): ``alpha <- alpha + tau y d`` with ``tau = min(l, 2 (l - delta p)) / (k_t .
    d)``, at most 1. The price p of the distance is ``1 / eta``; with a budget it is ``sqrt((budget
    + 1) / ln(budget + 1)) / 4``.

    Parameters
    ----------
    plus_plus : bool, default=False
        Whether to learn from correct samples of small margin too (Projectron++).
    eta : float > 0, default=0.1
        Distance from the span up to which a mistake is projected. The smaller it is, the more
        support vectors there are, and the closer the model is to the Perceptron. With ``kappa(x, x)
        = 1`` distances are between 0 and 1.
    budget : int >= 1 or None, default=500
        Largest number of support vectors B. With None, `eta` alone bounds their number, on every
        bounded domain (theorem 1 there). An update takes time proportional to its square.
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
    `cumulative_loss_` sums ``max(0, -y f)``, with `plus_plus` the hinge. A `sample_weight` w
    multiplies the step of a mistake, and replaces 1 as the bound of tau. With more than two classes
    and 'margin', a sample stands for the difference of two vectors, one for the class and one for
    its rival: length and distance are ``sqrt(2)`` times the above.

    K is regularised: its inverse is that of ``K + 1e-8 I`` (``1e-5`` for float32 samples, whose
    kernel values are less exact). So repeated samples do no harm. The published accuracy of
    Projectron on cod-rna (83 to 85 %) comes from an inverse that broke down; this one reaches 91 to
    93 %.

    The Cholesky factor of K and its inverse are kept, 12 bytes for each of the ``n_support_^2``
    elements of K. When the budget is full, float32 samples are projected with an inverse in
    float32, unless a support vector is within 0.03 of the span of the others.

    References
    ----------
    .. [1] F. Orabona, J. Keshet, B. Caputo (2009). Bounded kernel-based online learning. Journal of
       Machine Learning Research 10.

    Examples
    --------
    >>> from onlinekern import ProjectronClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = ProjectronClassifier(gamma=0.4, plus_plus=True, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_ < 100
    (True, True)
    """

    plus_plus: bool = False
    eta: float = 0.1
    budget: int | None = 500  # type: ignore[assignment]

    _constraints = {
        "plus_plus": ["boolean"],
        "eta": POSITIVE,
        "budget": [*COUNT, None],
    }

    def _rule(self) -> Any:
        return RULES["margin_perceptron"](bool(self.plus_plus))

    def _budget(self, rng: Generator) -> Any:
        price = 1 / self.eta if self.budget is None else budget_price(self.budget)
        joint = len(self.classes_) > 2 and self.multi_class == "margin"
        return POLICIES["projectron"](self.eta, self.budget or 0, price, joint)


@dataclass(kw_only=True, eq=False, repr=False)
class BOLSSVMClassifier(SingleThreadedBlas, OnlineClassifier, BudgetedEstimator):
    """Budget online learning of a least-squares support vector machine (BOLSSVM).

    The model ``f(x) = sum_i alpha_i kappa(x_i, x) + b`` is the least-squares machine of its support
    vectors,

    ``[[0, 1'], [1, K + I / C]] [b, alpha] = [0, y]``,

    whose inverse A^-1 is kept (section 3 of [1]_). A mislabelled sample becomes a support vector,
    which adds a row and a column to the inverse. When there are more than `budget` support vectors,
    the one of least ``|alpha_i / (A^-1)_ii|`` is evicted, which removes its row and column. That
    number is the error of the other support vectors at x_i.

    Parameters
    ----------
    C : float > 0, default=10.0
        Weight of the squared errors against the norm of the model.
    {budget}
        An update takes time proportional to its square.
    {kernel_parameters}
    {class_weight}
    multi_class : {'margin', 'ovr'}, default='margin'
        With more than two classes there is one machine per class, with targets 1 and -1; all share
        one inverse. A sample is added when its class does not have the largest score ('margin'), or
        when any of the machines has it on the wrong side ('ovr').
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}
    intercept_ : ndarray of shape (n_outputs,)
        Offsets b of the outputs.

    Notes
    -----
    With several outputs, the Euclidean norm over them replaces the absolute value. A
    `sample_weight` w replaces C by ``C w`` for its sample. `cumulative_loss_` sums ``max(0, -y
    f)``. The stored inverse is that of ``K + I / C``; that of the whole matrix follows from it. It
    is recomputed from time to time, so that rounding errors do not accumulate.

    References
    ----------
    .. [1] L. Jian, S. Shen, J. Li, X. Liang, L. Li (2017). Budget online learning algorithm for
       least squares SVM. IEEE Transactions on Neural Networks and Learning Systems 28.

    Examples
    --------
    >>> from onlinekern import BOLSSVMClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BOLSSVMClassifier(gamma=0.4, budget=200, random_state=0).fit(X, y)
    >>> bool(model.n_mistakes_ < 350), model.n_support_ <= 200
    (True, True)
    """

    C: float = 10.0
    multi_class: str = "margin"

    _constraints = {"C": POSITIVE}

    def _rule(self) -> Any:
        return RULES["perceptron"]()

    def _budget(self, rng: Generator) -> Any:
        # The inverse of the Gram matrix, and the copy that undoes a failed call.
        check_size("budget", self.budget, 2 * 8 * self.budget**2)
        return POLICIES["bolssvm"](self.budget, self.C)

    @property
    def intercept_(self) -> Floats:
        """Offsets of the outputs, ndarray of shape (n_outputs,)."""
        return np.array(self._read(lambda space: space.budget.intercept()))
