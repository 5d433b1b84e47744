"""Kernel adaptive filters that take steps of a fixed size: KLMS, QKLMS and KAPA.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

import math
from typing import Any, ClassVar, Literal

from onlinekern.core import LOSSES, POLICIES, RULES, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.features import DistanceKernel
from onlinekern.estimators.filters import PolicyFilter
from onlinekern.estimators.kernel import KernelEstimator, WhenFull
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import (
    OF_NEW_MODELS,
    Average,
    Count,
    NotNegative,
    Positive,
    estimator,
)
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.several_targets import SEVERAL


@estimator
class LeastMeanSquares(Learner):
    """Mixin of filters with steps of a fixed size on the squared error, in the series' order."""

    eta: Positive = 0.5
    shuffle: bool = False

    _target_checks = SEVERAL

    def _rule(self) -> Any:
        return RULES["gradient"](LOSSES["squared"](), SCHEDULES["constant"](self.eta))


@estimator
class KLMSRegressor(LeastMeanSquares, OnlineRegressor, KernelEstimator):
    """Kernel least mean squares (KLMS).

    Every sample becomes a support vector, whose coefficient is the step size times its error:
    ``e_t = y_t - f(x_t)``, ``f <- f + eta e_t kappa(x_t, .)`` (algorithm 1 of [1]_).

    Parameters
    ----------
    eta : float > 0, default=0.5
        Step size. With ``kappa(x, x) = 1``, a step of 1 makes the error of the sample 0; the
        default takes half of it. Smaller steps average over noise, and learn slower.
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
    shuffle : bool, default=False
        Whether `fit` draws a new order for each pass. A filter follows a series, so the default
        keeps the given order, as `partial_fit` always does.
    random_state : int, RandomState instance or None, default=None
        Seed of the order.
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
    target_mean_, target_scale_ : float, or ndarray of shape (n_outputs,)
        Mean and scale of the targets so far, of each of several; 0 and 1 without
        `standardize_target`.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The dictionary, the oldest first, in the dtype of the samples; CSR when the model was
        started with sparse samples.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the support vectors, a row of each target.
    n_support_ : int
        Number of support vectors.
    cumulative_loss_ : float
        Sum of weight times half the squared error, each before its sample was learnt; the errors of
        several targets are added up.
    n_outputs_ : int
        Targets of a sample.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    It is `KernelOGDRegressor` with the squared loss, a constant step and no regularisation. Time
    per sample grows with the stream: `QKLMSRegressor` bounds it.

    The only intercept is the mean of the targets. Without `standardize_target`, centre them if
    their mean is far from 0.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] W. Liu, P. P. Pokharel, J. C. Príncipe (2008). The kernel least-mean-square algorithm.
       IEEE Transactions on Signal Processing 56, 543-554.

    Examples
    --------
    >>> from onlinekern import KLMSRegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(600, random_state=0)
    >>> model = KLMSRegressor(gamma=1.0).partial_fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.9)
    True
    """

    average: Average = False
    max_support: Count | None = None
    when_full: WhenFull = "nearest"


@estimator
class QKLMSRegressor(LeastMeanSquares, OnlineRegressor, KernelEstimator):
    """Quantised kernel least mean squares (QKLMS).

    The step is that of `KLMSRegressor`, eta times the error. A sample further than `epsilon` from
    all support vectors becomes one. Any other sample adds its step to the coefficient of the
    nearest support vector (table 1 of [1]_).

    Parameters
    ----------
    epsilon : float >= 0, default=0.5
        Quantisation size: the distance in the space of the samples (l2 for the Gaussian kernel, l1
        for the Laplacian) up to which a sample is represented by a support vector. The larger it
        is, the smaller and coarser is the model. The default is small for standardised samples of
        some features.
    eta : float > 0, default=0.5
        Step size. With ``kappa(x, x) = 1``, a step of 1 makes the error of the sample 0; the
        default takes half of it. Smaller steps average over noise, and learn slower.
    kernel : {'gaussian', 'laplacian'}, default='gaussian'
        ``exp(-gamma ||x - z||^2)``, also called 'rbf', or ``exp(-gamma ||x - z||_1)``: kernels that
        fall with the distance.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of every kernel but the linear and cosine ones. 'median' is 2 over the median of
        ``||x - z||^2`` (Laplacian: ``||x - z||_1``) over all pairs of the first 200 samples, in
        the order in which they are learnt, however many come in a call. It is measured at 2, 5,
        10, 20, 50, 100 and 200 samples; a new model then learns them again, and what was
        predicted and counted before stays. 'scale' is ``1 / (n_features * X.var())`` and 'auto'
        ``1 / n_features``, as in scikit-learn's SVC; X is what `fit` gets, or the first batch
        given to `partial_fit`. A paper's bandwidth sigma is ``gamma = 1 / (2 * sigma**2)``.
    budget : int >= 1 or None, default=500
        Largest number of support vectors. When it is reached, every sample adds its step to the
        nearest one. With None, `epsilon` alone bounds their number, on every bounded domain.
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
    shuffle : bool, default=False
        Whether `fit` draws a new order for each pass. A filter follows a series, so the default
        keeps the given order, as `partial_fit` always does.
    random_state : int, RandomState instance or None, default=None
        Seed of the order.
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
    target_mean_, target_scale_ : float, or ndarray of shape (n_outputs,)
        Mean and scale of the targets so far, of each of several; 0 and 1 without
        `standardize_target`.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The dictionary, the oldest first, in the dtype of the samples; CSR when the model was
        started with sparse samples.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the support vectors, a row of each target.
    n_support_ : int
        Number of support vectors.
    cumulative_loss_ : float
        Sum of weight times half the squared error, each before its sample was learnt; the errors of
        several targets are added up.
    n_outputs_ : int
        Targets of a sample.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    Of support vectors at the same distance, the oldest one takes the step.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] B. Chen, S. Zhao, P. Zhu, J. C. Príncipe (2012). Quantized kernel least mean square
       algorithm. IEEE Transactions on Neural Networks and Learning Systems 23, 22-32.

    Examples
    --------
    >>> from onlinekern import QKLMSRegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(2500, random_state=0)
    >>> model = QKLMSRegressor(gamma=1.0, epsilon=0.2).partial_fit(X[:2000], y[:2000])
    >>> bool(model.score(X[2000:], y[2000:]) > 0.9), model.n_support_ < 300
    (True, True)
    """

    # These are parameters of kernels that do not fall with the distance.
    degree: ClassVar[int] = 3  # type: ignore[misc]
    coef0: ClassVar[float] = 0.0  # type: ignore[misc]
    kernel: DistanceKernel = "gaussian"
    epsilon: NotNegative = 0.5
    budget: Count | None = 500

    _begins_with = OF_NEW_MODELS | {"epsilon"}

    def _budget(self, rng: Generator) -> Any:
        distance = self.epsilon if self.kernel == "laplacian" else self.epsilon * self.epsilon
        return POLICIES["quantise"](math.exp(-self.gamma_ * distance), self.budget or 0)


