"""Kernel recursive least squares: second order, in one pass, over explicit features of a kernel."""

from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np

from onlinekern.core import FEATURE_MAPS, HEADS, LOSSES, RULES, SAMPLERS
from onlinekern.core.base.random import Generator
from onlinekern.core.features.metric import MOST_FULL
from onlinekern.core.features.nested import NestedNystroem
from onlinekern.core.kernels.derivatives import check_gradient
from onlinekern.core.models.least_squares import LeastSquaresSpace
from onlinekern.core.models.metric_choice import holds_matrix
from onlinekern.core.models.metric_least_squares import MetricLeastSquares, most_kept
from onlinekern.core.models.residuals import Residuals
from onlinekern.core.samples.rows import rows_at
from onlinekern.core.stream import Model
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.features import (
    FeatureEstimator,
    constants_of_outputs,
    least_squares_bytes,
    weights_of_features,
)
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import OF_NEW_MODELS, Forgetting, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.several_targets import SEVERAL
from onlinekern.estimators.types import Array, Floats, Samples
from onlinekern.estimators.validation import validate_data
from onlinekern.learners.spa import loss_proportional

# Samples whose margin is this close to that of the gate may need their row of the inverse.
REACH = 0.25
# linear='auto' has no linear features beyond so many features (benchmarks/wide_rows.py).
MOST_LINEAR = 512
# reg='auto' begins with this one.
FIRST_REG = 0.1


