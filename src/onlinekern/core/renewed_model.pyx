"""RenewedModel: a model that begins anew beside itself when its losses grow.

An alarm starts a trial (`learning.trials`). A new model, the rival, learns from the next sample on.
During the trial both models learn all samples, and the one with fewer errors answers. This object
holds the space, the random numbers and the counters of the model that answers; they are exchanged
with those of the rival when the other one becomes better. The rival is deleted at the end of the
trial. `learning.lesson` walks through the rows of a call.

Each model counts samples from its own first one on, because its step sizes, renewals and recent
scores depend on this number. Mistakes and losses are those of the answers that were given. Alarms
come from mistakes, in regression from squared errors, which are summed over the targets.
"""
import copy

import numpy as np
from libc.stdint cimport int64_t

from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.state cimport check_kind, count_of
from onlinekern.core.learning.lesson cimport Lesson
from onlinekern.core.learning.order cimport Order
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.learning.targets cimport Targets, set_state, state_of
from onlinekern.core.learning.trials cimport Trials
from onlinekern.core.models.composed cimport MOST_ROWS, Counters
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows
from onlinekern.core.stream cimport Model

from onlinekern.core.base.part import frozen


cdef class RenewedModel(Model):
    """A model that begins anew, with the arguments of a `Model`; `renewed` makes one."""

    @property
    def n_seen(self):
        """Samples learnt, those of weight 0 not counted."""
        return self.began + self.counters.seen

    @property
    def blank(self):
        """A new copy of the model before its first sample."""
        return copy.deepcopy(self.beginning)

    cdef int exchange(self, Model other) except -1:
        """Exchange all that two models have learnt."""
        cdef Space space = self.space
        cdef Generator rng = self.rng
        cdef RecentScores recent = self.recent
        cdef Targets *targets = self.targets
        cdef Counters counters = self.counters, saved = self.saved
        cdef int64_t next_noted = self.next_noted
        cdef int k
        self.space, other.space = other.space, space
        self.rng, other.rng = other.rng, rng
        self.recent, other.recent = other.recent, recent
        self.window_of_one, other.window_of_one = other.window_of_one, self.window_of_one
        self.watched, other.watched = other.watched, self.watched
        self.targets, other.targets = other.targets, targets
        self.counters, other.counters = other.counters, counters
        self.saved, other.saved = other.saved, saved
        self.next_noted, other.next_noted = other.next_noted, next_noted
        for k in range(4):
            self.saved_rng[k], other.saved_rng[k] = other.saved_rng[k], self.saved_rng[k]
        self.calibration = other.calibration = None
        return 0

    cdef int begin_trial(self, int64_t number) except -1:
        """Make a rival that learns from the sample after this one on."""
        cdef Model rival = self.blank
        rival.checkpoint()
        self.rival, self.rival_is_new = rival, True
        return self.trials.begin(number)

    cdef int end_trial(self) except -1:
        """Delete the rival, if there is one."""
        self.trials.end()
        self.rival = None
        return 0

    def resume_counts(self, seen, mistakes, loss):
        """Set the counts (two integers >= 0, and a number), and end a trial."""
        self.end_trial()
        self.began = min(self.began, count_of("seen", seen))
        Model.resume_counts(self, seen - self.began, mistakes, loss)

    cdef int learn_rows(self, const Rows *rows, Order order, const double *y, const double *weight,
                        Py_ssize_t first, Py_ssize_t n, Py_ssize_t look_ahead, double *predictions,
                        double *scores, bint noted) except -1:
        """Learn rows of a call that has begun; the rival learns them too."""
        cdef _ModelLesson lesson
        if not noted:
            # In a further epoch the rows are known: errors do not say which model is better.
            self.end_trial()
            return Model.learn_rows(self, rows, order, y, weight, first, n, look_ahead, predictions,
                                    scores, noted)
        if order.most < n - first:
            raise ValueError("a model that begins anew at alarms learns rows in an order that is "
                             "given beforehand")
        lesson = _ModelLesson(self, n)
        lesson.sequence, lesson.order = order, order.rows
        lesson.rows, lesson.y, lesson.weights = rows, y, weight
        lesson.look_ahead, lesson.predictions, lesson.scores = look_ahead, predictions, scores
        return self.take(lesson)

    cdef int learn_only(self, const Rows *rows, const double *y, double weight,
                        double *predictions, double *scores, bint noted) except -1:
        """Learn the only row of a call that has begun; the rival learns it too."""
        cdef _ModelLesson lesson
        if self.rival is not None and noted:
            lesson = _ModelLesson(self, 1)
            lesson.rows, lesson.y, lesson.weights, lesson.is_only = rows, y, &weight, True
            lesson.predictions, lesson.scores = predictions, scores
            return self.take(lesson)
        Model.learn_only(self, rows, y, weight, predictions, scores, noted)
        if not noted:
            return self.end_trial()
        if weight > 0 and self.trials.see(loss_of(self, y, predictions), weight):
            try:
                self.begin_trial(self.began + self.counters.seen)
            except BaseException:
                self.rollback()
                raise
        return 0

    cdef int take(self, Lesson lesson) except -1:
        """Learn the rows of a lesson; undo the call if that fails."""
        self.mistakes, self.total = self.counters.mistakes, self.counters.loss
        try:
            lesson.learn(self.began + self.counters.seen)
        except BaseException:
            self.rollback()
            raise
        self.counters.mistakes, self.counters.loss = self.mistakes, self.total
        if self.rival is not None:
            self.rival.counters.mistakes, self.rival.counters.loss = 0, 0
        return 0

    cdef void checkpoint(self):
        Model.checkpoint(self)
        if self.rival is not None:
            self.rival.checkpoint()
        self.trials.checkpoint()
        self.rival_before, self.began_before, self.exchanged = self.rival, self.began, []
        self.own_is_new = self.rival_is_new = False

    cdef int note_exchange(self) except -1:
        """Note an exchange for `rollback`.

        It is not needed if both models were made in this call. An exchange that reverses the last
        one removes that instead.
        """
        if not (self.own_is_new and self.rival_is_new):
            if self.exchanged and self.exchanged[len(self.exchanged) - 1] is self.rival:
                self.exchanged.pop()
            else:
                self.exchanged.append(self.rival)
        self.own_is_new, self.rival_is_new = self.rival_is_new, self.own_is_new
        return 0

    cdef void rollback(self):
        while self.exchanged:
            self.exchange(self.exchanged.pop())
        self.own_is_new = self.rival_is_new = False
        self.rival, self.began = self.rival_before, self.began_before
        Model.rollback(self)
        if self.rival is not None:
            self.rival.rollback()
        self.trials.rollback()

    def grown(self, grow):
        """This model with more outputs. `grow` is called for it, its rival and the blank model."""
        rival = None if self.rival is None else grow(self.rival)
        return restore(grow(self.alone()), grow(self.blank), rival, self.trials, self.began)

    def alone(self):
        """The model that answers, without trials. It shares its parts with this one."""
        cdef Model own = Model(self.space, self.head, self.rule, self.sampler, self.rng, self.d,
                               self.dtype)
        return filled(own, self)

    def __reduce__(self):
        with self.reading():
            parts = self.alone(), self.beginning, self.rival, self.trials, self.began
            return restore, frozen(parts, {})


