"""Linear learners of the second order on features of a kernel: AROW, SCW, logistic regression.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from typing import Annotated, Any, Literal

import numpy as np

from onlinekern.core import COVARIANCES, LOSSES, RULES, SAMPLERS
from onlinekern.core.base.random import Generator
from onlinekern.core.models.mapped_second_order import MappedSecondOrderSpace
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.features import (
    FeatureEstimator,
    constants_of_outputs,
    weights_of_features,
)
from onlinekern.estimators.linear import WEIGHT_BYTES, check_memory, warn_of_degeneration
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import Average, Count, Positive, estimator
from onlinekern.estimators.scikit_learn import StrOptions
from onlinekern.estimators.types import Floats
from onlinekern.learners.second_order import Confidence
from onlinekern.learners.spa import loss_proportional


@estimator
class KernelSecondOrder(FeatureEstimator):
    """Mixin of learners with weights of features and their covariance; a subclass has the steps."""

    covariance: Annotated[str, StrOptions(set(COVARIANCES))] = "shared"
    sketch_size: Count = 50
    gate: Literal["margin", "loss_proportional"] = "margin"
    alpha: Positive = 1.0
    beta: Positive = 1.0
    weighted: bool = False
    average: Average = False

    _calls_blas = True
    coef_ = property(weights_of_features)
    intercept_ = property(constants_of_outputs)

    def _n_bytes(self, form: Form) -> int:
        # Each weight has at least a variance.
        n_weights = self._length(form.n_features) * form.n_outputs * (2 + bool(self.average))
        features = super()._n_bytes(form)
        return features + WEIGHT_BYTES * n_weights

    def _sampler(self) -> Any:
        if self.gate != "loss_proportional":
            return SAMPLERS["always"]()
        return loss_proportional(self.alpha, self.beta, self.weighted)

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        self._warned = False
        sizes = (self.sketch_size,) if self.covariance == "sketched" else ()
        check_memory(self.covariance, n_outputs, features.length, *sizes)
        covariance = COVARIANCES[self.covariance](n_outputs, features.length, *sizes)
        return MappedSecondOrderSpace(features, n_outputs, self.average, covariance=covariance)

    def _next_calls_blas(self) -> bool:
        return self.covariance == "sketched"

    def _finish(self) -> None:
        warn_of_degeneration(self)

    @property
    def covariance_(self) -> Floats:
        """Covariances of the last weights: (n_outputs, n), (n_outputs, n, n) or (1, n, n)."""
        array, places = self._read(lambda space: (space.covariance.to_array(), space.positions()))
        if array.ndim == 2:
            return np.ascontiguousarray(array[:, places])
        return array[:, places[:, None], places]


@estimator
class KernelAROWClassifier(OnlineClassifier, KernelSecondOrder):
    """Adaptive regularisation of weights (AROW) on explicit features of a kernel.

    `AROWClassifier` on ``phi = [x / sqrt(d), 1, z(x)]``, with Nystroem or random Fourier features z
    of a kernel: the weights are a Gaussian N(mu, S), at first N(0, I). A sample with hinge loss l >
    0 gives ``beta = 1 / (phi'S phi + r)``, ``mu <- mu + y l beta S phi`` and ``S <- S - beta (S
    phi)(S phi)'`` [1]_. With two classes and a whole matrix these are the decisions of
    `KernelRLSClassifier` with ``reg = r``, which learns in blocks and is faster; here the
    covariance may also be a diagonal or a sketch, or one of each class (see docs/accuracy.md).

    Parameters
    ----------
    r : float > 0, default=0.1
        The noise of a target: the larger, the smaller the steps. Values from 0.03 to 0.3 do much
        the same; less suits few and clean labels.
    covariance : {'shared', 'full', 'diagonal', 'sketched'}, default='shared'
        What is kept of S, of D features (`n_components`, and n_features + 1 with `linear`).
        'shared' keeps one symmetric matrix for all classes, ``D^2`` operations for each sample that
        enters and ``16 D^2`` bytes; 'full' one for each class. 'diagonal' keeps a variance for each
        weight: the fastest, and good with Nystroem features, which are nearly uncorrelated, but not
        with 'fourier'. 'sketched' keeps one matrix for all classes whose inverse is a diagonal and
        `sketch_size` directions (frequent directions [2]_): between the two in time and error. A
        MemoryError says when the matrices do not fit into the available memory.
    sketch_size : int >= 1, default=50
        Number of directions that 'sketched' keeps. With D of them S is exact.
    gate : {'margin', 'loss_proportional'}, default='margin'
        Which samples enter. 'margin': those that the rule moves the weights for.
        'loss_proportional': of these, by lot, with the probability ``min(alpha, loss) / beta``
        of SPA [3]_, of the hinge loss. On long streams that halves the time for about the same
        error.
    alpha : float > 0, default=1.0
        With ``gate="loss_proportional"``, the loss above which the probability of entering no
        longer grows.
    beta : float >= alpha, default=1.0
        With ``gate="loss_proportional"``, the larger it is, the fewer samples enter.
    weighted : bool, default=False
        With ``gate="loss_proportional"``, whether a sample that entered with probability p has the
        weight ``1 / p``, as in SPA, or 1.
    features : {'nystroem', 'fourier'}, default='nystroem'
        The features of the kernel. 'nystroem': for landmarks l_1 ... l_m among the samples learnt,
        with kernel matrix ``K = L L'``, ``z(x) = L^-1 [kappa(l_1, x), ..., kappa(l_m, x)]``. A new
        landmark adds a feature and leaves the others unchanged, so the model grows without a second
        pass. 'fourier': cosines and sines of random orthogonal frequencies; for the Gaussian and
        Laplacian kernels (plain frequencies for the latter; hashed ones, see `FOGDClassifier`, for
        more than 2^14 features where their matrix would have more than 2^25 numbers).
    n_components : int >= 1, default=400
        Features of the kernel: the largest number of landmarks, or twice the number of
        frequencies. The cost of a sample that enters grows with its square, that of a
        prediction linearly ('fourier') or with the square. 400 is where the error of most
        streams of 10,000 samples is near its least; 1,000 and more pay on longer ones.
    selection : {'first', 'margin', 'ald'}, default='first'
        Which samples become landmarks of the Nystroem features. 'first': the first samples, except
        repeated ones. 'margin', 'ald': samples that enter, or all samples, whose part outside of
        the span of the landmarks so far has a squared length above `novelty` times ``kappa(x, x)``.
        'first' is hard to beat at an equal number of landmarks; 'margin' often needs fewer.
    novelty : float in (0, 1), default=0.05
        Threshold of `selection`; 'first' does not use it.
    linear : bool, default=True
        Whether ``x / sqrt(n_features)`` and a constant stand beside the features of the kernel.
        The cost grows with n_features too; use False for samples of many features.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance.
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
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all mu so far; False predicts with the last one. True is
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
    coef_ : ndarray of shape (n_outputs, n), float64
        Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features, of the
        model that predicts; n_outputs is 1 for two classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants of the outputs, 0 without `linear`.
    covariance_ : ndarray of shape (n_outputs, D), or (n_outputs, D, D) if full, float64
        The variances, or S; of shape (1, D, D) if shared or sketched. In the order of `coef_`;
        the constant comes last.
    landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
        With features='nystroem', the landmarks in the order in which they came, in the dtype of the
        samples.
    frequencies_ : ndarray of shape (n_components / 2, n_features)
        With features='fourier', the frequencies, in the dtype of the samples.
    gamma_ : float
        The kernel width in use.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    cumulative_loss_ : float
        Sum of weight times hinge loss; the loss of a sample is taken before it is learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Scale the features: the width of the kernel, and the prior of the linear weights, are the
    same in all of them. A landmark that appears in mid-stream has a weight of 0 and a variance
    of 1, as if it had been there from the start. Whether a sample becomes one is decided before
    its step; for ``selection="margin"`` a sample enters if its hinge loss is above 0 and the
    gate lets it pass. A shared S is contracted once per sample, by the largest beta of the
    classes that move, with ``multi_class="margin"`` by that of the pair, whose variance is
    ``2 z'S z``.

    A contraction beta adds ``c z z'`` to the inverse of S, ``c = beta / (1 - beta z'S z)``. The
    sketch keeps the leading directions of the sum of these, and of the rest the diagonal, so that
    the inverse of S has the true diagonal, and S stays positive.

    A `sample_weight` divides r.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.
    .. [2] M. Ghashami, E. Liberty, J. M. Phillips, D. P. Woodruff (2016). Frequent directions:
       simple and deterministic matrix sketching. SIAM Journal on Computing 45, 1762-1792.
    .. [3] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import KernelAROWClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelAROWClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.92)
    True
    """

    r: Positive = 0.1

    def _rule(self) -> Any:
        return RULES["arow"](self._plain_loss(), self.r)


@estimator
class KernelSCWClassifier(OnlineClassifier, KernelSecondOrder):
    """Soft confidence-weighted learning (SCW) on explicit features of a kernel.

    `SCWClassifier` on ``phi = [x / sqrt(d), 1, z(x)]``, with Nystroem or random Fourier features z
    of a kernel: the weights are a Gaussian N(mu, S), at first N(0, I). A sample that is classified
    correctly with a probability of less than `confidence` moves it, by the alpha and beta of SCW-I
    or SCW-II [1]_: ``mu <- mu + alpha y S phi``, ``S <- S - beta (S phi)(S phi)'``.

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness: the cost of a violation. Use less for noisy labels.
    variant : {'scw1', 'scw2'}, default='scw1'
        A linear or a quadratic cost of a violation.
    confidence : float in (0.5, 1), default=0.75
        eta of the paper: the probability with which a sample should be correct. With 0.5 nothing
        would be learnt.
    covariance : {'shared', 'full', 'diagonal', 'sketched'}, default='shared'
        What is kept of S, of D features (`n_components`, and n_features + 1 with `linear`).
        'shared' keeps one symmetric matrix for all classes, ``D^2`` operations for each sample that
        enters and ``16 D^2`` bytes; 'full' one for each class. 'diagonal' keeps a variance for each
        weight: the fastest, and good with Nystroem features, which are nearly uncorrelated, but not
        with 'fourier'. 'sketched' keeps one matrix for all classes whose inverse is a diagonal and
        `sketch_size` directions (frequent directions [2]_): between the two in time and error. A
        MemoryError says when the matrices do not fit into the available memory.
    sketch_size : int >= 1, default=50
        Number of directions that 'sketched' keeps. With D of them S is exact.
    gate : {'margin', 'loss_proportional'}, default='margin'
        Which samples enter. 'margin': those that the rule moves the weights for.
        'loss_proportional': of these, by lot, with the probability ``min(alpha, loss) / beta``
        of SPA [3]_, of the hinge loss. On long streams that halves the time for about the same
        error.
    alpha : float > 0, default=1.0
        With ``gate="loss_proportional"``, the loss above which the probability of entering no
        longer grows.
    beta : float >= alpha, default=1.0
        With ``gate="loss_proportional"``, the larger it is, the fewer samples enter.
    weighted : bool, default=False
        With ``gate="loss_proportional"``, whether a sample that entered with probability p has the
        weight ``1 / p``, as in SPA, or 1.
    features : {'nystroem', 'fourier'}, default='nystroem'
        The features of the kernel. 'nystroem': for landmarks l_1 ... l_m among the samples learnt,
        with kernel matrix ``K = L L'``, ``z(x) = L^-1 [kappa(l_1, x), ..., kappa(l_m, x)]``. A new
        landmark adds a feature and leaves the others unchanged, so the model grows without a second
        pass. 'fourier': cosines and sines of random orthogonal frequencies; for the Gaussian and
        Laplacian kernels (plain frequencies for the latter; hashed ones, see `FOGDClassifier`, for
        more than 2^14 features where their matrix would have more than 2^25 numbers).
    n_components : int >= 1, default=400
        Features of the kernel: the largest number of landmarks, or twice the number of
        frequencies. The cost of a sample that enters grows with its square, that of a
        prediction linearly ('fourier') or with the square. 400 is where the error of most
        streams of 10,000 samples is near its least; 1,000 and more pay on longer ones.
    selection : {'first', 'margin', 'ald'}, default='first'
        Which samples become landmarks of the Nystroem features. 'first': the first samples, except
        repeated ones. 'margin', 'ald': samples that enter, or all samples, whose part outside of
        the span of the landmarks so far has a squared length above `novelty` times ``kappa(x, x)``.
        'first' is hard to beat at an equal number of landmarks; 'margin' often needs fewer.
    novelty : float in (0, 1), default=0.05
        Threshold of `selection`; 'first' does not use it.
    linear : bool, default=True
        Whether ``x / sqrt(n_features)`` and a constant stand beside the features of the kernel.
        The cost grows with n_features too; use False for samples of many features.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance.
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
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all mu so far; False predicts with the last one. True is
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
    coef_ : ndarray of shape (n_outputs, n), float64
        Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features, of the
        model that predicts; n_outputs is 1 for two classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants of the outputs, 0 without `linear`.
    covariance_ : ndarray of shape (n_outputs, D), or (n_outputs, D, D) if full, float64
        The variances, or S; of shape (1, D, D) if shared or sketched. In the order of `coef_`;
        the constant comes last.
    landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
        With features='nystroem', the landmarks in the order in which they came, in the dtype of the
        samples.
    frequencies_ : ndarray of shape (n_components / 2, n_features)
        With features='fourier', the frequencies, in the dtype of the samples.
    gamma_ : float
        The kernel width in use.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    cumulative_loss_ : float
        Sum of weight times hinge loss; the loss of a sample is taken before it is learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Scale the features: the width of the kernel, and the prior of the linear weights, are the
    same in all of them. A landmark that appears in mid-stream has a weight of 0 and a variance
    of 1, as if it had been there from the start. Whether a sample becomes one is decided before
    its step; for ``selection="margin"`` a sample enters if its hinge loss is above 0 and the
    gate lets it pass. A shared S is contracted once per sample, by the largest beta of the
    classes that move, with ``multi_class="margin"`` by that of the pair, whose variance is
    ``2 z'S z``.

    A contraction beta adds ``c z z'`` to the inverse of S, ``c = beta / (1 - beta z'S z)``. The
    sketch keeps the leading directions of the sum of these, and of the rest the diagonal, so that
    the inverse of S has the true diagonal, and S stays positive.

    A `sample_weight` multiplies C.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. C. H. Hoi (2012). Exact soft confidence-weighted learning.
       International Conference on Machine Learning, 121-128.
    .. [2] M. Ghashami, E. Liberty, J. M. Phillips, D. P. Woodruff (2016). Frequent directions:
       simple and deterministic matrix sketching. SIAM Journal on Computing 45, 1762-1792.
    .. [3] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import KernelSCWClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelSCWClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.9)
    True
    """

    C: Positive = 1.0
    variant: Literal["scw1", "scw2"] = "scw1"
    confidence: Confidence = 0.75

    def _rule(self) -> Any:
        return RULES[self.variant](self._plain_loss(), self.confidence, self.C)


@estimator
class KernelLogisticClassifier(OnlineClassifier, KernelSecondOrder):
    """Logistic regression on explicit features of a kernel, by online Newton steps.

    The model is that of `KernelAROWClassifier`: weights of ``phi = [x / sqrt(d), 1, z(x)]``, which
    are a Gaussian N(mu, S), at first N(0, I). Two classes have the loss ``ln(1 + exp(-y f))``, and
    several classes one loss together, that of the softmax p of their scores, ``-ln p_y``. A sample
    moves mu to the minimum of ``(mu - mu_t)'S^-1 (mu - mu_t) / 2 + loss / r``, and its curvature
    there, ``p (1 - p) / r``, times ``phi phi'``, is added to the inverse of S [1]_, [4]_. Scores
    are log odds; `predict_proba` calibrates them as those of any learner of a stream, for after few
    samples they are too sure.

    Parameters
    ----------
    r : float > 0, default=0.03
        Divides the losses: the ridge of the weights is ``r / 2``. The larger, the smaller the
        steps and the less sure the scores. 0.3 and more suit few and noisy samples.
    covariance : {'shared', 'full', 'diagonal', 'sketched'}, default='shared'
        What is kept of S, of D features (`n_components`, and n_features + 1 with `linear`).
        'shared' keeps one symmetric matrix for all classes, ``D^2`` operations for each sample that
        enters and ``16 D^2`` bytes; 'full' one for each class. 'diagonal' keeps a variance for each
        weight: the fastest, and good with Nystroem features, which are nearly uncorrelated, but not
        with 'fourier'. 'sketched' keeps one matrix for all classes whose inverse is a diagonal and
        `sketch_size` directions (frequent directions [2]_): between the two in time and error. A
        MemoryError says when the matrices do not fit into the available memory.
    sketch_size : int >= 1, default=50
        Number of directions that 'sketched' keeps. With D of them S is exact.
    gate : {'all', 'loss_proportional'}, default='all'
        Which samples enter. 'all': each sample, for every one has a loss. 'loss_proportional': by
        lot, with the probability ``min(alpha, loss) / beta`` of SPA [3]_: faster, with `weighted`
        at somewhat worse probabilities, and without it at wrong ones.
    alpha : float > 0, default=1.0
        With ``gate="loss_proportional"``, the loss above which the probability of entering no
        longer grows.
    beta : float >= alpha, default=1.0
        With ``gate="loss_proportional"``, the larger it is, the fewer samples enter.
    weighted : bool, default=True
        With ``gate="loss_proportional"``, whether a sample that entered with probability p has the
        weight ``1 / p``, as in SPA, or 1.
    features : {'nystroem', 'fourier'}, default='nystroem'
        The features of the kernel. 'nystroem': for landmarks l_1 ... l_m among the samples learnt,
        with kernel matrix ``K = L L'``, ``z(x) = L^-1 [kappa(l_1, x), ..., kappa(l_m, x)]``. A new
        landmark adds a feature and leaves the others unchanged, so the model grows without a second
        pass. 'fourier': cosines and sines of random orthogonal frequencies; for the Gaussian and
        Laplacian kernels (plain frequencies for the latter; hashed ones, see `FOGDClassifier`, for
        more than 2^14 features where their matrix would have more than 2^25 numbers).
    n_components : int >= 1, default=400
        Features of the kernel: the largest number of landmarks, or twice the number of
        frequencies. The cost of a sample that enters grows with its square, that of a
        prediction linearly ('fourier') or with the square. 400 is where the error of most
        streams of 10,000 samples is near its least; 1,000 and more pay on longer ones.
    selection : {'first', 'margin', 'ald'}, default='first'
        Which samples become landmarks of the Nystroem features. 'first': the first samples, except
        repeated ones. 'margin', 'ald': samples that enter, or all samples, whose part outside of
        the span of the landmarks so far has a squared length above `novelty` times ``kappa(x, x)``.
        'first' is hard to beat at an equal number of landmarks; 'margin' often needs fewer.
    novelty : float in (0, 1), default=0.05
        Threshold of `selection`; 'first' does not use it.
    linear : bool, default=True
        Whether ``x / sqrt(n_features)`` and a constant stand beside the features of the kernel.
        The cost grows with n_features too; use False for samples of many features.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance.
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
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all mu so far; False predicts with the last one. True is
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
    multi_class : {'softmax', 'ovr'}, default='softmax'
        For more than two classes: 'softmax' learns them together, by one loss; 'ovr' solves one
        binary problem per class, which is worse on most sets (docs/accuracy.md). All classes share
        the features.
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
    coef_ : ndarray of shape (n_outputs, n), float64
        Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features, of the
        model that predicts; n_outputs is 1 for two classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants of the outputs, 0 without `linear`.
    covariance_ : ndarray of shape (n_outputs, D), or (n_outputs, D, D) if full, float64
        The variances, or S; of shape (1, D, D) if shared or sketched. In the order of `coef_`;
        the constant comes last.
    landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
        With features='nystroem', the landmarks in the order in which they came, in the dtype of the
        samples.
    frequencies_ : ndarray of shape (n_components / 2, n_features)
        With features='fourier', the frequencies, in the dtype of the samples.
    gamma_ : float
        The kernel width in use.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Scale the features: the width of the kernel, and the prior of the linear weights, are the
    same in all of them. A landmark that appears in mid-stream has a weight of 0 and a variance
    of 1, as if it had been there from the start. Whether a sample becomes one is decided before
    its step; every sample has a loss, so ``selection="margin"`` asks all that the gate lets pass.

    The minimum is on ``mu_k + a_k S phi``, so it is one equation for the scores, which is solved to
    rounding. With ``c = phi'S phi / r``, two classes have the margin ``m + c p`` after the step, p
    the probability of the other class, and several have the scores ``f_k + c (1[k = y] - p_k)``.
    A step along the gradient at the old score, as in [1]_, overshoots where the model is sure and
    wrong.

    The curvature of the softmax is the matrix ``diag(p) - p p'``. Its diagonal is what the matrices
    of 'full' and the variances of 'diagonal' get, each its own entry; a shared S gets the largest.
    Its bounds, Boehning's 1/2 and twice the largest entry, make S too small: on five sets of
    several classes their log loss is never smaller, and up to 1.7 times as large (table in
    docs/families/second_order.md).

    A contraction beta adds ``c z z'`` to the inverse of S, ``c = beta / (1 - beta z'S z)``. The
    sketch keeps the leading directions of the sum of these, and of the rest the diagonal, so that
    the inverse of S has the true diagonal, and S stays positive.

    A `sample_weight` divides r.

    References
    ----------
    .. [1] D. Calandriello, A. Lazaric, M. Valko (2017). Efficient second-order online kernel
       learning with adaptive embedding. Advances in Neural Information Processing Systems 30.
    .. [2] M. Ghashami, E. Liberty, J. M. Phillips, D. P. Woodruff (2016). Frequent directions:
       simple and deterministic matrix sketching. SIAM Journal on Computing 45, 1762-1792.
    .. [3] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.
    .. [4] R. Jézéquel, P. Gaillard, A. Rudi (2020). Efficient improper learning for online logistic
       regression. Conference on Learning Theory, 2085-2108.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import KernelLogisticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelLogisticClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.92)
    True
    >>> chances = model.predict_proba(X[1200:])
    >>> bool(chances[range(597), y[1200:]].mean() > 0.8)
    True
    """

    r: Positive = 0.03
    gate: Literal["all", "loss_proportional"] = "all"  # type: ignore[assignment]
    weighted: bool = True
    multi_class: Literal["softmax", "ovr"] = "softmax"  # type: ignore[assignment]

    def _rule(self) -> Any:
        return RULES["logistic_newton"](LOSSES["logistic"](), self.r)
