"""BatchSpace: linear functions that are updated once per mini-batch.

The model does not change within a batch. The space adds up the updates of the samples, and applies
the sum when the batch is complete; a batch may span several calls. A list of the nonzero blocks of
the sum makes the cost of a batch proportional to the stored entries of its samples, not to d.
"""
from libc.math cimport sqrt
from libc.stdlib cimport calloc, free

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.state cimport (
    chosen, fields_of, finite_number, integer_within, not_negative,
)
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.linear cimport LINE, LinearSpace
from onlinekern.core.samples.rows cimport is_sparse, sparse_row

from onlinekern.core.models.linear import LINEAR_FIELDS

# Most samples of a batch, so that counts of samples do not overflow.
cdef Py_ssize_t MOST_ROWS = 1 << 62


cdef class BatchSpace(LinearSpace):
    """Linear functions, 0 at first.

    Parameters
    ----------
    batch_size : int >= 1
    radius : float >= 0
        Each batch ends with a projection onto the ball ||(w, b)|| <= radius, where the norm is
        over all outputs; 0 for no projection. A positive radius may change to another positive
        one between calls. It may not change to or from 0.
    *arguments
        Arguments of `LinearSpace`.
    """

    def __cinit__(self, *arguments, **options):
        self.batch_update = LinearSpace.__new__(LinearSpace)

    def __init__(self, Py_ssize_t batch_size, double radius, *arguments):
        LinearSpace.__init__(self, *arguments)
        self.batch_size = integer_within("batch_size", batch_size, 1, MOST_ROWS)
        self.radius = not_negative("radius", radius)
        self.batch_update = LinearSpace(self.d, arguments[1], self.n_outputs, False, self.intercept)
        n = self.batch_update.blocks.n_rows
        self.is_nonzero = <char *> calloc(n, 1)
        self.nonzero = <Py_ssize_t *> calloc(n, sizeof(Py_ssize_t))
        if self.is_nonzero == NULL or self.nonzero == NULL:
            raise MemoryError(f"no memory for a batch over {self.d} features")
        self.pending.shrink = 1

    def __dealloc__(self):
        free(self.is_nonzero)
        free(self.nonzero)

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        cdef Py_ssize_t k, row
        if self.batch_size == 1 and self.radius == 0:
            # A batch of one sample without projection is an ordinary update.
            return LinearSpace.update(self, i, update)
        self.advance(update.lead)
        self.pending.shrink *= update.shrink
        if update.updates:
            row = self.row_number(i)
            for k in range(self.n_outputs):
                if update.coefficients[k] != 0:
                    self.add_to_batch(k, row, update.coefficients[k])
        self.pending.count += 1
        if self.pending.count == self.batch_size:
            self.step()
        return OK

    cdef void add_nonzero(self, Py_ssize_t block) noexcept nogil:
        """Add a block to the list of nonzero blocks, if it is not there yet."""
        if not self.is_nonzero[block]:
            self.is_nonzero[block] = True
            self.nonzero[self.n_nonzero] = block
            self.n_nonzero += 1

    cdef void find_nonzero(self) noexcept nogil:
        """Rebuild the list of nonzero blocks from the batch update."""
        cdef Py_ssize_t b, j
        self.n_nonzero = 0
        for b in range(self.batch_update.blocks.n_rows):
            self.is_nonzero[b] = False
            for j in range(LINE):
                if self.batch_update.blocks.row(b)[j] != 0:
                    self.add_nonzero(b)

    cdef void add_to_batch(self, Py_ssize_t k, Py_ssize_t row, double coefficient) noexcept nogil:
        """Add coefficient times sample to output k of the batch update."""
        cdef Py_ssize_t j, start = k * self.width
        cdef ok_sparse_row x
        self.batch_update.add(k, &self.rows, row, coefficient)
        self.add_nonzero((start + self.d) // LINE)
        if is_sparse(&self.rows):
            x = sparse_row(&self.rows, row)
            for j in range(x.count):
                self.add_nonzero((start + x.columns[j]) // LINE)
        else:
            for j in range((self.d + LINE - 1) // LINE):
                self.add_nonzero(start // LINE + j)

    cdef void step(self) noexcept nogil:
        """Apply the batch update and start a new batch."""
        cdef Py_ssize_t b
        if self.pending.shrink != 1:
            self.shrink(self.pending.shrink)
            self.pending.squared_norm *= self.pending.shrink * self.pending.shrink
        for b in range(self.n_nonzero):
            self.apply_block(self.nonzero[b])
            self.is_nonzero[self.nonzero[b]] = False
        self.n_nonzero = 0
        self.pending.count = 0
        self.pending.shrink = 1
        if self.radius > 0:
            self.project()

    cdef void apply_block(self, Py_ssize_t block) noexcept nogil:
        """Add a block of the batch update to the weights, then clear the block."""
        cdef Py_ssize_t j, k = block * LINE // self.width, first = block * LINE - k * self.width
        cdef double scale = self.average.scale, before, after
        cdef double *block_update = self.batch_update.blocks.touch(block)
        for j in range(LINE):
            if block_update[j] != 0:
                before = scale * self.weights(k)[first + j]
                self.add_to_weight(k, first + j, block_update[j] / scale)
                after = scale * self.weights(k)[first + j]
                self.pending.squared_norm += (after - before) * (after + before)
                block_update[j] = 0

    cdef void project(self) noexcept nogil:
        """Project the model onto the ball."""
        cdef double factor
        if self.pending.squared_norm > self.radius * self.radius:
            factor = self.radius / sqrt(self.pending.squared_norm)
            self.shrink(factor)
            self.pending.squared_norm *= factor * factor

    cdef void checkpoint(self) noexcept nogil:
        LinearSpace.checkpoint(self)
        self.batch_update.checkpoint()
        self.saved_pending = self.pending

    cdef void rollback(self) noexcept nogil:
        LinearSpace.rollback(self)
        self.batch_update.rollback()
        self.pending = self.saved_pending
        self.find_nonzero()

    def end_batch(self):
        """Apply the update of an incomplete batch, if there is one."""
        self.checkpoint()
        if self.pending.count > 0:
            self.step()

    @property
    def n_pending(self):
        """Number of samples in the open batch."""
        return self.pending.count

    def arguments(self):
        """Arguments that construct an empty space like this one."""
        return self.batch_size, self.radius, *LinearSpace.arguments(self)

    def get_state(self):
        """Learnt state, as a dictionary."""
        return {
            **LinearSpace.get_state(self), "batch_update": self.batch_update.blocks.to_array(),
            "count": self.pending.count, "shrink": self.pending.shrink,
            "squared_norm": self.pending.squared_norm,
        }

    def set_state(self, state):
        """Restore the result of `get_state`."""
        fields_of(state, "a batch", (*LINEAR_FIELDS, "batch_update", "count", "shrink",
                                     "squared_norm"))
        count = integer_within("count", state["count"], 0, self.batch_size - 1)
        shrink = not_negative("shrink", state["shrink"])
        squared_norm = finite_number("squared_norm", state["squared_norm"])
        LinearSpace.set_state(self, chosen(state, LINEAR_FIELDS))
        self.batch_update.blocks.set_array(state["batch_update"])
        self.pending.count, self.pending.shrink = count, shrink
        self.pending.squared_norm = squared_norm
        self.saved_pending = self.pending
        self.find_nonzero()

    @staticmethod
    def size_arguments(arguments):
        _, _, *linear = arguments
        return LinearSpace.size_arguments(linear)
