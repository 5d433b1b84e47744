"""Race: several models, the experts, learn one stream; their weighted vote predicts.

rows -> standardised by running moments -> experts, each test-then-train -> vote -> prediction
     -> forests (raw rows: trees do not depend on scale) ---^

For tables with categories, a `layout` describes the rows of forests (`samples.coded`): category
codes in place of one-hot features, and NaN for missing values.

Experts do not depend on each other or on the vote. So each expert learns a whole segment of rows,
block by block like a single model. The vote then predicts the samples of the segment one by one,
each with the weights that the experts have after the samples before it. Segments end at multiples
of `SEGMENT` samples, wherever calls begin and end. Experts fall asleep or wake only there:

- All experts learn and vote on the first `TRIAL` samples.
- Then the experts of largest weight stay awake, as many as `budget` allows. An expert sleeps if its
  weight is below `LEAST_WEIGHT` times the largest, unless it is cheap (`LITTLE`).
- An expert with patience stays awake for its first `patience` samples: a forest still improves when
  kernels of some hundred landmarks no longer do, and a metric may be learnt late.
- A sleeping expert learns every `REST`th segment, so that its loss stays up to date.
- If the errors of the vote increase, all experts are awake for the next `ALARM` samples.

A race has the methods and guarantees of a `Model`: a call that fails changes nothing, one thread
learns at a time, and any number of threads may score.
"""
cimport numpy as cnp
import numpy as np

from libc.stdint cimport int64_t

from onlinekern.core.base.state cimport (
    check_kind, check_width, count_of, doubles_of_shape, integer_within, integers_within, items_of)
from onlinekern.core.base.lock cimport begin_writing, end_writing
from onlinekern.core.experts cimport Experts, Row, narrow
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.learning.twin cimport TwinTarget
from onlinekern.core.learning.vote cimport MeanVote
from onlinekern.core.linalg.running_moments cimport RunningMoments
from onlinekern.core.samples.rows cimport Rows, Samples, row_of, samples_of
from onlinekern.core.stream cimport Model

from onlinekern.core.base.part import frozen
from onlinekern.core.base.pool import run_together
from onlinekern.core.samples.rows import rows_at

cnp.import_array()

cdef Py_ssize_t SEGMENT = 256
cdef Py_ssize_t TRIAL = 1024
cdef Py_ssize_t REST = 8
cdef Py_ssize_t ALARM = 512
# An expert sleeps if its weight is below this share of the largest weight,
cdef double LEAST_WEIGHT = 0.02
# and its cost above this share of the budget.
cdef double LITTLE = 0.02
# An alarm needs a recent error rate this many standard deviations above the usual one. The recent
# rate is over about LATELY samples.
cdef double WORSE = 4.0
cdef Py_ssize_t LATELY = 100