cdef class _ModelLesson(Lesson):
    """Rows of a call, for a model and its rival."""

    cdef RenewedModel model
    cdef const Rows *rows
    cdef bint is_only             # whether a single row is learnt, without releasing the GIL
    cdef Order sequence
    cdef Py_ssize_t look_ahead
    cdef const double *y
    cdef double *predictions      # of the model; those of the better model at the end
    cdef double *scores           # the same; NULL if they are not asked for
    cdef double *losses           # the losses of each row that the model's counters sum up
    cdef double *rival_predictions
    cdef double *rival_scores
    cdef double *rival_losses
    cdef list owners              # of this memory

    def __cinit__(self, RenewedModel model, Py_ssize_t n):
        self.model, self.trials, self.n, self.owners = model, model.trials, n, []

    cdef double *room(self, Py_ssize_t n) except NULL:
        """Memory of n numbers."""
        cdef double[::1] numbers = np.empty(n)
        self.owners.append(numbers)
        return &numbers[0]

    cdef int teach(self, bint rival, Py_ssize_t first, Py_ssize_t last) except -1:
        cdef Model model = self.model.rival if rival else self.model
        cdef Py_ssize_t n = self.rows.n
        cdef double *predictions = self.predictions
        cdef double *scores = self.scores
        if not self.losses:
            self.losses = self.room(n)
        if rival:
            if not self.rival_predictions:
                self.rival_predictions = self.room(n * model.head.n_targets)
                self.rival_losses = self.room(n)
                self.rival_scores = self.room(n * model.head.n_outputs) if scores else NULL
            # Parameters of the steps may have been set since the rival began.
            if model.present_rule is not self.model.present_rule:
                model.rule = self.model.rule
            if model.present_sampler is not self.model.present_sampler:
                model.sampler = self.model.sampler
            predictions, scores = self.rival_predictions, self.rival_scores
        model.losses = self.rival_losses if rival else self.losses
        try:
            if self.is_only:
                Model.learn_only(model, self.rows, self.y, self.weight(0), predictions, scores,
                                 True)
            else:
                model.space.reserve_block(min(last - first, self.look_ahead or MOST_ROWS))
                Model.learn_rows(model, self.rows, self.sequence, self.y, self.weights, first, last,
                                 self.look_ahead, predictions, scores, True)
        finally:
            model.losses = NULL
        return 0

    cdef double loss(self, bint rival, Py_ssize_t row) noexcept:
        cdef Py_ssize_t size = self.model.head.n_targets
        cdef const double *predictions = self.rival_predictions if rival else self.predictions
        return loss_of(self.model, self.y + row * size, predictions + row * size)

    cdef int give(self, bint rival, Py_ssize_t row) except -1:
        cdef Py_ssize_t size = self.model.head.n_targets, n_outputs = self.model.head.n_outputs
        cdef Py_ssize_t k
        cdef double weight = self.weight(row)
        if rival:
            for k in range(row * size, (row + 1) * size):
                self.predictions[k] = self.rival_predictions[k]
            for k in range(row * n_outputs, (row + 1) * n_outputs if self.scores else 0):
                self.scores[k] = self.rival_scores[k]
        if weight > 0:
            self.model.mistakes += self.predictions[row * size] != self.y[row * size]
            self.model.total += weight * (self.rival_losses[row] if rival else self.losses[row])
        return 0

    cdef int begin(self, int64_t seen) except -1:
        return self.model.begin_trial(seen)

    cdef int exchange(self, int64_t seen) except -1:
        cdef RenewedModel model = self.model
        model.exchange(model.rival)
        model.note_exchange()
        model.began = seen - model.counters.seen
        return 0

    cdef int drop(self) except -1:
        self.model.rival = None
        return 0


