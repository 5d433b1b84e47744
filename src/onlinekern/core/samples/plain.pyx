"""What validation would return as it is: rows of finite numbers that pointers can read.

scikit-learn's validation takes hundreds of microseconds a call. Where it would change nothing, this
finds so in one pass at the speed of memory. Nothing is raised: whoever has found a fault knows
better what to say of it.
"""
cimport numpy as cnp

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.vector cimport ok_vector_ops, ops_for
from onlinekern.core.samples.rows cimport is_plain, known_samples

from onlinekern.core.samples.rows import checked_csr

cnp.import_array()

# So many elements take less time than to give up the GIL for them.
cdef enum: FEW = 1024

cdef tuple CSR = (sp.csr_matrix, sp.csr_array)


cdef bint is_finite(cnp.ndarray array):
    """Whether all elements of an array, which pointers can read, are finite."""
    cdef const ok_vector_ops *ops = ops_for(cnp.PyArray_ITEMSIZE(array))
    cdef const void *data = cnp.PyArray_DATA(array)
    cdef Py_ssize_t count = cnp.PyArray_SIZE(array)
    cdef bint found
    if count <= FEW:
        return ops.all_finite(data, count)
    with nogil:
        found = ops.all_finite(data, count)
    return found


def all_finite(values):
    """Whether an array of numbers holds finite ones only.

    Parameters
    ----------
    values : ndarray
    """
    if is_plain(values, cnp.NPY_FLOAT64) or is_plain(values, cnp.NPY_FLOAT32):
        return is_finite(values)
    return bool(np.isfinite(values).all())


cdef bint is_taken(object values, bint narrow, bint wide):
    """Whether this is an array that pointers can read, of one of the types wanted."""
    return type(values) is np.ndarray and (
        narrow and is_plain(values, cnp.NPY_FLOAT32) or wide and is_plain(values, cnp.NPY_FLOAT64))


def plain_rows(X, bint narrow, bint wide):
    """X as validation returns it, where there is nothing to convert and nothing is wrong.

    Parameters
    ----------
    X : object
    narrow, wide : bool
        Whether elements may be float32, and whether float64.

    Returns
    -------
    ndarray or CSR matrix of shape (n, d), or None
        X itself, if it is an array in C order; what `checked_csr` makes of it, if it is a CSR
        matrix with indices of int32. All numbers are finite, n and d at least 1. None for
        everything else.
    """
    if is_taken(X, narrow, wide):
        whole = cnp.PyArray_NDIM(<cnp.ndarray> X) == 2 and cnp.PyArray_SIZE(<cnp.ndarray> X) > 0
        return X if whole and is_finite(X) else None
    if type(X) not in CSR:
        return None
    values, shape = X.data, X.shape
    if not is_taken(values, narrow, wide) or len(shape) != 2 or 0 in shape \
            or not is_plain(X.indices, cnp.NPY_INT32) or not is_plain(X.indptr, cnp.NPY_INT32) \
            or not is_finite(values):
        return None
    if known_samples(X) is not None:
        return X
    try:
        return checked_csr(X)
    except ValueError:
        return None