cdef class Race(Experts):
    """Experts that learn one stream, and their vote.

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
        Number of samples that each expert learns before it may fall asleep; (): 0 for all.
    twins : sequence, default=()
        For each expert its `TwinTarget`, or None if it has none; (): no expert has one.
    """

    def __cinit__(self, *_, **__):
        self.dearest = sorted(range(len(self.costs)), key=lambda k: -self.costs[k])
        self.n_threads = 1
        self.learnt = np.zeros(len(self.experts), dtype=np.int64)
        self.history, self.stride = [], SEGMENT
        if self.head.n_labels > 0:
            self.recent = RecentScores(self.head.n_outputs, self.head.n_labels)

    def resume_counts(self, seen, mistakes, loss):
        """Set the counts: two integers >= 0, and a number."""
        self.n_seen = count_of("seen", seen)
        self.began = min(self.began, self.n_seen)
        self.vote.resume_counts(mistakes, loss)

    def learn(self, X, y, weight=None, order=None, window=0, scores=None, noted=True):
        """Test-then-train over samples; arguments and result are those of `Model.learn`.

        `noted` is False in later passes over the same samples. Then the weights of the vote do not
        change: they would favour experts that have memorised the samples.
        """
        cdef Samples samples
        if order is None and X.shape[0] == 1 and len(y) == 1:
            samples = samples_of(X, self.dtype)
            if self.fits(&samples.rows):
                check_width("X", samples.rows.d, self.d)
                return self._learn_only(samples, y, weight, scores, noted)
        X = self._form(X)
        given = X
        if order is not None:
            taken = np.asarray(order)
            given, y = rows_at(X, taken), y[taken]
            weight = None if weight is None else weight[taken]
        answers = np.empty((given.shape[0], self.head.n_outputs))
        with self.writing():
            self._begin()
            try:
                self._learn_part(given, y, weight, window, answers, noted)
            except BaseException:
                self._rollback()
                raise
        if scores is not None:
            np.asarray(scores)[slice(None) if order is None else taken] = answers
        winners = self._winners(answers)
        if order is None:
            return winners
        predictions = np.full(X.shape[0], np.nan)
        predictions[taken] = winners
        return predictions

    def learn_one(self, x, double y, double weight=1):
        """Test-then-train on one sample; returns the prediction made before learning it."""
        cdef Rows rows
        if not 0 <= weight < np.inf:
            raise ValueError(f"sample_weight must be finite and at least 0, got {weight}")
        _alive = row_of(x, self.d, self.dtype.itemsize, False, &rows)
        if self.fits(&rows):
            self.head.check_label(y)
            return self.winner(<double *> cnp.PyArray_DATA(self.learn_row(&rows, y, weight, True)))
        weights = None if weight == 1 else np.array([weight])
        return float(self.learn(self._matrix_of(rows), np.array([y]), weights)[0])

    def _learn_only(self, Samples samples, const double[::1] y, const double[::1] weight,
                    double[:, ::1] scores, bint noted):
        """`learn` for a single row."""
        cdef double own = 1 if weight is None else weight[0]
        self.head.check_label(y[0])
        answer = self.learn_row(&samples.rows, y[0], own, noted)
        if scores is not None:
            np.asarray(scores)[0] = answer
        return np.array([self.winner(<double *> cnp.PyArray_DATA(answer))])

    cdef cnp.ndarray learn_row(self, const Rows *rows, double y, double weight, bint noted):
        """Learn a single row with a checked target; returns the scores of the vote, (n_outputs,).

        The result is that of `_learn_segment`, without temporary arrays.
        """
        cdef cnp.npy_intp n_outputs = self.head.n_outputs
        begin_writing(self.lock, self.access)
        try:
            answer = cnp.PyArray_EMPTY(1, &n_outputs, cnp.NPY_FLOAT64, 0)
            self._begin()
            try:
                self.learn_alone(rows, y, weight, <double *> cnp.PyArray_DATA(answer), noted)
            except BaseException:
                self._rollback()
                raise
        finally:
            end_writing(self.lock, self.access)
        return answer

    cdef int learn_alone(self, const Rows *rows, double y, double weight, double *answer,
                         bint noted) except -1:
        """Learn the single row of a call that has begun; writes the scores of the vote."""
        cdef Row row
        _alive = self.room_for(rows, &row)
        (<RunningMoments> self.moments).learn_rows(rows, &weight, &self.scaling, row.given, False,
                                                   row.missed)
        narrow(&row)
        return self.teach(rows, &row, y, weight, answer, noted)

    cdef int teach(self, const Rows *rows, Row *row, double y, double weight, double *answer,
                   bint noted) except -1:
        """Teach a row to the experts that learn the present segment, and to the vote."""
        cdef Py_ssize_t k
        cdef double scale
        cdef double *own
        cdef double[2] predicted, goals, both
        cdef const Rows *taken
        cdef TwinTarget twin
        cdef cnp.ndarray learnt = cnp.PyArray_NewCopy(self.learnt, cnp.NPY_CORDER)
        cdef const unsigned char[::1] voting = self.voting, fed = self._fed()
        cdef int64_t[::1] counts = learnt
        if not voting.shape[0] == fed.shape[0] == counts.shape[0] == len(self.experts):
            raise ValueError("the progress of the race is that of another number of experts")
        for k in range(len(self.experts)):
            if fed[k]:
                taken = &row.known if self.raw[k] else &row.scaled
                own = row.scores + k * self.head.n_outputs
                twin = self.twins[k]
                if twin is None:
                    (<Model> self.experts[k]).learn_targets(taken, &y, weight, predicted, own,
                                                            False)
                else:
                    scale = twin.scale
                    twin.take(y, weight, goals)
                    (<Model> self.experts[k]).learn_targets(taken, goals, weight, predicted, both,
                                                            False)
                    twin.learn_row(both, goals, scale, weight, own, noted)
                    twin.check_total()
                counts[k] += weight > 0
        self.vote.learn_rows(row.scores, 1, &y, &weight, &voting[0], &fed[0], answer, noted)
        self.vote.check_total()
        if weight > 0:
            self.learnt = learnt
            self.n_seen += 1
            if self.age() % SEGMENT == 0:
                self._choose()
        if noted and self.recent is not None:
            self.note(answer, y, weight)
        return 0

    cdef void note(self, const double *answer, double y, double weight) noexcept:
        """Count a sample, and keep its scores in `recent` if they are due."""
        if weight > 0:
            self.noted += 1
            if self.noted == self.recent.next_number(self.noted - 1):
                self.recent.keep(answer, y, weight)

    def _note(self, const double[::1] y, const double[::1] weight, const double[:, ::1] answers):
        """Keep the scores of several samples that are due, to fit probabilities to them."""
        cdef Py_ssize_t i
        for i in range(y.shape[0]):
            self.note(&answers[i, 0], y[i], 1 if weight is None else weight[i])

    def _learn_part(self, X, y, weight, window, answers, noted):
        """Learn rows of a call that has begun; rows of weight 0 are only predicted."""
        self._learn_rows(X, y, weight, window, answers, noted)
        if noted and self.recent is not None:
            self._note(y, weight, answers)

    def _learn_rows(self, X, y, weight, window, answers, noted):
        """Learn rows segment by segment; segments count only samples of weight > 0."""
        cdef Py_ssize_t first = 0, done = 0, last, n = len(y)
        counted = None if weight is None else np.cumsum(weight > 0)
        while first < n:
            last = done + SEGMENT - self.age() % SEGMENT
            if counted is not None:
                last = np.searchsorted(counted, last) + 1
            last = min(last, n)
            if last - first == n:
                self._learn_segment(X, y, weight, window, answers, noted)
                return
            part = slice(first, last)
            self._learn_segment(rows_at(X, part), y[part],
                                None if weight is None else weight[part], window, answers[part],
                                noted)
            first = last
            done = last if counted is None else counted[last - 1]

    def _learn_segment(self, X, y, weight, window, answers, noted):
        """Learn rows of one segment: no expert wakes or falls asleep among them."""
        # Only these rows are standardised at once, so that they stay in a fast cache.
        Z, R = self.seen(X, weight, True, self.moments.calls != self.begun[len(self.experts)])
        fed = self._fed()
        scores = np.zeros((len(self.experts), len(y), self.head.n_outputs))

        def teach(k):
            rows, goes_on = R if self.raw[k] else Z, self.experts[k].calls != self.begun[k]
            if self.twins[k] is None:
                self.experts[k].learn(rows, y, weight, None, window, scores[k], False, goes_on)
                return
            goals, scales = self.twins[k].goals(y, weight)
            both = np.empty_like(goals)
            self.experts[k].learn(rows, goals.ravel(), weight, None, window, both, False, goes_on)
            self.twins[k].learn(both, goals, scales, weight, scores[k], noted)

        # The most expensive experts begin first, so that the threads end at about the same time.
        learners = [k for k in self.dearest if fed[k]]
        run_together(teach, learners, self.n_threads if len(y) > 1 else 1)
        self.vote.learn(scores, y, weight, self.voting, fed, answers, noted)
        count = len(y) if weight is None else np.count_nonzero(weight)
        self.n_seen += count
        learnt = self.learnt.copy()
        learnt[fed.view(np.bool_)] += count
        self.learnt = learnt
        if count > 0 and self.age() % SEGMENT == 0:
            self._choose()

    cdef int64_t age(self) noexcept:
        """Number of samples since these experts began."""
        return self.n_seen - self.began

    def _fed(self):
        """Flags of the experts that learn this segment: awake ones, and sleeping ones in turn."""
        cdef Py_ssize_t k
        cdef cnp.ndarray fed = cnp.PyArray_NewCopy(self.voting, cnp.NPY_CORDER)
        cdef unsigned char[::1] own = fed
        for k in range((REST - self.age() // SEGMENT % REST) % REST, own.shape[0], REST):
            own[k] = 1
        return fed

    def _choose(self):
        """Choose the experts that are awake in the next segment; store the weights as a mark."""
        *_, usual, lately, _ = self.vote.mean_losses()
        weights = self.vote.weights(np.ones(len(self.experts), dtype=np.uint8))
        if self._is_worse(usual, lately):
            self.alarm = self.n_seen + ALARM
        if self.age() % self.stride == 0:
            self.history = [*self.history, (self.n_seen, weights)]
            if len(self.history) > MOST_MARKS:
                self.history, self.stride = self.history[1::2], 2 * self.stride
        if self.age() < TRIAL or self.n_seen < self.alarm:
            self.voting = np.ones(len(self.experts), dtype=np.uint8)
            return 0
        voting = np.zeros(len(self.experts), dtype=np.uint8)
        left = self.budget - sum(self.costs) / REST
        order = np.argsort(-weights, kind="stable").tolist()
        stay = [order[0]]
        stay += [k for k in order[1:] if self.age() < self.patience[k]]
        for k in sorted(order, key=lambda k: k not in stay):
            cheap = self.costs[k] <= LITTLE * self.budget
            strong = weights[k] >= LEAST_WEIGHT * weights.max()
            if k in stay or cheap or (strong and self.costs[k] <= left):
                voting[k] = 1
                left -= self.costs[k]
        self.voting = voting

    def _is_worse(self, usual, lately):
        """Whether the recent loss of the vote is significantly larger than its usual loss."""
        if isinstance(self.vote, MeanVote):
            return lately > 2 * usual
        return lately > usual + WORSE * np.sqrt(usual * max(0, 1 - usual) / LATELY)

    def _progress(self):
        """The state of the race itself, without that of its experts, vote and moments."""
        return (self.n_seen, self.noted, self.alarm, self.stride, self.voting, self.learnt,
                self.history, self.began)

    def _set_progress(self, progress):
        (self.n_seen, self.noted, self.alarm, self.stride, self.voting, self.learnt,
         self.history, self.began) = progress

    def grown(self, grow):
        """A race with other outputs that continues this one.

        `grow` maps arguments and progress to new ones, and may not change what it gets.
        """
        return restore(*grow(self.arguments(), self._progress()))

    def _begin(self):
        """Set a checkpoint, to which `_rollback` returns if the call fails."""
        if self.recent is not None:
            self.recent.checkpoint()
        # The rollback undoes learners whose count of calls has changed. A flag set by this race
        # would be missed if Ctrl-C arrived right after a learner's call.
        begun = [(<Model> expert).calls for expert in self.experts]
        begun.append((<RunningMoments> self.moments).calls)
        self.vote.checkpoint()
        for twin in self.twins:
            if twin is not None:
                (<TwinTarget> twin).checkpoint()
        self.begun, self.saved = begun, self._progress()
        self.calls += 1

    def _rollback(self):
        for learner, calls in zip((*self.experts, self.moments), self.begun):
            if learner.calls != calls:
                learner.undo()
        self.begun = [learner.calls for learner in (*self.experts, self.moments)]
        self._set_progress(self.saved)
        self.vote.rollback()
        for twin in self.twins:
            if twin is not None:
                (<TwinTarget> twin).rollback()
        self.calibration = None
        if self.recent is not None:
            self.recent.rollback()

    def undo(self):
        """Return to the race before the last call of `learn` or `learn_one`."""
        with self.writing():
            self._rollback()

    cdef tuple arguments(self):
        """Arguments of the constructor that make a race of these parts."""
        return (self.experts, self.costs, self.vote, self.moments, self.head, self.dtype,
                self.budget, self.limit, self.forgetting, self.layout, self.patience,
                self.twins if any(self.twins) else ())

    def __reduce__(self):
        with self.reading():
            return restore, (frozen(self.arguments(), {}), tuple(self._progress()),
                             frozen(self.recent, {}))


def restore(arguments, progress, recent=None):
    """A race of these parts that continues from a stored progress; recent scores may be missing."""
    # Older files contain no layout, patience or twins.
    count = min(max(9, len(arguments)), 12) if isinstance(arguments, (tuple, list)) else 12
    cdef Race race = Race(*items_of(arguments, "arguments of a race", count))
    race._set_progress(checked_progress(progress, len(race.experts)))
    if recent is not None:
        check_kind(recent, "recent", RecentScores)
        if (recent.n_outputs, recent.n_labels) != (race.head.n_outputs, race.head.n_labels):
            raise ValueError("the recent scores of a race must be those of its classes")
        race.recent = recent
    return race


cdef tuple checked_progress(object progress, Py_ssize_t m):
    """Check a stored `Race._progress` of m experts; returns it."""
    cdef const unsigned char[::1] flags
    # Older files contain no `began`: their experts began with the stream.
    count = len(progress) if isinstance(progress, (tuple, list)) else 8
    n_seen, noted, alarm, stride, voting, learnt, history, *began = items_of(
        progress, "progress of a race", min(max(7, count), 8))
    n_seen, noted, alarm = (
        count_of("n_seen", n_seen), count_of("noted", noted), count_of("alarm", alarm))
    began = integer_within("began", began[0] if began else 0, 0, n_seen)
    if count_of("stride", stride) < SEGMENT or stride % SEGMENT:
        raise ValueError(f"stride must be a multiple of {SEGMENT}, got {stride}")
    check_kind(voting, "voting", np.ndarray)
    flags = voting
    if flags.shape[0] != m or voting.max() != 1:
        raise ValueError(f"voting must be {m} flags, of which one at least is set")
    history = [items_of(mark, "mark of the history", 2) for mark in history]
    history = [(count_of("mark", count), doubles_of_shape("weights", weights, (m,)))
               for count, weights in history]
    learnt = integers_within("learnt", learnt, m, 0, 1 << 62)
    return n_seen, noted, alarm, stride, voting, learnt, history, began
