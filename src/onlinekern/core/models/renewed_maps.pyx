"""The map of a model in another metric, with landmarks among given rows."""
import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import issparse

from onlinekern.core.features.joined cimport WithLinear
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.features.metric cimport InMetric
from onlinekern.core.features.nested cimport NestedNystroem
from onlinekern.core.kernels.support_set cimport SupportSet

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
    if isinstance(map, WithLinear):
        return WithLinear(with_landmarks((<WithLinear> map).map, rows, root, n_components))
    if isinstance(map, InMetric):
        root = (<InMetric> map).root if root is None else root
        inner = (<InMetric> map).map
        if isinstance(inner, NestedNystroem):
            rows = InMetric(inner, root).moved(rows)
        return InMetric(with_landmarks(inner, rows, None, n_components), root)
    if not isinstance(map, NestedNystroem):
        return map
    cdef NestedNystroem like = map
    if n_components is not None:
        like = NestedNystroem(SupportSet(*like.landmarks.arguments()), n_components, "first",
                              like.novelty)
    return landmarks_among(like, rows)


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
    inner = in_metric(map).map
    rows = candidates(inner, X, weights, draws) if isinstance(inner, NestedNystroem) else X[:0]
    return with_landmarks(map, rows, root)


def candidates(NestedNystroem like not None, X, weights, draws):
    """The rows that may become landmarks, in their order."""
    if like.selection == "margin":
        return X[weights > 0]
    if like.selection == "ald":
        return X
    return X[np.sort(draws.permutation(len(X))[:like.n_components])]


def landmarks_among(NestedNystroem like not None, Z):
    """Landmarks among rows, which are in the metric if there is one: a map like another one."""
    cdef NestedNystroem map
    arguments = like.landmarks.arguments()
    cdef SupportSet support = SupportSet(*arguments)
    if like.selection == "first" and not issparse(Z) and len(Z) > 0:
        _, places = np.unique(Z, axis=0, return_index=True)
        distinct = np.ascontiguousarray(Z[np.sort(places)])
        support.add_rows(distinct, np.zeros((len(distinct), 1)))
        factor = cholesky_of(kernel_values(support, distinct), like.least)
        if factor is not None:
            map = NestedNystroem(support, like.n_components, like.selection, like.novelty)
            map.set_whitening(solve_triangular(factor, np.eye(len(distinct)), lower=True))
            return map
    # Some are in the span of the others: they are looked at one by one.
    map = NestedNystroem(SupportSet(*arguments), like.n_components, like.selection, like.novelty)
    map.add_rows(Z)
    return map


def cholesky_of(gram, double least):
    """L with L L' = K, None where a row is within the span of those before it, or nearly."""
    try:
        factor = np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return None
    pivots = np.square(np.diagonal(factor))
    return factor if (pivots > least * np.diagonal(gram)).all() else None
