"""Prototypes: sequential k-means, distances to the prototypes, and soft assignment.

The prototypes are stored twice: in double for the updates, and in the type of the samples as
feature-major panels. The vector primitives compare a sample with the OK_PANEL prototypes of a panel
at once. Distances are not computed ahead for later samples, because every sample moves a prototype:
recomputing the distances to it would cost as much as is saved.

For a dense sample, the distance is computed as sum_i (x_i - p_i)^2. For a sparse sample, it is
||x||^2 - 2 x.p + ||p||^2, whose cost is proportional to the stored elements; a result below the
rounding error of this sum counts as 0. A model of sparse samples stores sums of samples instead of
means, so that the update of a prototype has this cost too.
"""
from cython cimport floating
from libc.math cimport INFINITY, exp, isfinite, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.state cimport (
    MOST_FEATURES, MOST_OUTPUTS, float_dtype, integer_within, items_of,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport (
    OK_DOT, OK_PANEL, OK_SQUARED, ok_sparse_row, ops_for, resize_array, whole_panels,
)
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# Relative rounding error of a sparse distance, for float32 and float64: 16 times 2^-24 and 2^-53.
# A dot product of r terms errs by about sqrt(r) units in the last place of ||x|| ||p||.
cdef double[2] ROUNDING = [1e-6, 2e-15]


cdef inline void put_lane(floating *lane, const double *center, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        lane[j * OK_PANEL] = <floating> center[j]


cdef double add_to_sums(floating *lane, double *sums, const floating *values,
                        const int32_t *columns, Py_ssize_t count) noexcept nogil:
    """Add a row to `sums` and its lane; return the change of ||sums||^2.

    A dense row has columns NULL.
    """
    cdef Py_ssize_t i, j
    cdef double value, change = 0
    for i in range(count):
        j = columns[i] if columns != NULL else i
        value = values[i]
        change += value * (2 * sums[j] + value)
        sums[j] += value
        lane[j * OK_PANEL] = <floating> sums[j]
    return change


cdef Py_ssize_t smallest(const double *distances, Py_ssize_t n) noexcept nogil:
    """Index of the least of n >= 1 distances, the first in a tie; 0 if distance 0 is NaN."""
    cdef Py_ssize_t j, k
    cdef double least
    cdef double[4] parts = [INFINITY, INFINITY, INFINITY, INFINITY]
    # No branches, which would be mispredicted. Four independent minima can overlap in the pipeline.
    for j in range(0, n - n % 4, 4):
        for k in range(4):
            parts[k] = distances[j + k] if distances[j + k] < parts[k] else parts[k]
    for j in range(n - n % 4, n):
        parts[0] = distances[j] if distances[j] < parts[0] else parts[0]
    least = min(min(parts[0], parts[1]), min(parts[2], parts[3]))
    for j in range(n if distances[0] == distances[0] else 0):
        if distances[j] == least:
            return j
    return 0


cdef Py_ssize_t nearest(const double *distances, Py_ssize_t n, Py_ssize_t m,
                        Py_ssize_t *neighbors) noexcept nogil:
    """Find the m smallest of n distances, in ascending order; ties go to the lower index.

    Returns the number of neighbors found, min(m, n).
    """
    cdef Py_ssize_t j, place, found = 0
    cdef double largest = INFINITY      # the largest distance found, once there are m
    if m == 1 and n > 0:
        neighbors[0] = smallest(distances, n)
        return 1
    for j in range(n if m > 0 else 0):
        if found == m and not distances[j] < largest:
            continue
        place = found if found < m else found - 1
        while place > 0 and distances[j] < distances[neighbors[place - 1]]:
            neighbors[place] = neighbors[place - 1]
            place -= 1
        neighbors[place] = j
        found = min(found + 1, m)
        largest = distances[neighbors[found - 1]]
    return found


cdef void expand_distances(double *out, Py_ssize_t n, double squared_norm, const double *scales,
                           const double *squares, double rounding) noexcept nogil:
    """out[j] <- ||x||^2 + ||p_j||^2 - 2 scale_j out[j]; 0 if that is a rounding error."""
    cdef Py_ssize_t j
    cdef double sum, distance
    for j in range(n):
        sum = squared_norm + squares[j]
        distance = sum - 2 * scales[j] * out[j]
        out[j] = 0 if distance <= rounding * sum else distance


cdef void soft_assignment(const double *distances, const Py_ssize_t *neighbors, Py_ssize_t n,
                          double bandwidth, double *assignment) noexcept nogil:
    """Assignment weights g_j = exp(-(d_j - d_min) / bandwidth), scaled to ||g|| = 1.

    `distances` are squared, `neighbors` ascend by distance. A bandwidth of 0 gives (1, 0, ...).
    """
    cdef Py_ssize_t j
    cdef double excess, total = 1
    assignment[0] = 1
    for j in range(1, n):
        excess = distances[neighbors[j]] - distances[neighbors[0]]
        # The difference of two overflowed distances is NaN: only the nearest prototype counts.
        assignment[j] = exp(-excess / bandwidth) if bandwidth > 0 and excess < INFINITY else 0
        total += assignment[j] * assignment[j]
    for j in range(n):
        assignment[j] /= sqrt(total)


cdef class Prototypes:
    """At most `k` prototypes, by sequential k-means (Zhou et al. 2016, algorithm 1).

    The first k samples become prototypes. Every later sample moves its nearest prototype p_i by
    (x - p_i) / n_i, where n_i counts the samples of p_i including x. Thus p_i is their mean.

    Parameters
    ----------
    k, d : int
    dtype : numpy.float32 or numpy.float64
        Type of the samples; distances are computed in it.
    keeps_sums : bool
        Store sums of samples instead of means, for streams of sparse samples.
    fixed : bool
        All prototypes are set once (`set_fixed`). Samples are counted, but do not move them.

    Attributes
    ----------
    n : int
        Number of prototypes so far.
    """

    def __cinit__(self, Py_ssize_t k, Py_ssize_t d, dtype, bint keeps_sums, bint fixed=False):
        self.fixed = fixed
        self.keeps_sums = keeps_sums
        self.k = integer_within("the number of prototypes", k, 1, MOST_OUTPUTS)
        self.d = integer_within("d", d, 0, MOST_FEATURES)
        self.itemsize = float_dtype(dtype).itemsize
        self.ops = ops_for(self.itemsize)
        self.centers = JournaledMatrix("prototypes", k, whole_panels(d))
        self.statistics = JournaledMatrix("samples of the prototypes", k, 8)
        self.panels = <char *> resize_array(NULL, 0, self.padded_size(), d * self.itemsize)
        self.scales = <double *> resize_array(NULL, 0, 2 * k, sizeof(double))
        self.squares = self.scales + k
        if self.panels == NULL or self.scales == NULL:
            raise MemoryError(f"no memory for {k} prototypes of {d} features")

    def __dealloc__(self):
        free(self.panels)
        free(self.scales)

    cdef Py_ssize_t padded_size(self) noexcept nogil:
        """k rounded up to whole panels: the number of elements that `distances` writes."""
        return (self.k + OK_PANEL - 1) // OK_PANEL * OK_PANEL

    cdef const double *center(self, Py_ssize_t j) noexcept nogil:
        """Row j of the centers: prototype j is scale(j) times it."""
        return self.centers.row(j)

    cdef double scale(self, Py_ssize_t j) noexcept nogil:
        """1 / n_j if sums are stored, 1 for means and for fixed prototypes."""
        return self.scales[j]

    cdef void measure(self, Py_ssize_t j) noexcept nogil:
        """Store scale and squared norm of prototype j after its statistics have changed.

        They are stored because a sample reads all of them and changes one. The squared norm of a
        mean is not stored: only a sparse row in a model of dense ones needs it (`square_of_mean`).
        """
        cdef const double *statistic = self.statistics.row(j)
        cdef double scale = 1 / statistic[0] if self.keeps_sums and not self.fixed else 1
        self.scales[j] = scale
        self.squares[j] = scale * scale * statistic[1]

    cdef double square_of_mean(self, Py_ssize_t j) noexcept nogil:
        """The squared norm of prototype j, if means are stored."""
        return ops_for(sizeof(double)).dot(self.center(j), self.center(j), self.centers.n_columns)

    cdef void distances(self, const Rows *rows, Py_ssize_t row, double squared_norm,
                        char *panel_products, double *out) noexcept nogil:
        """Squared distances out[j] = ||x - p_j||^2 for the n prototypes.

        `out` has padded_size() elements. `squared_norm` is ||x||^2; a dense sample needs it only if
        sums are stored. `panel_products` is a buffer of OK_PANEL elements.
        """
        cdef Py_ssize_t j, q, panel_bytes = self.d * OK_PANEL * self.itemsize
        cdef bint sparse = is_sparse(rows)
        cdef int form = OK_DOT if self.keeps_sums else OK_SQUARED
        cdef double rounding = ROUNDING[0 if self.itemsize == 4 else 1], square
        cdef ok_sparse_row stored
        if sparse:
            stored = sparse_row(rows, row)
        for q in range((self.n + OK_PANEL - 1) // OK_PANEL):
            if sparse:
                self.ops.sparse[OK_DOT](&stored, 1, NULL, self.panels + q * panel_bytes,
                                        panel_products, OK_PANEL)
            else:
                self.ops.dense[form](dense_row(rows, row), self.d, 1, self.d,
                                     self.panels + q * panel_bytes, panel_products, OK_PANEL)
            if self.itemsize == 4:
                for j in range(OK_PANEL):
                    out[q * OK_PANEL + j] = (<float *> panel_products)[j]
            else:
                memcpy(out + q * OK_PANEL, panel_products, OK_PANEL * sizeof(double))
        if self.keeps_sums:
            expand_distances(out, self.n, squared_norm, self.scales, self.squares, rounding)
        elif sparse:
            # The squares are not cached, because several threads may score at once.
            for j in range(self.n):
                square = self.square_of_mean(j)
                expand_distances(out + j, 1, squared_norm, self.scales + j, &square, rounding)

    cdef void add_sample(self, Py_ssize_t j, const Rows *rows, Py_ssize_t row,
                         const double *x) noexcept nogil:
        """Move prototype j with a sample; j = n < k creates a prototype.

        `x` is the sample in double; it is read only if means are stored.
        """
        cdef Py_ssize_t i
        cdef double *center
        cdef double *statistic = self.statistics.touch(j)
        cdef double rate
        cdef ok_sparse_row stored
        statistic[0] += 1
        if self.fixed:
            return
        center = self.centers.touch(j)
        self.n = max(self.n, j + 1)
        if not self.keeps_sums:
            rate = 1 / statistic[0]
            for i in range(self.d):
                center[i] += rate * (x[i] - center[i])
            self.write_lane(j)
            self.measure(j)
            return
        stored.values = dense_row(rows, row)
        stored.columns = NULL
        stored.count = self.d
        if is_sparse(rows):
            stored = sparse_row(rows, row)
        if self.itemsize == 4:
            statistic[1] += add_to_sums(<float *> self.lane(j), center,
                                        <const float *> stored.values, stored.columns,
                                        stored.count)
        else:
            statistic[1] += add_to_sums(<double *> self.lane(j), center,
                                        <const double *> stored.values, stored.columns,
                                        stored.count)
        self.measure(j)

    cdef char *lane(self, Py_ssize_t j) noexcept nogil:
        """Address of prototype j in its panel; its elements are OK_PANEL apart."""
        return self.panels + (j // OK_PANEL * self.d * OK_PANEL + j % OK_PANEL) * self.itemsize

    cdef void write_lane(self, Py_ssize_t j) noexcept nogil:
        """Copy row j of the centers to its panel."""
        if self.itemsize == 4:
            put_lane(<float *> self.lane(j), self.center(j), self.d)
        else:
            put_lane(<double *> self.lane(j), self.center(j), self.d)

    cdef bint are_finite(self) noexcept nogil:
        """Whether the prototypes that moved since the checkpoint have finite squared norms.

        If they are not, distances from them are not defined.
        """
        cdef Py_ssize_t index, j
        for index in range(self.statistics.count):
            j = self.statistics.numbers[index]
            if not isfinite(self.squares[j] if self.keeps_sums else self.square_of_mean(j)):
                return False
        return True

    cdef void checkpoint(self) noexcept nogil:
        self.saved_n = self.n
        self.centers.checkpoint()
        self.statistics.checkpoint()

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t index
        self.centers.rollback()
        self.statistics.rollback()
        for index in range(self.centers.count):
            self.write_lane(self.centers.numbers[index])
            self.measure(self.centers.numbers[index])
        self.n = self.saved_n

    def set_fixed(self, rows):
        """Set the prototypes to the rows of an ndarray of shape (k, d)."""
        centers, statistics = self.centers.to_array(), self.statistics.to_array()
        centers[:, :self.d] = rows
        statistics[:, 1] = np.square(centers).sum(axis=1)
        self.set_state((self.k, centers, statistics))

    def means(self):
        """The prototypes, ndarray of shape (n, d)."""
        scales = np.empty((self.n, 1))
        for j in range(self.n):
            scales[j] = self.scale(j)
        return scales * self.centers.to_array()[:self.n, :self.d]

    def counts(self):
        """Number of samples of each prototype, ndarray of shape (n,)."""
        return self.statistics.to_array()[:self.n, 0].astype(np.int64)

    def get_state(self):
        """The learned state: n, centers, statistics."""
        statistics = self.statistics.to_array()
        for j in range(0 if self.keeps_sums else self.n):
            statistics[j, 1] = self.square_of_mean(j)
        return self.n, self.centers.to_array(), statistics

    def set_state(self, state):
        """Restore the state returned by `get_state`."""
        cdef Py_ssize_t j
        n, centers, statistics = items_of(state, "prototypes", 3)
        n = integer_within("the number of prototypes so far", n, 0, self.k)
        self.centers.set_array(centers)
        self.statistics.set_array(statistics)
        self.n = n
        for j in range(n):
            if self.statistics.row(j)[0] < (0 if self.fixed else 1):
                raise ValueError(f"prototype {j} must have at least one sample, got "
                                 f"{self.statistics.row(j)[0]}")
        for j in range(self.n):
            self.write_lane(j)
            self.measure(j)
