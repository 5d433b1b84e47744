"""Budget policies: what happens to a sample that is to become a support vector.

Layer 7. A policy changes the support set through the set's own methods only, which keep the
look-ahead window true; so no policy needs to know that there is a window. What a policy remembers
of the stream beside the support set it gives back when a call fails, and takes along when the model
is copied.
"""
from onlinekern.core.parts cimport Part
from onlinekern.core.support cimport SupportSet


cdef class Budget(Part):
    """Base of the policies: every sample is added.

    Attributes
    ----------
    refused : int
        Samples that were not added since the model was made.
    """

    cdef int attach(self, SupportSet support) except -1:
        """Prepare for a support set, the only one that the policy will have; called once."""
        return 0

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        """Take sample i of the open window with K coefficients, or not."""
        return OUT_OF_MEMORY if support.add(i, coefficients) < 0 else ADDED

    cdef void observe(self, double y, double weight) noexcept nogil:
        """Label (or target) and weight of the sample that may be admitted next."""
        pass

    cdef void shift(self, double *scores) noexcept nogil:
        """Add the offsets of the K outputs, of a policy that has them, to the scores."""
        pass

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        """Remember the present state for `rollback`; the support set does so after it."""
        pass

    cdef void rollback(self, SupportSet support) noexcept nogil:
        """Return to the state of the checkpoint; the support set has done so already."""
        pass

    def get_state(self):
        """What was learnt beside the support set, as a dictionary of arrays and numbers."""
        return {}

    def set_state(self, SupportSet support, state):
        """Take over what `get_state` gave, with a support set that has its state already."""


cdef class Cap(Budget):
    """Add until there are `max_support` rows, then refuse: a bound on memory, not a strategy.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef Py_ssize_t max_support

    def __init__(self, Py_ssize_t max_support):
        self.max_support = max_support
        self.arguments = (max_support,)

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        if support.n - support.slots.n_free >= self.max_support:
            self.refused += 1
            return SKIPPED
        return Budget.admit(self, support, i, coefficients)


BUDGETS = {"grow": Budget, "cap": Cap}
