"""BSGD: stochastic gradient descent on a budget of support vectors."""

from typing import Any, Literal

from onlinekern.core import LOSSES, POLICIES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.space import InverseTimeSpace
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.gradient import loss_of
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import Count, NotNegative, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor


@estimator
class BSGD(KernelEstimator):
    """Mixin of learners with gradient steps of 1 / (reg t) and a budget of support vectors."""

    maintenance: Literal["remove", "project", "merge"] = "merge"
    reg: Positive = 1e-4
    budget: Count = 500

    _space_type = InverseTimeSpace
    _calls_blas = True

    def _budget(self, rng: Generator) -> Any:
        gaussian = isinstance(self.kernel, str) and self.kernel in ("gaussian", "rbf")
        if self.maintenance == "merge" and not gaussian:
            raise ValueError(
                "maintenance='merge' needs kernel='gaussian', the only one with a formula for "
                f"merging, got kernel={self.kernel!r}; use maintenance='project' or 'remove'"
            )
        # Two numbers for each support vector are kept beside the set.
        check_size("budget", self.budget, 2 * 8 * self.budget)
        return POLICIES[self.maintenance](self.budget)


@estimator
class BSGDClassifier(OnlineClassifier, BSGD):
    """Budgeted stochastic gradient descent (BSGD): kernel Pegasos on a budget.

    At step t all coefficients shrink by ``1 - 1/t``, and a sample with ``y f(x) < 1`` is added with
    coefficient ``y / (reg t)``. When there is one support vector more than `budget`, the smallest
    one, of least ``|alpha| sqrt(kappa(x, x))``, is removed (algorithm 1 of [1]_).

    Parameters
    ----------
    maintenance : {'merge', 'project', 'remove'}, default='merge'
        How the smallest support vector is removed. 'merge' merges it with another one, at the
        smallest error (Gaussian kernel only). 'project' projects it onto the span of the
        others; the time grows with the square of the budget. 'remove' drops it.
    reg : float > 0, default=1e-4
        Regularisation lambda. Good values: ``2 / n_samples`` for classification, a hundred
        times that for regression.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, compiled kernel or function, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package. A function of two matrices of rows returns their
        matrix of kernel values, some five times slower than a compiled one. See
        docs/extending.md. Both have their own parameters: `gamma`, `degree` and `coef0` then stay
        at their defaults.

        ``maintenance='merge'``, the default, takes the Gaussian kernel alone.
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
        Largest number of support vectors B.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'margin', 'ovr'}, default='margin'
        For more than two classes: 'margin' compares the true class with its strongest rival, as the
        paper does (section 6 there), 'ovr' solves one binary problem per class. All classes share
        one set of support vectors.
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
    The smallest support vector has the smallest Euclidean norm of its coefficients (with one
    output, the smallest absolute value). The hinge makes many of them equal; then the oldest one is
    removed. Coefficients are stored as ``-l' / reg`` under a common factor of exactly ``1 / t``, so
    that equal ones stay equal. Merging replaces two vectors by ``z = h x_m + (1 - h) x_n`` with the
    coefficients ``alpha_m kappa(z, x_m) + alpha_n kappa(z, x_n)``; h minimises the squared error,
    summed over the outputs. A partner must have coefficients at an acute angle to those of the
    smallest (with one output, the same sign); if there is none, the vector is dropped. A table of
    lower bounds of the errors, an idea of [2]_, skips most pairs; the merged pair is still the best
    one. Projections use ``kappa + 1e-5`` on the diagonal.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] Z. Wang, K. Crammer, S. Vucetic (2012). Breaking the curse of kernelization: budgeted
       stochastic gradient descent for large-scale SVM training. Journal of Machine Learning
       Research 13, 3103-3131.
    .. [2] T. Glasmachers, S. Qaadan (2018). Speeding up budgeted stochastic gradient descent SVM
       training with precomputed golden section search. arXiv:1806.10180.

    Examples
    --------
    >>> from onlinekern import BSGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BSGDClassifier(gamma=0.4, reg=0.01, budget=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_
    (True, 50)
    """

    multi_class: Literal["ovr", "margin"] = "margin"

    def _rule(self) -> Any:
        return RULES["inverse_time"](LOSSES["hinge"](), self.reg)


@estimator
class BSGDRegressor(OnlineRegressor, BSGD):
    """Budgeted stochastic gradient descent (BSGD) for regression.

    The model and its maintenance are those of `BSGDClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
    loss : {'absolute', 'epsilon_insensitive'}, default='absolute'
        The loss to minimise. Its slope is at most 1, so that outliers take no longer steps than
        other samples.
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss in 'epsilon_insensitive'; in standard deviations
        of y.
    max_step : float > 0 or None, default=0.5
        Cap on the size of a step, ``|l'| / (reg t)`` times the weight, in standard deviations of
        y. Without it (None) the first predictions are far off: the first step has length
        ``1 / reg``.
    maintenance : {'merge', 'project', 'remove'}, default='merge'
        How the smallest support vector is removed. 'merge' merges it with another one, at the
        smallest error (Gaussian kernel only). 'project' projects it onto the span of the
        others; the time grows with the square of the budget. 'remove' drops it.
    reg : float > 0, default=0.01
        Regularisation lambda. Good values: ``2 / n_samples`` for classification, a hundred
        times that for regression.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, compiled kernel or function, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance. A compiled
        kernel may come from another package. A function of two matrices of rows returns their
        matrix of kernel values, some five times slower than a compiled one. See
        docs/extending.md. Both have their own parameters: `gamma`, `degree` and `coef0` then stay
        at their defaults.

        ``maintenance='merge'``, the default, takes the Gaussian kernel alone.
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
        Largest number of support vectors B.
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
    The smallest support vector has the smallest Euclidean norm of its coefficients (with one
    output, the smallest absolute value). The hinge makes many of them equal; then the oldest one is
    removed. Coefficients are stored as ``-l' / reg`` under a common factor of exactly ``1 / t``, so
    that equal ones stay equal. Merging replaces two vectors by ``z = h x_m + (1 - h) x_n`` with the
    coefficients ``alpha_m kappa(z, x_m) + alpha_n kappa(z, x_n)``; h minimises the squared error,
    summed over the outputs. A partner must have coefficients at an acute angle to those of the
    smallest (with one output, the same sign); if there is none, the vector is dropped. A table of
    lower bounds of the errors, an idea of [2]_, skips most pairs; the merged pair is still the best
    one. Projections use ``kappa + 1e-5`` on the diagonal.

    The steps do not depend on the scale of the target, and there is no intercept but its mean:
    without `standardize_target`, centre it, and scale it to a range of about 1.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] Z. Wang, K. Crammer, S. Vucetic (2012). Breaking the curse of kernelization: budgeted
       stochastic gradient descent for large-scale SVM training. Journal of Machine Learning
       Research 13, 3103-3131.
    .. [2] T. Glasmachers, S. Qaadan (2018). Speeding up budgeted stochastic gradient descent SVM
       training with precomputed golden section search. arXiv:1806.10180.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import BSGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = BSGDRegressor(gamma=1.0, budget=30, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    loss: Literal["absolute", "epsilon_insensitive"] = "absolute"
    epsilon: NotNegative = 0.1
    reg: Positive = 1e-2
    max_step: Positive | None = 0.5

    def _rule(self) -> Any:
        cap = () if self.max_step is None else (self.max_step,)
        return RULES["inverse_time"](loss_of(self), self.reg, *cap)
