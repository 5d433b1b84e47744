"""Evidence: which prior precision r would have predicted the samples best, before they came.

Let e_t and v_t be the error and the variance of the prediction of sample t by those before it, in
units of the noise, and a_t its weight. Two identities of recursive least squares,

    sum_t a_t e_t^2 / (1 + a_t v_t) = sum_t a_t y_t^2 - b' A^-1 b,
    sum_t log(1 + a_t v_t) = log |A / r|,

give the one-step errors of every r by one Cholesky factor of its A: no sample is learnt again. With
the variance of the noise that suits r best, minus twice the logarithm of the density of the
targets, each given those before, is but for a constant

    n log(sum_t a_t e_t^2 / (1 + a_t v_t)) + log |A / r|,

and r is where this is least, among `CHOICES`, or some places below. It is looked for from the
present r on, upwards or downwards, when the samples have become twice as many.
"""
from libc.math cimport INFINITY, fabs, log
from libc.stdlib cimport free, malloc

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.information cimport Information

# Below the least of these, float32 features must be multiplied in double (`models.least_squares`).
CHOICES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
cdef Py_ssize_t N_CHOICES = len(CHOICES)
cdef double[::1] REGS = np.array(CHOICES)
# r is chosen for the first time after so many samples, and then after twice as many each time.
cdef Py_ssize_t FIRST = 64
# Of the squares of the targets, at least such a share counts as not explained: rounding.
cdef double LEAST_SHARE = 1e-12


cdef class Evidence:
    """What the one-step errors of least squares need beside its sums.

    Parameters
    ----------
    sums : Information
        Its r is the one that is chosen.
    below : int >= 0
        So many choices below the densest one is what is taken.
    """

    def __cinit__(self, Information sums not None, Py_ssize_t below):
        self.sums, self.below = sums, below
        self.totals = JournaledMatrix("sums of squared targets", 1, sums.n_outputs + 2)

    cdef void add(self, const double *targets, double weight, double one) noexcept nogil:
        """Count a sample of a y, a and 1, all times what stands for forgetting."""
        cdef Py_ssize_t k, n_outputs = self.sums.n_outputs
        cdef double *totals = self.totals.touch(0)
        for k in range(n_outputs):
            totals[k] += targets[k] * targets[k] / weight
        totals[n_outputs] += one
        totals[n_outputs + 1] += 1

    cdef void decay(self, double factor) noexcept nogil:
        cdef Py_ssize_t k
        cdef double *totals = self.totals.touch(0)
        for k in range(self.sums.n_outputs + 1):
            totals[k] *= factor

    cdef bint is_due(self, Py_ssize_t n) noexcept nogil:
        """Whether the last n samples have made them twice as many as at the last choice."""
        cdef double total = self.totals.values[self.sums.n_outputs + 1], due = FIRST
        while due <= total - n:
            due *= 2
        return due <= total

    cdef double surprise(self, const double *lost, double determinant) noexcept nogil:
        """Minus twice the logarithm of the density of the targets."""
        cdef Py_ssize_t k, n_outputs = self.sums.n_outputs
        cdef const double *totals = self.totals.values
        cdef double found = n_outputs * determinant
        for k in range(n_outputs):
            if totals[k] > 0:
                found += totals[n_outputs] * log(
                    max(totals[k] - lost[k], LEAST_SHARE * totals[k]))
        return found

    cdef Py_ssize_t nearest(self) noexcept nogil:
        """The choice that is nearest to r."""
        cdef Py_ssize_t i, best = 0
        for i in range(N_CHOICES):
            if fabs(log(REGS[i] / self.sums.reg)) < fabs(log(REGS[best] / self.sums.reg)):
                best = i
        return best

    cdef Status choose(self, Py_ssize_t used) noexcept nogil:
        """Choose r; nothing of A is forgotten for the moment. Returns a status."""
        cdef Status status
        self.begin()
        status = self.step(used)
        while status == OK and self.way != 0:
            status = self.step(used)
        return status

    cdef void begin(self) noexcept nogil:
        """Begin to look for r, in steps of one r each."""
        self.best, self.way, self.least = self.nearest(), 1, INFINITY

    cdef Status step(self, Py_ssize_t used) noexcept nogil:
        """Try the next r, and take the best one where that was the last. Returns a status."""
        cdef bint first = self.least == INFINITY
        cdef Py_ssize_t place = self.best if first else self.best + self.way
        cdef double found = INFINITY
        cdef Status status = OK
        if self.way == 0:
            return OK
        if 0 <= place < N_CHOICES:
            status = self.measure(used, REGS[place], &found)
        if found < self.least:
            self.least, self.best = found, place
        elif first:
            self.least = found if found < INFINITY else -INFINITY
        else:
            self.way = -1 if self.way == 1 else 0
            if self.way == 0 and status == OK:
                self.sums.set_reg(REGS[max(self.best - self.below, 0)])
        return status

    cdef Status measure(self, Py_ssize_t used, double reg, double *found) noexcept nogil:
        """How badly another r would have predicted the samples. Returns a status."""
        cdef Py_ssize_t room = used * used + (self.sums.length + 1) * self.sums.n_outputs
        cdef double determinant
        cdef double *matrix = <double *> malloc(room * sizeof(double))
        cdef double *solutions = matrix + used * used
        cdef double *lost = solutions + self.sums.length * self.sums.n_outputs
        cdef Status status
        if matrix == NULL:
            return NO_MEMORY
        status = self.sums.residue(used, reg, matrix, solutions, lost, &determinant)
        if status == OK:
            found[0] = self.surprise(lost, determinant)
        free(matrix)
        return status

    cdef void checkpoint(self) noexcept nogil:
        self.totals.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.totals.rollback()

    def get_state(self):
        """The sums, ndarray of shape (n_outputs + 2,)."""
        return self.totals.to_array()[0]

    def set_state(self, totals):
        """Take over what `get_state` gave."""
        totals = doubles_of_shape("evidence", totals, (self.sums.n_outputs + 2,))
        if not (totals >= 0).all():
            raise ValueError(f"evidence must be sums >= 0, got {totals}")
        self.totals.set_array(totals[None])
