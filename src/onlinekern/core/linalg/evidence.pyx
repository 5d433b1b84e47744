"""Evidence: chooses the prior precision r that would have predicted the samples best.

Let e_t and v_t be the error and the variance of the prediction of sample t from the samples before
it, in units of the noise, and a_t its weight. Two identities of recursive least squares,

    sum_t a_t e_t^2 / (1 + a_t v_t) = sum_t a_t y_t^2 - b' A^-1 b,
    sum_t log(1 + a_t v_t) = log |A / r|,

give the one-step errors for any r from one Cholesky factor of its A: no sample is learnt again.
With the noise variance that fits r best, minus twice the log density of the targets, each given
those before, is up to a constant

    n log(sum_t a_t e_t^2 / (1 + a_t v_t)) + log |A / r|.

r is the one of `CHOICES` with the smallest value, or some places below it. The search begins at the
present r and goes to larger, then to smaller ones. It is done whenever the number of samples has
doubled: at once, or by a step of a factor (`TiledFactor`) now and then.
"""
from libc.math cimport INFINITY, fabs, log

import numpy as np

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL
from onlinekern.core.linalg.information cimport Information
from onlinekern.core.linalg.tiled_factor cimport TiledFactor

# With a smaller r, float32 features would have to be multiplied in double (`models.least_squares`).
CHOICES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
cdef Py_ssize_t N_CHOICES = len(CHOICES)
cdef double[::1] REGS = np.array(CHOICES)
# r is chosen for the first time after this many samples, then after twice as many each time.
cdef Py_ssize_t FIRST = 64
# Choices after up to this many samples are made at once: they are cheap, and the r before may be
# far off. If they came 48 samples later, kin40k would have a fifth more error.
AT_ONCE = 256
cdef double LAST_AT_ONCE = AT_ONCE
# Least share of the squared targets that counts as unexplained: less is rounding.
cdef double LEAST_SHARE = 1e-12


cdef class Evidence:
    """The sums of squared targets, and the search for r.

    Parameters
    ----------
    sums : Information
        The sums of least squares, whose r is set.
    below : int >= 0
        r is this many choices below the best one.
    """

    def __cinit__(self, Information sums not None, Py_ssize_t below):
        self.sums, self.below = sums, below
        self.totals = JournaledMatrix("sums of squared targets", 1, sums.n_outputs + 2)
        self.factor = TiledFactor(sums)

    cdef void add(self, const double *targets, double weight, double one) noexcept nogil:
        """Add a sample: `targets` a y, `weight` a, `one` 1, all times its forgetting factor."""
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

    cdef double due(self, Py_ssize_t n) noexcept nogil:
        """Number of samples of the choice that falls within the next n samples; 0: there is none.
        """
        cdef double total = self.totals.values[self.sums.n_outputs + 1], due = FIRST
        while due <= total:
            due *= 2
        return due if due <= total + n else 0

    cdef bint is_spread(self, Py_ssize_t n) noexcept nogil:
        """Whether there is such a choice, and its work is spread over these samples."""
        return self.due(n) > LAST_AT_ONCE

    cdef double surprise(self, const double *lost, double determinant) noexcept nogil:
        """Minus twice the log density of the targets, up to a constant; summed over outputs."""
        cdef Py_ssize_t k, n_outputs = self.sums.n_outputs
        cdef const double *totals = self.totals.values
        cdef double found = n_outputs * determinant
        for k in range(n_outputs):
            if totals[k] > 0:
                found += totals[n_outputs] * log(
                    max(totals[k] - lost[k], LEAST_SHARE * totals[k]))
        return found

    cdef Py_ssize_t nearest(self) noexcept nogil:
        """Index of the choice nearest to the present r."""
        cdef Py_ssize_t i, best = 0
        for i in range(N_CHOICES):
            if fabs(log(REGS[i] / self.sums.reg)) < fabs(log(REGS[best] / self.sums.reg)):
                best = i
        return best

    cdef void begin(self) noexcept nogil:
        """Begin a search."""
        self.end()
        self.best, self.way, self.least = self.nearest(), 1, INFINITY

    cdef bint is_whole(self) noexcept nogil:
        """Whether the search is over."""
        return self.way == 0

    cdef bint waits(self, Py_ssize_t n_strips) noexcept nogil:
        """Whether the next step needs more panels of A than the first n_strips."""
        return (self.factor.j if self.factor.panels > 0 else 0) >= n_strips

    cdef Status step(self, Py_ssize_t panels) noexcept nogil:
        """Do a step of the factor for the next r, with this many panels of A; returns a status.

        After the last step of a factor, its r is compared with the best one. If there was no
        memory, the next call tries again.
        """
        cdef Py_ssize_t place = self.best if self.least == INFINITY else self.best + self.way
        cdef Py_ssize_t more = panels * OK_PANEL + self.sums.n_outputs
        cdef Status status
        if self.is_whole():
            return OK
        if not 0 <= place < N_CHOICES:
            self.compare(place, INFINITY)
            return OK
        if self.factor.panels == 0:
            status = self.factor.begin_factor(panels, REGS[place], more)
            if status != OK:
                return status
        if not self.factor.is_factor():
            self.factor.factor_step()
        if self.factor.is_factor():
            status = self.factor.status
            if status != OK:
                return status
            self.compare(place, self.measure())
            self.factor.end()
        return OK

    cdef void compare(self, Py_ssize_t place, double found) noexcept nogil:
        """Compare the value `found` of choice `place` with the best one; set the next direction."""
        cdef bint first = self.least == INFINITY
        if found < self.least:
            self.least, self.best = found, place
        elif first:
            self.least = found if found < INFINITY else -INFINITY
        else:
            self.way = -1 if self.way == 1 else 0

    cdef double measure(self) noexcept nogil:
        """The value of the r of the finished factor, see `surprise`."""
        cdef Py_ssize_t k
        cdef double *solved = self.factor.spare + OK_PANEL * OK_PANEL
        cdef double *lost = solved + self.factor.panels * OK_PANEL
        for k in range(self.sums.n_outputs):
            lost[k] = self.factor.explained(
                self.sums.vectors.values + k * self.sums.length, solved)
        return self.surprise(lost, self.factor.log_determinant())

    cdef Status finish(self, Py_ssize_t panels) noexcept nogil:
        """Do all steps that are left, and set r; returns a status."""
        cdef Status status = OK
        while status == OK and not self.is_whole():
            status = self.step(panels)
        if status == OK:
            self.sums.set_reg(self.found())
        return status

    cdef double found(self) noexcept nogil:
        """The r that a finished search has found."""
        return REGS[max(self.best - self.below, 0)]

    cdef void end(self) noexcept nogil:
        """End the search."""
        self.factor.end()
        self.way = 0

    cdef void checkpoint(self) noexcept nogil:
        self.totals.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.totals.rollback()

    def get_state(self):
        """The sums, ndarray of shape (n_outputs + 2,)."""
        return self.totals.to_array()[0]

    def set_state(self, totals):
        """Set the sums from an array of `get_state`."""
        totals = doubles_of_shape("evidence", totals, (self.sums.n_outputs + 2,))
        if not (totals >= 0).all():
            raise ValueError(f"evidence must be sums >= 0, got {totals}")
        self.totals.set_array(totals[None])
