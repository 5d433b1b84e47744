"""Kernel affine projection: a step uses the errors of the last K samples (Liu and Principe 2008).

Every sample becomes a support vector. Let G be the Gram matrix of the last K samples, and e their
errors under the present function. A step changes their K coefficients by eta e (KAPA-1), or by
eta (G + reg I)^-1 e (KAPA-2). The scores of the last samples are updated with each step, so a step
takes time K^2 and needs only the kernel values of the new sample.

If the budget is exceeded, the sample l that has just dropped out of the last K is removed: it is
projected onto the support vector r nearest in feature space, with the largest
kappa_lr^2 / kappa_rr. Several targets differ only in errors and steps.
"""
from libc.math cimport fabs
from libc.stdlib cimport free
from scipy.linalg.cython_lapack cimport dposv

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, integer_within, positive_number,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize, finite
from onlinekern.core.budgets.policy cimport Bounded, Budget, change_arguments
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers
from onlinekern.core.linalg.inverse_gram cimport over_weight

# Rows of `recent`; target and score of each further output follow.
cdef enum:
    SLOT
    TARGET
    WEIGHT
    SCORE
    N_FIELDS


cdef inline Py_ssize_t target_row(Py_ssize_t output) noexcept nogil:
    return TARGET if output == 0 else N_FIELDS + 2 * (output - 1)


cdef inline Py_ssize_t score_row(Py_ssize_t output) noexcept nogil:
    return SCORE if output == 0 else N_FIELDS + 2 * (output - 1) + 1


# Added to the diagonal of G, relative to it, where it is not positive definite; ten times more at
# each attempt. After the last one, the diagonal alone counts.
cdef double LEAST_EXTRA = 1e-12
cdef int ATTEMPTS = 14


