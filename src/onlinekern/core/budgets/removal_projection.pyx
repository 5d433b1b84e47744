"""Budget maintenance of BSGD by removal and by projection (Wang, Crammer and Vucetic 2012).

When the budget is exceeded, the support vector that contributes least to the model is removed or
projected: that of the smallest ||alpha|| sqrt(kappa(s, s)), the oldest of equals.
"""
from libc.math cimport sqrt

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.budgets.inverse_policy cimport InverseGramPolicy
from onlinekern.core.budgets.policy cimport Bounded, Budget
from onlinekern.core.budgets.queue cimport Queue
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers

# Kernel values of float32 samples are off by about 1e-7, so a smaller ridge does not tell a sample
# from a near-duplicate. The error of the inverse between two fresh ones grows with 1 / RIDGE^2:
# about 1e-5 here, 1e-3 with 1e-6 (benchmarks/drift.py).
cdef double RIDGE = 1e-5


cdef class Removal(Bounded):
    """Remove the smallest support vector when the budget is exceeded.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef int prepare(self) except -1:
        Bounded.prepare(self)
        self.queue = Queue(self.max_support + 1)
        self.lengths = SlotNumbers()
        return 0

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = self.support.add(i, coefficients)
        cdef double length = sqrt(self.support.squared_length(i))
        if slot < 0 or self.lengths.reserve(self.support.capacity) < 0 \
                or self.lengths.set(slot, length) < 0:
            return NO_MEMORY
        self.queue.put(self.support, slot, length)
        if self.is_exceeded() and self.support.drop(self.queue.pop()) < 0:
            return NO_MEMORY
        return OK

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.lengths.checkpoint(self.support.n)

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.lengths.rollback()
        self.queue.refill(self.support, self.lengths.values)

    def get_learnt(self):
        return {"lengths": self.lengths.to_array(self.support.n)}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("lengths",))
        self.lengths.from_array("lengths", learnt["lengths"], self.support.n)
        self.queue.refill(self.support, self.lengths.values)


cdef class Projection(InverseGramPolicy):
    """Project the smallest support vector onto the span of the others, and remove it.

    With H the inverse Gram matrix of all support vectors, the projection of phi(s_r) is
    sum_j -H_jr / H_rr phi(s_j).

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        if self.enter(i, coefficients, RIDGE) < 0:
            return NO_MEMORY
        if self.is_exceeded() and self.project(self.smallest()) < 0:
            return NO_MEMORY
        return OK

    cdef Py_ssize_t smallest(self) noexcept nogil:
        """The slot of the smallest contribution."""
        cdef Py_ssize_t slot
        for slot in range(self.support.n):
            self.work[slot] = self.support.norm(slot) \
                * sqrt(max(0.0, self.gram.diagonal.values[slot] - RIDGE))
        return self.support.smallest(self.work)

    cdef Status project(self, Py_ssize_t slot) noexcept nogil:
        """Project and remove a support vector. Returns a status."""
        cdef Py_ssize_t j
        cdef const double *row = self.gram.row(slot)
        self.support.coefficients_of(slot, self.step)
        for j in range(self.support.n):
            self.work[j] = -row[j] / row[slot]
        self.work[slot] = 0
        if self.support.add_along(self.work, self.step) < 0:
            return NO_MEMORY
        return self.leave(slot)


POLICIES = {"remove": Removal, "project": Projection}
