"""DualSGD: a budget of support vectors; evicted ones move into random features."""

from typing import Any, ClassVar, Literal

import numpy as np

from onlinekern.core import POLICIES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.dual_sgd import DualSpace
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.features import (
    DistanceKernel,
    Frequencies,
    fourier_map,
    frequencies_of,
    frequency_bytes,
)
from onlinekern.estimators.gradient import loss_of
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.median_width import width_of
from onlinekern.estimators.memory import Form, check_size
from onlinekern.estimators.parameters import Average, Count, NotNegative, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.types import Floats


@estimator
class DualSGD(KernelEstimator):
    """Mixin of learners with gradient steps of 1 / (reg t) and k-merging into random features."""

    # These are parameters of kernels that do not fall with the distance.
    degree: ClassVar[int] = 3  # type: ignore[misc]
    coef0: ClassVar[float] = 0.0  # type: ignore[misc]
    kernel: DistanceKernel = "gaussian"
    loss: str = "hinge"
    reg: Positive = 1e-4
    n_components: Count = 200
    merge_size: Count = 20
    frequencies: Frequencies = "auto"
    fit_intercept: bool = False
    max_step: Positive | None = None
    budget: Count = 100
    average: Average = False

    _size = "n_components"

    def _n_bytes(self, form: Form) -> int:
        return frequency_bytes(self, form.n_features)

    def _features(self, X: Any, draws: np.random.RandomState) -> Any:
        self.gamma_ = width_of(self, X)
        return fourier_map(self, self.gamma_, X, draws)

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        if self.merge_size > self.budget:
            raise ValueError(
                f"merge_size must be at most budget, got merge_size={self.merge_size} "
                f"and budget={self.budget}"
            )
        # The queue of the support vectors has a copy, which undoes a failed call.
        check_size("budget", self.budget, 2 * 8 * self.budget)
        support = self._kernel_support(X, n_outputs)
        budget = POLICIES["merge_into_features"](
            features, self.budget, self.merge_size, bool(self.fit_intercept)
        )
        return DualSpace(support, budget)

    def _rule(self) -> Any:
        cap = () if self.max_step is None else (self.max_step,)
        return RULES["inverse_time"](loss_of(self), self.reg, *cap)

    @property
    def frequencies_(self) -> Floats:
        """Random frequencies, ndarray of shape (n_components, n_features)."""
        return self._read(lambda space: frequencies_of(space.budget.map))

    @property
    def provision_coef_(self) -> Floats:
        """Weights of the features, cosines first, ndarray of shape (n_outputs, 2 n_components)."""
        return self._read_in_units(
            lambda space: space.budget.coefficients()[0][:, space.budget.map.columns()]
        )

    @property
    def intercept_(self) -> Floats:
        """Offsets of the outputs, ndarray of shape (n_outputs,)."""
        return self._read_in_units(lambda space: space.budget.coefficients()[1], mean=True)


