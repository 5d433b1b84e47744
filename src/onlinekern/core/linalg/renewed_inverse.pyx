"""RenewedInverse: recomputes N of least squares from the sums A, spread over a block of samples.

Updates of N accumulate rounding errors, so the last block of an epoch computes N = A^-1 anew. After
a quarter of the block, A contains all samples before the block. A^-1 is computed tile by tile
(`linalg.tiled_inverse`) while the old N predicts. After three quarters of the block, A^-1 replaces
N: the samples of the block are multiplied with it, and C and E are computed anew from them; their
predictions stay. The rest of the block is learnt as usual. The bits do not depend on when which
part is computed.

With forgetting, N is computed at once when the block is full (`linalg.open_block`).
"""
from libc.math cimport sqrt
from libc.string cimport memcpy

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.vector cimport OK_DOT, OK_PANEL, whole_panels
from onlinekern.core.linalg.block_memory cimport LANES
from onlinekern.core.linalg.inverse_gram cimport over_weight
from onlinekern.core.linalg.paced_inverse cimport PacedInverse
from onlinekern.core.linalg.tiled_inverse cimport TiledInverse

# Number of samples of the block after which A^-1 is finished; then they are multiplied with it.
cdef Py_ssize_t MADE = 40
# Cost of one panel of these products, in steps of A^-1.
cdef Py_ssize_t STEPS_OF_PANEL = 5


