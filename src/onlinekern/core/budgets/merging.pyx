"""Merging: budget maintenance of BSGD under the Gaussian kernel (Wang, Crammer and Vucetic 2012).

When the budget is exceeded, the support vector of the smallest coefficients is merged with the
partner for which the error of the model is least. A partner must have a positive inner product of
coefficients with it; with one output, that is the same sign. Without a partner it is removed.

Merging s_m and s_n with the coefficients alpha and beta (K numbers each), kappa = kappa(s_m, s_n):
for the point z = h s_m + (1 - h) s_n, k_m = kappa(z, s_m) = kappa^((1-h)^2) and k_n = kappa^(h^2).
The best coefficients of z are alpha k_m + beta k_n. The squared error, summed over the outputs, is

    A (1 - k_m^2) + D (1 - k_n^2) + 2 C (kappa - k_m k_n),

with A = ||alpha||^2, C = alpha . beta, D = ||beta||^2. With A <= D and C > 0 its minimum over h
lies in [0, 1/2] (exchanging h and 1 - h cannot gain), where it has one stationary point.

For parallel alpha and beta the error is A (1 - kappa)^2 q(a, kappa), where
a = ||alpha|| / (||alpha|| + ||beta||) and q is smooth and between 1/2 and 2. A table of q bounds
the error of every partner from below (if they are not parallel, the error is larger), so only a few
partners need a search. The paper searches each pair; the table is the idea of Glasmachers and
Qaadan (2018).
"""
from libc.math cimport INFINITY, exp, expm1, log, sqrt
from libc.stdlib cimport free
from libc.string cimport memset

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize, resize_array, whole_panels
from onlinekern.core.budgets.policy cimport Bounded

# Cells of the table along each axis.
cdef Py_ssize_t CELLS = 128
cdef double *table = NULL
# Relative error of a bound from the table: twice what linear interpolation was measured to make
# (test_bsgd).
cdef double TABLE_ERROR = 2e-3
# No quotient of the table is below a half, that of equal coefficients in equal places.
cdef double LEAST_QUOTIENT = 0.49
# The search for h converges in far fewer.
cdef int STEPS = 100


cdef inline double uphill(double A, double C, double D, double L, double h) noexcept nogil:
    """A number of the sign of the derivative of the error in h; L = log kappa."""
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
        # The Illinois variant of the secant method; every fourth step is a bisection.
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

    expm1 keeps the differences accurate for points that are close together.
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
            # q has limits at a = 0 and kappa = 1; nearer to them its quotient loses its digits.
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


