"""RenewedRace: a race that begins anew beside itself when its losses grow.

At an alarm a race that has learnt nothing begins, the rival, with the next sample. As long as the
trial lasts (`learning.trials`) both learn all samples, and the one that errs less answers: it is
what this object is then, its experts, its vote and its moments, and the other one is the rival. At
the end of the trial the rival goes.

In a block, the race learns all rows before its losses are looked at. A rival that stays has not
seen those behind the end of its trial, and learns them then; a piece of a call is so short that
little has been learnt for nothing.
"""
import copy
import numpy as np

from libc.stdint cimport int64_t

from onlinekern.core.base.state cimport check_kind
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.vote cimport MeanVote
from onlinekern.core.race cimport MOST_MARKS
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.base.part import frozen
from onlinekern.core.samples.rows import rows_at

# Rows of a call that are learnt before the losses are looked at.
cdef Py_ssize_t PIECE = 4096


cdef class RenewedRace(Race):
    """A race that begins anew, with the arguments of a `Race`; `renewed` makes one."""

    def next_calls_blas(self):
        """Whether the next sample may call BLAS."""
        return super().next_calls_blas() or (
            self.rival is not None and self.rival.next_calls_blas())

    cdef int exchange(self, Race other) except -1:
        """Let two races have what the other one had."""
        own = contents_of(self)
        set_contents(self, contents_of(other))
        return set_contents(other, own)

    cdef int begin_trial(self, int64_t number) except -1:
        """Let a rival begin behind a sample."""
        cdef Race rival = copy.deepcopy(self.blank)
        rival.n_seen = rival.began = number
        rival.stride, rival.n_threads = self.stride, self.n_threads
        # Reports tell who led along the whole stream.
        rival.history = [mark for mark in self.history if mark[0] <= number]
        rival._begin()
        self.rival = rival
        return self.trials.begin(number)

    def resume_counts(self, seen, mistakes, loss):
        """Go on from these counts: two integers >= 0, and a number. A trial ends."""
        self.end_trial()
        super().resume_counts(seen, mistakes, loss)

    cdef int end_trial(self) except -1:
        """Let the rival go, if there is one."""
        self.trials.end()
        self.rival = None
        return 0

    cdef int learn_alone(self, const Rows *rows, double y, double weight, double *answer,
                         bint noted) except -1:
        """`Race.learn_alone`, and what `_learn_part` does with its answer."""
        cdef Py_ssize_t k, size = self.head.n_outputs
        cdef double[:, ::1] told
        if not noted:
            self.end_trial()
            return Race.learn_alone(self, rows, y, weight, answer, noted)
        if self.rival is None:
            Race.learn_alone(self, rows, y, weight, answer, noted)
            self.watch(&y, &weight, answer, 1, self.n_seen - (weight > 0))
            return 0
        told = np.empty((2, size))
        Race.learn_alone(self, rows, y, weight, &told[0, 0], noted)
        self.rival.learn_alone(rows, y, weight, &told[1, 0], noted)
        self.compare(&y, &weight, &told[0, 0], &told[1, 0], 1, self.n_seen)
        self.settle()
        for k in range(size):
            answer[k] = told[0, k]
        return 0

    def _learn_part(self, X, y, weight, window, answers, noted):
        """Learn rows of a call that has begun, and so does the rival."""
        cdef Py_ssize_t first = 0, ahead = 0, last, n = len(y)
        cdef const double[::1] goals = y, counts = np.ones(n) if weight is None else weight
        cdef double[:, ::1] found = answers, told
        if not noted:
            # What has been learnt before does not tell who errs less.
            self.end_trial()
            Race._learn_part(self, X, y, weight, window, answers, noted)
            return
        # Samples before each row.
        seen = self.n_seen + np.concatenate([[0], np.cumsum(np.asarray(counts) > 0)])

        def teach(Race race, first, last, out):
            part = slice(first, last)
            Race._learn_part(race, X if last - first == n else rows_at(X, part), y[part],
                             None if weight is None else weight[part], window, out, noted)

        while first < n:
            if ahead == first:
                ahead = min(n, first + min(PIECE, self.before_thinning() or PIECE))
                teach(self, first, ahead, answers[first:ahead])
            if self.rival is None:
                first += self.watch(&goals[first], &counts[first], &found[first, 0], ahead - first,
                                    seen[first])
                continue
            left = np.searchsorted(seen[first + 1:ahead], seen[first] + self.trials.left)
            last = first + left + 1
            told = np.empty((last - first, self.head.n_outputs))
            self.rival.n_threads = self.n_threads
            teach(self.rival, first, last, np.asarray(told))
            if self.compare(&goals[first], &counts[first], &found[first, 0], &told[0, 0],
                            last - first, seen[last]):
                ahead = last
            first = last
        self.settle()

    cdef int64_t before_thinning(self):
        """Samples before the one with which every second mark of the history goes.

        A piece ends there: a rival takes over the marks of the sample that it begins behind.
        """
        left = (MOST_MARKS + 1 - len(self.history)) * self.stride
        return max(0, left - 1 - self.age() % self.stride)

    cdef int settle(self) except -1:
        """Let whoever answers have the counts of the answers given, and the rival none."""
        self.vote.resume_counts(self.mistakes, self.total)
        if self.rival is not None:
            self.rival.vote.resume_counts(0, 0.0)
        return 0

    cdef Py_ssize_t watch(self, const double *y, const double *counts, const double *answers,
                          Py_ssize_t n, int64_t seen) except -1:
        """See the losses of n rows behind `seen` samples. Returns how many, up to an alarm."""
        cdef Py_ssize_t i
        cdef double loss
        for i in range(n):
            if counts[i] > 0:
                seen += 1
                loss = self.vote.loss(answers + i * self.head.n_outputs, y[i])
                self.count(loss, counts[i])
                if self.trials.see(loss, counts[i]):
                    self.begin_trial(seen)
                    return i + 1
        return n

    cdef bint compare(self, const double *y, const double *counts, double *answers, double *told,
                      Py_ssize_t n, int64_t seen) except -1:
        """Take those answers to n rows, or what the rival told, that err less.

        Both have learnt the rows, and `seen` samples with them; what does not answer is overwritten
        with what does. Returns whether another one answers behind them.
        """
        cdef Py_ssize_t i, k
        cdef bint others = False
        cdef double own, rival
        cdef double *best
        for i in range(n):
            best = told if others else answers
            if counts[i] > 0:
                own, rival = self.vote.loss(answers, y[i]), self.rival.vote.loss(told, y[i])
                if others:
                    own, rival = rival, own
                self.count(own, counts[i])
                self.trials.see(own, counts[i])
                others ^= self.trials.goes_to_rival(counts[i] * own, counts[i] * rival)
            for k in range(self.head.n_outputs):
                answers[k] = best[k]
            answers += self.head.n_outputs
            told += self.head.n_outputs
        if others:
            self.exchange(self.rival)
        if self.trials.now.left == 0:
            self.rival = None
            if self.trials.now.due:
                self.begin_trial(seen)
        return others

    cdef void count(self, double loss, double weight) noexcept:
        """Take up the loss of an answer that was given."""
        self.total += weight * loss
        self.mistakes += loss != 0 and not self.trials.of_targets

    def _begin(self):
        if self.rival is not None:
            self.rival._begin()
        super()._begin()
        self.trials.checkpoint()
        self.mistakes, self.total = self.vote.n_mistakes, self.vote.total
        self.before = self.rival, contents_of(self), contents_of(self.rival)

    def _rollback(self):
        if self.before is not None:
            self.rival, own, other = self.before
            set_contents(self, own)
            set_contents(self.rival, other)
        super()._rollback()
        if self.rival is not None:
            self.rival._rollback()
        self.trials.rollback()
        self.before = self.rival, contents_of(self), contents_of(self.rival)

    def grown(self, grow, Head head not None):
        """A race that goes on with experts of more outputs, and so do its rivals."""
        rival = None if self.rival is None else self.rival.grown(grow, head)
        return restore(super().grown(grow, head), self.blank.grown(grow, head), rival, self.trials)

    def __reduce__(self):
        with self.reading():
            parts = filled(Race, self), self.blank, self.rival, self.trials
            return restore, frozen(parts, {})


