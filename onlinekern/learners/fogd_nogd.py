"""Functional approximation: linear learners of features that stand for a kernel, FOGD and NOGD.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from typing import Any

import numpy as np

from onlinekern.core.base.random import Generator
from onlinekern.core.models.mapped import MappedSpace
from onlinekern.core.models.nogd import NystroemSpace
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.features import (
    DistanceKernel,
    Frequencies,
    constants_of_outputs,
    fourier_map,
    frequencies_of,
    frequency_bytes,
    weights_of_features,
)
from onlinekern.estimators.gradient import GradientStep, LabelLoss, TargetLoss
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.median_width import width_of
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import (
    Average,
    Count,
    KernelWidth,
    MatrixSize,
    NotNegative,
    Positive,
    Schedule,
    estimator,
)
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.types import Floats


@estimator
class FOGD(Learner):
    """Mixin of learners of a linear model of random Fourier features."""

    n_components: Count = 400
    frequencies: Frequencies = "auto"
    fit_intercept: bool = False
    kernel: DistanceKernel = "gaussian"
    gamma: KernelWidth = "median"
    average: Average = False

    _size = "n_components"
    _warms_up = True
    coef_ = property(weights_of_features)
    intercept_ = property(constants_of_outputs)

    def _n_bytes(self, form: Form) -> int:
        return frequency_bytes(self, form.n_features)

    def _features(self, X: Any, draws: np.random.RandomState) -> Any:
        self.gamma_ = width_of(self, X)
        return fourier_map(self, self.gamma_, X, draws, bool(self.fit_intercept))

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        return MappedSpace(features, n_outputs, self.average)

    @property
    def frequencies_(self) -> Floats:
        """Random frequencies, ndarray of shape (n_components, n_features)."""
        return self._read(lambda space: frequencies_of(space.map))


@estimator
class FOGDClassifier(OnlineClassifier, GradientStep, FOGD):
    """Fourier online gradient descent (FOGD).

    A linear model ``f(x) = w . z(x)`` of random Fourier features ``z(x) = [cos(omega_j . x),
    sin(omega_j . x)] / sqrt(D)``, whose inner products approximate the kernel, learns by ``w <- (1
    - eta_t reg) w - eta_t l'(f(x_t), y_t) z(x_t)`` (algorithm 2 of [1]_). Time per sample and
    memory do not grow with the stream. The paper's setting is ``loss="hinge", schedule="constant"``
    and the best eta of some, for example 0.5.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'} or \
compiled loss, default='logistic'
        The loss to minimise; samples at which its slope is 0 change nothing. A compiled loss may
        come from another package, see docs/extending.md.

        The logistic loss with a decaying step makes a few mistakes less than the hinge with a
        constant one (docs/defaults.md).
    eta : float > 0, default=8.0
        Step size. Steps of the logistic loss are bounded by half of ``eta_t``. A constant step of
        the hinge is best from 0.1 to 1.
    schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='power'
        The step size eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
    power : float >= 0, default=0.25
        Exponent of the schedule 'power'.
    reg : float >= 0, default=0.0
        Regularisation lambda; at each step, all coefficients shrink by ``max(0, 1 - eta_t *
        reg)``.
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge' and 'huber'.
    epsilon : float >= 0, default=0.1
        Not used: no loss of labels has it. It is here because the regressor has it.
    n_components : int >= 1, default=400
        Random frequencies D; each gives a cosine and a sine. Time and memory grow linearly with
        D, the error of the kernel falls like ``1 / sqrt(D)``. Published experiments use 400 to
        4000.
    frequencies : {'auto', 'plain', 'orthogonal', 'structured', 'hashed'}, default='auto'
        How the frequencies are drawn. 'plain' draws a matrix of independent frequencies,
        n_components x n_features. 'orthogonal' makes the directions of each n_features of them
        orthogonal (Yu et al. 2016), which approximates the kernel better; it needs the Gaussian
        kernel. 'structured' multiplies by Hadamard matrices instead, in O(n_components log
        n_features): for dense samples of some 100 features or more, and the Gaussian kernel.
        'hashed' finds each frequency in a table of random numbers by a hash: for sparse samples of
        any number of features, in memory that does not depend on it. 'auto' is 'plain', and
        'hashed' for more than 2^14 features where the matrix would have more than 2^25 numbers.
    fit_intercept : bool, default=False
        Whether to add a feature that is always 1: the kernel is then ``kappa + 1``. Its weight
        is learnt, and shrinks, like the others.
    kernel : {'gaussian', 'laplacian'}, default='gaussian'
        The kernel: ``exp(-gamma ||x - z||^2)``, also called 'rbf', or ``exp(-gamma ||x - z||_1)``.
        Only these kernels have random Fourier features whose frequencies are independent between
        features.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
        ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
        given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all models so far; False predicts with the last one. True is
        'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
        ``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013, eta = 3); it follows a
        correction within tens of samples. A number a in (0, 1) forgets exponentially, for streams
        that change: the model before the last i samples has the weight ``a**i``, so that about the
        last ``1 / (1 - a)`` models count. The weights are divided by their sum.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'ovr', 'margin'}, default='ovr'
        For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares
        the true class with its strongest rival (Crammer and Singer 2001). All classes share the
        features.
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
    frequencies_ : ndarray of shape (n_components, n_features)
        The frequencies, in the dtype of the samples, drawn before the first one, from ``N(0, 2
        gamma_ I)`` for the Gaussian kernel. Hashed and structured ones are computed when you ask;
        MemoryError if there is no room for them.
    coef_ : ndarray of shape (n_outputs, 2 * n_components), float64
        Weights of the model that predicts: cosines first, then sines; n_outputs is 1 for two
        classes and regression, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets of the outputs, 0 without `fit_intercept`.
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
    Cosines and sines are divided by ``sqrt(D)``, so the feature vector has length 1 and `eta` means
    the same as for `KernelOGDClassifier`. Multiply by D a step size published for features that are
    not divided. On the data sets of the papers the best values were 0.1 (a9a) to 1 (ijcnn1, usps).
    FOGD given as much time as DualSGD made fewer errors on usps, poker and four regressions
    (``benchmarks/dual_vs_fogd.py``).

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu (2016). Large scale online kernel
       learning. Journal of Machine Learning Research 17, 1-43.

    Examples
    --------
    >>> from onlinekern import FOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = FOGDClassifier(gamma=0.4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.coef_.shape
    (True, (1, 800))
    """

    loss: LabelLoss = "logistic"
    eta: Positive = 8.0
    schedule: Schedule = "power"
    power: NotNegative = 0.25


@estimator
class FOGDRegressor(OnlineRegressor, GradientStep, FOGD):
    """Fourier online gradient descent (FOGD) for regression.

    The model and its learning are those of `FOGDClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
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
    n_components : int >= 1, default=400
        Random frequencies D; each gives a cosine and a sine. Time and memory grow linearly with
        D, the error of the kernel falls like ``1 / sqrt(D)``. Published experiments use 400 to
        4000.
    frequencies : {'auto', 'plain', 'orthogonal', 'structured', 'hashed'}, default='auto'
        How the frequencies are drawn. 'plain' draws a matrix of independent frequencies,
        n_components x n_features. 'orthogonal' makes the directions of each n_features of them
        orthogonal (Yu et al. 2016), which approximates the kernel better; it needs the Gaussian
        kernel. 'structured' multiplies by Hadamard matrices instead, in O(n_components log
        n_features): for dense samples of some 100 features or more, and the Gaussian kernel.
        'hashed' finds each frequency in a table of random numbers by a hash: for sparse samples of
        any number of features, in memory that does not depend on it. 'auto' is 'plain', and
        'hashed' for more than 2^14 features where the matrix would have more than 2^25 numbers.
    fit_intercept : bool, default=False
        Whether to add a feature that is always 1: the kernel is then ``kappa + 1``. Its weight
        is learnt, and shrinks, like the others.
    kernel : {'gaussian', 'laplacian'}, default='gaussian'
        The kernel: ``exp(-gamma ||x - z||^2)``, also called 'rbf', or ``exp(-gamma ||x - z||_1)``.
        Only these kernels have random Fourier features whose frequencies are independent between
        features.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
        ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
        given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all models so far; False predicts with the last one. True is
        'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
        ``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013, eta = 3); it follows a
        correction within tens of samples. A number a in (0, 1) forgets exponentially, for streams
        that change: the model before the last i samples has the weight ``a**i``, so that about the
        last ``1 / (1 - a)`` models count. The weights are divided by their sum.
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
    frequencies_ : ndarray of shape (n_components, n_features)
        The frequencies, in the dtype of the samples, drawn before the first one, from ``N(0, 2
        gamma_ I)`` for the Gaussian kernel. Hashed and structured ones are computed when you ask;
        MemoryError if there is no room for them.
    coef_ : ndarray of shape (n_outputs, 2 * n_components), float64
        Weights of the model that predicts: cosines first, then sines; n_outputs is 1 for two
        classes and regression, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets of the outputs, 0 without `fit_intercept`.
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
    Cosines and sines are divided by ``sqrt(D)``, so the feature vector has length 1 and `eta` means
    the same as for `KernelOGDClassifier`. Multiply by D a step size published for features that are
    not divided. On the data sets of the papers the best values were 0.1 (a9a) to 1 (ijcnn1, usps).
    FOGD given as much time as DualSGD made fewer errors on usps, poker and four regressions
    (``benchmarks/dual_vs_fogd.py``).

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu (2016). Large scale online kernel
       learning. Journal of Machine Learning Research 17, 1-43.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import FOGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = FOGDRegressor(gamma=1.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    loss: TargetLoss = "squared"


def nystroem_space(learner: Any, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
    """Return the space of NOGD: support vectors, then features of them."""
    rank = learner.budget if learner.n_components is None else learner.n_components
    if rank > learner.budget:
        raise ValueError(
            f"n_components must be at most budget, got n_components={learner.n_components} and "
            f"budget={learner.budget}"
        )
    return NystroemSpace(learner._kernel_support(X, n_outputs), learner.budget, rank)


def is_last_landmark_next(learner: Any) -> bool:
    """Return whether LAPACK computes eigenvectors of the kernel matrix after the next sample."""
    space = learner._model.space
    return bool(not space.moved and space.support.n + 1 >= space.n_landmarks)


@estimator
class NOGDClassifier(OnlineClassifier, GradientStep, KernelEstimator):
    """Nystroem online gradient descent (NOGD).

    The first `budget` support vectors come from kernel gradient descent. Their kernel matrix ``K =
    V D V'`` then gives features ``z(x) = D_k^{-1/2} V_k' k(x)`` over the k largest eigenvalues;
    k(x) are the kernel values of x with the support vectors. Gradient descent continues with ``f(x)
    = w . z(x)``, starting from the w that gives the same function (algorithm 3 of [1]_). From then
    on, time per sample and memory do not grow.

    Parameters
    ----------
    n_components : int in [1, budget] or None, default=None
        Largest number of features k; None is `budget`. Eigenvalues below 1e-10 of the largest
        give no feature. Lu et al. take a fifth of the budget: on a9a that makes no more
        mistakes in a third of the time.
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
        Support vectors B: the first samples that take a step. They then become landmarks, and
        are never replaced.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
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
    The change to features keeps the function, and its average, up to the eigenvalues that are
    dropped. It happens when the last support vector of the budget is added, anywhere in a batch.
    `dual_coef_` keeps its meaning, since the features are linear in the kernel values of the
    landmarks. Eigenvalues that are not positive (the kernel 'sigmoid' can have some) are dropped.
    The kernel matrix is computed in float64 for float32 samples too, because rounding in float32
    would add eigenvalues.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu (2016). Large scale online kernel
       learning. Journal of Machine Learning Research 17, 1-43.

    Examples
    --------
    >>> from onlinekern import NOGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = NOGDClassifier(gamma=0.4, eta=0.1, budget=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.n_support_
    (True, 100)
    """

    loss: LabelLoss = "hinge"
    n_components: Count | None = None
    budget: MatrixSize = 500
    average: Average = False

    _calls_blas = True
    _space = nystroem_space
    _next_calls_blas = is_last_landmark_next
    dual_coef_ = property(weights_of_features)


@estimator
class NOGDRegressor(OnlineRegressor, GradientStep, KernelEstimator):
    """Nystroem online gradient descent (NOGD) for regression.

    The model and its learning are those of `NOGDClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
    n_components : int in [1, budget] or None, default=None
        Largest number of features k; None is `budget`. Eigenvalues below 1e-10 of the largest
        give no feature. Lu et al. take a fifth of the budget: on a9a that makes no more
        mistakes in a third of the time.
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
        Support vectors B: the first samples that take a step. They then become landmarks, and
        are never replaced.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
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
    The change to features keeps the function, and its average, up to the eigenvalues that are
    dropped. It happens when the last support vector of the budget is added, anywhere in a batch.
    `dual_coef_` keeps its meaning, since the features are linear in the kernel values of the
    landmarks. Eigenvalues that are not positive (the kernel 'sigmoid' can have some) are dropped.
    The kernel matrix is computed in float64 for float32 samples too, because rounding in float32
    would add eigenvalues.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu (2016). Large scale online kernel
       learning. Journal of Machine Learning Research 17, 1-43.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import NOGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = NOGDRegressor(gamma=1.0, budget=50, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    loss: TargetLoss = "squared"
    n_components: Count | None = None
    budget: MatrixSize = 500
    average: Average = False

    _calls_blas = True
    _space = nystroem_space
    _next_calls_blas = is_last_landmark_next
    dual_coef_ = property(weights_of_features)
