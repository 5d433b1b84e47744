"""Experts: the base class of `Race`, without learning: components, locks, and scores of the vote.

A row is standardised by the running moments of its features. The awake experts score it, and their
vote combines these scores. Forests get the raw row, with NaN in place of numbers that the moments
have recognised as codes of missing values (sentinels). `Race` adds learning.
"""
import copy

cimport numpy as cnp
import numpy as np
import scipy.sparse as sp

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from onlinekern.core.base.state cimport (
    check_kind, check_width, count_of, float_dtype, integer_within, positive_number)
from onlinekern.core.base.lock cimport Access, Reading, Lock, Writing
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.twin cimport TwinTarget
from onlinekern.core.learning.vote cimport MeanVote, Vote
from onlinekern.core.linalg.running_moments cimport RunningMoments, scaling_of
from onlinekern.core.models.forest cimport ForestSpace
from onlinekern.core.models.least_squares cimport LeastSquaresSpace
from onlinekern.core.models.metric_least_squares cimport MetricLeastSquares
from onlinekern.core.samples.rows cimport (
    Rows, Samples, is_sparse, ok_sparse_row, row_of, samples_of, sparse_row)
from onlinekern.core.stream cimport Model

from onlinekern.core.base.part import refuse_attributes
from onlinekern.core.samples.coded import coded_rows, layout_of
from onlinekern.core.samples.rows import rows_at

cnp.import_array()

# The moments of dense rows clip a value to REACH standard deviations from the mean. Otherwise one
# value in a thousand, 10,000 deviations away, would scale all others to 0.
REACH = 30.0
# Rows that are standardised and scored together for prediction.
cdef Py_ssize_t MOST_ROWS = 1024


