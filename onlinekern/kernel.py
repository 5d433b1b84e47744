"""Kernel learners without a budget: Perceptron, online gradient descent, Pegasos.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from dataclasses import dataclass
from typing import Any

from onlinekern._constraints import POSITIVE
from onlinekern._gradient import LabelGradient, TargetGradient
from onlinekern._kernel import GrowingEstimator
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import LOSSES, RULES, SCHEDULES


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptronClassifier(OnlineClassifier, GrowingEstimator):
    """Kernel Perceptron.

    A sample with ``y f(x) <= 0`` becomes a support vector with coefficient y (times its weight);
    nothing is ever removed [1]_.

    Parameters
    ----------
    {kernel_parameters}
    {max_support}
    {when_full}
    {class_weight}
    {multi_class}
    {average}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies the coefficient.

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire (1999). Large margin classification using the perceptron
       algorithm. Machine Learning 37.

    Examples
    --------
    >>> from onlinekern import KernelPerceptronClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = KernelPerceptronClassifier(gamma=0.4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6)
    True
    """

    def _rule(self) -> Any:
        return RULES["perceptron"]()


@dataclass(kw_only=True, eq=False, repr=False)
class KernelOGDClassifier(OnlineClassifier, LabelGradient, GrowingEstimator):
    """Online gradient descent with kernels (NORMA without truncation).

    At each step ``f <- (1 - eta_t reg) f - eta_t l'(f(x_t), y_t) kappa(x_t, .)`` (eq. 8 of [1]_).

    Parameters
    ----------
    {label_losses}
        The hinge leaves samples of margin >= 1 alone, which keeps the model smaller than the
        losses that never vanish.
    {gradient_parameters}
    {kernel_parameters}
    {max_support}
    {when_full}
    {class_weight}
    {multi_class}
    {average}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    A `sample_weight` multiplies the step of its sample, not the shrinking.

    References
    ----------
    .. [1] J. Kivinen, A. J. Smola, R. C. Williamson (2004). Online learning with kernels. IEEE
       Transactions on Signal Processing 52.

    Examples
    --------
    >>> from onlinekern import KernelOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = KernelOGDClassifier(gamma=0.4, eta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75)
    True
    """


@dataclass(kw_only=True, eq=False, repr=False)
class KernelOGDRegressor(OnlineRegressor, TargetGradient, GrowingEstimator):
    """Online gradient descent with kernels, for regression.

    At each step ``f <- (1 - eta_t reg) f - eta_t l'(f(x_t), y_t) kappa(x_t, .)`` (eq. 8 of [1]_).

    Parameters
    ----------
    {target_losses}
    {gradient_parameters}
    {kernel_parameters}
    {max_support}
    {when_full}
    {average}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    There is no intercept but the mean of the targets: without `standardize_target`, centre them
    when their mean is far from 0. A `sample_weight`
    multiplies the step of its sample, not the shrinking.

    References
    ----------
    .. [1] J. Kivinen, A. J. Smola, R. C. Williamson (2004). Online learning with kernels. IEEE
       Transactions on Signal Processing 52.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelOGDRegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = KernelOGDRegressor(gamma=1.0, n_epochs=5, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPegasosClassifier(OnlineClassifier, GrowingEstimator):
    """Pegasos with kernels: stochastic sub-gradient descent on the regularised hinge loss.

    At step t everything learnt shrinks by ``1 - 1/t``, and a sample with ``y f(x) < 1`` enters with
    coefficient ``y / (reg t)`` (figure 3 of [1]_, without the projection step).

    Parameters
    ----------
    reg : float > 0, default=1e-4
        lambda of the paper. ``1 / n_samples`` is of the size of C = 1 in a support vector machine.
    {kernel_parameters}
    {max_support}
    {when_full}
    {class_weight}
    {multi_class}
    {average}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    A `sample_weight` multiplies the coefficient of its sample, not the shrinking.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter (2011). Pegasos: primal estimated
       sub-gradient solver for SVM. Mathematical Programming 127.

    Examples
    --------
    >>> from onlinekern import KernelPegasosClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = KernelPegasosClassifier(gamma=0.4, reg=0.01, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    """

    reg: float = 1e-4

    _constraints = {"reg": POSITIVE}

    def _rule(self) -> Any:
        schedule = SCHEDULES["inverse"](1 / self.reg)
        return RULES["pegasos"](LOSSES["hinge"](), schedule, self.reg)
