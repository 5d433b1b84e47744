# Arithmetic of one sample with vectors of doubles. May change at minor versions.
from cython cimport floating
from libc.stdint cimport int32_t

from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.samples.rows cimport Rows, is_sparse, sparse_row


cdef inline double sparse_dot(const floating *x, const int32_t *columns, Py_ssize_t count,
                              const double *a) noexcept nogil:
    """Four partial sums: the additions of one would wait for each other."""
    cdef double one = 0, two = 0, three = 0, four = 0
    cdef Py_ssize_t j, whole = count & ~<Py_ssize_t> 3
    for j in range(0, whole, 4):
        one += x[j] * a[columns[j]]
        two += x[j + 1] * a[columns[j + 1]]
        three += x[j + 2] * a[columns[j + 2]]
        four += x[j + 3] * a[columns[j + 3]]
    for j in range(whole, count):
        one += x[j] * a[columns[j]]
    return (one + two) + (three + four)


cdef inline double sparse_square(const floating *x, Py_ssize_t count) noexcept nogil:
    """Four partial sums, which a short row has done before a vector primitive has begun."""
    cdef double one = 0, two = 0, three = 0, four = 0
    cdef Py_ssize_t j, whole = count & ~<Py_ssize_t> 3
    for j in range(0, whole, 4):
        one += <double> x[j] * x[j]
        two += <double> x[j + 1] * x[j + 1]
        three += <double> x[j + 2] * x[j + 2]
        four += <double> x[j + 3] * x[j + 3]
    for j in range(whole, count):
        one += <double> x[j] * x[j]
    return (one + two) + (three + four)


cdef inline void sparse_add(const floating *x, const int32_t *columns, Py_ssize_t count,
                            double factor, double *out) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(count):
        out[columns[j]] += factor * x[j]


cdef double dense_row_dot(const Rows *rows, Py_ssize_t i, const double *a) noexcept nogil
cdef double dense_row_square(const Rows *rows, Py_ssize_t i) noexcept nogil


# A short sparse row is done with before a call would have begun: these stand where they are used.
cdef inline double sparse_row_dot(const Rows *rows, Py_ssize_t i, const double *a) noexcept nogil:
    """x_i . a of a sparse row"""
    cdef ok_sparse_row x = sparse_row(rows, i)
    if rows.itemsize == 4:
        return sparse_dot(<const float *> x.values, x.columns, x.count, a)
    return sparse_dot(<const double *> x.values, x.columns, x.count, a)


cdef inline double row_square(const Rows *rows, Py_ssize_t i) noexcept nogil:
    """||x_i||^2"""
    cdef ok_sparse_row x
    if not is_sparse(rows):
        return dense_row_square(rows, i)
    x = sparse_row(rows, i)
    if rows.itemsize == 4:
        return sparse_square(<const float *> x.values, x.count)
    return sparse_square(<const double *> x.values, x.count)


cdef inline void sparse_row_add(const Rows *rows, Py_ssize_t i, double factor,
                                double *out) noexcept nogil:
    """out += factor x_i of a sparse row"""
    cdef ok_sparse_row x = sparse_row(rows, i)
    if rows.itemsize == 4:
        sparse_add(<const float *> x.values, x.columns, x.count, factor, out)
    else:
        sparse_add(<const double *> x.values, x.columns, x.count, factor, out)


cdef void row_dots(const Rows *rows, Py_ssize_t i, const double *a, const double *b,
                   double *sums) noexcept nogil
cdef void row_add(const Rows *rows, Py_ssize_t i, double factor, double *out) noexcept nogil
cdef void load_numbers(const void *x, Py_ssize_t itemsize, Py_ssize_t count,
                       double *out) noexcept nogil
cdef Py_ssize_t load_stored(const Rows *rows, Py_ssize_t i, double *values,
                            int32_t *columns) noexcept nogil
cdef void load_dense(const Rows *rows, Py_ssize_t i, double *values) noexcept nogil
cdef void row_follow(const Rows *rows, Py_ssize_t i, double rate, double *mean, double factor,
                     double *out) noexcept nogil


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
