"""InverseGram: the inverse H = (K + R)^-1 of a Gram matrix to which rows are added and removed.

R is diagonal, with a ridge r for each row. A row has a slot. With u = H k and the pivot
s = kappa + r - k'u, adding a row borders the inverse, and removing row r deflates it:

    H <- H + w w'/s,  w = [u; -1],          H <- H - h h'/H_rr,  h = H_r.

Both cost size^2. In exact arithmetic r <= s, hence 0 < H_ii <= 1/r, for any rows.

Each update is a rank-one term that would change all of H, which does not fit into the caches. So
the last terms are stored beside the matrix, and `room` of them are added to it by one matrix
product. Until then, a product with H is one with the matrix, of which half is read, plus one with
each term.

Rounding errors grow with the number of updates, and faster with near-duplicates. So the inverse is
recomputed after 2 size updates, which costs about half an update each, or if a pivot is outside its
bounds. `needs_refresh` is then True: the owner of the kernel values writes them with `fresh_row`
and calls `invert`.
"""
from libc.stdlib cimport free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_lapack cimport dpotrf, dpotri

import numpy as np

from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, fields_of, flag_of, integer_within, items_of,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, ops_for, resize_array, whole_panels

# Least number of updates before the inverse is recomputed, which costs about size^3.
cdef Py_ssize_t LEAST_PERIOD = 64
# In exact arithmetic a pivot is at least the ridge. Below this part of it, recompute the inverse.
cdef double LEAST_PIVOT = 0.5
# If a matrix is not positive definite, this share of its diagonal is added to it, ten times more at
# each attempt. The last attempt inverts the diagonal only.
cdef double LEAST_EXTRA = 1e-12
cdef int ATTEMPTS = 17
INVERSE_FIELDS = ("inverse", "diagonal", "n_updates", "broken", "pending")
# With more slots, the size of the matrix in bytes would overflow.
cdef Py_ssize_t MOST_SLOTS = 1 << 56
# Terms that are added to the matrix together: one per SLOTS_A_TERM slots, at most MOST_TERMS.
cdef Py_ssize_t SLOTS_A_TERM = 32, MOST_TERMS = 32
# Rows of a block in that product: a multiple of the group that products are fastest with, and few
# enough for a panel of them to stay in the nearest cache.
cdef Py_ssize_t FOLDED_ROWS = 48


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
        self.room = min(max(size // SLOTS_A_TERM, 2), MOST_TERMS)
        self.ops = ops_for(sizeof(double))
        self.inverse = JournaledMatrix("inverse Gram matrix", size, self.ld)
        self.terms = JournaledMatrix("terms of the inverse", self.room, self.ld)
        self.factors = JournaledMatrix("factors of these terms", 1, self.room)
        self.stale = JournaledMatrix("slots whose rows are stale", 1, self.ld)
        self.diagonal = JournaledMatrix("diagonal of the Gram matrix", 1, self.ld)
        self.own = <double *> resize_array(NULL, 0, self.ld, sizeof(double))
        self.direction = <double *> resize_array(NULL, 0, self.ld, sizeof(double))
        self.masked = <double *> resize_array(NULL, 0, self.ld, sizeof(double))
        self.panels = <double *> resize_array(NULL, 0, self.ld, self.room * sizeof(double))
        self.scaled = <double *> resize_array(NULL, 0, size, self.room * sizeof(double))
        if self.own == NULL or self.direction == NULL or self.masked == NULL \
                or self.panels == NULL or self.scaled == NULL:
            raise MemoryError(f"no memory for an inverse over {size} support vectors")

    def __dealloc__(self):
        free(self.own)
        free(self.direction)
        free(self.masked)
        free(self.panels)
        free(self.scaled)

    cdef const double *row(self, Py_ssize_t slot) noexcept nogil:
        """Row of H, ld numbers, in `direction`."""
        cdef Py_ssize_t i, j
        memset(self.direction, 0, self.ld * sizeof(double))
        if self.stale.values[slot] == 0:
            memcpy(self.direction, self.inverse.row(slot), (slot + 1) * sizeof(double))
            for i in range(slot + 1, self.used):
                self.direction[i] = self.inverse.row(i)[slot]
            for i in range(self.used):
                if self.stale.values[i] != 0:
                    self.direction[i] = 0
        for j in range(self.n_terms):
            self.ops.add(self.terms.row(j), self.factors.values[j] * self.terms.row(j)[slot],
                         self.direction, self.ld)
        return self.direction

    cdef bint occupied(self, Py_ssize_t slot) noexcept nogil:
        return self.diagonal.values[slot] != 0

    cdef void multiply(self, const double *values, double *masked, double *out) noexcept nogil:
        """out = H values for ld finite numbers; `masked` is memory to work with. Reads only."""
        cdef Py_ssize_t i, j
        memcpy(masked, values, self.ld * sizeof(double))
        for i in range(self.used):
            if self.stale.values[i] != 0:
                masked[i] = 0
        memset(out, 0, self.ld * sizeof(double))
        self.ops.symmetric(self.inverse.values, self.ld, self.used, masked, out)
        for i in range(self.used):
            if self.stale.values[i] != 0:
                out[i] = 0
        for j in range(self.n_terms):
            self.ops.add(self.terms.row(j), self.factors.values[j] * self.ops.dot(
                self.terms.row(j), values, self.ld), out, self.ld)

    cdef void solve(self, const double *values, double *solution) noexcept nogil:
        """solution = H values."""
        self.multiply(values, self.masked, solution)

    cdef void solve_joined(self, const double *values, double *solution) noexcept nogil:
        """The same where it was known before a row was added, which has got its value."""
        cdef const double *term
        if self.n_terms == 0:
            self.solve(values, solution)
            return
        term = self.terms.row(self.n_terms - 1)
        self.ops.add(term, self.factors.values[self.n_terms - 1] * self.ops.dot(
            term, values, self.ld), solution, self.ld)

    cdef void solve_deflated(self, Py_ssize_t slot, const double *values,
                             double *solution) noexcept nogil:
        """The same where it was known before the row of a slot was removed, whose value is 0 now.
        """
        if self.n_terms == 0:
            self.solve(values, solution)
            return
        self.ops.add(self.terms.row(self.n_terms - 1),
                     self.factors.values[self.n_terms - 1] * solution[slot], solution, self.ld)
        solution[slot] = 0

    cdef double project(self, const double *k, double diagonal) noexcept nogil:
        """direction = H k for the kernel values k (ld finite numbers); returns diagonal - k'H k."""
        self.solve(k, self.direction)
        return diagonal - self.ops.dot(self.direction, k, self.ld)

    cdef void border(self, Py_ssize_t slot, const double *k, double kappa,
                     double ridge) noexcept nogil:
        """Add a row with the kernel values k (ld finite numbers) in an empty slot."""
        self.join(slot, self.project(k, kappa + ridge), kappa, ridge)

    cdef void join(self, Py_ssize_t slot, double pivot, double kappa, double ridge) noexcept nogil:
        """Add the row that was projected last, with its pivot, in an empty slot."""
        cdef double *term = self.terms.touch(self.n_terms)
        self.broken |= not pivot >= LEAST_PIVOT * ridge
        memcpy(term, self.direction, self.ld * sizeof(double))
        term[slot] = -1
        self.diagonal.touch(0)[slot] = kappa + ridge
        self.used = max(self.used, slot + 1)
        self.close_update(1 / max(pivot, ridge))

    cdef void deflate(self, Py_ssize_t slot) noexcept nogil:
        """Remove the row of a slot."""
        cdef Py_ssize_t j
        cdef const double *row = self.row(slot)
        cdef double pivot = row[slot]
        cdef double *term = self.terms.touch(self.n_terms)
        self.broken |= not pivot > 0
        memcpy(term, row, self.ld * sizeof(double))
        for j in range(self.n_terms + 1):
            self.terms.touch(j)[slot] = 0
        self.stale.touch(0)[slot] = 1
        self.diagonal.touch(0)[slot] = 0
        self.own[slot] = 0
        self.close_update(-1 / pivot)

    cdef void close_update(self, double factor) noexcept nogil:
        """Count the term that has been written, and its factor."""
        self.factors.touch(0)[self.n_terms] = factor
        self.count_term(self.n_terms)
        self.n_terms += 1
        self.n_updates += 1
        if self.n_terms == self.room:
            self.fold()

    cdef void count_term(self, Py_ssize_t j) noexcept nogil:
        """Add a term to the diagonal of H."""
        cdef Py_ssize_t i
        cdef double factor = self.factors.values[j]
        cdef const double *term = self.terms.row(j)
        for i in range(self.used):
            self.own[i] += factor * term[i] * term[i]

    cdef void count_own(self) noexcept nogil:
        """Find `used` and the diagonal of H, as the updates have left them."""
        cdef Py_ssize_t i, j
        self.used = 0
        for i in range(self.size):
            self.own[i] = 0
            if self.occupied(i) or self.stale.values[i] != 0:
                self.used = i + 1
                if self.stale.values[i] == 0:
                    self.own[i] = self.inverse.row(i)[i]
        for j in range(self.n_terms):
            self.count_term(j)

    cdef void fold(self) noexcept nogil:
        """Add the terms to the matrix."""
        cdef Py_ssize_t first, last = 0, i, p, slot
        self.pack()
        while last < self.used:
            first, last = last, min(last + FOLDED_ROWS, self.used)
            for i in range(first, last):
                self.inverse.touch(i)
                if self.stale.values[i] != 0:
                    memset(self.inverse.row(i), 0, self.ld * sizeof(double))
            for slot in range(last):
                if self.stale.values[slot] != 0:
                    for i in range(first, last):
                        self.inverse.row(i)[slot] = 0
            for p in range(whole_panels(last) // OK_PANEL):
                self.ops.dense_onto(self.scaled + first * self.room, self.room, last - first,
                                    self.n_terms, self.panels + p * self.room * OK_PANEL,
                                    self.inverse.row(first) + p * OK_PANEL, self.ld)
            for i in range(first, last):
                self.own[i] = self.inverse.row(i)[i]
        self.forget_terms()

    cdef void pack(self) noexcept nogil:
        """Write the terms as the product of `fold` takes them."""
        cdef Py_ssize_t i, j, p
        cdef const double *term
        for j in range(self.n_terms):
            term = self.terms.row(j)
            for p in range(whole_panels(self.used) // OK_PANEL):
                memcpy(self.panels + (p * self.room + j) * OK_PANEL, term + p * OK_PANEL,
                       OK_PANEL * sizeof(double))
            for i in range(self.used):
                self.scaled[i * self.room + j] = self.factors.values[j] * term[i]

    cdef void forget_terms(self) noexcept nogil:
        """The matrix alone is the inverse."""
        self.n_terms = 0
        memset(self.stale.touch(0), 0, self.ld * sizeof(double))

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
        self.forget_terms()
        self.count_own()
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
        self.terms.checkpoint()
        self.factors.checkpoint()
        self.stale.checkpoint()
        self.diagonal.checkpoint()
        self.saved_terms = self.n_terms
        self.saved_updates = self.n_updates
        self.saved_broken = self.broken

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint."""
        self.inverse.rollback()
        self.terms.rollback()
        self.factors.rollback()
        self.stale.rollback()
        self.diagonal.rollback()
        self.n_terms = self.saved_terms
        self.n_updates = self.saved_updates
        self.broken = self.saved_broken
        self.count_own()

    def get_state(self):
        """All of it, as a dictionary of arrays and numbers.

        `pending` has the terms and their factors, or is None where there are none.
        """
        cdef Py_ssize_t i, j
        inverse = self.inverse.to_array()
        cdef double[:, ::1] view = inverse
        for i in range(self.size):
            for j in range(i + 1):
                if self.stale.values[i] != 0 or self.stale.values[j] != 0:
                    view[i, j] = 0
                view[j, i] = view[i, j]
            for j in range(self.size, self.ld):
                view[i, j] = 0
        pending = None
        if self.n_terms > 0:
            pending = (self.terms.to_array()[:self.n_terms].copy(),
                       self.factors.to_array()[0, :self.n_terms].copy())
        return {"inverse": inverse, "diagonal": self.diagonal.to_array(),
                "n_updates": self.n_updates, "broken": bool(self.broken), "pending": pending}

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
        self.set_pending(state["pending"])
        self.inverse.set_array(state["inverse"])
        self.diagonal.set_array(state["diagonal"])
        self.n_updates = n_updates
        self.broken = broken
        self.count_own()

    def set_pending(self, pending):
        """Take over the terms and their factors, or None."""
        cdef Py_ssize_t n = 0
        terms, factors = np.zeros((self.room, self.ld)), np.zeros((1, self.room))
        if pending is not None:
            rows, numbers = items_of(pending, "the pending terms", 2)
            n = integer_within("pending terms", len(rows), 1, self.room - 1)
            terms[:n] = doubles_of_shape("pending terms", rows, (n, self.ld))
            factors[0, :n] = doubles_of_shape("factors of the pending terms", numbers, (n,))
        self.terms.set_array(terms)
        self.factors.set_array(factors)
        self.stale.set_array(np.zeros((1, self.ld)))
        self.n_terms = n

    def matrix(self):
        """H, ndarray of shape (size, size), for tests and exploration."""
        state = self.get_state()
        whole = state["inverse"][:, :self.size]
        for term, factor in zip(*(state["pending"] or ((), ())), strict=True):
            whole += np.multiply.outer(factor * term[:self.size], term[:self.size])
        return whole

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
