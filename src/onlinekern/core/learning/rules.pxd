# Update rules: the scalar mathematics of one update. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.learning.losses cimport Loss


cdef class Rule(Part):
    cdef readonly Loss loss
    cdef readonly bint second_order
    cdef bint solves                 # whether `solve` of the class may be called: see there
    cdef readonly bint uses_length   # whether a coefficient may depend on the squared length
    cdef bint needs_length(self, double f, double y, double importance) noexcept nogil
    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil
    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil
    cdef double solve(self, double f, double y, double q, int64_t t, double importance,
                      double *coefficient, double *contraction) noexcept nogil
    cdef double shrink(self, int64_t t) noexcept nogil
    cdef bint shrinks_ever(self)
    cdef int check_loss(self) except -1


cdef inline double solved(Rule rule, double f, double y, double q, int64_t t, double importance,
                          double *coefficient, double *contraction) noexcept nogil:
    """What `Rule.solve` does, whoever wrote the class of the rule."""
    if rule.solves:
        return rule.solve(f, y, q, t, importance, coefficient, contraction)
    return Rule.solve(rule, f, y, q, t, importance, coefficient, contraction)


cdef class PassiveAggressive(Rule):
    pass
