"""Learners on a budget that solve with the Gram matrix of their support vectors."""

from typing import Any, Literal

import numpy as np

from onlinekern.core import POLICIES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.budgets.projectron import budget_price
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import OF_NEW_MODELS, Count, Positive, estimator
from onlinekern.estimators.types import Floats

# Where more of the support vectors are contradicted, labels are noisy.
MOST_CONTRADICTED = 0.3


@estimator
class ProjectronClassifier(OnlineClassifier, KernelEstimator):
    """Projectron and Projectron++: a Perceptron that projects onto the span of its support vectors.

    Let k_t be the kernel values of a sample with the support vectors and ``d = K^-1 k_t``. The
    distance of the sample from their span is ``delta = sqrt(kappa_tt - k_t . d)``. A mistake (``y f
    <= 0``) with ``delta > eta`` becomes a support vector, as long as the budget is not full. Any
    other mistake changes the coefficients of the support vectors, ``alpha <- alpha + y d``
    (algorithm 2 of [1]_).

    With `plus_plus`, samples with ``0 < y f < 1`` and hinge loss ``l > delta p`` are projected too
    (algorithm 3 there): ``alpha <- alpha + tau y d`` with ``tau = min(l, 2 (l - delta p)) / (k_t .
    d)``, at most 1. The price p of the distance is ``1 / eta``; with a budget it is ``sqrt((budget
    + 1) / ln(budget + 1)) / 4``.

    Parameters
    ----------
    plus_plus : bool, default=False
        Whether to learn from correct samples of small margin too (Projectron++).
    eta : float > 0, default=0.1
        Distance from the span up to which a mistake is projected. The smaller it is, the more
        support vectors there are, and the closer the model is to the Perceptron. With ``kappa(x, x)
        = 1`` distances are between 0 and 1.
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
    budget : int >= 1 or None, default=500
        Largest number of support vectors B. With None, `eta` alone bounds their number, on every
        bounded domain (theorem 1 there). An update takes time proportional to its square.
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
    `cumulative_loss_` sums ``max(0, -y f)``, with `plus_plus` the hinge. A `sample_weight` w
    multiplies the step of a mistake, and replaces 1 as the bound of tau. With more than two classes
    and 'margin', a sample stands for the difference of two vectors, one for the class and one for
    its rival: length and distance are ``sqrt(2)`` times the above.

    K is regularised: its inverse is that of ``K + 1e-8 I`` (``1e-5`` for float32 samples, whose
    kernel values are less exact). So repeated samples do no harm. The published accuracy of
    Projectron on cod-rna (83 to 85 %) comes from an inverse that broke down; this one reaches 91 to
    93 %.

    The Cholesky factor of K and its inverse are kept, 12 bytes for each of the ``n_support_^2``
    elements of K. When the budget is full, float32 samples are projected with an inverse in
    float32, unless a support vector is within 0.03 of the span of the others.

    References
    ----------
    .. [1] F. Orabona, J. Keshet, B. Caputo (2009). Bounded kernel-based online learning. Journal of
       Machine Learning Research 10, 2643-2666.

    Examples
    --------
    >>> from onlinekern import ProjectronClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = ProjectronClassifier(gamma=0.4, plus_plus=True, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.n_support_ < 100
    (True, True)
    """

    plus_plus: bool = False
    eta: Positive = 0.1
    budget: Count | None = 500

    def _rule(self) -> Any:
        return RULES["margin_perceptron"](bool(self.plus_plus))

    def _budget(self, rng: Generator) -> Any:
        price = 1 / self.eta if self.budget is None else budget_price(self.budget)
        joint = len(self.classes_) > 2 and self.multi_class == "margin"
        return POLICIES["projectron"](self.eta, self.budget or 0, price, joint)


@estimator
class BOLSSVMClassifier(OnlineClassifier, KernelEstimator):
    """Budget online learning of a least-squares support vector machine (BOLSSVM).

    The model ``f(x) = sum_i alpha_i kappa(x_i, x) + b`` is the least-squares machine of its support
    vectors,

    ``[[0, 1'], [1, K + I / C]] [b, alpha] = [0, y]``,

    whose inverse A^-1 is kept (section 3 of [1]_). A mislabelled sample becomes a support vector,
    which adds a row and a column to the inverse. When there are more than `budget` support vectors,
    the one of least ``|alpha_i / (A^-1)_ii|`` is evicted, which removes its row and column. That
    number is the error of the other support vectors at x_i. Samples of wrong labels would never
    leave so; see `removal`.

    Parameters
    ----------
    C : float > 0, default=10.0
        Weight of the squared errors against the norm of the model.
    removal : {'contradicted', 'redundant'}, default='contradicted'
        Who is evicted. 'redundant': the support vector that the others predict best, as in [1]_.
        Only mistakes enter: where labels are noisy, samples of wrong labels then fill the budget.
        'contradicted': if the others put more than 0.3 of the budget on the wrong side, the one
        that is furthest there, else the redundant one.
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
        An update takes time proportional to its square.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'margin', 'ovr'}, default='margin'
        With more than two classes there is one machine per class, with targets 1 and -1; all share
        one inverse. A sample is added when its class does not have the largest score ('margin'), or
        when any of the machines has it on the wrong side ('ovr').
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
    intercept_ : ndarray of shape (n_outputs,), float64
        Offsets b of the outputs.

    Notes
    -----
    With several outputs, the Euclidean norm over them replaces the absolute value. A
    `sample_weight` w replaces C by ``C w`` for its sample. `cumulative_loss_` sums ``max(0, -y
    f)``. The stored inverse is that of ``K + I / C``; that of the whole matrix follows from it. It
    is recomputed from time to time, so that rounding errors do not accumulate.

    References
    ----------
    .. [1] L. Jian, S. Shen, J. Li, X. Liang, L. Li (2017). Budget online learning algorithm for
       least squares SVM. IEEE Transactions on Neural Networks and Learning Systems 28, 2076-2087.

    Examples
    --------
    >>> from onlinekern import BOLSSVMClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = BOLSSVMClassifier(gamma=0.4, budget=200, random_state=0).fit(X, y)
    >>> bool(model.n_mistakes_ < 350), model.n_support_ <= 200
    (True, True)
    """

    C: Positive = 10.0
    removal: Literal["contradicted", "redundant"] = "contradicted"
    budget: Count = 500
    multi_class: Literal["ovr", "margin"] = "margin"

    _calls_blas = True
    _begins_with = OF_NEW_MODELS | {"C"}

    def _rule(self) -> Any:
        return RULES["perceptron"]()

    def _budget(self, rng: Generator) -> Any:
        # The inverse of the Gram matrix has a copy, which undoes a failed call.
        check_size("budget", self.budget, 2 * 8 * self.budget**2)
        share = MOST_CONTRADICTED if self.removal == "contradicted" else 1.0
        return POLICIES["bolssvm"](self.budget, float(self.C), share)

    @property
    def intercept_(self) -> Floats:
        """Offsets of the outputs, ndarray of shape (n_outputs,)."""
        return np.array(self._read(lambda space: space.budget.intercept()))
