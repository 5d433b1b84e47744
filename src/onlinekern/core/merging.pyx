"""Merging: budget maintenance of BSGD under the Gaussian kernel (Wang, Crammer and Vucetic 2012).

Layer 8. Of one support vector too many, the smallest is merged with the partner that leaves the
least error (see `mergers`). Partners are those whose rows of coefficients make an acute angle with
its own; with one output, those of the same sign. Without any it is removed.

The table bounds the error of every partner from below, so that few of them are searched.
"""
from libc.math cimport INFINITY, exp, log, sqrt
from libc.stdlib cimport free

from onlinekern.core.budgets cimport ADDED, OUT_OF_MEMORY, Budget, Verdict
from onlinekern.core.mergers cimport degradation, least_degradation, make_table, merge_point
from onlinekern.core.support cimport SupportSet
from onlinekern.core.vector cimport aligned_resize, whole_panels

# What a bound from the table may be above the true one, and more, relative to it.
cdef double TABLE_ERROR = 2e-3


cdef class Merging(Budget):
    """The smallest support vector is merged with the one that suits it best.

    Parameters
    ----------
    max_support : int >= 1
    """

    def __init__(self, Py_ssize_t max_support):
        self.max_support = max_support
        self.arguments = (max_support,)

    def __dealloc__(self):
        free(self.step)
        free(self.kernel)
        free(self.bounds)

    cdef int attach(self, SupportSet support) except -1:
        cdef Py_ssize_t room = whole_panels(self.max_support + 1)
        self.step = <double *> aligned_resize(
            self.step, 0, support.coefficients.n_outputs * sizeof(double))
        self.kernel = <double *> aligned_resize(self.kernel, 0, room * sizeof(double))
        self.bounds = <double *> aligned_resize(self.bounds, 0, room * sizeof(double))
        if self.step == NULL or self.kernel == NULL or self.bounds == NULL:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        make_table()
        return support.allow_probes()

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot
        cdef const char *g
        cdef Pair best
        if support.add(i, coefficients) < 0:
            return OUT_OF_MEMORY
        if support.n - support.slots.n_free <= self.max_support:
            return ADDED
        slot = self.least(support)
        g = support.kernel_row(slot)
        if g == NULL:
            return OUT_OF_MEMORY
        support.as_doubles(g, self.kernel)
        best = self.partner(support, slot)
        if best.slot >= 0 and self.merge(support, i, slot, best) < 0:
            return OUT_OF_MEMORY
        return OUT_OF_MEMORY if support.drop(slot) < 0 else ADDED

    cdef Py_ssize_t least(self, SupportSet support) noexcept nogil:
        """The slot of the smallest row, the oldest of a tie."""
        cdef Py_ssize_t slot, found = -1
        cdef double size, smallest = INFINITY
        for slot in range(support.n):
            if support.slots.ages[slot] < 0:
                continue
            size = support.coefficients.norm(slot)
            if found < 0 or size < smallest or (
                    size == smallest and support.slots.ages[slot] < support.slots.ages[found]):
                found, smallest = slot, size
        return found

    cdef Pair pair(self, SupportSet support, Py_ssize_t least, Py_ssize_t slot) noexcept nogil:
        """The three products of the coefficients of two rows; h and error are left open."""
        cdef Py_ssize_t _
        cdef const double *values = support.coefficients.values
        cdef double alpha, beta
        cdef Pair found
        found.slot = slot
        found.A = found.C = found.D = found.h = found.error = 0
        for _ in range(support.coefficients.n_outputs):
            alpha, beta = values[least], values[slot]
            found.A += alpha * alpha
            found.C += alpha * beta
            found.D += beta * beta
            values += support.coefficients.capacity
        return found

    cdef Py_ssize_t bound(self, SupportSet support, Py_ssize_t least) noexcept nogil:
        """Lower bounds of the errors of all partners; returns the one of the lowest, -1: none."""
        cdef Py_ssize_t slot, found = -1
        cdef double smallest = INFINITY, ratio, kappa
        cdef Pair pair
        for slot in range(support.n):
            self.bounds[slot] = INFINITY
            if support.slots.ages[slot] < 0 or slot == least:
                continue
            pair = self.pair(support, least, slot)
            if pair.C <= 0:
                continue
            ratio = sqrt(pair.A) / (sqrt(pair.A) + sqrt(pair.D))
            kappa = min(self.kernel[slot], 1.0)
            self.bounds[slot] = (1 - TABLE_ERROR) * pair.A * (1 - kappa) * (1 - kappa) \
                * least_degradation(min(ratio, 0.5), kappa)
            if found < 0 or self.bounds[slot] < smallest:
                found, smallest = slot, self.bounds[slot]
        return found

    cdef Pair partner(self, SupportSet support, Py_ssize_t least) noexcept nogil:
        """The partner of the least error, the oldest of a tie."""
        cdef Py_ssize_t slot, first = self.bound(support, least)
        cdef Pair best, other
        if first < 0:
            best = self.pair(support, least, least)
            best.slot = -1
            return best
        best = self.search(support, least, first)
        for slot in range(support.n):
            if self.bounds[slot] > best.error or slot == first:
                continue
            other = self.search(support, least, slot)
            if other.error < best.error or (
                    other.error == best.error
                    and support.slots.ages[slot] < support.slots.ages[best.slot]):
                best = other
        return best

    cdef Pair search(self, SupportSet support, Py_ssize_t least, Py_ssize_t slot) noexcept nogil:
        """The best point between two rows."""
        cdef Pair found = self.pair(support, least, slot)
        found.h = merge_point(found.A, found.C, found.D, self.kernel[slot])
        found.error = degradation(found.A, found.C, found.D, self.kernel[slot], found.h)
        return found

    cdef int merge(self, SupportSet support, Py_ssize_t i, Py_ssize_t least,
                   Pair best) noexcept nogil:
        """The partner becomes the merged point. Returns 0, or -1 when memory ran out."""
        cdef Py_ssize_t k, j
        cdef double L = log(min(max(self.kernel[best.slot], 1e-300), 1.0))
        cdef double nearness = exp((1 - best.h) * (1 - best.h) * L), own = exp(best.h * best.h * L)
        for k in range(support.coefficients.n_outputs):
            j = k * support.coefficients.capacity
            self.step[k] = support.coefficients.scale * (
                nearness * support.coefficients.values[j + least]
                + own * support.coefficients.values[j + best.slot])
        if support.coefficients.clear(best.slot) < 0 \
                or support.coefficients.put(best.slot, self.step) < 0:
            return -1
        return support.blend(i, best.slot, least, best.h)
