"""Rows of one-hot features as rows of numbers of categories, which forests cut into sets.

A layout says what each column of the new rows is: (j, 1) is feature j as it is; (j, 0) is feature
j, but missing where feature j + 1 is not 0; (j, m) with m > 1 is the number of the first feature
among j ... j + m - 1 that is not 0, or `MOST_CODE` if all are.
"""
cimport numpy as cnp

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int64_t

from onlinekern.core.base.state cimport integer_within

cnp.import_array()

# That of `partitions.scale`, which says it is no category that has been learnt.
cdef double UNKNOWN = 65535

ctypedef fused real:
    float
    double


def layout_of(pairs, Py_ssize_t d):
    """A layout for rows of d features, as a tuple of pairs of integers; checks them."""
    if not isinstance(pairs, (tuple, list)):
        raise TypeError(f"a layout is a tuple of pairs, got {type(pairs).__name__}")
    found = []
    for pair in pairs:
        if type(pair) is not tuple or len(pair) != 2:
            raise TypeError(f"a layout holds pairs of integers, got {pair!r}")
        first = integer_within("the first feature of a layout", pair[0], 0, d - 1)
        most = d - first
        count = integer_within("the features of a layout", pair[1], 0, most)
        if count == 0 and most < 2:
            raise ValueError("a layout has no feature that says where the last one is missing")
        found.append((int(first), int(count)))
    return tuple(found)


cdef void fill(const real[:, ::1] X, const int64_t[:, ::1] layout, real[:, ::1] out) noexcept nogil:
    cdef Py_ssize_t i, j, k, first, count
    for i in range(X.shape[0]):
        for j in range(layout.shape[0]):
            first, count = layout[j, 0], layout[j, 1]
            if count == 1:
                out[i, j] = X[i, first]
            elif count == 0:
                out[i, j] = X[i, first] if X[i, first + 1] == 0 else <real> NAN
            else:
                out[i, j] = <real> UNKNOWN
                for k in range(count):
                    if X[i, first + k] != 0:
                        out[i, j] = <real> k
                        break


def coded_rows(X, tuple layout):
    """Rows of this layout, dense and of the dtype of X.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    layout : tuple
        That of `layout_of`, of d features.
    """
    dense = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray())
    out = np.empty((dense.shape[0], len(layout)), dtype=dense.dtype)
    cdef const int64_t[:, ::1] places = np.array(layout, dtype=np.int64).reshape(-1, 2)
    if dense.dtype == np.float32:
        fill[float](dense, places, out)
    else:
        fill[double](dense, places, out)
    return out
