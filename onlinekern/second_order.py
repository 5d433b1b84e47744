"""Linear learners of the second order: CW, SCW and AROW.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

from onlinekern._constraints import NOT_NEGATIVE, POSITIVE
from onlinekern._scikit_learn import Interval, StrOptions
from onlinekern._second_order import SecondOrderEstimator
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import LOSSES, RULES

CONFIDENCE = [Interval(Real, 0.5, 1, closed="neither")]


@dataclass(kw_only=True, eq=False, repr=False)
class CWClassifier(OnlineClassifier, SecondOrderEstimator):
    """Confidence-weighted learning (CW) in its exact convex form.

    The weights are a Gaussian N(mu, S), at first N(0, I). A sample that is classified correctly
    with a probability of less than `confidence` moves it to the nearest Gaussian that reaches this
    probability. With ``m = y mu.x``, ``v = x'S x``, phi the quantile of the confidence, ``psi = 1 +
    phi^2 / 2`` and ``zeta = 1 + phi^2`` [1]_::

        alpha = max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta))
        beta = alpha phi / (sqrt(u) + v alpha phi),
        sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2
        mu <- mu + alpha y S x,  S <- S - beta (S x)(S x)'.

    **For clean labels only.** Each sample must be correct after its step, even a mislabelled one:
    on noisy data S falls towards 0 and the learner stops learning; a `ConvergenceWarning` says so.
    Use `SCWClassifier` or `AROWClassifier` for noisy labels.

    Parameters
    ----------
    confidence : float in (0.5, 1), default=0.75
        eta of the paper: the probability with which a sample is correct after its step. With 0.5
        nothing would be learnt.
    {covariance}
    {fit_intercept}
    {class_weight}
    {linear_multi_class}
    {second_order_average}
    {linear_stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {second_order_attributes}

    Notes
    -----
    {second_order_notes}
    {second_order_class_notes}
    With a diagonal covariance, the constraint holds for the full matrix after the step, of which
    the diagonal is kept. For a sample of
    weight w, the quantile phi of the confidence is ``sqrt(w) phi``.

    References
    ----------
    .. [1] K. Crammer, M. Dredze, F. Pereira (2008). Exact convex confidence-weighted learning.
       Advances in Neural Information Processing Systems 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onlinekern import CWClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CWClassifier(random_state=0).fit(X[:100], y[:100])
    >>> bool(model.score(X[:100], y[:100]) > 0.98)
    True
    """

    confidence: float = 0.75

    _constraints = {"confidence": CONFIDENCE}

    def _rule(self) -> Any:
        return RULES["cw"](LOSSES["hinge"](), self.confidence)


@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifier(OnlineClassifier, SecondOrderEstimator):
    """Soft confidence-weighted learning (SCW-I and SCW-II).

    `CWClassifier` with a soft constraint: a violation costs C times ``phi sqrt(v) - m`` (SCW-I) or
    its square (SCW-II). The steps are those of CW, with alpha at most C (SCW-I, proposition 1 of
    [1]_), or, with ``n = v + 1 / (2 C)`` and ``g = phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))``
    (SCW-II, proposition 2)::

        alpha = max(0, (-(2 m n + phi^2 m v) + g) / (2 (n^2 + n v phi^2))).

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness. Use less for noisy labels: 0.1 is better on a9a.
    variant : {'scw1', 'scw2'}, default='scw1'
        A linear or a quadratic cost of a violation. SCW-I is seldom worse.
    confidence : float in (0.5, 1), default=0.75
        eta of the paper: the probability with which a sample should be correct; phi is its
        quantile. With 0.5 nothing would be learnt.
    {covariance}
    {fit_intercept}
    {class_weight}
    {linear_multi_class}
    {second_order_average}
    {linear_stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {second_order_attributes}

    Notes
    -----
    {second_order_notes}
    {second_order_class_notes}
    A `sample_weight` multiplies C.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. C. H. Hoi (2012). Exact soft confidence-weighted learning.
       International Conference on Machine Learning (ICML).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import SCWClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SCWClassifier(C=0.1, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
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


@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(OnlineClassifier, SecondOrderEstimator):
    """Adaptive regularisation of weights (AROW).

    The weights are a Gaussian N(mu, S), at first N(0, I). With ``v = x'S x``, a sample of hinge
    loss ``l = max(0, 1 - y mu.x) > 0`` gives ``beta = 1 / (v + r)`` and [1]_::

        mu <- mu + l beta y S x,  S <- S - beta (S x)(S x)'  (eqs. 8, 9).

    Weights of frequent features move less than those of rare ones. With a full covariance, mu is
    the ridge regression, of penalty r, of the labels of the samples with a step.

    Parameters
    ----------
    r : float > 0, default=1.0
        The noise of a label: the larger, the smaller the steps. Results change little with it, as
        long as it is not much larger than the squared length of a sample.
    {covariance}
    {fit_intercept}
    {class_weight}
    {linear_multi_class}
    {second_order_average}
    {linear_stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {second_order_attributes}

    Notes
    -----
    {second_order_notes}
    {second_order_class_notes}
    A `sample_weight` divides r.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import AROWClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AROWClassifier(covariance="full", random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.96)
    True
    >>> model.covariance_.shape
    (1, 31, 31)
    """

    r: float = 1.0

    _constraints = {"r": POSITIVE}

    def _rule(self) -> Any:
        return RULES["arow"](LOSSES["hinge"](), self.r)


@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressor(OnlineRegressor, SecondOrderEstimator):
    """Adaptive regularisation of weights (AROW), for regression.

    `AROWClassifier` with the epsilon-insensitive loss ``l = max(0, abs(y - f) - epsilon)``: a
    sample with l > 0 gives ``mu <- mu + sign(y - f) l beta S x`` and the same S and beta (after
    eqs. 8, 9 of [1]_). With ``epsilon=0`` and a full covariance that is recursive least squares: mu
    is the ridge regression of penalty r of all samples so far, exactly so with
    ``standardize_target=False``.

    Parameters
    ----------
    r : float > 0, default=1.0
        The noise of a target: the larger, the smaller the steps.
    epsilon : float >= 0, default=0.0
        Deviations up to it are no loss; in standard deviations of y. Samples within it change
        nothing and cost only their score.
    {covariance}
    {fit_intercept}
    {second_order_average}
    {standardize_target}
    {linear_stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {second_order_attributes}

    Notes
    -----
    {second_order_notes}
    A `sample_weight` divides r: with ``epsilon=0`` and a full covariance the samples of the ridge
    regression have these weights. The paper is about classification; regression puts the squared
    loss of the target in the place of its squared hinge.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from onlinekern import AROWRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> settings = {"covariance": "full", "fit_intercept": False, "standardize_target": False}
    >>> model = AROWRegressor(random_state=0, **settings).fit(X, y)
    >>> ridge = Ridge(alpha=1.0, fit_intercept=False).fit(X, y)
    >>> np.testing.assert_allclose(model.coef_, ridge.coef_)
    """

    r: float = 1.0
    epsilon: float = 0.0

    _constraints = {"r": POSITIVE, "epsilon": NOT_NEGATIVE}

    def _rule(self) -> Any:
        return RULES["arow"](LOSSES["epsilon_insensitive"](self.epsilon), self.r)
