"""The stream loop: every learner of the library, online or over several passes, runs through it.

order -> open a block -> scores -> sampler -> squared lengths -> rule -> update
              ^            ^                                          |
              |            +-------------- next sample ---------------+
              +--------------------------- next block ----------------+

The loop runs without the GIL. `learn_one` is the same loop over one sample. A call that fails
(no memory, a score that is no longer finite, Ctrl-C) leaves the model as it was before the call.

Several threads may use a model: while one learns, the others wait; several may score at once.
"""
cimport numpy as cnp
from libc.math cimport INFINITY, NAN, fabs
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, OVERFLOWED, RAISED, Status
from onlinekern.core.base.state cimport check_width, count_of, items_of
from onlinekern.core.base.lock cimport begin_writing, end_writing
from onlinekern.core.base.vector cimport finite
from onlinekern.core.learning.heads cimport (
    begin_sample, class_of, importance_of, is_continued, note_importance, sign_of, solve_output)
from onlinekern.core.learning.order cimport (
    AS_THEY_STAND, Order, check_outputs, check_targets, fill, order_of)
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.step_memory cimport room_for
from onlinekern.core.learning.targets cimport (
    in_units_each, keep_targets, set_state, state_of, take_back, take_up_each)
from onlinekern.core.models.composed cimport MOST_ROWS, Composed, note_lead
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.base.part import frozen

cdef extern from "onlinekern/overflow.h" nogil:
    bint ok_has_overflowed()
    void ok_forget_overflow()

cnp.import_array()

# Kernel values between two checks for signals (Ctrl-C): a check follows every few tens of
# milliseconds. The check needs the GIL, which another thread may hold for its switch interval.
cdef Py_ssize_t VALUES_BETWEEN_SIGNALS = 1 << 25

cdef enum:
    NEVER = -1      # no sample has this number

# Cases for which the loop is compiled. ANY: every block. PLAIN: one scalar problem per sample, of
# weight 1, without sampler, standardised targets, or scores and losses to store. BARE: also two
# classes, a single score, the hinge, and rows in their own order.
cdef enum Case:
    ANY, PLAIN, BARE


