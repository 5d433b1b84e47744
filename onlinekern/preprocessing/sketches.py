"""The transformer of frequent directions, which sketches all rows seen by a small matrix."""

import copy
import itertools
from numbers import Integral
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from onlinekern.core.linalg import frequent_directions
from onlinekern.estimators.atomic import fit_method, lock_of
from onlinekern.estimators.blas_threads import one_blas_thread
from onlinekern.estimators.declared import array, whole
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import positional_estimator, warn_of_waiting
from onlinekern.estimators.savable import MOST_COUNT, require
from onlinekern.estimators.scikit_learn import Interval, RealNotInt, in_container
from onlinekern.estimators.types import Array, Floats, Samples, Targets
from onlinekern.estimators.validation import check_results
from onlinekern.preprocessing.transformer import CoreTransformer

SketchSize: TypeAlias = (
    Annotated[int, Interval(Integral, 1, None, closed="left")]
    | Annotated[float, Interval(RealNotInt, 0, 1, closed="right")]
)


def sketch_rows(sketch_size: int | float, n_features: int) -> int:
    """Return the number l of directions that a sketch keeps.

    Parameters
    ----------
    sketch_size : int or float
        The number itself, or a fraction of n_features.
    n_features : int

    Returns
    -------
    int
        At least 1, and at most n_features, which makes the sketch exact.
    """
    if isinstance(sketch_size, Integral):
        return min(int(sketch_size), n_features)
    return min(max(1, round(sketch_size * n_features)), n_features)


def sketch_bytes(size: int, n_features: int) -> int:
    """Return the memory of a sketch of `size` directions, in bytes.

    The sketch has 2 `size` rows. Each row also has a copy, from which a failed call is undone, and
    space for the shrinking step.
    """
    return (2 * 2 + 1) * 8 * size * n_features


