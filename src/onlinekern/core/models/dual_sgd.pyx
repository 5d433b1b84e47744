"""DualSGD: support vectors, and a linear function of features that replaces those removed.

The model is f(x) = s (sum_i a_i kappa(x_i, x) + w . z(x) + b), where the random features z
approximate the kernel kappa. The scale s is exactly 1/t after t steps (see `InverseTimeSpace`).

k-merging (Le, Nguyen, Nguyen and Phung 2016, algorithm 2): when the budget is exceeded, the k
support vectors of the smallest coefficients are removed, and w <- w + sum_i a_i z(x_i).

Both parts share scale, average and steps (see `Coefficients`). So the companions of a support
vector are merged into those of the weights in the same way, and the average of f_1 ... f_t is
correct whenever the support vector is merged.

The features of a sample are computed once, in its block, and stored if it becomes a support vector.
"""
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.scaled_average cimport (
    averaged_array, averaged_score, companion_step, renew_companions, renews,
)
from onlinekern.core.base.state cimport doubles_of_shape, fields_of, integer_within
from onlinekern.core.base.undo cimport Journal, JournaledMatrix
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.budgets.queue cimport Queue
from onlinekern.core.features.map cimport FeatureBlock, FeatureMap
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.space cimport InverseTimeSpace, KernelSpace
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of


cdef class Weights:
    """K weight vectors and K offsets, all zero.

    Parameters
    ----------
    coefficients : Coefficients
        Coefficients of the support vectors; the weights share their scale, total and steps.
    length : int
        Length of a row of features, padded to whole panels.
    """

    def __cinit__(self, Coefficients coefficients not None, Py_ssize_t length):
        self.shared = coefficients
        self.ops = coefficients.ops
        self.n_outputs = coefficients.n_outputs
        self.averaged = coefficients.averaged
        self.length = length
        self.values = JournaledMatrix("weights of the features", 2 * self.n_outputs, length)
        self.offsets = JournaledMatrix("offsets", 1, 2 * self.n_outputs)

    cdef void scores(self, const char *z, double *current, double *averaged) noexcept nogil:
        """Add w . z + b of a sample with features z to its scores.

        `current` and `averaged` are those of `Coefficients.scores`; if they are the same array, it
        gets the average.
        """
        cdef Py_ssize_t k, K = self.n_outputs
        cdef double[2] sums
        cdef double scale = self.shared.average.scale, score
        cdef const double *offsets = self.offsets.values
        for k in range(K):
            if not self.averaged:
                sums[0] = self.ops.dot(z, self.values.row(k), self.length)
                averaged[k] += scale * (sums[0] + offsets[k])
                current[k] = averaged[k]
                continue
            self.ops.dot2(z, self.values.row(k), self.values.row(K + k), self.length, sums)
            score = scale * (sums[0] + offsets[k])
            if current != averaged:
                current[k] += score
            averaged[k] += averaged_score(&self.shared.average, sums[0] + offsets[k],
                                          sums[1] + offsets[K + k])

    cdef void absorb(self, Py_ssize_t slot, const char *z) noexcept nogil:
        """w += a z, for the coefficients a of a slot and the features z of its support vector."""
        cdef Py_ssize_t k, K = self.n_outputs
        cdef double value
        for k in range(K):
            value = self.shared.at(k, slot)
            if value == 0:
                continue
            self.ops.add(z, value, self.values.touch(k), self.length)
            if self.averaged:
                self.ops.add(z, self.shared.companion_at(k, slot), self.values.touch(K + k),
                             self.length)

    cdef void shift(self, const double *step) noexcept nogil:
        """Add K numbers, in units of the scale, to the offsets."""
        cdef Py_ssize_t k, K = self.n_outputs
        cdef double raw
        cdef double *offsets = self.offsets.touch(0)
        for k in range(K):
            raw = step[k] / self.shared.average.scale
            offsets[k] += raw
            if self.averaged:
                offsets[K + k] += companion_step(&self.shared.average, raw)

    cdef void advance(self, int64_t lead) noexcept nogil:
        """Renew the companions with those of the coefficients. Call before these count a step."""
        cdef Py_ssize_t K = self.n_outputs
        if renews(&self.shared.average, lead):
            self.values.touch_all()
            renew_companions(&self.shared.average, lead, self.values.row(K), K * self.length)
            renew_companions(&self.shared.average, lead, self.offsets.touch(0) + K, K)

    cdef void checkpoint(self) noexcept nogil:
        """Save the weights for `rollback`."""
        self.values.checkpoint()
        self.offsets.checkpoint()

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        self.values.rollback()
        self.offsets.rollback()

    def effective(self):
        """(weights, offsets) of the predicting model, (n_outputs, length) and (n_outputs,)."""
        state = self.get_state()
        raw = np.column_stack([state["weights"], state["offsets"]]).reshape(2, self.n_outputs, -1)
        if not self.averaged:
            result = self.shared.average.scale * raw[0]
        else:
            result = averaged_array(&self.shared.average, raw[0], raw[1])
        return result[:, :-1], result[:, -1]

    def get_state(self):
        """Weights and offsets, as a dictionary; rows K ... 2 K - 1 are the companions."""
        return {"weights": self.values.to_array(), "offsets": self.offsets.to_array()[0]}

    def set_state(self, state):
        """Restore the result of `get_state`."""
        fields_of(state, "weights of the features", ("weights", "offsets"))
        offsets = doubles_of_shape("offsets", state["offsets"], (2 * self.n_outputs,))
        self.values.set_array(state["weights"])
        self.offsets.set_array(offsets[np.newaxis])


