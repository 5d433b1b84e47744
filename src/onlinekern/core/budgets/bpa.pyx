"""BPA-S: replace the support vector whose removal costs least (Wang and Vucetic 2010).

Of all f - a_r kappa(x_r, .) + b kappa(x_t, .), BPA-S takes the one that minimises
|f_new - f|^2 / 2 + C l_new. For a given r the best b is a_r kappa_rt / kappa_tt, the projection of
the removed term onto the sample, plus the step of PA-I. So r minimises
|a_r|^2 (kappa_rr - kappa_rt^2 / kappa_tt). With K outputs |a_r| is the Euclidean norm of the K
coefficients: the squared errors of the K functions add up.
"""
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.budgets.policy cimport Bounded, Budget
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers


cdef class CheapestReplacement(Bounded):
    """Replace the support vector whose removal costs least, once the budget is full.

    The rule must give coefficients only to samples of kappa_tt > 0, as `PassiveAggressive` does.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef bint fills_slots(self) noexcept:
        return True

    cdef int prepare(self) except -1:
        Bounded.prepare(self)
        self.lengths = SlotNumbers()
        return 0

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, slot
        cdef double length = self.support.squared_length(i)
        if self.lengths.reserve(self.support.capacity) < 0:
            return NO_MEMORY
        if not self.is_full():
            slot = self.support.add(i, coefficients)
        elif self.support.coefficients.write_out() < 0:
            return NO_MEMORY
        else:
            slot = self.support.coefficients.cheapest(self.support.kernel_values(i), length,
                                                      self.lengths.values)
            for k in range(self.support.n_outputs):
                self.step[k] = coefficients[k]
            self.support.add_coefficients_of(
                slot, self.support.kernel_value(i, slot) / length, self.step)
            slot = self.support.replace(slot, i, self.step)
        if slot < 0 or self.lengths.set(slot, length) < 0:
            return NO_MEMORY
        return OK

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.lengths.checkpoint(self.support.n)

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.lengths.rollback()

    def get_learnt(self):
        return {"lengths": self.lengths.to_array(self.support.n)}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("lengths",))
        self.lengths.from_array("lengths", learnt["lengths"], self.support.n)


POLICIES = {"bpa_s": CheapestReplacement}
