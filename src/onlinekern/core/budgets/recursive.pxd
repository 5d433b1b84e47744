# Kernel recursive least squares over a window, and on a budget. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.budgets.inverse_policy cimport InverseGramPolicy


cdef class RecursivePolicy(InverseGramPolicy):
    cdef JournaledMatrix values      # K x ld: v of each slot; 0 in free slots
    cdef double *solution            # H v of each output, K x ld numbers

    cdef Status take(self, Py_ssize_t i, const double *coefficients) noexcept nogil
    cdef double *solved(self, Py_ssize_t k) noexcept nogil
    cdef void set_values_at(self, Py_ssize_t slot) noexcept nogil
    cdef void solve(self) noexcept nogil
    cdef void read_solution(self) noexcept nogil
    cdef double size_of(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t least_useful(self) noexcept nogil
    cdef Status remove(self, Py_ssize_t slot) noexcept nogil
    cdef object set_values(self, object learnt)


cdef class SlidingWindow(RecursivePolicy):
    cdef double reg


cdef class FixedBudget(SlidingWindow):
    cdef double eta
