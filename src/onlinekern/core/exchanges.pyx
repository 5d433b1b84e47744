"""Exchanges: the budget policy of BPA-S.

Layer 8.
"""
from onlinekern.core.budgets cimport OUT_OF_MEMORY, Budget, Eviction, Verdict
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.support cimport SupportSet


cdef class CheapestEviction(Eviction):
    """The sample takes the place of the row whose loss it makes good best, and its coefficients.

    BPA-S (Wang and Vucetic 2010): of all f - a_r kappa(x_r, .) + b kappa(x_t, .), the one that
    minimises |f_new - f|^2 / 2 + C l_new. For each r the best b is a_r kappa_rt / kappa_tt, which
    is the projection of what leaves, plus the step of PA-I; so the row that leaves is the one of
    least |a_r|^2 (kappa_rr - kappa_rt^2 / kappa_tt). |a_r| is the Euclidean norm of its K
    coefficients, the sum over the K functions of what each would lose.

    The rule behind it gives coefficients to samples of kappa_tt > 0 only, see `PassiveAggressive`
    in rules.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef int attach(self, SupportSet support) except -1:
        Eviction.attach(self, support)
        self.lengths = Coefficients(1, False, support.store.itemsize)
        return 0

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = support.n
        cdef double length = support.kernel.diagonal(support.window.chunk.squares[i]), share
        cdef const char *g = support.window.row(i)
        cdef Verdict verdict
        if self.lengths.reserve(support.capacity) < 0:
            return OUT_OF_MEMORY
        if not self.full(support):
            verdict = Budget.admit(self, support, i, coefficients)
        else:
            slot = support.coefficients.ops.cheapest(
                g, 1 / length, support.coefficients.values, support.coefficients.capacity,
                support.coefficients.n_outputs, self.lengths.values, support.n)
            if support.store.itemsize == 4:
                share = (<const float *> g)[slot] / length
            else:
                share = (<const double *> g)[slot] / length
            verdict = self.exchange(support, slot, i, share, coefficients)
        if self.lengths.put(slot, &length) < 0:
            return OUT_OF_MEMORY
        return verdict

    cdef Verdict exchange(self, SupportSet support, Py_ssize_t slot, Py_ssize_t i, double share,
                          const double *coefficients) noexcept nogil:
        """Put sample i in the place of a row, with its step and a share of what leaves."""
        cdef Py_ssize_t k, capacity = support.coefficients.capacity
        share *= support.coefficients.scale
        for k in range(support.coefficients.n_outputs):
            self.step[k] = coefficients[k] \
                + share * support.coefficients.values[k * capacity + slot]
        return self.swap(support, slot, i, self.step)

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.lengths.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.lengths.rollback()

    def get_state(self):
        return self.lengths.get_state()

    def set_state(self, SupportSet support, state):
        if self.lengths.reserve(support.capacity) < 0:
            raise MemoryError(f"no memory for the lengths of {support.n} support vectors")
        self.lengths.set_state(state)
