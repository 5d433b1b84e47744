"""The map of a model in another metric, with landmarks among given rows."""
import numpy as np
from scipy.linalg import solve_triangular

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


def map_in_metric(FeatureMap map not None, root, rows, n_components=None):
    """Such a map in another metric, with landmarks among rows.

    Parameters
    ----------
    map : FeatureMap
    root : ndarray of shape (d,) or (d, d)
        M^(1/2).
    rows : ndarray of shape (n, d)
        Those that may become landmarks.
    n_components : int or None
        All of at most so many rows become landmarks, but for repeated ones; None: as the map
        selects them.
    """
    if isinstance(map, WithLinear):
        return WithLinear(map_in_metric((<WithLinear> map).map, root, rows, n_components))
    cdef FeatureMap inner = (<InMetric> map).map
    cdef NestedNystroem like
    if isinstance(inner, NestedNystroem):
        like = inner
        if n_components is not None:
            like = NestedNystroem(SupportSet(*like.landmarks.arguments()), n_components, "first",
                                  like.novelty)
        inner = landmarks_among(like, InMetric(inner, root).moved(rows))
    return InMetric(inner, root)


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
    return map_in_metric(map, root, rows)


def candidates(NestedNystroem like not None, X, weights, draws):
    """The rows that may become landmarks, in their order."""
    if like.selection == "margin":
        return X[weights > 0]
    if like.selection == "ald":
        return X
    return X[np.sort(draws.permutation(len(X))[:like.n_components])]


def landmarks_among(NestedNystroem like not None, Z):
    """Landmarks among rows that are in the metric: a map like another one without any."""
    cdef NestedNystroem map
    arguments = like.landmarks.arguments()
    cdef SupportSet support = SupportSet(*arguments)
    if like.selection == "first" and len(Z) > 0:
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