@estimator
class KernelRLS(FeatureEstimator):
    """Mixin of learners by recursive least squares of explicit features."""

    reg: Literal["auto"] | Positive = FIRST_REG
    forgetting: Forgetting = 1.0
    linear: Literal["auto"] | bool = "auto"  # type: ignore[assignment]
    metric: Literal["none", "auto", "diagonal", "full"] = "none"
    metric_exponent: Positive = 0.5

    _calls_blas = True
    _begins_with = OF_NEW_MODELS | {"reg", "forgetting"}
    # The metric is learnt from this output and those after it.
    _first_taught = 0
    coef_ = property(weights_of_features)
    intercept_ = property(constants_of_outputs)

    def _n_bytes(self, form: Form) -> int:
        own = least_squares_bytes(self._length(form.n_features), form.n_outputs, form.itemsize)
        own += self._metric_bytes(form.n_features, form.itemsize)
        return own + super()._n_bytes(form)

    def _has_linear(self, n_features: int) -> bool:
        return n_features <= MOST_LINEAR if self.linear == "auto" else bool(self.linear)

    def _check_form(self, form: Form) -> int:
        try:
            return super()._check_form(form)
        except MemoryError as error:
            if not self._has_linear(form.n_features) or self.n_components > form.n_features:
                raise
            raise MemoryError(f"{error}: use linear='auto' for so many features") from None

    def _next_calls_blas(self) -> bool:
        # Only the last sample of a block calls BLAS.
        space = self._model.space
        if isinstance(space, MetricLeastSquares) and space.is_due():
            return True
        return space.block.count + 1 >= space.block.block_length

    def _new_space(
        self, n_outputs: int, rng: Generator, features: Any, reach: float, residuals: Any
    ) -> Any:
        given: Any = self.reg
        follows = given == "auto"
        reg = FIRST_REG if follows else float(given)
        forgetting = float(self.forgetting)
        own = features, n_outputs, reg, forgetting, reach, residuals, False, follows
        if self.metric == "none":
            return LeastSquaresSpace(*own)
        exponent, seed = float(self.metric_exponent), int(rng.random(1)[0] * 2**53)
        choice = () if self.metric == "auto" else None
        metric = self._n_labels(), exponent, seed, choice, self._first_taught
        return MetricLeastSquares(*own, *metric)

    def _metric_bytes(self, n_features: int, itemsize: int) -> int:
        """Return the bytes of the samples that are kept for a metric, and of the metric."""
        if self.metric == "none":
            return 0
        kept = most_kept(float(self.forgetting))
        # The samples are copied while the model is learnt anew.
        full = self.metric == "full" or (self.metric == "auto" and holds_matrix(n_features))
        square = n_features * (24 + 2 * itemsize) if full else 0
        return kept * (16 + 2 * n_features * itemsize) + n_features * square

    def _in_metric(self, features: Any) -> Any:
        if self.metric == "none":
            return features
        if self.metric == "full" and features.d > MOST_FULL:
            raise ValueError(
                f"metric='full' takes at most {MOST_FULL} features, got {features.d}: "
                "use metric='diagonal'"
            )
        if isinstance(features, NestedNystroem):
            check_gradient(features.landmarks.kernel, self.metric)
        root = np.eye(features.d) if self.metric == "full" else np.ones(features.d)
        return FEATURE_MAPS["in_metric"](features, root)

    def _keeps_sparse(self) -> bool:
        return self.metric == "none"

    def _begin_again(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState, number: int
    ) -> bool:
        if self.features != "nystroem" or number > 1:
            return False
        scores = np.empty((X.shape[0], model.head.n_outputs))
        model.scores(X, scores)
        losses = self._losses(model, scores, y) * (1.0 if weight is None else weight)
        total = losses.sum()
        if total == 0 or not np.isfinite(total):
            return False
        # If one loss is very large, shares of others may be 0.
        shares = losses / total
        count = min(self.n_components, int(np.count_nonzero(shares)))
        places = draws.choice(len(shares), count, replace=False, p=shares)
        space: Any = model.space
        space.begin_anew(rows_at(X, np.sort(places)))
        return True

    def _losses(self, model: Model, scores: Floats, y: Any) -> Floats:
        """Return the losses to which the probability of becoming a landmark is proportional."""
        raise NotImplementedError(f"{type(self).__name__}._losses")

    @property
    def n_entered_(self) -> int:
        """Number of samples that entered the least squares problem."""
        return self._read(lambda space: space.entered)

    @property
    def reg_(self) -> float:
        """Prior precision of the weights in use."""
        return self._read(lambda space: space.block.sums.reg)

    @property
    def metric_(self) -> Floats:
        """The metric M, ndarray (n_features, n_features); its diagonal if it is diagonal."""
        return self._read_metric("metric_")

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the diagonal of the metric, ndarray of shape (n_features,)."""
        metric = self._read_metric("feature_importances_")
        own = np.diagonal(metric) if metric.ndim == 2 else metric
        return own / own.sum()

    def _read_metric(self, name: str) -> Any:
        def read(space: Any) -> Any:
            if not hasattr(space, "metric"):
                raise AttributeError(
                    f"{name} is there with metric='auto', 'diagonal' or 'full' only"
                )
            return space.metric

        return self._read(read)

    def leverage(self, X: Samples) -> Floats:
        """Return ``phi' A^-1 phi`` of samples: the variance of their scores over that of the noise.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Values from 0, for samples like many that were learnt, to ``phi'phi / reg``.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        model = self._fitted_model
        rows = self._layout(validate_data(self, X, dtype=model.dtype, reset=False))
        return self._read(lambda space: space.variances(rows))


