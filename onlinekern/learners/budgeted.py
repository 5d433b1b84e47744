"""Perceptron and Passive-Aggressive learners that evict support vectors for new ones."""

import math
from numbers import Real
from typing import Annotated, Any, TypeAlias

from onlinekern.core import LOSSES, POLICIES, RULES, SAMPLERS, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.parameters import Count, NotNegative, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.scikit_learn import Interval

Slack: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="left")]


@estimator
class RBPClassifier(OnlineClassifier, KernelEstimator):
    """Randomised Budget Perceptron (RBP).

    A sample with ``y f(x) <= 0`` becomes a support vector with coefficient y (times its weight);
    when the budget is full, a support vector chosen uniformly at random is evicted [1]_.

    Parameters
    ----------
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
    `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies the coefficient.

    With several classes, the coefficients of all classes are evicted with the support vector.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi, C. Gentile (2007). Tracking the best hyperplane with a
       simple budget Perceptron. Machine Learning 69, 143-167.

    Examples
    --------
    >>> from onlinekern import RBPClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = RBPClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6), model.n_support_
    (True, 100)
    """

    budget: Count = 500

    def _rule(self) -> Any:
        return RULES["perceptron"]()

    def _budget(self, rng: Generator) -> Any:
        return POLICIES["random"](self.budget, rng)


@estimator
class ForgetronClassifier(OnlineClassifier, KernelEstimator):
    """Self-tuned Forgetron: a Perceptron that shrinks its coefficients and evicts the oldest.

    A sample with ``y f(x) <= 0`` becomes a support vector with coefficient y. If the budget is then
    exceeded, all coefficients shrink by phi and the oldest support vector r is evicted. Let ``d =
    |a_r|`` and ``m = y_r f(x_r)`` before the shrinking, M the number of mistakes so far, and Q the
    sum of the damages of all evictions so far. phi is the largest number in (0, 1] with ``(d phi)^2
    + 2 d phi (1 - phi m) + Q <= 15/32 M``; the first two terms, the damage of this eviction, are
    then added to Q (section 5 of [1]_).

    Parameters
    ----------
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
    The mistake bound of [1]_ holds for kernels with ``kappa(x, x) <= 1`` and weights of 1; the
    algorithm runs with any.

    `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies the coefficient.

    With K classes, d is the Euclidean norm of the K coefficients a_r, ``d m`` the inner product
    ``<a_r, f(x_r)>``, and M the number of samples that have become support vectors: Q then bounds
    the damage to the K functions together.

    References
    ----------
    .. [1] O. Dekel, S. Shalev-Shwartz, Y. Singer (2008). The Forgetron: a kernel-based Perceptron
       on a budget. SIAM Journal on Computing 37, 1342-1372.

    Examples
    --------
    >>> from onlinekern import ForgetronClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = ForgetronClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6), model.n_support_
    (True, 100)
    """

    budget: Count = 500

    def _rule(self) -> Any:
        return RULES["perceptron"]()

    def _budget(self, rng: Generator) -> Any:
        return POLICIES["forgetron"](self.budget)


