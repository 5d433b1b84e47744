"""Coverage: thresholds such that a given share of the scores of a stream is at most the threshold.

A score measures the error of a prediction. The threshold at level a is the score of rank
``ceil((n + 1) (1 - a))`` among the last n scores, in ascending order. Eight levels a_i follow the
stream, each with its own rate: ``a_i <- a_i + rate_i (wanted - missed_i)`` (Gibbs and Candes 2021,
eq. 2). The level in use is their weighted mean, with weights that fall with their losses (Gibbs and
Candes 2024, algorithm 1), so no rate has to be chosen.
"""
cimport numpy as cnp
from libc.math cimport INFINITY, ceil, exp, isfinite, isnan, log, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memmove

import numpy as np

cnp.import_array()

cdef enum: N_RATES = 8
# The rates of the paper.
cdef double[N_RATES] RATES = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128]
# Samples that the weights look back; 500 in the paper.
cdef double HORIZON = 500
# Beyond the largest score: a level that falls by `wanted` raises the threshold by this part of the
# range of the scores. Values of 0.05 to 1 were tried on random walks and data sets: smaller ones
# are too slow for walks, larger ones give wider intervals (docs/intervals.md).
cdef double BEYOND = 0.1
# Rate of the correction, in units of `wanted`. Of .003 to .02, .003 leaves the coverage off by 0.8
# points where scores grow, and .02 gives wider intervals (docs/intervals.md).
cdef double CORRECTING = 0.01
# Tolerance for products that are integers up to rounding.
cdef double SLACK = 1e-9


cdef Py_ssize_t place_of(const double *ordered, Py_ssize_t n, double score) noexcept nogil:
    """Number of the sorted scores that are smaller than `score` (binary search)."""
    cdef Py_ssize_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


cdef void replace(double *ordered, Py_ssize_t n, double old, double new) noexcept nogil:
    """Replace one of n sorted scores; they stay sorted."""
    cdef Py_ssize_t gone = place_of(ordered, n, old), place = place_of(ordered, n, new)
    if place > gone:
        place -= 1
        memmove(ordered + gone, ordered + gone + 1, (place - gone) * sizeof(double))
    else:
        memmove(ordered + place + 1, ordered + place, (gone - place) * sizeof(double))
    ordered[place] = new


cdef void insert(double *ordered, Py_ssize_t n, double score) noexcept nogil:
    """Insert a score among n sorted ones; they stay sorted."""
    cdef Py_ssize_t place = place_of(ordered, n, score)
    memmove(ordered + place + 1, ordered + place, (n - place) * sizeof(double))
    ordered[place] = score


cdef double threshold_of(const double *ordered, Py_ssize_t n, const double *levels,
                         const double *weights, double correction,
                         double wanted) noexcept nogil:
    """The threshold; infinite as long as there are too few scores for `wanted`."""
    cdef double level = 0, total = 0
    cdef Py_ssize_t i, rank
    if (n + 1) * wanted < 1 - SLACK:
        return INFINITY
    for i in range(N_RATES):
        level += weights[i] * levels[i]
        total += weights[i]
    level = level / total + correction
    rank = <Py_ssize_t> ceil((n + 1) * (1 - level) - SLACK)
    if rank <= n:
        return ordered[rank - 1] if rank > 0 else -INFINITY
    return ordered[n - 1] + (1.0 / (n + 1) - level) * reach_of(ordered, n, wanted)


cdef double reach_of(const double *ordered, Py_ssize_t n, double wanted) noexcept nogil:
    """Slope of the threshold beyond the largest score, per unit of level; 0 if one is infinite."""
    cdef double span = BEYOND * (ordered[n - 1] - ordered[0]) / wanted
    return span if isfinite(span) else 0


cdef double highest_of(const double *ordered, Py_ssize_t n, double score,
                       double wanted) noexcept nogil:
    """The highest level whose threshold holds a score; -1, below all levels, if none does."""
    cdef Py_ssize_t place = place_of(ordered, n, score)
    cdef double reach
    if place < n:
        return 1 - place / <double> (n + 1)
    reach = reach_of(ordered, n, wanted) if n > 0 else 0
    return max(1.0 / (n + 1) - (score - ordered[n - 1]) / reach, -1.0) if reach > 0 else -1


