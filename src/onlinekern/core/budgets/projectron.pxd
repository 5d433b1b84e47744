# The policy of the Projectron, and the rule of Projectron++. May change at minor versions.
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.linalg.cholesky cimport Cholesky


cdef class MarginPerceptron(Rule):
    cdef bint margins


cdef class Projectron(Bounded):
    cdef double eta, price
    cdef readonly bint joint
    cdef readonly Cholesky factor
    cdef double weight           # of the sample
    cdef double *projected       # K steps of the projection; `step` has those of the sample

    cdef void choose(self, const double *coefficients, double covered,
                     double kappa) noexcept nogil
    cdef double margin_step(self, double loss, double covered, double distance) noexcept nogil