cdef class Model(Composed):
    """A model that learns: the stream loop, checkpoints and undo.

    Its arguments are those of `Composed`.
    """

    def __cinit__(self, *args, **kwargs):
        self.current = room_for(self.head.n_outputs, &self.sample, &self.update)
        self.averaged = self.current + self.head.n_outputs

    def __dealloc__(self):
        free(self.current)

    cdef Status run(self, const Rows *rows, Order order, const double *y, const double *weight,
                    Py_ssize_t first, Py_ssize_t n, Py_ssize_t look_ahead, double *predictions,
                    double *scores, Py_ssize_t *reached) noexcept nogil:
        """The stream loop, over samples first ... n - 1. Returns a status; sets `reached`."""
        cdef Py_ssize_t width, work = 0
        cdef Status status
        ok_forget_overflow()
        self.scores_single = self.single \
            and self.space.has_single_score(rows, self.present_rule.uses_length)
        self.update.shrink, self.update.enters = 1, False
        while first < n:
            reached[0] = first
            width = min(order.most, self.space.look_ahead(look_ahead, n - first))
            order.choose(first)
            if self.space.open(rows, order.rows, first, width) < 0:
                return NO_MEMORY
            if self.head.n_targets == 1:
                self.space.foresee(y if order.rows else y + first,
                                   order.rows + first if order.rows else NULL, width)
            status = learn_block(self, self.space, self.present_rule, order.rows, first, width, y,
                                 weight, predictions, scores, reached)
            if status != OK:
                return status
            first += width
            work += width * (1 + self.space.size())
            if work > VALUES_BETWEEN_SIGNALS:
                work = 0
                if self.interrupted():
                    return RAISED
        status = self.space.settle()
        return OVERFLOWED if status == OK and ok_has_overflowed() else status

    def learn(self, X, const double[::1] y, const double[::1] weight=None,
              order=None, Py_ssize_t window=0, double[:, ::1] scores=None, bint noted=True,
              bint goes_on=False):
        """Test-then-train over samples.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        y : ndarray of shape (n * n_targets,)
            Class numbers, or targets; several targets of a sample are adjacent.
        weight : ndarray of shape (n,), optional
            Weights >= 0; default 1.
        order : Order, or ndarray of intp, optional
            Numbers of the rows to learn, in this order; default 0 ... n - 1.
        window : int
            Samples in a block; 0: the space chooses. Does not change any result.
        scores : ndarray of shape (n, n_outputs), optional
            Output: scores of each row before it was learnt, also for weight 0. Rows that are not in
            the order are not changed.
        noted : bool
            Whether scores may be stored in `recent`, to fit probabilities to them. It is False for
            samples that have been learnt before.
        goes_on : bool
            Whether this call continues the last one: `undo` then undoes both.

        Returns
        -------
        predictions : ndarray of shape (n,) or (n, n_targets)
            Predictions for each row before it was learnt: class numbers, or targets. NaN for rows
            that are not in the order.

        Raises
        ------
        ValueError
            If the window is negative, or the arguments do not fit together or to the model.
        FloatingPointError
            When a score or a coefficient overflows.
        """
        if window < 0:
            raise ValueError(f"window must be an integer >= 1, or None, got {window}")
        cdef Samples samples = samples_of(X, self.dtype)
        check_width("X", samples.rows.d, self.d)
        cdef Order sequence = order_of(order)
        check_targets(self.head, sequence, y, weight, samples.rows.n)
        check_outputs(self.head, scores, samples.rows.n)
        cdef Py_ssize_t n = samples.rows.n if sequence.n < 0 else sequence.n
        cdef cnp.npy_intp[2] shape = [samples.rows.n, self.head.n_targets]
        predictions = cnp.PyArray_EMPTY(1 if shape[1] == 1 else 2, shape, cnp.NPY_FLOAT64, 0)
        cdef double *predicted = <double *> cnp.PyArray_DATA(predictions)
        fill(predicted, shape[0] * shape[1], NAN)
        cdef const double *weights = &weight[0] if weight is not None and n > 0 else NULL
        cdef double *written = &scores[0, 0] if scores is not None and n > 0 else NULL
        if n == 0:
            return predictions
        begin_writing(self.lock, self.access)
        try:
            self.space.reserve_block(min(n, window if window > 0 else <Py_ssize_t> MOST_ROWS))
            if not goes_on:
                self.checkpoint()
            self.learn_rows(&samples.rows, sequence, &y[0], weights, 0, n, window, predicted,
                            written, noted)
        finally:
            end_writing(self.lock, self.access)
        return predictions

    cdef int learn_rows(self, const Rows *rows, Order order, const double *y, const double *weight,
                        Py_ssize_t first, Py_ssize_t n, Py_ssize_t look_ahead, double *predictions,
                        double *scores, bint noted) except -1:
        """Learn rows of a call that has begun; the arguments are those of `run`."""
        cdef Py_ssize_t reached = 0
        cdef Status status
        self.next_noted = self.next_number() if noted else NEVER
        with nogil:
            status = self.run(rows, order, y, weight, first, n, look_ahead, predictions, scores,
                              &reached)
        if status != OK or self.watched is not None:
            self.conclude(status, reached)
        return 0

    def learn_one(self, x, y, double weight=1.0):
        """Test-then-train on one dense sample, with few checks.

        Parameters
        ----------
        x : array-like of shape (d,)
            Fastest as a C-contiguous ndarray of the model's dtype.
        y : float, or ndarray of shape (n_targets,)
            Class number, or target.
        weight : float >= 0, default=1.0

        Returns
        -------
        The prediction for x before it was learnt, in the form of y.
        """
        cdef Rows rows
        cdef const double[::1] targets
        cdef double[::1] predictions
        _alive = self.only_row(x, &rows)
        if self.head.n_targets == 1:
            return self.learn_row(&rows, y, weight)
        targets, predictions = y, np.empty(self.head.n_targets)
        check_targets(self.head, AS_THEY_STAND, targets, None, 1)
        self.learn_targets(&rows, &targets[0], weight, &predictions[0], NULL, True)
        return np.asarray(predictions)

    cdef double learn_row(self, const Rows *rows, double y, double weight) except? -1:
        """`learn_one` for a single checked row."""
        cdef double prediction
        self.head.check_label(y)
        self.learn_targets(rows, &y, weight, &prediction, NULL, True)
        return prediction

    cdef int learn_targets(self, const Rows *rows, const double *y, double weight,
                           double *predictions, double *scores, bint noted) except -1:
        """`learn_row` for checked targets; `scores` may be NULL, `noted` is that of `learn`."""
        if not 0 <= weight < INFINITY:
            raise ValueError(f"sample_weight must be finite and at least 0, got {weight}")
        begin_writing(self.lock, self.access)
        try:
            self.checkpoint()
            self.learn_only(rows, y, weight, predictions, scores, noted)
        finally:
            end_writing(self.lock, self.access)
        return 0

    cdef int learn_only(self, const Rows *rows, const double *y, double weight,
                        double *predictions, double *scores, bint noted) except -1:
        """Learn the single row of a call that has begun, without releasing the GIL."""
        cdef Py_ssize_t reached
        self.next_noted = self.next_number() if noted else NEVER
        status = self.run(rows, AS_THEY_STAND, y, &weight, 0, 1, 1, predictions, scores, &reached)
        if status != OK or self.watched is not None:
            self.conclude(status, 0)
        return 0

    cdef void checkpoint(self):
        """Set a checkpoint, without copying the model, to which `rollback` returns."""
        self.calls += 1
        self.saved = self.counters
        keep_targets(self.targets, self.head.n_targets)
        self.saved_rng = self.rng.state
        if self.recent is not None:
            self.recent.checkpoint()
        self.space.checkpoint()

    def undo(self):
        """Return to the model before the last call of `learn` or `learn_one`."""
        with self.writing():
            self.rollback()

    cdef void rollback(self):
        self.counters = self.saved
        take_back(self.targets, self.head.n_targets)
        self.calibration = None
        if self.recent is not None:
            self.recent.rollback()
        self.rng.state = self.saved_rng
        self.space.rollback()

    cdef int64_t next_number(self):
        """Number of the next sample whose scores `recent` stores; NEVER without `recent`."""
        return NEVER if self.recent is None else self.recent.next_number(self.counters.seen)

    def __reduce__(self):
        # Frozen under the lock: another thread may learn before the pickler reaches the parts.
        with self.reading():
            arguments = (self.space, self.head, self.rule, self.sampler, self.rng, self.d,
                         self.dtype)
            targets = state_of(self.targets, self.head.n_targets)
            return restore, (frozen(arguments, {}), self.counters.seen, self.counters.mistakes,
                             self.counters.loss, frozen(self.recent, {}), targets,
                             self.counters.lead)


