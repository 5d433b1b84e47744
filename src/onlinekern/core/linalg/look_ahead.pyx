"""LookAhead: a window of coming samples for least squares over blocks (`linalg.open_block`).

The expensive products are computed for the whole window when it opens: the scores by w before the
block; q = N phi of samples that will probably be learnt; and the products phi' q with these samples
and with those of the block. The work left for a sample depends on the size of a block only.
"""
from libc.math cimport INFINITY, fabs
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.vector cimport OK_DOT, OK_PANEL, resize_array, whole_panels
from onlinekern.core.linalg.open_block cimport LANES, OpenBlock


cdef class LookAhead:
    """A window of up to LANES samples.

    Parameters
    ----------
    block : OpenBlock
    reach : float
        q is computed ahead for samples near the border: whose absolute score (one output), or whose
        difference of the two largest scores, is at most `reach`. It changes no result.
    """

    def __cinit__(self, OpenBlock block not None, double reach=INFINITY):
        cdef Py_ssize_t size = block.itemsize, outputs = block.n_outputs
        self.block = block
        self.reach = reach
        self.base_scores = <double *> resize_array(NULL, 0, LANES, outputs * sizeof(double))
        self.scores = <double *> resize_array(NULL, 0, outputs, sizeof(double))
        self.h = <double *> resize_array(NULL, 0, LANES, sizeof(double))
        self.lanes = <Py_ssize_t *> resize_array(NULL, 0, LANES, sizeof(Py_ssize_t))
        self.taken = <Py_ssize_t *> resize_array(NULL, 0, LANES, sizeof(Py_ssize_t))
        self.gathered = <char *> resize_array(NULL, 0, LANES, block.length * size)
        self.products = <char *> resize_array(NULL, 0, LANES, block.length * size)
        # `transpose` works on square tiles, see vector.h.
        self.own = <char *> resize_array(NULL, 0, LANES, LANES * size)
        self.with_block = <char *> resize_array(NULL, 0, LANES, LANES * size)
        self.tile = <char *> resize_array(NULL, 0, LANES, LANES * size)
        if self.base_scores == NULL or self.scores == NULL or self.h == NULL \
                or self.lanes == NULL or self.taken == NULL or self.gathered == NULL \
                or self.products == NULL \
                or self.own == NULL or self.with_block == NULL or self.tile == NULL:
            raise MemoryError(f"no memory for a window of {block.length} features")

    def __dealloc__(self):
        free(self.base_scores)
        free(self.scores)
        free(self.h)
        free(self.lanes)
        free(self.taken)
        free(self.gathered)
        free(self.products)
        free(self.own)
        free(self.with_block)
        free(self.tile)

    cdef void open(self, const char *rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Prepare samples first ... n - 1 of a window of n rows."""
        cdef Py_ssize_t i, size = self.block.itemsize
        cdef Py_ssize_t row_bytes = self.block.length * size, room = LANES
        if self.all_enter:  # later samples belong to the next block, with another N
            room = self.block.block_length - self.block.count
        self.n_handed = self.block.count
        self.rows, self.first, self.n, self.n_lanes = rows, first, n, 0
        self.score_base()
        for i in range(first, n):
            self.lanes[i] = -1
            if self.n_lanes < room and self.is_near(self.base_scores + i * self.block.n_outputs):
                memcpy(self.gathered + self.n_lanes * row_bytes, rows + i * row_bytes, row_bytes)
                self.lanes[i] = self.n_lanes
                self.n_lanes += 1
        if self.n_lanes > 0:
            self.add_lanes(self.n_lanes)
            self.multiply(rows + first * row_bytes, n - first, self.products,
                          self.own + first * LANES * size)
        if self.block.count > 0:
            self.multiply(rows + first * row_bytes, n - first, self.block.contents.products,
                          self.with_block + first * LANES * size)

    cdef void score_base(self) noexcept nogil:
        """Score the coming samples by w. Two outputs at a time stay in the nearest cache."""
        cdef Py_ssize_t i, k, K = self.block.n_outputs, row_bytes
        cdef Py_ssize_t width = whole_panels(self.block.used)
        cdef const double *w
        row_bytes = self.block.length * self.block.itemsize
        for k in range(0, K, 2):
            w = self.block.base.values + k * self.block.length
            for i in range(self.first, self.n):
                if k + 1 < K:
                    self.block.ops.dot2(self.rows + i * row_bytes, w, w + self.block.length, width,
                                        self.base_scores + i * K + k)
                else:
                    self.base_scores[i * K + k] = self.block.ops.dot(self.rows + i * row_bytes, w,
                                                                     width)

    cdef bint is_near(self, const double *scores) noexcept nogil:
        """Whether a sample with these scores will probably be learnt."""
        cdef Py_ssize_t k
        cdef double best = -INFINITY, second = -INFINITY
        if self.block.n_outputs == 1:
            return not fabs(scores[0]) > self.reach
        for k in range(self.block.n_outputs):
            if scores[k] > best:
                second, best = best, scores[k]
            elif scores[k] > second:
                second = scores[k]
        return not best - second > self.reach

    cdef void multiply(self, const char *x, Py_ssize_t n, const char *panel,
                       char *out) noexcept nogil:
        """out (n x LANES) = products of n rows with the lanes of a panel."""
        self.block.ops.dense[OK_DOT](x, self.block.length, n, self.block.used, panel, out, LANES)

    cdef void add_lanes(self, Py_ssize_t n) noexcept nogil:
        """Compute q of the last n gathered rows."""
        cdef Py_ssize_t f, lane, p, size = self.block.itemsize, first = self.n_lanes - n
        cdef Py_ssize_t row_bytes = self.block.length * size
        cdef char *out
        for p in range(whole_panels(self.block.used) // OK_PANEL):
            self.multiply(self.gathered + first * row_bytes, n, self.block.panel(p), self.tile)
            out = self.products + p * OK_PANEL * LANES * size
            if first == 0 and n >= LANES // 4:
                self.block.ops.transpose(self.tile, OK_PANEL, out, LANES)
                continue
            for f in range(OK_PANEL):
                for lane in range(n):
                    if size == 4:
                        (<float *> out)[f * LANES + first + lane] = \
                            (<float *> self.tile)[lane * LANES + f]
                    else:
                        (<double *> out)[f * LANES + first + lane] = \
                            (<double *> self.tile)[lane * LANES + f]

    cdef void score(self, Py_ssize_t i, double *scores) noexcept nogil:
        """Scores of sample i by the model after all samples learnt so far."""
        cdef Py_ssize_t outputs = self.block.n_outputs, size = self.block.itemsize
        self.block.substitute(self.with_block + i * LANES * size, self.h)
        memcpy(self.scores, self.base_scores + i * outputs, outputs * sizeof(double))
        self.block.correct(self.h, self.scores)
        memcpy(scores, self.scores, outputs * sizeof(double))

    cdef double number(self, const char *table, Py_ssize_t i, Py_ssize_t lane) noexcept nogil:
        if self.block.itemsize == 4:
            return (<const float *> table)[i * LANES + lane]
        return (<const double *> table)[i * LANES + lane]

    cdef void require_lane(self, Py_ssize_t i) noexcept nogil:
        """Compute q of sample i, and its products with the samples from i on, if need be."""
        cdef Py_ssize_t row_bytes = self.block.length * self.block.itemsize
        if self.lanes[i] >= 0:
            return
        memcpy(self.gathered + self.n_lanes * row_bytes, self.rows + i * row_bytes, row_bytes)
        self.lanes[i] = self.n_lanes
        self.n_lanes += 1
        self.add_lanes(1)
        self.multiply(self.rows + i * row_bytes, self.n - i, self.products,
                      self.own + i * LANES * self.block.itemsize)

    cdef double variance(self, Py_ssize_t i) noexcept nogil:
        """phi' A^-1 phi of sample i, which was scored last, after all samples learnt so far."""
        cdef Py_ssize_t j
        self.require_lane(i)
        cdef double variance = self.number(self.own, i, self.lanes[i])
        for j in range(self.block.count):
            variance -= self.h[j] * self.h[j]
        return max(variance, 0.0) * self.block.scale() * self.block.forgetting

    cdef void grow(self, Py_ssize_t i, Py_ssize_t used) noexcept nogil:
        """Update all products: the rows from sample i on, the one scored last, have new features.
        """
        cdef Py_ssize_t f, j, size = self.block.itemsize, before = self.block.used
        cdef Py_ssize_t row_bytes = self.block.length * size
        self.block.set_used(used)
        for f in range(before, used):
            memset(self.products + f * LANES * size, 0, LANES * size)
            for j in range(i, self.n):
                if self.lanes[j] >= 0:
                    self.extend_lane(j, f)
        if self.n_lanes > 0:
            self.multiply(self.rows + i * row_bytes, self.n - i, self.products,
                          self.own + i * LANES * size)

    cdef void extend_lane(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil:
        """Compute q of sample i at a new feature, where N is diagonal."""
        cdef Py_ssize_t at = place * LANES + self.lanes[i], x = i * self.block.length + place
        cdef Py_ssize_t diagonal = place * OK_PANEL + place % OK_PANEL
        cdef const char *panel = self.block.panel(place // OK_PANEL)
        if self.block.itemsize == 4:
            (<float *> self.products)[at] = \
                (<const float *> panel)[diagonal] * (<const float *> self.rows)[x]
        else:
            (<double *> self.products)[at] = \
                (<const double *> panel)[diagonal] * (<const double *> self.rows)[x]

    cdef void hand_over(self) noexcept nogil:
        """Copy q of the samples learnt since the window was opened to the block."""
        cdef Py_ssize_t f, j, first = self.n_handed, last = self.block.count
        cdef char *to
        cdef const char *of
        for f in range(self.block.used if last > first else 0):
            to = self.block.contents.products + f * LANES * self.block.itemsize
            of = self.products + f * LANES * self.block.itemsize
            if self.block.itemsize == 4:
                for j in range(first, last):
                    (<float *> to)[j] = (<const float *> of)[self.taken[j]]
            else:
                for j in range(first, last):
                    (<double *> to)[j] = (<const double *> of)[self.taken[j]]
        self.n_handed = last

    cdef Status enter(self, Py_ssize_t i, double weight, const double *steps) noexcept nogil:
        """Learn sample i, which was scored last; `steps` are weight (y - f). Returns a status."""
        cdef Py_ssize_t j, lane = self.block.count, size = self.block.itemsize
        cdef Status status
        self.require_lane(i)
        self.block.append(self.rows + i * self.block.length * size,
                          self.number(self.own, i, self.lanes[i]), self.h, weight, self.scores,
                          steps)
        self.taken[lane] = self.lanes[i]
        if self.block.count == self.block.block_length:
            self.hand_over()
            status = self.block.close()
            self.open(self.rows, i + 1, self.n)
            return status
        if self.block.is_renewal():
            self.hand_over()
            status = self.block.take_fresh()
            self.open(self.rows, i + 1, self.n)
            return status
        for j in range(i + 1, self.n):
            memcpy(self.with_block + (j * LANES + lane) * size,
                   self.own + (j * LANES + self.lanes[i]) * size, size)
        return OK