@estimator
class DualSGDClassifier(OnlineClassifier, DualSGD):
    """Dual Space Gradient Descent (DualSGD): a budget of support vectors and random features.

    The model is ``f(x) = sum_i a_i kappa(x_i, x) + w . z(x)`` with a kernel kappa and random
    Fourier features z that approximate it. At step t all coefficients and weights shrink by ``1 -
    1/t``, and a sample whose loss has a slope is added with coefficient ``-l'(f, y) / (reg t)``.
    When there are more than `budget` support vectors, the `merge_size` smallest ones move into w by
    ``w <- w + sum_i a_i z(x_i)`` (k-merging, algorithms 1 and 2 of [1]_), so that they still count
    in f.

    Parameters
    ----------
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge'.
    loss : {'hinge', 'logistic', 'smooth_hinge'}, default='hinge'
        Loss that the steps descend.
    reg : float > 0, default=1e-4
        Regularisation lambda. Good values: ``2 / n_samples`` for classification, a hundred
        times that for regression.
    n_components : int >= 1, default=200
        Random frequencies, D of the paper; each gives a cosine and a sine.
    merge_size : int in [1, budget], default=20
        Number of support vectors that move into the features together, k of the paper.
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
        Whether to learn an offset, see Notes. The paper has none.
    max_step : float > 0 or None, default=None
        Cap on the size of a step, ``|l'| / (reg t)`` times the weight.
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
    budget : int >= 1, default=100
        Largest number of support vectors, B of the paper.
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
    multi_class : {'margin', 'ovr'}, default='margin'
        For more than two classes: 'margin' compares the true class with its strongest rival, as the
        paper does, 'ovr' solves one binary problem per class. All classes share the support vectors
        and features.
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
    frequencies_ : ndarray of shape (n_components, n_features)
        The frequencies, in the dtype of the samples, drawn before the first one, from ``N(0, 2
        gamma_ I)`` for the Gaussian kernel. Hashed and structured ones are computed when you ask;
        MemoryError if there is no room for them.
    provision_coef_ : ndarray of shape (n_outputs, 2 * n_components), float64
        Weights w of the model that predicts: cosines first, then sines.
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets of the outputs, 0 without `fit_intercept`.

    Notes
    -----
    The smallest support vectors are those of smallest absolute coefficient (with several outputs,
    of smallest Euclidean norm). The hinge makes many of them equal; then the oldest ones move
    first. Coefficients are stored as ``-l' / reg`` under a common factor of exactly ``1 / t``, so
    that equal ones stay equal. With `fit_intercept` the kernel is ``kappa + 1``: the offset is the
    sum of all steps, and shrinks. With `average`, a support vector that has moved is replaced by
    its features in every averaged model.

    A public implementation draws frequencies of standard deviation ``2 gamma``, which do not belong
    to the Gaussian kernel. Here it is ``sqrt(2 gamma)``, which also makes fewer mistakes.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] T. Le, T. D. Nguyen, V. Nguyen, D. Phung (2016). Dual space gradient descent for online
       learning. Advances in Neural Information Processing Systems 29, 4583-4591.

    Examples
    --------
    >>> from onlinekern import DualSGDClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = DualSGDClassifier(gamma=0.4, reg=0.01, loss="logistic", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.n_support_ <= 100
    (True, True)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    loss: Literal["hinge", "logistic", "smooth_hinge"] = "hinge"
    delta: Positive = 1.0
    multi_class: Literal["ovr", "margin"] = "margin"


@estimator
class DualSGDRegressor(OnlineRegressor, DualSGD):
    """Dual Space Gradient Descent (DualSGD) for regression.

    The model and its learning are those of `DualSGDClassifier`, with a loss of regression [1]_.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss in 'epsilon_insensitive'; in standard deviations
        of y.
    loss : {'absolute', 'epsilon_insensitive'}, default='absolute'
        The loss to minimise. Its slope is at most 1, so that outliers take no longer steps than
        other samples.
    reg : float > 0, default=0.01
        Regularisation lambda. Good values: ``2 / n_samples`` for classification, a hundred
        times that for regression.
    n_components : int >= 1, default=200
        Random frequencies, D of the paper; each gives a cosine and a sine.
    merge_size : int in [1, budget], default=20
        Number of support vectors that move into the features together, k of the paper.
    frequencies : {'auto', 'plain', 'orthogonal', 'structured', 'hashed'}, default='auto'
        How the frequencies are drawn. 'plain' draws a matrix of independent frequencies,
        n_components x n_features. 'orthogonal' makes the directions of each n_features of them
        orthogonal (Yu et al. 2016), which approximates the kernel better; it needs the Gaussian
        kernel. 'structured' multiplies by Hadamard matrices instead, in O(n_components log
        n_features): for dense samples of some 100 features or more, and the Gaussian kernel.
        'hashed' finds each frequency in a table of random numbers by a hash: for sparse samples of
        any number of features, in memory that does not depend on it. 'auto' is 'plain', and
        'hashed' for more than 2^14 features where the matrix would have more than 2^25 numbers.
    fit_intercept : bool, default=True
        Whether to learn an offset, see Notes. Without one, a target whose mean is far from 0 may be
        predicted worse than by its mean.
    max_step : float > 0 or None, default=0.5
        Cap on the size of a step, ``|l'| / (reg t)`` times the weight, in standard deviations of
        y. Without it (None) the first predictions are far off: the first step has length
        ``1 / reg``.
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
    budget : int >= 1, default=100
        Largest number of support vectors, B of the paper.
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
    frequencies_ : ndarray of shape (n_components, n_features)
        The frequencies, in the dtype of the samples, drawn before the first one, from ``N(0, 2
        gamma_ I)`` for the Gaussian kernel. Hashed and structured ones are computed when you ask;
        MemoryError if there is no room for them.
    provision_coef_ : ndarray of shape (n_outputs, 2 * n_components), float64
        Weights w of the model that predicts: cosines first, then sines.
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets of the outputs, 0 without `fit_intercept`.

    Notes
    -----
    The smallest support vectors are those of smallest absolute coefficient (with several outputs,
    of smallest Euclidean norm). The hinge makes many of them equal; then the oldest ones move
    first. Coefficients are stored as ``-l' / reg`` under a common factor of exactly ``1 / t``, so
    that equal ones stay equal. With `fit_intercept` the kernel is ``kappa + 1``: the offset is the
    sum of all steps, and shrinks. With `average`, a support vector that has moved is replaced by
    its features in every averaged model.

    The slope of these losses is -1, 0 or 1, so the steps do not depend on the scale of the target,
    which must be about 1 where `standardize_target` does not see to it. On four data sets of 20,000
    samples with targets in [0, 1] (kin40k, cadata, protein, airlines), not standardised, ``reg =
    256 / n_samples`` with an offset and ``max_step=0.1`` was best or close to it.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] T. Le, T. D. Nguyen, V. Nguyen, D. Phung (2016). Dual space gradient descent for online
       learning. Advances in Neural Information Processing Systems 29, 4583-4591.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import DualSGDRegressor
    >>> X = np.linspace(0, 6, 2000)[:, None]
    >>> model = DualSGDRegressor(gamma=1.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    loss: Literal["absolute", "epsilon_insensitive"] = "absolute"
    epsilon: NotNegative = 0.1
    reg: Positive = 1e-2
    fit_intercept: bool = True
    max_step: Positive | None = 0.5
