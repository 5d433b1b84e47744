"""Budget policies: how a sample becomes a support vector, and which others make room for it.

A policy belongs to one support set. It changes the set only by methods of the set, which keep the
look-ahead window true, so a policy need not know the window. A policy may learn a state of its own,
which is copied, pickled and undone like the rest of the model.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status, check_no_arguments
from onlinekern.core.base.state cimport (
    count_of, fields_of, integer_within, items_of, subclass_of,
)
from onlinekern.core.base.vector cimport aligned_resize, resize_array, whole_panels
from onlinekern.core.kernels.support_set cimport SupportSet

import numpy as np

# Largest size of a set: sizes in bytes do not overflow.
cdef Py_ssize_t MOST_SUPPORT = 1 << 56


cdef class Budget(Component):
    """Base of the policies: add every sample.

    A subclass overrides `admit`. If it needs memory of the size of the set, it overrides `prepare`.
    If it learns anything, it overrides `get_learnt`, `set_learnt`, `checkpoint` and `rollback`.

    A copied or unpickled policy is not attached to a support set. It restores its state when it is
    attached to the copy of the original's set.

    Attributes
    ----------
    arguments : tuple
        The positional constructor arguments; a subclass sets it in ``__init__``.
    support : SupportSet or None
        The set that the policy is attached to.
    refused : int
        Samples that were not added because the set was full.
    """

    __hash__ = None

    def __cinit__(self, *args, **kwargs):
        check_no_arguments(type(self), args, kwargs)
        self.arguments = ()

    cdef int attach(self, SupportSet support) except -1:
        """Become the policy of a support set. Called once, by the space.

        Raises ValueError if the policy has a set already, or learnt its state with another one,
        or if its state is none that `get_state` would give.
        """
        if self.support is not None:
            raise ValueError(f"{self!r} belongs to another support set; attach a copy of it")
        if self.restored is not None:
            fields_of(self.restored, type(self).__name__, ("set", "refused", "learnt"))
            if self.restored["set"] != _identity(support):
                raise ValueError(
                    f"the state of {self!r} belongs to another support set: it was learnt with "
                    f"{self.restored['set']}, not {_identity(support)}")
        self.check_support(support)
        self.support = support
        try:
            self.prepare()
            if self.restored is not None:
                self.refused = count_of("refused", self.restored["refused"])
                self.set_learnt(self.restored["learnt"])
            elif support.n > 0 and type(self).get_learnt is not Budget.get_learnt:
                raise ValueError(f"{self!r} has no state: it cannot take over a support set that "
                                 f"holds {support.count()} support vectors")
        except BaseException:
            self.support = None
            raise
        self.restored = None
        return 0

    cdef int check_support(self, SupportSet support) except -1:
        """Raise ValueError if the policy could not have got such a support set, or None."""
        if support is None:
            raise TypeError(f"{self!r} needs a support set, got None")
        return 0

    cdef dict fields_learnt(self, object learnt, tuple names):
        """What `set_learnt` is given, which must have these fields; there is a support set."""
        if self.support is None:
            raise ValueError(f"{self!r} has no support set")
        return fields_of(learnt, type(self).__name__, names)

    cdef int prepare(self) except -1:
        """Allocate what depends on `support`, which has just been set."""
        return 0

    cdef void foresee(self, const double *labels, const Py_ssize_t *order,
                      Py_ssize_t n) noexcept nogil:
        """The window was opened on n samples: sample i has the label labels[order[i]].

        Without an order: labels[i]. For policies that compute for coming samples what they will
        need; it must not change what they learn.
        """
        pass

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        """Add sample i of the open window with K coefficients, or do not."""
        return NO_MEMORY if self.support.add(i, coefficients) < 0 else OK

    cdef bint takes_targets(self, Py_ssize_t n):
        """Whether it can follow a stream whose samples have n targets, or labels, each."""
        return n == 1 or <void *> self.observe == <void *> Budget.observe

    cdef void observe(self, const double *targets, double weight) noexcept nogil:
        """Take the label (or the targets) and the weight of the next sample, before `admit`."""
        pass

    cdef void shift(self, double *scores) noexcept nogil:
        """Add the offsets of the K outputs to the scores, if the policy has offsets."""
        pass

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`. Called before the support set does so."""
        self.refused_before = self.refused

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint. Called after the support set has done so."""
        self.refused = self.refused_before

    def get_learnt(self):
        """What was learnt beside the support set, as a dictionary of arrays and numbers."""
        return {}

    def set_learnt(self, learnt):
        """Take over what `get_learnt` gave; the support set has its state already."""
        self.fields_learnt(learnt, ())

    def get_state(self):
        """All that the constructor's arguments do not say, or None for a new policy."""
        if self.support is None:
            return self.restored
        return {"set": _identity(self.support), "refused": self.refused,
                "learnt": self.get_learnt()}

    def __reduce__(self):
        return _restore, (type(self), self.arguments, self.get_state())

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return _equal((self.arguments, self.get_state()), (other.arguments, other.get_state()))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.arguments))})"


