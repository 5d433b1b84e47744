# The policy of the Projectron, and the rule of Projectron++. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.linalg.cholesky cimport Cholesky


cdef class MarginPerceptron(Rule):
    cdef bint margins


cdef class Projectron(Budget):
    cdef double eta, price
    cdef readonly Py_ssize_t max_support
    cdef readonly bint joint
    cdef readonly Cholesky factor
    cdef double weight
    cdef double *added           # K steps of the sample, then K of its projection
    cdef double *kernel
    cdef Py_ssize_t room

    cdef Status reserve(self, Py_ssize_t n) noexcept nogil
    cdef void choose(self, const double *coefficients, Py_ssize_t n_outputs, double covered,
                     double kappa, bint full) noexcept nogil
    cdef double margin_step(self, double loss, double covered, double distance) noexcept nogil
