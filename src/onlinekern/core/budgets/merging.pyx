"""Merging: budget maintenance of BSGD under the Gaussian kernel (Wang, Crammer and Vucetic 2012).

Of one support vector too many, the smallest is merged with the partner that leaves the
least error (see `mergers`). Partners are those whose rows of coefficients make an acute angle with
its own; with one output, those of the same sign. Without any it is removed.

The table bounds the error of every partner from below, so that few of them are searched.

The best replacement of two support vectors of a Gaussian kernel by one.

Rows of coefficients alpha (at s_m) and beta (at s_n), kappa = kappa(s_m, s_n). For the
point z = h s_m + (1 - h) s_n, k_m = kappa(z, s_m) = kappa^((1-h)^2), k_n = kappa^(h^2); its best
coefficients are alpha k_m + beta k_n, and they leave an error of squared length, summed over the
outputs,

    A (1 - k_m^2) + D (1 - k_n^2) + 2 C (kappa - k_m k_n),

with A = ||alpha||^2, C = alpha . beta, D = ||beta||^2. With A <= D and C > 0 its minimum over h
lies in [0, 1/2] (exchanging h and 1 - h cannot gain), where it has one stationary point. For
parallel rows the error is A (1 - kappa)^2 q(a, kappa) with a = ||alpha|| / (||alpha|| + ||beta||);
q, between 0.2 and 2 and smooth, is kept as a table (Wang, Crammer and Vucetic 2012 search each
pair; a table is the idea of Glasmachers and Qaadan 2018). Rows that are not parallel leave a larger
error, of which the table is then a lower bound.
"""
from libc.math cimport INFINITY, exp, expm1, log, sqrt
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize, whole_panels
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet

# Cells of the table either way; linear interpolation is then wrong by less than TABLE_ERROR of q
# (test_bsgd measures it).
cdef Py_ssize_t CELLS = 128
cdef double *table = NULL
cdef int STEPS = 100


cdef inline double uphill(double A, double C, double D, double L, double h) noexcept nogil:
    """Of the sign of the derivative of the error in h; L = log kappa."""
    cdef double k_m = exp((1 - h) * (1 - h) * L), k_n = exp(h * h * L)
    return h * k_n * (C * k_m + D * k_n) - (1 - h) * k_m * (A * k_m + C * k_n)


cdef double merge_point(double A, double C, double D, double kappa) noexcept nogil:
    """The best h, for A <= D and C > 0."""
    cdef double low = 0, high = 0.5, h = 0, L, f, f_low, f_high
    cdef int i, side = 0
    if kappa <= 0:
        return 0
    L = log(min(kappa, 1.0))
    # At h = 1/2 equal rows are stationary, whether that is the minimum or, far apart, a maximum.
    if uphill(A, C, D, L, 0.5 - 1e-7) <= 0:
        low = 0.5 - 1e-7
    else:
        high = 0.5 - 1e-7
    f_low, f_high = uphill(A, C, D, L, low), uphill(A, C, D, L, high)
    if f_high <= 0:
        return high
    for i in range(STEPS):
        # The secant, with the weight of an end that stays halved (Illinois), or the middle.
        h = (low * f_high - high * f_low) / (f_high - f_low) if i % 4 < 3 else (low + high) / 2
        f = uphill(A, C, D, L, h)
        if f == 0 or high - low < 1e-15:
            return h
        if f < 0:
            low, f_low = h, f
            f_high = f_high / 2 if side < 0 else f_high
            side = -1
        else:
            high, f_high = h, f
            f_low = f_low / 2 if side > 0 else f_low
            side = 1
    return h


cdef double degradation(double A, double C, double D, double kappa, double h) noexcept nogil:
    """The squared error of merging at h.

    The differences are taken as expm1, which keeps them right for points that are close together.
    """
    cdef double L, k_m, k_n
    if kappa <= 0:
        return A if h == 0 else A + D
    L = log(min(kappa, 1.0))
    k_m = (1 - h) * (1 - h) * L
    k_n = h * h * L
    return -A * expm1(2 * k_m) - D * expm1(2 * k_n) \
        + 2 * C * exp(k_m + k_n) * expm1(2 * h * (1 - h) * L)


