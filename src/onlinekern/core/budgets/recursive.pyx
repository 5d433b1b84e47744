"""Kernel recursive least squares over a window, and on a budget.

The function interpolates values v at its support vectors: f(x) = k(x)'H v, where H = (K + R)^-1 is
the inverse Gram matrix with the ridges R. A sample is added to H and v; if the budget is exceeded,
a support vector is removed from both. The coefficients are then H v, which is updated instead of
computed anew. Each of these steps takes time size^2.

Several targets share H; each has its own values and coefficients. The support vector to remove is
chosen by all of them together.

In `SlidingWindow` (Van Vaerenbergh, Via and Santamaria 2006) and `FixedBudget` (Van Vaerenbergh,
Santamaria, Liu and Principe 2010), v are the targets, and the ridge is that of the regularised
least-squares problem. In `tracker.Tracker`, v is the mean of a Gaussian process.
"""
from libc.math cimport fabs, sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport chosen, not_negative, positive_number
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize, finite
from onlinekern.core.budgets.inverse_policy cimport InverseGramPolicy
from onlinekern.core.budgets.policy cimport change_arguments
from onlinekern.core.linalg.inverse_gram cimport over_weight

from onlinekern.core.linalg.inverse_gram import INVERSE_FIELDS


cdef class RecursivePolicy(InverseGramPolicy):
    """Base of the policies whose coefficients are H v; a subclass defines `take`, and leaves H v.

    Parameters
    ----------
    max_support : int >= 1
        There may be one support vector more during a step.
    """

    abstract = True

    def __dealloc__(self):
        free(self.solution)

    cdef int prepare(self) except -1:
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        InverseGramPolicy.prepare(self)
        self.values = JournaledMatrix("values at the support vectors", n_outputs, self.gram.ld)
        self.solution = <double *> aligned_resize(self.solution, 0,
                                                  n_outputs * self.gram.ld * sizeof(double))
        if self.solution == NULL:
            raise MemoryError(f"no memory for {self.max_support} coefficients")
        return 0

    cdef bint takes_targets(self, Py_ssize_t n):
        return n == self.support.n_outputs

    cdef void observe(self, const double *targets, double weight) noexcept nogil:
        self.note(targets, weight)

    cdef Status take(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        """Learn sample i; it may become a support vector. Returns a status."""
        self.missing = b"RecursivePolicy.take"
        return OK

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k
        cdef Status status = self.take(i, coefficients)
        if status == OK and self.is_exceeded():
            status = self.remove(self.least_useful())
        for k in range(self.support.n_outputs if status == OK else 0):
            if not finite(self.solved(k), self.gram.size):
                return NOT_FINITE
            # Nothing shrinks, so the scale of the coefficients is 1.
            status = self.support.coefficients.overwrite(k, self.solved(k))
            if status != OK:
                break
        return status

    cdef double *solved(self, Py_ssize_t k) noexcept nogil:
        """H v of output k."""
        return self.solution + k * self.gram.ld

    cdef void set_values_at(self, Py_ssize_t slot) noexcept nogil:
        """v of a slot = the targets of the sample."""
        cdef Py_ssize_t k
        for k in range(self.support.n_outputs):
            self.values.touch(k)[slot] = self.noted[k]

    cdef void solve(self) noexcept nogil:
        """solution = H v."""
        cdef Py_ssize_t k
        for k in range(self.support.n_outputs):
            self.gram.solve(self.values.row(k), self.solved(k))

    cdef void read_solution(self) noexcept nogil:
        """solution = the coefficients, which are what it was when they were set."""
        cdef Py_ssize_t k, n = self.support.n
        memset(self.solution, 0, self.support.n_outputs * self.gram.ld * sizeof(double))
        for k in range(self.support.n_outputs if n > 0 else 0):
            memcpy(self.solved(k), self.support.coefficients.values
                   + k * self.support.coefficients.capacity, n * sizeof(double))

    cdef double size_of(self, Py_ssize_t slot) noexcept nogil:
        """|alpha_r|, the Euclidean norm over the outputs."""
        cdef Py_ssize_t k
        cdef double square = 0
        if self.support.n_outputs == 1:
            return fabs(self.solution[slot])
        for k in range(self.support.n_outputs):
            square += self.solved(k)[slot] * self.solved(k)[slot]
        return sqrt(square)

    cdef Py_ssize_t least_useful(self) noexcept nogil:
        """The slot that the others predict best: least error |alpha_r| / H_rr; the oldest on ties.
        """
        cdef Py_ssize_t slot
        for slot in range(self.support.n):
            self.work[slot] = self.size_of(slot) / self.gram.own[slot]
        return self.support.smallest(self.work)

    cdef Status remove(self, Py_ssize_t slot) noexcept nogil:
        """Remove a support vector and its values. Returns a status."""
        cdef Py_ssize_t k
        for k in range(self.support.n_outputs):
            self.values.touch(k)[slot] = 0
        if self.leave(slot) < 0:
            return NO_MEMORY
        for k in range(self.support.n_outputs):
            self.gram.solve_deflated(slot, self.values.row(k), self.solved(k))
        return OK

    cdef void checkpoint(self) noexcept nogil:
        InverseGramPolicy.checkpoint(self)
        self.values.checkpoint()

    cdef void rollback(self) noexcept nogil:
        InverseGramPolicy.rollback(self)
        self.values.rollback()
        self.read_solution()

    def change(self, *arguments):
        """Go on with other arguments of the constructor; max_support must be the same."""
        change_arguments(self, arguments, 1)

    def get_learnt(self):
        return {**self.gram.get_state(), "values": self.values.to_array()}

    def set_learnt(self, learnt):
        self.set_values(self.fields_learnt(learnt, (*INVERSE_FIELDS, "values")))

    cdef object set_values(self, object learnt):
        """Take over inverse and values. Returns which slots are occupied, an ndarray of bool."""
        occupied = self.set_inverse(chosen(learnt, INVERSE_FIELDS))
        self.values.set_array(learnt["values"])
        if learnt["values"][:, ~occupied].any():
            raise ValueError("values must be 0 but in the slots "
                             f"{np.flatnonzero(occupied)}, got others in "
                             f"{np.flatnonzero(learnt['values'].any(axis=0))}")
        self.read_solution()
        return occupied


cdef class SlidingWindow(RecursivePolicy):
    """Regularised least squares of the last samples: the oldest one leaves.

    Parameters
    ----------
    max_support : int >= 1
        Length of the window.
    reg : float > 0
        The ridge of a sample of weight 1.
    """

    def __init__(self, Py_ssize_t max_support, double reg):
        super().__init__(max_support)
        self.reg = positive_number("reg", reg)
        self.arguments = (max_support, reg)

    cdef Status take(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, slot = self.enter(i, coefficients, over_weight(self.reg, self.weight))
        if slot < 0:
            return NO_MEMORY
        self.set_values_at(slot)
        for k in range(self.support.n_outputs):
            self.gram.solve_joined(self.values.row(k), self.solved(k))
        return OK

    cdef Py_ssize_t least_useful(self) noexcept nogil:
        cdef Py_ssize_t slot
        for slot in range(self.support.n):
            self.work[slot] = <double> self.support.age(slot)
        return self.support.smallest(self.work)


cdef class FixedBudget(SlidingWindow):
    """Regularised least squares of the most significant samples.

    The sample that the others predict best leaves. Before a sample enters, the targets of the
    support vectors move towards its own, the more the closer they are:
    y_r <- y_r + eta kappa(x_r, x_t) (y_t - y_r).

    Parameters
    ----------
    max_support : int >= 1
    reg : float > 0
        The ridge of a sample of weight 1.
    eta : float in [0, 1]
    """

    def __init__(self, Py_ssize_t max_support, double reg, double eta):
        super().__init__(max_support, reg)
        self.eta = not_negative("eta", eta)
        if eta > 1:
            raise ValueError(f"eta must be in [0, 1], got {eta}")
        self.arguments = (max_support, reg, eta)

    cdef Status take(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, slot
        cdef double *values
        cdef Status status
        if self.eta == 0:
            return SlidingWindow.take(self, i, coefficients)
        for k in range(self.support.n_outputs):
            values = self.values.touch(k)
            for slot in range(self.support.n):
                if self.support.occupied(slot):
                    values[slot] += self.eta * self.support.kernel_value(i, slot) \
                        * (self.noted[k] - values[slot])
        status = SlidingWindow.take(self, i, coefficients)
        self.solve()  # all values have moved
        return status

    cdef Py_ssize_t least_useful(self) noexcept nogil:
        return RecursivePolicy.least_useful(self)


POLICIES = {"sliding_window": SlidingWindow, "fixed_budget": FixedBudget}
