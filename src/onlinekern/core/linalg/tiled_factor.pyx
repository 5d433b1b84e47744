"""TiledFactor: the Cholesky factor A = L L' of the sums of least squares, in steps of one product.

By tiles of 64 x 64 in double,

    L_ij = (A_ij - sum_m L_im L_jm') V_jj',   V_jj = L_jj^-1,

each stored in place of A_ij, with V_jj on the diagonal. The prior r of A may differ from that of
the sums. The steps may be spread over time; the bits are the same. Step by step L needs one panel
of A after the other, so A need not be complete when the factor is begun.
"""
from libc.math cimport log, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, dgemv
from scipy.linalg.cython_lapack cimport dtrtri

from onlinekern.core.base.part cimport NO_MEMORY, NOT_FINITE, OK, Status
from onlinekern.core.base.vector cimport OK_PANEL
from onlinekern.core.linalg.information cimport Information

cdef int SIDE = OK_PANEL


cdef void multiply(char *trans_a, char *trans_b, double alpha, double *a, double *b, double beta,
                   double *out) noexcept nogil:
    """out <- alpha a b + beta out, of tiles in Fortran's order."""
    dgemm(trans_a, trans_b, &SIDE, &SIDE, &SIDE, &alpha, a, &SIDE, b, &SIDE, &beta, out, &SIDE)


cdef Status factorise(double *tile) noexcept nogil:
    """Replace a tile by its Cholesky factor, in Fortran order, with zeros above. Returns a status.

    Not LAPACK's `dpotrf`: OpenBLAS 0.3.26, which SciPy 1.13 ships, uses several threads for a tile,
    and the bits depend on their number.
    """
    cdef Py_ssize_t i, j, k
    cdef double value
    cdef double *own
    cdef const double *before
    for k in range(SIDE):
        own = tile + k * SIDE
        for j in range(k):
            before = tile + j * SIDE
            value = before[k]
            for i in range(k, SIDE):
                own[i] -= value * before[i]
        if not own[k] > 0:
            return NOT_FINITE
        value = 1 / sqrt(own[k])
        for i in range(k, SIDE):
            own[i] *= value
        memset(own, 0, k * sizeof(double))
    return OK


cdef class TiledFactor:
    """A factor that is not begun.

    Parameters
    ----------
    sums : Information
    """

    def __cinit__(self, Information sums not None, *_):
        self.sums = sums

    def __dealloc__(self):
        self.end()

    cdef Status begin_factor(self, Py_ssize_t panels, double reg,
                             Py_ssize_t more) noexcept nogil:
        """Begin a factor of `panels` panels of A; beyond them A is its prior. Returns a status.

        `spare` then has room for one tile and `more` numbers.
        """
        cdef Py_ssize_t n_tiles = panels * (panels + 1) // 2
        self.end()
        self.tiles = <double *> malloc(((n_tiles + 1) * TILE + more) * sizeof(double))
        if self.tiles == NULL:
            return NO_MEMORY
        self.spare = self.tiles + n_tiles * TILE
        self.panels, self.reg = panels, reg
        self.i = self.j = self.m = 0
        self.status = OK
        return OK

    cdef void end(self) noexcept nogil:
        """Free the memory."""
        free(self.tiles)
        self.tiles = NULL
        self.panels = 0

    cdef double *tile(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return self.tiles + (i * (i + 1) // 2 + j) * TILE

    cdef void load(self) noexcept nogil:
        """Copy tile (i, j) of A, whose upper triangle in C order is the lower one in Fortran's."""
        cdef Py_ssize_t lane
        cdef double *own = self.tile(self.i, self.j)
        for lane in range(SIDE):
            memcpy(own + lane * SIDE,
                   self.sums.matrix.values + (self.j * SIDE + lane) * self.sums.length
                   + self.i * SIDE, SIDE * sizeof(double))
            if self.i == self.j:
                own[lane * (SIDE + 1)] += self.reg - self.sums.reg

    cdef bint is_factor(self) noexcept nogil:
        """Whether L is finished."""
        return self.j == self.panels

    cdef void factor_step(self) noexcept nogil:
        """Do one product of tile (i, j) of L; the last step of a diagonal tile inverts it."""
        cdef double *own = self.tile(self.i, self.j)
        cdef int info = 0
        if self.m == 0:
            self.load()
        if self.m < self.j:
            multiply(b"N", b"T", -1, self.tile(self.i, self.m), self.tile(self.j, self.m), 1, own)
            self.m += 1
            return
        if self.i == self.j:
            if factorise(own) == OK:
                dtrtri(b"L", b"N", &SIDE, own, &SIDE, &info)
            else:
                self.status = NOT_FINITE
        else:
            multiply(b"N", b"T", 1, own, self.tile(self.j, self.j), 0, self.spare)
            memcpy(own, self.spare, TILE * sizeof(double))
        self.m = 0
        self.i += 1
        if self.i == self.panels:
            self.j += 1
            self.i = self.j

    cdef double log_determinant(self) noexcept nogil:
        """log |A / r|. Features that are 0 in all samples are skipped, to add no rounding."""
        cdef Py_ssize_t f
        cdef double found = 0
        for f in range(self.panels * SIDE):
            if self.sums.matrix.values[f * (self.sums.length + 1)] != self.sums.reg:
                found -= 2 * log(self.tile(f // SIDE, f // SIDE)[f % SIDE * (SIDE + 1)])
                found -= log(self.reg)
        return found

    cdef double explained(self, const double *vector, double *solved) noexcept nogil:
        """b' A^-1 b = |L^-1 b|^2; `solved` is a buffer of 64 numbers per panel."""
        cdef Py_ssize_t i, m, f
        cdef int step = 1
        cdef double one = 1, minus = -1, zero = 0, found = 0
        for i in range(self.panels):
            memcpy(self.spare, vector + i * SIDE, SIDE * sizeof(double))
            for m in range(i):
                dgemv(b"N", &SIDE, &SIDE, &minus, self.tile(i, m), &SIDE, solved + m * SIDE, &step,
                      &one, self.spare, &step)
            dgemv(b"N", &SIDE, &SIDE, &one, self.tile(i, i), &SIDE, self.spare, &step, &zero,
                  solved + i * SIDE, &step)
        for f in range(self.panels * SIDE):
            found += solved[f] * solved[f]
        return found
