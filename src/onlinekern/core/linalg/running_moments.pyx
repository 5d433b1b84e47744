"""Means and variances of the features of a stream, and the samples scaled by them.

Sample t has the weight a_t = forgetting^(T - t) w_t at time T. With A = sum_t a_t,

    mean_j = sum_t a_t x_tj / A,    variance_j = sum_t a_t (x_tj - mean_j)^2 / A,

by the recursion of West (1979) with the share s = w_T / A of the newest sample and
delta = x_Tj - mean_j:

    variance_j <- (1 - s) variance_j + s (1 - s) delta^2,    mean_j <- mean_j + s delta.

This recursion does not subtract large numbers, so features far from 0 do not lose digits. A starts
from 0, so no bias correction is needed.

Without centring, the mean square about 0 is computed instead. The cost of a sample is then
proportional to its stored elements: earlier sums are not multiplied by the forgetting factor, but
the weight of the newest sample grows by 1 / forgetting. The sums are rescaled when it is large.

With centring, numbers that stand for missing values may be searched for (`Sentinels`). They do not
change the moments, and become 0 in scaled rows.
"""
cimport numpy as cnp
from cython cimport floating
from libc.math cimport INFINITY, NAN, isfinite, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memset

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.state cimport (
    MOST_FEATURES, check_width, count_of, fields_of, flag_of, integer_within, not_negative,
    positive_number)
from onlinekern.core.base.lock cimport Access, Lock, begin_writing, end_writing
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport finite, ops_for
from onlinekern.core.linalg.sentinels cimport Sentinels
from onlinekern.core.samples.rows cimport (
    Rows, Samples, dense_row, is_sparse, row_of, samples_of, sparse_row)

from onlinekern.core.base.part import refuse_attributes
from onlinekern.core.base.lock import Reading, Writing

cnp.import_array()

# Largest unit: its product with the square of a value does not overflow.
cdef double LARGEST_UNIT = 1e30
# With any smaller forgetting factor, earlier samples do not count either.
cdef double LEAST_FORGETTING = 1e-100


cdef inline Py_ssize_t add_squares(const floating *x, const int32_t *columns, Py_ssize_t count,
                                   double weight, JournaledMatrix sums) noexcept nogil:
    """sums[c] += weight x^2. Returns the number of elements added before one overflows."""
    cdef Py_ssize_t j
    cdef double *sum
    for j in range(count):
        if x[j] != 0:
            sum = sums.touch(columns[j] if columns != NULL else j)
            sum[0] += weight * (<double> x[j] * x[j])
            if not isfinite(sum[0]):
                return j
    return count


cdef inline void scale(const floating *x, const int32_t *columns, Py_ssize_t count, double total,
                       const double *sums, const Scaling *scaling, floating *out) noexcept nogil:
    """out = x / sqrt(sums / total), within the limits."""
    cdef Py_ssize_t j
    cdef double value, sum
    for j in range(count):
        value = x[j]
        if scaling.scaled:
            sum = sums[columns[j] if columns != NULL else j]
            value = value / sqrt(sum / total) if sum > 0 else value
            value = max(min(value, scaling.limit), -scaling.limit)
        out[j] = <floating> value


