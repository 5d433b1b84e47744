"""The choice of the vector primitives for this processor, and memory that is aligned for them.

The table is chosen once, at import: the best that the processor runs, or a lower one when
the environment variable ``ONLINEKERN_ISA`` names it (``baseline``, ``x86-64-v3``, ``x86-64-v4``).
"""
from libc.stdint cimport int32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np
import os

from onlinekern.core.base.part cimport NO_MEMORY

cdef extern from "stdlib.h" nogil:
    void *aligned_alloc(size_t alignment, size_t size)

cdef extern from *:
    """
    #ifdef __linux__
    #include <sys/mman.h>
    static int ok_release(void *pages, size_t bytes)
    {
        return madvise(pages, bytes, MADV_DONTNEED);
    }
    #else
    static int ok_release(void *pages, size_t bytes)
    {
        (void)pages, (void)bytes;
        return -1;
    }
    #endif
    """
    int ok_release(void *pages, size_t bytes) nogil

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

cdef const ok_vector_table *table = NULL

# Pages that are returned to the system are zero when they are used again, and take no memory until
# then. This is faster than writing zeros for MANY bytes or more; PAGE is the largest page size.
cdef Py_ssize_t PAGE = 1 << 16, MANY = 1 << 18
cdef bint releases = False


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


cdef int csr_faults(const int32_t *columns, const int32_t *starts, Py_ssize_t n, int32_t d,
                    int32_t stored) noexcept nogil:
    """Check the indices of a CSR matrix. Returns the sum of the OK_CSR_... errors found, or 0."""
    return table.csr_faults(columns, starts, n, d, stored)


cdef void *aligned_room(Py_ssize_t bytes) noexcept nogil:
    """Uninitialised memory, 64-byte aligned; NULL if there is none."""
    cdef Py_ssize_t rounded
    if not 0 <= bytes <= PY_SSIZE_T_MAX - 63:
        return NULL
    rounded = (bytes + 63) // 64 * 64
    return aligned_alloc(64, rounded if rounded > 0 else 64)


