"""KRLS-T: a Gaussian process that tracks a function which changes.

Van Vaerenbergh, Lazaro-Gredilla and Santamaria (2012). The posterior of the function at the support
vectors has the mean mu and the covariance S. With Q = (K + jitter I)^-1, a sample x_t, y_t of noise
s has

    q = Q k_t,   h = S q,   g = kappa_tt + jitter - k_t'q,   v = g + q'h,   e = y_t - q'mu.

It becomes a support vector, p = [h; v] is its covariance with all of them, and

    mu <- [mu; q'mu] + p e / (v + s),     S <- [S h; h' v] - p p' / (v + s).

If g is hardly more than the jitter, the sample is in the span of the support vectors, and only mu
and S at these are updated. Before each sample the past is forgotten: back to the prior, with
mu <- sqrt(lambda) mu, S <- lambda S + (1 - lambda) (K + jitter I); or by uncertainty, with
S <- S / lambda. The function is k(x)'Q mu, so the coefficients are Q mu.

Variances are in units of the signal's: its power is the mean of e^2 / (v + s), with the same
forgetting. Several targets share S and Q; each has a mean and a power of its own.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport check_width, positive_number
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.budgets.recursive cimport RecursivePolicy
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.linalg.inverse_gram cimport over_weight
from onlinekern.core.samples.rows cimport Samples, samples_of

from onlinekern.core.linalg.inverse_gram import INVERSE_FIELDS

# On the diagonal of K, for kernel values of double and single precision. The authors' own program
# has 1e-6.
cdef double JITTER = 1e-6
cdef double JITTER_OF_FLOAT32 = 1e-5
# g above this many times the jitter makes a sample new.
cdef double LEAST_NOVELTY = 2
# Forgetting by uncertainty stops when a variance reaches this many times that of the prior. Without
# the bound, the variance in a direction without samples would overflow in the end.
cdef double MOST_UNCERTAIN = 1e6
# Rows of which variances are computed together.
cdef Py_ssize_t ROWS = 64


cdef class Tracker(RecursivePolicy):
    """Add every new sample; over budget, remove the support vector that the others predict best.

    Parameters
    ----------
    max_support : int >= 1
    noise : float > 0
        Variance of the noise of a sample of weight 1, in units of the signal's.
    forgetting : float in (0, 1]
        lambda.
    back_to_prior : bool
        Whether to forget back to the prior; if not, by uncertainty.
    """

    def __init__(self, Py_ssize_t max_support, double noise, double forgetting,
                 bint back_to_prior):
        super().__init__(max_support)
        self.noise = positive_number("noise", noise)
        self.forgetting = positive_number("forgetting", forgetting)
        if forgetting > 1:
            raise ValueError(f"forgetting must be in (0, 1], got {forgetting}")
        self.back_to_prior = back_to_prior
        self.arguments = (max_support, noise, forgetting, back_to_prior)

    def __dealloc__(self):
        free(self.gain)
        free(self.means)

    cdef int prepare(self) except -1:
        RecursivePolicy.prepare(self)
        cdef Py_ssize_t size = self.gram.size, ld = self.gram.ld
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        self.jitter = JITTER if self.support.itemsize == 8 else JITTER_OF_FLOAT32
        self.covariance = JournaledMatrix("covariance of the support vectors", size, ld)
        self.prior = JournaledMatrix("prior covariance of the support vectors", size, ld)
        self.residuals = JournaledMatrix("sums of squared residuals", n_outputs, 2)
        self.gain = <double *> aligned_resize(self.gain, 0, ld * sizeof(double))
        self.means = <double *> aligned_resize(self.means, 0, n_outputs * sizeof(double))
        if self.gain == NULL or self.means == NULL:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        return 0

    cdef Status take(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, r, slot
        cdef double kappa = self.support.squared_length(i), pivot, variance, total, mean
        cdef const double *q = self.gram.direction
        cdef const double *values
        self.read_kernel_values(i)
        self.forget()
        pivot = max(self.gram.project(self.work, kappa + self.jitter), self.jitter)
        variance = 0
        for r in range(self.gram.size):
            self.gain[r] = self.gram.ops.dot(self.covariance.row(r), q, self.gram.ld)
            variance += q[r] * self.gain[r]
        for k in range(self.support.n_outputs):
            values, mean = self.values.row(k), 0
            for r in range(self.gram.size):
                mean += q[r] * values[r]
            self.means[k] = mean
        # Rounding may make the part of the support vectors negative.
        variance = max(variance, 0.0) + pivot
        total = variance + over_weight(self.noise, self.weight)
        if pivot > LEAST_NOVELTY * self.jitter:
            slot = self.support.add(i, coefficients)
            if slot < 0:
                return NO_MEMORY
            self.extend(slot, kappa, pivot, variance)
        self.count_residuals(total)
        self.absorb(total)
        self.solve()
        return OK

    cdef void forget(self) noexcept nogil:
        """Let the past lose weight, before a sample."""
        cdef Py_ssize_t k, r, j
        cdef double *row
        cdef const double *prior
        cdef double rest = 1 - self.forgetting, root = sqrt(self.forgetting)
        if self.forgetting == 1 or (not self.back_to_prior and self.is_most_uncertain()):
            return
        for r in range(self.gram.size):
            if not self.gram.occupied(r):
                continue
            row = self.covariance.touch(r)
            prior = self.prior.row(r)
            if self.back_to_prior:
                for j in range(self.gram.ld):
                    row[j] = self.forgetting * row[j] + rest * prior[j]
            else:
                for j in range(self.gram.ld):
                    row[j] /= self.forgetting
        for k in range(self.support.n_outputs if self.back_to_prior else 0):
            row = self.values.touch(k)
            for r in range(self.gram.size):
                row[r] *= root

    cdef bint is_most_uncertain(self) noexcept nogil:
        """Whether a variance is at its bound."""
        cdef Py_ssize_t r
        for r in range(self.gram.size):
            if self.covariance.row(r)[r] > MOST_UNCERTAIN * self.prior.row(r)[r]:
                return True
        return False

    cdef void extend(self, Py_ssize_t slot, double kappa, double pivot,
                     double variance) noexcept nogil:
        """Make the sample of `work` and `gain` a row of all matrices, before it is absorbed."""
        cdef Py_ssize_t k, r
        cdef double *row = self.prior.touch(slot)
        memcpy(row, self.work, self.gram.ld * sizeof(double))
        row[slot] = kappa + self.jitter
        memcpy(self.covariance.touch(slot), self.gain, self.gram.ld * sizeof(double))
        self.covariance.row(slot)[slot] = variance
        for r in range(self.gram.size):
            if self.gram.occupied(r):
                self.prior.touch(r)[slot] = self.work[r]
                self.covariance.touch(r)[slot] = self.gain[r]
            elif r != slot:
                # A free slot may hold a former support vector, which has a kernel value.
                row[r] = 0
        self.gram.join(slot, pivot, kappa, self.jitter)
        self.gain[slot] = variance
        for k in range(self.support.n_outputs):
            self.values.touch(k)[slot] = self.means[k]

    cdef void absorb(self, double total) noexcept nogil:
        """mu += gain error / total; S -= gain gain' / total.

        The gain is divided by the root of the total first: S then stays symmetric to the bit. No
        sample corrects a difference between S and S', and forgetting by uncertainty lets it grow
        like 1 / lambda^t.
        """
        cdef Py_ssize_t k, r
        cdef double root = sqrt(total), step
        cdef double *values
        for r in range(self.gram.size):
            self.gain[r] /= root
        for r in range(self.gram.size):
            if self.gram.occupied(r):
                self.gram.ops.add(self.gain, -self.gain[r], self.covariance.touch(r),
                                  self.gram.ld)
        for k in range(self.support.n_outputs):
            step, values = self.error(k) / root, self.values.touch(k)
            for r in range(self.gram.size):
                if self.gram.occupied(r):
                    values[r] += self.gain[r] * step

    cdef double error(self, Py_ssize_t k) noexcept nogil:
        """e of output k."""
        return self.noted[k] - self.means[k]

    cdef void count_residuals(self, double total) noexcept nogil:
        cdef Py_ssize_t k
        cdef double *sums
        for k in range(self.support.n_outputs):
            sums = self.residuals.touch(k)
            sums[0] = self.forgetting * sums[0] + self.error(k) * self.error(k) / total
            sums[1] = self.forgetting * sums[1] + 1

    cdef Status remove(self, Py_ssize_t slot) noexcept nogil:
        cdef Py_ssize_t r
        memset(self.prior.touch(slot), 0, self.gram.ld * sizeof(double))
        memset(self.covariance.touch(slot), 0, self.gram.ld * sizeof(double))
        for r in range(self.gram.size):
            if self.gram.occupied(r):
                self.prior.touch(r)[slot] = 0
                self.covariance.touch(r)[slot] = 0
        return RecursivePolicy.remove(self, slot)

    cdef Status renew(self) noexcept nogil:
        """Compute the inverse afresh, from the prior covariance. Returns a status."""
        cdef Py_ssize_t r
        for r in range(self.gram.size):
            if self.gram.occupied(r):
                memcpy(self.gram.fresh_row(r), self.prior.row(r), self.gram.ld * sizeof(double))
        self.gram.invert()
        return OK

    cdef void checkpoint(self) noexcept nogil:
        RecursivePolicy.checkpoint(self)
        self.covariance.checkpoint()
        self.prior.checkpoint()
        self.residuals.checkpoint()

    cdef void rollback(self) noexcept nogil:
        RecursivePolicy.rollback(self)
        self.covariance.rollback()
        self.prior.rollback()
        self.residuals.rollback()

    def signal_power(self):
        """The estimate of the signal's variance; 1 before the first sample.

        Of several targets, an ndarray of shape (n_outputs,).
        """
        sums = self.residuals.to_array()
        if sums[0, 1] > 0:
            powers = sums[:, 0] / sums[:, 1]
        else:
            powers = np.ones(len(sums))
        return powers if len(powers) > 1 else float(powers[0])

    def variances(self, X):
        """Variances of the targets of rows, noise included, in units of the signal's.

        Only reads the policy and its set.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated

        Returns
        -------
        ndarray of shape (n,)
        """
        cdef Samples samples = samples_of(X, self.support.dtype)
        check_width("X", samples.rows.d, self.support.store.d)
        cdef Py_ssize_t i, first = 0, width, n = samples.rows.n
        cdef double[::1] out = np.zeros(n)
        cdef double[:, ::1] memory = np.zeros((3, self.gram.ld))
        cdef Window window = self.support.new_window(min(max(n, 1), ROWS))
        cdef Status status = OK
        with nogil:
            while first < n and status == OK:
                width = min(ROWS, n - first)
                status = self.support.fill_window(window, &samples.rows, NULL, first, width)
                for i in range(width if status == OK else 0):
                    self.support.as_doubles(window.row(i), &memory[0, 0])
                    out[first + i] = self.variance(
                        self.support.kernel.diagonal(window.block.squares[i]),
                        &memory[0, 0], &memory[1, 0], &memory[2, 0])
                first += width
        if status != OK:
            raise MemoryError(f"no memory for the variances of {n} samples")
        return np.asarray(out)

    cdef double variance(self, double kappa, const double *k, double *q,
                         double *masked) noexcept nogil:
        """The variance of the target of a sample with kernel values k.

        q and `masked` are memory to work with.
        """
        cdef Py_ssize_t r
        cdef double rest, known = 0
        self.gram.multiply(k, masked, q)
        rest = kappa + self.jitter - self.gram.ops.dot(q, k, self.gram.ld)
        for r in range(self.gram.size):
            if self.gram.occupied(r):
                known += q[r] * self.gram.ops.dot(self.covariance.row(r), q, self.gram.ld)
        return max(rest, self.jitter) + max(known, 0.0) + self.noise

    def get_learnt(self):
        return {**RecursivePolicy.get_learnt(self), "covariance": self.covariance.to_array(),
                "prior": self.prior.to_array(), "residuals": self.residuals.to_array()}

    def set_learnt(self, learnt):
        learnt = self.fields_learnt(learnt, (*INVERSE_FIELDS, "values", "covariance", "prior",
                                             "residuals"))
        occupied = self.set_values(learnt)
        for name, matrix in (("covariance", self.covariance), ("prior", self.prior)):
            (<JournaledMatrix> matrix).set_array(learnt[name])
            if learnt[name][:, ~occupied].any() \
                    or learnt[name][~occupied[:self.gram.size]].any():
                raise ValueError(f"{name} must be 0 but in the rows and columns of the slots "
                                 f"{np.flatnonzero(occupied)}")
        self.residuals.set_array(learnt["residuals"])
        if (learnt["residuals"] < 0).any():
            raise ValueError(f"residuals must be sums >= 0, got {learnt['residuals']}")


POLICIES = {"tracker": Tracker}
