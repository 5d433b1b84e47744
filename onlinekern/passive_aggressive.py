"""Passive-Aggressive learners with kernels."""

from dataclasses import dataclass
from typing import Any

from onlinekern._constraints import NOT_NEGATIVE, POSITIVE
from onlinekern._kernel import GrowingEstimator
from onlinekern._scikit_learn import StrOptions
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import LOSSES, RULES
from onlinekern.core.learning.losses import Loss
from onlinekern.core.learning.rules import Rule

VARIANTS = [StrOptions({"pa", "pa1", "pa2"})]


def passive_aggressive(variant: str, loss: Loss, C: float) -> Rule:
    """The rule of a Passive-Aggressive variant; the plain one has no C."""
    return RULES[variant](loss) if variant == "pa" else RULES[variant](loss, C)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPA(GrowingEstimator):
    """Mixin: the rule of a Passive-Aggressive variant."""

    C: float = 1.0
    variant: str = "pa1"
    average: bool | str | float = "decay"

    _constraints = {"C": POSITIVE, "variant": VARIANTS}

    def _rule(self) -> Any:
        return passive_aggressive(self.variant, self._loss(), self.C)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPAClassifier(OnlineClassifier, KernelPA):
    """Passive-Aggressive learning with kernels.

    A sample of hinge loss l > 0 is added with coefficient ``y tau``: ``tau = l / kappa(x, x)``
    (PA), ``min(C, l / kappa(x, x))`` (PA-I) or ``l / (kappa(x, x) + 1 / (2 C))`` (PA-II) [1]_. The
    average of the models predicts, the last one learns. The paper's setting: ``average=False``.

    Parameters
    ----------
    {aggressiveness}
    {kernel_parameters}
    {max_support}
    {when_full}
    {class_weight}
    {multi_class}
    {decaying_average}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    {pa_weight}

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. Journal of Machine Learning Research 7.

    Examples
    --------
    >>> from onlinekern import KernelPAClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = KernelPAClassifier(gamma=0.4, C=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    """

    def _loss(self) -> Any:
        return LOSSES["hinge"]()


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPARegressor(OnlineRegressor, KernelPA):
    """Passive-Aggressive regression with kernels.

    A sample of epsilon-insensitive loss l > 0 is added with coefficient ``sign(y - f) tau``, tau as
    in `KernelPAClassifier` (section 5 of [1]_). The paper's setting: ``average=False``.

    Parameters
    ----------
    {aggressiveness}
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in standard deviations of y.
    {kernel_parameters}
    {max_support}
    {when_full}
    {decaying_average}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    {pa_weight}

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. Journal of Machine Learning Research 7.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelPARegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = KernelPARegressor(gamma=1.0, epsilon=0.05, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    epsilon: float = 0.1

    _constraints = {"epsilon": NOT_NEGATIVE}

    def _loss(self) -> Any:
        return LOSSES["epsilon_insensitive"](self.epsilon)
