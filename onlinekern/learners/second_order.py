"""Linear learners of the second order: CW, SCW and AROW.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from numbers import Real
from typing import Annotated, Any, Literal, TypeAlias

from onlinekern.core import RULES
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.linear import SecondOrderEstimator
from onlinekern.estimators.parameters import NotNegative, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.scikit_learn import Interval

Confidence: TypeAlias = Annotated[float, Interval(Real, 0.5, 1, closed="neither")]


@estimator
class CWClassifier(OnlineClassifier, SecondOrderEstimator):
    """Confidence-weighted learning (CW) in its exact convex form.

    The weights are a Gaussian N(mu, S), at first N(0, I). A sample that is classified correctly
    with a probability of less than `confidence` moves it to the nearest Gaussian that reaches this
    probability. With ``m = y mu.x``, ``v = x'S x``, phi the quantile of the confidence, ``psi = 1 +
    phi^2 / 2`` and ``zeta = 1 + phi^2`` [1]_::

        alpha = max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta))
        beta = alpha phi / (sqrt(u) + v alpha phi),
        sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2
        mu <- mu + alpha y S x,  S <- S - beta (S x)(S x)'.

    That is the constraint ``m >= phi sqrt(v)``. The first form of CW [2]_ has ``m >= phi v``, which
    ``constraint="variance"`` gives::

        alpha = max(0, (-(1 + 2 phi m) + sqrt((1 + 2 phi m)^2 - 8 phi (m - phi v))) / (4 phi v))
        beta = 2 alpha phi / (1 + 2 alpha phi v).

    **For clean labels only.** Each sample must be correct after its step, even a mislabelled one:
    on noisy data S falls towards 0 and the learner stops learning; a `ConvergenceWarning` says so.
    Use `SCWClassifier` or `AROWClassifier` for noisy labels.

    Parameters
    ----------
    confidence : float in (0.5, 1), default=0.75
        eta of the paper: the probability with which a sample is correct after its step. With 0.5
        nothing would be learnt.
    constraint : {'deviation', 'variance'}, default='deviation'
        Whether the margin must reach phi times the standard deviation of the score, or phi times
        its variance; the latter is the CW of SOL. It makes fewer mistakes where labels are noisy
        (a9a: 21.3 % instead of 24.2 with confidence 0.7), and more on clean text
        (docs/defaults.md).
    covariance : {'diagonal', 'full', 'shared'}, default='diagonal'
        What is kept of the covariance. 'diagonal' keeps a variance s_i for each weight,
        ``s_i -= beta (s_i x_i)^2``; the cost is linear in the stored features of a sample. 'full'
        keeps a symmetric matrix S for each output, and so the correlations of the features:
        ``n_features^2`` operations for each step and ``16 n_outputs n_features^2`` bytes, half of
        them to undo calls that fail. 'shared' keeps one matrix S for all outputs, which costs what
        a single output does; with a single output it is 'full'. A MemoryError says when the
        matrices do not fit into the available memory.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
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
        the true class with its strongest rival (Crammer and Singer 2001).
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
        Seed of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed of a
        linear learner.
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
    coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression, float64
        mu of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    covariance_ : ndarray of shape (n_outputs, n), or (n_outputs, n, n) if full, float64
        The variances, or S; of shape (1, n, n) if shared. n is `n_features`, plus 1 for the
        constant with `fit_intercept`, which comes last.
    cumulative_loss_ : float
        Sum of weight times loss (the hinge, or for regression the epsilon-insensitive loss);
        the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    The constant is a feature that is always 1, and has a variance. A sample is skipped if less than
    1e-15 of the initial variance is left in its direction.

    With 'ovr', each class has its own S. With ``multi_class="margin"``, a step on a class and its
    rival uses the sum of both variances of the sample, and contracts both matrices; covariances
    between classes stay 0.

    A shared S is contracted once per sample, if any class moves: with 'ovr' by the largest beta of
    the classes that move, with ``multi_class="margin"`` by that of the pair, whose variance is ``2
    x'S x``. So what one class learns about a direction lowers the variance of all classes there.

    With a diagonal covariance, the constraint holds for the full matrix after the step, of which
    the diagonal is kept. SOL keeps the diagonal of the inverse,
    ``1 / s_i += 2 alpha phi x_i^2``. For a sample of weight w, the quantile phi of the confidence
    is ``sqrt(w) phi``, and ``w phi`` with the variance: as if the variance were w times as large.

    References
    ----------
    .. [1] K. Crammer, M. Dredze, F. Pereira (2008). Exact convex confidence-weighted learning.
       Advances in Neural Information Processing Systems 21.
    .. [2] M. Dredze, K. Crammer, F. Pereira (2008). Confidence-weighted linear classification.
       International Conference on Machine Learning, 264-271.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onlinekern import CWClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CWClassifier(random_state=0).fit(X[:100], y[:100])
    >>> bool(model.score(X[:100], y[:100]) > 0.98)
    True
    """

    confidence: Confidence = 0.75
    constraint: Literal["deviation", "variance"] = "deviation"

    def _rule(self) -> Any:
        name = "cw" if self.constraint == "deviation" else "cw_variance"
        return RULES[name](self._plain_loss(), self.confidence)


@estimator
class SCWClassifier(OnlineClassifier, SecondOrderEstimator):
    """Soft confidence-weighted learning (SCW-I and SCW-II).

    It is `CWClassifier` with a soft constraint: a violation costs C times ``phi sqrt(v) - m``
    (SCW-I) or its square (SCW-II). The steps are those of CW, with alpha at most C (SCW-I,
    proposition 1 of [1]_), or, with ``n = v + 1 / (2 C)`` and ``g = phi sqrt(phi^2 m^2 v^2 + 4 n v
    (n + v phi^2))`` (SCW-II, proposition 2)::

        alpha = max(0, (-(2 m n + phi^2 m v) + g) / (2 (n^2 + n v phi^2))).

    Parameters
    ----------
    C : float > 0, default=1.0
        Aggressiveness: the cost of a violation. Use less for noisy labels: 0.1 is better on
        a9a.
    variant : {'scw1', 'scw2'}, default='scw1'
        A linear or a quadratic cost of a violation. SCW-I is seldom worse.
    confidence : float in (0.5, 1), default=0.75
        eta of the paper: the probability with which a sample should be correct; phi is its
        quantile. With 0.5 nothing would be learnt.
    covariance : {'diagonal', 'full', 'shared'}, default='diagonal'
        What is kept of the covariance. 'diagonal' keeps a variance s_i for each weight,
        ``s_i -= beta (s_i x_i)^2``; the cost is linear in the stored features of a sample. 'full'
        keeps a symmetric matrix S for each output, and so the correlations of the features:
        ``n_features^2`` operations for each step and ``16 n_outputs n_features^2`` bytes, half of
        them to undo calls that fail. 'shared' keeps one matrix S for all outputs, which costs what
        a single output does; with a single output it is 'full'. A MemoryError says when the
        matrices do not fit into the available memory.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
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
        the true class with its strongest rival (Crammer and Singer 2001).
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
        Seed of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed of a
        linear learner.
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
    coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression, float64
        mu of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    covariance_ : ndarray of shape (n_outputs, n), or (n_outputs, n, n) if full, float64
        The variances, or S; of shape (1, n, n) if shared. n is `n_features`, plus 1 for the
        constant with `fit_intercept`, which comes last.
    cumulative_loss_ : float
        Sum of weight times loss (the hinge, or for regression the epsilon-insensitive loss);
        the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    The constant is a feature that is always 1, and has a variance. A sample is skipped if less than
    1e-15 of the initial variance is left in its direction.

    With 'ovr', each class has its own S. With ``multi_class="margin"``, a step on a class and its
    rival uses the sum of both variances of the sample, and contracts both matrices; covariances
    between classes stay 0.

    A shared S is contracted once per sample, if any class moves: with 'ovr' by the largest beta of
    the classes that move, with ``multi_class="margin"`` by that of the pair, whose variance is ``2
    x'S x``. So what one class learns about a direction lowers the variance of all classes there.

    A `sample_weight` multiplies C.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. C. H. Hoi (2012). Exact soft confidence-weighted learning.
       International Conference on Machine Learning, 121-128.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import SCWClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SCWClassifier(C=0.1, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    C: Positive = 1.0
    variant: Literal["scw1", "scw2"] = "scw1"
    confidence: Confidence = 0.75

    def _rule(self) -> Any:
        return RULES[self.variant](self._plain_loss(), self.confidence, self.C)


@estimator
class AROWClassifier(OnlineClassifier, SecondOrderEstimator):
    """Adaptive regularisation of weights (AROW).

    The weights are a Gaussian N(mu, S), at first N(0, I). With ``v = x'S x``, a sample of hinge
    loss ``l = max(0, 1 - y mu.x) > 0`` gives ``beta = 1 / (v + r)`` and [1]_::

        mu <- mu + l beta y S x,  S <- S - beta (S x)(S x)'  (eqs. 8, 9).

    Weights of frequent features move less than those of rare ones. With a full covariance, mu is
    the ridge regression, of penalty r, of the labels of the samples with a step.

    Parameters
    ----------
    r : float > 0, default=1.0
        The noise of a label: the larger, the smaller the steps. Results change little with it, as
        long as it is not much larger than the squared length of a sample.
    covariance : {'diagonal', 'full', 'shared'}, default='diagonal'
        What is kept of the covariance. 'diagonal' keeps a variance s_i for each weight,
        ``s_i -= beta (s_i x_i)^2``; the cost is linear in the stored features of a sample. 'full'
        keeps a symmetric matrix S for each output, and so the correlations of the features:
        ``n_features^2`` operations for each step and ``16 n_outputs n_features^2`` bytes, half of
        them to undo calls that fail. 'shared' keeps one matrix S for all outputs, which costs what
        a single output does; with a single output it is 'full'. A MemoryError says when the
        matrices do not fit into the available memory.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
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
        the true class with its strongest rival (Crammer and Singer 2001).
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
        Seed of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed of a
        linear learner.
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
    coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression, float64
        mu of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    covariance_ : ndarray of shape (n_outputs, n), or (n_outputs, n, n) if full, float64
        The variances, or S; of shape (1, n, n) if shared. n is `n_features`, plus 1 for the
        constant with `fit_intercept`, which comes last.
    cumulative_loss_ : float
        Sum of weight times loss (the hinge, or for regression the epsilon-insensitive loss);
        the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    The constant is a feature that is always 1, and has a variance. A sample is skipped if less than
    1e-15 of the initial variance is left in its direction.

    With 'ovr', each class has its own S. With ``multi_class="margin"``, a step on a class and its
    rival uses the sum of both variances of the sample, and contracts both matrices; covariances
    between classes stay 0.

    A shared S is contracted once per sample, if any class moves: with 'ovr' by the largest beta of
    the classes that move, with ``multi_class="margin"`` by that of the pair, whose variance is ``2
    x'S x``. So what one class learns about a direction lowers the variance of all classes there.

    A `sample_weight` divides r.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import AROWClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AROWClassifier(covariance="full", random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.96)
    True
    >>> model.covariance_.shape
    (1, 31, 31)
    """

    r: Positive = 1.0

    def _rule(self) -> Any:
        return RULES["arow"](self._plain_loss(), self.r)


@estimator
class AROWRegressor(OnlineRegressor, SecondOrderEstimator):
    """Adaptive regularisation of weights (AROW), for regression.

    It is `AROWClassifier` with the epsilon-insensitive loss ``l = max(0, abs(y - f) - epsilon)``: a
    sample with l > 0 gives ``mu <- mu + sign(y - f) l beta S x`` and the same S and beta (after
    eqs. 8, 9 of [1]_). With ``epsilon=0`` and a full covariance that is recursive least squares: mu
    is the ridge regression of penalty r of all samples so far, exactly so with
    ``standardize_target=False``.

    Parameters
    ----------
    r : float > 0, default=1.0
        The noise of a target: the larger, the smaller the steps.
    epsilon : float >= 0, default=0.0
        Deviations up to it are no loss; in standard deviations of y. Samples within it change
        nothing and cost only their score.
    covariance : {'diagonal', 'full', 'shared'}, default='diagonal'
        What is kept of the covariance. 'diagonal' keeps a variance s_i for each weight,
        ``s_i -= beta (s_i x_i)^2``; the cost is linear in the stored features of a sample. 'full'
        keeps a symmetric matrix S for each output, and so the correlations of the features:
        ``n_features^2`` operations for each step and ``16 n_outputs n_features^2`` bytes, half of
        them to undo calls that fail. 'shared' keeps one matrix S for all outputs, which costs what
        a single output does; with a single output it is 'full'. A MemoryError says when the
        matrices do not fit into the available memory.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all mu so far; False predicts with the last one. True is
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
        Seed of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed of a
        linear learner.
    n_jobs : int or None, default=None
        Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    target_mean_, target_scale_ : float
        Mean and scale of the targets so far; 0 and 1 without `standardize_target`.
    coef_ : ndarray of shape (n_outputs, n_features), or (n_features,) for regression, float64
        mu of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    covariance_ : ndarray of shape (n_outputs, n), or (n_outputs, n, n) if full, float64
        The variances, or S; of shape (1, n, n) if shared. n is `n_features`, plus 1 for the
        constant with `fit_intercept`, which comes last.
    cumulative_loss_ : float
        Sum of weight times loss (the hinge, or for regression the epsilon-insensitive loss);
        the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    The constant is a feature that is always 1, and has a variance. A sample is skipped if less than
    1e-15 of the initial variance is left in its direction.

    A `sample_weight` divides r: with ``epsilon=0`` and a full covariance the samples of the ridge
    regression have these weights. The paper is about classification; regression puts the squared
    loss of the target in the place of its squared hinge.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from onlinekern import AROWRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> settings = {"covariance": "full", "fit_intercept": False, "standardize_target": False}
    >>> model = AROWRegressor(random_state=0, **settings).fit(X, y)
    >>> ridge = Ridge(alpha=1.0, fit_intercept=False).fit(X, y)
    >>> np.testing.assert_allclose(model.coef_, ridge.coef_)
    """

    r: Positive = 1.0
    epsilon: NotNegative = 0.0

    def _rule(self) -> Any:
        return RULES["arow"](self._plain_loss(), self.r)
