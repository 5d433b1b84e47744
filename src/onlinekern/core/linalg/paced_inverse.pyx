"""PacedInverse: spreads the update of N at the end of a block over the last samples of the block.

    N <- N - R'R,   R = C^-1 Q,

by its lower triangle. Row i of R needs the first i samples of the block only. So the first three
quarters of the rows of R are subtracted while the last quarter of the samples arrives, some panels
of N with each sample. At the last sample only the other rows are left. N is always updated by these
two products, so its bits do not depend on when they are computed.
"""
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

from onlinekern.core.base.vector cimport OK_PANEL, whole_panels
from onlinekern.core.linalg.block_memory cimport LANES, BlockMemory
from onlinekern.core.linalg.information cimport at_once


cdef class PacedInverse(BlockMemory):
    """N, the samples of the block, and some panels of N updated by most of these samples."""

    def __cinit__(self, *_, **__):
        self.n_early = 3 * self.block_length // 4

    cdef void prepare(self) noexcept nogil:
        """Update the panels that belong to the samples so far, in the memory of the undo copy.

        Not done if that memory holds a copy for undo, because a block ended in this call, or if the
        block has new landmarks, with each of which the work would have to begin again.
        """
        cdef Py_ssize_t p, due, last = self.block_length - self.n_early
        due = self.length // OK_PANEL * (self.count - self.n_early + 1) // last
        if self.kept or self.grown or self.n_early == 0 or self.count < self.n_early \
                or self.since + self.block_length - self.count >= self.epoch_length:
            return
        if self.n_ahead == 0 and due > 0:
            self.invert_factor(self.n_early)
            self.solve_products(0, self.n_early)
        for p in range(self.n_ahead, due):
            self.copy_panel(self.inverse, self.saved_inverse, p)
            self.subtract(self.saved_inverse, p, 0, self.n_early)
        self.n_ahead = max(self.n_ahead, due)

    cdef void downdate(self) noexcept nogil:
        """N <- N - R'R. At the first update after a checkpoint, the old N becomes the undo copy."""
        cdef Py_ssize_t p
        cdef char *before = self.inverse
        cdef bint apart = not self.kept
        if apart:
            self.inverse, self.saved_inverse = self.saved_inverse, before
            self.kept = True
        self.invert_factor(self.count)
        if self.n_ahead == 0 and self.n_early > 0:
            self.solve_products(0, self.n_early)
        self.solve_products(self.n_early, self.count)
        for p in range(self.length // OK_PANEL):
            if p >= self.n_ahead:
                if apart:
                    self.copy_panel(before, self.inverse, p)
                self.subtract(self.inverse, p, 0, self.n_early)
            self.subtract(self.inverse, p, self.n_early, self.count)
            self.mirror(p)

    cdef void keep_inverse(self) noexcept nogil:
        """Copy N, before it is overwritten after a checkpoint."""
        if not self.kept:
            memcpy(self.saved_inverse, self.inverse, self.inverse_bytes)
            self.kept = True

    cdef void forget_ahead(self) noexcept nogil:
        """Discard the panels of N that were updated ahead."""
        self.n_ahead = 0

    cdef void copy_panel(self, const char *of, char *to, Py_ssize_t p) noexcept nogil:
        """Copy a panel without the numbers above its diagonal, which `mirror` writes."""
        cdef Py_ssize_t row_bytes = OK_PANEL * self.itemsize
        cdef Py_ssize_t above = p * OK_PANEL if p * OK_PANEL < self.used else 0
        cdef Py_ssize_t start = (p * self.length + above) * row_bytes
        memcpy(to + start, of + start, (self.length - above) * row_bytes)

    cdef void subtract(self, char *inverse, Py_ssize_t p, Py_ssize_t first,
                       Py_ssize_t last) noexcept nogil:
        """Subtract rows first ... last - 1 of R from a panel, from its diagonal on."""
        cdef Py_ssize_t size = self.itemsize, row = p * OK_PANEL
        cdef char *own = self.solved + (row * LANES + first) * size
        cdef char *r
        cdef char *out
        cdef int lanes = LANES, n = <int> (last - first), rows
        cdef double one = 1, minus = -1
        cdef float one32 = 1, minus32 = -1
        if n <= 0:
            return
        while row < self.used:
            rows = at_once(row, self.used, LANES * n)
            r = self.solved + (row * LANES + first) * size
            out = inverse + (p * self.length + row) * OK_PANEL * size
            if size == 4:
                sgemm(b"T", b"N", &lanes, &rows, &n, &minus32, <float *> own, &lanes, <float *> r,
                      &lanes, &one32, <float *> out, &lanes)
            else:
                dgemm(b"T", b"N", &lanes, &rows, &n, &minus, <double *> own, &lanes, <double *> r,
                      &lanes, &one, <double *> out, &lanes)
            row += rows

    cdef void mirror(self, Py_ssize_t p) noexcept nogil:
        """Copy the numbers of a panel of N below its diagonal to the upper triangle, transposed."""
        cdef Py_ssize_t q, tile = OK_PANEL * OK_PANEL * self.itemsize
        for q in range(p + 1, whole_panels(self.used) // OK_PANEL):
            self.ops.transpose(self.panel(p) + q * tile, OK_PANEL, self.panel(q) + p * tile,
                               OK_PANEL)

    cdef void invert_factor(self, Py_ssize_t n) noexcept nogil:
        """C^-1 of the first n samples, by rows: row i needs rows before it only, unlike in LAPACK.
        """
        cdef Py_ssize_t i, j, k
        cdef double value
        cdef double *row
        cdef const double *other
        for i in range(n):
            row = self.scaled + i * LANES
            memset(row, 0, LANES * sizeof(double))
            for k in range(i):
                value = self.contents.factor[k * LANES + i]
                other = self.scaled + k * LANES
                for j in range(k + 1):
                    row[j] -= value * other[j]
            value = 1 / self.contents.factor[i * LANES + i]
            for j in range(i):
                row[j] *= value
            row[i] = value
        if self.itemsize == 4:
            for i in range(n * LANES):
                self.factor32[i] = <float> self.scaled[i]

    cdef void solve_products(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Rows first ... last - 1 of R = C^-1 Q, by a product: it is faster than LAPACK's solver.
        """
        cdef int lanes = LANES, n = <int> (last - first), count = <int> last, rows
        cdef Py_ssize_t row = 0
        cdef double one = 1, zero = 0
        cdef float one32 = 1, zero32 = 0
        while row < self.used:
            rows = at_once(row, self.used, n * count)
            if self.itemsize == 8:
                dgemm(b"T", b"N", &n, &rows, &count, &one, self.scaled + first * LANES, &lanes,
                      <double *> self.contents.products + row * LANES, &lanes, &zero,
                      <double *> self.solved + row * LANES + first, &lanes)
            else:
                sgemm(b"T", b"N", &n, &rows, &count, &one32, self.factor32 + first * LANES, &lanes,
                      <float *> self.contents.products + row * LANES, &lanes, &zero32,
                      <float *> self.solved + row * LANES + first, &lanes)
            row += rows
