# Running mean and scale of targets. May change at minor versions.
from libc.math cimport fabs, isfinite, sqrt
from libc.string cimport memcpy


# A model has one for each target of a sample; all agree in the first three fields.
cdef struct Targets:
    bint standardized       # whether the rule sees standardised targets
    bint fixed              # whether mean and scale stay
    double forgetting       # by which earlier weights are multiplied at each sample
    double weight           # of the samples so far
    double mean
    double squares          # weighted sum of the squared deviations from the mean
    double scale            # root of the mean square, 1 if that is 0
    double far              # targets in a row, up to the last one, that were beyond the reach


# A target is learnt as one no farther from the mean so far than `REACH` deviations so far, unless
# `FEW` in a row before it were farther. Up to `FIRST` of them tell which one is an outlier: the
# others are `NEARER` times nearer together.
cdef enum:
    REACH = 30
    FEW = 2
    FIRST = 8
    NEARER = 10000


cdef inline double within_reach(Targets *targets, double y, double weight) noexcept nogil:
    """A target, or a less far one in its place; the first ones forget an outlier among them.

    Where all are forgotten in time, so is the outlier. Two values, n - 1 of one and an outlier,
    have the mean and deviation that are known if they are ``mean -+ deviation / sqrt(n - 1)`` and
    ``mean +- deviation sqrt(n - 1)``.
    """
    cdef double deviation, n, near, gap, side
    # What cannot be squared is an error, which `take_up` finds.
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
        # Equal ones tell nothing: of 0 and 1 the rare one is no outlier.
        if 1e-12 * gap < fabs(y - near) and NEARER * fabs(y - near) <= gap:
            targets.mean, targets.squares = near, 0
            targets.weight -= weight
            targets.far = 0
            return y
    targets.far = targets.far + 1 if fabs(y - targets.mean) > REACH * deviation else 0
    # What goes on is no outlier: the stream is at another level, or in other units.
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
    # Where the weights before are next to nothing, rounding may make it negative.
    targets.squares += 0 if gain < 0 else gain
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


# Of a single target nothing is called: the loop over several is no part of the stream loop.
cdef inline bint take_up_each(Targets *targets, Py_ssize_t n, const double *y, double weight,
                              double *learnt) noexcept nogil:
    """Count n targets of a sample, and write how the rule sees them. Returns as `take_up`."""
    cdef bint good
    if n > 1:
        return take_up_several(targets, n, y, weight, learnt)
    learnt[0] = within_reach(targets, y[0], weight)
    good = take_up(targets, learnt[0], weight)
    learnt[0] = standardized(targets, learnt[0])
    return good


cdef inline bint in_units_each(const Targets *targets, Py_ssize_t n, double *scores) noexcept nogil:
    """Turn n scores into the units of their targets. Returns whether all are finite."""
    if n > 1:
        return several_in_units(targets, n, scores)
    scores[0] = in_units(targets, scores[0])
    return isfinite(scores[0])


cdef bint take_up_several(Targets *targets, Py_ssize_t n, const double *y, double weight,
                          double *learnt) noexcept nogil
cdef bint several_in_units(const Targets *targets, Py_ssize_t n, double *scores) noexcept nogil
cdef Targets *new_targets(Py_ssize_t n, double forgetting) except NULL
cdef inline void keep_targets(Targets *targets, Py_ssize_t n) noexcept nogil:
    """Copy what is known of n targets into the room behind them."""
    memcpy(targets + n, targets, n * sizeof(Targets))


cdef inline void take_back(Targets *targets, Py_ssize_t n) noexcept nogil:
    """Return to what was copied last."""
    memcpy(targets, targets + n, n * sizeof(Targets))


cdef double share_of_earlier(forgetting) except -1
cdef tuple state_of(const Targets *targets, Py_ssize_t n)
cdef int set_state(Targets *targets, Py_ssize_t n, object state) except -1