cdef class Experts:
    """Experts for the samples of one stream, and their vote.

    Parameters
    ----------
    experts : sequence of Model
        Models of the same number of features and outputs, for float32 samples; forests get raw rows
        of `dtype`.
    costs : sequence of float > 0
        Cost of learning a sample, for each expert.
    vote : Vote
    moments : RunningMoments
        Means and variances of the features, which standardise the rows.
    head : Head
        Checks the labels.
    dtype : numpy.float32 or numpy.float64
        Dtype of the rows.
    budget : float > 0
        Largest cost of a sample, in units of `costs`.
    limit : float > 0
        Bound on the absolute values of standardised features.
    forgetting : float in (0, 1]
        Forgetting factor of the moments.
    layout : tuple, default=()
        Layout of the rows that forests get; (): raw rows.
    patience : sequence of int >= 0, default=()
        See `Race`.
    twins : sequence, default=()
        For each expert its `TwinTarget`, or None if it has none; (): no expert has one.
    """

    def __cinit__(self, experts, costs, Vote vote not None, moments, Head head not None, dtype,
                  double budget, double limit, double forgetting, layout=(), patience=(),
                  twins=()):
        self.lock, self.access = Lock(), Access()
        self.raw = tuple(isinstance(getattr(expert, "space", None), ForestSpace)
                         for expert in experts)
        self.experts, self.costs = tuple(experts), tuple(map(float, costs))
        check_kind(moments, "moments", RunningMoments)
        self.vote, self.moments, self.head = vote, moments, head
        self.dtype = float_dtype(dtype)
        self.budget = positive_number("budget", budget)
        self.limit, self.forgetting = limit, forgetting
        self.scaling = scaling_of(forgetting, limit, True, REACH)
        self.patience = tuple(count_of("patience", each)
                              for each in patience) or (0,) * len(self.experts)
        self.twins = tuple(twins) or (None,) * len(self.experts)
        self._check(layout)
        self.voting = np.ones(len(self.experts), dtype=np.uint8)

    def _check(self, layout):
        """Raise TypeError or ValueError unless the components fit together."""
        self.layout = layout_of(layout, self.moments.d)
        for expert, raw, twin in zip(self.experts, self.raw, self.twins):
            check_kind(expert, "an expert", Model)
            if twin is not None:
                check_kind(twin, "a twin", TwinTarget)
                check_kind(self.vote, "the vote of a race with twins", MeanVote)
            d = len(self.layout) if raw and self.layout else self.moments.d
            n_outputs = self.head.n_outputs if twin is None else 2
            if expert.d != d or expert.head.n_outputs != n_outputs \
                    or expert.dtype != (self.dtype if raw else np.float32):
                raise ValueError("the experts must be models of float32 samples, forests of the "
                                 "race's, with as many features and outputs as the race, or two "
                                 "outputs of a target and its twin")
        if not len(self.experts) == len(self.costs) == len(self.patience) == len(self.twins) \
                == self.vote.n_experts or self.vote.n_outputs != self.head.n_outputs:
            raise ValueError("the race needs a cost, patience and a place in the vote for each "
                             "expert, and a twin or None")

    @property
    def d(self):
        """Features of a sample."""
        return self.moments.d

    @property
    def n_mistakes(self):
        """Samples that were predicted wrongly, before they were learnt."""
        return self.vote.n_mistakes

    @property
    def cumulative_loss(self):
        """Sum of weight times loss of the predictions, made before their samples were learnt."""
        return self.vote.total

    @property
    def target_mean(self):
        """0: scores are in the units of the targets."""
        return 0.0

    @property
    def target_scale(self):
        """1: scores are in the units of the targets."""
        return 1.0

    def writing(self):
        """A context in which this thread alone uses the race."""
        return Writing(self.lock, self.access)

    def reading(self):
        """A context in which no thread changes the race."""
        return Reading(self.access)

    def share_lock_with(self, Lock lock not None):
        """Use this lock from now on; no thread may be learning."""
        self.lock = lock

    cdef bint fits(self, const Rows *rows):
        """Whether all experts and the moments take rows in this format, dense or sparse."""
        return not self.layout and is_sparse(rows) != (<RunningMoments> self.moments).centred

    cdef object room_for(self, const Rows *rows, Row *row):
        """Allocate the buffers of a row; returns the object that owns them."""
        cdef Py_ssize_t n_scores = len(self.experts) * self.head.n_outputs
        cdef Py_ssize_t work = self.vote.work_size()
        cdef cnp.npy_intp size
        row.count = rows.starts[1] if is_sparse(rows) else rows.d
        for twin in self.twins:
            if twin is not None:
                work = max(work, (<TwinTarget> twin).work_size(1))
        size = n_scores + work + 3 * row.count
        alive = cnp.PyArray_EMPTY(1, &size, cnp.NPY_FLOAT64, 0)
        row.scores = <double *> cnp.PyArray_DATA(alive)
        memset(row.scores, 0, n_scores * sizeof(double))
        row.work = row.scores + n_scores
        row.given = <char *> (row.work + work)
        row.scaled = rows[0]
        row.scaled.values = row.given if rows.itemsize == 4 \
            else <const char *> (row.work + work + row.count)
        row.known, row.missed = rows[0], NULL
        if (<RunningMoments> self.moments).sentinels is not None:
            row.missed = <char *> (row.work + work + 2 * row.count)
            memcpy(row.missed, rows.values, row.count * rows.itemsize)
            row.known.values = row.missed
        return alive

    def next_calls_blas(self):
        """Whether the next sample may call BLAS: only forests and least squares do."""
        cdef Py_ssize_t k
        cdef Model expert
        for k in range(len(self.experts)):
            expert = self.experts[k]
            if isinstance(expert.space, ForestSpace):
                if expert.space.is_looking():
                    return True
            elif isinstance(expert.space, LeastSquaresSpace) \
                    and may_call_blas(<LeastSquaresSpace> expert.space):
                return True
        return False

    def seen(self, X, weight=None, learns=False, goes_on=False):
        """Rows for the experts: standardised as float32, and raw for forests.

        With `learns`, the moments learn them first. `goes_on` says that the moments have learnt
        other rows of the same call.
        """
        known = self.copy_for_forests(X) if learns or self.moments.sentinels is not None \
            and self.moments.sentinels.n else None
        sparse = not isinstance(X, np.ndarray)
        stored = X.indptr[X.shape[0]] if sparse else 0
        values = np.empty_like(X.data[:stored] if sparse else X)
        if not learns:
            self.moments.transform(X, values, limit=self.limit, known=known)
        else:
            self.moments.learn(X, weight, self.forgetting, out=values, limit=self.limit,
                               reach=REACH, goes_on=goes_on, known=known)
        given = X if known is None else known
        if self.layout:
            given = coded_rows(given, self.layout)
        values = values.astype(np.float32, copy=False)
        if not sparse:
            return values, given
        return sp.csr_matrix((values, X.indices[:stored], X.indptr), shape=X.shape), given

    cdef object copy_for_forests(self, object X):
        """A copy of rows, to write NaN for missing values; None if no forest needs it."""
        if self.moments.sentinels is None or not any(self.raw):
            return None
        return np.array(X, order="C")

    def scores(self, X, double[:, ::1] out):
        """Scores of samples by the vote; several threads may call this at once."""
        cdef Samples samples
        if X.shape[0] == 1 and out.shape[0] == 1 and out.shape[1] == self.head.n_outputs:
            samples = samples_of(X, self.dtype)
            if self.fits(&samples.rows):
                check_width("X", samples.rows.d, self.d)
                self.score_row(&samples.rows, &out[0, 0])
                return
        with self.reading():
            self.score_rows(X, out)

    cdef int score_row(self, const Rows *rows, double *out) except -1:
        """Write the scores of the vote for a single checked row."""
        cdef Py_ssize_t k
        cdef const Rows *taken
        cdef double *own
        cdef double[2] both
        cdef const unsigned char[::1] voting
        cdef Row row
        cdef RunningMoments moments
        self.access.begin_reading()
        try:
            # Read under the lock: another thread may exchange this race with its rival.
            voting, moments = self.voting, self.moments
            self.vote.check(np.empty((len(self.experts), 0, self.head.n_outputs)), 0, voting)
            _alive = self.room_for(rows, &row)
            moments.scale_row(rows, &self.scaling, row.given, row.missed)
            narrow(&row)
            for k in range(len(self.experts)):
                if voting[k]:
                    taken = &row.known if self.raw[k] else &row.scaled
                    own = row.scores + k * self.head.n_outputs
                    if self.twins[k] is None:
                        (<Model> self.experts[k]).score_row(taken, own)
                    else:
                        (<Model> self.experts[k]).score_row(taken, both)
                        (<TwinTarget> self.twins[k]).answer_rows(both, 1, row.work, own)
            self.vote.combine_rows(row.scores, 1, &voting[0], row.work, out)
        finally:
            self.access.end_reading()
        return 0

    def score_rows(self, X, double[:, ::1] out, Py_ssize_t first=0, last=None):
        """`scores` of rows first ... last - 1 (None: all), in a thread that is `reading`."""
        if out.shape[0] != X.shape[0] or out.shape[1] != self.head.n_outputs:
            raise ValueError(f"out must have shape {(X.shape[0], self.head.n_outputs)}, got "
                             f"{(out.shape[0], out.shape[1])}")
        last = X.shape[0] if last is None else integer_within("last", last, 0, X.shape[0])
        integer_within("first", first, 0, last)
        for first in range(first, last, MOST_ROWS):
            part = self._form(rows_at(X, slice(first, min(first + MOST_ROWS, last))))
            Z, R = self.seen(part)
            found = np.zeros((len(self.experts), part.shape[0], self.head.n_outputs))
            for k in np.flatnonzero(self.voting):
                self.score_expert(k, R if self.raw[k] else Z, found[k])
            self.vote.combine(found, self.voting, out[first:first + part.shape[0]])

    def score_expert(self, Py_ssize_t k, X, double[:, ::1] out):
        """Scores by expert k for standardised or raw rows; outputs of a twin are combined."""
        if self.twins[k] is None:
            self.experts[k].scores(X, out)
            return
        both = np.empty((out.shape[0], 2))
        self.experts[k].scores(X, both)
        self.twins[k].combine(both, out)

    def work(self, n):
        """Cost of scoring n samples, in units of a kernel value of about 16 features."""
        return sum(expert.work(n) for expert in self.experts)

    def score_one(self, x):
        """Scores of one dense sample: a float, or an ndarray of shape (n_outputs,)."""
        cdef Rows rows
        cdef double[:, ::1] found
        out = np.empty((1, self.head.n_outputs))
        _alive = row_of(x, self.d, self.dtype.itemsize, False, &rows)
        if self.fits(&rows):
            found = out
            self.score_row(&rows, &found[0, 0])
        else:
            self.scores(self._matrix_of(rows), out)
        return float(out[0, 0]) if self.head.n_outputs == 1 else out[0]

    cdef object _matrix_of(self, Rows rows):
        """One row, dense or sparse, copied into a matrix."""
        cdef ok_sparse_row stored
        cdef Py_ssize_t size = rows.itemsize
        if not is_sparse(&rows):
            return copied(rows.values, self.d * size, self.dtype).reshape(1, -1)
        stored = sparse_row(&rows, 0)
        values = copied(<const char *> stored.values, stored.count * size, self.dtype)
        columns = copied(<const char *> stored.columns, stored.count * sizeof(int32_t), np.int32)
        row = sp.csr_matrix((values, columns, [0, stored.count]), shape=(1, self.d))
        return row

    def _form(self, X):
        """Samples in the format of the moments and the experts, dense or sparse."""
        if isinstance(X, np.ndarray):
            return X if self.moments.centred else sp.csr_matrix(X)
        return X.toarray() if self.moments.centred else X

    cdef double winner(self, const double *answer):
        """Prediction for one sample: a class number, or a target."""
        cdef Py_ssize_t k, best = 0
        if self.head.n_outputs == 1:
            return answer[0] if isinstance(self.vote, MeanVote) else answer[0] > 0
        for k in range(1, self.head.n_outputs):
            if answer[k] > answer[best]:
                best = k
        return best

    def _winners(self, answers):
        """Predictions: class numbers, or targets."""
        if isinstance(self.vote, MeanVote):
            return answers[:, 0]
        return (answers[:, 0] > 0).astype(float) if answers.shape[1] == 1 \
            else answers.argmax(axis=1).astype(float)

    def __copy__(self):
        return copy.deepcopy(self)

    def __getstate__(self):
        refuse_attributes(self)


cdef object copied(const char *values, Py_ssize_t count, dtype):
    """Copy `count` bytes into a new array."""
    return np.frombuffer(values[:count], dtype=dtype).copy()


cdef bint may_call_blas(LeastSquaresSpace space) except -1:
    """Whether the next sample may call BLAS: at the end of a block, or if its metric is due."""
    if isinstance(space, MetricLeastSquares) and space.is_due():
        return True
    return space.block.count + 1 >= space.block.block_length


cdef void narrow(Row *row) noexcept nogil:
    """Convert the standardised values of a row to float32."""
    cdef Py_ssize_t j
    cdef float *values = <float *> row.scaled.values
    if row.scaled.itemsize == 8:
        for j in range(row.count):
            values[j] = <float> (<const double *> row.given)[j]
        row.scaled.itemsize = 4
