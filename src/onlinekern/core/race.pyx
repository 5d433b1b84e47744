"""Race: experts that learn one stream, each a model of its own, and answer by a weighted vote.

rows -> scaled by their running moments -> experts, each test-then-train -> vote -> answer
     -> forests, which find units of their own -------------------------^

The experts know nothing of each other nor of the vote, so each learns the rows of a segment on its
own, block by block as a single model does; the vote then answers the samples one by one, with the
weights that the experts had earned by then. Segments end at multiples of `SEGMENT` samples of the
stream, however it is cut into calls. Only there experts fall asleep or wake:

- The first `TRIAL` samples are learnt by all.
- Then those vote that have earned most, as many as `budget` has room for; an expert whose weight is
  below `LEAST_WEIGHT` of the best one's sleeps, unless it costs next to nothing.
- Of targets the first forest never sleeps: it goes on getting better when kernels of some hundred
  landmarks do no more, and asleep it would be late.
- A sleeping expert learns every `REST`th segment, so that its losses stay known.
- When the vote errs more than it did, all are woken for `ALARM` samples.

A race has the methods of a `Model`, and keeps its promises: a call that fails changes nothing, one
thread learns at a time, any number read.
"""
import copy

import numpy as np
import scipy.sparse as sp

from libc.stdint cimport int32_t

from onlinekern.core.base.state cimport (
    check_kind, count_of, float_dtype, integer_within, items_of, positive_number)
from onlinekern.core.base.lock cimport Access, Reading, Lock, Writing
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.learning.vote cimport MeanVote, Vote
from onlinekern.core.samples.rows cimport Rows, is_sparse, ok_sparse_row, row_of, sparse_row

from onlinekern.core.base.part import frozen, refuse_attributes
from onlinekern.core.base.pool import run_together
from onlinekern.core.linalg.running_moments import RunningMoments
from onlinekern.core.models.forest import ForestSpace
from onlinekern.core.samples.rows import rows_at
from onlinekern.core.stream import Model

cdef Py_ssize_t SEGMENT = 256
cdef Py_ssize_t TRIAL = 1024
cdef Py_ssize_t REST = 8
cdef Py_ssize_t ALARM = 512
# An expert whose weight is a smaller share of the best one's sleeps,
cdef double LEAST_WEIGHT = 0.02
# if it costs a larger share of the budget.
cdef double LITTLE = 0.03
# Standard deviations by which the vote must have become worse for all to be woken; about a hundred
# samples are what it did "lately".
cdef double WORSE = 4.0
cdef Py_ssize_t LATELY = 100
# Marks of the history: when there are more, every second one goes.
cdef Py_ssize_t MOST_MARKS = 512
# Rows that are scaled and scored together when nothing is learnt.
cdef Py_ssize_t MOST_ROWS = 1024


