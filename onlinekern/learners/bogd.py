"""BOGD: online gradient descent that evicts a random support vector."""

from typing import Any, Literal

import numpy as np

from onlinekern.core import POLICIES
from onlinekern.core.base.random import Generator
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.gradient import GradientStep, LabelLoss, TargetLoss
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.parameters import Count, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor


def random_eviction(learner: Any, rng: Generator) -> Any:
    """Return the policy of BOGD, which leaves the expected function unchanged."""
    most = np.inf if learner.cap is None else learner.eta * learner.cap
    return POLICIES[learner.removal](learner.budget, rng, most)


@estimator
class BOGDClassifier(OnlineClassifier, GradientStep, KernelEstimator):
    """Budgeted online gradient descent (BOGD, BOGD++).

    At each step ``f <- (1 - eta_t reg) f``, and a sample whose loss has a slope is added with
    coefficient ``-eta_t l'(f(x_t), y_t)``. When the budget B is full, a random support vector is
    evicted. The coefficient of every other support vector j is divided by ``1 - p_j``, where p_j is
    the probability of evicting j: the expectation of f does not change (algorithms 1 and 2 of
    [1]_).

    Parameters
    ----------
    removal : {'uniform', 'nonuniform'}, default='uniform'
        The probability p_j of evicting support vector j: ``1 / B`` (BOGD), or ``(1 - |a_j| / sum
        |a|) / (B - 1)`` (BOGD++), which evicts small coefficients more often.
    cap : float > 0 or None, default=1.0
        Each eviction clips the coefficients to ``[-cap * eta, cap * eta]``. None does not clip:
        the coefficients then grow until the noise of the evictions dominates, which costs ten
        points of accuracy on cod-rna.
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'} or \
compiled loss, default='hinge'
        The loss to minimise; samples at which its slope is 0 change nothing. A compiled loss may
        come from another package, see docs/extending.md.
    eta : float > 0, default=0.5
        Step size. With ``kappa(x, x) = 1``, a step of 1 corrects a sample of loss 1; the
        default takes half of it.
    schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='constant'
        The step size eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
    power : float >= 0, default=0.5
        Exponent of the schedule 'power'.
    reg : float >= 0, default=0.0
        Regularisation lambda; at each step, all coefficients shrink by ``max(0, 1 - eta_t *
        reg)``.
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge' and 'huber'.
    epsilon : float >= 0, default=0.1
        Not used: no loss of labels has it. It is here because the regressor has it.
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
    budget : int >= 1, default=500
        Largest number of support vectors B. Time per sample and memory grow linearly with it.
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
    A step does this in order: all coefficients shrink, a support vector is evicted, the other
    coefficients are divided, then clipped, and the sample is added. With several classes, the
    Euclidean norm of the K coefficients replaces ``|a_j|``, and `cap` applies to each of them. The
    cap is set when learning starts: a later change of `eta` does not move it.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] P. Zhao, J. Wang, P. Wu, R. Jin, S. C. H. Hoi (2012). Fast bounded online gradient
       descent algorithms for scalable kernel-based online learning. International Conference on
       Machine Learning.

    Examples
    --------
    >>> from onlinekern import BOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BOGDClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_
    (True, 100)
    """

    loss: LabelLoss = "hinge"
    removal: Literal["uniform", "nonuniform"] = "uniform"
    cap: Positive | None = 1.0
    budget: Count = 500

    _budget = random_eviction


@estimator
class BOGDRegressor(OnlineRegressor, GradientStep, KernelEstimator):
    """Budgeted online gradient descent (BOGD, BOGD++) for regression.

    It is `BOGDClassifier` with a loss of regression [1]_.

    Parameters
    ----------
    removal : {'uniform', 'nonuniform'}, default='uniform'
        The probability p_j of evicting support vector j: ``1 / B`` (BOGD), or ``(1 - |a_j| / sum
        |a|) / (B - 1)`` (BOGD++), which evicts small coefficients more often.
    cap : float > 0 or None, default=1.0
        Each eviction clips the coefficients to ``[-cap * eta, cap * eta]``. None does not clip:
        the coefficients then grow until the noise of the evictions dominates, which costs ten
        points of accuracy on cod-rna.
    loss : {'squared', 'absolute', 'epsilon_insensitive', 'huber'} or compiled loss, \
default='squared'
        The loss to minimise; samples at which its slope is 0 change nothing. A compiled loss may
        come from another package, see docs/extending.md.
    eta : float > 0, default=0.5
        Step size. With ``kappa(x, x) = 1``, a step of 1 corrects a sample of loss 1; the
        default takes half of it.
    schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='constant'
        The step size eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
    power : float >= 0, default=0.5
        Exponent of the schedule 'power'.
    reg : float >= 0, default=0.0
        Regularisation lambda; at each step, all coefficients shrink by ``max(0, 1 - eta_t *
        reg)``.
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge' and 'huber'.
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss in 'epsilon_insensitive'.
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
    budget : int >= 1, default=500
        Largest number of support vectors B. Time per sample and memory grow linearly with it.
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
    A step does this in order: all coefficients shrink, a support vector is evicted, the other
    coefficients are divided, then clipped, and the sample is added. With several classes, the
    Euclidean norm of the K coefficients replaces ``|a_j|``, and `cap` applies to each of them. The
    cap is set when learning starts: a later change of `eta` does not move it.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    `cap` presumes targets of a range of about 1: without `standardize_target`, scale them, and
    centre them, as there is no intercept then.

    References
    ----------
    .. [1] P. Zhao, J. Wang, P. Wu, R. Jin, S. C. H. Hoi (2012). Fast bounded online gradient
       descent algorithms for scalable kernel-based online learning. International Conference on
       Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import BOGDRegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = BOGDRegressor(gamma=1.0, eta=0.1, budget=100, n_epochs=5, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9), model.n_support_
    (True, 100)
    """

    loss: TargetLoss = "squared"
    removal: Literal["uniform", "nonuniform"] = "uniform"
    cap: Positive | None = 1.0
    budget: Count = 500

    _budget = random_eviction
