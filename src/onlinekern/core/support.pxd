# The support set and its look-ahead window (layer 6). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.kernels cimport Kernel
from onlinekern.core.rows cimport Rows
from onlinekern.core.stores cimport Store
from onlinekern.core.vector cimport ok_vector_ops
from onlinekern.core.windows cimport Window


cdef class SupportSet:
    cdef const ok_vector_ops *ops
    cdef readonly Kernel kernel
    cdef readonly Store store
    cdef readonly Py_ssize_t n, capacity, n_outputs
    cdef readonly bint averaged, sparse
    cdef double *coefficients    # n_outputs x capacity, to be multiplied by scale
    cdef double *companions      # the same shape, when averaged
    cdef char *terms             # kernel terms of the support rows
    cdef double scale, total
    cdef int64_t steps
    cdef Window window
    cdef Saved saved

    cdef Window new_window(self, Py_ssize_t rows)
    cdef int make_room(self, Py_ssize_t rows) except -1
    cdef int open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                  Py_ssize_t n) noexcept nogil
    cdef void scores(self, Window window, Py_ssize_t i, double *current,
                     double *averaged) noexcept nogil
    cdef int add(self, Py_ssize_t i, const double *coefficients) noexcept nogil
    cdef int place(self, Py_ssize_t slot, Py_ssize_t i) noexcept nogil
    cdef void advance(self) noexcept nogil
    cdef void shrink(self, double factor) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef void preserve(self) noexcept nogil
    cdef void fold(self, double factor) noexcept nogil
    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef double *widened(self, double *old, Py_ssize_t capacity) noexcept nogil
    cdef object raw(self, double *values)


cdef class Saved:
    cdef bint active
    cdef Py_ssize_t n
    cdef double scale, total
    cdef int64_t steps
    cdef double *coefficients
    cdef double *companions
