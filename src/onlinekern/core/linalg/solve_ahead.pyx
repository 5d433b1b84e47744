"""SolveAhead: computes h = L^-1 k and d = (K + jitter I)^-1 k of samples ahead of their turn.

A product with the inverse factor takes little longer for six samples than for one, because most of
the time goes into loading the factor from memory. So a sample is solved together with samples of
the window that will probably need it too (guesses). If rows are appended to the factor meanwhile, a
solution is extended, at the cost n for each row. The bits of a solution do not depend on when and
with which samples it is computed.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport resize_array, whole_panels
from onlinekern.core.linalg.inverse_panels cimport InversePanels

# Cost of six samples together, in single samples (x86-64-v4: 386 and 177 us for 1,344 numbers).
cdef double GROUP_COST = 2.2
# The running share of guesses that are used: initial value, and rate.
cdef double FIRST_SHARE = 0.7, RATE = 1.0 / 64


cdef class SolveAhead:
    """Solutions for up to PLACES samples; none at first.

    Parameters
    ----------
    inverse : InversePanels
    """

    def __cinit__(self, InversePanels inverse not None):
        self.inverse = inverse
        self.share = FIRST_SHARE
        self.forget()

    def __dealloc__(self):
        free(self.kernel_values)
        free(self.lower)
        free(self.upper)
        free(self.gathered)

    cdef Status reserve(self, Py_ssize_t n) noexcept nogil:
        """Allocate memory for solutions of n numbers; present ones may be lost. Returns a status.
        """
        cdef Py_ssize_t ld
        cdef char *kernel_values
        cdef char *lower
        cdef char *upper
        cdef char *gathered
        if whole_panels(n) <= self.ld:
            return OK
        # Not a power of two, so that rows do not compete for the same cache sets.
        ld = whole_panels(n + n // 4) + 8
        kernel_values = <char *> resize_array(NULL, 0, PLACES * ld, sizeof(double))
        lower = <char *> resize_array(NULL, 0, PLACES * ld, sizeof(double))
        upper = <char *> resize_array(NULL, 0, PLACES * ld, sizeof(double))
        gathered = <char *> resize_array(NULL, 0, 2 * GROUP * ld, sizeof(double))
        if kernel_values == NULL or lower == NULL or upper == NULL or gathered == NULL:
            free(kernel_values)
            free(lower)
            free(upper)
            free(gathered)
            return NO_MEMORY
        free(self.kernel_values)
        free(self.lower)
        free(self.upper)
        free(self.gathered)
        self.kernel_values, self.lower, self.upper = kernel_values, lower, upper
        self.gathered = gathered
        self.ld = ld
        self.forget()
        return OK

    cdef void forget(self) noexcept nogil:
        """Discard all solutions, for a new window of samples."""
        self.leave(0, PLACES)

    cdef void leave(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        """Empty some places; guesses there were not used."""
        cdef Py_ssize_t place
        for place in range(first, first + count):
            if self.guessed[place]:
                self.share -= RATE * self.share
            self.samples[place] = -1
            self.n_lower[place] = self.n_upper[place] = 0
            self.guessed[place] = False

    cdef Py_ssize_t find(self, Py_ssize_t i) noexcept nogil:
        """The place of sample i, or -1."""
        cdef Py_ssize_t place
        for place in range(PLACES):
            if self.samples[place] == i:
                return place
        return -1

    cdef void use(self, Py_ssize_t place) noexcept nogil:
        """Note that the sample of a place has its turn and uses its solution."""
        if self.guessed[place]:
            self.share += RATE * (1 - self.share)
        self.guessed[place] = False

    cdef Py_ssize_t take_group(self, Py_ssize_t i) noexcept nogil:
        """Empty the group with the fewest coming samples (i or later); returns its first place."""
        cdef Py_ssize_t group, place, coming, fewest = GROUP + 1, found = 0
        for group in range(GROUPS):
            coming = 0
            for place in range(group * GROUP, (group + 1) * GROUP):
                coming += self.samples[place] >= i
            if coming < fewest:
                fewest, found = coming, group * GROUP
        self.leave(found, GROUP)
        return found

    cdef bint waits(self, Py_ssize_t place) noexcept nogil:
        """Whether h of a place is up to date, and d is not computed yet."""
        return self.n_lower[place] == self.inverse.n and self.n_upper[place] == 0

    cdef bint pays(self, Py_ssize_t guesses) noexcept nogil:
        """Whether solving a group for one sample and this many guesses is cheaper on average."""
        return 1 + self.share * guesses > GROUP_COST

    cdef char *row(self, char *table, Py_ssize_t place) noexcept nogil:
        return table + place * self.ld * self.inverse.itemsize

    cdef void solve_lower(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        """Compute h of `count` samples of a group; k has been written."""
        cdef Py_ssize_t place
        # A full group is faster than a partial one; the rest of its rows has old numbers.
        self.inverse.multiply(self.row(self.kernel_values, first), self.ld,
                              GROUP if count > 1 else 1, 0, self.row(self.lower, first))
        for place in range(first, first + count):
            self.n_lower[place] = self.inverse.n

    cdef void extend_lower(self, Py_ssize_t place) noexcept nogil:
        """Extend h to the present rows of the factor; k has been written again."""
        if self.n_lower[place] < self.inverse.n:
            self.inverse.multiply(self.row(self.kernel_values, place), self.ld, 1,
                                  self.n_lower[place], self.row(self.lower, place))
            self.n_lower[place] = self.inverse.n

    cdef double square(self, Py_ssize_t place) noexcept nogil:
        """||h||^2 = k'd."""
        cdef double square, absolute
        self.inverse.ops.norms(self.row(self.lower, place), self.inverse.n, &square, &absolute)
        return square

    cdef void solve_upper(self, Py_ssize_t count) noexcept nogil:
        """Compute d of the first `count` chosen places, whose h are up to date."""
        cdef Py_ssize_t j, n = self.inverse.n
        # Whole panels: `extend_upper` needs zeros after the last number.
        cdef Py_ssize_t length = whole_panels(n) * self.inverse.itemsize
        for j in range(count):
            memcpy(self.row(self.gathered, j), self.row(self.lower, self.chosen[j]), length)
        self.inverse.multiply_transposed(self.gathered, self.ld, GROUP if count > 1 else 1,
                                         self.row(self.gathered, GROUP))
        for j in range(count):
            memcpy(self.row(self.upper, self.chosen[j]), self.row(self.gathered, GROUP + j), length)
            self.n_upper[self.chosen[j]] = n

    cdef void extend_upper(self, Py_ssize_t place) noexcept nogil:
        """Extend d, which was computed for fewer rows, to the present rows; h is up to date."""
        if self.n_upper[place] < self.inverse.n:
            self.inverse.add_rows(self.n_upper[place], <double *> self.row(self.lower, place),
                                  <double *> self.row(self.upper, place))
            self.n_upper[place] = self.inverse.n