@estimator
class KAPARegressor(PolicyFilter, OnlineRegressor):
    """Kernel affine projection (KAPA-1 and KAPA-2).

    A step looks at the last `order` samples together. With G their Gram matrix and e their errors
    under the present function, their coefficients change by ``eta (G + reg I)^-1 e`` (KAPA-2,
    algorithm 2 of [1]_) or by ``eta e`` (KAPA-1, algorithm 1). Every sample becomes a support
    vector.

    Parameters
    ----------
    variant : {'kapa1', 'kapa2'}, default='kapa2'
        'kapa2' is the normalised one, a step of Newton's method on the last samples. 'kapa1' is
        gradient descent on them, and diverges for ``eta`` above 2 over the largest eigenvalue of G,
        which is up to `order`.
    order : int in [1, budget], default=10
        K, the number of last samples. With 1, KAPA-1 is KLMS.
    eta : float > 0, default=0.1
        Step size. With KAPA-2, a step of 1 makes the errors of the last samples 0 but for `reg`.
    reg : float > 0, default=1.0
        Regularisation of G: the larger it is, the less noise is followed. 0.01 is better for series
        without noise. Not used by KAPA-1.
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
        Largest number of support vectors. Beyond it, the sample that is no longer among the last
        ones is projected onto its nearest support vector in the feature space, an idea of QKLMS;
        [1]_ sets no bound.
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
    shuffle : bool, default=False
        Whether `fit` draws a new order for each pass. A filter follows a series, so the default
        keeps the given order, as `partial_fit` always does.
    random_state : int, RandomState instance or None, default=None
        Seed of the order.
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
    target_mean_, target_scale_ : float, or ndarray of shape (n_outputs,)
        Mean and scale of the targets so far, of each of several; 0 and 1 without
        `standardize_target`.
    support_vectors_ : ndarray of shape (n_SV, n_features), or CSR matrix
        The dictionary, the oldest first, in the dtype of the samples; CSR when the model was
        started with sparse samples.
    dual_coef_ : ndarray of shape (n_outputs, n_SV), float64
        Coefficients of the support vectors, a row of each target.
    n_support_ : int
        Number of support vectors.
    cumulative_loss_ : float
        Sum of weight times half the squared error, each before its sample was learnt; the errors of
        several targets are added up.
    n_outputs_ : int
        Targets of a sample.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    gamma_ : float
        The kernel width in use.

    Notes
    -----
    A `sample_weight` w multiplies the error of its sample in KAPA-1, and divides `reg` for it in
    KAPA-2.

    Nothing shrinks, so the noise adds up in the coefficients. On Mackey-Glass with noise and a
    budget of 60, the error grows by 0.2 dB in 400,000 samples, with ``reg=0.1`` by 3 dB in 200,000.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    References
    ----------
    .. [1] W. Liu, J. C. Príncipe (2008). Kernel affine projection algorithms. EURASIP Journal on
       Advances in Signal Processing 2008.

    Examples
    --------
    >>> from onlinekern import KAPARegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(800, random_state=0)
    >>> model = KAPARegressor(gamma=1.0).partial_fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.9)
    True
    """

    variant: Literal["kapa1", "kapa2"] = "kapa2"
    order: Count = 10
    eta: Positive = 0.1
    reg: Positive = 1.0

    _policy = "affine_projection"
    _n_sizes = 2
    _calls_blas = True

    def _arguments(self) -> tuple[Any, ...]:
        return self.budget, self.order, self.eta, self.reg, self.variant == "kapa2"

    def _check_memory(self) -> None:
        if self.order > self.budget:
            raise ValueError(f"order must be at most budget={self.budget}, got order={self.order}")
        # G has a copy, which undoes a failed call; the system that is solved is a third matrix.
        check_size("order", self.order, 3 * 8 * self.order**2)