cdef Status learn_block(Model model, Space space, Rule rule, const Py_ssize_t *order,
                        Py_ssize_t first, Py_ssize_t width, const double *y, const double *weight,
                        double *predictions, double *scores, Py_ssize_t *reached) noexcept nogil:
    """Learn the open block. Returns a status; `reached` is the sample at which it stopped.

    Calls the version of `learn_samples` that is compiled for the case.
    """
    if not model.plain or weight != NULL or scores != NULL or model.losses != NULL:
        return learn_samples(model, space, rule, order, first, width, y, weight, predictions,
                             scores, reached, ANY)
    if order == NULL and model.scores_single and model.signs and model.hinged:
        return learn_samples(model, space, rule, NULL, first, width, y, NULL, predictions, NULL,
                             reached, BARE)
    return learn_samples(model, space, rule, order, first, width, y, NULL, predictions, NULL,
                         reached, PLAIN)


cdef inline Status learn_samples(Model model, Space space, Rule rule, const Py_ssize_t *order,
                                 Py_ssize_t first, Py_ssize_t width, const double *y,
                                 const double *weight, double *predictions, double *scores,
                                 Py_ssize_t *reached, Case case) noexcept nogil:
    """`learn_block` for one case, a constant: the compiler removes branches of the others."""
    cdef Py_ssize_t i, row, n_outputs = model.head.n_outputs
    cdef Py_ssize_t n_targets = model.head.n_targets if case == ANY else 1
    cdef int64_t mistakes = 0
    cdef double importance, prediction
    cdef Status status
    for i in range(width):
        row = order[first + i] if order else first + i
        importance = weight[row] if weight else 1
        if case == ANY:
            model.sample.targets = y + row * n_targets
        status = step(model, space, rule, i, y[row * n_targets], importance, &prediction, case)
        if status != OK:
            reached[0] = row
            return status
        if n_targets == 1:
            predictions[row] = prediction
        else:
            memcpy(predictions + row * n_targets, model.averaged, n_targets * sizeof(double))
        mistakes += (prediction != y[row * n_targets]) & (importance != 0)
        if scores:
            memcpy(scores + row * n_outputs, model.averaged, n_outputs * sizeof(double))
        if case == ANY and model.losses:
            model.losses[row] = model.update.loss
    model.counters.mistakes += mistakes
    return OK


