"""The map of a model in another metric, with landmarks among given rows."""
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
    """The map in a metric, without the linear features beside it."""
    inner = (<WithLinear> map).map if isinstance(map, WithLinear) else map
    if not isinstance(inner, InMetric):
        raise TypeError(f"the map must be InMetric, got {type(inner).__name__}")
    return inner


def with_landmarks(FeatureMap map not None, rows, root=None, n_components=None):
    """Such a map with landmarks among rows, perhaps in another metric.

    Parameters
    ----------
    map : FeatureMap
        Without Nystroem features it has no landmarks, and rows are not looked at.
    rows : ndarray or CSR matrix of shape (n, d)
        Those that may become landmarks.
    root : ndarray of shape (d,) or (d, d), optional
        M^(1/2) of a map in a metric; by default the one that it has.
    n_components : int, optional
        All of at most so many rows become landmarks, but for repeated ones; by default, as the map
        selects them.
    """
    search = LandmarkSearch(map, root, n_components)
    search.begin(rows)
    every = slice(0, rows.shape[0])
    for name in ("stand", "compare", "factor", "settle", "consider"):
        getattr(search, name)(every)
    return search.map()


def renewed(FeatureMap map not None, root, X, weights, draws):
    """Such a map in another metric, with landmarks among the rows X.

    Parameters
    ----------
    map : FeatureMap
    root : ndarray of shape (d,) or (d, d)
    X : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
        0 of rows that have not entered.
    draws : numpy.random.RandomState
    """
    return with_landmarks(map, candidates(in_metric(map).map, X, weights, draws), root)


def candidates(FeatureMap inner not None, X, weights, draws):
    """The rows that may become landmarks of a map, in their order."""
    if not isinstance(inner, NestedNystroem):
        return X[:0]
    cdef NestedNystroem like = inner
    if like.selection == "margin":
        return X[weights > 0]
    if like.selection == "ald":
        return X
    return X[np.sort(draws.permutation(len(X))[:like.n_components])]


class LandmarkSearch:
    """The search for landmarks among rows, in pieces: a map like another one.

    After `begin` and `stand` come `compare` and `factor` of all rows, some after others, `settle`,
    and `consider` of all rows. The parameters are those of `with_landmarks`.
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
        """Begin with rows, ndarray or CSR matrix of shape (n, d)."""
        if not self.is_nested:
            return
        self.rows = rows if self.root is None else InMetric(self.found, self.root).moved(rows)
        if self.selection == "first" and not issparse(rows) and len(rows) > 0:
            _, places = np.unique(self.rows, axis=0, return_index=True)
            self.rows = np.ascontiguousarray(self.rows[np.sort(places)])
            self.n, self.is_whole = len(self.rows), True

    def stand(self, _):
        """Begin with all rows as landmarks."""
        if self.is_whole:
            self.support = SupportSet(*self.arguments)
            self.support.add_rows(self.rows, np.zeros((self.n, 1)))
            self.gram = np.empty((self.n, self.n), order="F")
            self.factors = np.zeros((self.n, self.n), order="F")
            self.inverse = np.zeros((self.n, self.n))

    def compare(self, rows):
        """Find the kernel values of some rows."""
        if rows.start < self.n:
            self.gram[:, rows] = kernel_values(self.support, self.rows[rows]).T

    def factor(self, rows):
        """Orthogonalise some rows, behind all before them."""
        own = slice(rows.start, min(rows.stop, self.n))
        if own.start >= own.stop or not self.is_whole:
            return
        self.is_whole = factor_columns(self.gram, self.factors, own.start, own.stop)
        if self.is_whole:
            # A row may be within the span of those before it, or nearly.
            pivots = np.square(np.diagonal(self.factors)[own])
            self.is_whole = bool((pivots > self.least * np.diagonal(self.gram)[own]).all())
        if self.is_whole:
            invert_rows(self.factors, self.inverse, own.start, own.stop)

    def settle(self, _):
        """Have the landmarks, if all rows are, or none."""
        if self.is_nested:
            support = self.support if self.is_whole else SupportSet(*self.arguments)
            self.found = NestedNystroem(support, self.n_components, self.selection, self.novelty)
            if self.is_whole:
                self.found.set_whitening(self.inverse)
            self.gram = self.factors = self.inverse = None

    def consider(self, rows):
        """Look at some rows one by one, where some are in the span of others."""
        if self.is_nested and not self.is_whole:
            self.found.add_rows(self.rows[rows])

    def map(self):
        """The map."""
        found = self.found if self.root is None else InMetric(self.found, self.root)
        return WithLinear(found) if self.has_linear else found
