"""HybridSpace: functions of two parts, the kernel at support vectors and weights over features.

f(x) = s (sum_i a_i kappa(x_i, x) + w . z(x) + b), the model of DualSGD, whose scale s is
exactly 1/t after t steps (see `InverseTimeSpace`).

Weights: a linear function of explicit features beside the coefficients of support rows.

The two parts are one model: they share scale, averaging and steps (see coefficients), so a
support row can hand its coefficients over to the features that approximate it: w += a z, and the
same for the companions. The average of f_1 ... f_t then sees the row through its features in all
these models, whenever the row was handed over.

Provision: support rows over the budget live on in a linear function of explicit features.

k-merging of DualSGD (Le, Nguyen, Nguyen and Phung 2016, algorithm 2): when a row is one
too many, the k of smallest coefficients go into w <- w + sum_i a_i z(x_i), and leave.

The features of a row are computed once, with those of the block in which it was a coming sample,
and kept while it is in the set.
"""
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.undo cimport Journal, JournaledMatrix
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.features.map cimport FeatureBlock, FeatureMap
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.support_set cimport Queue, SupportSet
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.models.space cimport InverseTimeSpace, KernelSpace
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of


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
        self.values = JournaledMatrix("weights of the features", 2 * self.n_outputs, length)
        self.offsets = JournaledMatrix("offsets", 1, 2 * self.n_outputs)

    cdef void scores(self, const char *z, double *current, double *averaged) noexcept nogil:
        """Add to the scores what the features z of one sample contribute.

        `current` and `averaged` as in `Coefficients.scores`; they may be the same memory, which
        then holds the average.
        """
        cdef Py_ssize_t k, K = self.n_outputs
        cdef double[2] sums
        cdef double scale = self.shared.scale, score, total = self.shared.total + scale
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
            averaged[k] += (total * (sums[0] + offsets[k])
                            - (sums[1] + offsets[K + k])) / (self.shared.steps + 1)

    cdef void absorb(self, Py_ssize_t slot, const char *z) noexcept nogil:
        """Take over the coefficients of the support row in a slot, whose features are z."""
        cdef Py_ssize_t k, j, K = self.n_outputs
        for k in range(K):
            j = k * self.shared.capacity + slot
            if self.shared.values[j] == 0:
                continue
            self.ops.add(z, self.shared.values[j], self.values.touch(k), self.length)
            if self.averaged:
                self.ops.add(z, self.shared.companions[j], self.values.touch(K + k), self.length)

    cdef void shift(self, const double *step) noexcept nogil:
        """Add K numbers, in units of the scale, to the offsets."""
        cdef Py_ssize_t k, K = self.n_outputs
        cdef double *offsets = self.offsets.touch(0)
        for k in range(K):
            offsets[k] += step[k] / self.shared.scale
            if self.averaged:
                offsets[K + k] += step[k] / self.shared.scale * self.shared.total

    cdef void checkpoint(self) noexcept nogil:
        """Make the present state the one that `rollback` returns to."""
        self.values.checkpoint()
        self.offsets.checkpoint()

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        self.values.rollback()
        self.offsets.rollback()

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
        return {"weights": self.values.to_array(), "offsets": self.offsets.to_array()[0]}

    def set_state(self, state):
        """Take over what `get_state` gave."""
        self.values.set_array(state["weights"])
        self.offsets.set_array(state["offsets"][np.newaxis])