cdef inline Status step(Model model, Space space, Rule rule, Py_ssize_t i, double y, double weight,
                        double *prediction, Case case) noexcept nogil:
    """Test on sample i of the open block, then train on it."""
    cdef bint single = case != ANY or model.single
    cdef bint standardized = case == ANY and model.targets.standardized
    cdef double f, predicting, average, target = y
    if case == BARE or model.scores_single:
        f = predicting = model.averaged[0] = space.single_score(i)
    else:
        space.scores(i, model.current, model.averaged)
        f, predicting = model.current[0], model.averaged[0]
    if single:
        # x - x is NaN unless x is finite.
        if not (f - f) + (predicting - predicting) == 0:
            return NOT_FINITE
    elif not finite(model.current, 2 * model.head.n_outputs):
        return NOT_FINITE
    average = predicting
    if standardized:
        if not in_units_each(model.targets, model.head.n_targets, model.averaged):
            return NOT_FINITE
        predicting = model.averaged[0]
    if case == BARE or single and model.signs:
        prediction[0] = class_of(predicting)
        target = sign_of(y)
    elif single:
        prediction[0] = predicting
    else:
        prediction[0] = model.head.predict(model.averaged)
    if weight == 0:
        return OK
    return train(model, space, rule, i, f, average, y, target, weight, case)


cdef inline Status train(Model model, Space space, Rule rule, Py_ssize_t i, double f,
                         double average, double y, double target, double weight,
                         Case case) noexcept nogil:
    """Train on sample i of target y. Its scores are f (last model) and `average` (averaged one)."""
    cdef bint single = case != ANY or model.single
    cdef Status status
    model.counters.seen += 1
    if model.counters.seen == model.next_noted:
        model.recent.keep(model.averaged, y, weight)
        model.next_noted = model.recent.next_number(model.counters.seen)
    if case == ANY and model.targets.standardized:
        if not take_up_each(model.targets, model.head.n_targets, model.sample.targets, weight,
                            model.sample.standardized):
            return NOT_FINITE
        model.sample.targets = model.sample.standardized
        y = target = model.sample.targets[0]
    if case != BARE and not model.scores_single:
        note_lead(&model.counters, &model.update, model.head, &f if single else model.current,
                  &average if single else model.averaged, y)
    status = solve_single(model, space, rule, i, f, target, weight, case) if single \
        else solve_outputs(model, space, rule, i, y, weight)
    if status != OK:
        return status
    model.counters.loss += weight * model.update.loss
    if case == ANY and model.observes:
        if model.head.n_targets == 1:
            space.observe(i, y, weight)
        else:
            space.observe_targets(i, model.sample.targets, weight)
    return space.update(i, &model.update)


cdef inline Status solve_outputs(Model model, Space space, Rule rule, Py_ssize_t i, double y,
                                 double weight) noexcept nogil:
    """Compute the coefficients of sample i by the head. Returns a status."""
    model.sample.y = y
    model.sample.weight = weight
    model.sample.t = model.counters.seen
    model.head.select_lengths(&model.sample, &model.update, rule, model.present_sampler, model.rng)
    if model.update.needs_lengths:
        space.squared_lengths(i, &model.update)
    model.head.solve(&model.sample, &model.update, rule)
    return OK if not model.update.updates \
        or finite(model.update.coefficients, model.head.n_outputs) else NOT_FINITE


cdef inline Status solve_single(Model model, Space space, Rule rule, Py_ssize_t i, double f,
                                double y, double weight, Case case) noexcept nogil:
    """Compute the coefficient of sample i, inlined for a single output. Returns a status."""
    cdef Update *update = &model.update
    cdef double length = 0, importance = 1, size
    cdef int64_t t = model.counters.seen
    if case == ANY:
        begin_sample(update)
        importance = importance_of(f, y, weight, update, rule, model.present_sampler, model.rng)
    if space.has_length:
        length, update.beside = space.length, space.beside
    elif rule.uses_length or is_continued(rule, weight):
        update.enters = False
        if note_importance(0, f, y, weight, importance, update, rule):
            space.squared_lengths(i, update)
            length = update.lengths[0]
    if model.shrinks:
        update.shrink = rule.shrink(t)
    update.loss = solve_output(0, f, y, length, importance, weight, t, update, rule,
                               case == BARE or model.hinged)
    size = fabs(update.coefficients[0])
    update.updates = size > 0
    return OK if size < INFINITY else NOT_FINITE


def restore(arguments, seen, mistakes, loss, recent=None, targets=None, lead=0):
    """A model that continues from a saved state; older files lack the last arguments."""
    cdef Model model = Model(*items_of(arguments, "arguments of a model", 7))
    model.resume_counts(seen, mistakes, loss)
    model.counters.lead = count_of("lead", lead)
    if recent is not None:
        model.take_recent(recent)
    set_state(model.targets, model.head.n_targets, targets)
    return model
