"""Passive-Aggressive learners with kernels."""

from typing import Any, Literal, TypeAlias

from onlinekern.core import RULES
from onlinekern.core.learning.losses import Loss
from onlinekern.core.learning.rules import Rule
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.kernel import KernelEstimator, WhenFull
from onlinekern.estimators.parameters import (
    Average,
    Count,
    NotNegative,
    Positive,
    TriedWidth,
    estimator,
)
from onlinekern.estimators.regression import OnlineRegressor

Variant: TypeAlias = Literal["pa", "pa1", "pa2"]


def passive_aggressive(variant: str, loss: Loss, C: float) -> Rule:
    """Return the rule of a Passive-Aggressive variant; the plain one has no C."""
    return RULES[variant](loss) if variant == "pa" else RULES[variant](loss, C)


@estimator
class KernelPA(KernelEstimator):
    """Mixin of learners with the rule of a Passive-Aggressive variant."""

    gamma: TriedWidth = "best"  # type: ignore[assignment]
    C: Positive = 1.0
    variant: Variant = "pa1"
    average: Average = "decay"
    max_support: Count | None = None
    when_full: WhenFull = "nearest"

    def _rule(self) -> Any:
        return passive_aggressive(self.variant, self._plain_loss(), self.C)


@estimator
class KernelPAClassifier(OnlineClassifier, KernelPA):
    """Passive-Aggressive learning with kernels.

    A sample of hinge loss l > 0 is added with coefficient ``y tau``: ``tau = l / kappa(x, x)``
    (PA), ``min(C, l / kappa(x, x))`` (PA-I) or ``l / (kappa(x, x) + 1 / (2 C))`` (PA-II) [1]_. The
    average of the models predicts, the last one learns. The paper's setting is ``average=False``.

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness: the largest coefficient of PA-I. Not used by plain PA.
    variant : {'pa', 'pa1', 'pa2'}, default='pa1'
        Which step to take: PA, PA-I or PA-II. PA-I tolerates noisy labels, plain PA does not.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, compiled kernel or function, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package. A function of two matrices of rows returns their
        matrix of kernel values, some five times slower than a compiled one. See
        docs/extending.md. Both have their own parameters: `gamma`, `degree` and `coef0` then stay
        at their defaults.
    gamma : {'best', 'median', 'scale', 'auto'} or float > 0, default='best'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'best' is the one of 0.5, 1, 2, 4 and 8 times that width
        whose model has predicted best the first 200, then 500, then 1,000 samples, each before it
        learnt it (kernels that fall with the distance; the others have the median). 'scale' is
        ``1 / (n_features * X.var())`` and 'auto' ``1 / n_features``, as in scikit-learn's SVC; X is
        what `fit` gets, or the first batch given to `partial_fit`. A paper's bandwidth sigma is
        ``gamma = 1 / (2 * sigma**2)``.
    degree : int >= 1, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    max_support : int or None, default=None
        Largest number of stored support vectors, a bound on memory. None lets the model grow.
    when_full : {'nearest', 'oldest', 'stop'}, default='nearest'
        What happens to a new support vector when there are `max_support`. With 'nearest', the
        nearest support vector takes its step, times ``kappa(x, s) / kappa(s, s)`` (a projection),
        so that the model goes on learning and follows corrections; a sample that is far from all
        (``kappa(x, s)**2`` is below ``0.03 kappa(x, x) kappa(s, s)``) replaces the oldest one. With
        'oldest' every new one replaces the oldest, so that the model follows a stream that changes;
        an average then drops it from all averaged models. With 'stop' it is not added, with one
        warning; counting, shrinking and averaging continue.
    average : bool, 'uniform', 'decay' or float in (0, 1), default='decay'
        Predict with an average of all models so far, which needs no further kernel values; False
        predicts with the last one. True is 'uniform', their mean. 'decay' forgets the first models:
        model t has a weight of about ``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013,
        eta = 3); it follows a correction within tens of samples. A number a in (0, 1) forgets
        exponentially, for streams that change: the model before the last i samples has the weight
        ``a**i``, so that about the last ``1 / (1 - a)`` models count. The weights are divided by
        their sum.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'ovr', 'margin'}, default='ovr'
        For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
        the true class with its strongest rival (Crammer and Singer 2001). All classes share one
        set of support vectors.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the learner's own draws.
    window : int >= 1 or None, default=None
        Samples whose kernel values are computed together; None chooses by the size of the
        model. It changes the speed, never a result.
    n_jobs : int or None, default=None
        Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        Samples whose prediction, made before they were learnt, was wrong.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The support vectors, in the dtype of the samples; CSR when the model was started with sparse
        samples.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the model that predicts (the average, if `average`); n_outputs is 1 for
        two classes and regression, else the number of classes.
    n_support_ : int
        Number of support vectors.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    A `sample_weight` w multiplies C. Plain PA has no C: there the required margin is ``sqrt(w)``
    instead of 1, and in regression epsilon becomes ``epsilon / sqrt(w)`` (section 6 of [1]_).

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> from onlinekern import KernelPAClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = KernelPAClassifier(gamma=0.4, C=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    """


