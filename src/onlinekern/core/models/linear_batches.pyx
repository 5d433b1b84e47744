"""BatchSpace: linear functions that stay what they are until a batch of samples is complete.

All samples of a batch are scored by one model; their shrinks and steps are gathered, and
taken together at its end, wherever the calls end. What is gathered is a sum, kept with a list of
the blocks that are not 0: the end of a batch costs what its samples have stored, not d.
"""
from libc.math cimport sqrt
from libc.stdlib cimport calloc, free

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.linear cimport LINE, LinearSpace
from onlinekern.core.samples.rows cimport is_sparse, sparse_row


cdef class BatchSpace(LinearSpace):
    """Linear functions, all 0.

    Parameters
    ----------
    batch_size : int >= 1
    radius : float >= 0
        After each batch the model is projected onto the ball ||(w, b)|| <= radius; 0 for no ball.
        With several outputs the norm is that of all of them together. A ball may be replaced by
        another between calls; there is one from the start or never.
    *arguments
        Of `LinearSpace`.
    """

    def __init__(self, Py_ssize_t batch_size, double radius, *arguments):
        LinearSpace.__init__(self, *arguments)
        self.batch_size = batch_size
        self.radius = radius
        self.gathered = LinearSpace(self.d, arguments[1], self.n_outputs, False, self.intercept)
        n = self.gathered.blocks.n_rows
        self.marked = <char *> calloc(n, 1)
        self.listed = <Py_ssize_t *> calloc(n, sizeof(Py_ssize_t))
        if self.marked == NULL or self.listed == NULL:
            raise MemoryError(f"no memory for a batch over {self.d} features")
        self.pending.shrink = 1

    def __dealloc__(self):
        free(self.marked)
        free(self.listed)

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        cdef Py_ssize_t k, row
        if self.batch_size == 1 and self.radius == 0:
            # Nothing waits for the end of the batch.
            return LinearSpace.update(self, i, update)
        self.advance()
        self.pending.shrink *= update.shrink
        if update.updates:
            row = self.row_number(i)
            for k in range(self.n_outputs):
                if update.coefficients[k] != 0:
                    self.gather(k, row, update.coefficients[k])
        self.pending.count += 1
        if self.pending.count == self.batch_size:
            self.step()
        return OK

    cdef void mark(self, Py_ssize_t block) noexcept nogil:
        if not self.marked[block]:
            self.marked[block] = True
            self.listed[self.n_listed] = block
            self.n_listed += 1

    cdef void relist(self) noexcept nogil:
        """Find the blocks that are not 0."""
        cdef Py_ssize_t b, j
        self.n_listed = 0
        for b in range(self.gathered.blocks.n_rows):
            self.marked[b] = False
            for j in range(LINE):
                if self.gathered.blocks.row(b)[j] != 0:
                    self.mark(b)

    cdef void gather(self, Py_ssize_t k, Py_ssize_t row, double coefficient) noexcept nogil:
        """Add a sample to those of the open batch."""
        cdef Py_ssize_t j, start = k * self.width
        cdef ok_sparse_row x
        self.gathered.add(k, &self.rows, row, coefficient)
        self.mark((start + self.d) // LINE)
        if is_sparse(&self.rows):
            x = sparse_row(&self.rows, row)
            for j in range(x.count):
                self.mark((start + x.columns[j]) // LINE)
        else:
            for j in range((self.d + LINE - 1) // LINE):
                self.mark(start // LINE + j)

    cdef void step(self) noexcept nogil:
        """End the batch."""
        cdef Py_ssize_t b
        if self.pending.shrink != 1:
            self.shrink(self.pending.shrink)
            self.pending.square *= self.pending.shrink * self.pending.shrink
        for b in range(self.n_listed):
            self.take(self.listed[b])
            self.marked[self.listed[b]] = False
        self.n_listed = 0
        self.pending.count = 0
        self.pending.shrink = 1
        if self.radius > 0:
            self.project()

    cdef void take(self, Py_ssize_t block) noexcept nogil:
        """Add a block of what was gathered to the weights, and empty it."""
        cdef Py_ssize_t j, k = block * LINE // self.width, first = block * LINE - k * self.width
        cdef double scale = self.average.scale, before, after
        cdef double *gathered = self.gathered.blocks.touch(block)
        for j in range(LINE):
            if gathered[j] != 0:
                before = scale * self.weights(k)[first + j]
                self.move(k, first + j, gathered[j] / scale)
                after = scale * self.weights(k)[first + j]
                self.pending.square += (after - before) * (after + before)
                gathered[j] = 0

    cdef void project(self) noexcept nogil:
        """The nearest point of the ball."""
        cdef double factor
        if self.pending.square > self.radius * self.radius:
            factor = self.radius / sqrt(self.pending.square)
            self.shrink(factor)
            self.pending.square *= factor * factor

    cdef void checkpoint(self) noexcept nogil:
        LinearSpace.checkpoint(self)
        self.gathered.checkpoint()
        self.saved_pending = self.pending

    cdef void rollback(self) noexcept nogil:
        LinearSpace.rollback(self)
        self.gathered.rollback()
        self.pending = self.saved_pending
        self.relist()

    def end_batch(self):
        """Step with the samples of the open batch, if there are any, as if they were all of it."""
        self.checkpoint()
        if self.pending.count > 0:
            self.step()

    @property
    def n_pending(self):
        """Samples of the open batch."""
        return self.pending.count

    def arguments(self):
        """What makes an empty space like this one."""
        return self.batch_size, self.radius, *LinearSpace.arguments(self)

    def get_state(self):
        """All that was learnt, as a dictionary."""
        return {
            **LinearSpace.get_state(self), "gathered": self.gathered.blocks.to_array(),
            "count": self.pending.count, "shrink": self.pending.shrink,
            "square": self.pending.square,
        }

    def set_state(self, state):
        """Take over what `get_state` gave."""
        LinearSpace.set_state(self, state)
        self.gathered.blocks.set_array(state["gathered"])
        self.pending.count, self.pending.shrink = state["count"], state["shrink"]
        self.pending.square = state["square"]
        self.saved_pending = self.pending
        self.relist()
