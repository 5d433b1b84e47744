"""Coefficients: K numbers per support vector, under one scale, with their running average.

The model of output k is f_k(x) = scale * sum_r a_kr kappa(s_r, x). The scale and the average are
those of `base.scaled_average`: the same kernel values give the score of the last model and, with
the companions, that of the average.

The weights of explicit features z have the same form, f_k(x) = scale * w_k . z(x), with z in place
of the kernel values (`reserve_features`, `add_multiples`).
"""
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.scaled_average cimport (
    averaged_array, averaged_score, averaging_of, begin_average, companion_step, count_model,
    fold_scale, renew_companions, renews, resume_average,
)
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, count_of, doubles_of_shape, fields_of, finite_number, integer_within,
    positive_number,
)
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport (
    OK_SUMS, ok_vector_ops, ops_for, resize_array, whole_panels,
)

# The score of the average is a difference of numbers that are larger than it by a factor of up to
# 1 / scale. Its relative error is therefore about 2^-53 / scale.
cdef double SMALLEST_SCALE = 1e-3
# The scale grows if a policy enlarges the coefficients to compensate for evicted support vectors.
cdef double LARGEST_SCALE = 1e3
FIELDS = ("values", "companions", "scale", "total", "steps")


cdef class Coefficients:
    """Coefficients of rows in numbered slots.

    Parameters
    ----------
    n_outputs : int
    averaged : bool, 'uniform', 'decay' or float in (0, 1)
        Keep the companions from which an average of f_1 ... f_t is scored, and which one; see
        `base.scaled_average`.
    itemsize : int
        4 or 8, the element size of the kernel values that are scored.
    """

    def __cinit__(self, Py_ssize_t n_outputs, averaged, Py_ssize_t itemsize):
        integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.n_outputs = n_outputs
        self.averaging = averaging_of(averaged)
        self.averaged = self.averaging is not False
        self.ops = ops_for(itemsize)
        begin_average(&self.average, self.averaging)
        self.journal = Journal(0)

    def __dealloc__(self):
        free(self.values)

    cdef Py_ssize_t n_vectors(self) noexcept nogil:
        """Rows of `values`, the companions included."""
        return (1 + self.averaged) * self.n_outputs

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` rows, in whole panels. Returns a status."""
        cdef Py_ssize_t j
        cdef double *fresh
        if capacity <= self.capacity:
            return OK
        fresh = <double *> resize_array(NULL, 0, capacity, self.n_vectors() * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        for j in range(self.n_vectors() if self.values != NULL else 0):
            memcpy(fresh + j * capacity, self.values + j * self.capacity, self.n * sizeof(double))
        free(self.values)
        self.values = fresh
        self.companions = fresh + self.n_outputs * capacity if self.averaged else NULL
        self.capacity = capacity
        return OK

    cdef void scores(self, const char *g, double *current, double *averaged) noexcept nogil:
        """Scores from the kernel values g of one sample, a number per row in whole panels.

        f_t goes into `current`, the average of f_1 ... f_t into `averaged` (f_t again when the
        coefficients are not averaged), n_outputs numbers each; the two may be the same memory,
        which then holds the average.
        """
        cdef Py_ssize_t k, length = whole_panels(self.n)
        cdef double[2] sums
        for k in range(self.n_outputs):
            if self.averaged:
                self.ops.dot2(g, self.values + k * self.capacity,
                              self.companions + k * self.capacity, length, sums)
            else:
                sums[0] = self.ops.dot(g, self.values + k * self.capacity, length)
            self.scale_score(k, sums, current, averaged)

    cdef void scale_score(self, Py_ssize_t k, const double *sums, double *current,
                          double *averaged) noexcept nogil:
        """The scores of output k from the dots with its values and, if averaged, companions."""
        current[k] = self.average.scale * sums[0]
        averaged[k] = (averaged_score(&self.average, sums[0], sums[1]) if self.averaged
                       else current[k])

    cdef void add_scores(self, const char *g, Py_ssize_t first, Py_ssize_t n,
                         double *sums) noexcept nogil:
        """Add the part of n rows, from `first` on, to the scores of a sample.

        g are its kernel values with them. Whole panels, one after another, and `finish_scores`
        give the bits of `scores`. `sums` are OK_SUMS numbers for each of `n_vectors`, 0 at first.
        """
        cdef Py_ssize_t j
        n = min(n, whole_panels(self.n) - first)
        for j in range(self.n_vectors() if n > 0 else 0):
            self.ops.add_dot(g, self.values + j * self.capacity + first, n, sums + j * OK_SUMS)

    cdef void finish_scores(self, const double *sums, double *current,
                            double *averaged) noexcept nogil:
        """The scores of a sample whose rows were all added up, as `scores` gives them."""
        cdef Py_ssize_t k
        cdef double[2] pair
        for k in range(self.n_outputs):
            pair[0] = self.ops.finish_dot(sums + k * OK_SUMS)
            if self.averaged:
                pair[1] = self.ops.finish_dot(sums + (self.n_outputs + k) * OK_SUMS)
            self.scale_score(k, pair, current, averaged)

    cdef Status assign(self, Py_ssize_t slot, const double *step) noexcept nogil:
        """Give the row in a slot its K coefficients; there is room. Returns a status.

        The slot is a cleared one, or the next.
        """
        cdef Py_ssize_t k, j
        if slot < self.saved_n and self.preserve() < 0:
            return NO_MEMORY
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            j = k * self.capacity + slot
            self.values[j] = step[k] / self.average.scale
            if self.averaged:
                self.companions[j] = companion_step(&self.average, self.values[j])
        self.n = max(self.n, slot + 1)
        return OK

    cdef Status add_at(self, Py_ssize_t slot, const double *step) noexcept nogil:
        """Add K numbers to the coefficients in a slot, from now on. Returns a status."""
        cdef Py_ssize_t k, j
        cdef double raw
        if slot < self.saved_n and self.preserve() < 0:
            return NO_MEMORY
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            j = k * self.capacity + slot
            raw = step[k] / self.average.scale
            self.values[j] += raw
            if self.averaged:
                self.companions[j] += companion_step(&self.average, raw)
        return OK

    cdef Status reserve_features(self, Py_ssize_t length) noexcept nogil:
        """Be a model of `length` features, in whole panels, that has learnt nothing yet.

        Its numbers are the weights of features, and `scores` takes features for kernel values.
        Returns a status.
        """
        self.n = length
        return self.reserve(length)

    cdef Status add_multiples(self, const char *z, const double *factors) noexcept nogil:
        """Add factors_k z, a kernel value for each row or a feature, to output k. Returns a status.

        The models averaged so far stay what they were.
        """
        return self.add_scaled(self.ops, z, factors)

    cdef Status add_multiples_double(self, const double *z, const double *factors) noexcept nogil:
        """The same with a number in double for each row."""
        return self.add_scaled(ops_for(sizeof(double)), z, factors)

    cdef Status add_scaled(self, const ok_vector_ops *ops, const void *z,
                           const double *factors) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if self.add_to_output(ops, k, z, factors[k]) < 0:
                return NO_MEMORY
        return OK

    cdef Status add_to_output(self, const ok_vector_ops *ops, Py_ssize_t k, const void *z,
                              double factor) noexcept nogil:
        """Add factor z to output k; `ops` are those of the type of z. Returns a status."""
        cdef double raw = factor / self.average.scale
        if raw == 0:
            return OK
        if self.preserve_output(k) < 0:
            return NO_MEMORY
        ops.add(z, raw, self.values + k * self.capacity, self.n)
        if self.averaged:
            ops.add(z, companion_step(&self.average, raw),
                    self.companions + k * self.capacity, self.n)
        return OK

    cdef Status clear(self, Py_ssize_t slot) noexcept nogil:
        """Make the coefficients in a slot 0. Returns a status."""
        cdef Py_ssize_t k
        if slot < self.saved_n and self.preserve() < 0:
            return NO_MEMORY
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            self.values[k * self.capacity + slot] = 0
            if self.averaged:
                self.companions[k * self.capacity + slot] = 0
        return OK

    cdef Status overwrite(self, Py_ssize_t k, const double *fresh) noexcept nogil:
        """Replace all n numbers of output k, in units of the scale. Returns a status.

        For models without an average, as `multiply`.
        """
        if self.preserve_output(k) < 0:
            return NO_MEMORY
        memcpy(self.values + k * self.capacity, fresh, self.n * sizeof(double))
        return OK

    cdef Status multiply(self, const double *factors) noexcept nogil:
        """Multiply the coefficients of each slot by a factor of its own. Returns a status.

        For models without an average: the companions stay as they are.
        """
        cdef Py_ssize_t k, r
        cdef double *values
        if self.preserve() < 0:
            return NO_MEMORY
        for k in range(self.n_outputs):
            values = self.values + k * self.capacity
            for r in range(self.n):
                values[r] *= factors[r]
        return OK

    cdef Status clip(self, double limit) noexcept nogil:
        """Hold every coefficient within -limit ... limit. Returns a status.

        For models without an average, as `multiply`.
        """
        cdef Py_ssize_t k
        if limit == INFINITY:
            return OK
        if self.preserve() < 0:
            return NO_MEMORY
        for k in range(self.n_outputs):
            self.ops.clip(self.values + k * self.capacity, limit / self.average.scale, self.n)
        return OK

    cdef Py_ssize_t cheapest(self, const char *g, double length,
                             const double *lengths) noexcept nogil:
        """The slot r of smallest |a_r|^2 (lengths[r] - g_r^2 / length)."""
        return self.ops.cheapest(g, 1 / length, self.values, self.capacity, self.n_outputs,
                                 lengths, self.n)

    cdef void norms(self, double *out) noexcept nogil:
        """out[r] = `norm` of slot r, for all slots."""
        cdef Py_ssize_t _, r
        cdef const double *values = self.values
        if self.n_outputs == 1:
            for r in range(self.n):
                out[r] = fabs(values[r])
            return
        for r in range(self.n):
            out[r] = values[r] * values[r]
        for _ in range(1, self.n_outputs):
            values += self.capacity
            for r in range(self.n):
                out[r] += values[r] * values[r]
        for r in range(self.n):
            out[r] = sqrt(out[r])

    cdef double norm(self, Py_ssize_t slot) noexcept nogil:
        """The Euclidean norm of the K coefficients of a slot, without the common scale."""
        cdef Py_ssize_t k
        cdef double square = 0
        if self.n_outputs == 1:
            return fabs(self.values[slot])
        for k in range(self.n_outputs):
            square += self.values[k * self.capacity + slot] * self.values[k * self.capacity + slot]
        return sqrt(square)

    cdef Status advance(self, int64_t lead) noexcept nogil:
        """Count one step: f_t has been scored and enters the average. Before `shrink`, `assign`.

        Returns a status.
        """
        if self.averaged and renews(&self.average, lead):
            if self.preserve() < 0:
                return NO_MEMORY
            renew_companions(&self.average, lead, self.companions, self.n_outputs * self.capacity)
        count_model(&self.average, lead)
        return OK

    cdef Status shrink(self, double factor) noexcept nogil:
        """f <- factor f, in O(1) but for a rare fold. Returns a status."""
        if not SMALLEST_SCALE <= self.average.scale * factor <= LARGEST_SCALE:
            return self.fold(factor)
        self.average.scale *= factor
        return OK

    cdef Status fold(self, double factor) noexcept nogil:
        """Multiply scale * factor into the values. The sum of f_1 ... f_t does not change."""
        if self.preserve() < 0:
            return NO_MEMORY
        fold_scale(&self.average, factor, self.values, self.companions,
                   self.n_outputs * self.capacity)
        return OK

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`; nothing is copied until it changes."""
        self.journal.begin_sized(self.n_vectors() if self.n > 0 else 0, self.n * sizeof(double))
        self.saved_n = self.n
        self.saved_average = self.average

    cdef Status preserve(self) noexcept nogil:
        """Copy the numbers of the checkpoint, once, before they are changed in place."""
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if self.preserve_output(k) < 0:
                return NO_MEMORY
        return OK

    cdef Status preserve_output(self, Py_ssize_t k) noexcept nogil:
        """The same for the numbers of one output: all of them are about to change."""
        self.least_changed = 0
        cdef Status status = self.journal.keep(k, self.values + k * self.capacity)
        if status == OK and self.averaged:
            status = self.journal.keep(self.n_outputs + k, self.companions + k * self.capacity)
        return status

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        cdef Py_ssize_t j
        for j in range(self.n_vectors()):
            memset(self.values + j * self.capacity + self.saved_n, 0,
                   (self.n - self.saved_n) * sizeof(double))
        self.journal.restore(self.values, self.capacity * sizeof(double))
        self.n = self.saved_n
        self.average = self.saved_average

    def effective(self):
        """Coefficients of the model that predicts, ndarray of shape (n_outputs, n)."""
        values = self.matrix(self.values)
        if not self.averaged:
            return self.average.scale * values
        return averaged_array(&self.average, values, self.matrix(self.companions))

    cdef object matrix(self, double *values):
        """The first n of each row of `values` as an ndarray of shape (n_outputs, n)."""
        out = np.zeros((self.n_outputs, self.n))
        cdef double[:, ::1] view = out
        cdef Py_ssize_t k
        for k in range(self.n_outputs if self.n > 0 and values != NULL else 0):
            memcpy(&view[k, 0], values + k * self.capacity, self.n * sizeof(double))
        return out

    def get_state(self):
        """All of it, as a dictionary of arrays and numbers."""
        return {
            "values": self.matrix(self.values), "companions": self.matrix(self.companions),
            "scale": self.average.scale, "total": self.average.total, "steps": self.average.steps,
        }

    def set_state(self, state):
        """Take over what `get_state` gave; there must be room.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "coefficients", FIELDS)
        cdef Py_ssize_t k, n = np.size(state["values"]) // self.n_outputs
        cdef const double[:, ::1] values = doubles_of_shape(
            "coefficients", state["values"], (self.n_outputs, n))
        cdef const double[:, ::1] companions = doubles_of_shape(
            "companions of the coefficients", state["companions"], (self.n_outputs, n))
        if n > self.capacity:
            raise ValueError(f"coefficients of {n} rows do not fit into {self.capacity} slots")
        cdef double scale = positive_number("scale of the coefficients", state["scale"])
        cdef double total = finite_number("total of the scales", state["total"])
        cdef int64_t steps = count_of("steps of the coefficients", state["steps"])
        for k in range(self.n_outputs if n > 0 else 0):
            memcpy(self.values + k * self.capacity, &values[k, 0], n * sizeof(double))
            if self.averaged:
                memcpy(self.companions + k * self.capacity, &companions[k, 0], n * sizeof(double))
        self.n = n
        resume_average(&self.average, scale, total, steps)
