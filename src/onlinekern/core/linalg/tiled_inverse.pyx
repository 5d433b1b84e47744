"""TiledInverse: A^-1 and A^-1 b of the sums of least squares, in steps of one product of tiles.

With A = L L' and V = L^-1, A^-1 = V'V and A^-1 b = V'(V b), by tiles of 64 x 64 in double:

    L_ij = (A_ij - sum_m L_im L_jm') V_jj',   V_ij = -V_ii sum_m L_im V_mj,   sum_m V_mi' V_mj.

Each takes the place of the one before. Who is in no hurry makes some steps now and then; the bits
are the same. L follows the panels of A, which need not be whole before it begins.
"""
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, dgemv
from scipy.linalg.cython_lapack cimport dpotrf, dtrtri

from onlinekern.core.base.part cimport NO_MEMORY, NOT_FINITE, OK, Status
from onlinekern.core.base.vector cimport OK_PANEL, ops_for
from onlinekern.core.linalg.information cimport Information

cdef int SIDE = OK_PANEL


cdef void multiply(char *trans_a, char *trans_b, double alpha, double *a, double *b, double beta,
                   double *out) noexcept nogil:
    """out <- alpha a b + beta out, of tiles in Fortran's order."""
    dgemm(trans_a, trans_b, &SIDE, &SIDE, &SIDE, &alpha, a, &SIDE, b, &SIDE, &beta, out, &SIDE)


cdef class TiledInverse:
    """None is begun.

    Parameters
    ----------
    sums : Information
    itemsize : int
        4 or 8, of the numbers of the inverse as it is written.
    """

    def __cinit__(self, Information sums not None, Py_ssize_t itemsize):
        self.sums = sums
        self.itemsize = itemsize
        self.ops = ops_for(itemsize)

    def __dealloc__(self):
        self.end()

    cdef Status begin(self, Py_ssize_t panels) noexcept nogil:
        """Begin with so many panels of A: beyond them it has its prior only. Returns a status."""
        cdef Py_ssize_t n_tiles = panels * (panels + 1) // 2
        cdef Py_ssize_t numbers = panels * SIDE * self.sums.n_outputs
        self.end()
        self.tiles = <double *> malloc(
            ((n_tiles + 2) * TILE + 2 * numbers) * sizeof(double))
        if self.tiles == NULL:
            return NO_MEMORY
        self.spare = self.tiles + n_tiles * TILE
        self.solved = self.spare + 2 * TILE
        self.weights = self.solved + numbers
        memset(self.solved, 0, 2 * numbers * sizeof(double))
        self.panels = panels
        self.stage = FACTOR
        self.i = self.j = self.m = 0
        # Of tile (i, j) in turn j + 1, i - j + 1 and panels - i + 1.
        self.left = panels * (panels + 1) * (panels + 2) // 2 + n_tiles
        self.status = OK
        return OK

    cdef void end(self) noexcept nogil:
        """Free the memory."""
        free(self.tiles)
        self.tiles = NULL
        self.panels = self.left = 0

    cdef bint waits(self, Py_ssize_t n_strips) noexcept nogil:
        """Whether the next step needs more panels of A than the first n_strips."""
        return self.stage == FACTOR and self.j >= n_strips

    cdef void step(self, char *inverse) noexcept nogil:
        """Make the next step, if one is left; the last ones write panels of the inverse."""
        if self.left == 0:
            return
        if self.stage == FACTOR:
            self.factor_step()
        elif self.stage == INVERT:
            self.invert_step()
        else:
            self.square_step(inverse)
        self.left -= 1
        if self.left == 0:
            self.stage = WHOLE
            self.write_priors(inverse)

    cdef double *tile(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return self.tiles + (i * (i + 1) // 2 + j) * TILE

    cdef void load(self) noexcept nogil:
        """Copy tile (i, j) of A, whose upper triangle in C order is the lower one to LAPACK."""
        cdef Py_ssize_t lane
        for lane in range(SIDE):
            memcpy(self.tile(self.i, self.j) + lane * SIDE,
                   self.sums.matrix.values + (self.j * SIDE + lane) * self.sums.length
                   + self.i * SIDE, SIDE * sizeof(double))

    cdef void factor_step(self) noexcept nogil:
        """A step of tile (i, j) of L, panel by panel; on the diagonal its inverse comes of it."""
        cdef double *own = self.tile(self.i, self.j)
        cdef Py_ssize_t lane
        cdef int info = 0
        if self.m == 0:
            self.load()
        if self.m < self.j:
            multiply(b"N", b"T", -1, self.tile(self.i, self.m), self.tile(self.j, self.m), 1, own)
            self.m += 1
            return
        if self.i == self.j:
            dpotrf(b"L", &SIDE, own, &SIDE, &info)
            if info == 0:
                dtrtri(b"L", b"N", &SIDE, own, &SIDE, &info)
            if info != 0:
                self.status = NOT_FINITE
            for lane in range(1, SIDE):
                memset(own + lane * SIDE, 0, lane * sizeof(double))
        else:
            multiply(b"N", b"T", 1, own, self.tile(self.j, self.j), 0, self.spare)
            memcpy(own, self.spare, TILE * sizeof(double))
        self.m = 0
        self.i += 1
        if self.i == self.panels:
            self.j += 1
            self.i = self.j
            if self.j == self.panels:
                self.stage = INVERT
                self.i = self.j = 0

    cdef void invert_step(self) noexcept nogil:
        """A step of tile (i, j) of V, row by row."""
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
        """Take row i of V into V b and V'V b."""
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
        """A step of tile (i, j) of V'V, row by row."""
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
        """Write tile (i, j) of the inverse, and what mirrors it, into its panels."""
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
        """1 / r, no longer rounded otherwise, for features that no sample in A has."""
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