@estimator
class AhpatronClassifier(OnlineClassifier, KernelEstimator):
    """Ahpatron: a Perceptron with a margin that projects half of its full set onto the other half.

    A sample with ``y f(x) < 1 - epsilon`` becomes a support vector with the coefficient ``eta y``.
    If the budget is full, the half of the smaller coefficients a_2 leaves first: with K_11 the Gram
    matrix of those who stay and K_12 their kernel values with those who leave, ``a_1 <- a_1 + (K_11
    + 0.0005 I)^-1 K_12 a_2``, and f is scaled to the norm that it had. After each step, f is scaled
    down to the norm `max_norm` if it is longer [1]_.

    Parameters
    ----------
    eta : float > 0, default=0.25
        The step. The smaller it is, the more samples come within the margin.
    epsilon : float in [0, 1), default=0.5
        The margin of a sample that enters is below ``1 - epsilon``. The larger, the fewer enter.
    max_norm : float > 0 or None, default=None
        Radius U of the ball that f stays in, the norm being that of the kernel; None is
        ``2 eta sqrt(budget)``. With K > 2 classes it is ``sqrt(K)`` times as large, for the K
        functions together.
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
    The equations are those of the program that the authors published with [1]_: the margin, the
    ridge 0.0005, the scaling to the old norm, and ``max_norm = 2 eta sqrt(budget)``, which its
    ``U = sqrt(budget) / 2`` and step ``U / (2 sqrt(budget))`` say too. Ours are: several classes
    and weights; an odd budget, of which ``budget // 2`` stay; and, of equal coefficients, that the
    older one leaves, where the program keeps it.

    Only ``eta / (1 - epsilon)`` matters for the predictions if `max_norm` is None: it is enough to
    choose `eta`.

    Between two halvings the model has from ``budget // 2`` to `budget` support vectors. A halving
    takes the kernel values of B / 2 samples, and the Cholesky factor of a matrix of that size.

    `cumulative_loss_` sums the hinge.

    With several classes, the size of a support vector is the Euclidean norm of its K coefficients.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] Y. Liao, J. Li, S. Liao, Q. Hu, J. Dang (2024). Ahpatron: a new budgeted online kernel
       learning machine with tighter mistake bound. AAAI Conference on Artificial Intelligence 38,
       13782-13789.

    Examples
    --------
    >>> from onlinekern import AhpatronClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = AhpatronClassifier(gamma=0.4, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), 50 <= model.n_support_ <= 100
    (True, True)
    """

    eta: Positive = 0.25
    epsilon: Slack = 0.5
    max_norm: Positive | None = None
    budget: Count = 500

    def _rule(self) -> Any:
        return RULES["gradient"](LOSSES["hinge"](), SCHEDULES["constant"](self.eta))

    def _sampler(self) -> Any:
        return SAMPLERS["within_margin"](1.0 - self.epsilon)

    def _budget(self, rng: Generator) -> Any:
        radius = self.max_norm or 2.0 * self.eta * math.sqrt(self.budget)
        return POLICIES["halve"](self.budget, radius)


@estimator
class BPA(KernelEstimator):
    """Mixin of learners with PA-I steps, whose new support vector replaces the cheapest one."""

    C: Positive = 1.0
    budget: Count = 500

    def _rule(self) -> Any:
        return RULES["pa1"](self._plain_loss(), self.C)

    def _budget(self, rng: Generator) -> Any:
        return POLICIES["bpa_s"](self.budget)


@estimator
class BPAClassifier(OnlineClassifier, BPA):
    """Budgeted Passive-Aggressive learning, simple (BPA-S).

    A sample x_t of hinge loss l > 0 takes the step of PA-I, ``tau = min(C, l / kappa_tt)``. When
    the budget is full, it replaces a support vector r and gets the coefficient ``a_r kappa_rt /
    kappa_tt + tau y``. This choice of r and coefficient minimises ``||f_new - f||^2 / 2 + C l_new``
    (section 3 of [1]_).

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness: the largest step. Use 0.25 to 0.5 for noisy labels.
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
    The support vector to replace does not depend on the step: it minimises
    ``a_r^2 (kappa_rr - kappa_rt^2 / kappa_tt)``. With K classes, ``a_r^2`` is the squared norm of
    the K coefficients, and each of the K functions takes its own coefficient from r.

    A `sample_weight` multiplies C.

    References
    ----------
    .. [1] Z. Wang, S. Vucetic (2010). Online passive-aggressive algorithms on a budget.
       International Conference on Artificial Intelligence and Statistics, 908-915.

    Examples
    --------
    >>> from onlinekern import BPAClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BPAClassifier(gamma=0.4, C=0.1, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_
    (True, 100)
    """


@estimator
class BPARegressor(OnlineRegressor, BPA):
    """Budgeted Passive-Aggressive regression, simple (BPA-S).

    It is `BPAClassifier` with the epsilon-insensitive loss: ``tau = min(C, l / kappa_tt)`` in the
    direction of ``y - f``. The sample replaces a support vector r and gets the coefficient
    ``a_r kappa_rt / kappa_tt + sign(y - f) tau``. The paper treats classification only [1]_; the
    minimisation is the same.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss; in standard deviations of y.
    C : float > 0, default=1.0
        Aggressiveness: the largest step, in standard deviations of y.
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
    The support vector to replace does not depend on the step: it minimises
    ``a_r^2 (kappa_rr - kappa_rt^2 / kappa_tt)``. With K classes, ``a_r^2`` is the squared norm of
    the K coefficients, and each of the K functions takes its own coefficient from r.

    A `sample_weight` multiplies C.

    References
    ----------
    .. [1] Z. Wang, S. Vucetic (2010). Online passive-aggressive algorithms on a budget.
       International Conference on Artificial Intelligence and Statistics, 908-915.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import BPARegressor
    >>> X = np.linspace(0, 6, 300)[:, None]
    >>> model = BPARegressor(gamma=1.0, epsilon=0.05, budget=30, random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9), model.n_support_ <= 30
    (True, True)
    """

    epsilon: NotNegative = 0.1
