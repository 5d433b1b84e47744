"""InverseGram: the inverse H = (K + R)^-1 of a Gram matrix whose rows come and go.

R is diagonal: a ridge r for each row. A row is known by its slot. With u = H k and the pivot
s = kappa + r - k'u, adding a row borders the inverse,

    H <- [H + u u'/s, -u/s; -u'/s, 1/s],

and removing row r deflates it, H_ij <- H_ij - H_ir H_rj / H_rr. Both cost size^2. In exact numbers
r <= s, hence 0 < H_ii <= 1/r, whatever the rows.

Rounding errors grow with the number of updates, the faster the more near-duplicates there are. So
the inverse is computed afresh after 2 size updates, which costs about half an update each, or when
a pivot leaves its bounds. `needs_refresh` then holds: the owner of the kernel values writes them
with `fresh_row` and calls `invert`.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_lapack cimport dpotrf, dpotri

import numpy as np

from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, fields_of, flag_of, integer_within,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize, ops_for, whole_panels

# Updates between two fresh inverses, at least. A fresh one costs about size^3.
cdef Py_ssize_t LEAST_PERIOD = 64
# A pivot is at least the ridge. Below this part of it, the inverse needs a refresh.
cdef double LEAST_PIVOT = 0.5
# Added to the diagonal, relative to it, of a matrix that is not positive definite; ten times more
# at each attempt. The last attempt takes the diagonal alone.
cdef double LEAST_EXTRA = 1e-12
cdef int ATTEMPTS = 17
INVERSE_FIELDS = ("inverse", "diagonal", "n_updates", "broken")
# Above this, the sizes of a matrix in bytes would overflow before its memory is asked for.
cdef Py_ssize_t MOST_SLOTS = 1 << 56


cdef class InverseGram:
    """The inverse over `size` slots, all empty.

    Parameters
    ----------
    size : int >= 1
    """

    def __cinit__(self, Py_ssize_t size):
        integer_within("size", size, 1, MOST_SLOTS)
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

    cdef const double *row(self, Py_ssize_t slot) noexcept nogil:
        """Row of H, ld numbers."""
        return self.inverse.row(slot)

    cdef bint occupied(self, Py_ssize_t slot) noexcept nogil:
        return self.diagonal.values[slot] != 0

    cdef double project(self, const double *k, double diagonal) noexcept nogil:
        """direction = H k for the kernel values k (ld finite numbers); returns diagonal - k'H k."""
        cdef Py_ssize_t i
        for i in range(self.size):
            self.direction[i] = 0
            if self.occupied(i):
                self.direction[i] = self.ops.dot(self.row(i), k, self.ld)
                diagonal -= self.direction[i] * k[i]
        return diagonal

    cdef void border(self, Py_ssize_t slot, const double *k, double kappa,
                     double ridge) noexcept nogil:
        """Add a row with the kernel values k (ld finite numbers) in an empty slot."""
        self.join(slot, self.project(k, kappa + ridge), kappa, ridge)

    cdef void join(self, Py_ssize_t slot, double pivot, double kappa, double ridge) noexcept nogil:
        """Add the row that was projected last, with its pivot, in an empty slot."""
        cdef Py_ssize_t i
        cdef double *row
        self.broken |= not pivot >= LEAST_PIVOT * ridge
        pivot = max(pivot, ridge)
        for i in range(self.size):
            if self.occupied(i):
                row = self.inverse.touch(i)
                self.ops.add(self.direction, self.direction[i] / pivot, row, self.ld)
                row[slot] = -self.direction[i] / pivot
        row = self.inverse.touch(slot)
        for i in range(self.size):
            row[i] = -self.direction[i] / pivot
        row[slot] = 1 / pivot
        self.diagonal.touch(0)[slot] = kappa + ridge
        self.n_updates += 1

    cdef void deflate(self, Py_ssize_t slot) noexcept nogil:
        """Remove the row of a slot."""
        cdef Py_ssize_t i
        cdef double *row = self.inverse.touch(slot)
        cdef double pivot = row[slot]
        self.broken |= not pivot > 0
        memcpy(self.direction, row, self.ld * sizeof(double))
        memset(row, 0, self.ld * sizeof(double))
        self.diagonal.touch(0)[slot] = 0
        for i in range(self.size):
            if self.occupied(i):
                row = self.inverse.touch(i)
                self.ops.add(self.direction, -self.direction[i] / pivot, row, self.ld)
                row[slot] = 0
        self.n_updates += 1

    cdef bint needs_refresh(self) noexcept nogil:
        """Whether the inverse must be computed afresh."""
        return self.broken or self.n_updates >= max(2 * self.size, LEAST_PERIOD)

    cdef double *fresh_row(self, Py_ssize_t slot) noexcept nogil:
        """Memory for the kernel values of an occupied slot, to be written before `invert`."""
        return self.inverse.touch(slot)

    cdef void invert(self) noexcept nogil:
        """Compute the inverse from the kernel values that were written into its rows.

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
                        and self.occupied(i) and self.occupied(j) else 0
                row[i] = self.diagonal.values[i] * (1 + extra) if self.occupied(i) else 1
            dpotrf(b"L", &n, self.inverse.values, &ld, &info)
            if info == 0:
                break
            extra = max(LEAST_EXTRA, 10 * extra)
        dpotri(b"L", &n, self.inverse.values, &ld, &info)
        self.mirror()
        self.n_updates = 0
        self.broken = False

    cdef void mirror(self) noexcept nogil:
        """Copy the upper triangle (the lower one, to LAPACK) to the lower; 0 in empty slots."""
        cdef Py_ssize_t i, j
        for i in range(self.size):
            if not self.occupied(i):
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
                "n_updates": self.n_updates, "broken": bool(self.broken)}

    def set_state(self, state):
        """Take over what `get_state` gave.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "an inverse Gram matrix", INVERSE_FIELDS)
        n_updates = count_of("n_updates", state["n_updates"])
        broken = flag_of("broken", state["broken"])
        self.inverse.set_array(state["inverse"])
        self.diagonal.set_array(state["diagonal"])
        self.n_updates = n_updates
        self.broken = broken

    def add_row(self, Py_ssize_t slot, k, double kappa, double ridge):
        """`border` from Python, for tests and exploration; k has a number per slot."""
        cdef double[::1] values = np.zeros(self.ld)
        integer_within("slot", slot, 0, self.size - 1)
        np.asarray(values)[:self.size] = k
        self.border(slot, &values[0], kappa, ridge)

    def remove_row(self, Py_ssize_t slot):
        """`deflate` from Python, for tests and exploration."""
        integer_within("slot", slot, 0, self.size - 1)
        self.deflate(slot)

    def refresh(self, gram):
        """Compute the inverse from the kernel values of all slots, of shape (size, size)."""
        cdef double[:, ::1] values = doubles_of_shape("gram", gram, (self.size, self.size))
        cdef Py_ssize_t i
        for i in range(self.size):
            memcpy(self.fresh_row(i), &values[i, 0], self.size * sizeof(double))
        self.invert()

    def is_stale(self):
        """Whether the inverse must be computed afresh."""
        return self.needs_refresh()