cdef class FeatureMerging(Bounded):
    """Keep at most `max_support` support vectors; merge the smallest ones into the weights.

    When the budget is exceeded, the `merge_size` support vectors whose K coefficients have the
    smallest Euclidean norm are merged. In a tie the oldest one is merged.

    Parameters
    ----------
    map : FeatureMap
    max_support : int >= 1
    merge_size : int in [1, max_support]
    offset : bool
        Whether each output has an offset, to which every step is added. The kernel is then
        kappa + 1, in both parts.
    """

    def __init__(self, FeatureMap map not None, Py_ssize_t max_support, Py_ssize_t merge_size,
                 bint offset):
        self.map = map
        self.max_support = bound_of("max_support", max_support, 1)
        self.merge_size = integer_within("merge_size", merge_size, 1, max_support)
        self.offset = offset
        self.arguments = (map, max_support, merge_size, offset)

    cdef int prepare(self) except -1:
        Bounded.prepare(self)
        if (self.map.d, self.map.itemsize) != (self.support.store.d, self.support.itemsize):
            raise ValueError(f"a map of samples of {self.map.d} features of {self.map.itemsize} "
                             f"bytes does not take support vectors of {self.support.store.d} "
                             f"features of {self.support.itemsize} bytes")
        self.weights = Weights(self.support.coefficients, self.map.length)
        self.queue = Queue(self.max_support + 1)
        self.features = FeatureBlock(self.map, self.max_support + 1)
        self.window = FeatureBlock(self.map, 1)
        self.old_features = Journal(self.features.row_bytes)
        return 0

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        """Allocate memory for the features of a block of `rows` samples."""
        if self.window.capacity < rows:
            self.window = FeatureBlock(self.map, rows)
        return 0

    cdef void open(self, Block block) noexcept nogil:
        """Compute the features of an open block, for which memory is reserved."""
        self.window.fill(block)

    cdef void add_scores(self, const char *z, double *current, double *averaged) noexcept nogil:
        """Add the contribution of the weights to the scores of a sample with features z."""
        self.weights.scores(z, current, averaged)

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = self.support.add(i, coefficients)
        if slot < 0 or self.old_features.keep(slot, self.features.row(slot)) < 0:
            return NO_MEMORY
        memcpy(self.features.values + slot * self.features.row_bytes, self.window.row(i),
               self.features.row_bytes)
        if self.offset:
            self.weights.shift(coefficients)
        self.queue.put(self.support, slot, 1)
        return self.merge() if self.is_exceeded() else OK

    cdef Status merge(self) noexcept nogil:
        """Move the smallest support vectors into the weights."""
        cdef Py_ssize_t _, slot
        for _ in range(self.merge_size):
            slot = self.queue.pop()
            self.weights.absorb(slot, self.features.row(slot))
            if self.support.drop(slot) < 0:
                return NO_MEMORY
        return OK

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.old_features.begin(self.support.n)
        self.weights.checkpoint()

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.old_features.restore(self.features.values, self.features.row_bytes)
        self.weights.rollback()
        self.queue.refill(self.support, NULL)

    def coefficients(self):
        """(weights, offsets) of the predicting model, (n_outputs, length) and (n_outputs,)."""
        return self.weights.effective()

    def get_learnt(self):
        return self.weights.get_state()

    def set_learnt(self, learnt):
        cdef SupportSet support = self.support
        self.fields_learnt(learnt, ("weights", "offsets"))
        cdef Samples samples = samples_of(support.store.get_rows(support.n), support.dtype)
        cdef Block block = Block(max(support.n, 1), self.map.d, self.map.itemsize)
        if block.open(&samples.rows, NULL, 0, support.n) < 0:
            raise MemoryError(f"no memory for the features of {support.n} support vectors")
        self.features.fill(block)
        self.weights.set_state(learnt)
        self.queue.refill(support, NULL)


cdef class DualWindow:
    """Kernel values and features of samples, for scoring."""

    def __cinit__(self, Window window not None, FeatureBlock features not None):
        self.window = window
        self.features = features


cdef class DualSpace(InverseTimeSpace):
    """Support vectors, and the weights into which they are merged.

    Parameters
    ----------
    support : SupportSet
    budget : FeatureMerging
        Not attached to another support set.
    """

    def __cinit__(self, SupportSet support, FeatureMerging budget not None):
        self.merging = budget

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.support.n + self.merging.map.length

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        self.support.reserve_block(rows)
        return self.merging.reserve_block(rows)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        if self.support.open(rows, order, first, n) < 0:
            return NO_MEMORY
        self.merging.open(self.support.window.block)
        return OK

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        self.merging.weights.advance(update.lead)
        return InverseTimeSpace.update(self, i, update)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.support.coefficients.scores(self.support.kernel_values(i), current, averaged)
        self.merging.add_scores(self.merging.window.row(i), current, averaged)

    cdef object new_window(self, Py_ssize_t rows):
        return DualWindow(self.support.new_window(rows), FeatureBlock(self.merging.map, rows))

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        cdef double *scores
        if KernelSpace.score(self, (<DualWindow> window).window, rows, first, n, out) < 0:
            return NO_MEMORY
        (<DualWindow> window).features.fill((<DualWindow> window).window.block)
        for i in range(n):
            scores = out + i * self.n_outputs
            self.merging.add_scores((<DualWindow> window).features.row(i), scores, scores)
        return OK


POLICIES = {"merge_into_features": FeatureMerging}
