"""Composed: the base class of `Model`, without learning: components, locks, counters and scores.

`Model`, in the stream loop, adds learning.
"""
from libc.stdlib cimport free

import copy
from numbers import Real

import numpy as np

from onlinekern.core.base.part cimport (
    Component, NO_MEMORY, OK, OVERFLOWED, RAISED, Status)
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.state cimport (
    MOST_FEATURES, check_kind, check_width, count_of, finite_number, float_dtype, integer_within,
    positive_number, shown,
)
from onlinekern.core.base.lock cimport Access, Reading, Lock, Writing, claim
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.learning.rules cimport Rule, solves_hinge
from onlinekern.core.learning.sampling cimport Sampler
from onlinekern.core.learning.targets cimport in_units_each, new_targets
from onlinekern.core.models.space cimport Space, raised_by_signals
from onlinekern.core.samples.rows cimport Rows, Samples, row_of, samples_of

from onlinekern.core.base.part import components_of, frozen, refuse_attributes


def diverged(what):
    """The exception for a call in which a number is not finite."""
    return FloatingPointError(f"{what}: the learner diverges; use a smaller step size, stronger "
                              "regularisation, scaled features or smaller sample weights")


cdef class Composed:
    """A model composed of parts, which scores samples.

    Parameters
    ----------
    space : Space
    head : Head
    rule : Rule
    sampler : Sampler
    rng : Generator
    d : int
        Features of a sample.
    dtype : numpy.float32 or numpy.float64
        The dtype of the samples.

    Raises
    ------
    TypeError
        For a component of an abstract class, or of a Python class with methods that the loop would
        never call.
    """

    def __cinit__(self, Space space not None, Head head not None, Rule rule not None,
                  Sampler sampler not None, Generator rng not None, Py_ssize_t d, dtype):
        self.lock = Lock()
        self.access = Access()
        self.space = space
        self.head = head
        self.present_rule = rule
        self.present_sampler = sampler
        self.rng = rng
        self.d = integer_within("d", d, 1, MOST_FEATURES)
        self.itemsize = float_dtype(dtype).itemsize
        self.targets = new_targets(head.n_targets, head.target_forgetting)
        self.watch()
        self.check_space()
        self.window_of_one = space.new_window(1)
        if head.n_labels > 0:
            self.recent = RecentScores(head.n_outputs, head.n_labels)

    def __dealloc__(self):
        free(self.targets)

    cdef int check_space(self) except -1:
        """Raise ValueError if the space does not fit the head or the samples."""
        form = self.space.sample_form()
        if self.space.n_outputs != self.head.n_outputs or self.head.n_outputs < 1:
            raise ValueError(f"the head has {self.head.n_outputs} outputs and the space has "
                             f"{self.space.n_outputs}; both must have the same, at least 1")
        if not self.space.takes_targets(self.head.n_targets):
            raise ValueError(f"the space is none for samples of {self.head.n_targets} targets")
        if form is not None and (form[0] != self.d or form[1] not in (self.itemsize, None)):
            raise ValueError(
                f"the space must be one for samples of d={self.d} features of {self.itemsize} "
                f"bytes, got one for {form[0]} features of {form[1]} bytes")
        return 0

    cdef int watch(self) except -1:
        """Check the components, and store their constant properties for the loop.

        `watched` are components that may fail: those of users, and a few of the library.
        """
        components = components_of(self.space, self.head, self.present_rule, self.present_sampler)
        watched = [component for component in components if isinstance(component, Component)
                   and (not type(component).__module__.startswith("onlinekern.core.")
                        or getattr(type(component), "calls_python", False))]
        self.watched = tuple(watched) or None
        self.single, self.signs = self.head.is_single(), self.head.n_labels > 0
        self.shrinks, self.observes = self.present_rule.shrinks_ever(), self.space.observes()
        self.plain = self.single and self.present_sampler.always and not self.observes \
            and not self.targets.standardized
        self.hinged = solves_hinge(self.present_rule)
        return 0

    @property
    def rule(self):
        """The update rule. It may be replaced between calls, to change parameters in mid-stream."""
        return self.present_rule

    @rule.setter
    def rule(self, Rule rule not None):
        components_of(rule)
        with self.writing():
            self.present_rule = rule
            self.watch()

    @property
    def sampler(self):
        """The sampler. It may be replaced between calls."""
        return self.present_sampler

    @sampler.setter
    def sampler(self, Sampler sampler not None):
        components_of(sampler)
        with self.writing():
            self.present_sampler = sampler
            self.watch()

    @property
    def n_seen(self):
        """Samples learnt, those of weight 0 not counted."""
        return self.counters.seen

    @property
    def n_mistakes(self):
        """Samples that were predicted wrongly, before they were learnt."""
        return self.counters.mistakes

    @property
    def cumulative_loss(self):
        """Sum of weight times loss of the samples, each measured before it was learnt."""
        return self.counters.loss

    def resume_counts(self, seen, mistakes, loss):
        """Set the counts: two integers >= 0, and a number."""
        seen, mistakes = count_of("seen", seen), count_of("mistakes", mistakes)
        if not isinstance(loss, Real) or loss != loss:
            raise ValueError(f"loss must be a number, got {shown(loss)}")
        self.counters.seen, self.counters.mistakes, self.counters.loss = seen, mistakes, loss

    cdef int take_recent(self, object recent) except -1:
        """Take over recent scores, which must have the outputs and classes of this model."""
        check_kind(recent, "recent", RecentScores)
        cdef RecentScores given = recent
        if self.recent is None or (given.n_outputs, given.n_labels) != (
                self.recent.n_outputs, self.recent.n_labels):
            raise ValueError(f"recent scores of {given.n_outputs} outputs and {given.n_labels} "
                             "classes are not those of this model")
        self.recent = given
        return 0

    @property
    def dtype(self):
        """The dtype of the samples."""
        return np.dtype(np.float32 if self.itemsize == 4 else np.float64)

    @property
    def target_mean(self):
        """Mean that standardises the target: prediction = target_mean + target_scale * score.

        It is 0 without standardisation. Several targets: an ndarray of shape (n_targets,).
        """
        cdef Py_ssize_t k, n = self.head.n_targets
        return self.targets.mean if n == 1 else np.array([self.targets[k].mean for k in range(n)])

    @property
    def target_scale(self):
        """Scale that standardises the target; 1 without standardisation.

        Several targets: an ndarray of shape (n_targets,).
        """
        cdef Py_ssize_t k, n = self.head.n_targets
        return self.targets.scale if n == 1 else np.array([self.targets[k].scale for k in range(n)])

    def fix_targets(self, mean, scale):
        """Standardise the target by this mean and scale, which later targets do not change."""
        if self.head.n_targets > 1:
            raise ValueError(f"a model of {self.head.n_targets} targets cannot fix their scale")
        mean = finite_number("mean", mean)
        scale = positive_number("scale", scale)
        with self.writing():
            self.targets.mean, self.targets.scale, self.targets.fixed = mean, scale, True

    def share_lock_with(self, Lock lock not None):
        """Use this lock from now on; no thread may be learning."""
        self.lock = lock

    def writing(self):
        """A context in which this thread alone uses the model."""
        return Writing(self.lock, self.access)

    def reading(self):
        """A context in which no thread changes the model."""
        return Reading(self.access)

    def score_one(self, x):
        """Score of one dense sample: a float, or an ndarray of shape (n_outputs,)."""
        cdef Rows rows
        cdef double score
        cdef double[::1] scores
        _alive = self.only_row(x, &rows)
        if self.head.n_outputs == 1:
            self.score_row(&rows, &score)
            return score
        scores = np.empty(self.head.n_outputs)
        self.score_row(&rows, &scores[0])
        return np.asarray(scores)

    cdef object only_row(self, x, Rows *rows):
        """Point at one sample; returns the object that must live as long as `rows` is used."""
        alive = row_of(x, self.d, self.itemsize, self.space.stored_sparse(), rows,
                       self.space.takes_missing())
        self.space.check_row(rows)
        return alive

    cdef int score_row(self, const Rows *rows, double *out) except -1:
        """Write the n_outputs scores of a single checked row."""
        self.access.begin_reading()
        # Without a GIL, another thread may be using `window_of_one`.
        own = not claim(&self.one_is_scored)
        try:
            window = self.space.new_window(1) if own else self.window_of_one
            self.check_scored(self.space.score(window, rows, 0, 1, out), 1)
            if self.targets.standardized:
                in_units_each(self.targets, self.head.n_targets, out)
        finally:
            if not own:
                self.one_is_scored = False
            self.access.end_reading()
        return 0

    def scores(self, X, double[:, ::1] out):
        """Scores of samples; several threads may call this at once.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        out : ndarray of shape (n, n_outputs)
            Overwritten.
        """
        cdef Samples samples
        if X.shape[0] == 1 and out.shape[0] == 1:
            # `score_row` reuses the window of one row.
            samples = samples_of(X, self.dtype)
            check_width("X", samples.rows.d, self.d)
            check_width("out", out.shape[1], self.head.n_outputs)
            self.score_row(&samples.rows, &out[0, 0])
            return
        with self.reading():
            self.score_rows(X, out)

    def score_rows(self, X, double[:, ::1] out, Py_ssize_t first=0, last=None):
        """`scores` of rows first ... last - 1 (None: all), in a thread that is `reading`.

        Several threads may write their rows of the same `out`: nothing is copied.
        """
        cdef Samples samples = samples_of(X, self.dtype)
        cdef Py_ssize_t i, width, begin = first, end = samples.rows.n
        cdef Status status = OK
        check_width("X", samples.rows.d, self.d)
        if out.shape[0] != end or out.shape[1] != self.head.n_outputs:
            raise ValueError(f"out must have shape {(end, self.head.n_outputs)}, got "
                             f"{(out.shape[0], out.shape[1])}")
        if last is not None:
            end = integer_within("last", last, 0, end)
        integer_within("first", first, 0, end)
        window = self.space.new_window(max(self.space.scored_together(end - first), 1))
        with nogil:
            while first < end and status == OK:
                width = self.space.scored_together(end - first)
                status = self.space.score(window, &samples.rows, first, width,
                                          &out[first, 0])
                first += width
            for i in range(begin, end if self.targets.standardized else 0):
                in_units_each(self.targets, self.head.n_targets, &out[i, 0])
        self.check_scored(status, end - begin)

    def work(self, Py_ssize_t n):
        """Cost of scoring n samples, in units of a kernel value of about 16 features."""
        return n * (1 + self.space.size())

    cdef int check_scored(self, Status status, Py_ssize_t n) except -1:
        """Raise if n samples could not be scored."""
        self.check_defined()
        if status != OK:
            raise MemoryError(f"no memory to score {n} samples")
        return 0

    cdef int check_defined(self) except -1:
        """Raise NotImplementedError if the loop called a method that a component's class lacks."""
        cdef Component component
        for component in self.watched or ():
            component.check_defined()
        return 0

    def __copy__(self):
        return copy.deepcopy(self)

    def __getstate__(self):
        refuse_attributes(self)

    cdef int check_finite(self) except -1:
        """Raise FloatingPointError if the space contains a number that is not finite.

        The test copies the space, because copying refuses the same states as saving. It is slow, so
        it is done only after an overflow, which a rejected sample may also have caused.
        """
        try:
            copy.deepcopy(frozen(self.space, {}))
        except ValueError as error:
            raise diverged(f"what was learnt is not finite ({error})") from error
        return 0

    cdef bint interrupted(self) noexcept nogil:
        """Whether a signal handler raised; its exception is kept for `conclude`."""
        with gil:
            self.interruption = raised_by_signals()
            return self.interruption is not None

    cdef void rollback(self):
        """Return to the checkpoint before the last call. Subclasses that learn override it."""

    cdef int conclude(self, Status status, Py_ssize_t reached) except -1:
        """Undo the call and raise an error, if it failed or called an undefined method."""
        try:
            self.check_defined()
            if status == OVERFLOWED:
                self.check_finite()
            elif status == NO_MEMORY:
                raise MemoryError(f"no memory to learn sample {reached}")
            elif status == RAISED:
                interruption = self.interruption or self.space.interruption
                self.interruption = self.space.interruption = None
                raise interruption
            elif status != OK:
                raise diverged(f"the score or the step of sample {reached} is not finite")
        except BaseException:
            self.rollback()
            raise
        return 0