@positional_estimator
class FrequentDirections(ClassNamePrefixFeaturesOutMixin, CoreTransformer):
    """Frequent directions: a matrix sketch C with ``C'C`` close to ``X'X``, in one pass.

    The sketch has 2 l rows. When they are full, the (l + 1)-th squared singular value is subtracted
    from all squared singular values, which empties at least l + 1 rows (the fast version of [1]_).
    At every time::

        0 <= X'X - C'C <= error_bound_ I,   error_bound_ <= ||X||_F^2 / (l + 1).

    Memory is ``2 l n_features`` numbers whatever the length of the stream, and a row costs
    ``O(l n_features)`` on average.

    Parameters
    ----------
    sketch_size : int >= 1 or float in (0, 1], default=0.1
        Number l of directions, or a fraction of the number of features. More than `n_features` is
        not used.

    Attributes
    ----------
    sketch_ : ndarray of shape (n_rows, n_features), float64
        The sketch C; n_rows is below 2 l.
    sketch_size_ : int
        Number l of directions in use.
    components_ : ndarray of shape (l, n_features), float64
        Right singular vectors of the sketch, longest first; rows of zeros where it has fewer.
    singular_values_ : ndarray of shape (l,), float64
        Singular values of the sketch, in the order of `components_`.
    error_bound_ : float
        Bound on the largest eigenvalue of ``X'X - C'C``: the sum of what the shrinks subtracted.
    squared_norm_ : float
        Squared Frobenius norm ``||X||_F^2`` of all rows seen.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    All rows in use belong to the sketch; using only the upper half, as in [2]_, breaks the bound
    between two shrinks. A shrink decomposes a Gram matrix of at most 2 l rows instead of the
    sketch. Where that would lose singular values (below about 1e-6 of the largest), it decomposes
    the sketch. `transform` projects on `components_`; it does not centre.

    The result does not depend on how a stream is divided into calls. The directions change along
    the stream, and a learner after this transformer is not reset when they do.

    References
    ----------
    .. [1] M. Ghashami, E. Liberty, J. M. Phillips, D. P. Woodruff (2016). Frequent directions:
       simple and deterministic matrix sketching. SIAM Journal on Computing 45, 1762-1792.
    .. [2] H. Xue, Z. Ren (2020). Sketch discriminatively regularized online gradient descent
       classification. Applied Intelligence.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import FrequentDirections
    >>> X = np.random.default_rng(0).normal(size=(1000, 40)) * np.arange(1, 41)
    >>> sketch = FrequentDirections(10).partial_fit(X[:500]).partial_fit(X[500:])
    >>> difference = X.T @ X - sketch.sketch_.T @ sketch.sketch_
    >>> bool(np.linalg.norm(difference, 2) <= sketch.error_bound_)
    True
    >>> bool(sketch.error_bound_ <= np.sum(X**2) / 11)
    True
    """

    sketch_size: SketchSize = 0.1

    _learnt_as = "_sketch"
    _kind = frequent_directions.FrequentDirections

    def fit(self, X: Samples, y: Targets = None) -> Self:
        """Sketch X from scratch.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : object
        """
        return self._insert(X, start=True)

    def partial_fit(self, X: Samples, y: Targets = None) -> Self:
        """Insert the rows of X, in their order.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : object
        """
        return self._insert(X)

    @in_container
    def learn_transform(self, X: Samples, y: Targets = None) -> Array:
        """Project each row of X on the directions of the rows before it, then insert the row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, l)
            Projections on `components_`. The components are updated after 1, 2, 4, ... rows, up to
            l, and then after every l rows. The first row of a stream becomes zeros.
        """
        return self._insert(X, transform=True)

    @fit_method
    @one_blas_thread
    def _insert(self, X: Any, start: bool = False, transform: bool = False) -> Any:
        start = start or not self.__sklearn_is_fitted__()
        warn_of_waiting(self, start)
        X = self._validate(X, reset=start)
        if start:
            n_features = X.shape[1]
            size = sketch_rows(self.sketch_size, n_features)
            n_bytes = sketch_bytes(size, n_features)
            check_size("sketch_size", self.sketch_size, n_bytes, n_features)
            self._sketch = frequent_directions.FrequentDirections(size, n_features)
            self._n_features_out = size
            self.__dict__.pop("_held", None)
        if transform:
            return self._insert_projected(X)
        self._sketch.insert(X)
        return self

    def _insert_projected(self, X: Any) -> Array:
        """Insert rows, and return their projections on the directions in use."""
        n, size = X.shape[0], self._sketch.size
        known, held = vars(self).get("_held", (0, None))
        edges = [0, *(k for k in range(1, n) if is_renewed(known + k, size)), n]
        if len(edges) > 2:
            # An undo takes back only one insertion, and other threads must not see half of a call.
            self._sketch = copy.deepcopy(self._sketch)
        found = []
        for first, last in itertools.pairwise(edges):
            if held is None or is_renewed(known + first, size):
                held = decomposed(self._sketch.rows(), size)[1]
            found.append(projected(X[first:last], held, row_by_row=True))
            self._sketch.insert(X[first:last])
        # The number of projected rows, and the directions for the next ones.
        self._held = known + n, held
        return np.concatenate(found)

    @one_blas_thread
    def merge(self, other: Self) -> Self:
        """Merge the sketch of other rows into this one, which then covers all rows.

        Parameters
        ----------
        other : FrequentDirections
            Fitted, with as many features; it is not changed.

        Returns
        -------
        self : object

        Raises
        ------
        NotFittedError
            If one of the two has seen no rows.
        ValueError
            If the two have different numbers of features.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if other.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"the sketches have {self.n_features_in_} and {other.n_features_in_} features"
            )
        # The other sketch is copied. If two sketches merged each other with locks, each would wait.
        with lock_of(other):
            rows = copy.deepcopy(other._sketch)
        with lock_of(self):
            self._sketch.merge(rows)
        return self

    def transform(self, X: Samples) -> Array:
        """Project samples on `components_`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, l)

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        check_is_fitted(self)
        return projected(self._validate(X), self.components_)

    def _decomposed(self) -> tuple[Floats, Floats]:
        """Return singular values and right singular vectors of the sketch, l of each."""
        check_is_fitted(self)
        return decomposed(self.sketch_, self._sketch.size)

    @property
    def sketch_(self) -> Array:
        """Sketch C, ndarray of shape (n_rows, n_features)."""
        with lock_of(self):
            return self._sketch.rows()

    @property
    def sketch_size_(self) -> int:
        """Number l of directions in use."""
        return self._sketch.size

    @property
    def components_(self) -> Floats:
        """Right singular vectors of the sketch, ndarray of shape (l, n_features)."""
        return self._decomposed()[1]

    @property
    def singular_values_(self) -> Floats:
        """Singular values of the sketch, ndarray of shape (l,)."""
        return self._decomposed()[0]

    @property
    def error_bound_(self) -> float:
        """Bound on the largest eigenvalue of X'X - C'C."""
        return self._sketch.shrinkage

    @property
    def squared_norm_(self) -> float:
        """Squared Frobenius norm of all rows seen."""
        return self._sketch.squared_norm

    def _check_loaded(self) -> None:
        super()._check_loaded()
        own = vars(self)
        if "_held" not in own:
            return
        held = own["_held"]
        known: Any = own.get("_sketch")
        require(type(held) is tuple and len(held) == 2 and known, "it holds no directions")
        require(whole(0, MOST_COUNT - 1)(held[0]), "its count of rows is none")
        require(array(known.size, known.d)(held[1]), "its directions are none")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def is_renewed(count: int, size: int) -> bool:
    """Return whether the directions are updated after this many rows."""
    return count % size == 0 if count >= size else count.bit_count() == 1


def decomposed(sketch: Array, size: int) -> tuple[Floats, Floats]:
    """Return singular values and right singular vectors of a sketch, `size` of each."""
    values, components = np.zeros(size), np.zeros((size, sketch.shape[1]))
    if len(sketch):
        _, found, directions = np.linalg.svd(sketch, full_matrices=False)
        # The largest entry of each direction is made positive, so that signs do not depend on the
        # library.
        largest = np.abs(directions).argmax(axis=1)
        directions *= np.sign(directions[np.arange(len(found)), largest])[:, np.newaxis]
        kept = min(size, int(np.sum(found > 1e-12 * found[0])))
        values[:kept], components[:kept] = found[:kept], directions[:kept]
    return values, components


def projected(X: Any, components: Floats, row_by_row: bool = False) -> Array:
    """Return samples projected on directions; FloatingPointError if a projection overflows.

    With `row_by_row`, the bits of a row do not depend on the number of rows.
    """
    # An overflow is detected below.
    with np.errstate(over="ignore", invalid="ignore"):
        if row_by_row and not sp.issparse(X):
            found = np.array([row @ components.T for row in X])
        else:
            found = np.asarray(X @ components.T)
    check_results(found, "projection")
    return found
