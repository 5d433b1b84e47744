"""RenewedRace: a race that begins anew beside itself when its losses grow.

An alarm starts a trial (`learning.trials`). A new race, the rival, learns from the next sample on.
During the trial both races learn all samples, and the one with fewer errors predicts. This object
holds the experts, the vote and the moments of that race; they are exchanged with those of the rival
when the other one becomes better. The rival is deleted at the end of the trial. `learning.lesson`
walks through the rows of a call.
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
        """A new copy of the race before its first sample."""
        return copy.deepcopy(self.beginning)

    def next_calls_blas(self):
        """Whether the next sample may call BLAS."""
        return super().next_calls_blas() or (
            self.rival is not None and self.rival.next_calls_blas())

    cdef int exchange(self, Race other) except -1:
        """Exchange all that two races have learnt."""
        own = contents_of(self)
        set_contents(self, contents_of(other))
        return set_contents(other, own)

    cdef int begin_trial(self, int64_t number) except -1:
        """Make a rival that learns from the sample after this one on."""
        cdef Race rival = self.blank
        rival.n_seen = rival.began = number
        rival.stride, rival.n_threads = self.stride, self.n_threads
        # Reports show the weights of the experts along the whole stream.
        rival.history = [mark for mark in self.history if mark[0] <= number]
        rival._begin()
        self.rival = rival
        return self.trials.begin(number)

    def resume_counts(self, seen, mistakes, loss):
        """Set the counts (two integers >= 0, and a number), and end a trial."""
        self.end_trial()
        super().resume_counts(seen, mistakes, loss)

    def resume_alarms(self, alarms):
        """Set the alarms: a tuple of numbers of samples, integers >= 0."""
        self.trials.alarms = tuple(count_of("an alarm", number) for number in alarms)

    cdef int end_trial(self) except -1:
        """Delete the rival, if there is one."""
        self.trials.end()
        self.rival = None
        return 0

    cdef int learn_alone(self, const Rows *rows, double y, double weight, double *answer,
                         bint noted) except -1:
        """Learn the single row of a call that has begun; the rival learns it too."""
        cdef _RaceLesson lesson
        if self.rival is not None and noted:
            lesson = _RaceLesson(self, 1)
            lesson.rows, lesson.y, lesson.weights, lesson.answers = rows, &y, &weight, answer
            return self.take(lesson)
        Race.learn_alone(self, rows, y, weight, answer, noted)
        if not noted:
            # In a further epoch the row is known: errors do not say which race is better.
            return self.end_trial()
        if weight > 0 and self.trials.see(self.vote.loss(answer, y), weight):
            self.begin_trial(self.n_seen)
        return 0

    def _learn_part(self, X, const double[::1] y, const double[::1] weight, window,
                    double[:, ::1] answers, noted):
        """Learn rows of a call that has begun; the rival learns them too."""
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
        lesson.answers_array = np.asarray(answers)
        if weight is not None:
            lesson.counts, lesson.weights = np.asarray(weight), &weight[0]
        self.take(lesson)

    cdef int take(self, Lesson lesson) except -1:
        """Learn the rows of a lesson."""
        lesson.learn(self.n_seen)
        return self.settle()

    cdef int64_t before_thinning(self):
        """Number of samples until the next one would make `_choose` delete every second mark.

        A piece ends before that sample: a rival copies the marks up to the sample it begins after.
        """
        left = (MOST_MARKS + 1 - len(self.history)) * self.stride
        return max(0, left - 1 - self.age() % self.stride)

    cdef int settle(self) except -1:
        """Give the predicting race the counts of the predictions that were output, the rival 0."""
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
        """This race with other outputs. `grow` is called for it, its rival and the blank race."""
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
    cdef const Rows *rows         # a single row; NULL: X contains the rows
    cdef object X, goals, counts, window
    cdef const double *y
    cdef double *answers          # scores of the race; those of the better race at the end
    cdef object answers_array     # the same as an array
    cdef double *rival_scores     # scores of the rival; NULL before it learns
    cdef object rival_array       # the same as an array

    def __cinit__(self, RenewedRace race, Py_ssize_t n):
        self.race, self.trials, self.n = race, race.trials, n

    cdef Py_ssize_t piece(self) except -1:
        return self.race.before_thinning() or self.n

    cdef int teach(self, bint rival, Py_ssize_t first, Py_ssize_t last) except -1:
        cdef Race race = self.race.rival if rival else self.race
        cdef double[:, ::1] rival_scores
        part = slice(first, last)
        if rival:
            race.n_threads = self.race.n_threads
            if self.rival_array is None:
                self.rival_array = rival_scores = np.empty((self.n, self.race.head.n_outputs))
                self.rival_scores = &rival_scores[0, 0]
        if self.rows:
            return Race.learn_alone(race, self.rows, self.y[0], self.weight(0),
                                    self.rival_scores if rival else self.answers, True)
        Race._learn_part(race, self.X if last - first == self.n else rows_at(self.X, part),
                         self.goals[part], None if self.counts is None else self.counts[part],
                         self.window, (self.rival_array if rival else self.answers_array)[part],
                         True)
        return 0

    cdef double loss(self, bint rival, Py_ssize_t row) noexcept:
        cdef const double *answers = self.rival_scores if rival else self.answers
        return self.race.vote.loss(answers + row * self.race.head.n_outputs, self.y[row])

    cdef int give(self, bint rival, Py_ssize_t row) except -1:
        cdef Py_ssize_t k, size = self.race.head.n_outputs
        cdef double *answer = self.answers + row * size
        cdef double loss, weight = self.weight(row)
        for k in range(size if rival else 0):
            answer[k] = self.rival_scores[row * size + k]
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
    """All that a race has learnt, and its checkpoint; None if there is no race."""
    if race is None:
        return None
    return (race.experts, race.vote, race.moments, race.twins, race.recent, race.begun, race.saved,
            race._progress())


cdef int set_contents(Race race, tuple contents) except -1:
    """Give a race these contents; does nothing if there is no race."""
    if race is not None:
        (race.experts, race.vote, race.moments, race.twins, race.recent, race.begun, race.saved,
         progress) = contents
        race._set_progress(progress)
        race.calibration = None
    return 0


cdef Race filled(type kind, Race race):
    """A race of this class with the parts and contents of another race."""
    cdef Race own = kind(*race.arguments())
    set_contents(own, contents_of(race))
    return own


def renewed(race):
    """Make a race that begins anew at alarms. The given one must be new, and is not used again."""
    check_kind(race, "race", Race)
    return restore(race, race, None, Trials(isinstance(race.vote, MeanVote)))


def restore(race, blank, rival, trials):
    """Make a race that begins anew at alarms out of the parts that were saved."""
    check_kind(trials, "trials", Trials)
    for name, part in (("race", race), ("blank", blank), ("rival", rival)):
        if part is not None or name != "rival":
            check_kind(part, name, Race)
            if form_of(part) != form_of(race):
                raise ValueError(f"the {name} of a race must have as many experts, features and "
                                 "outputs")
    cdef RenewedRace own = filled(RenewedRace, race)
    # Freezing a race takes a tenth of the time of making one.
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
    """Parts and sizes that must be equal in a race and its rival."""
    return (race.d, race.moments.centred, race.costs, race.raw, race.head, race.dtype, race.layout,
            type(race.vote))
