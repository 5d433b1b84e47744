# Elementary work on sparse rows (layer 1). May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.vector cimport ok_sparse_row

cdef void scatter(char *lane, const char *values, const int32_t *columns, const int32_t *place,
                  Py_ssize_t count, Py_ssize_t itemsize) noexcept nogil
cdef Py_ssize_t nonzeros(const char *x, Py_ssize_t n, Py_ssize_t itemsize) noexcept nogil
cdef Py_ssize_t pack(const char *row, Py_ssize_t d, Py_ssize_t itemsize, char *values,
                     int32_t *columns) noexcept nogil
cdef double sparse_distance(const ok_sparse_row *x, const ok_sparse_row *z,
                            Py_ssize_t itemsize) noexcept nogil
