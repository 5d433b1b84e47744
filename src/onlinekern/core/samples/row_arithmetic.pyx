"""Arithmetic of one sample, dense or CSR, float32 or float64, with dense vectors of doubles.

Sums are in double. Their order depends on the row alone, so a result does not depend on how the
stream was cut into calls.

`load_stored` and `load_dense` copy a sample into doubles, for the models that meet it several
times. `Entries` is such a copy with the constant 1, the feature of the intercept, at its end.
"""
from cython cimport floating
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from onlinekern.core.base.vector cimport (
    OK_PANEL, aligned_resize, ok_sparse_row, ok_vector_ops, ops_for,
)
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# Every instruction set takes the numbers of a dot in groups that divide this.
cdef enum:
    DOT_STEP = 32


cdef inline double lane_sum(const double *lanes) noexcept nogil:
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + \
        ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))


cdef inline double dense_dot(const floating *x, Py_ssize_t d, const double *a,
                             const ok_vector_ops *ops) noexcept nogil:
    """The vector primitive for whole groups of numbers, then eight partial sums."""
    cdef double[8] lanes
    cdef Py_ssize_t j, v, first = d - d % DOT_STEP
    memset(lanes, 0, sizeof(lanes))
    for j in range(first, d - d % 8, 8):
        for v in range(8):
            lanes[v] += x[j + v] * a[j + v]
    for v in range(d % 8):
        lanes[v] += x[d - d % 8 + v] * a[d - d % 8 + v]
    return ops.dot(x, a, first) + lane_sum(lanes)


cdef double dense_row_dot(const Rows *rows, Py_ssize_t i, const double *a) noexcept nogil:
    """x_i . a of a dense row"""
    cdef const ok_vector_ops *ops = ops_for(rows.itemsize)
    if rows.itemsize == 4:
        return dense_dot(<const float *> dense_row(rows, i), rows.d, a, ops)
    return dense_dot(<const double *> dense_row(rows, i), rows.d, a, ops)


cdef inline void dense_dots(const floating *x, Py_ssize_t d, const double *a, const double *b,
                            const ok_vector_ops *ops, double *sums) noexcept nogil:
    """The vector primitive for whole groups of numbers, then eight partial sums each."""
    cdef double[8] one
    cdef double[8] two
    cdef Py_ssize_t j, v, first = d - d % DOT_STEP
    memset(one, 0, sizeof(one))
    memset(two, 0, sizeof(two))
    for j in range(first, d - d % 8, 8):
        for v in range(8):
            one[v] += x[j + v] * a[j + v]
            two[v] += x[j + v] * b[j + v]
    for v in range(d % 8):
        one[v] += x[d - d % 8 + v] * a[d - d % 8 + v]
        two[v] += x[d - d % 8 + v] * b[d - d % 8 + v]
    ops.dot2(x, a, b, first, sums)
    sums[0] += lane_sum(one)
    sums[1] += lane_sum(two)


cdef void row_dots(const Rows *rows, Py_ssize_t i, const double *a, const double *b,
                   double *sums) noexcept nogil:
    """sums[0] = x_i . a and sums[1] = x_i . b, in one pass over the row."""
    cdef const ok_vector_ops *ops
    cdef ok_sparse_row x
    if is_sparse(rows):
        x = sparse_row(rows, i)
        if rows.itemsize == 4:
            ok_sparse_dots_float32(<const float *> x.values, x.columns, x.count, a, b, sums)
        else:
            ok_sparse_dots_float64(<const double *> x.values, x.columns, x.count, a, b, sums)
        return
    ops = ops_for(rows.itemsize)
    if rows.itemsize == 4:
        dense_dots(<const float *> dense_row(rows, i), rows.d, a, b, ops, sums)
    else:
        dense_dots(<const double *> dense_row(rows, i), rows.d, a, b, ops, sums)


cdef double dense_row_square(const Rows *rows, Py_ssize_t i) noexcept nogil:
    """||x_i||^2 of a dense row"""
    cdef double square, absolute
    ops_for(rows.itemsize).norms(dense_row(rows, i), rows.d, &square, &absolute)
    return square


cdef inline void dense_add(const floating *x, Py_ssize_t d, double factor,
                           double *out) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        out[j] += factor * x[j]