cdef tuple contents_of(Race race):
    """What a race has learnt, and what it returns to if a call fails; None of no race."""
    if race is None:
        return None
    return (race.experts, race.vote, race.moments, race.twins, race.recent, race.begun, race.saved,
            race._progress())


cdef int set_contents(Race race, tuple contents) except -1:
    """Let a race have that; None is for none."""
    if race is not None:
        (race.experts, race.vote, race.moments, race.twins, race.recent, race.begun, race.saved,
         progress) = contents
        race._set_progress(progress)
        race.calibration = None
    return 0


cdef Race filled(type kind, Race race):
    """A race of this class that has what another one has."""
    cdef Race own = kind(*race.arguments())
    set_contents(own, contents_of(race))
    return own


def renewed(race):
    """A race that begins anew at alarms, of one that has learnt nothing and is not used any more.
    """
    check_kind(race, "race", Race)
    return restore(race, copy.deepcopy(race), None, Trials(isinstance(race.vote, MeanVote)))


def restore(race, blank, rival, trials):
    """A race that begins anew at alarms, as these parts say, and is what the first one is."""
    check_kind(trials, "trials", Trials)
    for name, part in (("race", race), ("blank", blank), ("rival", rival)):
        if part is not None or name != "rival":
            check_kind(part, name, Race)
            if form_of(part) != form_of(race):
                raise ValueError(f"the {name} of a race must have as many experts, features and "
                                 "outputs")
    cdef RenewedRace own = filled(RenewedRace, race)
    own.blank, own.rival, own.trials = blank, rival, trials
    if rival is not None and rival.n_seen != race.n_seen:
        raise ValueError(f"the rival of a race has seen {rival.n_seen} samples, the race "
                         f"{race.n_seen}")
    if own.trials.of_targets != isinstance(own.vote, MeanVote) \
            or (rival is not None) != (own.trials.left > 0):
        raise ValueError("trials must be of the labels or targets of the race, and last as long as "
                         "there is a rival")
    return own


cdef tuple form_of(Race race):
    """What a race and its rivals have in common."""
    return (race.d, race.moments.centred, race.costs, race.raw, race.head, race.dtype, race.layout,
            type(race.vote))
