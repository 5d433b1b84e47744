"""Prototypes: sequential k-means, the distances to its means, and the weights of the nearest ones.

The means are kept twice: in double, where they move, and in the type of the samples as
feature-major panels, where the vector primitives meet a sample with OK_PANEL of them at once. A
window over the coming samples would not pay: every sample moves a prototype, and repairing its
column costs as much as the distances that it would save.

Dense samples get sum (x - p)^2. Sparse ones get ||x||^2 - 2 x.p + ||p||^2, at a cost that follows
their stored elements; what is below the rounding of that sum counts as 0. A model of sparse samples
keeps their sums for the means, so that the move of a prototype follows the stored elements too.
"""
from cython cimport floating
from libc.math cimport INFINITY, exp, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free

import numpy as np

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport (
    OK_DOT, OK_PANEL, OK_SQUARED, aligned_resize, ok_sparse_row, ops_for, whole_panels,
)
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# A dot product of r terms errs by about sqrt(r) units in the last place of ||x|| ||p||: these are
# 2^-24 and 2^-53 times 16.
cdef double[2] ROUNDING = [1e-6, 2e-15]


cdef inline void put(floating *lane, const double *center, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        lane[j * OK_PANEL] = <floating> center[j]


cdef double accumulate(floating *lane, double *sums, const floating *values,
                       const int32_t *columns, Py_ssize_t count) noexcept nogil:
    """Add a row (columns NULL: dense) to the sums and their lane; the change of ||sums||^2."""
    cdef Py_ssize_t i, j
    cdef double value, change = 0
    for i in range(count):
        j = columns[i] if columns != NULL else i
        value = values[i]
        change += value * (2 * sums[j] + value)
        sums[j] += value
        lane[j * OK_PANEL] = <floating> sums[j]
    return change


cdef Py_ssize_t nearest(const double *distances, Py_ssize_t n, Py_ssize_t wanted,
                        Py_ssize_t *chosen) noexcept nogil:
    """The `wanted` smallest of n distances, ascending, the first one of a tie first.

    Returns how many there are.
    """
    cdef Py_ssize_t j, place, found = 0
    for j in range(n if wanted > 0 else 0):
        if found == wanted and not distances[j] < distances[chosen[found - 1]]:
            continue
        place = found if found < wanted else found - 1
        while place > 0 and distances[j] < distances[chosen[place - 1]]:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = j
        found = min(found + 1, wanted)
    return found


cdef void soft_gains(const double *distances, const Py_ssize_t *chosen, Py_ssize_t n,
                     double width, double *gains) noexcept nogil:
    """g_j = exp(-(d_j - d_min) / width), to unit length; (1, 0, ...) when there is no width yet.

    `distances` are squared; `chosen` is ascending, so that the first one is the nearest.
    """
    cdef Py_ssize_t j
    cdef double beyond, total = 1
    gains[0] = 1
    for j in range(1, n):
        beyond = distances[chosen[j]] - distances[chosen[0]]
        # Distances that overflowed differ by NaN: only the nearest counts then.
        gains[j] = exp(-beyond / width) if width > 0 and beyond < INFINITY else 0
        total += gains[j] * gains[j]
    for j in range(n):
        gains[j] /= sqrt(total)


cdef class Prototypes:
    """At most `k` prototypes: the first k samples; after that the nearest one moves.

    Prototype i moves by (x - p_i) / n_i, n_i the number of its samples, x included: it is their
    mean (Zhou et al. 2016, algorithm 1).

    Parameters
    ----------
    k, d : int
    dtype : numpy.float32 or numpy.float64
        Of the samples, and of the distances' arithmetic.
    summed : bool
        Whether the samples are sparse as a rule.

    Attributes
    ----------
    n : int
        Prototypes so far.
    """

    def __init__(self, Py_ssize_t k, Py_ssize_t d, dtype, bint summed):
        self.summed = summed
        self.k = k
        self.d = d
        self.itemsize = np.dtype(dtype).itemsize
        self.ops = ops_for(self.itemsize)
        self.centers = JournaledMatrix("prototypes", k, whole_panels(d))
        self.tallies = JournaledMatrix("samples of the prototypes", k, 8)
        self.panels = <char *> aligned_resize(NULL, 0, self.room() * d * self.itemsize)
        if self.panels == NULL:
            raise MemoryError(f"no memory for {k} prototypes of {d} features")

    def __dealloc__(self):
        free(self.panels)

    cdef Py_ssize_t room(self) noexcept nogil:
        """k in whole panels: how many numbers `distances` writes."""
        return (self.k + OK_PANEL - 1) // OK_PANEL * OK_PANEL

    cdef const double *center(self, Py_ssize_t j) noexcept nogil:
        """scale(j) times this is prototype j."""
        return self.centers.row(j)

    cdef double scale(self, Py_ssize_t j) noexcept nogil:
        return 1 / self.tallies.row(j)[0] if self.summed else 1

    cdef void distances(self, const Rows *rows, Py_ssize_t row, double square, char *products,
                        double *out) noexcept nogil:
        """out[j] = ||x - p_j||^2 for the n prototypes; `out` has room for whole panels.

        `square` is ||x||^2 (not used for dense x where there are means), `products` scratch memory
        of OK_PANEL elements.
        """
        cdef Py_ssize_t j, q, panel_bytes = self.d * OK_PANEL * self.itemsize
        cdef bint sparse = is_sparse(rows)
        cdef int form = OK_DOT if self.summed else OK_SQUARED
        cdef double length, scale, rounding = ROUNDING[0 if self.itemsize == 4 else 1]
        cdef ok_sparse_row stored
        if sparse:
            stored = sparse_row(rows, row)
        for q in range((self.n + OK_PANEL - 1) // OK_PANEL):
            if sparse:
                self.ops.sparse[OK_DOT](&stored, 1, NULL, self.panels + q * panel_bytes, products,
                                        OK_PANEL)
            else:
                self.ops.dense[form](dense_row(rows, row), self.d, 1, self.d,
                                     self.panels + q * panel_bytes, products, OK_PANEL)
            for j in range(OK_PANEL):
                out[q * OK_PANEL + j] = (<float *> products)[j] if self.itemsize == 4 \
                    else (<double *> products)[j]
        if sparse or self.summed:
            for j in range(self.n):
                scale = self.scale(j)
                length = square + scale * scale * self.tallies.row(j)[1]
                out[j] = length - 2 * scale * out[j]
                if out[j] <= rounding * length:
                    out[j] = 0

    cdef void take(self, Py_ssize_t j, const Rows *rows, Py_ssize_t row,
                   const double *x) noexcept nogil:
        """Give a sample, and in double x, to prototype j; j = n < k makes it a new one."""
        cdef Py_ssize_t i
        cdef double *center = self.centers.touch(j)
        cdef double *tally = self.tallies.touch(j)
        cdef double rate
        cdef ok_sparse_row stored
        self.n = max(self.n, j + 1)
        tally[0] += 1
        if not self.summed:
            rate = 1 / tally[0]
            for i in range(self.d):
                center[i] += rate * (x[i] - center[i])
            tally[1] = ops_for(sizeof(double)).dot(center, center, self.centers.n_columns)
            self.write_lane(j)
            return
        stored.values = dense_row(rows, row)
        stored.columns = NULL
        stored.count = self.d
        if is_sparse(rows):
            stored = sparse_row(rows, row)
        if self.itemsize == 4:
            tally[1] += accumulate(<float *> self.lane(j), center, <const float *> stored.values,
                                   stored.columns, stored.count)
        else:
            tally[1] += accumulate(<double *> self.lane(j), center,
                                   <const double *> stored.values, stored.columns, stored.count)

    cdef char *lane(self, Py_ssize_t j) noexcept nogil:
        return self.panels + (j // OK_PANEL * self.d * OK_PANEL + j % OK_PANEL) * self.itemsize

    cdef void write_lane(self, Py_ssize_t j) noexcept nogil:
        if self.itemsize == 4:
            put(<float *> self.lane(j), self.center(j), self.d)
        else:
            put(<double *> self.lane(j), self.center(j), self.d)

    cdef void checkpoint(self) noexcept nogil:
        self.saved_n = self.n
        self.centers.checkpoint()
        self.tallies.checkpoint()

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t index
        self.centers.rollback()
        self.tallies.rollback()
        for index in range(self.centers.count):
            self.write_lane(self.centers.numbers[index])
        self.n = self.saved_n

    def means(self):
        """The prototypes, ndarray of shape (n, d)."""
        scales = np.array([self.scale(j) for j in range(self.n)]).reshape(-1, 1)
        return scales * self.centers.to_array()[:self.n, :self.d]

    def counts(self):
        """Samples of each prototype, ndarray of shape (n,)."""
        return self.tallies.to_array()[:self.n, 0].astype(np.int64)

    def get_state(self):
        """All that was learnt."""
        return self.n, self.centers.to_array(), self.tallies.to_array()

    def set_state(self, state):
        """Take over what `get_state` gave."""
        cdef Py_ssize_t j
        self.n, centers, tallies = state
        self.centers.set_array(centers)
        self.tallies.set_array(tallies)
        for j in range(self.n):
            self.write_lane(j)
