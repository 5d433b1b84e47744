"""Sentinels: numbers such as -999 that stand for missing values, found along a stream.

A sentinel is the lowest or highest value of its feature, and far from all other values. It occurs
often, and there are many other values. The moments of the feature are then those of the other
values. The values between the two ends have their own moments, so that the sentinel need not be
subtracted, which would lose digits.

Samples are examined one by one, so the result does not depend on batches. The search costs as much
as the moments. For each feature it keeps the two lowest and the two highest values, and the counts
of the lowest and the highest.
"""
from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.samples.rows cimport Rows, dense_row

# The names of the fields of `Ends`.
ENDS = ("low", "low_next", "high_next", "high", "mean", "variance", "weight", "side",
        "low_count", "low_weight", "high_count", "high_weight", "n_values")
# The fields that are multiplied by the unit of the moments.
WEIGHTS_OF_ENDS = ("low_weight", "high_weight", "weight")
# Least distance of a sentinel from all other values, in units of their range: to become one, and to
# stay one.
APART = 7.0
STILL_APART = 3.0
# Rows with the sentinel: at least LEAST_COUNT, one in ONE_IN, and at most one in AT_MOST_ONE_IN.
LEAST_COUNT = 3
ONE_IN = 1000
AT_MOST_ONE_IN = 2
# Least number of rows with neither end; the number of distinct values must be above LEAST_VALUES.
LEAST_BETWEEN = 48
LEAST_VALUES = 6
# The squares of larger differences overflow: a feature with such values is given up.
FARTHEST = 1e150
# Values of `side`.
LOWEST = LOW
HIGHEST = HIGH
cdef double apart = APART, still_apart = STILL_APART, farthest = FARTHEST
cdef double least_count = LEAST_COUNT, one_in = ONE_IN, at_most = AT_MOST_ONE_IN
cdef double least_between = LEAST_BETWEEN, least_values = LEAST_VALUES


cdef inline void add(Ends *own, double x, double weight) noexcept nogil:
    """Add a value of this weight to the moments between the ends."""
    cdef double delta, share
    if weight <= 0:
        return
    delta = x - own.mean
    if not fabs(delta) < farthest:
        own.n_values = -1
        return
    own.weight += weight
    share = weight / own.weight
    own.mean += share * delta
    own.variance = (1 - share) * (own.variance + share * delta * delta)


cdef inline void add_value(Ends *own, double x, double weight) noexcept nogil:
    """Add a value that is not the first one."""
    cdef double more = 0
    if x == own.low:
        own.low_count += 1
        own.low_weight += weight
    elif x == own.high:
        own.high_count += 1
        own.high_weight += weight
    elif own.low == own.high:
        # The second distinct value: the first one becomes the other end.
        more = 1
        own.low_next = own.high_next = own.low
        if x < own.low:
            own.high_count, own.high_weight = own.low_count, own.low_weight
            own.low, own.low_count, own.low_weight = x, 1, weight
            own.high_next = x
        else:
            own.high, own.high_count, own.high_weight = x, 1, weight
            own.low_next = x
    elif x < own.low:
        more = 1
        add(own, own.low, own.low_weight)
        own.low_next = own.low
        own.low, own.low_count, own.low_weight = x, 1, weight
    elif x > own.high:
        more = 1
        add(own, own.high, own.high_weight)
        own.high_next = own.high
        own.high, own.high_count, own.high_weight = x, 1, weight
    else:
        add(own, x, weight)
        if x < own.low_next:
            more, own.low_next = 1, x
        if x > own.high_next:
            more, own.high_next = 1, x
    if own.n_values >= 0:
        own.n_values += more


cdef inline bint is_common(const Ends *own, double n_own, double n) noexcept nogil:
    """Whether an end of `n_own` of n rows is common, but not too common, beside other values."""
    return n_own >= least_count and n_own * one_in >= n and n_own * at_most <= n \
        and n - own.low_count - own.high_count >= least_between \
        and own.n_values > least_values


cdef inline int side_of(const Ends *own, double n) noexcept nogil:
    """The end that stands for missing values after n rows: LOW, HIGH or NONE."""
    cdef double gap, others
    gap, others = own.low_next - own.low, own.high - own.low_next
    if gap >= still_apart * others and own.n_values >= 0:
        if own.side == LOW or (gap >= apart * others and is_common(own, own.low_count, n)):
            return LOW
    gap, others = own.high - own.high_next, own.high_next - own.low
    if gap >= still_apart * others and own.n_values >= 0:
        if own.side == HIGH or (gap >= apart * others and is_common(own, own.high_count, n)):
            return HIGH
    return NONE