@estimator
class KernelRLSClassifier(OnlineClassifier, KernelRLS):
    """Kernel recursive least squares with a margin gate: second order, in one pass.

    The scores are ``f(x) = w . phi(x)``, with ``phi = [x / sqrt(d), 1, z(x)]`` and features z of a
    kernel. After each sample they are the exact least squares solution for all samples that
    entered, ``A = reg I + sum phi phi'``, ``b = sum phi y'``, ``w = A^-1 b``, with targets 1 for
    the class of a sample and -1 for the others. With ``gate="margin"`` a sample enters only if its
    margin is below `margin` when it comes. This is a second-order perceptron in kernel space [1]_;
    with two classes, AROW with the squared hinge and noise `reg` [2]_. One pass comes close to the
    test error of a tuned SVC; see docs/accuracy.md. With `metric` it learns the kernel's metric too
    [4]_.

    Parameters
    ----------
    gate : {'margin', 'loss_proportional', 'always'}, default='margin'
        Which samples enter. 'margin': those whose margin is below `margin`. 'loss_proportional': at
        random, with the probability ``min(alpha, loss) / beta`` of SPA [3]_ and the loss ``max(0, 1
        - margin)``; from 10,000 samples on, this takes about half of the time for the same error.
        'always': every sample, which is plain least squares and suffers from unequal classes.
    margin : float > 0, default=1.0
        The margin below which a sample enters with ``gate="margin"``. With a smaller one, fewer
        enter.
    alpha : float > 0, default=1.0
        With ``gate="loss_proportional"``, the loss above which the probability of entering no
        longer grows.
    beta : float >= alpha, default=1.0
        With ``gate="loss_proportional"``, the larger it is, the fewer samples enter.
    weighted : bool, default=False
        With ``gate="loss_proportional"``, whether a sample that entered with probability p has the
        weight ``1 / p``, as in SPA, or 1.
    reg : 'auto' or float > 0, default=0.1
        Prior precision of the weights, in units of the noise's. Between 0.03 and 0.3 results change
        little; if most errors are noise, larger values are better. 'auto' begins with 0.1, and
        chooses anew after 64, 128, 256, ... samples that entered, by their one-step errors.
    forgetting : float in (0, 1], default=1.0
        The factor lambda: each sample that enters multiplies the weight of those before by it. The
        prior is not forgotten, so weights that are no longer confirmed return to it. Faster
        forgetting costs more time: the inverse is computed anew at least every ``log(2) / (1 -
        lambda)`` samples.
    metric : {'none', 'auto', 'diagonal', 'full'}, default='none'
        The metric of the kernel, learnt from the gradients of the model itself. It weighs features
        ('diagonal') or directions ('full', up to 1,000 features) by how much they matter, so that
        irrelevant columns cost little. It is renewed after 256, 512, 1,024, ... samples. The last
        4,608 samples are kept, dense. 'auto' chooses among these forms, and the width of the
        kernel, by errors on samples that the gradients have not seen. It is the safest choice. It
        takes two to three times the time of 'none' over 10,000 samples, and little more over
        100,000.
    metric_exponent : float > 0, default=0.5
        The metric is the gradients' outer product to the power of p. 1 suppresses irrelevant
        features the most, and is best if most are irrelevant; 0.5 risks less. metric='auto' also
        tries a diagonal metric of twice this power.
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
    linear : 'auto' or bool, default='auto'
        Whether ``x / sqrt(n_features)`` and a constant stand beside the features of the kernel.
        'auto': up to 512 features. The cost of a sample grows with the square of their number.
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
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'margin', 'ovr'}, default='margin'
        The margin of a sample with more than two classes. 'margin': the score of its class less
        that of the strongest rival. 'ovr': the smallest margin of the one-vs-rest problems. A
        sample enters all of these problems or none.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one. The second pass begins anew,
        with the prior and the metric that the first one has found, and with landmarks drawn in
        proportion to the losses after it (features='nystroem'). Later passes go on with what the
        second has learnt.
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
    coef_ : ndarray of shape (n_outputs, n_weights), float64
        Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants of the outputs, 0 without `linear`.
    landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
        With features='nystroem', the landmarks in the order in which they came, in the dtype of the
        samples.
    frequencies_ : ndarray of shape (n_components / 2, n_features)
        With features='fourier', the frequencies, in the dtype of the samples.
    gamma_ : float
        The kernel width in use.
    metric_ : ndarray of shape (n_features,), or (n_features, n_features)
        With metric='full', M of the kernel of ``(x - z)'M (x - z)`` or ``x'M z``, of trace
        `n_features`; with 'diagonal' its diagonal; with 'auto' either, times the width that was
        chosen.
    feature_importances_ : ndarray of shape (n_features,)
        With metric='auto', 'diagonal' or 'full', the share of each feature in the diagonal of
        `metric_`.
    reg_ : float
        The prior precision in use.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_entered_ : int
        Samples learnt that entered the least squares problem.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Scale the features: the width of the kernel, and the prior of the linear weights, are the same
    in all of them. Samples are learnt in blocks of 64 with the same decisions as one at a time, so
    predictions do not depend on how a stream is divided into calls. A and b are kept in double. The
    inverse has the precision of the samples, and is computed anew from A every ``8 n_weights``
    samples that entered. After a float32 sample with ``phi . phi > 1000 reg`` (a small `reg`, or
    samples that are not scaled) all is in double. A feature that appears in mid-stream counts as 0
    for the samples before. This is exact while all of these are landmarks, and an approximation
    afterwards. A `sample_weight` multiplies the terms of its sample in A and b.

    A metric M is the power `metric_exponent` of the mean outer product of the gradients of the
    scores at the last 2,048 samples (a recursive feature machine), scaled to a trace of
    `n_features`; no eigenvalue is less than about a thousandth of their mean. These scores have a
    prior precision of at most 0.1, because under a larger `reg` the linear part may hide the rest.
    The linear features are those of x itself, and `landmarks_` are ``M^(1/2) x``. If M has changed
    by more than a tenth, landmarks are drawn anew from the samples kept, and the model learns again
    those that had entered. Once this would forget older samples, M must have changed by more than
    four tenths. This is spread over an eighth as many samples as came before (from 1,024 on a
    quarter, at most 512); the old model predicts until the new one is complete. With `forgetting`,
    the metric is finally renewed after every n samples, and n samples are learnt anew; n is the
    first of 256, 512, ... 4,096 that is not below ``4 / (1 - forgetting)``.

    With metric='auto' it is diagonal at first. From the second renewal on, four forms are tried:
    none, diagonal of the powers `metric_exponent` and twice that, and full (up to 256 features).
    Each is computed from the gradients of the last renewal. Least squares with 100 landmarks learn
    the first half of the last 2,048 samples in it. The form with the lowest error on the other half
    is chosen, if this error is 2 % lower than that of the form in use. Then half and twice the
    width are tried in the same way. All samples kept count alike there.

    With ``reg="auto"``, two sums give for every `reg` of 0.01, 0.03, 0.1, 0.3, ... 100 how well it
    would have predicted the samples that entered, each from those before it (see
    `KernelRLSRegressor`). These samples lie near the border, which makes the noise look larger than
    it is. So the `reg` two places below the best is used, about a tenth of the best. If most errors
    are noise, it has up to a tenth fewer errors than 0.1, and elsewhere about as many.

    The counted loss is ``max(0, 1 - margin)``.

    References
    ----------
    .. [1] N. Cesa-Bianchi, A. Conconi, C. Gentile (2005). A second-order Perceptron algorithm. SIAM
       Journal on Computing 34, 640-668.
    .. [2] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.
    .. [3] J. Lu, P. Zhao, S. C. H. Hoi (2016). Online sparse passive aggressive learning with
       kernels. SIAM International Conference on Data Mining, 675-683.
    .. [4] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin (2024). Mechanism for feature
       learning in neural networks and backpropagation-free machine learning models. Science 383,
       1461-1467.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import KernelRLSClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelRLSClassifier(random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.95)
    True
    """

    gate: Literal["margin", "loss_proportional", "always"] = "margin"
    margin: Positive = 1.0
    alpha: Positive = 1.0
    beta: Positive = 1.0
    weighted: bool = False
    multi_class: Literal["ovr", "margin"] = "margin"

    def _rule(self) -> Any:
        return RULES["least_squares"](LOSSES["hinge"]())

    def _sampler(self) -> Any:
        if self.gate == "margin":
            return SAMPLERS["within_margin"](float(self.margin))
        if self.gate == "loss_proportional":
            return loss_proportional(float(self.alpha), float(self.beta), self.weighted)
        return SAMPLERS["always"]()

    def _head(self) -> Any:
        if len(self.classes_) == 2:
            return HEADS["binary"]()
        name = "joint" if self.multi_class == "margin" else "joint_ovr"
        return HEADS[name](len(self.classes_))

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        asked = {"margin": float(self.margin), "loss_proportional": 1.0, "always": inf}[self.gate]
        return self._new_space(n_outputs, rng, features, asked + REACH, None)

    def _losses(self, model: Model, scores: Floats, y: Any) -> Floats:
        return np.maximum(0, 1 - margins_of_classes(scores, y.astype(np.intp)))


