"""The transformer to the cells of random trees, which grow along a stream."""

from numbers import Integral, Real
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state

from onlinekern.core.features.partition import Partition
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.blas_threads import one_blas_thread
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import Count, RandomState, estimator, warn_of_waiting
from onlinekern.estimators.scikit_learn import Interval, in_container
from onlinekern.estimators.types import Array, Floats, Samples, Sparse, Targets
from onlinekern.preprocessing.transformer import Target, TaughtTransformer

# A tree of n samples has fewer than 2 n nodes, and node numbers have 16 bits.
MOST_KEPT = 1 << 14
# In a stream, these shares of the trees grow at these fractions of `memory`; the others at its end.
EARLIER = ((64, 0.1), (8, 0.2))
# Fewer samples do not show where a function changes.
LEAST_TOLD = 32
NODE_BYTES = 8


@estimator
class PartitionFeatures(ClassNamePrefixFeaturesOutMixin, TaughtTransformer):
    """Cells of random trees that split where the function changes, as sparse features.

    Each tree splits space into cells. A sample has the feature ``1 / sqrt(n_trees)`` for its cell
    in each tree, and 0 for all other cells. So ``z(x) . z(s)`` is the share of trees in which x and
    s lie in the same cell: these are the features of a random partition kernel [1]_. A linear
    learner on them learns all trees jointly, as `KernelForestClassifier` does. With targets, the
    splits lie where the function changes, as in a kernel forest. Without targets, the trees are
    totally random, like those of scikit-learn's RandomTreesEmbedding.

    The cell of a column never changes. `fit` grows all trees from its samples. In a stream
    (`partial_fit`, `learn_transform`), trees are added after three fixed numbers of samples: a
    tenth of them at ``memory / 64``, two tenths at ``memory / 8`` and the others at `memory`, each
    from all samples so far. A tree does not change after it has grown. The columns of later trees
    exist from the start and contain zeros. So a learner after this transformer never has to forget.

    Parameters
    ----------
    n_trees : int >= 1, default=100
        Number of trees. Time and memory are proportional to it.
    memory : int in [64, 16384], default=2048
        The last trees grow at this number of samples. Until then all samples are stored; later
        samples change nothing. `fit` grows trees from at most this number of samples, drawn at
        random.
    max_samples : float in (0, 1], default=1.0
        Share of the stored samples from which each tree grows, drawn without replacement; at least
        64 samples. With 0.5, the splits do not depend on the targets of the other half, which may
        help if targets are noisy.
    max_leaf : int >= 1, default=4
        A node with more samples is split.
    n_candidates : int in [1, 1000], default=10
        Number of random splits from which the best is chosen for each node. With 1, or without y,
        trees are totally random.
    target : {'auto', 'labels', 'numbers'}, default='auto'
        What y holds: 'labels' of classes or 'numbers'. With 'auto', text and whole numbers of at
        most 32 different values are labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the trees.

    Attributes
    ----------
    n_features_out_ : int
        Number of columns of `transform`: the cells of all trees. In a stream, this includes columns
        for as many cells as later trees may have.
    n_trees_ : int
        Trees that have grown so far.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the mean squared gradient of the function, in units of the
        features' spread; zeros without y.
    n_features_in_ : int
        Features of a sample.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the first samples had names.

    Notes
    -----
    `learn_transform` transforms each row before it learns it, so no tree has seen the target of a
    row that it transforms. Before the first trees have grown, all features are 0. The result does
    not depend on how a stream is divided into calls.

    The first call decides whether there are targets. After all trees have grown, targets are not
    used any more.

    Features may have any scale. Sparse samples are stored as dense rows while trees grow.

    References
    ----------
    .. [1] E. Scornet (2016). Random forests and kernel methods. IEEE Transactions on Information
       Theory 62, 1485-1500.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import AROWClassifier, PartitionFeatures, make_stream_pipeline
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> y = np.hypot(*X.T) > 1
    >>> model = make_stream_pipeline(PartitionFeatures(random_state=0), AROWClassifier())
    >>> predicted = model.partial_fit_predict(X, y, classes=[False, True])
    >>> bool(np.mean(predicted[1000:] == y[1000:]) > 0.95)
    True
    """

    n_trees: Count = 100
    memory: Annotated[int, Interval(Integral, 64, MOST_KEPT, closed="both")] = 2048
    max_samples: Annotated[float, Interval(Real, 0, 1, closed="right")] = 1.0
    max_leaf: Count = 4
    n_candidates: Annotated[int, Interval(Integral, 1, 1000, closed="both")] = 10
    target: Target = "auto"
    random_state: RandomState = None

    _learnt_as = "_partition"
    _kind = Partition

    @fit_method
    def fit(self, X: Samples, y: Targets = None) -> Self:
        """Grow all trees from these samples; later calls of `partial_fit` do not change them.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float32 samples give float32 features, everything else becomes float64.
        y : array-like of shape (n_samples,), default=None
            Labels or numbers. None: the trees are totally random.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X, y or a parameter is invalid.
        MemoryError
            If the samples and the trees do not fit into the available memory.
        """
        self._learn(X, y, whole=True)
        return self

    @fit_method
    def partial_fit(self, X: Samples, y: Targets = None) -> Self:
        """Learn the rows of X, in their order, until all trees have grown.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels or numbers, in all calls or in none.

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
    def learn_transform(self, X: Samples, y: Targets = None) -> Sparse:
        """Transform each row of X by the trees grown from rows before it, and then learn the row.

        Parameters
        ----------
        X, y
            As in `partial_fit`.

        Returns
        -------
        CSR matrix of shape (n_samples, n_columns)
            `n_features_out_` columns.
        """
        return self._learn(X, y, transform=True)

    def transform(self, X: Samples) -> Sparse:
        """Find the cells of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        CSR matrix of shape (n_samples, n_columns)
            `n_features_out_` columns. Of the dtype of the first samples; ``1 / sqrt(n_trees)`` for
            the cell of each tree that has grown.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        cells = self._known.transform(self._validate(X))
        return self._features(cells.reshape(-1), np.full(len(cells), cells.shape[1]))

    @one_blas_thread
    def _learn(self, X: Any, y: Any, whole: bool = False, transform: bool = False) -> Any:
        start = whole or not self.__sklearn_is_fitted__()
        warn_of_waiting(self, start)
        if start or not self._known.is_complete:
            X, y = self._validate_both(X, y, start)
        else:
            X, y = self._validate(X), None
        if start:
            self._labels: tuple[str, ...] = ()
            self._partition = self._new_partition(X, y, whole)
        if whole:
            X, y = self._drawn(X, y)
        cells, counts = self._partition.learn(X, self._used(y), transform)
        return None if cells is None or counts is None else self._features(cells, counts)

    def _validate_both(self, X: Any, y: Any, start: bool) -> tuple[Any, Any]:
        """Return validated rows and targets."""
        if not start and (y is None) != (self._partition.kind == "none"):
            said = "y is None, but was" if y is None else "y is given, but was not"
            raise ValueError(f"{said} in the first call: give it in all calls, or in none")
        if y is None:
            return self._validate(X, start), None
        return super()._validate_both(X, y, start)

    def _new_partition(self, X: Any, y: Any, whole: bool) -> Partition:
        n_features = X.shape[1]
        kept = min(self.memory, X.shape[0]) if whole else self.memory
        # Memory for the stored samples, a scaled copy of them, and the nodes of the trees.
        n_bytes = kept * n_features * (X.dtype.itemsize + 8 + 4 + 4)
        n_bytes += self.n_trees * int(self.max_samples * kept) * 2 * NODE_BYTES
        check_size("n_trees", self.n_trees, n_bytes, n_features)
        at, trees = ((kept,), (self.n_trees,)) if whole else plan_of(kept, self.n_trees)
        seed = int(check_random_state(self.random_state).random_sample() * 2**53)
        cuts = self.max_leaf, self.n_candidates, float(self.max_samples)
        kind = "none" if y is None else self._kind_of(y)
        return Partition(n_features, X.dtype, at, trees, *cuts, kind, seed)

    def _drawn(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the rows from which the trees of `fit` grow, in their order."""
        if X.shape[0] <= self.memory:
            return X, y
        *_, seed = self._partition.settings
        draws = np.random.RandomState(seed % 2**32)
        chosen = np.sort(draws.permutation(X.shape[0])[: self.memory])
        return X[chosen], None if y is None else y[chosen]

    def _used(self, y: Any) -> Floats | None:
        """Return targets as numbers; targets that are not used any more become 0."""
        if y is None or self._partition.is_complete:
            return None
        at, *_ = self._partition.settings
        left = at[-1] - self._partition.entered
        numbers = np.zeros(len(y))
        numbers[:left] = self._numbers(y[:left])
        return numbers

    def _features(self, cells: Array, counts: Array) -> Sparse:
        """Return the features of rows, given the cells of all rows and the count of each row."""
        starts = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=starts[1:])
        if len(cells) < 2**31:
            starts = starts.astype(np.int32)
        _, n_trees, *_ = self._partition.settings
        value = 1 / np.sqrt(sum(n_trees))
        values = np.full(len(cells), value, dtype=self._partition.dtype)
        shape = len(counts), self._partition.n_features
        return sp.csr_matrix((values, cells, starts), shape=shape)

    @property
    def n_features_out_(self) -> int:
        """Number of columns of `transform`."""
        return self._known.n_features

    @property
    def n_trees_(self) -> int:
        """Number of trees that have grown so far."""
        return self._known.n_trees

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the mean square of the gradient, ndarray (n_features,)."""
        return self._known.importances()

    @property
    def _n_features_out(self) -> int:
        return self._partition.n_features


def plan_of(memory: int, n_trees: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of samples at which trees grow, and how many trees grow at each."""
    earlier = [(memory // part, int(share * n_trees)) for part, share in EARLIER]
    steps = [(n, trees) for n, trees in earlier if n >= LEAST_TOLD and trees > 0]
    steps.append((memory, n_trees - sum(trees for _, trees in steps)))
    at, trees = zip(*steps, strict=True)
    return at, trees
