# One sample in double, dense or sparse (layer 2). May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.rows cimport Rows


cdef struct Vector:
    const double *values
    const int32_t *places    # NULL: at 0 ... count - 1
    Py_ssize_t count


cdef inline void add_vector(const Vector *x, double factor, double *out) noexcept nogil:
    """out += factor x"""
    cdef Py_ssize_t j
    if x.places == NULL:
        for j in range(x.count):
            out[j] += factor * x.values[j]
    else:
        for j in range(x.count):
            out[x.places[j]] += factor * x.values[j]


cdef class Entries:
    cdef readonly Py_ssize_t width
    cdef bint intercept
    cdef double *values
    cdef int32_t *places
    cdef Vector vector
    cdef double square
    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil
