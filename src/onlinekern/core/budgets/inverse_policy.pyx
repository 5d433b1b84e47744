"""InverseGramPolicy: base of the policies that keep the inverse Gram matrix of the support vectors.

The row of a support vector in the inverse is its slot. Kernel values come from the window when a
sample enters. When the inverse is worn, it is computed afresh from the support vectors.
"""
from libc.string cimport memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.budgets.policy cimport Bounded, Budget
from onlinekern.core.linalg.inverse_gram cimport InverseGram

from onlinekern.core.linalg.inverse_gram import INVERSE_FIELDS

# Fields of a state that models of older versions lack: None stands for them.
cdef tuple LATER_FIELDS = ("pending", "products")


cdef class InverseGramPolicy(Bounded):
    """Base of the policies; `enter` and `leave` keep support set and inverse alike.

    Parameters
    ----------
    max_support : int >= 1
        There may be one support vector more during a step.
    """

    cdef int prepare(self) except -1:
        Bounded.prepare(self)
        self.gram = InverseGram(self.max_support + 1)
        if self.make_room(self.gram.ld) < 0:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        return self.support.prepare_kernel_rows()

    cdef void read_kernel_values(self, Py_ssize_t i) noexcept nogil:
        """work[r] = kappa(x_i, s_r) for each slot r, ld numbers."""
        # What earlier steps left in slots not used yet must be finite: it meets zeros.
        memset(self.work, 0, self.gram.ld * sizeof(double))
        self.support.as_doubles(self.support.kernel_values(i), self.work)

    cdef Py_ssize_t enter(self, Py_ssize_t i, const double *coefficients,
                          double ridge) noexcept nogil:
        """Add sample i as a support vector. Returns its slot, or NO_MEMORY when memory ran out."""
        cdef Py_ssize_t slot
        self.read_kernel_values(i)
        slot = self.support.add(i, coefficients)
        if slot >= 0:
            self.gram.border(slot, self.work, self.support.squared_length(i), ridge)
        return slot

    cdef Status leave(self, Py_ssize_t slot) noexcept nogil:
        """Remove the support vector of a slot. Returns a status."""
        self.gram.deflate(slot)
        if self.support.drop(slot) < 0:
            return NO_MEMORY
        return self.renew() if self.gram.needs_refresh() else OK

    cdef Status renew(self) noexcept nogil:
        """Compute the inverse afresh. Returns a status."""
        cdef Py_ssize_t slot
        cdef const char *g
        for slot in range(self.support.n):
            if self.support.occupied(slot):
                g = self.support.kernel_row(slot)
                if g == NULL:
                    return NO_MEMORY
                self.support.as_doubles(g, self.gram.fresh_row(slot))
        self.gram.invert()
        return OK

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.gram.checkpoint()

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.gram.rollback()

    cdef dict fields_learnt(self, object learnt, tuple names):
        if isinstance(learnt, dict):
            learnt = {**{name: None for name in LATER_FIELDS if name in names}, **learnt}
        return Bounded.fields_learnt(self, learnt, names)

    def get_learnt(self):
        return self.gram.get_state()

    def set_learnt(self, learnt):
        self.set_inverse(self.fields_learnt(learnt, INVERSE_FIELDS))

    cdef object set_inverse(self, object learnt):
        """Take over the inverse, whose rows must be those of the occupied slots.

        Returns which of them are occupied, an ndarray of bool.
        """
        cdef Py_ssize_t slot
        occupied = np.zeros(self.gram.ld, bool)
        for slot in range(self.support.n):
            occupied[slot] = self.support.occupied(slot)
        self.gram.set_state(learnt)
        inverse, diagonal = learnt["inverse"], learnt["diagonal"]
        terms = inverse[:0] if learnt["pending"] is None else learnt["pending"][0]
        if not np.array_equal(diagonal[0] != 0, occupied) or inverse[:, ~occupied].any() \
                or inverse[~occupied[:self.gram.size]].any() or terms[:, ~occupied].any():
            raise ValueError("the inverse Gram matrix must have a row for each of the slots "
                             f"{np.flatnonzero(occupied)}, and zeros elsewhere; its diagonal is "
                             f"not 0 in {np.flatnonzero(diagonal)}")
        return occupied
