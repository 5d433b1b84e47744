"""Parts of a renewal: checks of settings, scales of features and targets, slopes of rows."""
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, sqrt

from operator import index

import numpy as np

from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, finite_number, not_negative, positive_number)
from onlinekern.core.partitions.trees cimport UPPER_CELLS, UPPER_LEVEL

# A row's squared slopes are mixed with this share of the mean of all rows: one gradient may be
# wrong. LEAST_SLOPE is the least squared slope, in units of the mean.
COMMON_SLOPE = 0.1
LEAST_SLOPE = 1e-4


# Half of the exact trees are exact from `exact_from` samples on, and all from ALL_EXACT times that.
# If that is more than ENOUGH, all are from max(ENOUGH, 2 exact_from) on: forests that were saved
# with exact_from = 8,192 keep their bits so.
cdef Py_ssize_t ALL_EXACT = 8
cdef Py_ssize_t ENOUGH = 1 << 14
# Largest number of candidates and of replays, of trees, and of other sizes.
cdef Py_ssize_t MOST_TURNS = 1000, MOST_TREES = 1 << 20, MOST = 1 << 48
# Largest initial variance of a cell.
cdef double MOST_VARIANCE = 100
# Names in a state: samples learnt, samples when the last finished renewal began, and trees that the
# renewal under way has split further.
COUNTS = ("entered", "renewed", "n_grown")


def check_sizes(Py_ssize_t most=MOST, **numbers):
    """Raise ValueError unless each of these numbers is in [1, most]."""
    for name, number in numbers.items():
        if not 1 <= number <= most:
            raise ValueError(f"{name} must be in [1, {most}], got {number}")


def check_settings(Py_ssize_t n_outputs, Py_ssize_t n_labels, double share, double spread,
                   Py_ssize_t n_exact, Py_ssize_t n_trees, Py_ssize_t n_candidates,
                   Py_ssize_t replays, Py_ssize_t exact_from, double exact_share):
    """Raise ValueError unless these settings of a forest are within their bounds."""
    check_sizes(exact_from=exact_from)
    check_sizes(MOST_TREES, n_trees=n_trees)
    check_sizes(MOST_TURNS, n_candidates=n_candidates, replays=replays)
    if n_labels < 0 or n_labels == 1 or n_labels and n_outputs != outputs_of(n_labels):
        raise ValueError(f"n_outputs={n_outputs} does not fit n_labels={n_labels} classes")
    for name, number in (("share", share), ("exact_share", exact_share)):
        if not 0 < number <= 1:
            raise ValueError(f"{name} must be in (0, 1], got {number}")
    if not 0 <= spread <= 1:
        raise ValueError(f"spread must be in [0, 1], got {spread}")
    if not 0 <= n_exact <= n_trees:
        raise ValueError(f"n_exact must be in [0, {n_trees}], got {n_exact}")


def exact_among(Py_ssize_t n_exact, Py_ssize_t exact_from, Py_ssize_t n):
    """Number of exact trees with n samples: none, half of n_exact, or n_exact."""
    if n < exact_from:
        return 0
    enough = min(ALL_EXACT * exact_from, max(2 * exact_from, ENOUGH))
    return n_exact if n >= enough else n_exact // 2


def renewal_to_do(tuple due, renewed, entered, n_kept, samples_of_renewal):
    """Number of samples after which the renewal to do after `entered` samples began, or begins.

    A renewal that was under way is lost by an undo or a copy, and is repeated from its beginning.
    It is repeated before the next one begins, if it still spans `entered` samples and the samples
    that it grew from are still kept.

    Parameters
    ----------
    due : tuple of int
        Sample numbers at which a renewal last had to begin: without and with the last sample.
    renewed, entered, n_kept : int
        Samples when the last finished renewal began; samples learnt; samples kept.
    samples_of_renewal : function
        Number of samples that a renewal is spread over, given the one after which it begins.
    """
    last = due[0] if due[0] > renewed else due[1]
    first = 1 << renewed.bit_length()
    goes_on = 0 < renewed and first < last and entered <= first + samples_of_renewal(first)
    return first if goes_on and entered - first < n_kept else last


def check_seen(n_seen, exact_variances, Py_ssize_t n_experts, Py_ssize_t n_trees):
    """Check `n_seen` and `exact_variances` of a `ForestSpace`; return tuples of int and float."""
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
    """Check `cut_weights` of a `ForestSpace`; return a tuple of float."""
    weights = tuple([not_negative("a weight of cut_weights", weight) for weight in cut_weights])
    if weights and (n_labels > 0 or len(weights) != n_outputs or not any(weights)):
        raise ValueError(f"cut_weights must be a weight for each of {n_outputs} targets, not all "
                         f"of them 0, or (), got {weights}")
    return weights


