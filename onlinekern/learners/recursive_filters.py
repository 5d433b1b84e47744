"""Kernel recursive least squares, one sample at a time, with a dictionary of bounded size.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from typing import Any, Literal

import numpy as np

from onlinekern.estimators.filters import PolicyFilter
from onlinekern.estimators.kernel import CompiledKernel
from onlinekern.estimators.parameters import (
    Count,
    Forgetting,
    NotNegative,
    Part,
    Positive,
    estimator,
)
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.types import Array, Floats, Samples
from onlinekern.estimators.validation import check_results, validate_data


@estimator
class KRLSRegressor(PolicyFilter, OnlineRegressor):
    """Kernel recursive least squares with approximate linear dependence (KRLS, ALD).

    A sample whose squared distance ``delta = kappa_tt - k_t'K^-1 k_t`` from the span of the
    dictionary is above `nu` enters the dictionary, and the function goes through its target. Any
    other sample counts as the combination ``a = K^-1 k_t`` of the dictionary; the coefficients
    minimise the squared errors of all samples so represented (table 1 of [1]_).

    Parameters
    ----------
    nu : float >= 0, default=1e-3
        Squared distance from the span up to which a sample does not enter. With ``kappa(x, x) = 1``
        distances are between 0 and 1. It alone regularises: noise asks for a larger one.
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
        Largest size of the dictionary; when it is reached, every sample counts as a combination.
        The dictionary stays smaller where `nu` bounds it. Time per sample and memory grow with the
        square of its size.
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
    A `sample_weight` multiplies the squared error of its sample. There is no forgetting, and the
    dictionary never shrinks: `KRLSTRegressor` follows series that change. K is regularised, ``K +
    1e-8 I`` (``1e-5`` for float32 samples), and kept as a growing Cholesky factor.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    References
    ----------
    .. [1] Y. Engel, S. Mannor, R. Meir (2004). The kernel recursive least-squares algorithm. IEEE
       Transactions on Signal Processing 52, 2275-2285.

    Examples
    --------
    >>> from onlinekern import KRLSRegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(800, random_state=0)
    >>> model = KRLSRegressor(gamma=1.0, nu=0.01).partial_fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.97), model.n_support_ < 100
    (True, True)
    """

    nu: NotNegative = 1e-3

    _policy = "linear_dependence"

    def _arguments(self) -> tuple[Any, ...]:
        return self.budget, self.nu


@estimator
class SlidingWindowKRLSRegressor(PolicyFilter, OnlineRegressor):
    """Sliding-window kernel recursive least squares (SW-KRLS).

    The function is kernel ridge regression on the last `budget` samples, ``alpha = (K + reg I)^-1
    y``; the inverse gains and loses a row and a column with each sample (section 3 of [1]_).

    Parameters
    ----------
    reg : float > 0, default=0.01
        Regularisation c of the paper. With ``kappa(x, x) = 1`` it is the variance of the noise
        relative to that of the signal.
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
    budget : int >= 1, default=100
        Largest number of support vectors. Time per sample and memory grow with its square.
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
    A `sample_weight` w replaces `reg` by ``reg / w`` for its sample. The inverse is recomputed from
    time to time, so that rounding errors do not accumulate.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    References
    ----------
    .. [1] S. Van Vaerenbergh, J. Vía, I. Santamaría (2006). A sliding-window kernel RLS algorithm
       and its application to nonlinear channel identification. IEEE International Conference on
       Acoustics, Speech and Signal Processing.

    Examples
    --------
    >>> from onlinekern import SlidingWindowKRLSRegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(800, random_state=0)
    >>> model = SlidingWindowKRLSRegressor(gamma=1.0).partial_fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.9), model.n_support_
    (True, 100)
    """

    reg: Positive = 0.01
    budget: Count = 100

    _policy = "sliding_window"
    _calls_blas = True

    def _arguments(self) -> tuple[Any, ...]:
        return self.budget, self.reg


@estimator
class FixedBudgetKRLSRegressor(PolicyFilter, OnlineRegressor):
    """Fixed-budget kernel recursive least squares (FB-KRLS).

    The function is kernel ridge regression on a dictionary, ``alpha = (K + reg I)^-1 y``, which
    every sample enters. When there is a sample too many, that of least ``|alpha_r| / H_rr`` leaves,
    H the inverse: its target is the one that the others predict best (algorithm 1 of [1]_). Of
    several targets, ``|alpha_r|`` is the Euclidean norm of their coefficients.

    Parameters
    ----------
    reg : float > 0, default=0.01
        Regularisation lambda of the paper. With ``kappa(x, x) = 1`` it is the variance of the noise
        relative to that of the signal.
    eta : float in [0, 1], default=0.0
        Learning rate of the targets: before a sample enters, those of the dictionary move towards
        its own, ``y_r <- y_r + eta kappa(x_r, x_t) (y_t - y_r)``. 0 is for functions that do not
        change.
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
    budget : int >= 1, default=100
        Largest number of support vectors. Time per sample and memory grow with its square.
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
    A `sample_weight` w replaces `reg` by ``reg / w`` for its sample; it does not act on `eta`. The
    inverse is recomputed from time to time, so that rounding errors do not accumulate.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    References
    ----------
    .. [1] S. Van Vaerenbergh, I. Santamaría, W. Liu, J. C. Príncipe (2010). Fixed-budget kernel
       recursive least-squares. IEEE International Conference on Acoustics, Speech and Signal
       Processing.

    Examples
    --------
    >>> from onlinekern import FixedBudgetKRLSRegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(800, random_state=0)
    >>> model = FixedBudgetKRLSRegressor(gamma=1.0).partial_fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.9), model.n_support_
    (True, 100)
    """

    reg: Positive = 0.01
    eta: Part = 0.0
    budget: Count = 100

    _policy = "fixed_budget"
    _calls_blas = True

    def _arguments(self) -> tuple[Any, ...]:
        return self.budget, self.reg, self.eta


@estimator
class KRLSTRegressor(PolicyFilter, OnlineRegressor):
    """Kernel recursive least-squares tracker (KRLS-T).

    A Gaussian process whose posterior, with mean mu and covariance S at the dictionary, is updated
    by each sample and forgets in between (algorithm 1 of [1]_). When the dictionary is too large,
    the member leaves whose mean the others predict best, least ``|(Q mu)_r| / Q_rr`` with Q the
    inverse Gram matrix (of several targets, the Euclidean norm); the posterior of the others stays
    what it is.

    Parameters
    ----------
    forgetting : float in (0, 1], default=0.999
        lambda, the weight of a sample relative to the next one. 1 is for functions that do not
        change.
    mode : {'b2p', 'ui'}, default='b2p'
        How to forget: back to the prior, ``mu <- sqrt(lambda) mu``, ``S <- lambda S + (1 - lambda)
        K``, or by injecting uncertainty, ``S <- S / lambda``, which is the exponential weighting of
        recursive least squares.
    noise : float > 0, default=0.01
        Variance of the noise relative to that of the signal, for ``kappa(x, x) = 1``.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'} \
or compiled kernel, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package (docs/extending.md) and has its own parameters:
        `gamma`, `degree` and `coef0` then stay at their defaults.
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
    budget : int >= 1, default=100
        Largest number of support vectors. Time per sample and memory grow with its square.
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
    signal_power_ : float, or ndarray of shape (n_outputs,)
        Estimate of the variance of the signal: the mean of the squared errors over their predicted
        variances, with the same forgetting. It scales the standard deviations of `predict`.

    Notes
    -----
    A `sample_weight` w replaces `noise` by ``noise / w`` for its sample. A prediction is made
    before the forgetting that precedes its sample, as in the authors' program. A sample within
    rounding of the span of the dictionary updates the posterior and does not enter. ``1e-6``
    (``1e-5`` for float32 samples) is added to the diagonal of K, whose inverse is recomputed from
    time to time. 'ui' stops where a variance is 1e6 times its prior.

    Several targets, the columns of y, share the support vectors and all matrices of them: each has
    coefficients, mean and scale of its own.

    References
    ----------
    .. [1] S. Van Vaerenbergh, M. Lázaro-Gredilla, I. Santamaría (2012). Kernel recursive
       least-squares tracker for time-varying regression. IEEE Transactions on Neural Networks and
       Learning Systems 23, 1313-1326.

    Examples
    --------
    >>> from onlinekern import KRLSTRegressor
    >>> from onlinekern.streams import mackey_glass
    >>> X, y = mackey_glass(800, noise=0.02, random_state=0)
    >>> model = KRLSTRegressor(gamma=1.0).partial_fit(X[:500], y[:500])
    >>> mean, std = model.predict(X[500:], return_std=True)
    >>> bool((abs(mean - y[500:]) < 2 * std).mean() > 0.9)
    True
    """

    forgetting: Forgetting = 0.999
    mode: Literal["b2p", "ui"] = "b2p"
    noise: Positive = 0.01
    kernel: CompiledKernel = "gaussian"
    budget: Count = 100

    _policy = "tracker"
    _n_matrices = 3
    _calls_blas = True

    def _arguments(self) -> tuple[Any, ...]:
        return self.budget, self.noise, self.forgetting, self.mode == "b2p"

    def predict(  # type: ignore[override]
        self, X: Samples, return_std: bool = False
    ) -> Array | tuple[Array, Floats]:
        """Predict the targets of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations of the targets too, noise included.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            Standard deviations, returned with `return_std` only.
        """
        if not return_std:
            return super().predict(X)
        model = self._fitted_model
        X = self._layout(validate_data(self, X, dtype=model.dtype, reset=False))
        scores = np.empty((X.shape[0], model.head.n_outputs))
        with model.reading():
            model.score_rows(X, scores)
            budget = model.space.budget
            variances = np.multiply.outer(budget.variances(X), budget.signal_power())
            std = model.target_scale * np.sqrt(variances)
        check_results(scores, "score")
        return (scores if scores.shape[1] > 1 else scores[:, 0]), std

    @property
    def signal_power_(self) -> float | Floats:
        """Estimate of the variance of the signal; of several targets, ndarray (n_outputs,)."""
        scale = self.target_scale_
        power: float | Floats = self._read(lambda space: space.budget.signal_power())
        return scale * scale * power