cdef class Race:
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
    """

    def __cinit__(self, experts, costs, Vote vote not None, moments, Head head not None, dtype,
                  double budget, double limit, double forgetting):
        self.lock, self.access = Lock(), Access()
        self.raw = tuple(isinstance(getattr(expert, "space", None), ForestSpace)
                         for expert in experts)
        self.experts, self.costs = tuple(experts), tuple(map(float, costs))
        self.dearest = sorted(range(len(self.costs)), key=lambda k: -self.costs[k])
        self.vote, self.moments, self.head = vote, moments, head
        self.dtype = float_dtype(dtype)
        self.budget = positive_number("budget", budget)
        self.limit, self.forgetting = limit, forgetting
        self.n_threads = 1
        self._check()
        self.voting = np.ones(len(self.experts), dtype=np.uint8)
        self.learnt = np.zeros(len(self.experts), dtype=np.int64)
        self.history, self.stride = [], SEGMENT
        if head.n_labels > 0:
            self.recent = RecentScores(head.n_outputs, head.n_labels)

    def _check(self):
        """Raise TypeError or ValueError unless the parts fit together."""
        check_kind(self.moments, "moments", RunningMoments)
        for expert, raw in zip(self.experts, self.raw):
            check_kind(expert, "an expert", Model)
            if expert.d != self.moments.d or expert.head.n_outputs != self.head.n_outputs \
                    or expert.dtype != (self.dtype if raw else np.float32):
                raise ValueError("the experts must be models of float32 samples, forests of the "
                                 "race's, with as many features and outputs as the race")
        if not len(self.experts) == len(self.costs) == self.vote.n_experts \
                or self.vote.n_outputs != self.head.n_outputs:
            raise ValueError("the race needs a cost and a place in the vote for each expert")

    @property
    def d(self):
        """Features of a sample."""
        return self.moments.d

    @property
    def n_mistakes(self):
        """Samples whose answer before learning was not their label."""
        return self.vote.n_mistakes

    @property
    def cumulative_loss(self):
        """Sum of weight times loss of the answers, each given before its sample was learnt."""
        return self.vote.total

    @property
    def target_mean(self):
        """0: answers are in the units of the targets."""
        return 0.0

    @property
    def target_scale(self):
        """1: answers are in the units of the targets."""
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

    def resume_counts(self, seen, mistakes, loss):
        """Go on from these counts: two integers >= 0, and a number."""
        self.n_seen = count_of("seen", seen)
        self.vote.resume_counts(mistakes, loss)

    def learn(self, X, y, weight=None, order=None, window=0, scores=None, noted=True):
        """Test-then-train over samples; arguments and result are those of `Model.learn`.

        With `noted` false, as in a pass over samples that have been learnt, the vote stays as it
        is: experts that memorise would win all of it.
        """
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
                self._learn_rows(given, y, weight, window, answers, noted)
                if noted and self.recent is not None:
                    self._note(y, weight, answers)
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
        if not 0 <= weight < np.inf:
            raise ValueError(f"sample_weight must be finite and at least 0, got {weight}")
        weights = None if weight == 1 else np.array([weight])
        return float(self.learn(self._row_of(x), np.array([y]), weights)[0])

    def _note(self, const double[::1] y, const double[::1] weight, const double[:, ::1] answers):
        """Keep answers that probabilities are fitted to."""
        cdef Py_ssize_t i
        cdef double own = 1
        for i in range(y.shape[0]):
            own = 1 if weight is None else weight[i]
            if own > 0:
                self.noted += 1
                if self.noted == self.recent.next_number(self.noted - 1):
                    self.recent.keep(&answers[i, 0], y[i], own)

    def _learn_rows(self, X, y, weight, window, answers, noted):
        """Learn rows, those of weight 0 being predicted only."""
        Z = self.scaled(X, weight, learns=True)
        cdef Py_ssize_t first = 0, done = 0, last, n = len(y)
        counted = None if weight is None else np.cumsum(weight > 0)
        while first < n:
            last = done + SEGMENT - self.n_seen % SEGMENT
            if counted is not None:
                last = np.searchsorted(counted, last) + 1
            last = min(last, n)
            if last - first == n:
                self._learn_segment(X, Z, y, weight, window, answers, noted)
                return
            part = slice(first, last)
            self._learn_segment(rows_at(X, part), rows_at(Z, part), y[part],
                                None if weight is None else weight[part], window, answers[part],
                                noted)
            first = last
            done = last if counted is None else counted[last - 1]

    def _learn_segment(self, X, Z, y, weight, window, answers, noted):
        """Learn rows X, scaled Z, up to the next place where experts may wake or fall asleep."""
        fed = self._fed()
        scores = np.zeros((len(self.experts), len(y), self.head.n_outputs))

        def teach(k):
            self.experts[k].learn(X if self.raw[k] else Z, y, weight, None, window, scores[k],
                                  False, self.experts[k].calls != self.begun[k])

        # What takes longest begins first: no thread is then left alone with it.
        learners = [k for k in self.dearest if fed[k]]
        run_together(teach, learners, self.n_threads if len(y) > 1 else 1)
        self.vote.learn(scores, y, weight, self.voting, fed, answers, noted)
        count = len(y) if weight is None else np.count_nonzero(weight)
        self.n_seen += count
        learnt = self.learnt.copy()
        learnt[fed.view(np.bool_)] += count
        self.learnt = learnt
        if count > 0 and self.n_seen % SEGMENT == 0:
            self._choose()

    def _fed(self):
        """Who learns the present segment: those who vote, and of the sleepers each in its turn."""
        fed = self.voting.copy()
        fed[(REST - self.n_seen // SEGMENT % REST) % REST::REST] = 1
        return fed

    def _choose(self):
        """Choose who votes until the next segment ends, and note the weights."""
        *_, usual, lately, _ = self.vote.mean_losses()
        weights = self.vote.weights(np.ones(len(self.experts), dtype=np.uint8))
        if self._is_worse(usual, lately):
            self.alarm = self.n_seen + ALARM
        if self.n_seen % self.stride == 0:
            self.history = [*self.history, (self.n_seen, weights)]
            if len(self.history) > MOST_MARKS:
                self.history, self.stride = self.history[1::2], 2 * self.stride
        if self.n_seen < max(TRIAL, self.alarm):
            self.voting = np.ones(len(self.experts), dtype=np.uint8)
            return 0
        voting = np.zeros(len(self.experts), dtype=np.uint8)
        left = self.budget - sum(self.costs) / REST
        order = np.argsort(-weights, kind="stable").tolist()
        stay = [order[0]]
        if isinstance(self.vote, MeanVote) and True in self.raw:
            stay.append(self.raw.index(True))
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

    def _winners(self, answers):
        """What is predicted: class numbers, or targets."""
        if isinstance(self.vote, MeanVote):
            return answers[:, 0]
        return (answers[:, 0] > 0).astype(float) if answers.shape[1] == 1 \
            else answers.argmax(axis=1).astype(float)

    def scaled(self, X, weight=None, learns=False):
        """Rows in units of their deviations, float32; the moments learn them first if `learns`."""
        sparse = not isinstance(X, np.ndarray)
        stored = X.indptr[X.shape[0]] if sparse else 0
        values = np.empty_like(X.data[:stored] if sparse else X)
        if not learns:
            self.moments.transform(X, values, limit=self.limit)
        else:
            self.moments.learn(X, weight, self.forgetting, out=values, limit=self.limit)
        values = values.astype(np.float32, copy=False)
        if not sparse:
            return values
        return sp.csr_matrix((values, X.indices[:stored], X.indptr), shape=X.shape)

    def scores(self, X, double[:, ::1] out):
        """Answers to samples; several threads may call this at once."""
        with self.reading():
            self.score_rows(X, out)

    def score_rows(self, X, double[:, ::1] out, Py_ssize_t first=0, last=None):
        """`scores` of rows first ... last - 1 (None: all), in a thread that is `reading`."""
        if out.shape[0] != X.shape[0] or out.shape[1] != self.head.n_outputs:
            raise ValueError(f"out must have shape {(X.shape[0], self.head.n_outputs)}, got "
                             f"{(out.shape[0], out.shape[1])}")
        last = X.shape[0] if last is None else integer_within("last", last, 0, X.shape[0])
        integer_within("first", first, 0, last)
        for first in range(first, last, MOST_ROWS):
            part = self._form(rows_at(X, slice(first, min(first + MOST_ROWS, last))))
            Z = self.scaled(part)
            found = np.zeros((len(self.experts), part.shape[0], self.head.n_outputs))
            for k in np.flatnonzero(self.voting):
                self.experts[k].scores(part if self.raw[k] else Z, found[k])
            self.vote.combine(found, self.voting, out[first:first + part.shape[0]])

    def work(self, n):
        """What it costs to score n samples, in kernel values of some 16 features."""
        return sum(expert.work(n) for expert in self.experts)

    def score_one(self, x):
        """Answer to one dense sample: a float, or an ndarray of shape (n_outputs,)."""
        out = np.empty((1, self.head.n_outputs))
        self.scores(self._row_of(x), out)
        return float(out[0, 0]) if self.head.n_outputs == 1 else out[0]

    def _row_of(self, x):
        """One sample, dense or sparse, as a matrix of one row."""
        cdef Rows rows
        cdef ok_sparse_row stored
        size = self.dtype.itemsize
        _alive = row_of(x, self.d, size, False, &rows)
        if not is_sparse(&rows):
            return copied(rows.values, self.d * size, self.dtype).reshape(1, -1)
        stored = sparse_row(&rows, 0)
        values = copied(<const char *> stored.values, stored.count * size, self.dtype)
        columns = copied(<const char *> stored.columns, stored.count * sizeof(int32_t), np.int32)
        row = sp.csr_matrix((values, columns, [0, stored.count]), shape=(1, self.d))
        return row

    def _form(self, X):
        """Samples in the layout that the moments and the experts know."""
        if isinstance(X, np.ndarray):
            return X if self.moments.centred else sp.csr_matrix(X)
        return X.toarray() if self.moments.centred else X

    def _progress(self):
        """What changes along the stream, but for the experts, the vote and the moments."""
        return (self.n_seen, self.noted, self.alarm, self.stride, self.voting, self.learnt,
                self.history)

    def _set_progress(self, progress):
        (self.n_seen, self.noted, self.alarm, self.stride, self.voting, self.learnt,
         self.history) = progress

    def grown(self, experts, Head head not None):
        """A race that goes on with experts of more outputs, and shares all else with this one."""
        vote = type(self.vote)(self.vote.links, head.n_outputs, self.vote.decay,
                               self.vote.sharpness)
        vote.set_state(self.vote.get_state())
        arguments = (experts, self.costs, vote, self.moments, head, self.dtype, self.budget,
                     self.limit, self.forgetting)
        return restore(arguments, self._progress())

    def _begin(self):
        """Remember the race as it is, for a call that fails."""
        self.calibration = None
        if self.recent is not None:
            self.recent.checkpoint()
        # By their calls it is known who has learnt: Ctrl-C may arrive right after one of them.
        begun = [learner.calls for learner in (*self.experts, self.moments)]
        self.begun, self.saved = begun, (self._progress(), self.vote.get_state())
        self.calls += 1

    def _rollback(self):
        for learner, calls in zip((*self.experts, self.moments), self.begun):
            if learner.calls != calls:
                learner.undo()
        self.begun = [learner.calls for learner in (*self.experts, self.moments)]
        progress, state = self.saved
        self._set_progress(progress)
        self.vote.set_state(state)
        self.calibration = None
        if self.recent is not None:
            self.recent.rollback()

    def undo(self):
        """Return to the race before the last call of `learn` or `learn_one`."""
        with self.writing():
            self._rollback()

    def __reduce__(self):
        with self.reading():
            arguments = (self.experts, self.costs, self.vote, self.moments, self.head, self.dtype,
                         self.budget, self.limit, self.forgetting)
            return restore, (frozen(arguments, {}), tuple(self._progress()),
                             frozen(self.recent, {}))

    def __copy__(self):
        return copy.deepcopy(self)

    def __getstate__(self):
        refuse_attributes(self)


cdef object copied(const char *values, Py_ssize_t count, dtype):
    """An array of its own of so many bytes."""
    return np.frombuffer(values[:count], dtype=dtype).copy()


def restore(arguments, progress, recent=None):
    """A race of these parts that goes on from there; without recent scores there are none yet."""
    cdef Race race = Race(*items_of(arguments, "arguments of a race", 9))
    race._set_progress(items_of(progress, "progress of a race", 7))
    if recent is not None:
        check_kind(recent, "recent", RecentScores)
        if (recent.n_outputs, recent.n_labels) != (race.head.n_outputs, race.head.n_labels):
            raise ValueError("the recent scores of a race must be those of its classes")
        race.recent = recent
    return race