cdef class RunningMoments:
    """Moments of d features, by which rows are scaled.

    Parameters
    ----------
    d : int >= 1
        Features.
    centred : bool
        True: means and variances, of dense rows only. False: mean squares about 0.
    finds_missing : bool, default=False
        Whether to search for numbers that stand for missing values; needs `centred`.

    Attributes
    ----------
    calls : int
        Number of calls of `learn` and `learn_one`.
    """

    def __cinit__(self, d, centred, finds_missing=False):
        self.lock = Lock()
        self.access = Access()
        self.d = integer_within("d", d, 1, MOST_FEATURES)
        self.centred = flag_of("centred", centred)
        shape = (2, d) if self.centred else (d, 1)
        self.moments = JournaledMatrix("moments of the features", *shape)
        if flag_of("finds_missing", finds_missing):
            if not self.centred:
                raise ValueError("numbers that stand for missing values are found by centred "
                                 "moments only")
            self.sentinels = Sentinels(self.d)
        self.tally.unit = 1

    cdef double *means(self) noexcept nogil:
        return self.moments.row(0)

    cdef double *variances(self) noexcept nogil:
        return self.moments.row(1)

    cdef double advance(self, double weight, double forgetting) noexcept nogil:
        """Count a sample of this weight. Returns its share of the sum of all weights."""
        self.tally.unit /= max(forgetting, LEAST_FORGETTING)
        if self.tally.unit > LARGEST_UNIT:
            self.renew_unit()
        self.tally.total += weight * self.tally.unit
        self.tally.count += 1
        return weight * self.tally.unit / self.tally.total

    cdef void renew_unit(self) noexcept nogil:
        """Reset the unit to 1, and rescale all sums."""
        cdef Py_ssize_t j
        cdef double factor = 1 / self.tally.unit
        self.tally.unit = 1
        self.tally.total *= factor
        if self.sentinels is not None:
            self.sentinels.scale_weights(factor)
        if not self.centred:
            for j in range(self.d):
                self.moments.touch(j)[0] *= factor

    cdef Status learn_row(self, const Rows *rows, Py_ssize_t i, double weight,
                          const Scaling *scaling) noexcept nogil:
        """Learn row i."""
        cdef Py_ssize_t count = rows.d
        cdef const char *x = dense_row(rows, i)
        cdef const int32_t *columns = NULL
        cdef double share = self.advance(weight, scaling.forgetting)
        if self.centred:
            self.follow(rows, i, share, weight * self.tally.unit, scaling.reach)
            return OK
        if is_sparse(rows):
            stored = sparse_row(rows, i)
            x, columns, count = <const char *> stored.values, stored.columns, stored.count
        weight *= self.tally.unit
        if rows.itemsize == 4:
            done = add_squares(<const float *> x, columns, count, weight, self.moments)
        else:
            done = add_squares(<const double *> x, columns, count, weight, self.moments)
        return OK if done == count else NOT_FINITE

    cdef void follow(self, const Rows *rows, Py_ssize_t i, double share, double weight,
                     double reach) noexcept nogil:
        """Update means and variances with row i."""
        cdef double *means = self.moments.touch(0)
        cdef double *variances = self.moments.touch(1)
        if self.sentinels is not None and self.sentinels.n:
            self.sentinels.keep(means, variances)
        ops_for(rows.itemsize).follow(dense_row(rows, i), share, reach, means, variances, self.d)
        if self.sentinels is not None:
            if self.sentinels.n:
                self.sentinels.put_back(rows, i, means, variances)
            self.sentinels.learn_row(rows, i, weight, self.tally.count, means, variances)

    cdef void transform_row(self, const Rows *rows, Py_ssize_t i, const Scaling *scaling,
                            char *out) noexcept nogil:
        """Write row i scaled; of a sparse row, its stored elements."""
        cdef Py_ssize_t count = rows.d
        cdef const char *x = dense_row(rows, i)
        cdef const int32_t *columns = NULL
        if is_sparse(rows):
            stored = sparse_row(rows, i)
            x, columns, count = <const char *> stored.values, stored.columns, stored.count
        if self.tally.count == 0:
            memset(out, 0, count * rows.itemsize)
        elif self.centred:
            ops_for(rows.itemsize).standardise(
                x, self.means(), self.variances() if scaling.scaled else NULL,
                scaling.limit, out, count)
            if self.sentinels is not None and self.sentinels.n:
                self.sentinels.blank(rows, i, out, 0)
        elif rows.itemsize == 4:
            scale(<const float *> x, columns, count, self.tally.total, self.moments.row(0),
                  scaling, <float *> out)
        else:
            scale(<const double *> x, columns, count, self.tally.total, self.moments.row(0),
                  scaling, <double *> out)

    cdef Status run(self, const Rows *rows, const double *weight, const Scaling *scaling,
                    char *out, char *known, Py_ssize_t *reached) noexcept nogil:
        """Learn rows in order; if `out` is not NULL, write each of them scaled.

        `known` is NULL or a copy of the rows, in which sentinels become NaN.
        """
        cdef Py_ssize_t i
        cdef double share
        for i in range(rows.n):
            reached[0] = i
            share = 1 if weight == NULL else weight[i]
            if share > 0 and self.learn_row(rows, i, share, scaling) != OK:
                return NOT_FINITE
            if out != NULL:
                self.transform_row(rows, i, scaling, out + place_of(rows, i))
            if known != NULL and self.sentinels.n:
                self.sentinels.blank(rows, i, known + place_of(rows, i), NAN)
        return OK if self.is_finite() else NOT_FINITE

    cdef bint is_finite(self) noexcept nogil:
        """Whether the moments are finite; sums without centring are checked by `add_squares`."""
        return isfinite(self.tally.total) \
            and (not self.centred or finite(self.moments.row(0), 2 * self.d))

    cdef int check_rows(self, const Rows *rows) except -1:
        check_width("X", rows.d, self.d)
        if self.centred and is_sparse(rows):
            raise ValueError(
                "X is sparse, but the means of dense samples are known, and to subtract them would "
                "leave no zeros: pass dense samples, or with_mean=False from the start")
        return 0

    cdef int learn_rows(self, const Rows *rows, const double *weight, const Scaling *scaling,
                        char *out, bint goes_on, char *known=NULL) except -1:
        """Learn all rows, or none if a moment overflows.

        With `goes_on`, the rows of the call before are undone then, too.
        """
        cdef Py_ssize_t reached = 0
        cdef Status status
        self.check_rows(rows)
        begin_writing(self.lock, self.access)
        try:
            self.calls += 1
            if not goes_on:
                self.saved = self.tally
                self.moments.checkpoint()
                if self.sentinels is not None:
                    self.sentinels.checkpoint()
                self.n_before = 0
            with nogil:
                status = self.run(rows, weight, scaling, out, known, &reached)
            if status != OK:
                self.rollback()
                raise FloatingPointError(
                    f"the moments of the features overflow in row {self.n_before + reached} or "
                    "before: its values are too large")
            self.n_before += rows.n
        finally:
            end_writing(self.lock, self.access)
        return 0

    cdef void rollback(self) noexcept nogil:
        self.tally = self.saved
        self.moments.rollback()
        if self.sentinels is not None:
            self.sentinels.rollback()

    def learn(self, X, const double[::1] weight=None, double forgetting=1.0, out=None,
              limit=None, bint scaled=True, double reach=INFINITY, bint goes_on=False,
              known=None):
        """Learn rows; with `out`, write each of them, scaled by all rows up to itself.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        weight : ndarray of shape (n,), optional
            Weights >= 0; default 1. A row of weight 0 changes nothing.
        forgetting : float in (0, 1]
        out : ndarray of the dtype of X, optional
            Of shape (n, d), or, for a CSR matrix, of its stored elements. Overwritten.
        limit : float > 0, optional
            Scaled values are clipped to -limit ... limit; default not at all.
        scaled : bool
            Whether to divide by deviations, and to clip.
        reach : float > 0
            Centred moments clip a value at this many deviations from the mean, both so far.
        goes_on : bool
            Whether these rows continue the call before; `undo` undoes both.
        known : ndarray, optional
            A copy of X, in which the sentinels known at each row are replaced by NaN.

        Raises
        ------
        ValueError
            If the arguments do not fit together or to the features, or for a CSR matrix if means
            are kept.
        FloatingPointError
            If a moment overflows; then no row is learnt.
        """
        cdef Samples samples = samples_of(X, X.dtype)
        cdef Scaling scaling = scaling_of(forgetting, limit, scaled, reach)
        if weight is not None and weight.shape[0] != samples.rows.n:
            raise ValueError(f"{weight.shape[0]} weights do not fit {samples.rows.n} rows")
        cdef const double *weights = NULL
        if weight is not None and samples.rows.n > 0:
            weights = &weight[0]
        self.learn_rows(&samples.rows, weights, &scaling, memory_of(out, &samples.rows), goes_on,
                        self.copy_of(known, &samples.rows))

    cdef char *copy_of(self, known, const Rows *rows) except? NULL:
        """Memory of `known`, a copy of rows; NULL for None."""
        if self.sentinels is None and known is not None:
            raise ValueError("no numbers that stand for missing values are looked for")
        return memory_of(known, rows)

    def transform(self, X, out, limit=None, bint scaled=True, known=None):
        """Write the scaled rows of X into `out`; arguments as in `learn`."""
        cdef Samples samples = samples_of(X, X.dtype)
        cdef Scaling scaling = scaling_of(1, limit, scaled)
        cdef char *memory = memory_of(out, &samples.rows)
        cdef char *missed = self.copy_of(known, &samples.rows)
        cdef Py_ssize_t i, place
        self.check_rows(&samples.rows)
        with Reading(self.access), nogil:
            for i in range(samples.rows.n):
                place = place_of(&samples.rows, i)
                self.transform_row(&samples.rows, i, &scaling, memory + place)
                if missed != NULL and self.sentinels.n:
                    self.sentinels.blank(&samples.rows, i, missed + place, NAN)

    def learn_one(self, x, double forgetting=1.0, out=None, limit=None, bint scaled=True,
                  double weight=1.0):
        """`learn` for one row of shape (d,). `out` is float32 if x is, and otherwise float64."""
        cdef Rows rows
        if not 0 <= weight < INFINITY:
            raise ValueError(f"sample_weight must be finite and at least 0, got {weight}")
        cdef Scaling scaling = scaling_of(forgetting, limit, scaled)
        _alive = row_of(x, self.d, itemsize_of(x), False, &rows)
        self.learn_rows(&rows, &weight, &scaling, memory_of(out, &rows), False)

    def transform_one(self, x, out, limit=None, bint scaled=True):
        """`transform` for one row."""
        cdef Rows rows
        cdef Scaling scaling = scaling_of(1, limit, scaled)
        _alive = row_of(x, self.d, itemsize_of(x), False, &rows)
        self.scale_row(&rows, &scaling, memory_of(out, &rows))

    cdef int scale_row(self, const Rows *rows, const Scaling *scaling, char *out,
                       char *known=NULL) except -1:
        """`transform` for `rows` of a single row."""
        self.check_rows(rows)
        self.access.begin_reading()
        self.transform_row(rows, 0, scaling, out)
        if known != NULL and self.sentinels.n:
            self.sentinels.blank(rows, 0, known, NAN)
        self.access.end_reading()
        return 0

    def share_lock_with(self, Lock lock not None):
        """Use this lock from now on; no other thread may be learning meanwhile."""
        self.lock = lock

    def undo(self):
        """Restore the moments before the last call of `learn` or `learn_one`."""
        with Writing(self.lock, self.access):
            self.rollback()

    @property
    def n(self):
        """Rows learnt."""
        return self.tally.count

    def mean(self):
        """Means, ndarray of shape (d,); zeros without centring."""
        with Reading(self.access):
            return self.moments.to_array()[0] if self.centred else np.zeros(self.d)

    def variance(self):
        """Mean squared deviations from `mean`, ndarray of shape (d,)."""
        with Reading(self.access):
            if self.centred:
                return self.moments.to_array()[1]
            return self.moments.to_array()[:, 0] / (self.tally.total or 1)

    def missing_values(self):
        """The number that stands for missing values of each feature, (d,); NaN: none."""
        with Reading(self.access):
            return np.full(self.d, np.nan) if self.sentinels is None else self.sentinels.values()

    def get_state(self):
        """State for `_restore`."""
        with Reading(self.access):
            ends = None if self.sentinels is None else self.sentinels.to_array()
            return {"moments": self.moments.to_array(), "count": self.tally.count,
                    "unit": self.tally.unit, "total": self.tally.total, "ends": ends}

    def __reduce__(self):
        return _restore, (self.d, self.centred, self.get_state())

    def __getstate__(self):
        refuse_attributes(self)


