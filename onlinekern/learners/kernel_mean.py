"""The detector of one class by its mean, or by leverages, in the feature space of a kernel."""

from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy as np

from onlinekern.core import LOSSES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.kernel_mean import MeanSpace
from onlinekern.core.models.leverage import LeverageSpace
from onlinekern.core.stream import Model
from onlinekern.estimators.contract import AS_IT_IS
from onlinekern.estimators.features import FeatureEstimator, Frequencies, least_squares_bytes
from onlinekern.estimators.memory import Form
from onlinekern.estimators.outliers import OnlineOutlierDetector
from onlinekern.estimators.parameters import (
    OF_NEW_MODELS,
    Forgetting,
    MatrixSize,
    Positive,
    estimator,
)
from onlinekern.estimators.types import Array, Floats

# Where at least such a share of the rows of `fit` are no landmarks, they alone tell of new rows.
FROM_OTHERS = 0.25


@estimator
class KernelMeanDetector(OnlineOutlierDetector, FeatureEstimator):
    """One class in the features of a kernel, by their mean (EXPoSE) or by leverages.

    A novelty and outlier detector: a sample is an outlier where its score is below `offset_`. With
    features z of a kernel and weights ``a_s = forgetting^(t - s)`` of the samples so far, the score
    is one of

    - the inner product with their mean, ``f(x) = z(x) . m_t``, ``m_t = sum_s a_s z(x_s) / sum_s
      a_s``. It approximates the mean kernel value of x and the samples, a density but for a factor
      [1]_.
    - ``f(x) = 1 / (1 + v)``, with ``v = z(x)' A_t^-1 z(x)`` and ``A_t = reg I + sum_s a_s z(x_s)
      z(x_s)'``. ``1 - f(x) = v / (1 + v)`` is the leverage that x would have in a least squares fit
      of all samples: the share of its own target in its prediction, high where x is unlike the
      others. It measures whether samples are near, not how many (the inverse of v is a Christoffel
      function, whose level sets follow the support of the samples [2]_).

    Time per sample and memory do not grow with the stream, and there is no step size.

    Parameters
    ----------
    statistic : {'mean', 'leverage'}, default='mean'
        What the score is. The mean costs one product with the features, the leverage products with
        a matrix of their number: docs/accuracy.md compares ranking and cost.
    reg : float > 0, default=1.0
        Regularisation of the leverage: so many samples in a direction of the features count half.
        The larger, the closer the ranking is to that of a density; less sees gaps between samples,
        and noise.
    forgetting : float in (0, 1], default=1.0
        Weight of a sample relative to the next one. 1 is the mean of all samples; with 0.999 the
        last 1,000 samples have 63 % of the weight.
    frequencies : {'auto', 'plain', 'orthogonal', 'structured', 'hashed'}, default='auto'
        How the frequencies are drawn. 'plain' draws a matrix of independent frequencies,
        n_components x n_features. 'orthogonal' makes the directions of each n_features of them
        orthogonal (Yu et al. 2016), which approximates the kernel better; it needs the Gaussian
        kernel. 'structured' multiplies by Hadamard matrices instead, in O(n_components log
        n_features): for dense samples of some 100 features or more, and the Gaussian kernel.
        'hashed' finds each frequency in a table of random numbers by a hash: for sparse samples of
        any number of features, in memory that does not depend on it. 'auto' is 'plain', and
        'hashed' for more than 2^14 features where the matrix would have more than 2^25 numbers.
    features : {'fourier', 'nystroem'}, default='fourier'
        Random Fourier features, or Nystroem features of landmarks: the first `n_components` samples
        that differ from each other, whose kernel values with any sample are exact.
    n_components : int >= 1, default=200
        Random frequencies D, each of which gives a cosine and a sine; the error of a kernel value
        falls like ``1 / sqrt(D)``. With Nystroem features, the number of landmarks. 200 is what the
        figures of docs/accuracy.md were measured with.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance.

        ``features='fourier'``, the default, takes the Gaussian and the Laplacian kernel alone.
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
    contamination : float in (0, 0.5], default=0.1
        Fraction of outliers: `offset_` is this quantile of the scores that new samples have
        (docs/families/one_class.md tells how nearly). The default is that of scikit-learn's
        detectors without a rule of their own.
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
    offset_ : float
        After `fit`, the quantile `contamination` of the scores of the training samples, as far as
        possible of those that they would have if they had not been learnt. After `partial_fit` and
        `learn_one`, that of the scores of the last half of the samples, 1,024 at most, each taken
        before its sample was learnt, around their trend: a model that knows more scores higher. It
        is updated after each 16th of the samples or more often, at last after each 128.
    frequencies_ : ndarray of shape (n_components, n_features)
        With features='fourier', the frequencies, in the dtype of the samples, drawn before the
        first one, from ``N(0, 2 gamma_ I)`` for the Gaussian kernel.
    landmarks_ : ndarray or CSR matrix of shape (n_landmarks, n_features)
        With features='nystroem', the landmarks in the order in which they came, in the dtype of the
        samples.
    mean_ : ndarray of shape (2 * n_components,) or (n_landmarks,), float64
        With statistic='mean': the mean m of the features, of Fourier features the cosines first.
    gamma_ : float
        The kernel width in use.
    n_seen_ : int
        Samples learnt.
    cumulative_loss_ : float
        Sum of weight times ``max(0, 1 - f)``, each before its sample was learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Scale the features: the width of the kernel is the same in all of them. A `sample_weight`
    multiplies a_s: without forgetting, a sample of weight 2 is two samples. `SPAOneClass` keeps
    support vectors instead, which show what the class is made of.

    Fourier features need the Gaussian or the Laplacian kernel; Nystroem features take any kernel,
    and `frequencies` does not concern them. Each new landmark adds a feature, which the samples
    before it keep at 0. That is exact as long as all samples are landmarks. A sample whose squared
    distance to the span of the landmarks is below the square root of the machine epsilon does not
    become one: what it has in common with later landmarks beyond that span, at most the root of
    that distance, is lost.

    The leverage of Nystroem features contains ``(kappa(x, x) - z(x)'z(x)) / reg``, which is what x
    has beyond the span of the landmarks, where A is ``reg I``. The weights a_s are those of the
    recursion ``A <- forgetting A + z z'``; what it forgets of ``reg I`` is given back before that
    is more than half. When, depends on the number of samples alone: calls of any length give the
    same scores. A new value of `forgetting` takes effect with the next sample for the mean, and in
    a new fit for the leverage.

    References
    ----------
    .. [1] M. Schneider, W. Ertel, F. Ramos (2016). Expected similarity estimation for large-scale
       batch and streaming anomaly detection. Machine Learning 105, 305-333.
    .. [2] J.-B. Lasserre, E. Pauwels (2019). The empirical Christoffel function with applications
       in data analysis. Advances in Computational Mathematics 45, 1439-1468.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelMeanDetector
    >>> X = np.random.default_rng(0).standard_normal((2000, 2))
    >>> model = KernelMeanDetector(gamma=0.5, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    statistic: Literal["mean", "leverage"] = "mean"
    reg: Positive = 1.0
    forgetting: Forgetting = 1.0
    features: Literal["nystroem", "fourier"] = "fourier"
    n_components: MatrixSize = 200
    frequencies: Frequencies = "auto"
    # Only learners with labels choose their landmarks and extend their features.
    selection: ClassVar[Any] = "first"  # type: ignore[misc]
    novelty: ClassVar[float] = 0.05  # type: ignore[misc]
    linear: ClassVar[bool] = False  # type: ignore[misc]

    _calls_blas = True

    def _rule(self) -> Any:
        return RULES["every_sample"](LOSSES["hinge"]())

    def _frequencies(self, kernel: str, n_features: int) -> Any:
        return SimpleNamespace(
            kernel=kernel, n_components=self.n_components, frequencies=self.frequencies
        )

    def _n_bytes(self, form: Form) -> int:
        features = super()._n_bytes(form)
        length = 2 if self.features == "fourier" else 1
        if self.statistic == "mean":
            return features
        width = length * self.n_components
        return features + least_squares_bytes(width, form.n_outputs, form.itemsize)

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        if self.statistic == "leverage":
            return LeverageSpace(features, n_outputs, float(self.reg), float(self.forgetting))
        return MeanSpace(features, forgetting=float(self.forgetting))

    @property
    def _begins_with(self) -> frozenset[str]:  # type: ignore[override]
        # The least squares of the leverage keep them.
        return OF_NEW_MODELS | ({"reg", "forgetting"} if self.statistic == "leverage" else set())

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        if isinstance(model.space, MeanSpace) and self.forgetting != model.space.forgetting:
            self._validate_params()
            with model.writing():
                model.space.forgetting = self.forgetting

    def _blas(self) -> AbstractContextManager[Any]:
        return super()._blas() if self.statistic == "leverage" else AS_IT_IS

    def _next_calls_blas(self) -> bool:
        # Only the last sample of a block of the leverage calls it.
        space = self._model.space if "_model" in self.__dict__ else None
        if not isinstance(space, LeverageSpace):
            return False
        return space.block.count + 1 >= space.block.block_length

    def _scores_are_odds(self) -> bool:
        return isinstance(self._model.space, LeverageSpace)

    def _as_if_new(
        self, scores: Floats, X: Any, weight: Floats, orders: list[Any]
    ) -> tuple[Floats, Array]:
        """Leave each sample out of the mean, or out of A.

        With v of the features and the weight a that A has of the sample, it is ``v / (1 - a v)``
        without it (Sherman and Morrison).
        """
        told = weight > 0
        space: Any = self._model.space
        squares, beyond = space.map.lengths(self._layout(self._rows(X, self._model.dtype)))
        own = self._weights_in_model(weight, orders)
        if self.features == "nystroem":
            # Landmarks have nothing beyond their span. Where only they are so, and there are
            # others, these tell what new samples have.
            spanned, n_landmarks = told & (beyond <= 0), space.map.columns().size
            if spanned.sum() <= n_landmarks <= (1 - FROM_OTHERS) * told.sum():
                told = told & ~spanned
        if self.statistic == "mean":
            left = own.sum() - own
            apart = (own.sum() * scores - own * squares) / np.where(left > 0, left, 1)
            return np.where(left > 0, apart, 0.0), told
        beyond = beyond / space.reg
        within = np.maximum(1 / scores - 1 - beyond, 0)
        apart = within / np.maximum(1 - own * within, np.finfo(float).eps)
        return 1 / (1 + apart + beyond), told

    def _weights_in_model(self, weight: Floats, orders: list[Any]) -> Floats:
        """Return the weights a_s of the rows of `fit`, each the sum of those of its lessons."""
        own, forgetting = np.zeros(len(weight)), float(self.forgetting)
        for order in orders:
            rows = np.arange(len(weight)) if order is None else order
            rows = rows[weight[rows] > 0]
            own *= forgetting ** len(rows)
            # No row is twice in a lesson.
            own[rows] += weight[rows] * forgetting ** np.arange(len(rows))[::-1]
        return own

    @property
    def mean_(self) -> Floats:
        """Mean of the features, ndarray of shape (2 n_components,) or (n_landmarks,)."""
        if not isinstance(self._fitted_model.space, MeanSpace):
            raise AttributeError("mean_ is there with statistic='mean' only")
        return self._read(lambda space: space.effective())[0]