def weighted_sum(goals, weights):
    """The sum of the columns, each times its weight, ndarray of shape (n, 1)."""
    found = np.zeros((len(goals), 1))
    for k, weight in enumerate(weights):
        # No matrix product: its bits depend on the BLAS.
        found[:, 0] += weight * goals[:, k]
    return found


def check_reach(rows, entered, begun):
    """Raise ValueError unless `rows` reach back to the samples before `begun`.

    The renewal that began there grows from them.
    """
    if len(rows) <= entered - begun:
        raise ValueError(f"rows must reach back to sample {begun}, where a renewal began: more "
                         f"than {entered - begun}, got {len(rows)}")


def outputs_of(Py_ssize_t n_labels):
    """Number of outputs of a learner of n_labels classes."""
    return n_labels if n_labels > 2 else 1


def check_labels(labels, Py_ssize_t n_labels):
    """Raise ValueError unless the labels are class numbers."""
    if isinstance(labels, np.ndarray) and not np.isin(labels, np.arange(n_labels)).all():
        raise ValueError(f"targets must be class numbers, 0 ... {n_labels - 1}")


def cells_of(forest):
    """Node numbers of all leaves, and of all upper cells (-1: none there), two ndarrays of intp."""
    _, _, left, first = forest.arrays()
    place = np.arange(len(left)) - np.repeat(first[:forest.n_trees], np.diff(first))
    nodes = np.flatnonzero(left == place)
    roots = first[:forest.n_trees].astype(np.intp)[:, None]
    at = roots
    for _ in range(UPPER_LEVEL):
        node = np.maximum(at, 0)
        down, ends = roots + left[node], left[node] == place[node]
        # Below a leaf there is the leaf itself on the left, and nothing on the right.
        pair = [np.where(at < 0, -1, down), np.where((at < 0) | ends, -1, down + 1)]
        at = np.stack(pair, axis=2).reshape(forest.n_trees, 2 * at.shape[1])
    node = np.maximum(at, 0)
    at[left[node] == place[node]] = -1
    return nodes, at.reshape(forest.n_trees * UPPER_CELLS)


cdef enum:
    LANES = 4                # partial sums of a column, which do not wait for one another
    APART = 30               # deviations of other targets beyond which a target lies apart
    RARE = 256               # targets apart are outliers if they are at most 1 + n / RARE of n


cdef struct Moments:
    double mean
    double deviation