cdef Scaling scaling_of(double forgetting, limit, bint scaled, double reach=INFINITY) except *:
    cdef Scaling scaling
    scaling.limit = INFINITY if limit is None else limit
    if not 0 < forgetting <= 1:
        raise ValueError(f"forgetting must be in (0, 1], got {forgetting}")
    if not scaling.limit > 0:
        raise ValueError(f"limit must be > 0, got {limit}")
    if not reach > 0:
        raise ValueError(f"reach must be > 0, got {reach}")
    scaling.forgetting, scaling.scaled, scaling.reach = forgetting, scaled, reach
    return scaling


cdef inline Py_ssize_t itemsize_of(x):
    return 4 if getattr(x, "dtype", None) == np.float32 else 8


cdef inline Py_ssize_t place_of(const Rows *rows, Py_ssize_t i) noexcept nogil:
    """Offset of row i in an array of all elements, in bytes."""
    return rows.itemsize * (rows.starts[i] if is_sparse(rows) else i * rows.d)


cdef char *memory_of(out, const Rows *rows) except? NULL:
    """Memory of the array for scaled rows; NULL for None."""
    cdef Py_ssize_t count = rows.starts[rows.n] if is_sparse(rows) else rows.n * rows.d
    if out is None:
        return NULL
    if not isinstance(out, cnp.ndarray) or out.size != count or out.itemsize != rows.itemsize \
            or not cnp.PyArray_ISCARRAY(out):
        raise ValueError(f"out must be an array of {count} elements of {rows.itemsize} bytes")
    return <char *> cnp.PyArray_DATA(out)


def _restore(d, centred, state):
    # Files of older versions have no sentinels.
    state = {"ends": None, **state} if isinstance(state, dict) else state
    fields = fields_of(state, "running moments", ("moments", "count", "unit", "total", "ends"))
    cdef RunningMoments restored = RunningMoments(d, centred, fields["ends"] is not None)
    restored.moments.set_array(fields["moments"])
    restored.tally.count = count_of("count", fields["count"])
    restored.tally.unit = positive_number("unit", fields["unit"])
    restored.tally.total = not_negative("total", fields["total"])
    squares = restored.moments.to_array()[1 if restored.centred else slice(None)]
    if squares.min() < 0:
        raise ValueError(f"mean squares must be >= 0, got {squares.min()}")
    if (restored.tally.count == 0) != (restored.tally.total == 0):
        raise ValueError(
            f"{restored.tally.count} rows cannot have the weights {restored.tally.total}")
    if restored.sentinels is not None:
        restored.sentinels.set_array(fields["ends"])
    return restored
