"""Budget policies: what happens to a sample that is to become a support vector.

Layer 7. A policy changes the support set through the set's own methods only, which keep the
look-ahead window true; so no policy needs to know that there is a window.
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

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        """Take sample i of the open window with K coefficients, or not."""
        return OUT_OF_MEMORY if support.add(i, coefficients) < 0 else ADDED


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
