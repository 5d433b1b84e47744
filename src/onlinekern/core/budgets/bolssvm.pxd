# The least-squares support vector machine on a budget. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.budgets.inverse_policy cimport InverseGramPolicy


cdef class LeastSquaresPolicy(InverseGramPolicy):
    cdef double C, share
    cdef Py_ssize_t n_outputs
    cdef double label            # of the sample
    cdef JournaledMatrix targets         # (K + 1) x ld: y of each slot, and 1; 0 in free slots
    cdef JournaledMatrix offsets         # 1 x K
    cdef JournaledMatrix products        # (K + 1) x ld: H y of each output, and h = H 1
    cdef double *alphas          # K x ld
    cdef double *residuals       # K x ld: of each slot, by the machine without it

    cdef double target(self, Py_ssize_t k) noexcept nogil
    cdef double *alpha(self, Py_ssize_t k) noexcept nogil
    cdef double h_sum(self) noexcept nogil
    cdef void solve(self) noexcept nogil
    cdef object set_products(self, object products, object occupied)
    cdef void leave_one_out(self) noexcept nogil
    cdef double margin(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t leaving(self, Py_ssize_t newest) noexcept nogil
    cdef Py_ssize_t most_redundant(self) noexcept nogil
    cdef Status publish(self) noexcept nogil
