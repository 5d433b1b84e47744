"""The choice of the vector primitives for this processor, and memory that is aligned for them.

Layer 0. The table is chosen once, at import: the best that the processor runs, or a lower one when
the environment variable ``ONLINEKERN_ISA`` names it (``baseline``, ``x86-64-v3``, ``x86-64-v4``).
"""
import os

from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

cdef extern from "stdlib.h" nogil:
    void *aligned_alloc(size_t alignment, size_t size)

cdef const ok_vector_table *table = NULL


cdef int choose() except -1:
    global table
    wanted = os.environ.get("ONLINEKERN_ISA", "")
    encoded = wanted.encode()
    table = ok_vector_select(<const char *> encoded if wanted else NULL)
    if table == NULL:
        levels = ", ".join(available_levels())
        raise ImportError(
            f"ONLINEKERN_ISA={wanted!r} is none of the instruction sets of this machine: {levels}"
        )
    return 0


def available_levels():
    """Names of the instruction sets that this build has and this processor runs, best first."""
    return [name for name in ("x86-64-v4", "x86-64-v3", "baseline")
            if ok_vector_select(<bytes> name.encode()) != NULL]


def level():
    """Name of the instruction set in use."""
    return table.name.decode()


cdef const ok_vector_ops *ops_for(Py_ssize_t itemsize) noexcept nogil:
    """The primitives for float32 (itemsize 4) or float64 (8)."""
    return &table.float32 if itemsize == 4 else &table.float64


cdef void *aligned_resize(void *old, Py_ssize_t old_bytes, Py_ssize_t new_bytes) noexcept nogil:
    """Memory of `new_bytes`, 64-byte aligned, that begins with the old content, the rest zero.

    Frees `old` on success; on failure returns NULL and leaves `old` alone.
    """
    cdef Py_ssize_t rounded = (new_bytes + 63) // 64 * 64
    cdef char *fresh = <char *> aligned_alloc(64, rounded if rounded > 0 else 64)
    cdef Py_ssize_t kept = min(old_bytes, new_bytes)
    if fresh == NULL:
        return NULL
    if kept > 0:
        memcpy(fresh, old, kept)
    memset(fresh + kept, 0, rounded - kept)
    free(old)
    return fresh


def exponential(values):
    """exp of min(values, 0), element by element, as the kernels compute it (for tests).

    Parameters
    ----------
    values : ndarray of shape (n,), float32 or float64

    Returns
    -------
    ndarray of shape (n,)
        A new array of the same dtype.
    """
    out = np.array(values, ndmin=1, order="C")
    cdef const ok_vector_ops *ops = ops_for(out.itemsize)
    cdef Py_ssize_t address = out.ctypes.data, n = out.size
    ops.exponential(<void *> address, n, 1, n, 1.0, NULL, NULL)
    return out


def cosine_sine(values):
    """cos and sin, element by element, as the random features are computed (for tests).

    Parameters
    ----------
    values : ndarray of shape (n,), float32 or float64

    Returns
    -------
    ndarray of shape (2, n)
        A new array of the same dtype: the cosines, then the sines.
    """
    values = np.ravel(values)
    out = np.zeros((2, values.size), dtype=values.dtype)
    out[0] = values
    cdef const ok_vector_ops *ops = ops_for(out.itemsize)
    cdef Py_ssize_t address = out.ctypes.data, n = values.size
    ops.cosine_sine(<void *> address, 2 * n, 1, n, n, 1.0)
    return out


choose()