def margins_of_classes(scores: Floats, numbers: Array) -> Floats:
    """Return the margins of samples: y f for two classes, else own score less the best rival's."""
    if scores.shape[1] == 1:
        return np.where(numbers > 0, scores[:, 0], -scores[:, 0])
    rivals, own = scores.copy(), (np.arange(len(scores)), numbers)
    rivals[own] = -np.inf
    return scores[own] - rivals.max(axis=1)


@estimator
class KernelRLSRegressor(OnlineRegressor, KernelRLS):
    """Kernel recursive least squares for regression, with intervals.

    The score is ``f(x) = w . phi(x)``, with ``phi = [x / sqrt(d), 1, z(x)]`` and features z of a
    kernel. After each sample it is the exact ridge regression on all samples so far, ``A = reg I +
    sum phi phi'``, ``b = sum phi y``, ``w = A^-1 b`` [1]_. This is the posterior mean of a Gaussian
    process on the span of the features. `predict_interval` gives intervals with the coverage that
    you ask for [2]_. With `metric` the kernel's metric is learnt too [3]_.

    Parameters
    ----------
    reg : 'auto' or float > 0, default='auto'
        Prior precision of the weights, in units of the noise's. 'auto' begins with 0.1. After 64,
        128, 256, ... samples it becomes the one of 0.01, 0.03, 0.1, ... 100 that would have
        predicted them best, each before it was learnt (see the notes). Noisy targets need larger
        values.
    forgetting : float in (0, 1], default=1.0
        The factor lambda: each sample that enters multiplies the weight of those before by it. The
        prior is not forgotten, so weights that are no longer confirmed return to it. Faster
        forgetting costs more time: the inverse is computed anew at least every ``log(2) / (1 -
        lambda)`` samples.
    metric : {'none', 'auto', 'diagonal', 'full'}, default='none'
        The metric of the kernel, learnt from the gradients of the model itself. It weighs features
        ('diagonal') or directions ('full', up to 1,000 features) by how much they matter, so that
        irrelevant columns cost little. It is renewed after 256, 512, 1,024, ... samples. The last
        4,608 samples are kept, dense. 'auto' chooses among these forms, and the width of the
        kernel, by errors on samples that the gradients have not seen. It is the safest choice. It
        takes two to three times the time of 'none' over 10,000 samples, and little more over
        100,000.
    metric_exponent : float > 0, default=0.5
        The metric is the gradients' outer product to the power of p. 1 suppresses irrelevant
        features the most, and is best if most are irrelevant; 0.5 risks less. metric='auto' also
        tries a diagonal metric of twice this power.
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
    selection : {'first', 'ald'}, default='first'
        Which samples become landmarks of the Nystroem features: the first ones, or those whose part
        outside of the span of the landmarks so far (approximate linear dependence [1]_) has a
        squared length above `novelty` times ``kappa(x, x)``.
    novelty : float in (0, 1), default=0.05
        Threshold of `selection`; 'first' does not use it.
    linear : 'auto' or bool, default='auto'
        Whether ``x / sqrt(n_features)`` and a constant stand beside the features of the kernel.
        'auto': up to 512 features. The cost of a sample grows with the square of their number.
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
        Passes of `fit` over the data. `partial_fit` always makes one. The second pass begins anew,
        with the prior and the metric that the first one has found, and with landmarks drawn in
        proportion to the losses after it (features='nystroem'). Later passes go on with what the
        second has learnt.
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

        Of several targets, ndarrays of shape (n_outputs,).
    coef_ : ndarray of shape (n_outputs, n_weights), float64
        Weights of ``x / sqrt(n_features)``, with `linear`, and of the kernel's features.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants of the outputs, 0 without `linear`.
    landmarks_ : ndarray of shape (n_landmarks, n_features), or CSR matrix
        With features='nystroem', the landmarks in the order in which they came, in the dtype of the
        samples.
    frequencies_ : ndarray of shape (n_components / 2, n_features)
        With features='fourier', the frequencies, in the dtype of the samples.
    gamma_ : float
        The kernel width in use.
    metric_ : ndarray of shape (n_features,), or (n_features, n_features)
        With metric='full', M of the kernel of ``(x - z)'M (x - z)`` or ``x'M z``, of trace
        `n_features`; with 'diagonal' its diagonal; with 'auto' either, times the width that was
        chosen.
    feature_importances_ : ndarray of shape (n_features,)
        With metric='auto', 'diagonal' or 'full', the share of each feature in the diagonal of
        `metric_`.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_entered_ : int
        Samples learnt that entered the least squares problem.
    cumulative_loss_ : float
        Sum of weight times loss; the loss of a sample is taken before it is learnt.
    n_features_in_ : int
        Features of a sample.
    reg_ : float
        The prior precision in use.
    noise_ : float
        Standard deviation of the noise: the root mean square of the last 512 residuals, each taken
        before its sample was learnt and divided by ``sqrt(1 + v)``, v being its leverage.
        Of several targets, an ndarray of shape (n_outputs,).
    n_outputs_ : int
        Targets of a sample.

    Notes
    -----
    Scale the features: the width of the kernel, and the prior of the linear weights, are the same
    in all of them. Samples are learnt in blocks of 64 with the same decisions as one at a time, so
    predictions do not depend on how a stream is divided into calls. A and b are kept in double. The
    inverse has the precision of the samples, and is computed anew from A every ``8 n_weights``
    samples that entered. After a float32 sample with ``phi . phi > 1000 reg`` (a small `reg`, or
    samples that are not scaled) all is in double. A feature that appears in mid-stream counts as 0
    for the samples before. This is exact while all of these are landmarks, and an approximation
    afterwards. A `sample_weight` multiplies the terms of its sample in A and b.

    Several targets, the columns of y, share the features, A and its inverse: each has the scores of
    a model of its own with the same `reg`, its own mean and scale, residuals and intervals. What is
    chosen for all of them together is ``reg="auto"``, by the sum over the targets of what is below,
    and a metric. A model keeps its number of targets; a column is one target. C scores them, and
    does not go on learning.

    A metric M is the power `metric_exponent` of the mean outer product of the gradients of the
    scores at the last 2,048 samples (a recursive feature machine), scaled to a trace of
    `n_features`; no eigenvalue is less than about a thousandth of their mean. These scores have a
    prior precision of at most 0.1, because under a larger `reg` the linear part may hide the rest.
    The linear features are those of x itself, and `landmarks_` are ``M^(1/2) x``. If M has changed
    by more than a tenth, landmarks are drawn anew from the samples kept, and the model learns again
    those that had entered. Once this would forget older samples, M must have changed by more than
    four tenths. This is spread over an eighth as many samples as came before (from 1,024 on a
    quarter, at most 512); the old model predicts until the new one is complete. With `forgetting`,
    the metric is finally renewed after every n samples, and n samples are learnt anew; n is the
    first of 256, 512, ... 4,096 that is not below ``4 / (1 - forgetting)``.

    With metric='auto' it is diagonal at first. From the second renewal on, four forms are tried:
    none, diagonal of the powers `metric_exponent` and twice that, and full (up to 256 features).
    Each is computed from the gradients of the last renewal. Least squares with 100 landmarks learn
    the first half of the last 2,048 samples in it. The form with the lowest error on the other half
    is chosen, if this error is 2 % lower than that of the form in use. Then half and twice the
    width are tried in the same way. All samples kept count alike there.

    With the errors e and the variances v of one-step predictions, ``reg="auto"`` minimises ``n
    log(sum e^2 / (1 + v)) + sum log(1 + v)``, minus twice the logarithm of the density of the
    targets, each given those before: ``sum y^2 - b' A^-1 b`` and ``log |A / reg|`` give the sums
    for every `reg` by a Cholesky factor of its A. It looks upwards and downwards from the present
    one; from there on the solution is the exact one for the new `reg`. C that goes on learning
    chooses in the same way.

    The weights have the prior variance ``noise_**2 / reg_``. The regression is exact with
    ``standardize_target=False``: else each target is standardised by the mean and scale of those so
    far, and stays so when these change, which they hardly do after some hundred samples. Without
    it, centre targets that are far from 0: `reg` draws the constant feature to 0 too.

    References
    ----------
    .. [1] Y. Engel, S. Mannor, R. Meir (2004). The kernel recursive least-squares algorithm. IEEE
       Transactions on Signal Processing 52, 2275-2285.
    .. [2] I. Gibbs, E. Candès (2021). Adaptive conformal inference under distribution shift.
       Advances in Neural Information Processing Systems 34, 1660-1672.
    .. [3] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin (2024). Mechanism for feature
       learning in neural networks and backpropagation-free machine learning models. Science 383,
       1461-1467.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelRLSRegressor
    >>> X = np.linspace(0, 6, 500)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(500)
    >>> model = KernelRLSRegressor(gamma=1.0, random_state=0).fit(X, y)
    >>> bool(abs(model.predict([[1.5]]) - np.sin(1.5)) < 0.05)
    True
    >>> lower, upper = model.predict_interval(X, coverage=0.9)
    >>> bool(0.85 < np.mean((lower <= y) & (y <= upper)) < 0.95)
    True
    """

    reg: Literal["auto"] | Positive = "auto"
    selection: Literal["first", "ald"] = "first"

    _target_checks = SEVERAL

    def _rule(self) -> Any:
        return RULES["least_squares"](LOSSES["squared"]())

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        return self._new_space(n_outputs, rng, features, inf, Residuals(n_outputs))

    def _losses(self, model: Model, scores: Floats, y: Any) -> Floats:
        targets = (y.reshape(scores.shape) - model.target_mean) / model.target_scale
        return np.abs(targets - scores).sum(axis=1)

    def predict(self, X: Samples, return_std: bool = False) -> Any:
        """Predict the targets of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations too.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As the targets that were learnt.
        std : ndarray of the same shape
            Standard deviation of a target around its prediction, noise included: ``noise_ *
            sqrt(1 + leverage(X))``. It is returned with `return_std` only.
        """
        if not return_std:
            return super().predict(X)
        y, spread, residuals = self._predict_with_spread(X, lambda residuals: residuals.scale())
        return y, _times(spread, residuals)

    def _begin_again(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState, number: int
    ) -> bool:
        anew = super()._begin_again(model, X, y, weight, draws, number)
        # Errors on samples that have been learnt say nothing about those on new ones.
        space: Any = model.space
        space.residuals.is_closed = not anew
        return anew

    def _train(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState
    ) -> Model:
        found = super()._train(model, X, y, weight, draws)
        space: Any = found.space
        space.residuals.is_closed = False
        return found

    def predict_interval(self, X: Samples, coverage: float = 0.9) -> tuple[Array, Array]:
        """Predict intervals that cover the targets of a share `coverage` of the samples.

        The half width is a quantile of the last 512 residuals times ``sqrt(1 + leverage(X))``. The
        level of the quantile is corrected along the stream, by what the intervals have covered
        (adaptive conformal inference, Gibbs and Candès 2021). So in the long run the coverage holds
        on any stream, for samples that are predicted just before they are learnt. If they are
        predicted long before, and the stream changes, fewer are covered.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        coverage : float in (0, 1), default=0.9
            512 residuals limit it: beyond 0.995 the intervals hardly grow, and are finite after 512
            samples.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples,) or (n_samples, n_outputs)
            An interval for each target of a sample, each with a quantile of its own. They are
            infinite as long as fewer than ``1 / (1 - coverage)`` samples have been learnt.

        Raises
        ------
        ValueError
            If coverage is not in (0, 1).
        """
        if not isinstance(coverage, Real) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be in (0, 1), got {coverage!r}")
        y, spread, quantile = self._predict_with_spread(
            X, lambda residuals: residuals.quantile(float(coverage))
        )
        half = _times(spread, quantile)
        return y - half, y + half

    def _predict_with_spread(self, X: Any, of_residuals: Any) -> tuple[Array, Array, Any]:
        """Return predictions, sqrt(1 + v) and a function of the residuals, all of one state."""
        model: Model = self._fitted_model
        with model.reading():
            y = super().predict(X)
            residual = model.target_scale * of_residuals(model.space.residuals)
            return y, np.sqrt(1 + self.leverage(X)), residual

    @property
    def noise_(self) -> float | Floats:
        """Standard deviation of the noise; with several targets, ndarray of shape (n_outputs,)."""
        return self._read_in_units(lambda space: space.residuals.scale())


def _times(spread: Floats, scale: Any) -> Floats:
    """Return the product of each sample's spread and the scale of its target, or of each."""
    return scale * spread if np.ndim(scale) == 0 else spread[:, None] * scale
