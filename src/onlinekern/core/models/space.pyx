"""Spaces: the function that is learnt, with the interface that the stream loop uses.

The loop opens a block of coming samples, gets the scores of each in turn and, if the rule needs it,
its squared length in the geometry of the space, and passes the update. `KernelSpace` is a support
set under a budget policy.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN

import copy

from onlinekern.core.base.part cimport NOT_GIVEN, NO_MEMORY, OK, Status
from onlinekern.core.base.pool cimport is_stopped
from onlinekern.core.base.state cimport check_kind, subclass_of
from onlinekern.core.budgets.policy cimport Budget, RefuseWhenFull
from onlinekern.core.budgets.quantisation cimport NearestWhenFull
from onlinekern.core.kernels.cost_model cimport best_length, rows_learnt, rows_scored
from onlinekern.core.kernels.support_set cimport SupportSet, restored_set
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.samples.rows cimport Rows

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

# Default length of a block. Without shared work it only sets how often signals are checked.
cdef Py_ssize_t ROWS = 64


cdef object raised_by_signals():
    """The exception that a signal handler has raised since the last check, or None.

    Python runs the handlers in the main thread only. The other threads of a call get an exception
    when any thread of the call has failed.
    """
    try:
        PyErr_CheckSignals()
        if is_stopped():
            raise RuntimeError("another thread of this call has failed")
    except BaseException as error:
        return error
    return None


cdef class Space:
    """Base of the spaces; `KernelSpace` documents the methods.

    A subclass defines `scores`, `squared_lengths`, `update`, `checkpoint`, `rollback` and `score`.
    `open` only stores the block: enough for a space whose samples share no work.
    """

    abstract = True

    cdef tuple sample_form(self):
        """(number of features, bytes of an element) of the samples; None if both are free."""
        return None

    cdef Py_ssize_t size(self) noexcept nogil:
        return 0

    cdef bint stored_sparse(self) noexcept nogil:
        return False

    cdef bint takes_missing(self) noexcept nogil:
        """Whether samples may have missing values, NaN."""
        return False

    cdef int check_row(self, const Rows *rows) except -1:
        """Raise ValueError if the single row is not valid for the space beyond general checks."""
        return 0

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return min(wanted if wanted > 0 else ROWS, left)

    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil:
        """Number of the `left` samples that `score` takes at once."""
        return self.look_ahead(0, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        self.rows = rows[0]
        self.order = order
        self.first = first
        return OK

    cdef void foresee(self, const double *labels, const Py_ssize_t *order,
                      Py_ssize_t n) noexcept nogil:
        """Get the labels of the n samples of the open block, see `Budget.foresee`."""
        pass

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.missing = b"Space.scores"
        current[0] = NAN

    cdef bint has_single_score(self, const Rows *rows, bint wants_length) noexcept nogil:
        """Whether `single_score` may be called instead of `scores` for samples like these.

        Called before such samples are learnt. Sets `has_length`: whether `single_score` will also
        set `length`, which some rules need (`wants_length`).
        """
        self.has_length = False
        return False

    cdef double single_score(self, Py_ssize_t i) noexcept nogil:
        """The score of sample i with one output, if learning and predicting model are the same.

        If `has_length`, sets `length` to the value of `squared_lengths`; `beside` is set before.
        """
        self.missing = b"Space.single_score"
        return NAN

    cdef bint observes(self):
        """Whether the class defines `observe`."""
        return <void *> self.observe != <void *> Space.observe

    cdef bint takes_targets(self, Py_ssize_t n):
        """Whether samples may have n targets, or labels, each."""
        return n == 1 or not self.observes()

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        self.missing = b"Space.squared_lengths"

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        """Get label and weight of sample i, before its update: for models that keep samples."""
        pass

    cdef void observe_targets(self, Py_ssize_t i, const double *targets,
                              double weight) noexcept nogil:
        """Get several targets and the weight of sample i, as `observe`."""
        self.missing = b"Space.observe_targets"

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        self.missing = b"Space.update"
        return NOT_GIVEN

    cdef Status settle(self) noexcept nogil:
        """At the end of a call: prepare what only scoring needs. Returns a status."""
        return OK

    cdef void checkpoint(self) noexcept nogil:
        self.missing = b"Space.checkpoint"

    cdef void rollback(self) noexcept nogil:
        self.missing = b"Space.rollback"

    cdef object new_window(self, Py_ssize_t rows):
        return None

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        self.missing = b"Space.score"
        return NOT_GIVEN


cdef class KernelSpace(Space):
    """Kernel expansions over support vectors, plus a term of the budget policy if it has one.

    Parameters
    ----------
    support : SupportSet
    budget : Budget
        Not attached to another support set.
    """

    def __cinit__(self, SupportSet support not None, Budget budget not None):
        self.support = support
        self.budget = budget
        self.n_outputs = support.n_outputs
        budget.attach(support)
        support.most_unasked = self.most_unasked()

    cdef Py_ssize_t most_unasked(self) except -1:
        """See `SupportSet.most_unasked`. By exact type: a subclass may read kernel values."""
        kind = type(self.budget) if type(self) is KernelSpace else None
        if kind is NearestWhenFull:
            return (<NearestWhenFull> self.budget).max_support
        return PY_SSIZE_T_MAX if kind in (Budget, RefuseWhenFull) else 0

    def components(self):
        return self.support.kernel, self.support.store, self.budget

    def __reduce__(self):
        return _restore, (type(self), self.support.arguments(), self.support.get_state(),
                          self.budget)

    cdef tuple sample_form(self):
        return self.support.store.d, self.support.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        """Cost of a sample: its number of kernel values."""
        return self.support.n

    cdef bint stored_sparse(self) noexcept nogil:
        """Whether only sparse samples can be opened."""
        return self.support.store.needs_panels()

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        """Allocate memory for blocks of `rows` samples, or of more if that is faster."""
        if rows >= ROWS and self.support.begins_rows():
            rows = max(rows, self.learnt_together())
        return self.support.reserve_block(rows)

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        """Length of the next block: `wanted`, or, if that is 0, what suits the caches."""
        if wanted == 0:
            if self.support.begins_rows():
                wanted = min(self.learnt_together(), self.support.window.block.capacity)
            else:
                wanted = best_length(self.size(), self.support.store.d, self.support.itemsize)
        return min(wanted, left)

    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil:
        # Tiles of a fixed size stay in the cache for any number of support vectors.
        if self.support.scored_in_strips():
            return min(left, rows_scored(self.support.coefficients.n_vectors(),
                                         self.support.store.needs_panels()))
        return self.look_ahead(0, left)

    cdef Py_ssize_t learnt_together(self) noexcept nogil:
        """Length of a block whose window holds partial scores."""
        return rows_learnt(self.support.n, self.support.coefficients.n_vectors(),
                           self.support.store.needs_panels())

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        """Prepare samples order[first] ... order[first + n - 1]. Returns a status."""
        return self.support.open(rows, order, first, n)

    cdef void foresee(self, const double *labels, const Py_ssize_t *order,
                      Py_ssize_t n) noexcept nogil:
        self.budget.foresee(labels, order, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        """Scores of sample i of the block by the present model and by the averaged one."""
        self.support.scores(i, current, averaged)
        self.budget.shift(current)
        self.budget.shift(averaged)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """kappa(x_i, x_i), the same for every output.

        A space may skip outputs whose `needs_length` is not set.
        """
        cdef Py_ssize_t k
        cdef double length = self.support.squared_length(i)
        for k in range(self.n_outputs):
            update.lengths[k] = length

    cdef bint takes_targets(self, Py_ssize_t n):
        return self.budget.takes_targets(n)

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        self.budget.observe(&y, weight)

    cdef void observe_targets(self, Py_ssize_t i, const double *targets,
                              double weight) noexcept nogil:
        self.budget.observe(targets, weight)

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Count the step, shrink, and add sample i with its coefficients. Returns a status."""
        if self.support.coefficients.advance(update.lead) < 0 \
                or (update.shrink != 1 and self.support.shrink(update.shrink) < 0):
            return NO_MEMORY
        return self.budget.admit(i, update.coefficients) if update.updates else OK

    cdef void checkpoint(self) noexcept nogil:
        self.budget.checkpoint()
        self.support.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.support.rollback()
        self.budget.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return self.support.new_window(rows)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        """Write the averaged model's scores of n samples to out, n x n_outputs. Returns a status.

        The support set is only read: several threads may score at once, each with its own window.
        """
        cdef Py_ssize_t i
        if self.support.score(<Window> window, rows, first, n, out) < 0:
            return NO_MEMORY
        for i in range(n):
            self.budget.shift(out + i * self.n_outputs)
        return OK


cdef class InverseTimeSpace(KernelSpace):
    """A kernel space whose coefficients have a common scale of exactly 1/t after t steps.

    The rule gives coefficients in units of 1/t (see `InverseTime` in rules). So steps of equal size
    stay exactly equal, also for a policy that compares coefficients.
    """

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Count the step and give sample i its coefficients, which are in units of 1/t.

        Shrinking by (t - 1)/t takes the scale from 1/(t - 1) to 1/t. Setting the scale avoids the
        rounding of a product. While the sample is admitted the scale is 1.
        """
        cdef Status status = self.support.coefficients.advance(update.lead)
        if status < 0:
            return status
        self.support.coefficients.average.scale = 1
        if update.updates:
            status = self.budget.admit(i, update.coefficients)
        self.support.coefficients.average.scale = 1.0 / self.support.coefficients.average.steps
        return status


def _restore(cls, arguments, state, budget):
    subclass_of(cls, "the class of a space", KernelSpace)
    check_kind(budget, "budget", Budget)
    # copy.copy of a space passes the policy of the original, which is attached to its support set.
    return cls(restored_set(arguments, state), copy.copy(budget))
