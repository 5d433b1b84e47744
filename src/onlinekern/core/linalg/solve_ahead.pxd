# Linear solves for coming samples, ahead of their turn. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.linalg.inverse_panels cimport InversePanels

# GROUP samples are solved together: products with panels are fastest with this many rows. GROUPS
# groups are kept.
cdef enum:
    GROUP = 6
    GROUPS = 6
    PLACES = GROUP * GROUPS


cdef class SolveAhead:
    cdef readonly InversePanels inverse
    cdef Py_ssize_t ld
    cdef Py_ssize_t[PLACES] samples      # sample in each place; -1: none
    cdef Py_ssize_t[PLACES] n_lower      # numbers of its h that are computed
    cdef Py_ssize_t[PLACES] n_upper      # rows of the factor that its d includes
    cdef bint[PLACES] guessed            # whether it was solved ahead and has not been used yet
    cdef char *kernel_values             # k, PLACES x ld
    cdef char *lower                     # h, PLACES x ld
    cdef char *upper                     # d, PLACES x ld
    cdef char *gathered                  # buffer, 2 GROUP x ld: h of the chosen places, then d
    cdef Py_ssize_t[GROUP] chosen        # places whose d are computed together
    cdef double share                    # running share of guesses that were used

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
