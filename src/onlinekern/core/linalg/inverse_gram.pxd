# The inverse of a Gram matrix of changing rows. May change at minor versions.
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops


cdef class InverseGram:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t size, ld
    cdef Py_ssize_t used                 # slots from here on have never been occupied
    cdef readonly Py_ssize_t n_updates   # since the inverse was made afresh
    cdef Py_ssize_t saved_updates
    cdef bint broken                     # an update met a pivot out of its bounds
    cdef bint saved_broken
    # H = inverse + sum_j factors[j] terms[j] terms[j]'. Empty slots have zeros in all of it.
    cdef JournaledMatrix inverse         # size x ld, of which the lower triangle counts
    cdef JournaledMatrix terms           # room x ld
    cdef JournaledMatrix factors         # 1 x room
    cdef JournaledMatrix stale           # 1 x ld: 1 where row and column of `inverse` count as 0
    cdef readonly Py_ssize_t room, n_terms
    cdef Py_ssize_t saved_terms
    cdef JournaledMatrix diagonal        # 1 x ld: kappa_ii + ridge_i; 0 in empty slots
    cdef double *own                     # H_ii, ld numbers
    cdef double *direction               # ld numbers to work with
    cdef double *masked                  # the same
    cdef double *panels                  # terms as panels, while they are folded in
    cdef double *scaled                  # size x room: the transposed terms times their factors

    cdef const double *row(self, Py_ssize_t slot) noexcept nogil
    cdef bint occupied(self, Py_ssize_t slot) noexcept nogil
    cdef void multiply(self, const double *values, double *masked, double *out) noexcept nogil
    cdef void solve(self, const double *values, double *solution) noexcept nogil
    cdef void solve_joined(self, const double *values, double *solution) noexcept nogil
    cdef void solve_deflated(self, Py_ssize_t slot, const double *values,
                             double *solution) noexcept nogil
    cdef double project(self, const double *k, double diagonal) noexcept nogil
    cdef void join(self, Py_ssize_t slot, double pivot, double kappa, double ridge) noexcept nogil
    cdef void border(self, Py_ssize_t slot, const double *k, double kappa,
                     double ridge) noexcept nogil
    cdef void deflate(self, Py_ssize_t slot) noexcept nogil
    cdef void close_update(self, double factor) noexcept nogil
    cdef void count_term(self, Py_ssize_t j) noexcept nogil
    cdef void count_own(self) noexcept nogil
    cdef void fold(self) noexcept nogil
    cdef void pack(self) noexcept nogil
    cdef void forget_terms(self) noexcept nogil
    cdef bint needs_refresh(self) noexcept nogil
    cdef double *fresh_row(self, Py_ssize_t slot) noexcept nogil
    cdef void invert(self) noexcept nogil
    cdef void mirror(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef inline double over_weight(double variance, double weight) noexcept nogil:
    """The variance of the noise of a sample of a weight > 0; finite for the smallest weights too.
    """
    return min(variance / weight, 1e300)
