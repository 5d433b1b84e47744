"""What a renewal of a forest computes once: units of features and targets, and slopes."""
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, sqrt

from operator import index

import numpy as np

from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, finite_number, not_negative, positive_number)
from onlinekern.core.partitions.trees cimport UPPER_CELLS, UPPER_LEVEL

# Of a row's slopes, so much is the mean of all rows: one gradient may err.
COMMON_SLOPE = 0.1
LEAST_SLOPE = 1e-4


# All trees that are to be cut exactly are so from so many times as many samples on as half of them,
# but from so many on where half of these are enough for half of them: forests that were saved with
# exact trees from 8,192 samples on go on with the same bits.
cdef Py_ssize_t ALL_EXACT = 8
cdef Py_ssize_t ENOUGH = 1 << 14
# Candidates of a node, and replays, and trees: more would not come to an end.
cdef Py_ssize_t MOST_TURNS = 1000, MOST_TREES = 1 << 20, MOST = 1 << 48
# The largest variance that cells may begin with.
cdef double MOST_VARIANCE = 100
# Samples learnt, when the last renewal that is done began, and trees that the present one has cut.
COUNTS = ("entered", "renewed", "n_grown")


def check_sizes(Py_ssize_t most=MOST, **numbers):
    """Raise ValueError unless each of these numbers is in [1, most]."""
    for name, number in numbers.items():
        if not 1 <= number <= most:
            raise ValueError(f"{name} must be in [1, {most}], got {number}")


def check_settings(Py_ssize_t n_outputs, Py_ssize_t n_labels, double share, double spread,
                   Py_ssize_t n_exact, Py_ssize_t n_trees, Py_ssize_t n_candidates,
                   Py_ssize_t replays, Py_ssize_t exact_from, double exact_share):
    """Raise ValueError unless a forest may have such settings, beside sizes."""
    check_sizes(exact_from=exact_from)
    check_sizes(MOST_TREES, n_trees=n_trees)
    check_sizes(MOST_TURNS, n_candidates=n_candidates, replays=replays)
    if n_labels < 0 or n_labels == 1 or n_labels and n_outputs != outputs_of(n_labels):
        raise ValueError(f"{n_labels} classes do not have {n_outputs} outputs")
    for name, number in (("share", share), ("exact_share", exact_share)):
        if not 0 < number <= 1:
            raise ValueError(f"{name} must be in (0, 1], got {number}")
    if not 0 <= spread <= 1:
        raise ValueError(f"spread must be in [0, 1], got {spread}")
    if not 0 <= n_exact <= n_trees:
        raise ValueError(f"n_exact must be in [0, {n_trees}], got {n_exact}")


def exact_among(Py_ssize_t n_exact, Py_ssize_t exact_from, Py_ssize_t n):
    """How many trees are cut exactly where n samples are: none, half of n_exact, or all."""
    if n < exact_from:
        return 0
    enough = min(ALL_EXACT * exact_from, max(2 * exact_from, ENOUGH))
    return n_exact if n >= enough else n_exact // 2


def renewal_to_do(tuple due, renewed, entered, n_kept, samples_of_renewal):
    """After how many samples the renewal began, or begins, that is to be done after `entered`.

    One that an undo or a copy lost is done before the next one. It may go on where that is due, if
    the memory is full by then, and is done first if the samples are kept that it grows from.

    Parameters
    ----------
    due : tuple of int
        At how many samples a renewal was last due before the last one, and with it.
    renewed, entered, n_kept : int
        When the last renewal that is done began; samples learnt; those that are kept.
    samples_of_renewal : function
        Over how many samples a renewal is spread that begins after so many.
    """
    last = due[0] if due[0] > renewed else due[1]
    first = 1 << renewed.bit_length()
    goes_on = 0 < renewed and first < last and entered <= first + samples_of_renewal(first)
    return first if goes_on and entered - first < n_kept else last


def check_seen(n_seen, exact_variances, Py_ssize_t n_experts, Py_ssize_t n_trees):
    """How many trees each expert sees, and the variance that its cells of exact trees begin with,
    two tuples of int and float; () is all trees, and 1.
    """
    seen = tuple([index(number) for number in n_seen])
    if seen and (len(seen) != n_experts or not all(1 <= number <= n_trees for number in seen)):
        raise ValueError(f"n_seen must be in [1, {n_trees}], for each of {n_experts} experts, or "
                         f"(), got {seen}")
    variances = tuple([finite_number("a variance", number) for number in exact_variances])
    inside = [0 < number <= MOST_VARIANCE for number in variances]
    if variances and (len(variances) != n_experts or not all(inside)):
        raise ValueError(f"exact_variances must be in (0, {MOST_VARIANCE:g}], for each of "
                         f"{n_experts} experts, or (), got {variances}")
    return seen, variances