cdef double loss_of(RenewedModel model, const double *y, const double *predictions) noexcept:
    """1 for a mistake and else 0; in regression the squared error, summed over the targets."""
    cdef Py_ssize_t k
    cdef double square = 0
    if not model.trials.of_targets:
        return predictions[0] != y[0]
    for k in range(model.head.n_targets):
        square += (predictions[k] - y[k]) * (predictions[k] - y[k])
    return square


cdef Model filled(Model own, Model model):
    """Give `own` the counts, recent scores and targets of another model of the same parts."""
    own.recent, own.counters = model.recent, model.counters
    set_state(own.targets, own.head.n_targets, state_of(model.targets, model.head.n_targets))
    return own


def renewed(model):
    """Make a model that begins anew at alarms. The given one must be new, and is not used again."""
    check_kind(model, "model", Model)
    return restore(model, model, None, Trials(model.head.n_labels == 0))


def restore(model, blank, rival, trials, began=0):
    """Make a model that begins anew at alarms out of the parts that were saved."""
    cdef RenewedModel own
    cdef Model first
    check_kind(trials, "trials", Trials)
    for name, part in (("model", model), ("blank", blank), ("rival", rival)):
        if part is not None or name != "rival":
            check_kind(part, name, Model)
            if form_of(part) != form_of(model):
                raise ValueError(f"the {name} must have the head, the features and the kind of "
                                 "space of the model")
    first = model
    own = RenewedModel(first.space, first.head, first.rule, first.sampler, first.rng, first.d,
                       first.dtype)
    filled(own, first)
    # Freezing a model takes a tenth of the time of making one.
    own.beginning, own.rival, own.trials = frozen(blank, {}), rival, trials
    own.rival_before, own.exchanged = rival, []
    count_of("the samples of a model", first.n_seen + count_of("began", began))
    own.began = own.began_before = began
    if rival is not None and rival.n_seen > own.n_seen:
        raise ValueError(f"the rival has seen {rival.n_seen} samples, all are {own.n_seen}")
    if own.trials.of_targets != (own.head.n_labels == 0) \
            or (rival is not None) != (own.trials.left > 0):
        raise ValueError("trials must be of the labels or targets of the model, and last as long "
                         "as there is a rival")
    return own


cdef tuple form_of(Model model):
    """What must be the same in a model and its rivals: rows are checked for one of them only."""
    return (type(model.space), model.head, model.d, model.dtype, model.space.takes_missing(),
            getattr(model.space, "categories", None))
