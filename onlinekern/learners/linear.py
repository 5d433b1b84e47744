"""Linear learners of the first order: Perceptron, online gradient descent, Pegasos.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

import math
from typing import Any

from onlinekern.core import LOSSES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.linear_batches import BatchSpace
from onlinekern.core.stream import Model
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.gradient import GradientStep, LabelLoss, TargetLoss
from onlinekern.estimators.linear import LinearEstimator
from onlinekern.estimators.parameters import Count, Positive, Schedule, estimator
from onlinekern.estimators.regression import OnlineRegressor


@estimator
class PerceptronClassifier(OnlineClassifier, LinearEstimator):
    """Perceptron.

    A sample with ``y f(x) <= 0``, ``f(x) = w.x + b``, takes the step ``w <- w + y x``, ``b <- b +
    y`` [1]_; the first sample is always learnt.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all models so far, which costs a second product per score;
        features that a sample does not store cost nothing. False predicts with the last one. True
        is 'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
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
        Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    `cumulative_loss_` sums ``max(0, -y f)``. A `sample_weight` multiplies the coefficient.

    The averaged Perceptron of [2]_ is ``average=True``.

    References
    ----------
    .. [1] F. Rosenblatt (1958). The perceptron: a probabilistic model for information storage and
       organization in the brain. Psychological Review 65, 386-408.
    .. [2] Y. Freund, R. E. Schapire (1999). Large margin classification using the perceptron
       algorithm. Machine Learning 37, 277-296.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import PerceptronClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PerceptronClassifier(average=True, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    def _rule(self) -> Any:
        return RULES["perceptron"]()


@estimator
class OGDClassifier(OnlineClassifier, GradientStep, LinearEstimator):
    """Online gradient descent for linear classification.

    At each step ``w <- (1 - eta_t reg) w - eta_t l'(w.x_t + b, y_t) x_t`` [1]_; b takes the same
    step with 1 instead of x.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'smooth_hinge', 'logistic', 'exponential', 'squared'} or \
compiled loss, default='hinge'
        The loss to minimise; samples at which its slope is 0 change nothing. A compiled loss may
        come from another package, see docs/extending.md.

        The hinge and the logistic loss have bounded slopes, and so bounded steps.
    eta : float > 0, default=0.1
        Step size. A step changes the score of its own sample by eta_t times the squared length
        of the sample: standardise the features, or divide eta by that length.
    schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='invsqrt'
        The step size eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
    power : float >= 0, default=0.5
        Exponent of the schedule 'power'.
    reg : float >= 0, default=0.0
        Regularisation lambda; at each step, the weights and b shrink by ``max(0, 1 - eta_t *
        reg)``.
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge' and 'huber'.
    epsilon : float >= 0, default=0.1
        Not used: no loss of labels has it. It is here because the regressor has it.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all models so far, which costs a second product per score;
        features that a sample does not store cost nothing. False predicts with the last one. True
        is 'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
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
        Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] M. Zinkevich (2003). Online convex programming and generalized infinitesimal gradient
       ascent. International Conference on Machine Learning, 928-936.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import OGDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OGDClassifier(loss="logistic", random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    loss: LabelLoss = "hinge"
    eta: Positive = 0.1
    schedule: Schedule = "invsqrt"


@estimator
class OGDRegressor(OnlineRegressor, GradientStep, LinearEstimator):
    """Online gradient descent for linear regression.

    At each step ``w <- (1 - eta_t reg) w - eta_t l'(w.x_t + b, y_t) x_t`` [1]_; b takes the same
    step with 1 instead of x.

    Parameters
    ----------
    loss : {'squared', 'absolute', 'epsilon_insensitive', 'huber'} or compiled loss, \
default='squared'
        The loss to minimise; samples at which its slope is 0 change nothing. A compiled loss may
        come from another package, see docs/extending.md.

        The slope of the squared loss is not bounded: it diverges unless the squared length of the
        samples times eta is below 2.
    eta : float > 0, default=0.1
        Step size. A step changes the score of its own sample by eta_t times the squared length
        of the sample: standardise the features, or divide eta by that length.
    schedule : {'constant', 'invsqrt', 'inverse', 'power'}, default='invsqrt'
        The step size eta_t is eta, ``eta / sqrt(t)``, ``eta / t`` or ``eta / t**power``.
    power : float >= 0, default=0.5
        Exponent of the schedule 'power'.
    reg : float >= 0, default=0.0
        Regularisation lambda; at each step, the weights and b shrink by ``max(0, 1 - eta_t *
        reg)``.
    delta : float > 0, default=1.0
        Width of the quadratic piece of 'smooth_hinge' and 'huber'.
    epsilon : float >= 0, default=0.1
        Deviations up to it are no loss in 'epsilon_insensitive'.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all models so far, which costs a second product per score;
        features that a sample does not store cost nothing. False predicts with the last one. True
        is 'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
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
        Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] M. Zinkevich (2003). Online convex programming and generalized infinitesimal gradient
       ascent. International Conference on Machine Learning, 928-936.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from onlinekern import OGDRegressor
    >>> X, y = make_regression(500, 10, noise=1.0, random_state=0)
    >>> model = OGDRegressor(n_epochs=5, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    loss: TargetLoss = "squared"
    eta: Positive = 0.1
    schedule: Schedule = "invsqrt"


@estimator
class PegasosClassifier(OnlineClassifier, LinearEstimator):
    """Pegasos: stochastic sub-gradient descent on the regularised hinge loss.

    Batch b of n samples shrinks the model by ``1 - 1/b``, and adds ``y x / (reg b n)`` for each
    sample with ``y f(x) < 1``, f being the model before the batch (figure 2 of [1]_).

    Parameters
    ----------
    reg : float > 0, default=1e-4
        Regularisation lambda of the paper. ``1 / n_samples`` is of the size of C = 1 in a support
        vector machine.
    batch_size : int >= 1, default=1
        Samples n per step, k of the paper. A batch may begin in one call and end in another.
    projection : bool, default=False
        Project onto the ball of radius ``1 / sqrt(reg)`` after each step, as the paper allows. It
        is off by default because it hurts more often than it helps.
    fit_intercept : bool, default=True
        Whether to learn a constant b.
    average : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Predict with an average of all models so far, which costs a second product per score;
        features that a sample does not store cost nothing. False predicts with the last one. True
        is 'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
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
        Weights of the model that predicts (the average, if `average`); n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants, 0 without `fit_intercept`.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    The intercept is the weight of a constant feature: it shrinks and is projected too. With K > 2
    classes there is one ball for the weights of all classes, of squared radius ``1 / reg`` for
    'margin' and ``K / reg`` for 'ovr' (the sum over the K problems): it contains the optimum.

    `fit` ends with a step on the last, incomplete batch; `partial_fit` and `learn_one` keep it
    open, so that any division of a stream into calls gives the same model.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter (2011). Pegasos: primal estimated
       sub-gradient solver for SVM. Mathematical Programming 127, 3-30.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import PegasosClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifier(reg=0.01, average=True, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    reg: Positive = 1e-4
    batch_size: Count = 1
    projection: bool = False

    _learns_batches = True

    def _rule(self, batch_size: int | None = None) -> Any:
        return RULES["batch_pegasos"](LOSSES["hinge"](), self.reg, batch_size or self.batch_size)

    def _radius(self) -> Any:
        """Return the radius of the ball that holds the optimum."""
        together = len(self.classes_) > 2 and self.multi_class == "ovr"
        problems = len(self.classes_) if together else 1
        return math.sqrt(problems / self.reg)

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        radius = self._radius() if self.projection else 0.0
        return BatchSpace(self.batch_size, radius, *self._linear(X, n_outputs))

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        if self.batch_size != model.space.batch_size:
            # Batches stay as large as they were.
            model.rule = self._rule(model.space.batch_size)
        if model.space.radius > 0:
            model.space.radius = self._radius()