def _identity(SupportSet support):
    """What the state of a policy must agree with: kind, slots and age of its support set."""
    return (*support.arguments(), support.n, support.n_added())


def _restore(cls, arguments, state):
    cdef Budget budget = subclass_of(cls, "the class of a policy", Budget)(
        *items_of(arguments, "arguments", len(arguments)))
    budget.restored = None if state is None else fields_of(
        state, type(budget).__name__, ("set", "refused", "learnt"))
    return budget


cdef Py_ssize_t bound_of(str name, Py_ssize_t number, Py_ssize_t least) except -1:
    """A number of support vectors, at least `least`."""
    return integer_within(name, number, least, MOST_SUPPORT)


cdef int change_arguments(Budget policy, tuple arguments, Py_ssize_t n_sizes) except -1:
    """Let a policy go on with other arguments, the first n_sizes of which are what they were.

    For policies whose memory depends on these alone. Nothing has changed if it raises.
    """
    type(policy)(*arguments)
    if arguments[:n_sizes] != policy.arguments[:n_sizes]:
        raise ValueError(f"the sizes of {policy!r} must stay {policy.arguments[:n_sizes]}, got "
                         f"{arguments[:n_sizes]}")
    policy.__init__(*arguments)
    return 0


def _equal(one, other):
    """Whether two states are equal, whatever they are nested of."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other


cdef class Bounded(Budget):
    """Base of the policies that keep at most `max_support` support vectors.

    Parameters
    ----------
    max_support : int >= 1
    """

    def __init__(self, Py_ssize_t max_support):
        self.max_support = bound_of("max_support", max_support, 1)
        self.arguments = (max_support,)

    def __dealloc__(self):
        free(self.step)
        free(self.work)

    cdef int check_support(self, SupportSet support) except -1:
        Budget.check_support(self, support)
        if self.max_support < 1:
            raise TypeError(f"{type(self).__name__} was made without its arguments")
        # There may be one slot more than support vectors, see `is_exceeded`.
        if support.count() > self.max_support or support.n > self.max_support + 1:
            raise ValueError(f"{support.count()} support vectors in {support.n} slots are too many "
                             f"for {self!r}")
        if self.fills_slots() and support.slots.n_free > 0:
            raise ValueError(f"{self!r} leaves no slot free, but {support.slots.n_free} are")
        return 0

    cdef bint fills_slots(self) noexcept:
        """Whether the policy never leaves a slot free, and relies on it."""
        return False

    cdef int prepare(self) except -1:
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        self.step = <double *> aligned_resize(self.step, 0, 2 * n_outputs * sizeof(double))
        if self.step == NULL:
            raise MemoryError(f"no memory for {n_outputs} coefficients")
        self.noted = self.step + n_outputs
        return 0

    cdef void note(self, const double *targets, double weight) noexcept nogil:
        """Keep the targets of all outputs, for `observe` of the policies of filters."""
        memcpy(self.noted, targets, self.support.n_outputs * sizeof(double))
        self.weight = weight

    cdef bint is_full(self) noexcept nogil:
        """Whether there is no room for another support vector."""
        return self.support.count() >= self.max_support

    cdef bint is_exceeded(self) noexcept nogil:
        """Whether there is a support vector too many."""
        return self.support.count() > self.max_support

    cdef Status make_room(self, Py_ssize_t slots) noexcept nogil:
        """Let `work` hold a number for each of so many slots. Returns a status."""
        cdef double *fresh
        if slots <= self.room:
            return OK
        slots = whole_panels(slots + slots // 2)
        fresh = <double *> resize_array(self.work, 0, slots, sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.work = fresh
        self.room = slots
        return OK


cdef class RefuseWhenFull(Bounded):
    """Add samples until the set is full, then add no more: a bound on memory, not a strategy.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        if self.is_full():
            self.refused += 1
            return OK
        return Budget.admit(self, i, coefficients)


POLICIES = {"grow": Budget, "refuse": RefuseWhenFull}