@estimator
class KernelPARegressor(OnlineRegressor, KernelPA):
    """Passive-Aggressive regression with kernels.

    A sample of epsilon-insensitive loss l > 0 is added with coefficient ``sign(y - f) tau``, tau as
    in `KernelPAClassifier` (section 5 of [1]_). The paper's setting is ``average=False``.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in standard deviations of y.
    C : float > 0, default=1.0
        Aggressiveness: the largest coefficient of PA-I. Not used by plain PA.
    variant : {'pa', 'pa1', 'pa2'}, default='pa1'
        Which step to take: PA, PA-I or PA-II. PA-I tolerates noisy labels, plain PA does not.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, compiled kernel or function, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package. A function of two matrices of rows returns their
        matrix of kernel values, some five times slower than a compiled one. See
        docs/extending.md. Both have their own parameters: `gamma`, `degree` and `coef0` then stay
        at their defaults.
    gamma : {'best', 'median', 'scale', 'auto'} or float > 0, default='best'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'best' is the one of 0.5, 1, 2, 4 and 8 times that width
        whose model has predicted best the first 200, then 500, then 1,000 samples, each before it
        learnt it (kernels that fall with the distance; the others have the median). 'scale' is
        ``1 / (n_features * X.var())`` and 'auto' ``1 / n_features``, as in scikit-learn's SVC; X is
        what `fit` gets, or the first batch given to `partial_fit`. A paper's bandwidth sigma is
        ``gamma = 1 / (2 * sigma**2)``.
    degree : int >= 1, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    max_support : int or None, default=None
        Largest number of stored support vectors, a bound on memory. None lets the model grow.
    when_full : {'nearest', 'oldest', 'stop'}, default='nearest'
        What happens to a new support vector when there are `max_support`. With 'nearest', the
        nearest support vector takes its step, times ``kappa(x, s) / kappa(s, s)`` (a projection),
        so that the model goes on learning and follows corrections; a sample that is far from all
        (``kappa(x, s)**2`` is below ``0.03 kappa(x, x) kappa(s, s)``) replaces the oldest one. With
        'oldest' every new one replaces the oldest, so that the model follows a stream that changes;
        an average then drops it from all averaged models. With 'stop' it is not added, with one
        warning; counting, shrinking and averaging continue.
    average : bool, 'uniform', 'decay' or float in (0, 1), default='decay'
        Predict with an average of all models so far, which needs no further kernel values; False
        predicts with the last one. True is 'uniform', their mean. 'decay' forgets the first models:
        model t has a weight of about ``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013,
        eta = 3); it follows a correction within tens of samples. A number a in (0, 1) forgets
        exponentially, for streams that change: the model before the last i samples has the weight
        ``a**i``, so that about the last ``1 / (1 - a)`` models count. The weights are divided by
        their sum.
    standardize_target : bool, default=True
        Whether to learn ``(y - mean) / scale``, with the mean and the standard deviation of the
        targets so far, y among them, and to predict ``mean + scale f``: targets may have any units.
        They settle as the stream goes on; a learner with `forgetting` forgets them too. A target
        counts as at most 30 standard deviations off, by what is known before it, unless two in a
        row before it were farther. False learns y itself; parameters in standard deviations are
        then in units of y.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the learner's own draws.
    window : int >= 1 or None, default=None
        Samples whose kernel values are computed together; None chooses by the size of the
        model. It changes the speed, never a result.
    n_jobs : int or None, default=None
        Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    target_mean_, target_scale_ : float
        Mean and scale of the targets so far; 0 and 1 without `standardize_target`.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The support vectors, in the dtype of the samples; CSR when the model was started with sparse
        samples.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the model that predicts (the average, if `average`); n_outputs is 1 for
        two classes and regression, else the number of classes.
    n_support_ : int
        Number of support vectors.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    A `sample_weight` w multiplies C. Plain PA has no C: there the required margin is ``sqrt(w)``
    instead of 1, and in regression epsilon becomes ``epsilon / sqrt(w)`` (section 6 of [1]_).

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelPARegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = KernelPARegressor(gamma=1.0, epsilon=0.05, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    epsilon: NotNegative = 0.1