cdef class RenewedInverse(PacedInverse):
    """N, the samples of the block, and A^-1, which will replace N."""

    def __cinit__(self, *_, **__):
        self.fresh = TiledInverse(self.sums, self.itemsize)

    cdef Py_ssize_t closed_panels(self) noexcept nogil:
        """Number of panels of A that the samples before the block have changed."""
        return max(1, whole_panels(self.closed_used) // OK_PANEL)

    cdef bint renews(self) noexcept nogil:
        """Whether this block recomputes N, and is within its first three quarters."""
        return self.forgetting == 1 and self.count <= self.n_early \
            and self.since - self.count + self.block_length >= self.epoch_length

    cdef bint is_renewal(self) noexcept nogil:
        """Whether A^-1 replaces N after the sample learnt last."""
        return self.count == self.n_early and self.renews()

    cdef void prepare(self) noexcept nogil:
        """Do the work that belongs to the samples so far, in the memory of the undo copy."""
        if self.renews():
            self.renew_ahead()
        else:
            PacedInverse.prepare(self)

    cdef void forget_ahead(self) noexcept nogil:
        """Discard all work done ahead."""
        PacedInverse.forget_ahead(self)
        self.forget_fresh()

    cdef void forget_fresh(self) noexcept nogil:
        """Discard A^-1 and the products with it."""
        self.fresh.end()
        self.n_paced = self.n_multiplied = 0

    cdef void renew_ahead(self) noexcept nogil:
        """Compute the part of A^-1, and of the products with it, that belongs to the last samples.
        """
        cdef Py_ssize_t steps, last = self.n_early, paced = self.n_paced
        if self.kept or self.count == 0 or self.count <= paced:
            return
        if self.fresh.panels == 0 and self.fresh.begin(self.closed_panels()) != OK:
            return  # `take_fresh` tries again
        self.n_paced = self.count
        steps = self.fresh.left
        if self.count < MADE:
            steps = steps * (self.count - paced) // (MADE - paced)
        while steps > 0 and not self.fresh.waits(
                self.n_strips if self.waiting > self.count else self.fresh.panels):
            self.fresh.step(self.saved_inverse)
            steps -= 1
        if self.count < MADE or self.fresh.left > 0:
            return
        steps = self.fresh.panels * (self.count - MADE + 1) // (last - MADE)
        while self.n_multiplied < min(steps, self.fresh.panels):
            self.multiply_panel(self.saved_inverse, self.n_multiplied, 0, MADE)
            self.n_multiplied += 1

    cdef void multiply_panel(self, const char *inverse, Py_ssize_t p, Py_ssize_t first,
                             Py_ssize_t last) noexcept nogil:
        """Numbers 64 p ... 64 p + 63 of q = N phi of samples first ... last - 1, in `solved`."""
        cdef Py_ssize_t f, lane, size = self.itemsize
        cdef char *tile = <char *> self.scaled
        cdef char *out = self.solved + p * OK_PANEL * LANES * size
        self.ops.dense[OK_DOT](self.contents.rows + first * self.length * size, self.length,
                               last - first, self.used,
                               inverse + p * OK_PANEL * self.length * size, tile, LANES)
        for f in range(OK_PANEL):
            for lane in range(first, last):
                if size == 4:
                    (<float *> out)[f * LANES + lane] = (<float *> tile)[(lane - first) * LANES + f]
                else:
                    (<double *> out)[f * LANES + lane] = \
                        (<double *> tile)[(lane - first) * LANES + f]

    cdef Status take_fresh(self) noexcept nogil:
        """Replace N by A^-1, and learn the samples of the block with it again. Returns a status."""
        cdef Py_ssize_t p, size = self.itemsize
        cdef char *inverse = self.inverse if self.kept else self.saved_inverse
        cdef Status status = OK
        if self.fresh.panels == 0:
            status = self.fresh.begin(self.closed_panels())
        while self.fresh.left > 0:
            self.fresh.step(inverse)
        if status == OK:
            status = self.fresh.status
        if status != OK:
            return status
        for p in range(whole_panels(self.used) // OK_PANEL):
            if p >= self.n_multiplied:
                self.multiply_panel(inverse, p, 0, MADE)
            self.multiply_panel(inverse, p, MADE, self.count)
        if not self.kept:
            self.inverse, self.saved_inverse = inverse, self.inverse
            self.kept = True
        self.keep_contents()
        memcpy(self.contents.products, self.solved, whole_panels(self.used) * LANES * size)
        self.take_weights()
        self.take_samples_anew()
        self.since = self.count
        self.settled = False
        self.forget_fresh()
        return OK

    cdef void take_weights(self) noexcept nogil:
        """Set the weights w before the block to A^-1 b."""
        cdef Py_ssize_t k, order = self.fresh.panels * OK_PANEL
        self.base.touch_all()
        for k in range(self.n_outputs):
            memcpy(self.base.values + k * self.length, self.fresh.weights + k * order,
                   order * sizeof(double))

    cdef Status begin_whole(self) noexcept nogil:
        """Begin to compute A^-1 of sums that contain all samples. Returns a status."""
        return self.fresh.begin(max(1, whole_panels(self.used) // OK_PANEL))

    cdef Status take_whole(self) noexcept nogil:
        """Finish A^-1 of sums that contain all samples: set the weights. Returns a status."""
        cdef Status status = self.fresh.status
        if status == OK:
            self.take_weights()
        self.forget_fresh()
        return status

    cdef void take_samples_anew(self) noexcept nogil:
        """Compute C and E of the samples of the block from their q and the predictions by old w."""
        cdef Py_ssize_t i, j, k, n = self.count, size = self.itemsize, outputs = self.n_outputs
        cdef Py_ssize_t width = whole_panels(self.used)
        cdef char *table = <char *> self.scaled
        cdef const char *row
        cdef double *innovations = self.contents.innovations
        cdef double[LANES] h
        cdef double root, score
        self.ops.dense[OK_DOT](self.contents.rows, self.length, n, self.used,
                               self.contents.products, table, LANES)
        for j in range(n):
            self.count = j
            row = table + j * LANES * size
            self.substitute(row, h)
            root = self.extend_factor(h, (<const float *> row)[j] if size == 4 else
                                      (<const double *> row)[j], self.contents.weights[j])
            row = self.contents.rows + j * self.length * size
            for k in range(outputs):
                score = self.ops.dot(row, self.base.values + k * self.length, width)
                for i in range(j):
                    score += h[i] * innovations[i * outputs + k]
                innovations[j * outputs + k] = \
                    (self.contents.targets[j * outputs + k] / self.contents.weights[j] - score) \
                    / root
        self.count = n

    cdef void substitute(self, const char *products, double *h) noexcept nogil:
        """h = C^-1 k for the products k = phi' Q of a sample with those of the block."""
        cdef Py_ssize_t j, later
        cdef double value
        cdef const double *column
        for j in range(self.count):
            h[j] = (<const float *> products)[j] if self.itemsize == 4 else \
                (<const double *> products)[j]
        for j in range(self.count):
            column = self.contents.factor + j * LANES
            value = h[j] = h[j] / column[j]
            for later in range(j + 1, self.count):
                h[later] -= value * column[later]

    cdef double extend_factor(self, const double *h, double square, double weight) noexcept nogil:
        """Write the row of C of a sample more, of this weight. Returns its last number.

        `h` is what `substitute` gave, `square` its phi' q.
        """
        cdef Py_ssize_t j, lane = self.count
        cdef double root, variance = square
        for j in range(lane):
            variance -= h[j] * h[j]
        root = sqrt(over_weight(1, weight) + max(variance, 0.0))
        for j in range(lane):
            self.contents.factor[j * LANES + lane] = h[j]
        self.contents.factor[lane * LANES + lane] = root
        return root