cdef inline void begin(Ends *own, double x, double weight) noexcept nogil:
    """Initialise with the first value."""
    own.low = own.low_next = own.high = own.high_next = x
    own.low_count, own.low_weight, own.n_values = 1, weight, 1


cdef void write_moments(const Ends *own, double *mean, double *variance) noexcept nogil:
    """Write mean and variance of all values except the sentinel."""
    cdef Ends known = own[0]
    if own.side != LOW:
        add(&known, own.low, own.low_weight)
    if own.side != HIGH:
        add(&known, own.high, own.high_weight)
    if known.n_values >= 0 and known.weight > 0 and isfinite(known.mean) \
            and isfinite(known.variance):
        mean[0], variance[0] = known.mean, known.variance


cdef inline int examine(Ends *own, double x, double weight, int64_t count, double *mean,
                        double *variance) noexcept nogil:
    """Add a value of row number `count`, and test whether an end is a sentinel.

    If the sentinel changes, writes the moments of all other values. Returns the change in the
    number of sentinels: -1, 0 or 1.
    """
    cdef int before = <int> own.side
    cdef bint is_another = False
    if count == 1:
        begin(own, x, weight)
        return 0
    if (before == LOW and x < own.low) or (before == HIGH and x > own.high):
        own.side, is_another = NONE, True
    add_value(own, x, weight)
    own.side = side_of(own, <double> count)
    if is_another or own.side != before:
        write_moments(own, mean, variance)
    return (own.side != NONE) - (before != NONE)


def settled(ends, n):
    """Find the sentinels in `Ends` of n rows, ndarray (d, 13), and set `side`, in place.

    Returns means and variances of all other values, ndarray (2, d); NaN if not known.
    """
    cdef double[:, ::1] view = ends
    moments = np.full((2, len(ends)), np.nan)
    cdef double[:, ::1] found = moments
    cdef Py_ssize_t j
    cdef Ends *own
    for j in range(view.shape[0]):
        own = <Ends *> &view[j, 0]
        own.side = side_of(own, n)
        write_moments(own, &found[0, j], &found[1, j])
    return moments


