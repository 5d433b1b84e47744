# Running mean and scale of targets. May change at minor versions.
from libc.math cimport fabs, isfinite, sqrt
from libc.string cimport memcpy


# State of one target of the samples; the first three fields are the same for all targets.
cdef struct Targets:
    bint standardized       # whether the rule gets standardised targets
    bint fixed              # whether mean and scale do not change
    double forgetting       # factor of earlier weights at each sample
    double weight           # sum of the weights of the samples so far
    double mean
    double squares          # weighted sum of the squared deviations from the mean
    double scale            # root of the mean square, 1 if that is 0
    double far              # number of the last targets in a row that were beyond REACH


# A target is clipped at REACH deviations from the mean, both of the targets before it, unless more
# than FEW targets in a row were farther. Among the first FIRST targets, one is an outlier if the
# others are NEARER times closer together.
cdef enum:
    REACH = 30
    FEW = 2
    FIRST = 8
    NEARER = 10000


cdef inline double within_reach(Targets *targets, double y, double weight) noexcept nogil:
    """The target y, clipped if it is far; also forgets an outlier among the first targets.

    The latter is not done with forgetting, which forgets an outlier anyway. If n - 1 equal targets
    and an outlier have this mean and deviation, they are ``mean -+ deviation / sqrt(n - 1)`` and
    ``mean +- deviation sqrt(n - 1)``.
    """
    cdef double deviation, n, near, gap, side
    # A target whose square overflows is an error, which `take_up` finds.
    if targets.fixed or not targets.squares > 0 or not isfinite((y - targets.mean) ** 2):
        return y
    deviation = sqrt(targets.squares / targets.weight)
    if deviation <= 1e-15 * fabs(targets.mean):
        return y
    n = targets.weight / weight if targets.forgetting == 1 else 0
    if 1.5 < n < FIRST + 0.5:
        side = deviation / sqrt(n - 1)
        gap = n * side
        near = targets.mean + (side if y > targets.mean else -side)
        if NEARER * fabs(y - near) > gap:
            near = 2 * targets.mean - near
        # If y equals the other targets, nothing is forgotten: of 0 and 1 the rarer is no outlier.
        if 1e-12 * gap < fabs(y - near) and NEARER * fabs(y - near) <= gap:
            targets.mean, targets.squares = near, 0
            targets.weight -= weight
            targets.far = 0
            return y
    targets.far = targets.far + 1 if fabs(y - targets.mean) > REACH * deviation else 0
    # More far targets in a row are no outliers: the level or the unit has changed.
    if targets.far > FEW:
        return y
    return max(targets.mean - REACH * deviation, min(targets.mean + REACH * deviation, y))


cdef inline bint take_up(Targets *targets, double y, double weight) noexcept nogil:
    """Count a target (Welford 1962; West 1979 for weights). Returns whether all is finite."""
    cdef double before, gain
    if targets.fixed:
        return True
    targets.weight = targets.forgetting * targets.weight + weight
    targets.squares *= targets.forgetting
    before = y - targets.mean
    targets.mean += weight / targets.weight * before
    gain = weight * before * (y - targets.mean)
    # Rounding may make it negative if earlier weights are tiny.
    targets.squares += 0 if gain < 0 else gain
    targets.scale = sqrt(targets.squares / targets.weight)
    # Equal targets: the deviation is a rounding error.
    if targets.scale <= 1e-15 * fabs(targets.mean):
        targets.scale = 1
    return isfinite(targets.mean) and isfinite(targets.scale)


cdef inline double standardized(const Targets *targets, double y) noexcept nogil:
    """The standardised target, which the rule gets."""
    return (y - targets.mean) / targets.scale


cdef inline double in_units(const Targets *targets, double f) noexcept nogil:
    """Convert a score to the units of the targets."""
    return targets.mean + targets.scale * f


# Inlined for a single target; several are a call, to keep the stream loop small.
cdef inline bint take_up_each(Targets *targets, Py_ssize_t n, const double *y, double weight,
                              double *learnt) noexcept nogil:
    """Count n targets of a sample, and write them standardised. Returns the result of `take_up`."""
    cdef bint good
    if n > 1:
        return take_up_several(targets, n, y, weight, learnt)
    learnt[0] = within_reach(targets, y[0], weight)
    good = take_up(targets, learnt[0], weight)
    learnt[0] = standardized(targets, learnt[0])
    return good


cdef inline bint in_units_each(const Targets *targets, Py_ssize_t n, double *scores) noexcept nogil:
    """Convert n scores to the units of their targets. Returns whether all are finite."""
    if n > 1:
        return several_in_units(targets, n, scores)
    scores[0] = in_units(targets, scores[0])
    return isfinite(scores[0])


cdef bint take_up_several(Targets *targets, Py_ssize_t n, const double *y, double weight,
                          double *learnt) noexcept nogil
cdef bint several_in_units(const Targets *targets, Py_ssize_t n, double *scores) noexcept nogil
cdef Targets *new_targets(Py_ssize_t n, double forgetting) except NULL
cdef inline void keep_targets(Targets *targets, Py_ssize_t n) noexcept nogil:
    """Save the state of n targets in the memory that follows them."""
    memcpy(targets + n, targets, n * sizeof(Targets))


cdef inline void take_back(Targets *targets, Py_ssize_t n) noexcept nogil:
    """Restore the state that was saved last."""
    memcpy(targets, targets + n, n * sizeof(Targets))


cdef double share_of_earlier(forgetting) except -1
cdef tuple state_of(const Targets *targets, Py_ssize_t n)
cdef int set_state(Targets *targets, Py_ssize_t n, object state) except -1
