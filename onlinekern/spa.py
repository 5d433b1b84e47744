"""SPA: sparse passive-aggressive learning, whose support vectors are sampled by their loss."""

from dataclasses import dataclass
from typing import Any

from onlinekern._constraints import NOT_NEGATIVE, POSITIVE
from onlinekern._kernel import GrowingEstimator
from onlinekern._outliers import OnlineOutlierDetector
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import GATES, LOSSES, RULES


def check_alpha_and_beta(parameters: Any) -> None:
    """Raise ValueError if a loss could be accepted with a probability of more than 1."""
    if parameters.beta < parameters.alpha:
        raise ValueError(
            f"beta must be at least alpha (acceptance is min(alpha, loss) / beta), "
            f"got alpha={parameters.alpha} and beta={parameters.beta}"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SPA(GrowingEstimator):
    """Mixin: PA-I behind a gate that samples by loss."""

    eta: float = 1.0
    alpha: float = 1.0
    beta: float = 1.0
    average: bool | str | float = "decay"
    max_support: int | None = 10_000

    _constraints = {"eta": POSITIVE, "alpha": POSITIVE, "beta": POSITIVE}

    def _gate(self) -> Any:
        check_alpha_and_beta(self)
        return GATES["loss_proportional"](self.alpha, self.beta)


@dataclass(kw_only=True, eq=False, repr=False)
class SPAClassifier(OnlineClassifier, SPA):
    """Sparse Passive-Aggressive learning with kernels (SPA).

    A sample of hinge loss l is drawn with probability ``rho = min(alpha, l) / beta``. If drawn, it
    is added with coefficient ``y min(eta / rho, l / kappa(x, x))`` (algorithm 1 of [1]_). The
    average of the models so far predicts; losses and steps use the last one. The expected number of
    support vectors is at most ``alpha / beta`` per sample. The paper's setting: ``average=True,
    beta=5, max_support=None`` (beta 20 for a small model).

    Parameters
    ----------
    {spa_parameters}
    {spa_beta}
    {spa_average}
    {kernel_parameters}
    {bounded_support}
    {when_full}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    The step is that of PA-I with ``C = eta / rho``. `decision_function` after T samples is the
    average of the models 1 ... T + 1, where model T + 1 would predict the next sample. A
    `sample_weight` multiplies eta, and the loss in rho. All classes of a one-vs-rest problem use
    the same random number per sample, so that they share support vectors as far as possible.

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining (SDM).

    Examples
    --------
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = SPAClassifier(gamma=0.4, eta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75)
    True
    """

    def _rule(self) -> Any:
        return RULES["pa1"](LOSSES["hinge"](), self.eta)


@dataclass(kw_only=True, eq=False, repr=False)
class SPARegressor(OnlineRegressor, SPA):
    """Sparse Passive-Aggressive regression with kernels.

    `SPAClassifier` with the epsilon-insensitive loss: a sample is drawn with probability ``rho =
    min(alpha, l) / beta``, and added with coefficient ``sign(y - f) min(eta / rho, l / kappa(x,
    x))`` [1]_.

    Parameters
    ----------
    {spa_parameters}
    {spa_beta}
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in standard deviations of y, like alpha, beta and eta.
    {decaying_average}
    {kernel_parameters}
    {bounded_support}
    {when_full}
    {standardize_target}
    {stream_parameters}

    Attributes
    ----------
    {target_attributes}
    {attributes}

    Notes
    -----
    A `sample_weight` multiplies eta, and the loss in rho.

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining (SDM).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import SPARegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = SPARegressor(gamma=1.0, epsilon=0.05, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    epsilon: float = 0.1

    _constraints = {"epsilon": NOT_NEGATIVE}

    def _rule(self) -> Any:
        return RULES["pa1"](LOSSES["epsilon_insensitive"](self.epsilon), self.eta)


@dataclass(kw_only=True, eq=False, repr=False)
class SPAOneClass(OnlineOutlierDetector, SPA):
    """Sparse Passive-Aggressive learning of one class: a novelty and outlier detector.

    `SPAClassifier` in which every sample has the label 1: its loss is ``l = max(0, 1 - f(x))``. It
    is drawn with probability ``rho = min(alpha, l) / beta``, and added with coefficient ``min(eta /
    rho, l / kappa(x, x))`` [1]_. The function rises to 1 where samples are dense and stays near 0
    elsewhere; a sample is an outlier where it is below `offset_`.

    Parameters
    ----------
    {contamination}
    {spa_parameters}
    beta : float >= alpha, default=5.0
        Sparsity: at most ``alpha / beta`` of the samples are kept on average.
    {averaged}
    {kernel_parameters}
    {bounded_support}
    {when_full}
    {stream_parameters}

    Attributes
    ----------
    {offset}
    {attributes}

    Notes
    -----
    A `sample_weight` multiplies eta, and the loss in rho. Use a kernel that decreases with the
    distance: the linear kernel makes the class a half space.

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining (SDM).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import SPAOneClass
    >>> X = np.random.default_rng(0).standard_normal((2000, 2))
    >>> model = SPAOneClass(gamma=0.5, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    beta: float = 5.0
    average: bool | str | float = True

    def _rule(self) -> Any:
        return RULES["pa1"](LOSSES["hinge"](), self.eta)