cdef void find_bulk(const double[::1] y, Py_ssize_t *first, Py_ssize_t *end) noexcept nogil:
    """Find the range first ... end - 1 of the sorted targets y that do not lie apart.

    It begins with the middle half. The nearest target is added as long as it is within `APART`
    standard deviations of the mean of those in the range: heavy tails seldom have wider gaps. If
    the middle half has a single value, the range is all targets.
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
    """Clip targets that lie apart to the range of the others, if they are few.

    If more than 1 + n / RARE of n targets lie apart, they are no outliers: features may explain
    them.
    """
    cdef Py_ssize_t first = 0, end = 0, n = len(y), few = 1 + n // RARE
    offset, unit = units(y)
    # Without sorting: if `few` targets lie apart, the farthest is at least this far from the mean
    # of all, in standard deviations of all.
    farthest = max(y.max() - offset, offset - y.min()) / unit
    if not farthest * farthest * (1 / (APART * APART) + few / <double> n) > 0.5:
        return y
    ordered = np.sort(y)
    find_bulk(ordered, &first, &end)
    if not 0 < n - (end - first) <= few:
        return y
    return np.clip(y, ordered[first], ordered[end - 1])


def units_of_bulk(Y):
    """Clip outliers in each column of targets, in place; return `units_of_each` of the result."""
    for y in Y.T:
        y[:] = without_outliers(np.ascontiguousarray(y))
    return units_of_each(Y)


cdef class Spread:
    """Finds centers of features and factors 1 / spread, feature by feature.

    They are means and standard deviations without missing values and without values farther than
    four deviations, which are removed twice over: a few outliers would make the scale of the others
    too small. A constant feature has the factor 0. For each feature call `look`, `look_closer` and
    `take`.

    Attributes
    ----------
    center, factor : ndarray of shape (d,)
    """

    cdef readonly object center, factor, column
    cdef double[::1] x
    cdef Moments found

    def __init__(self, Py_ssize_t n, Py_ssize_t d):
        self.center, self.factor = np.empty(d), np.empty(d)
        # The last lanes are filled with NaN, which is left out.
        self.column = np.full((n + LANES - 1) // LANES * LANES, np.nan)
        self.x = self.column

    def look(self, X, Py_ssize_t j):
        """Compute mean and deviation of all values of feature j."""
        self.column[:len(X)] = X[:, j]
        self.found = moments(self.x, 0, INFINITY)

    def look_closer(self):
        """Compute them again without values farther than four deviations from the mean."""
        cdef Moments closer = moments(self.x, self.found.mean, 4 * self.found.deviation)
        if closer.deviation > 0:
            self.found = closer

    def take(self, Py_ssize_t j):
        """Do so once more, and store the results for feature j."""
        cdef double factor
        self.look_closer()
        factor = 1 / self.found.deviation if self.found.deviation > 0 else 0
        self.center[j], self.factor[j] = self.found.mean, factor if isfinite(factor) else 0


def spread(X):
    """Centers and factors of all features by `Spread`: two ndarrays of shape (d,)."""
    found = Spread(*X.shape)
    for j in range(X.shape[1]):
        found.look(X, j)
        found.look_closer()
        found.take(j)
    return found.center, found.factor


cdef Moments moments(const double[::1] x, double center, double reach) noexcept nogil:
    """Mean and standard deviation of the values within `reach` of a center, without overflow."""
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
    # Scaling by a power of two is exact.
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
    """Sum of the lanes."""
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def units(y):
    """Mean and standard deviation of targets; 1 instead of a deviation of 0."""
    largest = max(np.abs(y).max(), 1e-300)
    mean = (y / largest).mean()
    deviation = np.sqrt((((y / largest) - mean) ** 2).mean())
    return float(mean * largest), float(deviation * largest) if deviation > 1e-12 else 1.0


def units_of_each(Y):
    """`units` of each column of targets, ndarray of shape (2, n_targets)."""
    found = [units(y) for y in np.ascontiguousarray(Y.T)]
    return np.ascontiguousarray(np.transpose(found))


def number_or_array(numbers, Py_ssize_t n_targets):
    """Offsets or units in a state: a float with one target, else a copy of the array."""
    return np.array(numbers) if n_targets > 1 else float(numbers[0])


def completed(state, held):
    """Add the field "held" to a state of an older file, which lacks it: zeros, nothing learnt."""
    return {"held": np.zeros_like(held), **state} if isinstance(state, dict) else state


def restored_counts(state, Py_ssize_t n_trees):
    """The fields `COUNTS` of a state, checked."""
    entered, renewed, n_grown = [count_of(name, state[name]) for name in COUNTS]
    if renewed > entered:
        raise ValueError(f"renewed must be at most {entered}, got {renewed}")
    if n_grown > n_trees:
        raise ValueError(f"n_grown must be at most {n_trees}, got {n_grown}")
    return entered, renewed, n_grown


def restored_metric(state, Py_ssize_t n_axes, Py_ssize_t d):
    """Checked copies of metric and importances of a state."""
    metric = doubles_of_shape("metric", state["metric"], (n_axes,)).copy()
    if not (metric > 0).all():
        raise ValueError(f"metric must be > 0, got {metric.min()}")
    return metric, doubles_of_shape("importances", state["importances"], (d,)).copy()


def restored_units(state, Py_ssize_t n_targets, Py_ssize_t n_outputs):
    """Offsets and units of all outputs from a state, checked."""
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
    """Absolute slopes, ndarray (1 + m, width) of float32, and the row of it for each of n rows.

    The last m rows, for which there are `squares`, have their own slopes mixed with the mean. All
    rows before them share row 0, the mean.
    """
    slopes, slope_of = common_slopes(mean, len(squares), n)
    slopes[1:] = own_slopes(squares, mean)
    return slopes, slope_of


def common_slopes(mean, Py_ssize_t taught, Py_ssize_t n):
    """The arrays of `slopes_of` with `taught` rows left unset, which `own_slopes` computes."""
    slopes = np.empty((1 + taught, len(mean)), dtype=np.float32)
    slopes[0] = roots_of(mean, mean)
    slope_of = np.zeros(n, dtype=np.int32)
    slope_of[n - taught:] = np.arange(1, taught + 1)
    return slopes, slope_of


def own_slopes(const double[:, :] squares, mean):
    """Slopes of the rows that have their own, ndarray of float32.

    `roots_of` of the squares mixed with the mean, computed in one pass.
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
    """Square roots of squared slopes in units of their mean over all features, bounded below."""
    return np.sqrt(np.maximum(squares / max(mean.mean(), 1e-300), LEAST_SLOPE))
