"""Copies of a feature map in another metric, with landmarks chosen among given rows."""
import numpy as np
from scipy.sparse import issparse

from onlinekern.core.features.joined cimport WithLinear
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.features.metric cimport InMetric
from onlinekern.core.features.nested cimport NestedNystroem
from onlinekern.core.kernels.support_set cimport SupportSet

from onlinekern.core.linalg.pieces import factor_columns, invert_rows
from onlinekern.core.models.union import kernel_values


cdef InMetric in_metric(FeatureMap map):
    """The `InMetric` of a map, which may have linear features beside it."""
    inner = (<WithLinear> map).map if isinstance(map, WithLinear) else map
    if not isinstance(inner, InMetric):
        raise TypeError(f"the map must be InMetric, got {type(inner).__name__}")
    return inner


def with_landmarks(FeatureMap map not None, rows, root=None, n_components=None):
    """A map of the same kind with landmarks among rows, and another metric if `root` is given.

    Parameters
    ----------
    map : FeatureMap
        A map without Nystroem features has no landmarks: rows are not used.
    rows : ndarray or CSR matrix of shape (n, d)
        Candidates for landmarks.
    root : ndarray of shape (d,) or (d, d), optional
        M^(1/2), if the map is in a metric; by default its own.
    n_components : int, optional
        All rows, at most this many, become landmarks, without duplicates. By default the map
        selects them.
    """
    search = LandmarkSearch(map, root, n_components)
    search.begin(rows)
    every = slice(0, rows.shape[0])
    for name in ("stand", "compare", "factor", "settle", "consider"):
        getattr(search, name)(every)
    return search.map()


def renewed(FeatureMap map not None, root, X, weights, draws):
    """A map of the same kind in the metric of `root`, with landmarks among the rows X.

    Parameters
    ----------
    map : FeatureMap
    root : ndarray of shape (d,) or (d, d)
    X : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
        0 for rows that were not learnt.
    draws : numpy.random.RandomState
    """
    return with_landmarks(map, candidates(in_metric(map).map, X, weights, draws), root)


def candidates(FeatureMap inner not None, X, weights, draws):
    """The candidates for landmarks of a map among the rows X, in the same order."""
    if not isinstance(inner, NestedNystroem):
        return X[:0]
    cdef NestedNystroem like = inner
    if like.selection == "margin":
        return X[weights > 0]
    if like.selection == "ald":
        return X
    return X[np.sort(draws.permutation(len(X))[:like.n_components])]


class LandmarkSearch:
    """Searches landmarks among rows in small steps; does what `with_landmarks` does.

    Call `begin` and `stand`; `compare` and `factor` for all rows, slice by slice in order;
    `settle`; `consider` for all rows; and `map`, which returns the result.
    """

    def __init__(self, FeatureMap map not None, root=None, n_components=None):
        cdef NestedNystroem like
        self.has_linear, self.is_whole, self.n = isinstance(map, WithLinear), False, 0
        inner = (<WithLinear> map).map if self.has_linear else map
        self.root = None
        if isinstance(inner, InMetric):
            self.root = (<InMetric> inner).root if root is None else root
            inner = (<InMetric> inner).map
        self.rows, self.found = None, inner
        self.is_nested = isinstance(inner, NestedNystroem)
        if self.is_nested:
            like = inner
            self.selection, self.least, self.novelty = like.selection, like.least, like.novelty
            self.n_components, self.arguments = like.n_components, like.landmarks.arguments()
            if n_components is not None:
                self.selection, self.n_components = "first", n_components
                self.least = like.rounding

    def begin(self, rows):
        """Set the candidates, ndarray or CSR matrix of shape (n, d)."""
        if not self.is_nested:
            return
        self.rows = rows if self.root is None else InMetric(self.found, self.root).moved(rows)
        if self.selection == "first" and not issparse(rows) and len(rows) > 0:
            _, places = np.unique(self.rows, axis=0, return_index=True)
            self.rows = np.ascontiguousarray(self.rows[np.sort(places)])
            self.n, self.is_whole = len(self.rows), True

    def stand(self, _):
        """Allocate the kernel matrix and its factors, if all rows may become landmarks."""
        if self.is_whole:
            self.support = SupportSet(*self.arguments)
            self.support.add_rows(self.rows, np.zeros((self.n, 1)))
            self.gram = np.empty((self.n, self.n), order="F")
            self.factors = np.zeros((self.n, self.n), order="F")
            self.inverse = np.zeros((self.n, self.n))

    def compare(self, rows):
        """Compute the kernel values of some rows with all rows."""
        if rows.start < self.n:
            self.gram[:, rows] = kernel_values(self.support, self.rows[rows]).T

    def factor(self, rows):
        """Compute the Cholesky factor and its inverse for some rows, after all rows before them."""
        own = slice(rows.start, min(rows.stop, self.n))
        if own.start >= own.stop or not self.is_whole:
            return
        self.is_whole = factor_columns(self.gram, self.factors, own.start, own.stop)
        if self.is_whole:
            # A row (nearly) in the span of those before it: fall back to `consider`, row by row.
            pivots = np.square(np.diagonal(self.factors)[own])
            self.is_whole = bool((pivots > self.least * np.diagonal(self.gram)[own]).all())
        if self.is_whole:
            invert_rows(self.factors, self.inverse, own.start, own.stop)

    def settle(self, _):
        """Make the map: with all rows as landmarks, or with none if they are linearly dependent."""
        if self.is_nested:
            support = self.support if self.is_whole else SupportSet(*self.arguments)
            self.found = NestedNystroem(support, self.n_components, self.selection, self.novelty)
            if self.is_whole:
                self.found.set_whitening(self.inverse)
            self.gram = self.factors = self.inverse = None

    def consider(self, rows):
        """Let the map select landmarks among some rows one by one, unless all are landmarks."""
        if self.is_nested and not self.is_whole:
            self.found.add_rows(self.rows[rows])

    def map(self):
        """The new map, in the metric and with linear features as before."""
        found = self.found if self.root is None else InMetric(self.found, self.root)
        return WithLinear(found) if self.has_linear else found
