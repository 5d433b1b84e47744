# Update rules: the scalar mathematics of one update. May change at minor versions.
from libc.float cimport DBL_MAX
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.learning.losses cimport Loss, hinge


# The scores of a sample for all classes of a softmax loss.
cdef struct Classes:
    const double *scores
    const double *lengths    # squared lengths of the sample, of each class
    Py_ssize_t n
    Py_ssize_t label


cdef class Rule(Part):
    cdef readonly Loss loss
    cdef readonly bint second_order
    cdef bint solves                 # whether the class is the library's own: see `solves_hinge`
    cdef readonly bint uses_length   # whether a coefficient may depend on the squared length
    cdef readonly bint continues     # whether `further` is called for weights above 1
    cdef bint needs_length(self, double f, double y, double importance) noexcept nogil
    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil
    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil
    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil
    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil
    cdef void solve_classes(self, const Classes *classes, int64_t t, double importance,
                            double *coefficients, double *contractions) noexcept nogil
    cdef double shrink(self, int64_t t) noexcept nogil
    cdef bint shrinks_ever(self)
    cdef int check_loss(self) except -1


cdef inline bint solves_hinge(Rule rule) noexcept nogil:
    """Whether `Rule.solve` of the class may be called: a class of the library, and the hinge."""
    return rule.solves and rule.loss.hinge


cdef inline double solved(Rule rule, bint hinged, double f, double y, double q, double beside,
                          int64_t t, double importance, double weight, double *coefficient,
                          double *contraction) noexcept nogil:
    """Write coefficient and contraction of a sample, as `Rule.solve` does, and return the loss.

    `hinged` is `solves_hinge(rule)`; `importance` is that of the sampler. A step moves the score by
    q + beside times its coefficient.
    """
    cdef bint goes_on = weight > 1 and rule.continues
    cdef double own = importance if goes_on else importance * weight, loss, slope = 0
    if hinged:
        loss = hinge(f, y, &slope)
        rule.solve(f, y, loss, slope, q, t, own, coefficient, contraction)
    else:
        Rule.solve(rule, f, y, 0, 0, q, t, own, coefficient, contraction)
        loss = rule.loss.value(f, y)
    if goes_on and coefficient[0] != 0:
        coefficient[0] = rule.further(f, y, q + beside, t, importance * (weight - 1),
                                      coefficient[0])
    return loss


cdef inline double travelled(Loss loss, double f, double y, double q, double size,
                             double coefficient) noexcept nogil:
    """A coefficient, plus that of infinitely small steps after it, of total step size `size`."""
    if q <= 0:
        return coefficient + size * loss.slope(f, y)
    return coefficient + loss.travel(f + coefficient * q, y, min(size * q, DBL_MAX)) / q


cdef inline double bounded_tau(double loss, double q, double C) noexcept nogil:
    return min(C, loss / q)


cdef inline double softened_tau(double loss, double q, double C) noexcept nogil:
    return loss / (q + 1 / (2 * C))


cdef class PassiveAggressive(Rule):
    pass
