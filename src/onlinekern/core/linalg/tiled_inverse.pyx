"""TiledInverse: A^-1 and A^-1 b of the sums of least squares, in steps of one product of tiles.

With A = L L' (`TiledFactor`) and V = L^-1, A^-1 = V'V and A^-1 b = V'(V b), by the same tiles:

    V_ij = -V_ii sum_m L_im V_mj,   sum_m V_mi' V_mj.

Each overwrites the one before, tile by tile.
"""
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemv

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.vector cimport OK_PANEL, ops_for
from onlinekern.core.linalg.tiled_factor cimport TILE, TiledFactor, factor_steps, multiply

cdef int SIDE = OK_PANEL


cdef class TiledInverse(TiledFactor):
    """An inverse that is not begun.

    Parameters
    ----------
    sums : Information
    itemsize : int
        4 or 8: bytes of a number of the written inverse.
    """

    def __cinit__(self, _, Py_ssize_t itemsize):
        self.itemsize = itemsize
        self.ops = ops_for(itemsize)

    cdef Status begin(self, Py_ssize_t panels) noexcept nogil:
        """Begin an inverse of `panels` panels of A; beyond them A is its prior. Returns a status.
        """
        cdef Py_ssize_t numbers = panels * SIDE * self.sums.n_outputs
        cdef Status status = self.begin_factor(panels, self.sums.reg, TILE + 2 * numbers)
        if status != OK:
            return status
        self.solved = self.spare + 2 * TILE
        self.weights = self.solved + numbers
        memset(self.solved, 0, 2 * numbers * sizeof(double))
        self.stage = FACTOR
        # Steps of tile (i, j) in the three stages: j + 1, i - j + 1 and panels - i + 1.
        self.left = 3 * factor_steps(panels) + panels * (panels + 1) // 2
        return OK

    cdef void end(self) noexcept nogil:
        TiledFactor.end(self)
        self.left = 0

    cdef bint waits(self, Py_ssize_t n_strips) noexcept nogil:
        """Whether the next step needs more panels of A than the first n_strips."""
        return self.stage == FACTOR and self.j >= n_strips

    cdef void step(self, char *inverse) noexcept nogil:
        """Do the next step, if one is left; the steps of the last stage write the inverse."""
        if self.left == 0:
            return
        if self.stage == FACTOR:
            self.factor_step()
            if self.is_factor():
                self.stage = INVERT
                self.i = self.j = 0
        elif self.stage == INVERT:
            self.invert_step()
        else:
            self.square_step(inverse)
        self.left -= 1
        if self.left == 0:
            self.stage = WHOLE
            self.write_priors(inverse)

    cdef void invert_step(self) noexcept nogil:
        """Do a step of tile (i, j) of V, row by row."""
        cdef Py_ssize_t m = self.j + self.m
        if m < self.i:
            multiply(b"N", b"N", 1, self.tile(self.i, m), self.tile(m, self.j), self.m > 0,
                     self.spare)
            self.m += 1
            return
        if self.j < self.i:
            multiply(b"N", b"N", -1, self.tile(self.i, self.i), self.spare, 0,
                     self.tile(self.i, self.j))
        else:
            self.solve_row()
        self.next_of_row()
        if self.i == self.panels:
            self.stage = SQUARE
            self.i = self.j = 0

    cdef void next_of_row(self) noexcept nogil:
        self.m = 0
        self.j += 1
        if self.j > self.i:
            self.i += 1
            self.j = 0

    cdef void solve_row(self) noexcept nogil:
        """Add the products with row i of V to V b and V'V b."""
        cdef Py_ssize_t k, j, order = self.panels * SIDE
        cdef double one = 1
        cdef double *v
        cdef double *own
        cdef int step = 1
        for k in range(self.sums.n_outputs):
            own = self.solved + k * order + self.i * SIDE
            for j in range(self.i + 1):
                v = self.tile(self.i, j)
                dgemv(b"N", &SIDE, &SIDE, &one, v, &SIDE,
                      self.sums.vectors.values + k * self.sums.length + j * SIDE, &step, &one,
                      own, &step)
            for j in range(self.i + 1):
                v = self.tile(self.i, j)
                dgemv(b"T", &SIDE, &SIDE, &one, v, &SIDE, own, &step, &one,
                      self.weights + k * order + j * SIDE, &step)

    cdef void square_step(self, char *inverse) noexcept nogil:
        """Do a step of tile (i, j) of V'V, row by row."""
        cdef Py_ssize_t m = self.i + self.m
        if m < self.panels:
            multiply(b"T", b"N", 1, self.tile(m, self.i), self.tile(m, self.j), self.m > 0,
                     self.spare)
            self.m += 1
            return
        memcpy(self.tile(self.i, self.j), self.spare, TILE * sizeof(double))
        self.write(inverse)
        self.next_of_row()

    cdef void write(self, char *inverse) noexcept nogil:
        """Write tile (i, j) of the inverse, and its transpose as tile (j, i), to the panels."""
        cdef Py_ssize_t f
        cdef Py_ssize_t panel = self.sums.length * SIDE * self.itemsize
        cdef char *tile = <char *> self.spare
        cdef float *narrow = <float *> (self.spare + TILE)
        if self.itemsize == 4:
            for f in range(TILE):
                narrow[f] = <float> self.spare[f]
            tile = <char *> narrow
        memcpy(inverse + self.i * panel + self.j * TILE * self.itemsize, tile,
               TILE * self.itemsize)
        if self.j < self.i:
            self.ops.transpose(tile, SIDE, inverse + self.j * panel + self.i * TILE * self.itemsize,
                               SIDE)

    cdef void write_priors(self, char *inverse) noexcept nogil:
        """Write 1 / r without rounding errors for features that are 0 in all samples of A."""
        cdef Py_ssize_t f, at
        cdef double prior = 1 / self.sums.reg
        for f in range(self.sums.length):
            if f < self.panels * SIDE \
                    and self.sums.matrix.values[f * self.sums.length + f] != self.sums.reg:
                continue
            at = f // SIDE * self.sums.length * SIDE + f * SIDE + f % SIDE
            if self.itemsize == 4:
                (<float *> inverse)[at] = <float> prior
            else:
                (<double *> inverse)[at] = prior