def check_weights(cut_weights, Py_ssize_t n_outputs, Py_ssize_t n_labels):
    """Weights of the outputs that tell where to cut, a tuple of float >= 0; () are none."""
    weights = tuple([not_negative("a weight of cut_weights", weight) for weight in cut_weights])
    if weights and (n_labels > 0 or len(weights) != n_outputs or not any(weights)):
        raise ValueError(f"cut_weights must be those of {n_outputs} targets, of which one is not "
                         f"0, or (), got {weights}")
    return weights


def weighted_sum(goals, weights):
    """The sum of the columns, each times its weight, ndarray of shape (n, 1)."""
    found = np.zeros((len(goals), 1))
    for k, weight in enumerate(weights):
        # One after the other: a product of matrices may have other bits with another BLAS.
        found[:, 0] += weight * goals[:, k]
    return found


def check_reach(rows, entered, begun):
    """Raise ValueError unless the last rows hold one of before a renewal, which grows from them."""
    if len(rows) <= entered - begun:
        raise ValueError(f"rows must reach back to sample {begun}, where a renewal began: more "
                         f"than {entered - begun}, got {len(rows)}")


def outputs_of(Py_ssize_t n_labels):
    """How many outputs a learner of so many classes has."""
    return n_labels if n_labels > 2 else 1


def check_labels(labels, Py_ssize_t n_labels):
    """Raise ValueError unless these are class numbers."""
    if isinstance(labels, np.ndarray) and not np.isin(labels, np.arange(n_labels)).all():
        raise ValueError(f"targets must be class numbers, 0 ... {n_labels - 1}")


def cells_of(forest):
    """The node of each leaf, and of each upper cell (-1: there is none), two ndarrays of intp."""
    _, _, left, first = forest.arrays()
    place = np.arange(len(left)) - np.repeat(first[:forest.n_trees], np.diff(first))
    nodes = np.flatnonzero(left == place)
    roots = first[:forest.n_trees].astype(np.intp)[:, None]
    at = roots
    for _ in range(UPPER_LEVEL):
        node = np.maximum(at, 0)
        down, ends = roots + left[node], left[node] == place[node]
        # The children of a leaf are itself and none.
        pair = [np.where(at < 0, -1, down), np.where((at < 0) | ends, -1, down + 1)]
        at = np.stack(pair, axis=2).reshape(forest.n_trees, 2 * at.shape[1])
    node = np.maximum(at, 0)
    at[left[node] == place[node]] = -1
    return nodes, at.reshape(forest.n_trees * UPPER_CELLS)


cdef enum:
    LANES = 4                # sums that a column is added up in, side by side
    APART = 30               # deviations of others, behind which a target lies apart from them
    RARE = 256               # one of so many that does is an outlier


cdef struct Moments:
    double mean
    double deviation


cdef void find_bulk(const double[::1] y, Py_ssize_t *first, Py_ssize_t *end) noexcept nogil:
    """The sorted targets without those that lie apart: those numbered first ... end - 1.

    From the middle half on, the next target is taken as long as it is no farther than `APART`
    deviations, of those that have been taken, from their mean: tails seldom have gaps so
    wide. Where the middle half has one value, all are taken.
    """
    cdef Py_ssize_t i, n = y.shape[0]
    cdef double mean = 0, squares = 0, gap
    cdef bint below
    first[0], end[0] = n // 4, n - n // 4
    for i in range(first[0], end[0]):
        gap = y[i] - mean
        mean += gap / (i - first[0] + 1)
        squares += gap * (y[i] - mean)
    if not sqrt(squares / (end[0] - first[0])) > 1e-12 * fabs(mean):
        first[0], end[0] = 0, n
    while first[0] > 0 or end[0] < n:
        below = end[0] == n or (first[0] > 0 and mean - y[first[0] - 1] <= y[end[0]] - mean)
        gap = y[first[0] - 1 if below else end[0]] - mean
        if not fabs(gap) <= APART * sqrt(squares / (end[0] - first[0])):
            break
        first[0] -= below
        end[0] += not below
        mean += gap / (end[0] - first[0])
        squares += gap * gap * (1 - 1.0 / (end[0] - first[0]))


