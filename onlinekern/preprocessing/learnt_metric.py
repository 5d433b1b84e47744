"""The transformer to a metric that is learnt along a stream from gradients of a kernel machine."""

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils import check_random_state

from onlinekern.core.features.gradient_metric import GradientMetric, MetricStream, memory_of
from onlinekern.core.features.metric import MOST_FULL, MetricRoot
from onlinekern.core.models.chosen_metric import ChosenMetric
from onlinekern.core.models.metric_choice import holds_matrix
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.blas_threads import one_blas_thread
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import Positive, RandomState, estimator, warn_of_waiting
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.estimators.scikit_learn import in_container
from onlinekern.estimators.types import Array, ArrayLike, Floats, Samples
from onlinekern.preprocessing.transformer import Target, TaughtTransformer


@estimator
class LearntMetric(OneToOneFeatureMixin, TaughtTransformer):
    """Move samples into a metric that tells which features matter: ``z = M^(1/2) x``.

    In an ordinary kernel, an irrelevant feature counts as much as a relevant one. This transformer
    learns from the targets which features, or directions, matter, and rescales them. The kernel or
    random features of a learner after it then use the metric M: squared distances are
    ``(x - s)'M (x - s)``, inner products are ``x'M s``.

    M is the power `metric_exponent` of the mean outer product of the gradients of a kernel machine
    (a recursive feature machine [1]_), or its diagonal, scaled to a trace of `n_features`. After
    256, 512, 1,024, ... samples, the machine (kernel least squares with 200 landmarks) learns the
    last 2,048 samples in the present metric, and M is computed again. The form of M is chosen by
    the errors on samples that were not used for the gradients.

    Parameters
    ----------
    metric : {'auto', 'diagonal', 'full'}, default='auto'
        Whether M weighs features, or directions: 'full' also turns them, for functions of sums of
        features. It takes up to 1,000 features, and sparse samples become dense. 'auto' chooses
        among these forms: over 12 sets and five learners the least error on the average. Sparse
        samples of up to 256 features become dense with it, and those of more stay sparse.
    metric_exponent : float > 0, default=0.5
        The metric is the gradients' outer product to the power of p. 1 suppresses irrelevant
        features the most, and is best if most are irrelevant; 0.5 risks less. metric='auto' also
        tries a diagonal metric of twice this power.
    target : {'auto', 'labels', 'numbers'}, default='auto'
        What y holds: 'labels' of classes or 'numbers'. With 'auto', text and whole numbers of at
        most 32 different values are labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks, and of the order in which `fit` takes its samples.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features,), or (n_features, n_features)
        The diagonal of M, or, with metric='full', M; with 'auto' either, as it was chosen.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the diagonal of M.
    n_features_in_ : int
        Features of a sample.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the first samples had names.

    Notes
    -----
    Scale the features first (`OnlineStandardScaler`), because the machine has one width for all of
    them. It clips values beyond 8.

    `learn_transform` transforms each sample by the metric of the samples before it, and then learns
    the sample. The result does not depend on how a stream is divided into calls. `fit` learns its
    samples in random order, computes the metric once more at the end, and transforms all samples by
    this last metric.

    With metric='auto', M is diagonal at first. From the second computation on, four forms are
    tried: all features equal, diagonal with the power `metric_exponent`, diagonal with twice this
    power, and full (up to 256 features). Each is computed from the previous gradients. In each
    form, least squares with 100 landmarks learn the first half of the last 2,048 samples. The form
    with the smallest error on the other half is chosen if this error is 2 % below that of the
    present form. After sample 4,096 the form no longer changes.

    The learner after this transformer is not reset when M changes, although it has learnt its first
    samples in other metrics. Therefore a new M' replaces M only if it differs enough:
    ``|M - M'| > .1 |M'|``, or .4 after sample 4,096. `KernelRLSClassifier` and `KernelRLSRegressor`
    with `metric` learn their samples again in each new metric, and also choose the kernel width.
    They are the better choice if their cost is acceptable.

    `merge` accepts models with equal metrics: they have continued from one model, and are merged
    before the metric is computed again. The merged model continues with the samples that the first
    model has stored. `onlinekern.distributed` learns the metric only during the warm-up.

    No eigenvalue of M is below about a thousandth of their mean, so that a feature that seems
    useless now can still become relevant. The last samples are stored as dense rows: up to 2,048
    samples, or 2^20 numbers.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin (2024). Mechanism for feature
       learning in neural networks and backpropagation-free machine learning models. Science 383,
       1461-1467.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelPARegressor, LearntMetric, make_stream_pipeline
    >>> X = np.random.default_rng(0).standard_normal((4000, 20))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]  # 17 of 20 features are of no use
    >>> plain = KernelPARegressor(random_state=0).partial_fit(X[:3000], y[:3000])
    >>> model = make_stream_pipeline(LearntMetric(random_state=0), \
KernelPARegressor(random_state=0))
    >>> model = model.partial_fit(X[:3000], y[:3000])
    >>> bool(plain.score(X[3000:], y[3000:]) < 0.8 < model.score(X[3000:], y[3000:]))
    True
    >>> sorted(np.argsort(-model[0].feature_importances_)[:3].tolist())
    [0, 1, 2]
    """

    metric: Literal["auto", "diagonal", "full"] = "auto"
    metric_exponent: Positive = 0.5
    target: Target = "auto"
    random_state: RandomState = None

    _learnt_as = "_metric"
    _kind = MetricStream

    @fit_method
    def fit(self, X: Samples, y: ArrayLike) -> Self:
        """Learn the metric of these samples from scratch.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float32 samples give float32 features, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Labels or numbers.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X, y or a parameter is invalid, or a full metric has more than 1,000 features.
        MemoryError
            If the stored samples do not fit into the available memory.
        """
        self._learn(X, y, whole=True)
        return self

    @fit_method
    def partial_fit(self, X: Samples, y: ArrayLike) -> Self:
        """Learn the rows of X, in their order.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X or y is invalid, or is not of the kind of the first call.
        """
        self._learn(X, y)
        return self

    @fit_method
    @in_container
    def learn_transform(self, X: Samples, y: ArrayLike) -> Array:
        """Transform each row of X by the metric of the rows before it, and then learn the row.

        Parameters
        ----------
        X, y
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or CSR matrix
            As of `transform`.
        """
        return self._learn(X, y, transform=True)

    def transform(self, X: Samples) -> Array:
        """Transform samples into the metric.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features), or CSR matrix
            ``M^(1/2) x``, in the dtype of the first samples; a CSR matrix if X is sparse and the
            metric diagonal.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        X = self._validate(X)
        return self._moved(X, [(X.shape[0], self._known.present)])

    @one_blas_thread
    def _learn(self, X: Any, y: Any, whole: bool = False, transform: bool = False) -> Any:
        start = whole or not self.__sklearn_is_fitted__()
        warn_of_waiting(self, start)
        X, y = self._validate_both(X, y, start)
        if start:
            draws = check_random_state(self.random_state)
            self._labels = ()
            self._metric = self._new_metric(X, y, draws)
            if whole:
                order = draws.permutation(X.shape[0])
                X, y = X[order], y[order]
        metrics = self._metric.learn(X, self._numbers(y), transform)
        if whole:
            self._metric.renew(whole=True)
        return self._moved(X, metrics) if transform else None

    def _new_metric(self, X: Any, y: Any, draws: np.random.RandomState) -> MetricStream:
        n_features, full = X.shape[1], self._may_turn(X.shape[1])
        if full and n_features > MOST_FULL:
            raise ValueError(
                f"metric='full' takes at most {MOST_FULL} features, got {n_features}: "
                "use metric='diagonal'"
            )
        n_bytes = memory_of(n_features, X.dtype.itemsize)
        n_bytes += 6 * 8 * n_features**2 if full else 0
        check_size("n_features", n_features, n_bytes, n_features)
        seed = int(draws.random_sample() * 2**53)
        exponent = float(self.metric_exponent)
        kind = self._kind_of(y)
        if self.metric == "auto":
            return ChosenMetric(n_features, X.dtype, exponent, kind, seed)
        return GradientMetric(n_features, X.dtype, full, exponent, kind, seed)

    def _may_turn(self, n_features: int) -> bool:
        """Return whether the metric is a full matrix, or may become one."""
        return self.metric == "full" or (self.metric == "auto" and holds_matrix(n_features))

    def _moved(self, X: Any, metrics: list[tuple[int, MetricRoot]]) -> Any:
        """Return rows transformed by metrics, as arrays that later learning does not change."""
        return moved(X, metrics, sp.issparse(X) and not self._may_turn(X.shape[1]))

    @property
    def metric_(self) -> Floats:
        """M, or its diagonal."""
        return self._known.present.metric()

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the diagonal of M, ndarray of shape (n_features,)."""
        metric = self.metric_
        own = np.diagonal(metric) if metric.ndim == 2 else metric
        return own / own.sum()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def moved(X: Any, metrics: list[tuple[int, MetricRoot]], sparse: bool) -> Any:
    """Return rows transformed by metrics, each up to an end row; if `sparse`, zeros stay zeros."""
    first, found = 0, []
    for last, metric in metrics:
        rows = X[first:last]
        if sparse:
            own = rows.data * metric.root[rows.indices]
            rows = sp.csr_matrix((own.astype(X.dtype), rows.indices, rows.indptr), rows.shape)
        else:
            rows = metric.moved(rows)
        found.append(rows)
        first = last
    if len(found) == 1:
        return found[0]
    return one_after_another(found)
