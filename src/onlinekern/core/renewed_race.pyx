"""RenewedRace: a race that begins anew beside itself when its losses grow.

At an alarm a race that has learnt nothing begins, the rival, with the next sample. As long as the
trial lasts (`learning.trials`) both learn all samples, and the one that errs less answers: it is
what this object is then, its experts, its vote and its moments, and the other one is the rival. At
the end of the trial the rival goes. `learning.lesson` goes through the rows of a call.
"""
import copy
import numpy as np

from libc.stdint cimport int64_t

from onlinekern.core.base.state cimport check_kind, count_of
from onlinekern.core.learning.lesson cimport Lesson
from onlinekern.core.learning.vote cimport MeanVote
from onlinekern.core.race cimport MOST_MARKS
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.base.part import frozen
from onlinekern.core.samples.rows import rows_at


cdef class RenewedRace(Race):
    """A race that begins anew, with the arguments of a `Race`; `renewed` makes one."""

    @property
    def blank(self):
        """A race that has learnt nothing, as this one began; another one each time."""
        return copy.deepcopy(self.beginning)

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
        cdef Race rival = self.blank
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

    def resume_alarms(self, alarms):
        """Let alarms have been raised behind these numbers of samples, a tuple of integers >= 0."""
        self.trials.alarms = tuple(count_of("an alarm", number) for number in alarms)

    cdef int end_trial(self) except -1:
        """Let the rival go, if there is one."""
        self.trials.end()
        self.rival = None
        return 0

    cdef int learn_alone(self, const Rows *rows, double y, double weight, double *answer,
                         bint noted) except -1:
        """`Race.learn_alone`, and what `_learn_part` does with its answer."""
        cdef _RaceLesson lesson
        if self.rival is not None and noted:
            lesson = _RaceLesson(self, 1)
            lesson.rows, lesson.y, lesson.weights, lesson.answers = rows, &y, &weight, answer
            return self.take(lesson)
        Race.learn_alone(self, rows, y, weight, answer, noted)
        if not noted:
            # What has been learnt before does not tell who errs less.
            return self.end_trial()
        if weight > 0 and self.trials.see(self.vote.loss(answer, y), weight):
            self.begin_trial(self.n_seen)
        return 0

    def _learn_part(self, X, const double[::1] y, const double[::1] weight, window,
                    double[:, ::1] answers, noted):
        """Learn rows of a call that has begun, and so does the rival."""
        cdef _RaceLesson lesson
        if not noted or y.shape[0] == 0:
            if not noted:
                self.end_trial()
            Race._learn_part(self, X, np.asarray(y), None if weight is None else np.asarray(weight),
                             window, np.asarray(answers), noted)
            return
        lesson = _RaceLesson(self, y.shape[0])
        lesson.X, lesson.goals, lesson.window = X, np.asarray(y), window
        lesson.y, lesson.answers = &y[0], &answers[0, 0]
        lesson.places = np.asarray(answers)
        if weight is not None:
            lesson.counts, lesson.weights = np.asarray(weight), &weight[0]
        self.take(lesson)

    cdef int take(self, Lesson lesson) except -1:
        """Learn the rows of a lesson."""
        lesson.learn(self.n_seen)
        return self.settle()

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

    def grown(self, grow):
        """A race of other outputs that goes on from this one, and so do its rivals."""
        rival = None if self.rival is None else self.rival.grown(grow)
        return restore(super().grown(grow), self.blank.grown(grow), rival,
                       copy.deepcopy(self.trials))

    def __reduce__(self):
        with self.reading():
            parts = filled(Race, self), self.beginning, self.rival, self.trials
            return restore, frozen(parts, {})


cdef class _RaceLesson(Lesson):
    """Rows of a call, for a race and its rival."""

    cdef RenewedRace race
    cdef const Rows *rows         # an only row; NULL where X has the rows
    cdef object X, goals, counts, window
    cdef const double *y
    cdef double *answers          # what the race told, then what is given
    cdef object places            # the same as an array
    cdef double *told             # by the rival
    cdef object told_places

    def __cinit__(self, RenewedRace race, Py_ssize_t n):
        self.race, self.trials, self.n = race, race.trials, n

    cdef Py_ssize_t piece(self) except -1:
        return self.race.before_thinning() or self.n

    cdef int teach(self, bint rival, Py_ssize_t first, Py_ssize_t last) except -1:
        cdef Race race = self.race.rival if rival else self.race
        cdef double[:, ::1] told
        part = slice(first, last)
        if rival:
            race.n_threads = self.race.n_threads
            if self.told_places is None:
                self.told_places = told = np.empty((self.n, self.race.head.n_outputs))
                self.told = &told[0, 0]
        if self.rows:
            return Race.learn_alone(race, self.rows, self.y[0], self.weight(0),
                                    self.told if rival else self.answers, True)
        Race._learn_part(race, self.X if last - first == self.n else rows_at(self.X, part),
                         self.goals[part], None if self.counts is None else self.counts[part],
                         self.window, (self.told_places if rival else self.places)[part], True)
        return 0

    cdef double loss(self, bint rival, Py_ssize_t row) noexcept:
        cdef const double *answers = self.told if rival else self.answers
        return self.race.vote.loss(answers + row * self.race.head.n_outputs, self.y[row])

    cdef int give(self, bint rival, Py_ssize_t row) except -1:
        cdef Py_ssize_t k, size = self.race.head.n_outputs
        cdef double *answer = self.answers + row * size
        cdef double loss, weight = self.weight(row)
        for k in range(size if rival else 0):
            answer[k] = self.told[row * size + k]
        if weight > 0:
            loss = self.race.vote.loss(answer, self.y[row])
            self.race.total += weight * loss
            self.race.mistakes += loss != 0 and not self.trials.of_targets
        return 0

    cdef int begin(self, int64_t seen) except -1:
        return self.race.begin_trial(seen)

    cdef int exchange(self, int64_t seen) except -1:
        return self.race.exchange(self.race.rival)

    cdef int drop(self) except -1:
        self.race.rival = None
        return 0


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
    return restore(race, race, None, Trials(isinstance(race.vote, MeanVote)))


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
    # To freeze a race takes a tenth of what it takes to make one.
    own.beginning, own.rival, own.trials = frozen(blank, {}), rival, trials
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