cdef void move(double *levels, double *weights, double wanted, double highest) noexcept nogil:
    """Move the levels and their weights after a sample, which is held by levels <= highest."""
    cdef double spread = (1 - wanted) ** 2 * wanted ** 3 + wanted ** 2 * (1 - wanted) ** 3
    cdef double eta = sqrt(3 / HORIZON * (log(N_RATES * HORIZON) + 2) / spread)
    cdef double share = 1 / (2 * HORIZON), total = 0, least = INFINITY
    cdef double[N_RATES] losses
    cdef Py_ssize_t i
    for i in range(N_RATES):
        losses[i] = wanted * (highest - levels[i]) - min(0.0, highest - levels[i])
        least = min(least, losses[i])
    for i in range(N_RATES):
        # Of the differences at least one is 0: the weights do not all vanish.
        weights[i] *= exp(-eta * (losses[i] - least))
        total += weights[i]
        levels[i] += RATES[i] * (wanted - (levels[i] > highest))
        levels[i] = min(max(levels[i], -wanted), 1.0)
    for i in range(N_RATES):
        weights[i] = (1 - share) * weights[i] / total + share / N_RATES


cdef int64_t follow_scores(const double *scores, Py_ssize_t n_scores, double *recent,
                           double *ordered, Py_ssize_t size, double *levels, double *weights,
                           double *correction, int64_t seen, double wanted,
                           double *thresholds) noexcept nogil:
    """`follow`, of pointers; returns how many scores have been seen."""
    cdef Py_ssize_t i, held, place
    for i in range(n_scores):
        held = <Py_ssize_t> min(seen, <int64_t> size)
        thresholds[i] = threshold_of(ordered, held, levels, weights, correction[0], wanted)
        if isnan(scores[i]):
            continue
        if thresholds[i] < INFINITY or held == size:
            move(levels, weights, wanted, highest_of(ordered, held, scores[i], wanted))
            correction[0] += CORRECTING * wanted * (wanted - (scores[i] > thresholds[i]))
            correction[0] = min(max(correction[0], -wanted), wanted)
        place = <Py_ssize_t> (seen % size)
        if held < size:
            insert(ordered, held, scores[i])
        else:
            replace(ordered, held, recent[place], scores[i])
        recent[place] = scores[i]
        seen += 1
    return seen


def begin(Py_ssize_t size):
    """The arrays of `follow` before the first score.

    Returns
    -------
    recent, ordered : ndarray of shape (size,)
    levels, weights : ndarray of shape (8,)
        The levels are set by whoever knows the share that is wanted.
    """
    return np.zeros(size), np.zeros(size), np.zeros(N_RATES), np.full(N_RATES, 1.0 / N_RATES)


def follow(const double[::1] scores, double[::1] recent, double[::1] ordered, double[::1] levels,
           double[::1] weights, double correction, int64_t seen, double wanted):
    """Tell the threshold before each score, then take the score up.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        NaN: nothing is taken up.
    recent, ordered : ndarray of shape (size,)
        The last scores, where number k stands at k % size, and the same in ascending order.
        Changed in place, as the next two.
    levels, weights : ndarray of shape (8,)
        The levels, shares to be missed from ``-wanted`` to 1, and their weights.
    correction : float
        What their mean is off, from ``-wanted`` to `wanted`.
    seen : int
        Scores so far.
    wanted : float in (0, 1)
        The share of the scores to be missed: those greater than their threshold.

    Returns
    -------
    thresholds : ndarray of shape (n,)
    threshold : float
        The one of the next score.
    correction : float
    seen : int

    Raises
    ------
    ValueError
        If the arrays do not fit together, `seen` is negative, or `wanted` is not in (0, 1).
    """
    cdef Py_ssize_t size = recent.shape[0]
    if size == 0 or ordered.shape[0] != size:
        raise ValueError("recent and ordered must have one length, not 0")
    if levels.shape[0] != N_RATES or weights.shape[0] != N_RATES:
        raise ValueError(f"levels and weights must have {N_RATES} elements")
    if seen < 0 or not 0 < wanted < 1:
        raise ValueError(f"seen must be >= 0 and wanted in (0, 1), got {seen} and {wanted}")
    cdef cnp.npy_intp n = scores.shape[0]
    thresholds = cnp.PyArray_EMPTY(1, &n, cnp.NPY_FLOAT64, 0)
    cdef double *told = <double *> cnp.PyArray_DATA(thresholds)
    if n > 0:
        with nogil:
            seen = follow_scores(&scores[0], n, &recent[0], &ordered[0], size, &levels[0],
                                 &weights[0], &correction, seen, wanted, told)
    cdef double following = threshold_of(&ordered[0], <Py_ssize_t> min(seen, <int64_t> size),
                                         &levels[0], &weights[0], correction, wanted)
    return thresholds, following, correction, seen