cdef void row_add(const Rows *rows, Py_ssize_t i, double factor, double *out) noexcept nogil:
    """out += factor x_i"""
    if is_sparse(rows):
        sparse_row_add(rows, i, factor, out)
    elif rows.itemsize == 4:
        dense_add(<const float *> dense_row(rows, i), rows.d, factor, out)
    else:
        dense_add(<const double *> dense_row(rows, i), rows.d, factor, out)


cdef inline void dense_follow(const floating *x, Py_ssize_t d, double rate, double *mean,
                              double factor, double *out) noexcept nogil:
    cdef Py_ssize_t j
    cdef double difference
    for j in range(d):
        difference = x[j] - mean[j]
        mean[j] += rate * difference
        out[j] = factor * difference


cdef void row_follow(const Rows *rows, Py_ssize_t i, double rate, double *mean, double factor,
                     double *out) noexcept nogil:
    """Update a mean with x_i: out = factor (x_i - mean), then mean += rate (x_i - mean)."""
    cdef Py_ssize_t j
    if not is_sparse(rows):
        if rows.itemsize == 4:
            dense_follow(<const float *> dense_row(rows, i), rows.d, rate, mean, factor, out)
        else:
            dense_follow(<const double *> dense_row(rows, i), rows.d, rate, mean, factor, out)
        return
    for j in range(rows.d):
        out[j] = -mean[j]
    row_add(rows, i, 1, out)
    for j in range(rows.d):
        mean[j] += rate * out[j]
        out[j] *= factor


cdef inline void copy_numbers(const floating *x, Py_ssize_t count, double *out) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(count):
        out[j] = x[j]


cdef void load_numbers(const void *x, Py_ssize_t itemsize, Py_ssize_t count,
                       double *out) noexcept nogil:
    """Copy numbers of 4 or 8 bytes."""
    if itemsize == 4:
        copy_numbers(<const float *> x, count, out)
    else:
        copy_numbers(<const double *> x, count, out)


cdef Py_ssize_t load_stored(const Rows *rows, Py_ssize_t i, double *values,
                            int32_t *columns) noexcept nogil:
    """Copy the stored elements of x_i: all d of a dense row, whose columns are not written.

    Returns their number.
    """
    cdef ok_sparse_row stored
    stored.values = NULL
    if is_sparse(rows):
        stored = sparse_row(rows, i)
        memcpy(columns, stored.columns, stored.count * sizeof(int32_t))
    else:
        stored.values = dense_row(rows, i)
        stored.count = rows.d
    load_numbers(stored.values, rows.itemsize, stored.count, values)
    return stored.count


cdef void load_dense(const Rows *rows, Py_ssize_t i, double *values) noexcept nogil:
    """Copy all d features of x_i, the zeros of a sparse row included."""
    cdef Py_ssize_t j
    cdef ok_sparse_row stored
    if not is_sparse(rows):
        load_stored(rows, i, values, NULL)
        return
    memset(values, 0, rows.d * sizeof(double))
    stored = sparse_row(rows, i)
    if rows.itemsize == 4:
        for j in range(stored.count):
            values[stored.columns[j]] = (<const float *> stored.values)[j]
    else:
        for j in range(stored.count):
            values[stored.columns[j]] = (<const double *> stored.values)[j]


cdef class Entries:
    """Room for one sample at a time.

    Parameters
    ----------
    d : int
        Features of a sample.
    intercept : bool
        Append the entry 1 at place d.
    """

    def __cinit__(self, Py_ssize_t d, bint intercept):
        self.intercept = intercept
        self.width = (d + intercept + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        self.values = <double *> aligned_resize(NULL, 0, self.width * sizeof(double))
        self.places = <int32_t *> calloc(self.width, sizeof(int32_t))
        if self.values == NULL or self.places == NULL:
            raise MemoryError(f"no memory for a sample of {d} features")

    def __dealloc__(self):
        free(self.values)
        free(self.places)

    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Set `vector` and `square`, its squared length, to those of row `row`.

        Of a dense sample, the numbers behind the last up to whole panels are 0.
        """
        cdef Py_ssize_t count = load_stored(rows, row, self.values, self.places)
        self.vector.values = self.values
        self.vector.places = self.places if is_sparse(rows) else NULL
        if self.intercept:
            self.places[count] = <int32_t> rows.d
            self.values[count] = 1
            count += 1
        self.vector.count = count
        self.square = ok_sparse_square_float64(self.values, count)
