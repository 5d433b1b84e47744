"""SPA: sparse passive-aggressive learning, whose support vectors are sampled by their loss."""

from typing import Any

from onlinekern.core import RULES, SAMPLERS
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.kernel import KernelEstimator, WhenFull
from onlinekern.estimators.outliers import OnlineOutlierDetector
from onlinekern.estimators.parameters import (
    Average,
    Count,
    NotNegative,
    Positive,
    TriedWidth,
    estimator,
)
from onlinekern.estimators.regression import OnlineRegressor


def loss_proportional(alpha: float, beta: float, weighted: bool = True) -> Any:
    """Return the sampler; ValueError if a loss could be accepted with a probability above 1."""
    if beta < alpha:
        raise ValueError(
            "beta must be at least alpha (acceptance is min(alpha, loss) / beta), "
            f"got alpha={alpha} and beta={beta}"
        )
    return SAMPLERS["loss_proportional"](alpha, beta, bool(weighted))


@estimator
class SPA(KernelEstimator):
    """Mixin of learners with PA-I behind a sampler by loss."""

    eta: Positive = 1.0
    alpha: Positive = 1.0
    beta: Positive = 1.0
    average: Average = "decay"
    max_support: Count | None = 10_000
    when_full: WhenFull = "nearest"

    def _rule(self) -> Any:
        return RULES["pa1"](self._plain_loss(), self.eta)

    def _sampler(self) -> Any:
        return loss_proportional(self.alpha, self.beta)


@estimator
class SPAClassifier(OnlineClassifier, SPA):
    """Sparse Passive-Aggressive learning with kernels (SPA).

    A sample of hinge loss l is drawn with probability ``rho = min(alpha, l) / beta``. If drawn, it
    is added with coefficient ``y min(eta / rho, l / kappa(x, x))`` (algorithm 1 of [1]_). The
    average of the models so far predicts; losses and steps use the last one. The expected number of
    support vectors is at most ``alpha / beta`` per sample. The paper's setting is
    ``average=True, beta=5, max_support=None`` (beta 20 for a small model).

    Parameters
    ----------
    eta : float > 0, default=1.0
        Bound on the expected step: a sample drawn with probability rho takes a step of at most
        ``eta / rho``. Results change little between 0.1 and 10.
    alpha : float > 0, default=1.0
        Loss above which the probability rho no longer grows.
    beta : float >= alpha, default=1.0
        Sparsity: at most ``alpha / beta`` of the samples are kept on average. 1 makes the
        fewest mistakes (docs/defaults.md). The paper takes 5 for test accuracy, and 20 (200 for
        a million samples) for a small model. The losses of a scaled regression target are well
        below 1, so 1 keeps few samples already.
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
    max_support : int or None, default=10000
        Largest number of stored support vectors, a bound on memory and on the time of a sample.
        10,000 cost 0.1 points of accuracy on sets of up to 50,000 samples (docs/defaults.md).
        None lets the model grow.
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

        'uniform' is SPA-avg, False is SPA-last.
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
    The step is that of PA-I with ``C = eta / rho``. `decision_function` after T samples is the
    average of the models 1 ... T + 1, where model T + 1 would predict the next sample.

    All classes of a one-vs-rest problem use the same random number per sample, so that they share
    support vectors as far as possible.

    At most ``alpha / beta`` of the samples are kept, however many classes there are, and a class of
    which none is kept is never predicted: a large `beta` is for few classes.

    A `sample_weight` multiplies eta, and the loss in rho.

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.

    Examples
    --------
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = SPAClassifier(gamma=0.4, eta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75)
    True
    """

    gamma: TriedWidth = "best"  # type: ignore[assignment]