cdef class Provision(Budget):
    """At most `max_support` rows; the smallest `merge_size` of one more become weights.

    The size of a row is the Euclidean norm of its K coefficients, equal sizes leave in the order in
    which they came. The policy belongs to one support set, which it is attached to.

    Parameters
    ----------
    map : FeatureMap
    max_support : int >= 1
    merge_size : int in [1, max_support]
    offset : bool
        Whether each output has an offset that takes the steps of all rows: the features and the
        kernel are then those of kappa + 1.
    """

    def __init__(self, FeatureMap map, Py_ssize_t max_support, Py_ssize_t merge_size, bint offset):
        self.map = map
        self.max_support = max_support
        self.merge_size = merge_size
        self.offset = offset
        self.arguments = (map, max_support, merge_size, offset)
        self.queue = Queue(max_support + 1)
        self.features = FeatureBlock(map, max_support + 1)
        self.window = FeatureBlock(map, 1)
        self.old_features = Journal(self.features.row_bytes)

    cdef int attach(self, SupportSet support) except -1:
        """Make the weights that go with the coefficients of a support set."""
        self.weights = Weights(support.coefficients, self.map.length)
        return 0

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        """Let up to `rows` coming samples be opened together."""
        if self.window.capacity < rows:
            self.window = FeatureBlock(self.map, rows)
        return 0

    cdef void open(self, Block block) noexcept nogil:
        """Prepare the rows of an open block, for which there is room."""
        self.window.fill(block)

    cdef void add_scores(self, const char *z, double *current, double *averaged) noexcept nogil:
        """Add to the scores of a sample with features z what the weights contribute."""
        self.weights.scores(z, current, averaged)

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = support.add(i, coefficients)
        if slot < 0 or self.old_features.keep(slot, self.features.row(slot)) < 0:
            return NO_MEMORY
        memcpy(self.features.values + slot * self.features.row_bytes, self.window.row(i),
               self.features.row_bytes)
        if self.offset:
            self.weights.shift(coefficients)
        self.queue.push(support.coefficients.norm(slot), support.slots.ages[slot], slot)
        return self.merge(support) if self.queue.n > self.max_support else OK

    cdef Status merge(self, SupportSet support) noexcept nogil:
        """Turn the smallest rows into weights."""
        cdef Py_ssize_t _, slot
        for _ in range(self.merge_size):
            slot = self.queue.pop()
            self.weights.absorb(slot, self.features.row(slot))
            if support.drop(slot) < 0:
                return NO_MEMORY
        return OK

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.old_features.begin(support.n)
        self.weights.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.old_features.restore(self.features.values, self.features.row_bytes)
        self.weights.rollback()
        self.requeue(support)

    cdef void requeue(self, SupportSet support) noexcept nogil:
        """Queue the rows of the support set afresh."""
        cdef Py_ssize_t slot
        self.queue.n = 0
        for slot in range(support.n):
            if support.slots.ages[slot] >= 0:
                self.queue.push(support.coefficients.norm(slot), support.slots.ages[slot], slot)

    def coefficients(self):
        """(weights, offsets) of the model that predicts, (n_outputs, length) and (n_outputs,)."""
        return self.weights.effective()

    def get_state(self):
        return self.weights.get_state()

    def set_state(self, SupportSet support, state):
        cdef Samples samples = samples_of(support.store.get_rows(support.n), support.dtype)
        cdef Block block = Block(self.max_support + 1, self.map.d, self.map.itemsize)
        if block.open(&samples.rows, NULL, 0, support.n) < 0:
            raise MemoryError(f"no memory for the features of {support.n} support vectors")
        self.features.fill(block)
        self.weights.set_state(state)
        self.requeue(support)


cdef class HybridWindow:
    """Kernel values and features of samples that are scored."""

    def __init__(self, Window window, FeatureBlock features):
        self.window = window
        self.features = features


cdef class HybridSpace(InverseTimeSpace):
    """A support set, and a provision for the rows that leave it.

    Parameters
    ----------
    support : SupportSet
    provision : Provision
        A new one: it becomes that of the support set.
    """

    def __init__(self, SupportSet support, Provision provision):
        super().__init__(support, provision)
        self.provision = provision

    def __reduce__(self):
        return _restore, (self.support.arguments(), self.support.get_state(),
                          self.provision.arguments, self.provision.get_state())

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.support.n + self.provision.map.length

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        self.support.reserve_block(rows)
        return self.provision.reserve_block(rows)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        if self.support.open(rows, order, first, n) < 0:
            return NO_MEMORY
        self.provision.open(self.support.window.block)
        return OK

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.support.coefficients.scores(self.support.window.row(i), current, averaged)
        self.provision.add_scores(self.provision.window.row(i), current, averaged)

    cdef object new_window(self, Py_ssize_t rows):
        return HybridWindow(self.support.new_window(rows),
                            FeatureBlock(self.provision.map, rows))

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        cdef double *scores
        if KernelSpace.score(self, (<HybridWindow> window).window, rows, first, n, out) < 0:
            return NO_MEMORY
        (<HybridWindow> window).features.fill((<HybridWindow> window).window.block)
        for i in range(n):
            scores = out + i * self.n_outputs
            self.provision.add_scores((<HybridWindow> window).features.row(i), scores, scores)
        return OK


def _restore(arguments, state, provision_arguments, provided):
    support = SupportSet(*arguments)
    support.set_state(state)
    provision = Provision(*provision_arguments)
    space = HybridSpace(support, provision)
    provision.set_state(support, provided)
    return space
