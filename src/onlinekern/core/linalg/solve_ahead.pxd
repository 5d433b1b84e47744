# Solutions for coming samples. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.linalg.inverse_panels cimport InversePanels

# Samples solved together: the rows that the products with panels are fastest with. And how many of
# such groups are kept.
cdef enum:
    GROUP = 6
    GROUPS = 6
    PLACES = GROUP * GROUPS


cdef class SolveAhead:
    cdef readonly InversePanels inverse
    cdef Py_ssize_t ld
    cdef Py_ssize_t[PLACES] samples      # of each place, -1: none
    cdef Py_ssize_t[PLACES] n_lower      # numbers that its h has
    cdef Py_ssize_t[PLACES] n_upper      # rows that its d knows
    cdef bint[PLACES] guessed            # whether it was solved before its turn came
    cdef char *kernel_values             # k, PLACES x ld
    cdef char *lower                     # h
    cdef char *upper                     # d
    cdef char *gathered                  # h of the chosen places, and then d: 2 GROUP x ld
    cdef Py_ssize_t[GROUP] chosen        # places whose d are computed together
    cdef double share                    # of the guessed samples, that were used

    cdef Status reserve(self, Py_ssize_t n) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void leave(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t find(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t take_group(self, Py_ssize_t i) noexcept nogil
    cdef void use(self, Py_ssize_t place) noexcept nogil
    cdef bint waits(self, Py_ssize_t place) noexcept nogil
    cdef bint pays(self, Py_ssize_t guesses) noexcept nogil
    cdef char *row(self, char *table, Py_ssize_t place) noexcept nogil
    cdef void solve_lower(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef void extend_lower(self, Py_ssize_t place) noexcept nogil
    cdef double square(self, Py_ssize_t place) noexcept nogil
    cdef void solve_upper(self, Py_ssize_t count) noexcept nogil
    cdef void extend_upper(self, Py_ssize_t place) noexcept nogil