@estimator
class SPARegressor(OnlineRegressor, SPA):
    """Sparse Passive-Aggressive regression with kernels.

    It is `SPAClassifier` with the epsilon-insensitive loss: a sample is drawn with probability
    ``rho = min(alpha, l) / beta``, and added with coefficient
    ``sign(y - f) min(eta / rho, l / kappa(x, x))`` [1]_.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in standard deviations of y, like alpha, beta and eta.
    eta : float > 0, default=1.0
        Bound on the expected step: a sample drawn with probability rho takes a step of at most
        ``eta / rho``. Results change little between 0.1 and 10.
    alpha : float > 0, default=1.0
        Loss above which the probability rho no longer grows.
    beta : float >= alpha, default=1.0
        Sparsity: at most ``alpha / beta`` of the samples are kept on average. 1 makes the
        fewest mistakes (docs/defaults.md). The paper takes 5 for test accuracy, and 20 (200 for
        a million samples) for a small model. The losses of a scaled regression target are well
        below 1, so 1 keeps few samples already.
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
    max_support : int or None, default=10000
        Largest number of stored support vectors, a bound on memory and on the time of a sample.
        10,000 cost 0.1 points of accuracy on sets of up to 50,000 samples (docs/defaults.md).
        None lets the model grow.
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
    A `sample_weight` multiplies eta, and the loss in rho.

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import SPARegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = SPARegressor(gamma=1.0, epsilon=0.05, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    gamma: TriedWidth = "best"  # type: ignore[assignment]
    epsilon: NotNegative = 0.1


@estimator
class SPAOneClass(OnlineOutlierDetector, SPA):
    """Sparse Passive-Aggressive learning of one class: a novelty and outlier detector.

    It is `SPAClassifier` in which every sample has the label 1: its loss is
    ``l = max(0, 1 - f(x))``. It is drawn with probability ``rho = min(alpha, l) / beta``, and added
    with coefficient ``min(eta / rho, l / kappa(x, x))`` [1]_. The function rises to 1 where samples
    are dense and stays near 0 elsewhere; a sample is an outlier where it is below `offset_`.

    Parameters
    ----------
    eta : float > 0, default=1.0
        Bound on the expected step: a sample drawn with probability rho takes a step of at most
        ``eta / rho``. Results change little between 0.1 and 10.
    alpha : float > 0, default=1.0
        Loss above which the probability rho no longer grows.
    beta : float >= alpha, default=5.0
        Sparsity: at most ``alpha / beta`` of the samples are kept on average.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, compiled kernel or function, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package. A function of two matrices of rows returns their
        matrix of kernel values, some five times slower than a compiled one. See
        docs/extending.md. Both have their own parameters: `gamma`, `degree` and `coef0` then stay
        at their defaults.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
        ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
        given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    degree : int >= 1, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    max_support : int or None, default=10000
        Largest number of stored support vectors, a bound on memory and on the time of a sample.
        10,000 cost 0.1 points of accuracy on sets of up to 50,000 samples (docs/defaults.md).
        None lets the model grow.
    when_full : {'nearest', 'oldest', 'stop'}, default='nearest'
        What happens to a new support vector when there are `max_support`. With 'nearest', the
        nearest support vector takes its step, times ``kappa(x, s) / kappa(s, s)`` (a projection),
        so that the model goes on learning and follows corrections; a sample that is far from all
        (``kappa(x, s)**2`` is below ``0.03 kappa(x, x) kappa(s, s)``) replaces the oldest one. With
        'oldest' every new one replaces the oldest, so that the model follows a stream that changes;
        an average then drops it from all averaged models. With 'stop' it is not added, with one
        warning; counting, shrinking and averaging continue.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=True
        Predict with an average of all models so far, which needs no further kernel values; False
        predicts with the last one. True is 'uniform', their mean. 'decay' forgets the first models:
        model t has a weight of about ``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013,
        eta = 3); it follows a correction within tens of samples. A number a in (0, 1) forgets
        exponentially, for streams that change: the model before the last i samples has the weight
        ``a**i``, so that about the last ``1 / (1 - a)`` models count. The weights are divided by
        their sum.
    contamination : float in (0, 0.5], default=0.1
        Fraction of outliers: `offset_` is this quantile of the scores that new samples have
        (docs/families/one_class.md tells how nearly). The default is that of scikit-learn's
        detectors without a rule of their own.
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
    offset_ : float
        After `fit`, the quantile `contamination` of the scores of the training samples, as far as
        possible of those that they would have if they had not been learnt. After `partial_fit` and
        `learn_one`, that of the scores of the last half of the samples, 1,024 at most, each taken
        before its sample was learnt, around their trend: a model that knows more scores higher. It
        is updated after each 16th of the samples or more often, at last after each 128.
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
    Use a kernel that decreases with the distance: the linear kernel makes the class a half space.

    A `sample_weight` multiplies eta, and the loss in rho.

    References
    ----------
    .. [1] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import SPAOneClass
    >>> X = np.random.default_rng(0).standard_normal((2000, 2))
    >>> model = SPAOneClass(gamma=0.5, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    beta: Positive = 5.0
    average: Average = True
