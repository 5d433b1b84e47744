"""InverseGram: H = (K + R)^-1 over numbered places that rows enter and leave, R diagonal ridges.

With u = H k and the pivot s = kappa + r - k'u, a row that enters borders the inverse,

    H <- [H + u u'/s, -u/s; -u'/s, 1/s];

one that leaves deflates it, H_ij <- H_ij - H_ir H_rj / H_rr. Either costs size^2. In exact numbers
r <= s, hence 0 < H_ii <= 1/r, whatever the rows. What rounding does to it grows with the number of
updates, at a rate that near-duplicates set: after 2 size updates (the inverse is then made afresh
at a cost of about half an update each), or once a pivot is out of its bounds, the inverse is
`worn`, and whoever owns the kernel values fills them in with `fresh_row` and calls `invert`.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_lapack cimport dpotrf, dpotri

import numpy as np

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize, ops_for, whole_panels

# A fresh inverse costs about size^3, so a shorter period than this is only worth it for small ones.
cdef Py_ssize_t LEAST_PERIOD = 64
# How far a pivot may be below the ridge that bounds it before the inverse is worn.
cdef double LEAST_PIVOT = 0.5
# What is added to the diagonal, relative to it, of a matrix that is not positive definite: this,
# ten times more at each attempt; at the last one the diagonal is taken alone.
cdef double LEAST_EXTRA = 1e-12
cdef int ATTEMPTS = 17


cdef class InverseGram:
    """The inverse over `size` places, all absent.

    Parameters
    ----------
    size : int >= 1
    """

    def __init__(self, Py_ssize_t size):
        self.size = size
        self.ld = whole_panels(size)
        self.ops = ops_for(sizeof(double))
        self.inverse = JournaledMatrix("inverse Gram matrix", size, self.ld)
        self.diagonal = JournaledMatrix("diagonal of the Gram matrix", 1, self.ld)
        self.direction = <double *> aligned_resize(NULL, 0, self.ld * sizeof(double))
        if self.direction == NULL:
            raise MemoryError(f"no memory for an inverse over {size} support vectors")

    def __dealloc__(self):
        free(self.direction)

    cdef const double *row(self, Py_ssize_t place) noexcept nogil:
        """Row of H, ld numbers."""
        return self.inverse.row(place)

    cdef bint present(self, Py_ssize_t place) noexcept nogil:
        return self.diagonal.values[place] != 0

    cdef void border(self, Py_ssize_t place, const double *k, double kappa,
                     double ridge) noexcept nogil:
        """A row with the kernel values k (ld finite numbers) enters an absent place."""
        cdef Py_ssize_t i
        cdef double pivot = kappa + ridge
        cdef double *row
        for i in range(self.size):
            self.direction[i] = 0
            if self.present(i):
                self.direction[i] = self.ops.dot(self.row(i), k, self.ld)
                pivot -= self.direction[i] * k[i]
        self.broken |= not pivot >= LEAST_PIVOT * ridge
        pivot = max(pivot, ridge)
        for i in range(self.size):
            if self.present(i):
                row = self.inverse.touch(i)
                self.ops.add(self.direction, self.direction[i] / pivot, row, self.ld)
                row[place] = -self.direction[i] / pivot
        row = self.inverse.touch(place)
        for i in range(self.size):
            row[i] = -self.direction[i] / pivot
        row[place] = 1 / pivot
        self.diagonal.touch(0)[place] = kappa + ridge
        self.n_updates += 1

    cdef void deflate(self, Py_ssize_t place) noexcept nogil:
        """The row of a place leaves."""
        cdef Py_ssize_t i
        cdef double *row = self.inverse.touch(place)
        cdef double pivot = row[place]
        self.broken |= not pivot > 0
        memcpy(self.direction, row, self.ld * sizeof(double))
        memset(row, 0, self.ld * sizeof(double))
        self.diagonal.touch(0)[place] = 0
        for i in range(self.size):
            if self.present(i):
                row = self.inverse.touch(i)
                self.ops.add(self.direction, -self.direction[i] / pivot, row, self.ld)
                row[place] = 0
        self.n_updates += 1

    cdef bint worn(self) noexcept nogil:
        """Whether the inverse is to be made afresh."""
        return self.broken or self.n_updates >= max(2 * self.size, LEAST_PERIOD)

    cdef double *fresh_row(self, Py_ssize_t place) noexcept nogil:
        """Memory for the kernel values of a present place, for `invert`."""
        return self.inverse.touch(place)

    cdef void invert(self) noexcept nogil:
        """Make the inverse of the kernel values that have been written into its rows.

        Where the matrix is not positive definite (a kernel that is not, or rounding), its diagonal
        grows until it is; where no growth helps, the diagonal alone counts.
        """
        cdef int n = <int> self.size, ld = <int> self.ld, info
        cdef Py_ssize_t i, j
        cdef int attempt
        cdef double extra = 0
        cdef double *row
        for attempt in range(ATTEMPTS):
            for i in range(self.size):
                row = self.inverse.touch(i)
                for j in range(i, self.size):
                    # The lower triangle keeps the kernel values.
                    row[j] = self.inverse.row(j)[i] if attempt < ATTEMPTS - 1 \
                        and self.present(i) and self.present(j) else 0
                row[i] = self.diagonal.values[i] * (1 + extra) if self.present(i) else 1
            dpotrf(b"L", &n, self.inverse.values, &ld, &info)
            if info == 0:
                break
            extra = max(LEAST_EXTRA, 10 * extra)
        dpotri(b"L", &n, self.inverse.values, &ld, &info)
        self.mirror()
        self.n_updates = 0
        self.broken = False

    cdef void mirror(self) noexcept nogil:
        """Copy the upper triangle (the lower one, to LAPACK) to the lower, absent places as 0."""
        cdef Py_ssize_t i, j
        for i in range(self.size):
            if not self.present(i):
                self.inverse.row(i)[i] = 0
            for j in range(i + 1, self.size):
                self.inverse.row(j)[i] = self.inverse.row(i)[j]

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present state for `rollback`."""
        self.inverse.checkpoint()
        self.diagonal.checkpoint()
        self.saved_updates = self.n_updates
        self.saved_broken = self.broken

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        self.inverse.rollback()
        self.diagonal.rollback()
        self.n_updates = self.saved_updates
        self.broken = self.saved_broken

    def get_state(self):
        """All of it, as a dictionary of arrays and numbers."""
        return {"inverse": self.inverse.to_array(), "diagonal": self.diagonal.to_array(),
                "n_updates": self.n_updates, "broken": self.broken}

    def set_state(self, state):
        """Take over what `get_state` gave."""
        self.inverse.set_array(state["inverse"])
        self.diagonal.set_array(state["diagonal"])
        self.n_updates = state["n_updates"]
        self.broken = state["broken"]

    def enter(self, Py_ssize_t place, k, double kappa, double ridge):
        """`border` from Python, for tests and exploration; k has a number per place."""
        cdef double[::1] values = np.zeros(self.ld)
        np.asarray(values)[:self.size] = k
        self.border(place, &values[0], kappa, ridge)

    def leave(self, Py_ssize_t place):
        """`deflate` from Python, for tests and exploration."""
        self.deflate(place)

    def renew(self, gram):
        """The inverse afresh from the kernel values of all places, of shape (size, size)."""
        cdef double[:, ::1] values = np.ascontiguousarray(gram, dtype=np.float64)
        cdef Py_ssize_t i
        for i in range(self.size):
            memcpy(self.fresh_row(i), &values[i, 0], self.size * sizeof(double))
        self.invert()

    def is_worn(self):
        """Whether the inverse is to be made afresh."""
        return self.worn()
