"""Race: experts that learn one stream, each a model of its own, and answer by a weighted vote.

rows -> scaled by their running moments -> experts, each test-then-train -> vote -> answer
     -> forests, which find units of their own -------------------------^

Of tables, forests get the numbers of categories in place of their one-hot features, and NaN where a
value was missing: a `layout` says how (`samples.coded`).

The experts know nothing of each other nor of the vote, so each learns the rows of a segment on its
own, block by block as a single model does; the vote then answers the samples one by one, with the
weights that the experts had earned by then. Segments end at multiples of `SEGMENT` samples of the
stream, however it is cut into calls. Only there experts fall asleep or wake:

- The first `TRIAL` samples are learnt by all.
- Then those vote that have earned most, as many as `budget` has room for; an expert whose weight is
  below `LEAST_WEIGHT` of the best one's sleeps, unless it costs next to nothing.
- An expert with patience does not sleep before so many samples: a forest goes on getting better
  when kernels of some hundred landmarks do no more, and a metric may be found late.
- A sleeping expert learns every `REST`th segment, so that its losses stay known.
- When the vote errs more than it did, all are woken for `ALARM` samples.

A race has the methods of a `Model`, and keeps its promises: a call that fails changes nothing, one
thread learns at a time, any number read.
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
# An expert whose weight is a smaller share of the best one's sleeps,
cdef double LEAST_WEIGHT = 0.02
# if it costs a larger share of the budget.
cdef double LITTLE = 0.02
# Standard deviations by which the vote must have become worse for all to be woken; about a hundred
# samples are what it did "lately".
cdef double WORSE = 4.0
cdef Py_ssize_t LATELY = 100


cdef class Race(Experts):
    """Experts that learn one stream, and their vote.

    Parameters
    ----------
    experts : sequence of Model
        For the same number of features and outputs, whose samples are float32. Forests get the rows
        as they come: they have samples of `dtype`.
    costs : sequence of float > 0
        What a sample costs each of them.
    vote : Vote
    moments : RunningMoments
        Those of the rows, which scale them.
    head : Head
        Checks the labels.
    dtype : numpy.float32 or numpy.float64
        Of the rows that are given.
    budget : float > 0
        What a sample may cost, in units of `costs`.
    limit : float > 0
        Bound of scaled values.
    forgetting : float in (0, 1]
        Of the moments.
    layout : tuple, default=()
        Of the rows that forests get; () are the rows as they come.
    patience : sequence of int >= 0, default=()
        The samples before which each expert does not fall asleep; none is awake for it alone
        without.
    twins : sequence, default=()
        A `TwinTarget` for each expert that learns one, None for the others; () is for none.
    """

    def __cinit__(self, *_, **__):
        self.dearest = sorted(range(len(self.costs)), key=lambda k: -self.costs[k])
        self.n_threads = 1
        self.learnt = np.zeros(len(self.experts), dtype=np.int64)
        self.history, self.stride = [], SEGMENT
        if self.head.n_labels > 0:
            self.recent = RecentScores(self.head.n_outputs, self.head.n_labels)

    def resume_counts(self, seen, mistakes, loss):
        """Go on from these counts: two integers >= 0, and a number."""
        self.n_seen = count_of("seen", seen)
        self.began = min(self.began, self.n_seen)
        self.vote.resume_counts(mistakes, loss)

    def learn(self, X, y, weight=None, order=None, window=0, scores=None, noted=True):
        """Test-then-train over samples; arguments and result are those of `Model.learn`.

        With `noted` false, as in a pass over samples that have been learnt, the vote stays as it
        is: experts that memorise would win all of it.
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
        """Test-then-train on one sample; returns what was predicted for it."""
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
        """`learn` of an only row."""
        cdef double own = 1 if weight is None else weight[0]
        self.head.check_label(y[0])
        answer = self.learn_row(&samples.rows, y[0], own, noted)
        if scores is not None:
            np.asarray(scores)[0] = answer
        return np.array([self.winner(<double *> cnp.PyArray_DATA(answer))])

    cdef cnp.ndarray learn_row(self, const Rows *rows, double y, double weight, bint noted):
        """Learn the only row, whose target has been checked; returns the answer, (n_outputs,).

        It does what `_learn_segment` does, and makes no arrays for it.
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
        """Learn the only row of a call that has begun, and write the answer."""
        cdef Row row
        _alive = self.room_for(rows, &row)
        (<RunningMoments> self.moments).learn_rows(rows, &weight, &self.scaling, row.given, False,
                                                   row.missed)
        narrow(&row)
        return self.teach(rows, &row, y, weight, answer, noted)

    cdef int teach(self, const Rows *rows, Row *row, double y, double weight, double *answer,
                   bint noted) except -1:
        """Let those who learn the present segment learn a row, and the vote."""
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
        """Keep an answer that probabilities are fitted to, if it is one of those."""
        if weight > 0:
            self.noted += 1
            if self.noted == self.recent.next_number(self.noted - 1):
                self.recent.keep(answer, y, weight)

    def _note(self, const double[::1] y, const double[::1] weight, const double[:, ::1] answers):
        """Keep answers that probabilities are fitted to."""
        cdef Py_ssize_t i
        for i in range(y.shape[0]):
            self.note(&answers[i, 0], y[i], 1 if weight is None else weight[i])

    def _learn_part(self, X, y, weight, window, answers, noted):
        """Learn rows of a call that has begun, those of weight 0 being predicted only."""
        self._learn_rows(X, y, weight, window, answers, noted)
        if noted and self.recent is not None:
            self._note(y, weight, answers)

    def _learn_rows(self, X, y, weight, window, answers, noted):
        """Learn rows, segment by segment."""
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
        """Learn rows up to the next place where experts may wake or fall asleep."""
        # No more rows than these are scaled at once: they stay in a near cache.
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

        # What takes longest begins first: no thread is then left alone with it.
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
        """How many samples these experts have been given."""
        return self.n_seen - self.began

    def _fed(self):
        """Who learns the present segment: those who vote, and of the sleepers each in its turn."""
        cdef Py_ssize_t k
        cdef cnp.ndarray fed = cnp.PyArray_NewCopy(self.voting, cnp.NPY_CORDER)
        cdef unsigned char[::1] own = fed
        for k in range((REST - self.age() // SEGMENT % REST) % REST, own.shape[0], REST):
            own[k] = 1
        return fed

    def _choose(self):
        """Choose who votes until the next segment ends, and note the weights."""
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
        """Whether the vote errs more lately than it usually did, beyond chance."""
        if isinstance(self.vote, MeanVote):
            return lately > 2 * usual
        return lately > usual + WORSE * np.sqrt(usual * max(0, 1 - usual) / LATELY)

    def _progress(self):
        """What changes along the stream, but for the experts, the vote and the moments."""
        return (self.n_seen, self.noted, self.alarm, self.stride, self.voting, self.learnt,
                self.history, self.began)

    def _set_progress(self, progress):
        (self.n_seen, self.noted, self.alarm, self.stride, self.voting, self.learnt,
         self.history, self.began) = progress

    def grown(self, grow):
        """A race of other outputs that goes on from this one.

        A function makes arguments and a progress of those of this race, which it may not change.
        """
        return restore(*grow(self.arguments(), self._progress()))

    def _begin(self):
        """Remember the race as it is, for a call that fails."""
        if self.recent is not None:
            self.recent.checkpoint()
        # By their calls it is known who has learnt: Ctrl-C may arrive right after one of them.
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
        """What a race of these parts is made of."""
        return (self.experts, self.costs, self.vote, self.moments, self.head, self.dtype,
                self.budget, self.limit, self.forgetting, self.layout, self.patience,
                self.twins if any(self.twins) else ())

    def __reduce__(self):
        with self.reading():
            return restore, (frozen(self.arguments(), {}), tuple(self._progress()),
                             frozen(self.recent, {}))


def restore(arguments, progress, recent=None):
    """A race of these parts that goes on from there; without recent scores there are none yet."""
    # Races of older files have neither a layout nor patience, nor twins.
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
    """The progress of a race of m experts that a state tells of (`Race._progress`)."""
    cdef const unsigned char[::1] flags
    # Races of older files began with the stream.
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
