"""Targets: running mean and scale, by which the targets of a regression are standardised.

The rule gets ``(y - mean) / scale``, with mean and standard deviation of the targets up to this
one. A score f means ``mean + scale f``. So a standardised target is at most the root of the number
of targets. B. P. Welford (1962), Technometrics 4; with weights D. H. D. West (1979), Communications
of the ACM 22.

A target is clipped at `REACH` deviations from the mean, both of the targets before it. An outlier
of 10,000 deviations would otherwise make the scale too large for all others. Of the first two
targets it is unknown which one is the outlier: if the third lies close to one of them, the other is
forgotten. Targets that are 0 but in one of a thousand, or have heavy tails, are not clipped. After
`FEW` clipped targets in a row the next ones are not clipped: the level or the unit has changed.
"""
from libc.math cimport isfinite
from libc.stdlib cimport calloc

import numpy as np

from onlinekern.core.base.state cimport (
    doubles_of_shape, finite_number, flag_of, items_of, not_negative, positive_number,
)


cdef Targets *new_targets(Py_ssize_t n, double forgetting) except NULL:
    """State of n targets per sample, before the first one, and memory for a copy of it.

    The caller frees it. forgetting = 1: no forgetting; 0: targets are not standardised.
    """
    cdef Py_ssize_t k
    cdef Targets *targets = <Targets *> calloc(2 * n, sizeof(Targets))
    if targets == NULL:
        raise MemoryError(f"no memory for {n} targets")
    for k in range(n):
        targets[k].standardized = forgetting > 0
        targets[k].forgetting = forgetting
        targets[k].scale = 1
    return targets


cdef bint take_up_several(Targets *targets, Py_ssize_t n, const double *y, double weight,
                          double *learnt) noexcept nogil:
    """`take_up_each` of several targets."""
    cdef Py_ssize_t k
    for k in range(n):
        learnt[k] = within_reach(&targets[k], y[k], weight)
        if not take_up(&targets[k], learnt[k], weight):
            return False
        learnt[k] = standardized(&targets[k], learnt[k])
    return True


cdef bint several_in_units(const Targets *targets, Py_ssize_t n, double *scores) noexcept nogil:
    """`in_units_each` of several targets."""
    cdef Py_ssize_t k
    cdef bint good = True
    for k in range(n):
        scores[k] = in_units(&targets[k], scores[k])
        good &= isfinite(scores[k])
    return good


cdef double share_of_earlier(forgetting) except -1:
    """The factor `forgetting` of the weights of earlier targets, checked: in (0, 1]."""
    cdef double checked = positive_number("forgetting", forgetting)
    if checked > 1:
        raise ValueError(f"forgetting must be <= 1, got {forgetting}")
    return checked


cdef tuple state_of(const Targets *targets, Py_ssize_t n):
    """State for `set_state`: numbers with one target, arrays with several.

    None if targets are not standardised.
    """
    cdef Py_ssize_t k
    if not targets.standardized:
        return None
    if n == 1:
        return (bool(targets.fixed), targets.weight, targets.mean, targets.squares, targets.scale,
                targets.far)
    return (bool(targets.fixed), np.array([targets[k].weight for k in range(n)]),
            np.array([targets[k].mean for k in range(n)]),
            np.array([targets[k].squares for k in range(n)]),
            np.array([targets[k].scale for k in range(n)]),
            np.array([targets[k].far for k in range(n)]))


cdef int set_state(Targets *targets, Py_ssize_t n, object state) except -1:
    """Restore the result of `state_of`, which is checked first: nothing changes if it raises."""
    cdef Py_ssize_t k
    if not targets.standardized:
        return 0
    if isinstance(state, tuple) and len(state) == 5:  # older versions have no `far`
        state = (*state, np.zeros(n) if n > 1 else 0.0)
    fixed, *each = items_of(state, "targets", 6)
    fixed = flag_of("fixed", fixed)
    if n > 1:
        if np.ndim(each[0]) == 0:  # older versions have one weight for all
            each[0] = np.full(n, not_negative("the weight of the targets", each[0]))
        each = [doubles_of_shape("targets", numbers, (n,)) for numbers in each]
    else:
        each = [(number,) for number in each]
    weights = [not_negative("the weight of the targets", number) for number in each[0]]
    means = [finite_number("the mean of the targets", number) for number in each[1]]
    squares = [not_negative("the squares of the targets", number) for number in each[2]]
    scales = [positive_number("the scale of the targets", number) for number in each[3]]
    far = [not_negative("the number of targets far off", number) for number in each[4]]
    for k in range(n):
        targets[k].fixed, targets[k].weight = fixed, weights[k]
        targets[k].mean, targets[k].squares, targets[k].scale = means[k], squares[k], scales[k]
        targets[k].far = far[k]
    return 0
