"""The stream loop: every learner of the library, online or over several passes, runs through it.

order -> open a block -> scores -> gate -> squared lengths -> rule -> update
              ^            ^                                          |
              |            +-------------- next sample ---------------+
              +--------------------------- next block ----------------+

The loop runs without the GIL. `learn_one` is the same loop over one sample. A call that fails
(no memory, a score that is no longer finite, Ctrl-C) leaves the model as it was before the call.

Several threads may use a model: while one learns, the others wait; several may score at once.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdlib cimport calloc, free

from numbers import Real
import copy

import numpy as np

from onlinekern.core.base.part cimport Component, NOT_FINITE, NO_MEMORY, OK, RAISED, Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.state cimport (
    MOST_FEATURES, check_width, count_of, float_dtype, integer_within, items_of, shown,
)
from onlinekern.core.base.turn cimport (
    Access, Reading, Turn, Writing, begin_writing, claim, end_writing)
from onlinekern.core.base.vector cimport finite
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.order cimport Order, check_targets
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Gate
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows, Samples, row_of, samples_of

from onlinekern.core.base.part import components_of, frozen, refuse_attributes

# Signals are looked for about every so many kernel values, some tens of milliseconds: asking needs
# the GIL, which another thread may hold for its whole switch interval.
cdef Py_ssize_t VALUES_BETWEEN_SIGNALS = 1 << 25
# A space does not ask for more rows at a time, unless the user does.
cdef Py_ssize_t MOST_ROWS = 64
cdef Order AS_THEY_STAND = Order()


cdef class Model:
    """A learner composed of parts, with its counters.

    Parameters
    ----------
    space : Space
    head : Head
    rule : Rule
    gate : Gate
    rng : Generator
    d : int
        Features of a sample.
    dtype : numpy.float32 or numpy.float64
        The dtype of the samples.

    Raises
    ------
    TypeError
        For a component that is a base class only, or whose class is written in Python and has
        methods that the loop would never call.
    """

    def __cinit__(self, Space space not None, Head head not None, Rule rule not None,
                  Gate gate not None, Generator rng not None, Py_ssize_t d, dtype):
        self.turn = Turn()
        self.access = Access()
        self.space = space
        self.head = head
        self.present_rule = rule
        self.present_gate = gate
        self.rng = rng
        self.d = integer_within("d", d, 1, MOST_FEATURES)
        self.itemsize = float_dtype(dtype).itemsize
        self.watch()
        self.check_space()
        self.reserve(head.n_outputs)
        self.window_of_one = space.new_window(1)

    cdef int check_space(self) except -1:
        """Raise ValueError if the space is not one for such a head and such samples."""
        form = self.space.sample_form()
        if self.space.n_outputs != self.head.n_outputs or self.head.n_outputs < 1:
            raise ValueError(f"the head has {self.head.n_outputs} outputs and the space has "
                             f"{self.space.n_outputs}; both must have the same, at least 1")
        if form is not None and (form[0] != self.d or form[1] not in (self.itemsize, None)):
            raise ValueError(
                f"the space must be one for samples of d={self.d} features of {self.itemsize} "
                f"bytes, got one for {form[0]} features of {form[1]} bytes")
        return 0

    def __dealloc__(self):
        free(self.current)
        free(self.update.needs_length)

    cdef int reserve(self, Py_ssize_t n_outputs) except -1:
        """Give the sample and its update memory for so many outputs."""
        self.current = <double *> calloc(6 * n_outputs, sizeof(double))
        self.update.needs_length = <char *> calloc(n_outputs, 1)
        if self.current == NULL or self.update.needs_length == NULL:
            raise MemoryError(f"no memory for the scores of {n_outputs} outputs")
        self.averaged = self.current + n_outputs
        self.update.lengths = self.current + 2 * n_outputs
        self.update.coefficients = self.current + 3 * n_outputs
        self.update.contractions = self.current + 4 * n_outputs
        self.update.importances = self.current + 5 * n_outputs
        self.sample.scores = self.current
        return 0

    cdef int watch(self) except -1:
        """Check the components, and find those that may lack a method: all but the library's."""
        components = components_of(self.space, self.head, self.present_rule, self.present_gate)
        watched = [component for component in components if isinstance(component, Component)
                   and not type(component).__module__.startswith("onlinekern.core.")]
        self.watched = tuple(watched) or None
        return 0

    @property
    def rule(self):
        """May be replaced between calls: parameters of an update can change in mid-stream."""
        return self.present_rule

    @rule.setter
    def rule(self, Rule rule not None):
        components_of(rule)
        with self.writing():
            self.present_rule = rule
            self.watch()

    @property
    def gate(self):
        """May be replaced between calls."""
        return self.present_gate

    @gate.setter
    def gate(self, Gate gate not None):
        components_of(gate)
        with self.writing():
            self.present_gate = gate
            self.watch()

    @property
    def dtype(self):
        """Of the samples, as a numpy dtype."""
        return np.dtype(np.float32 if self.itemsize == 4 else np.float64)

    @property
    def n_seen(self):
        """Samples learnt, those of weight 0 not counted."""
        return self.counters.seen

    @property
    def n_mistakes(self):
        """Samples whose prediction before learning was not their label."""
        return self.counters.mistakes

    @property
    def cumulative_loss(self):
        """Sum of weight times loss of the samples, each before it was learnt."""
        return self.counters.loss

    def take_turns_with(self, Turn turn not None):
        """Use this turn from now on; no thread may be learning."""
        self.turn = turn

    def writing(self):
        """A context in which this thread alone uses the model."""
        return Writing(self.turn, self.access)

    def reading(self):
        """A context in which no thread changes the model."""
        return Reading(self.access)

    def resume_counts(self, seen, mistakes, loss):
        """Go on from these counts: two integers >= 0, and a number."""
        seen, mistakes = count_of("seen", seen), count_of("mistakes", mistakes)
        if not isinstance(loss, Real) or loss != loss:
            raise ValueError(f"loss must be a number, got {shown(loss)}")
        self.counters.seen, self.counters.mistakes, self.counters.loss = seen, mistakes, loss

    cdef Status run(self, const Rows *rows, Order order, const double *y,
                    const double *weight, Py_ssize_t n, Py_ssize_t look_ahead,
                    double *predictions, Py_ssize_t *reached) noexcept nogil:
        """THE loop. Returns a status; `reached` is the sample at which it stopped."""
        cdef Py_ssize_t first = 0, i, row, width, work = 0
        cdef double prediction
        cdef Status status
        while first < n:
            reached[0] = first
            width = min(order.most, self.space.look_ahead(look_ahead, n - first))
            order.choose(first)
            if self.space.open(rows, order.rows, first, width) < 0:
                return NO_MEMORY
            for i in range(width):
                row = reached[0] = order.rows[first + i] if order.rows else first + i
                status = step(self, i, y[row], weight[row] if weight else 1, &prediction)
                if status != OK:
                    return status
                if predictions:
                    predictions[row] = prediction
            first += width
            work += width * (1 + self.space.size())
            if work > VALUES_BETWEEN_SIGNALS:
                work = 0
                if self.interrupted():
                    return RAISED
        return self.space.settle()

    cdef bint interrupted(self) noexcept nogil:
        """Whether a signal handler raised; its exception is kept for `fail`."""
        with gil:
            try:
                PyErr_CheckSignals()
            except BaseException as error:
                self.interruption = error
                return True
            return False

    def learn(self, X, const double[::1] y, const double[::1] weight=None,
              order=None, Py_ssize_t window=0):
        """Test-then-train over samples.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        y : ndarray of shape (n,)
            Class numbers, or targets.
        weight : ndarray of shape (n,), optional
            Weights >= 0; default 1.
        order : Order, or ndarray of intp, optional
            The rows that are learnt, in this order; default all as they stand.
        window : int
            Samples looked ahead; 0 leaves it to the space. Never changes a result.

        Returns
        -------
        predictions : ndarray of shape (n,)
            What was predicted for each row (class numbers, or targets) before it was learnt; NaN
            for rows that were not.

        Raises
        ------
        ValueError
            If the window is negative, or the arguments do not fit together or to the model.
        FloatingPointError
            When a score or a coefficient overflows.
        MemoryError
        """
        if window < 0:
            raise ValueError(f"window must be an integer >= 1, or None, got {window}")
        cdef Samples samples = samples_of(X, self.dtype)
        check_width("X", samples.rows.d, self.d)
        cdef Order sequence = order if isinstance(order, Order) else Order(order)
        check_targets(self.head, sequence, y, weight, samples.rows.n)
        cdef Py_ssize_t n = samples.rows.n if sequence.n < 0 else sequence.n, reached = 0
        cdef double[::1] predictions = np.full(samples.rows.n, np.nan)
        cdef const double *weights = &weight[0] if weight is not None and n > 0 else NULL
        cdef Status status
        if n == 0:
            return np.asarray(predictions)
        begin_writing(self.turn, self.access)
        try:
            self.space.reserve_block(min(n, window if window > 0 else MOST_ROWS))
            self.checkpoint()
            with nogil:
                status = self.run(&samples.rows, sequence, &y[0], weights, n, window,
                                  &predictions[0], &reached)
            if status != OK or self.watched is not None:
                self.conclude(status, reached)
        finally:
            end_writing(self.turn, self.access)
        return np.asarray(predictions)

    def learn_one(self, x, double y):
        """Test-then-train on one dense sample, with the least of checks.

        Parameters
        ----------
        x : array-like of shape (d,)
            Fastest as a C-contiguous ndarray of the model's dtype.
        y : float
            Class number, or target.

        Returns
        -------
        float
            What was predicted for x before it was learnt.
        """
        cdef Rows rows
        cdef double prediction
        cdef Py_ssize_t reached
        self.head.check_label(y)
        _alive = row_of(x, self.d, self.itemsize, self.space.stored_sparse(), &rows)
        begin_writing(self.turn, self.access)
        try:
            self.checkpoint()
            status = self.run(&rows, AS_THEY_STAND, &y, NULL, 1, 1, &prediction, &reached)
            if status != OK or self.watched is not None:
                self.conclude(status, 0)
        finally:
            end_writing(self.turn, self.access)
        return prediction

    def score_one(self, x):
        """Predicting score of one dense sample: a float, or an ndarray of shape (n_outputs,)."""
        cdef Rows rows
        cdef double score
        cdef double[::1] scores
        cdef double *out = &score
        _alive = row_of(x, self.d, self.itemsize, self.space.stored_sparse(), &rows)
        if self.head.n_outputs > 1:
            scores = np.empty(self.head.n_outputs)
            out = &scores[0]
        self.access.begin_reading()
        # Another thread may be scoring one sample too, where there is no GIL.
        own = not claim(&self.one_is_scored)
        try:
            window = self.space.new_window(1) if own else self.window_of_one
            self.check_scored(self.space.score(window, &rows, 0, 1, out), 1)
        finally:
            if not own:
                self.one_is_scored = False
            self.access.end_reading()
        return score if self.head.n_outputs == 1 else np.asarray(scores)

    def scores(self, X, double[:, ::1] out):
        """Predicting scores of samples; several threads may call this at once.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        out : ndarray of shape (n, n_outputs)
            Overwritten.
        """
        with self.reading():
            self.score_rows(X, out)

    def score_rows(self, X, double[:, ::1] out):
        """`scores` in a thread of a call that is `reading`."""
        cdef Samples samples = samples_of(X, self.dtype)
        cdef Py_ssize_t first = 0, width, n = samples.rows.n
        cdef Status status = OK
        check_width("X", samples.rows.d, self.d)
        window = self.space.new_window(min(max(n, 1), MOST_ROWS))
        with nogil:
            while first < n and status == OK:
                width = self.space.look_ahead(0, n - first)
                status = self.space.score(window, &samples.rows, first, width,
                                          &out[first, 0])
                first += width
        self.check_scored(status, n)

    cdef int check_scored(self, Status status, Py_ssize_t n) except -1:
        """Raise if n samples could not be scored."""
        cdef Component component
        for component in self.watched or ():
            component.check_defined()
        if status != OK:
            raise MemoryError(f"no memory to score {n} samples")
        return 0

    cdef void checkpoint(self):
        """Remember the model as it is, at no cost, for a call that fails."""
        self.calls += 1
        self.saved = self.counters
        self.saved_rng = self.rng.state
        self.space.checkpoint()

    def undo(self):
        """Return to the model before the last call of `learn` or `learn_one`."""
        with self.writing():
            self.rollback()

    cdef void rollback(self):
        self.counters = self.saved
        self.rng.state = self.saved_rng
        self.space.rollback()

    cdef int conclude(self, Status status, Py_ssize_t reached) except -1:
        """Undo the call and raise, unless it succeeded and all of its methods were defined."""
        cdef Component component
        try:
            for component in self.watched or ():
                component.check_defined()
        except NotImplementedError:
            self.rollback()
            raise
        if status == OK:
            return 0
        self.rollback()
        if status == NO_MEMORY:
            raise MemoryError(f"no memory to learn sample {reached}")
        if status == RAISED:
            interruption = self.interruption or self.space.interruption
            self.interruption = self.space.interruption = None
            raise interruption
        raise FloatingPointError(
            f"the score or the step of sample {reached} is not finite: the learner diverges; "
            "use a smaller step size, stronger regularisation or scaled features"
        )

    def __reduce__(self):
        # At once, and not when the pickler comes to the parts: another thread may learn meanwhile.
        with self.reading():
            arguments = (self.space, self.head, self.rule, self.gate, self.rng, self.d, self.dtype)
            return restore, (frozen(arguments, {}), self.counters.seen, self.counters.mistakes,
                             self.counters.loss)

    def __copy__(self):
        return copy.deepcopy(self)

    def __getstate__(self):
        refuse_attributes(self)


