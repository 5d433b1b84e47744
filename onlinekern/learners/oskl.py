"""OSKL: online sparse kernel learning, whose support vectors are sampled by the loss's slope."""

from typing import Any, Literal

from onlinekern.core import SAMPLERS
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.gradient import GradientStep
from onlinekern.estimators.kernel import KernelEstimator, WhenFull
from onlinekern.estimators.parameters import Average, Count, Positive, estimator


@estimator
class OSKLClassifier(OnlineClassifier, GradientStep, KernelEstimator):
    """Online sparse kernel learning (OSKL): gradient steps of equal length, taken by chance.

    A sample is drawn with probability ``|l'(f(x_t), y_t)| / G``; if drawn, it enters with
    coefficient ``-eta_t G sign(l')``, which is the gradient step on the mean [1]_. The model that
    predicts is the average of all models so far; losses and steps use the last one.

    Parameters
    ----------
    G : float > 0, default=5.0
        Sparsity: the larger G, the fewer samples are kept, and the longer the steps are. G should
        be at least the largest slope, which is 1 for 'logistic' and 'smooth_hinge'; samples of a
        larger slope are always kept, with a gradient step.
    loss : {'logistic', 'smooth_hinge', 'squared_hinge', 'exponential'}, default='logistic'
        The losses are smooth: the smaller the slope, the fewer samples are kept.
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
    average : bool, 'uniform', 'decay' or float in (0, 1), default=True
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
    A `sample_weight` multiplies the loss of its sample in the probability.

    All classes of a one-vs-rest problem use the same random number per sample, so that they share
    support vectors as far as possible.

    The paper has a constant step without regularisation, which is the default here too.

    A `sample_weight` w up to 1 multiplies the step of its sample, not the shrinking. A larger one
    is a step, and then the limit of many small steps, w - 1 together: no weight moves a sample
    past the point where its loss has no slope (docs/weights.md).

    References
    ----------
    .. [1] L. Zhang, J. Yi, R. Jin, M. Lin, X. He (2013). Online kernel learning with a near optimal
       sparsity bound. International Conference on Machine Learning, 621-629.

    Examples
    --------
    >>> from onlinekern import OSKLClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = OSKLClassifier(gamma=0.4, eta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.n_support_ < 300
    (True, True)
    """

    loss: Literal["logistic", "smooth_hinge", "squared_hinge", "exponential"] = "logistic"
    G: Positive = 5.0
    average: Average = True
    max_support: Count | None = None
    when_full: WhenFull = "nearest"

    def _sampler(self) -> Any:
        return SAMPLERS["slope_proportional"](self.G)
