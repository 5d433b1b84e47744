# The policy of the Projectron, and the rule of Projectron++. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.linalg.cholesky cimport Cholesky
from onlinekern.core.linalg.inverse_panels cimport InversePanels
from onlinekern.core.linalg.solve_ahead cimport SolveAhead


cdef class MarginPerceptron(Rule):
    cdef bint margins


cdef class Projectron(Bounded):
    cdef double eta, price
    cdef readonly bint joint
    cdef readonly Cholesky factor
    cdef readonly InversePanels inverse  # of the factor
    cdef SolveAhead ahead
    cdef bint judged             # whether the full set was asked if it is far enough for float
    cdef double *projected       # K steps of the projection; `step` has those of the sample
    cdef double *guessed         # 2 K scores of a coming sample
    # The block, see `foresee`.
    cdef const double *labels
    cdef const Py_ssize_t *order
    cdef Py_ssize_t n_foreseen
    cdef double limit            # margin up to which samples were seen to be learnt

    cdef Status follow(self) noexcept nogil
    cdef double margin(self, Py_ssize_t i) noexcept nogil
    cdef void read_kernel_values(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t guess(self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t count, double below,
                          double limit) noexcept nogil
    cdef Py_ssize_t solve_lower(self, Py_ssize_t i) noexcept nogil
    cdef void solve_upper(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil
    cdef bint will_move(self, Py_ssize_t place) noexcept nogil
    cdef Status append(self, Py_ssize_t place, double kappa) noexcept nogil
    cdef Status move(self, Py_ssize_t place) noexcept nogil
    cdef void choose(self, const double *coefficients, double covered,
                     double kappa) noexcept nogil
    cdef double margin_step(self, double loss, double covered, double distance) noexcept nogil
