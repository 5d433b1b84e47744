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


cdef inline double short_dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    """a . b of few numbers, in four partial sums: the additions of one would wait for each other.
    """
    cdef double one = 0, two = 0, three = 0, four = 0
    cdef Py_ssize_t j, whole = n - n % 4
    for j in range(0, whole, 4):
        one += a[j] * b[j]
        two += a[j + 1] * b[j + 1]
        three += a[j + 2] * b[j + 2]
        four += a[j + 3] * b[j + 3]
    for j in range(whole, n):
        one += a[j] * b[j]
    return (one + two) + (three + four)


cdef class Entries:
    cdef readonly Py_ssize_t width
    cdef bint intercept
    cdef double *values
    cdef int32_t *places
    cdef Vector vector
    cdef double square           # their squared length
    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil
