# Arithmetic of one sample with vectors of doubles. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.samples.rows cimport Rows, is_sparse, sparse_row


# Short sparse rows, in C: a register holds two of the partial sums.
cdef extern from "onlinekern/sparse.h" nogil:
    double ok_sparse_dot_float32(const float *x, const int32_t *columns, Py_ssize_t count,
                                 const double *a)
    double ok_sparse_dot_float64(const double *x, const int32_t *columns, Py_ssize_t count,
                                 const double *a)
    double ok_sparse_square_float32(const float *x, Py_ssize_t count)
    double ok_sparse_square_float64(const double *x, Py_ssize_t count)
    double ok_sparse_dot_square_float32(const float *x, const int32_t *columns, Py_ssize_t count,
                                        const double *a, double *square)
    double ok_sparse_dot_square_float64(const double *x, const int32_t *columns, Py_ssize_t count,
                                        const double *a, double *square)
    void ok_sparse_dots_float32(const float *x, const int32_t *columns, Py_ssize_t count,
                                const double *a, const double *b, double *sums)
    void ok_sparse_dots_float64(const double *x, const int32_t *columns, Py_ssize_t count,
                                const double *a, const double *b, double *sums)
    void ok_sparse_add_float32(const float *x, const int32_t *columns, Py_ssize_t count,
                               double factor, double *out)
    void ok_sparse_add_float64(const double *x, const int32_t *columns, Py_ssize_t count,
                               double factor, double *out)
    double ok_sparse_products(const double *x, const int32_t *places, Py_ssize_t count,
                              const double *a, double *products)
    double ok_remaining(double a, double part)
    void ok_sparse_contract(const double *x, const int32_t *places, Py_ssize_t count,
                            double factor, double *a)


cdef double dense_row_dot(const Rows *rows, Py_ssize_t i, const double *a) noexcept nogil
cdef double dense_row_square(const Rows *rows, Py_ssize_t i) noexcept nogil


cdef inline double sparse_row_dot(const Rows *rows, Py_ssize_t i, const double *a) noexcept nogil:
    """x_i . a of a sparse row"""
    cdef ok_sparse_row x = sparse_row(rows, i)
    if rows.itemsize == 4:
        return ok_sparse_dot_float32(<const float *> x.values, x.columns, x.count, a)
    return ok_sparse_dot_float64(<const double *> x.values, x.columns, x.count, a)


cdef inline double sparse_row_dot_square(const Rows *rows, Py_ssize_t i, const double *a,
                                         double *square) noexcept nogil:
    """x_i . a and ||x_i||^2 of a sparse row, the same numbers, in one walk."""
    cdef ok_sparse_row x = sparse_row(rows, i)
    if rows.itemsize == 4:
        return ok_sparse_dot_square_float32(<const float *> x.values, x.columns, x.count, a,
                                            square)
    return ok_sparse_dot_square_float64(<const double *> x.values, x.columns, x.count, a, square)


cdef inline double row_square(const Rows *rows, Py_ssize_t i) noexcept nogil:
    """||x_i||^2"""
    cdef ok_sparse_row x
    if not is_sparse(rows):
        return dense_row_square(rows, i)
    x = sparse_row(rows, i)
    if rows.itemsize == 4:
        return ok_sparse_square_float32(<const float *> x.values, x.count)
    return ok_sparse_square_float64(<const double *> x.values, x.count)


cdef inline void sparse_row_add(const Rows *rows, Py_ssize_t i, double factor,
                                double *out) noexcept nogil:
    """out += factor x_i of a sparse row"""
    cdef ok_sparse_row x = sparse_row(rows, i)
    if rows.itemsize == 4:
        ok_sparse_add_float32(<const float *> x.values, x.columns, x.count, factor, out)
    else:
        ok_sparse_add_float64(<const double *> x.values, x.columns, x.count, factor, out)


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
        ok_sparse_add_float64(x.values, x.places, x.count, factor, out)


cdef class Entries:
    cdef readonly Py_ssize_t width
    cdef bint intercept
    cdef double *values
    cdef int32_t *places
    cdef Vector vector
    cdef double square           # their squared length
    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil
