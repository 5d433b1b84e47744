# The inverse of a growing Cholesky factor, in panels. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.linalg.cholesky cimport Cholesky


cdef class InversePanels:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n, itemsize
    cdef Py_ssize_t held         # panels of rows that there is room for
    cdef char *lower             # panel p: rows 64 p ... of W as lanes, 64 (p + 1) features
    cdef char *upper             # panel p: columns 64 p ... of W as lanes, 64 (held - p) features
    cdef double *row             # a row of W

    cdef char *lower_panel(self, Py_ssize_t p) noexcept nogil
    cdef char *upper_panel(self, Py_ssize_t p) noexcept nogil
    cdef Status reserve(self, Py_ssize_t rows) noexcept nogil
    cdef void release(self) noexcept nogil
    cdef void truncate(self, Py_ssize_t n) noexcept nogil
    cdef void append(self, const double *solution, double pivot) noexcept nogil
    cdef Status follow(self, Cholesky factor) noexcept nogil
    cdef double least_distance(self) noexcept nogil
    cdef Status narrow(self) noexcept nogil
    cdef void multiply(self, const char *k, Py_ssize_t ld, Py_ssize_t n_rows, Py_ssize_t first,
                       char *h) noexcept nogil
    cdef void multiply_transposed(self, const char *h, Py_ssize_t ld, Py_ssize_t n_rows,
                                  char *d) noexcept nogil
    cdef void add_rows(self, Py_ssize_t first, const double *h, double *d) noexcept nogil