cdef void *aligned_resize(void *old, Py_ssize_t old_bytes, Py_ssize_t new_bytes) noexcept nogil:
    """Memory of `new_bytes`, 64-byte aligned, that begins with the old content, the rest zero.

    Frees `old` on success; on failure returns NULL and leaves `old` alone.
    """
    cdef Py_ssize_t kept = min(old_bytes, new_bytes)
    cdef char *fresh = <char *> aligned_room(new_bytes)
    if fresh == NULL:
        return NULL
    if kept > 0:
        memcpy(fresh, old, kept)
    clear(fresh + kept, (new_bytes + 63) // 64 * 64 - kept)
    free(old)
    return fresh


cdef void clear(char *memory, Py_ssize_t bytes) noexcept nogil:
    """Set bytes to 0. Large memory is returned to the system: models reserve much that they may
    never use.
    """
    cdef Py_ssize_t head = -<Py_ssize_t> (<uintptr_t> memory) & (PAGE - 1)
    cdef Py_ssize_t inner = (bytes - head) & ~(PAGE - 1)
    if releases and bytes >= MANY and ok_release(memory + head, inner) == 0:
        memset(memory, 0, head)
        memset(memory + head + inner, 0, bytes - head - inner)
    else:
        memset(memory, 0, bytes)


cdef int find_whether_released() except -1:
    """Test whether pages returned to the system become zero: emulators may not do that."""
    global releases
    cdef char *memory = <char *> aligned_room(MANY)
    if memory == NULL:
        raise MemoryError(f"no memory for {MANY} bytes")
    memset(memory, 1, MANY)
    releases = True
    clear(memory, MANY)
    releases = memory[0] == 0 and memory[MANY // 2] == 0 and memory[MANY - PAGE - 1] == 0
    free(memory)
    return 0


cdef void *resize_array(void *old, Py_ssize_t old_bytes, Py_ssize_t count,
                        Py_ssize_t size) noexcept nogil:
    """`aligned_resize` to count * size bytes; also NULL if the product overflows."""
    if count < 0 or size < 0 or (size > 0 and count > PY_SSIZE_T_MAX // size):
        return NULL
    return aligned_resize(old, old_bytes, count * size)


cdef int grow(void **memory, Py_ssize_t *held, Py_ssize_t bytes) noexcept nogil:
    """Reallocate `memory` of `held` bytes if it has fewer than `bytes`; its content is lost then.

    Returns 1 if the memory is new, and zero; 0 if it was large enough; NO_MEMORY otherwise.
    """
    cdef void *fresh
    if bytes <= held[0]:
        return 0
    fresh = aligned_resize(memory[0], 0, bytes)
    if fresh == NULL:
        return NO_MEMORY
    memory[0] = fresh
    held[0] = bytes
    return 1


def exponential(values, out=None):
    """exp of min(values, 0), element by element, as the kernels compute it (for tests).

    Parameters
    ----------
    values : ndarray, float32 or float64
    out : ndarray, optional
        `values` itself, in C order, to overwrite it (for benchmarks).

    Returns
    -------
    ndarray of the shape and dtype of `values`
    """
    if out is None:
        out = np.array(values, ndmin=1, order="C")
    cdef const ok_vector_ops *ops = ops_for(out.itemsize)
    cdef Py_ssize_t address = out.ctypes.data, n = out.size
    ops.exponential(<void *> address, n, 1, n, 1.0, NULL, NULL)
    return out


def cosine_sine(values, out=None):
    """cos and sin, element by element, as the random features are computed (for tests).

    Parameters
    ----------
    values : ndarray of shape (n,), float32 or float64
    out : ndarray of shape (2, n), optional
        Overwritten; if its first row is `values`, nothing is copied (for benchmarks).

    Returns
    -------
    ndarray of shape (2, n)
        The cosines, then the sines, of the dtype of `values`.
    """
    values = np.ravel(values)
    if out is None:
        out = np.zeros((2, values.size), dtype=values.dtype)
    if not np.may_share_memory(values, out):
        out[0] = values
    cdef const ok_vector_ops *ops = ops_for(out.itemsize)
    cdef Py_ssize_t address = out.ctypes.data, n = values.size
    ops.cosine_sine(<void *> address, 2 * n, 1, n, n, 1.0)
    return out


def product(X, panels, out):
    """Products of rows with the vectors of panels, as the learners compute them (for benchmarks).

    Parameters
    ----------
    X : ndarray (C order), or CSR matrix with columns of int32, of shape (n, d)
    panels : ndarray of shape (m, d, 64), of the dtype of X
        64 vectors each, feature by feature.
    out : ndarray of shape (n, 64 m), of that dtype
        Overwritten.
    """
    cdef const ok_vector_ops *ops = ops_for(out.itemsize)
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], m = len(panels), size = out.itemsize
    cdef Py_ssize_t i, p, block = out.ctypes.data, panel = panels.ctypes.data, values, columns
    cdef ok_sparse_row *rows = NULL
    cdef const int32_t[::1] starts
    cdef bint dense = isinstance(X, np.ndarray)
    if X.dtype != out.dtype or panels.dtype != out.dtype or panels.shape != (m, d, OK_PANEL) \
            or out.shape != (n, m * OK_PANEL):
        raise ValueError("X, panels and out do not fit together")
    if dense:
        values = X.ctypes.data
    else:
        rows = <ok_sparse_row *> malloc(max(n, 1) * sizeof(ok_sparse_row))
        if rows == NULL:
            raise MemoryError(f"no memory for {n} rows")
        starts = X.indptr
        values, columns = X.data.ctypes.data, X.indices.ctypes.data
        for i in range(n):
            rows[i].values = <char *> values + starts[i] * size
            rows[i].columns = <const int32_t *> columns + starts[i]
            rows[i].count = starts[i + 1] - starts[i]
    for p in range(m):
        if dense:
            ops.dense[OK_DOT](<void *> values, d, n, d, <char *> panel + p * d * OK_PANEL * size,
                              <char *> block + p * OK_PANEL * size, m * OK_PANEL)
        else:
            ops.sparse[OK_DOT](rows, n, NULL, <char *> panel + p * d * OK_PANEL * size,
                               <char *> block + p * OK_PANEL * size, m * OK_PANEL)
    free(rows)


choose()
find_whether_released()
