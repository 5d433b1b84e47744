"""Weights: a linear function of explicit features beside the coefficients of support rows.

Layer 2. The two parts are one model: they share scale, averaging and steps (see coefficients), so a
support row can hand its coefficients over to the features that approximate it: w += a z, and the
same for the companions. The average of f_1 ... f_t then sees the row through its features in all
these models, whenever the row was handed over.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.vector cimport aligned_resize


cdef double *numbers(Py_ssize_t count) except NULL:
    cdef void *memory = aligned_resize(NULL, 0, count * sizeof(double))
    if memory == NULL:
        raise MemoryError(f"no memory for {count} weights")
    return <double *> memory


cdef class Weights:
    """K weight vectors and K offsets, all zero.

    Parameters
    ----------
    coefficients : Coefficients
        Of the support rows beside them.
    length : int
        Of a row of features, in whole panels.
    """

    def __init__(self, Coefficients coefficients, Py_ssize_t length):
        self.shared = coefficients
        self.ops = coefficients.ops
        self.n_outputs = coefficients.n_outputs
        self.averaged = coefficients.averaged
        self.length = length
        self.values = numbers(2 * self.n_outputs * length)
        self.saved = numbers(2 * self.n_outputs * length)
        self.offsets = numbers(4 * self.n_outputs)
        self.saved_offsets = self.offsets + 2 * self.n_outputs

    def __dealloc__(self):
        free(self.values)
        free(self.saved)
        free(self.offsets)

    cdef void scores(self, const char *z, double *current, double *averaged) noexcept nogil:
        """Add to the scores what the features z of one sample contribute.

        `current` and `averaged` as in `Coefficients.scores`; they may be the same memory, which
        then holds the average.
        """
        cdef Py_ssize_t k, K = self.n_outputs
        cdef double[2] sums
        cdef double scale = self.shared.scale, score, total = self.shared.total + scale
        for k in range(K):
            if not self.averaged:
                sums[0] = self.ops.dot(z, self.values + k * self.length, self.length)
                averaged[k] += scale * (sums[0] + self.offsets[k])
                current[k] = averaged[k]
                continue
            self.ops.dot2(z, self.values + k * self.length, self.values + (K + k) * self.length,
                          self.length, sums)
            score = scale * (sums[0] + self.offsets[k])
            if current != averaged:
                current[k] += score
            averaged[k] += (total * (sums[0] + self.offsets[k])
                            - (sums[1] + self.offsets[K + k])) / (self.shared.steps + 1)

    cdef void absorb(self, Py_ssize_t slot, const char *z) noexcept nogil:
        """Take over the coefficients of the support row in a slot, whose features are z."""
        cdef Py_ssize_t k, j, K = self.n_outputs
        if self.watched:
            memcpy(self.saved, self.values, 2 * K * self.length * sizeof(double))
            self.watched = False
        for k in range(K):
            j = k * self.shared.capacity + slot
            if self.shared.values[j] == 0:
                continue
            self.ops.add(z, self.shared.values[j], self.values + k * self.length, self.length)
            if self.averaged:
                self.ops.add(z, self.shared.companions[j],
                             self.values + (K + k) * self.length, self.length)

    cdef void shift(self, const double *step) noexcept nogil:
        """Add K numbers, in units of the scale, to the offsets."""
        cdef Py_ssize_t k, K = self.n_outputs
        for k in range(K):
            self.offsets[k] += step[k] / self.shared.scale
            if self.averaged:
                self.offsets[K + k] += step[k] / self.shared.scale * self.shared.total

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`; the weights are copied when they change."""
        self.watched = True
        memcpy(self.saved_offsets, self.offsets, 2 * self.n_outputs * sizeof(double))

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        if not self.watched:
            memcpy(self.values, self.saved, 2 * self.n_outputs * self.length * sizeof(double))
        memcpy(self.offsets, self.saved_offsets, 2 * self.n_outputs * sizeof(double))
        self.watched = True

    def effective(self):
        """(weights, offsets) of the model that predicts: (n_outputs, length) and (n_outputs,)."""
        state = self.get_state()
        raw = np.column_stack([state["weights"], state["offsets"]]).reshape(2, self.n_outputs, -1)
        if not self.averaged:
            result = self.shared.scale * raw[0]
        else:
            total = self.shared.total + self.shared.scale
            result = (total * raw[0] - raw[1]) / (self.shared.steps + 1)
        return result[:, :-1], result[:, -1]

    def get_state(self):
        """All of it, as a dictionary of arrays; rows K ... 2 K - 1 are the companions."""
        cdef Py_ssize_t j, K = self.n_outputs
        weights, offsets = np.empty((2 * K, self.length)), np.empty(2 * K)
        cdef double[:, ::1] view = weights
        memcpy(&view[0, 0], self.values, 2 * K * self.length * sizeof(double))
        for j in range(2 * K):
            offsets[j] = self.offsets[j]
        return {"weights": weights, "offsets": offsets}

    def set_state(self, state):
        """Take over what `get_state` gave."""
        cdef const double[:, ::1] view = state["weights"]
        cdef Py_ssize_t j, K = self.n_outputs
        memcpy(self.values, &view[0, 0], 2 * K * self.length * sizeof(double))
        for j in range(2 * K):
            self.offsets[j] = state["offsets"][j]