cdef inline Status step(Model model, Py_ssize_t i, double y, double weight,
                        double *prediction) noexcept nogil:
    """Test on sample i of the open block, then train on it."""
    model.space.scores(i, model.current, model.averaged)
    if not finite(model.current, 2 * model.head.n_outputs):
        return NOT_FINITE
    prediction[0] = model.head.predict(model.averaged)
    if weight == 0:
        return OK
    model.counters.seen += 1
    model.sample.y = y
    model.sample.weight = weight
    model.sample.t = model.counters.seen
    model.head.select_lengths(&model.sample, &model.update, model.present_rule, model.present_gate,
                              model.rng)
    if model.update.needs_lengths:
        model.space.squared_lengths(i, &model.update)
    model.head.solve(&model.sample, &model.update, model.present_rule)
    model.counters.loss += weight * model.update.loss
    model.counters.mistakes += prediction[0] != y
    if model.update.updates and not finite(model.update.coefficients, model.head.n_outputs):
        return NOT_FINITE
    model.space.observe(i, y, weight)
    return model.space.update(i, &model.update)


def restore(arguments, seen, mistakes, loss):
    """A model of these parts that goes on from these counts."""
    cdef Model model = Model(*items_of(arguments, "arguments of a model", 7))
    model.resume_counts(seen, mistakes, loss)
    return model
