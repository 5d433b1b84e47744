"""Targets: their running mean and scale, by which a regression is learnt in units of its own.

The rule sees ``(y - mean) / scale``, both of the targets so far with this one; what it learns, f,
is read as ``mean + scale f``. The scale is the standard deviation of the targets so far, so that a
target is never further off than the root of their number. B. P. Welford (1962), Technometrics 4;
D. H. D. West (1979), Communications of the ACM 22, for weights.
"""
from onlinekern.core.base.state cimport (
    finite_number, flag_of, items_of, not_negative, positive_number,
)


cdef int begin_targets(Targets *targets, double forgetting) except -1:
    """No targets so far; forgetting 1 is none, 0 means that they are not standardised at all."""
    targets.standardized = forgetting > 0
    targets.fixed = False
    targets.forgetting = forgetting
    targets.weight = targets.mean = targets.squares = 0
    targets.scale = 1
    return 0


cdef tuple state_of(const Targets *targets):
    """What `set_state` takes."""
    return (bool(targets.fixed), targets.weight, targets.mean, targets.squares, targets.scale)


cdef int set_state(Targets *targets, object state) except -1:
    """Take over what `state_of` gave, checked."""
    fixed, weight, mean, squares, scale = items_of(state, "targets", 5)
    targets.fixed = flag_of("fixed", fixed)
    targets.weight = not_negative("the weight of the targets", weight)
    targets.mean = finite_number("the mean of the targets", mean)
    targets.squares = not_negative("the squares of the targets", squares)
    targets.scale = positive_number("the scale of the targets", scale)
    return 0
