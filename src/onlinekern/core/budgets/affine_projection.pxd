# Steps that look at the last samples together. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers


cdef class AffineProjection(Bounded):
    cdef Py_ssize_t order
    cdef double eta, reg
    cdef bint normalised
    cdef int64_t learnt              # samples so far
    cdef int64_t saved_learnt
    cdef Py_ssize_t leaving          # slot of the sample before the last ones
    cdef SlotNumbers lengths         # kappa_rr of each slot
    cdef JournaledMatrix recent      # slot, weight, targets and scores of the last samples
    cdef JournaledMatrix gram        # order x order
    cdef double *system              # room for order x order numbers
    cdef double *moves               # of the coefficients; room for K x order numbers
    cdef double *known               # scores of a sample, 2 K numbers

    cdef Py_ssize_t n_rows(self) noexcept nogil
    cdef Py_ssize_t count(self) noexcept nogil
    cdef Status remember(self, Py_ssize_t i) noexcept nogil
    cdef double error(self, Py_ssize_t output, Py_ssize_t k) noexcept nogil
    cdef double *moves_of(self, Py_ssize_t output) noexcept nogil
    cdef double ridge(self, Py_ssize_t k) noexcept nogil
    cdef void solve(self) noexcept nogil
    cdef bint solve_system(self, double extra) noexcept nogil
    cdef void update_scores(self) noexcept nogil
    cdef Status project(self) noexcept nogil
    cdef Status move_scores(self, Py_ssize_t slot, double sign) noexcept nogil
