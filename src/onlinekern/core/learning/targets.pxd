# Running mean and scale of targets. May change at minor versions.
from libc.math cimport fabs, isfinite, sqrt


cdef struct Targets:
    bint standardized       # whether the rule sees standardised targets
    bint fixed              # whether mean and scale stay
    double forgetting       # by which earlier weights are multiplied at each sample
    double weight           # of the samples so far
    double mean
    double squares          # weighted sum of the squared deviations from the mean
    double scale            # root of the mean square, 1 if that is 0


cdef inline bint take_up(Targets *targets, double y, double weight) noexcept nogil:
    """Count a target (Welford 1962; West 1979 for weights). Returns whether all is finite."""
    cdef double before
    if targets.fixed:
        return True
    targets.weight = targets.forgetting * targets.weight + weight
    targets.squares *= targets.forgetting
    before = y - targets.mean
    targets.mean += weight / targets.weight * before
    targets.squares += weight * before * (y - targets.mean)
    targets.scale = sqrt(targets.squares / targets.weight)
    # Equal targets: what is left is rounding.
    if targets.scale <= 1e-15 * fabs(targets.mean):
        targets.scale = 1
    return isfinite(targets.mean) and isfinite(targets.scale)


cdef inline double standardized(const Targets *targets, double y) noexcept nogil:
    """A target as the rule sees it."""
    return (y - targets.mean) / targets.scale


cdef inline double in_units(const Targets *targets, double f) noexcept nogil:
    """A score in the units of the targets."""
    return targets.mean + targets.scale * f


cdef int begin_targets(Targets *targets, double forgetting) except -1
cdef tuple state_of(const Targets *targets)
cdef int set_state(Targets *targets, object state) except -1