cdef class Sentinels:
    """The sentinels of d features, none at first."""

    def __cinit__(self, Py_ssize_t d):
        self.d = d
        self.ends = JournaledMatrix("the ends of the features", N_ENDS, d)
        self.before = <double *> calloc(2 * d, sizeof(double))
        if self.before == NULL:
            raise MemoryError(f"no memory for the moments of {d} features")

    def __dealloc__(self):
        free(self.before)

    cdef void keep(self, const double *means, const double *variances) noexcept nogil:
        """Save the moments before a row."""
        memcpy(self.before, means, self.d * sizeof(double))
        memcpy(self.before + self.d, variances, self.d * sizeof(double))

    cdef void put_back(self, const Rows *rows, Py_ssize_t i, double *means,
                       double *variances) noexcept nogil:
        """Restore the saved moments of the features in which row i has a sentinel."""
        cdef Py_ssize_t j
        for j in range(self.d):
            if self.is_missing(j, dense_value(rows, i, j)):
                means[j], variances[j] = self.before[j], self.before[self.d + j]

    cdef Ends load(self, Py_ssize_t j) noexcept nogil:
        """Read the statistics of feature j."""
        cdef Ends own
        cdef Py_ssize_t k
        for k in range(N_ENDS):
            (<double *> &own)[k] = self.ends.row(k)[j]
        return own

    cdef void store(self, Py_ssize_t j, const Ends *own) noexcept nogil:
        """Write the statistics of feature j."""
        cdef Py_ssize_t k
        for k in range(N_ENDS):
            self.ends.row(k)[j] = (<const double *> own)[k]

    cdef void learn_row(self, const Rows *rows, Py_ssize_t i, double weight, int64_t count,
                        double *means, double *variances) noexcept nogil:
        """Learn row number `count`. If the sentinel of a feature changes, set the moments of the
        feature to those of all other values.
        """
        cdef Py_ssize_t j
        cdef double x, delta, share, low, low_next, high_next, high
        cdef Ends own
        self.touch()
        cdef const double *lows = self.ends.row(AT_LOW)
        cdef const double *low_nexts = self.ends.row(AT_LOW_NEXT)
        cdef const double *high_nexts = self.ends.row(AT_HIGH_NEXT)
        cdef const double *highs = self.ends.row(AT_HIGH)
        cdef double *own_means = self.ends.row(AT_MEAN)
        cdef double *own_variances = self.ends.row(AT_VARIANCE)
        cdef double *weights = self.ends.row(AT_WEIGHT)
        cdef double *low_counts = self.ends.row(AT_LOW_COUNT)
        cdef double *low_weights = self.ends.row(AT_LOW_WEIGHT)
        cdef double *high_counts = self.ends.row(AT_HIGH_COUNT)
        cdef double *high_weights = self.ends.row(AT_HIGH_WEIGHT)
        cdef const double *values = self.ends.row(AT_N_VALUES)
        for j in range(self.d):
            x, low, low_next = dense_value(rows, i, j), lows[j], low_nexts[j]
            high_next, high = high_nexts[j], highs[j]
            # Fast path for most values: no end is far enough, or there are too few values.
            if count > 1 and low < high and weight > 0 and (
                    values[j] <= least_values
                    or (low_next - low < still_apart * (high - low_next)
                        and high - high_next < still_apart * (high_next - low))):
                if x == low:
                    low_counts[j] += 1
                    low_weights[j] += weight
                    continue
                if x == high:
                    high_counts[j] += 1
                    high_weights[j] += weight
                    continue
                delta = x - own_means[j]
                if low_next <= x and x <= high_next and fabs(delta) < farthest:
                    weights[j] += weight
                    share = weight / weights[j]
                    own_means[j] += share * delta
                    own_variances[j] = (1 - share) * (own_variances[j] + share * delta * delta)
                    continue
            own = self.load(j)
            self.n += examine(&own, x, weight, count, means + j, variances + j)
            self.store(j, &own)

    cdef void touch(self) noexcept nogil:
        """Save all rows to the journal before they are written."""
        if self.ends.count < N_ENDS:
            self.ends.touch_all()

    cdef void scale_weights(self, double factor) noexcept nogil:
        """Multiply all weights by a factor."""
        cdef Py_ssize_t j
        self.touch()
        for j in range(self.d):
            self.ends.row(AT_WEIGHT)[j] *= factor
            self.ends.row(AT_LOW_WEIGHT)[j] *= factor
            self.ends.row(AT_HIGH_WEIGHT)[j] *= factor

    cdef void blank(self, const Rows *rows, Py_ssize_t i, char *out, double value) noexcept nogil:
        """Write `value` to row `out`, of the same dtype, where row i has sentinels."""
        cdef Py_ssize_t j
        for j in range(self.d):
            if self.is_missing(j, dense_value(rows, i, j)):
                if rows.itemsize == 4:
                    (<float *> out)[j] = <float> value
                else:
                    (<double *> out)[j] = value

    cdef void checkpoint(self) noexcept nogil:
        self.n_saved = self.n
        self.ends.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.n = self.n_saved
        self.ends.rollback()

    def to_array(self):
        """`Ends` of each feature, ndarray (d, 13)."""
        return np.ascontiguousarray(self.ends.to_array().T)

    def set_array(self, array):
        """Restore a result of `to_array`."""
        array = doubles_of_shape("ends", array, (self.d, N_ENDS))
        own = dict(zip(ENDS, array.T))
        order = ("low", "low_next", "high"), ("low", "high_next", "high")
        for low, middle, high in order:
            if ((own[low] > own[middle]) | (own[middle] > own[high])).any():
                raise ValueError(f"ends must have {low} <= {middle} <= {high}")
        for name in ("low_count", "low_weight", "high_count", "high_weight", "variance", "weight"):
            if (own[name] < 0).any():
                raise ValueError(f"ends must have {name} >= 0, got {own[name].min()}")
        if not np.isin(own["side"], (NONE, LOW, HIGH)).all():
            raise ValueError("ends must have side 0, 1 or 2")
        self.ends.set_array(np.ascontiguousarray(array.T))
        self.n = self.n_saved = np.count_nonzero(own["side"])

    def values(self):
        """The sentinel of each feature, ndarray (d,); NaN: none."""
        ends = dict(zip(ENDS, self.to_array().T))
        return np.where(ends["side"] == LOW, ends["low"],
                        np.where(ends["side"] == HIGH, ends["high"], np.nan))


cdef inline double dense_value(const Rows *rows, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Element j of dense row i."""
    return (<const float *> dense_row(rows, i))[j] if rows.itemsize == 4 \
        else (<const double *> dense_row(rows, i))[j]