cdef class AffineProjection(Bounded):
    """Add every sample, and move the coefficients of the last ones together.

    Parameters
    ----------
    max_support : int >= 1
    order : int in [1, max_support]
        K, the number of samples that a step looks at.
    eta : float > 0
    reg : float > 0
        Of KAPA-2; not used by KAPA-1.
    normalised : bool
        KAPA-2; else KAPA-1.
    """

    def __init__(self, Py_ssize_t max_support, Py_ssize_t order, double eta, double reg,
                 bint normalised):
        super().__init__(max_support)
        # LAPACK counts in 32 bits.
        self.order = integer_within("order", order, 1, min(max_support, 1 << 15))
        self.eta = positive_number("eta", eta)
        self.reg = positive_number("reg", reg)
        self.normalised = normalised
        self.arguments = (max_support, order, eta, reg, normalised)

    def __dealloc__(self):
        free(self.system)

    cdef int prepare(self) except -1:
        cdef Py_ssize_t n = self.order, n_outputs = self.support.n_outputs
        Bounded.prepare(self)
        self.lengths = SlotNumbers()
        self.recent = JournaledMatrix("last samples", self.n_rows(), n)
        self.gram = JournaledMatrix("Gram matrix of the last samples", n, n)
        self.system = <double *> aligned_resize(
            self.system, 0, (n * n + n_outputs * (n + 2)) * sizeof(double))
        if self.system == NULL:
            raise MemoryError(f"no memory for steps of {n} samples")
        self.moves = self.system + n * n
        self.known = self.moves + n_outputs * n
        return self.support.prepare_kernel_rows()

    cdef Py_ssize_t n_rows(self) noexcept nogil:
        """Rows of `recent`."""
        return N_FIELDS + 2 * (self.support.n_outputs - 1)

    cdef bint takes_targets(self, Py_ssize_t n):
        return n == self.support.n_outputs

    cdef void observe(self, const double *targets, double weight) noexcept nogil:
        self.note(targets, weight)

    cdef Py_ssize_t count(self) noexcept nogil:
        """How many last samples there are."""
        return <Py_ssize_t> min(self.learnt, <int64_t> self.order)

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, output
        if self.remember(i) < 0:
            return NO_MEMORY
        self.solve()
        if self.make_room(self.support.n) < 0:
            return NO_MEMORY
        for output in range(self.support.n_outputs):
            if not finite(self.moves_of(output), self.count()):
                return NOT_FINITE
        for k in range(self.count()):
            for output in range(self.support.n_outputs):
                self.step[output] = self.moves_of(output)[k]
            if self.support.coefficients.add_at(
                    <Py_ssize_t> self.recent.row(SLOT)[k], self.step) < 0:
                return NO_MEMORY
        self.update_scores()
        return self.project() if self.is_exceeded() else OK

    cdef Status remember(self, Py_ssize_t i) noexcept nogil:
        """Make sample i a support vector with coefficient 0, and the latest of the last samples.

        It takes the place of the one that is no longer among them. Returns a status.
        """
        cdef Py_ssize_t k, output, slot, place = <Py_ssize_t> (self.learnt % self.order)
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        cdef double value
        for k in range(self.count()):
            value = self.support.kernel_value(i, <Py_ssize_t> self.recent.row(SLOT)[k])
            self.gram.touch(k)[place] = value
            self.gram.touch(place)[k] = value
        self.gram.touch(place)[place] = self.support.squared_length(i)
        self.support.coefficients.scores(self.support.kernel_values(i), self.known,
                                         self.known + n_outputs)
        for output in range(n_outputs):
            self.step[output] = 0
        # Of the sample that is no longer among the last ones, if there is one.
        self.leaving = <Py_ssize_t> self.recent.row(SLOT)[place]
        slot = self.support.add(i, self.step)
        if slot < 0 or self.lengths.reserve(self.support.capacity) < 0 \
                or self.lengths.set(slot, self.support.squared_length(i)) < 0:
            return NO_MEMORY
        self.recent.touch(SLOT)[place] = <double> slot
        self.recent.touch(WEIGHT)[place] = self.weight
        for output in range(n_outputs):
            self.recent.touch(target_row(output))[place] = self.noted[output]
            self.recent.touch(score_row(output))[place] = self.known[output]
        self.learnt += 1
        return OK

    cdef double error(self, Py_ssize_t output, Py_ssize_t k) noexcept nogil:
        """y - f of one of the last samples."""
        return self.recent.row(target_row(output))[k] - self.recent.row(score_row(output))[k]

    cdef double *moves_of(self, Py_ssize_t output) noexcept nogil:
        """The changes of an output, one for each of the last samples."""
        return self.moves + output * self.count()

    cdef double ridge(self, Py_ssize_t k) noexcept nogil:
        return over_weight(self.reg, self.recent.row(WEIGHT)[k])

    cdef void solve(self) noexcept nogil:
        """Compute the changes of the coefficients of each of the last samples."""
        cdef Py_ssize_t k, output
        cdef double extra = 0
        if not self.normalised:
            for output in range(self.support.n_outputs):
                for k in range(self.count()):
                    self.moves_of(output)[k] = self.eta * self.recent.row(WEIGHT)[k] \
                        * self.error(output, k)
            return
        for _ in range(ATTEMPTS):
            if self.solve_system(extra):
                break
            extra = max(LEAST_EXTRA, 10 * extra)
        else:
            for output in range(self.support.n_outputs):
                for k in range(self.count()):
                    self.moves_of(output)[k] = self.error(output, k) \
                        / (fabs(self.gram.row(k)[k]) + self.ridge(k))
        for k in range(self.support.n_outputs * self.count()):
            self.moves[k] *= self.eta

    cdef bint solve_system(self, double extra) noexcept nogil:
        """moves = (G + R)^-1 e, if the matrix is positive definite."""
        cdef int n = <int> self.count(), n_outputs = <int> self.support.n_outputs, info
        cdef Py_ssize_t j, k, output
        cdef const double *row
        for k in range(n):
            row = self.gram.row(k)
            for j in range(n):
                self.system[k * n + j] = row[j]
            self.system[k * n + k] = (self.gram.row(k)[k] + self.ridge(k)) * (1 + extra)
            for output in range(n_outputs):
                self.moves_of(output)[k] = self.error(output, k)
        dposv(b"L", &n, &n_outputs, self.system, &n, self.moves, &n, &info)
        return info == 0

    cdef void update_scores(self) noexcept nogil:
        """Let the scores of the last samples follow the step."""
        cdef Py_ssize_t j, k, output, n = self.count()
        cdef double *scores
        cdef const double *moves
        cdef const double *row
        for output in range(self.support.n_outputs):
            scores, moves = self.recent.touch(score_row(output)), self.moves_of(output)
            for k in range(n):
                row = self.gram.row(k)
                for j in range(n):
                    scores[k] += row[j] * moves[j]

    cdef Status project(self) noexcept nogil:
        """Remove the support vector that leaves, projected onto the nearest one. Returns a status.

        It is none of the last samples: there are more support vectors than those.
        """
        cdef Py_ssize_t output, slot, nearest = -1
        cdef double gain, largest = 0
        self.support.coefficients_of(self.leaving, self.step)
        if self.move_scores(self.leaving, -1) < 0 \
                or self.support.drop(self.leaving) < 0:
            return NO_MEMORY
        for slot in range(self.support.n):
            if self.support.occupied(slot) and self.lengths.values[slot] > 0:
                gain = self.work[slot] * self.work[slot] / self.lengths.values[slot]
                if gain > largest:
                    nearest = slot
                    largest = gain
        if nearest < 0:
            return OK
        for output in range(self.support.n_outputs):
            self.step[output] *= self.work[nearest] / self.lengths.values[nearest]
        if self.support.coefficients.add_at(nearest, self.step) < 0:
            return NO_MEMORY
        return self.move_scores(nearest, 1)

    cdef Status move_scores(self, Py_ssize_t slot, double sign) noexcept nogil:
        """Let the scores of the last samples follow a change of coefficients by sign times `step`.

        Leaves the kernel values of the support vector in `work`. Returns a status.
        """
        cdef Py_ssize_t k, output
        cdef double *scores
        cdef const char *g = self.support.kernel_row(slot)
        if g == NULL:
            return NO_MEMORY
        self.support.as_doubles(g, self.work)
        for output in range(self.support.n_outputs):
            scores = self.recent.touch(score_row(output))
            for k in range(self.count()):
                scores[k] += sign * self.step[output] \
                    * self.work[<Py_ssize_t> self.recent.row(SLOT)[k]]
        return OK

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.recent.checkpoint()
        self.gram.checkpoint()
        self.lengths.checkpoint(self.support.n)
        self.saved_learnt = self.learnt

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.recent.rollback()
        self.gram.rollback()
        self.lengths.rollback()
        self.learnt = self.saved_learnt

    def change(self, *arguments):
        """Go on with other arguments of the constructor; max_support and order must be the same."""
        change_arguments(self, arguments, 2)

    def get_learnt(self):
        return {"recent": self.recent.to_array(), "gram": self.gram.to_array(),
                "learnt": self.learnt, "lengths": self.lengths.to_array(self.support.n)}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("recent", "gram", "learnt", "lengths"))
        self.learnt = count_of("learnt", learnt["learnt"])
        recent = doubles_of_shape("recent", learnt["recent"], (self.n_rows(), self.order))
        slots, newest = recent[SLOT, :self.count()], self.support.slots.by_age()[-self.order:]
        if not np.array_equal(np.sort(slots), np.sort(newest)):
            raise ValueError(f"recent must name the slots of the last {self.count()} support "
                             f"vectors, {newest}, got {slots}")
        if (recent[WEIGHT, :self.count()] <= 0).any():
            raise ValueError(f"recent must have weights > 0, got {recent[WEIGHT]}")
        self.lengths.from_array("lengths", learnt["lengths"], self.support.n)
        self.gram.set_array(learnt["gram"])
        self.recent.set_array(recent)


POLICIES = {"affine_projection": AffineProjection}