cdef double exact(double a, double kappa) noexcept nogil:
    """q(a, kappa) by its definition, for a > 0 and kappa < 1."""
    cdef double b = 1 - a
    cdef double h = merge_point(a * a, a * b, b * b, kappa)
    return degradation(a * a, a * b, b * b, kappa, h) / (a * a * (1 - kappa) * (1 - kappa))


cdef double least_degradation(double a, double kappa) noexcept nogil:
    """q(a, kappa) from the table, for 0 <= a <= 1/2 and 0 <= kappa <= 1."""
    cdef double x = 2 * a * CELLS, y = kappa * CELLS
    cdef Py_ssize_t i = min(<Py_ssize_t> x, CELLS - 1), j = min(<Py_ssize_t> y, CELLS - 1)
    cdef const double *cell = table + i * (CELLS + 1) + j
    x -= i
    y -= j
    return (1 - x) * ((1 - y) * cell[0] + y * cell[1]) \
        + x * ((1 - y) * cell[CELLS + 1] + y * cell[CELLS + 2])


cdef int make_table() except -1:
    """Make the table, once."""
    global table
    cdef Py_ssize_t i, j
    cdef double a, kappa
    cdef double *fresh
    if table != NULL:
        return 0
    fresh = <double *> aligned_resize(NULL, 0, (CELLS + 1) * (CELLS + 1) * sizeof(double))
    if fresh == NULL:
        raise MemoryError("no memory for the table of merged support vectors")
    for i in range(CELLS + 1):
        for j in range(CELLS + 1):
            # The two edges are limits, taken where the quotient still has its digits.
            a = max(0.5 * i / CELLS, 1e-6)
            kappa = min(<double> j / CELLS, 1 - 1e-5)
            fresh[i * (CELLS + 1) + j] = exact(a, kappa)
    if table == NULL:
        table = fresh
    else:
        free(fresh)
    return 0


def best_merge(double A, double C, double D, double kappa):
    """(h, squared error) of the best merged point, for A <= D and C > 0."""
    h = merge_point(A, C, D, kappa)
    return h, degradation(A, C, D, kappa, h)


def tabulated(double a, double kappa):
    """(q from the table, q by its definition)."""
    make_table()
    return least_degradation(a, kappa), exact(a, kappa)


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
        return support.prepare_kernel_rows()

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot
        cdef const char *g
        cdef Pair best
        if support.add(i, coefficients) < 0:
            return NO_MEMORY
        if support.n - support.slots.n_free <= self.max_support:
            return OK
        slot = self.least(support)
        g = support.kernel_row(slot)
        if g == NULL:
            return NO_MEMORY
        support.as_doubles(g, self.kernel)
        best = self.partner(support, slot)
        if best.slot >= 0 and self.merge(support, i, slot, best) < 0:
            return NO_MEMORY
        return support.drop(slot)

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

    cdef Status merge(self, SupportSet support, Py_ssize_t i, Py_ssize_t least,
                      Pair best) noexcept nogil:
        """The partner becomes the merged point. Returns a status."""
        cdef Py_ssize_t k, j
        cdef double L = log(min(max(self.kernel[best.slot], 1e-300), 1.0))
        cdef double nearness = exp((1 - best.h) * (1 - best.h) * L), own = exp(best.h * best.h * L)
        for k in range(support.coefficients.n_outputs):
            j = k * support.coefficients.capacity
            self.step[k] = support.coefficients.scale * (
                nearness * support.coefficients.values[j + least]
                + own * support.coefficients.values[j + best.slot])
        if support.coefficients.clear(best.slot) < 0 \
                or support.coefficients.assign(best.slot, self.step) < 0:
            return NO_MEMORY
        return support.interpolate(i, best.slot, least, best.h)