def without_outliers(y):
    """Targets, of which a few that lie apart are as far as the farthest others.

    Those that are more than one of `RARE`, and one more, are no outliers: features may tell of
    them.
    """
    cdef Py_ssize_t first = 0, end = 0, n = len(y), few = 1 + n // RARE
    offset, unit = units(y)
    # So few outliers, so far off, would have the farthest be this many deviations off.
    farthest = max(y.max() - offset, offset - y.min()) / unit
    if not farthest * farthest * (1 / (APART * APART) + few / <double> n) > 0.5:
        return y
    ordered = np.sort(y)
    find_bulk(ordered, &first, &end)
    if not 0 < n - (end - first) <= few:
        return y
    return np.clip(y, ordered[first], ordered[end - 1])


def units_of_bulk(Y):
    """Let no outlier among the targets be learnt, in place, and return their `units_of_each`."""
    for y in Y.T:
        y[:] = without_outliers(np.ascontiguousarray(y))
    return units_of_each(Y)


cdef class Spread:
    """Centers of features, and factors to units of their spread, found in pieces.

    Samples farther than four deviations are left out, twice over: a few that are far off would hide
    how the others differ. So are missing values. The factor of a constant feature is 0.

    Attributes
    ----------
    center, factor : ndarray of shape (d,)
    """

    cdef readonly object center, factor, column
    cdef double[::1] x
    cdef Moments found

    def __init__(self, Py_ssize_t n, Py_ssize_t d):
        self.center, self.factor = np.empty(d), np.empty(d)
        # Missing values, which are left out, fill the last lanes.
        self.column = np.full((n + LANES - 1) // LANES * LANES, np.nan)
        self.x = self.column

    def look(self, X, Py_ssize_t j):
        """Look at all numbers of a feature."""
        self.column[:len(X)] = X[:, j]
        self.found = moments(self.x, 0, INFINITY)

    def look_closer(self):
        """Leave out those that are far off, of the feature that was looked at last."""
        cdef Moments closer = moments(self.x, self.found.mean, 4 * self.found.deviation)
        if closer.deviation > 0:
            self.found = closer

    def take(self, Py_ssize_t j):
        """Leave out others once more, and take what has been found."""
        cdef double factor
        self.look_closer()
        factor = 1 / self.found.deviation if self.found.deviation > 0 else 0
        self.center[j], self.factor[j] = self.found.mean, factor if isfinite(factor) else 0


def spread(X):
    """Centers and factors of features, as `Spread` finds them: two ndarrays of shape (d,)."""
    found = Spread(*X.shape)
    for j in range(X.shape[1]):
        found.look(X, j)
        found.look_closer()
        found.take(j)
    return found.center, found.factor


cdef Moments moments(const double[::1] x, double center, double reach) noexcept nogil:
    """Mean and deviation of the numbers that are so near a center, however large they are."""
    cdef Py_ssize_t i, k, n = x.shape[0]
    cdef double largest = 0, size = 0, value, unit, mean
    cdef int exponent = 0
    cdef bint inside
    cdef double[LANES] sizes, sums, tops
    cdef Moments found
    for k in range(LANES):
        sizes[k], sums[k], tops[k] = 0, 0, 0
    for i in range(0, n, 4):
        for k in range(LANES):
            inside = fabs(x[i + k] - center) <= reach
            value = fabs(x[i + k]) if inside else 0
            sizes[k] += inside
            tops[k] = value if value > tops[k] else tops[k]
    for k in range(LANES):
        size += sizes[k]
        largest = max(largest, tops[k])
    # A power of two as the unit keeps all digits.
    if largest > 0:
        frexp(largest, &exponent)
    size, unit = max(size, 1), ldexp(1, max(-1000, min(-exponent, 1000)))
    for i in range(0, n, 4):
        for k in range(LANES):
            sums[k] += x[i + k] * unit if fabs(x[i + k] - center) <= reach else 0
    mean = total(sums) / size
    for k in range(LANES):
        sums[k] = 0
    for i in range(0, n, 4):
        for k in range(LANES):
            value = x[i + k] * unit - mean if fabs(x[i + k] - center) <= reach else 0
            sums[k] += value * value
    found.mean, found.deviation = mean / unit, sqrt(total(sums) / size)
    if found.deviation <= 1e-12 * fabs(mean):
        found.deviation = 0
    found.deviation /= unit
    return found


cdef double total(const double *sums) noexcept nogil:
    """The sum of all lanes."""
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def units(y):
    """Mean and deviation of targets; a deviation of 0 is 1."""
    largest = max(np.abs(y).max(), 1e-300)
    mean = (y / largest).mean()
    deviation = np.sqrt((((y / largest) - mean) ** 2).mean())
    return float(mean * largest), float(deviation * largest) if deviation > 1e-12 else 1.0


def units_of_each(Y):
    """Means and deviations of the columns of targets, ndarray of shape (2, n_targets)."""
    found = [units(y) for y in np.ascontiguousarray(Y.T)]
    return np.ascontiguousarray(np.transpose(found))


def told(numbers, Py_ssize_t n_targets):
    """What a state says of the offsets or units of outputs: a number, or those of the targets."""
    return np.array(numbers) if n_targets > 1 else float(numbers[0])


def completed(state, held):
    """A state with what those of older files do not tell: that nothing is known of far targets."""
    return {"held": np.zeros_like(held), **state} if isinstance(state, dict) else state


def restored_counts(state, Py_ssize_t n_trees):
    """The numbers that a state has by the names of `COUNTS`, checked."""
    entered, renewed, n_grown = [count_of(name, state[name]) for name in COUNTS]
    if renewed > entered:
        raise ValueError(f"renewed must be at most {entered}, got {renewed}")
    if n_grown > n_trees:
        raise ValueError(f"n_grown must be at most {n_trees}, got {n_grown}")
    return entered, renewed, n_grown


def restored_metric(state, Py_ssize_t n_axes, Py_ssize_t d):
    """Metric and importances from what a state says, checked copies."""
    metric = doubles_of_shape("metric", state["metric"], (n_axes,)).copy()
    if not (metric > 0).all():
        raise ValueError(f"metric must be > 0, got {metric.min()}")
    return metric, doubles_of_shape("importances", state["importances"], (d,)).copy()


def restored_units(state, Py_ssize_t n_targets, Py_ssize_t n_outputs):
    """Offsets and units of outputs from what a state says."""
    if n_targets == 1:
        offset = finite_number("offset", state["offset"])
        unit = positive_number("unit", state["unit"])
        return np.full(n_outputs, offset), np.full(n_outputs, unit)
    offset = doubles_of_shape("offset", state["offset"], (n_outputs,))
    unit = doubles_of_shape("unit", state["unit"], (n_outputs,))
    if not (unit > 0).all():
        raise ValueError(f"unit must be > 0, got {unit.min()}")
    return offset, unit


def slopes_of(squares, mean, Py_ssize_t n):
    """Absolute slopes of rows, float32, and which of them belongs to each of n rows.

    The last rows have their own, mixed with the mean of all, and the rows before have the mean.
    """
    slopes, slope_of = common_slopes(mean, len(squares), n)
    slopes[1:] = own_slopes(squares, mean)
    return slopes, slope_of


def common_slopes(mean, Py_ssize_t taught, Py_ssize_t n):
    """The arrays of `slopes_of` for so many rows that have their own, without these."""
    slopes = np.empty((1 + taught, len(mean)), dtype=np.float32)
    slopes[0] = roots_of(mean, mean)
    slope_of = np.zeros(n, dtype=np.int32)
    slope_of[n - taught:] = np.arange(1, taught + 1)
    return slopes, slope_of


def own_slopes(const double[:, :] squares, mean):
    """The slopes of rows that have their own, ndarray of float32.

    The same as `roots_of` of their squares, mixed with the mean, in one turn over them.
    """
    cdef Py_ssize_t i, j, n = squares.shape[0], width = squares.shape[1]
    cdef double unit = max(mean.mean(), 1e-300), own = 1 - COMMON_SLOPE, least = LEAST_SLOPE, square
    common, out = COMMON_SLOPE * mean, np.empty((n, width), dtype=np.float32)
    cdef const double[::1] shared = common
    cdef float[:, ::1] slopes = out
    for i in range(n):
        for j in range(width):
            square = (own * squares[i, j] + shared[j]) / unit
            slopes[i, j] = <float> sqrt(least if square <= least else square)
    return out


def roots_of(squares, mean):
    """Square roots of squares, in units of their mean over rows and columns."""
    return np.sqrt(np.maximum(squares / max(mean.mean(), 1e-300), LEAST_SLOPE))
