"""Linear learners of the first order: Perceptron, online gradient descent, Pegasos.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onlinekern._constraints import COUNT, POSITIVE
from onlinekern._gradient import LabelGradient, TargetGradient
from onlinekern._linear import LinearEstimator
from onlinekern._mini_batches import MiniBatchEstimator
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import LOSSES, RULES
from onlinekern.core.models.linear_batches import BatchSpace

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator
    from onlinekern.core.stream import Model


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronClassifier(OnlineClassifier, LinearEstimator):
    """Perceptron.

    A sample with ``y f(x) <= 0``, ``f(x) = w.x + b``, takes the step ``w <- w + y x``, ``b <- b +
    y`` [1]_; the first sample is always learnt.

    Parameters
    ----------
    {fit_intercept}
    {class_weight}
    {linear_multi_class}
    {linear_average}
    {linear_stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {linear_attributes}

    Notes
    -----
    `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies the coefficient. The
    averaged Perceptron of [2]_ is ``average=True``.

    References
    ----------
    .. [1] F. Rosenblatt (1958). The perceptron. Psychological Review 65.
    .. [2] Y. Freund, R. E. Schapire (1999). Large margin classification using the perceptron
       algorithm. Machine Learning 37.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import PerceptronClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PerceptronClassifier(average=True, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    def _rule(self) -> Any:
        return RULES["perceptron"]()


@dataclass(kw_only=True, eq=False, repr=False)
class OGDClassifier(OnlineClassifier, LabelGradient, LinearEstimator):
    """Online gradient descent for linear classification.

    At each step ``w <- (1 - eta_t reg) w - eta_t l'(w.x_t + b, y_t) x_t`` [1]_; b takes the same
    step with 1 instead of x.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'}, \
default='hinge'
        The hinge and the logistic loss have bounded slopes, and so bounded steps.
    {linear_gradient_parameters}
    {fit_intercept}
    {class_weight}
    {linear_multi_class}
    {linear_average}
    {linear_stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {linear_attributes}

    Notes
    -----
    A `sample_weight` multiplies the step of its sample, not the shrinking.

    References
    ----------
    .. [1] M. Zinkevich (2003). Online convex programming and generalized infinitesimal gradient
       ascent. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import OGDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OGDClassifier(loss="logistic", random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    eta: float = 0.1
    schedule: str = "invsqrt"


@dataclass(kw_only=True, eq=False, repr=False)
class OGDRegressor(OnlineRegressor, TargetGradient, LinearEstimator):
    """Online gradient descent for linear regression.

    At each step ``w <- (1 - eta_t reg) w - eta_t l'(w.x_t + b, y_t) x_t`` [1]_; b takes the same
    step with 1 instead of x.

    Parameters
    ----------
    loss : {'squared', 'absolute', 'epsilon_insensitive', 'huber'}, default='squared'
        The slope of the squared loss is not bounded: it diverges unless the squared length of the
        samples times eta is below 2.
    {linear_gradient_parameters}
    {fit_intercept}
    {linear_average}
    {standardize_target}
    {linear_stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {linear_attributes}

    Notes
    -----
    A `sample_weight` multiplies the step of its sample, not the shrinking.

    References
    ----------
    .. [1] M. Zinkevich (2003). Online convex programming and generalized infinitesimal gradient
       ascent. ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from onlinekern import OGDRegressor
    >>> X, y = make_regression(500, 10, noise=1.0, random_state=0)
    >>> model = OGDRegressor(n_epochs=5, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    eta: float = 0.1
    schedule: str = "invsqrt"


@dataclass(kw_only=True, eq=False, repr=False)
class PegasosClassifier(MiniBatchEstimator, OnlineClassifier, LinearEstimator):
    """Pegasos: stochastic sub-gradient descent on the regularised hinge loss.

    Batch b of n samples shrinks the model by ``1 - 1/b``, and adds ``y x / (reg b n)`` for each
    sample with ``y f(x) < 1``, f being the model before the batch (figure 2 of [1]_).

    Parameters
    ----------
    reg : float > 0, default=1e-4
        lambda of the paper. ``1 / n_samples`` is of the size of C = 1 in a support vector machine.
    batch_size : int >= 1, default=1
        Samples n per step, k of the paper. A batch may begin in one call and end in another.
    projection : bool, default=False
        Project onto the ball of radius ``1 / sqrt(reg)`` after each step, as the paper allows. It
        is off by default because it hurts more often than it helps.
    {fit_intercept}
    {class_weight}
    {linear_multi_class}
    {linear_average}
    {linear_stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {linear_attributes}

    Notes
    -----
    The intercept is the weight of a constant feature: it shrinks and is projected too. With K > 2
    classes there is one ball for the weights of all classes, of squared radius ``1 / reg`` for
    'margin' and ``K / reg`` for 'ovr' (the sum over the K problems): it contains the optimum. `fit`
    ends with a step on the last, incomplete batch; `partial_fit` and `learn_one` keep it open, so
    that any division of a stream into calls gives the same model. A `sample_weight` multiplies the
    coefficient of its sample, not the shrinking.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter (2011). Pegasos: primal estimated
       sub-gradient solver for SVM. Mathematical Programming 127.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import PegasosClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifier(reg=0.01, average=True, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    reg: float = 1e-4
    batch_size: int = 1
    projection: bool = False

    _constraints = {
        "reg": POSITIVE,
        "batch_size": COUNT,
        "projection": ["boolean"],
    }

    def _rule(self) -> Any:
        return RULES["batch_pegasos"](LOSSES["hinge"](), self.reg, self.batch_size)

    def _radius(self) -> Any:
        """Of the ball that holds the optimum."""
        together = len(self.classes_) > 2 and self.multi_class == "ovr"
        problems = len(self.classes_) if together else 1
        return math.sqrt(problems / self.reg)

    def _space(self, X: Any, n_outputs: int, rng: Generator) -> Any:
        radius = self._radius() if self.projection else 0.0
        return BatchSpace(self.batch_size, radius, *self._linear(X, n_outputs))

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        if model.space.radius > 0:
            model.space.radius = self._radius()
