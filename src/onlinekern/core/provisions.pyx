"""Provision: support rows over the budget live on in a linear function of explicit features.

Layer 8. k-merging of DualSGD (Le, Nguyen, Nguyen and Phung 2016, algorithm 2): when a row is one
too many, the k of smallest coefficients go into w <- w + sum_i a_i z(x_i), and leave.

The features of a row are computed once, with those of the block in which it was a coming sample,
and kept while it is in the set.
"""
from libc.string cimport memcpy

from onlinekern.core.budgets cimport ADDED, OUT_OF_MEMORY, Budget, Verdict
from onlinekern.core.chunks cimport Chunk
from onlinekern.core.journals cimport Journal
from onlinekern.core.maps cimport FeatureBlock, FeatureMap
from onlinekern.core.rows cimport Samples, samples_of
from onlinekern.core.slots cimport Queue
from onlinekern.core.support cimport SupportSet
from onlinekern.core.weights cimport Weights


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

    cdef int make_room(self, Py_ssize_t rows) except -1:
        """Let up to `rows` coming samples be opened together."""
        if self.window.capacity < rows:
            self.window = FeatureBlock(self.map, rows)
        return 0

    cdef void open(self, Chunk chunk) noexcept nogil:
        """Prepare the rows of an open chunk, for which there is room."""
        self.window.fill(chunk)

    cdef void add_scores(self, const char *z, double *current, double *averaged) noexcept nogil:
        """Add to the scores of a sample with features z what the weights contribute."""
        self.weights.scores(z, current, averaged)

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = support.add(i, coefficients)
        if slot < 0 or self.old_features.keep(slot, self.features.block) < 0:
            return OUT_OF_MEMORY
        memcpy(self.features.block + slot * self.features.row_bytes, self.window.row(i),
               self.features.row_bytes)
        if self.offset:
            self.weights.shift(coefficients)
        self.queue.push(support.coefficients.norm(slot), support.slots.ages[slot], slot)
        return self.merge(support) if self.queue.n > self.max_support else ADDED

    cdef Verdict merge(self, SupportSet support) noexcept nogil:
        """Turn the smallest rows into weights."""
        cdef Py_ssize_t _, slot
        for _ in range(self.merge_size):
            slot = self.queue.pop()
            self.weights.absorb(slot, self.features.row(slot))
            if support.drop(slot) < 0:
                return OUT_OF_MEMORY
        return ADDED

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.old_features.open(support.n)
        self.weights.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.old_features.put_back(self.features.block)
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
        cdef Chunk chunk = Chunk(support.kernel, self.max_support + 1, self.map.d,
                                 self.map.itemsize)
        if chunk.open(&samples.rows, NULL, 0, support.n) < 0:
            raise MemoryError(f"no memory for the features of {support.n} support vectors")
        self.features.fill(chunk)
        self.weights.set_state(state)
        self.requeue(support)