cdef class Merging(Bounded):
    """Merge the smallest support vector with its best partner when the budget is exceeded.

    Parameters
    ----------
    max_support : int >= 1
    """

    def __dealloc__(self):
        free(self.kernel)
        free(self.partners)
        free(self.squares)

    cdef int prepare(self) except -1:
        Bounded.prepare(self)
        self.kernel = <double *> resize_array(
            self.kernel, 0, whole_panels(self.max_support + 1), sizeof(double))
        self.partners = <Py_ssize_t *> resize_array(
            self.partners, 0, self.max_support + 1, sizeof(Py_ssize_t))
        # The squares, and behind them the products.
        self.squares = <double *> resize_array(
            self.squares, 0, 2 * (self.max_support + 1), sizeof(double))
        if self.kernel == NULL or self.partners == NULL or self.squares == NULL \
                or self.make_room(self.max_support + 1) < 0:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        make_table()
        return self.support.prepare_kernel_rows()

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t smallest
        cdef const char *g
        cdef Pair best
        if self.support.add(i, coefficients) < 0:
            return NO_MEMORY
        if not self.is_exceeded():
            return OK
        self.support.coefficients.norms(self.work)
        smallest = self.support.smallest(self.work)
        g = self.support.kernel_row(smallest)
        if g == NULL:
            return NO_MEMORY
        self.support.as_doubles(g, self.kernel)
        self.products = self.squares + self.max_support + 1
        self.support.coefficients.squares(self.squares)
        self.support.coefficients.products(smallest, self.products)
        best = self.partner(smallest)
        if best.slot >= 0 and self.merge(i, smallest, best) < 0:
            return NO_MEMORY
        return NO_MEMORY if self.support.drop(smallest) < 0 else OK

    cdef Pair pair(self, Py_ssize_t smallest, Py_ssize_t slot) noexcept nogil:
        """A, C and D of two support vectors; h and error are not set."""
        cdef Pair found
        found.slot = slot
        found.h = found.error = 0
        found.A = self.squares[smallest]
        found.C = self.products[slot]
        found.D = self.squares[slot]
        return found

    cdef Py_ssize_t closest(self, Py_ssize_t smallest) noexcept nogil:
        """List the partners, and write what their errors are at least into `work`.

        Returns the slot of the least of them, or -1 when there is no partner.
        """
        cdef Py_ssize_t j, slot, found = -1
        cdef double rest, error, least = INFINITY, A = LEAST_QUOTIENT * self.squares[smallest]
        cdef const double *kernel = self.kernel
        cdef double *errors = self.work
        self.n_partners = self.candidates(smallest)
        for j in range(self.n_partners):
            slot = self.partners[j]
            rest = 1 - min(max(kernel[slot], 0.0), 1.0)
            error = A * rest * rest
            errors[slot] = error
            if error < least:
                least, found = error, slot
        return found

    cdef double bound(self, Py_ssize_t smallest, Py_ssize_t slot) noexcept nogil:
        """A lower bound of the error of merging with a partner, from the table."""
        cdef double root = sqrt(self.squares[smallest]), kappa = min(self.kernel[slot], 1.0)
        cdef double ratio = root / (root + sqrt(self.squares[slot]))
        return (1 - TABLE_ERROR) * self.squares[smallest] * (1 - kappa) * (1 - kappa) \
            * least_degradation(min(ratio, 0.5), kappa)

    cdef Py_ssize_t candidates(self, Py_ssize_t smallest) noexcept nogil:
        """List the partners, ascending. Returns their number.

        Without a branch: half of the signs differ, which cannot be foreseen.
        """
        cdef Py_ssize_t slot, count = 0
        for slot in range(self.support.n):
            self.partners[count] = slot
            count += self.support.occupied(slot) & (slot != smallest) \
                & (not self.products[slot] <= 0)
        return count

    cdef Pair partner(self, Py_ssize_t smallest) noexcept nogil:
        """The partner of the least error, the oldest of equals; slot -1: there is none."""
        cdef Py_ssize_t j, slot, first = self.closest(smallest)
        cdef Pair best, other
        if first < 0:
            best = self.pair(smallest, smallest)
            best.slot = -1
            return best
        best = self.search(smallest, first)
        for j in range(self.n_partners):
            slot = self.partners[j]
            if self.work[slot] > best.error or slot == first \
                    or self.bound(smallest, slot) > best.error:
                continue
            other = self.search(smallest, slot)
            if other.error < best.error or (
                    other.error == best.error
                    and self.support.age(slot) < self.support.age(best.slot)):
                best = other
        return best

    cdef Pair search(self, Py_ssize_t smallest, Py_ssize_t slot) noexcept nogil:
        """The best point between two support vectors."""
        cdef Pair found = self.pair(smallest, slot)
        found.h = merge_point(found.A, found.C, found.D, self.kernel[slot])
        found.error = degradation(found.A, found.C, found.D, self.kernel[slot], found.h)
        return found

    cdef Status merge(self, Py_ssize_t i, Py_ssize_t smallest, Pair best) noexcept nogil:
        """Turn the partner into the merged point. Returns a status."""
        cdef double L = log(min(max(self.kernel[best.slot], 1e-300), 1.0))
        memset(self.step, 0, self.support.n_outputs * sizeof(double))
        self.support.add_coefficients_of(smallest, exp((1 - best.h) * (1 - best.h) * L), self.step)
        self.support.add_coefficients_of(best.slot, exp(best.h * best.h * L), self.step)
        if self.support.set_coefficients(best.slot, self.step) < 0:
            return NO_MEMORY
        return self.support.interpolate(i, best.slot, smallest, best.h)


POLICIES = {"merge": Merging}
