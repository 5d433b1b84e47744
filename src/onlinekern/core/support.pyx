"""SupportSet: support rows with K coefficients each, and the window over coming samples.

Layer 6. The model of an output k is f_k(x) = scale * sum_r a_kr kappa(s_r, x).

Only `add` changes a support row, and it repairs the window's column (see windows).

Averaging. With S_t the sum of the scales in force while samples 1 ... t were scored, a row added
at step i with coefficient a contributes a (S_t - S_i) kappa to the sum of f_1 ... f_t. Its companion
c = a S_i therefore gives the average from the same kernel row: (S_t sum a kappa - sum c kappa) / t.
"""
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.kernels cimport Kernel
from onlinekern.core.rows cimport Rows, Samples, samples_of
from onlinekern.core.stores cimport PanelStore, SparseStore
from onlinekern.core.vector cimport OK_PANEL, aligned_resize, ops_for
from onlinekern.core.windows cimport Window, whole_panels

# The scale is folded into the coefficients before it gets so small that 1/scale loses their range.
cdef double SMALLEST_SCALE = 1e-9
# Sparse samples of at most so many features are kept as dense panels: a panel of float64 rows is
# then at most 1 MiB and stays in the level-2 cache while a chunk meets it.
cdef Py_ssize_t MOST_PANEL_FEATURES = 2048


cdef class Saved:
    """What `rollback` needs; the coefficients are copied only before they are changed in place."""

    def __dealloc__(self):
        free(self.coefficients)


cdef class SupportSet:
    """Support rows, their coefficients for every output, and the running average.

    Parameters
    ----------
    kernel : Kernel
    n_features : int
    dtype : numpy.float32 or numpy.float64
        Of the support rows and the kernel block; coefficients and scores are double.
    n_outputs : int
    averaged : bool
        Keep the companions from which the average of f_1 ... f_t is scored.
    sparse : bool
        Whether the samples are sparse: rows of many features are then stored sparse.
    """

    def __init__(self, Kernel kernel, Py_ssize_t n_features, dtype, Py_ssize_t n_outputs,
                 bint averaged, bint sparse):
        itemsize = np.dtype(dtype).itemsize
        self.kernel = kernel
        self.sparse = sparse
        self.n_outputs = n_outputs
        self.averaged = averaged
        self.ops = ops_for(itemsize)
        self.scale = 1
        self.saved = Saved()
        form = SparseStore if sparse and n_features > MOST_PANEL_FEATURES else PanelStore
        self.store = form(n_features, itemsize)
        self.window = self.new_window(1)
        if self.reserve(OK_PANEL) < 0:
            raise MemoryError(f"no memory for {OK_PANEL} support vectors")

    def __dealloc__(self):
        free(self.coefficients)
        free(self.companions)
        free(self.terms)

    def arguments(self):
        """The constructor's arguments."""
        return (self.kernel, self.store.d, self.dtype, self.n_outputs, self.averaged, self.sparse)

    cdef Window new_window(self, Py_ssize_t rows):
        """A window over up to `rows` samples."""
        return Window(self.store, self.kernel, rows)

    cdef int make_room(self, Py_ssize_t rows) except -1:
        """Let the learning window hold at least `rows` samples."""
        if self.window.chunk.capacity < rows:
            self.window = self.new_window(rows)
        return 0

    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` support rows in all. Returns 0, or -1 when memory ran out."""
        cdef Py_ssize_t k, old = self.capacity
        cdef double *fresh
        cdef char *terms
        if capacity <= old:
            return 0
        capacity = whole_panels(max(capacity, old + old // 2))
        terms = <char *> aligned_resize(self.terms, old * self.store.itemsize,
                                        capacity * self.store.itemsize)
        if terms == NULL or self.store.reserve(capacity) < 0:
            self.terms = terms if terms != NULL else self.terms
            return -1
        self.terms = terms
        for k in range(2 if self.averaged else 1):
            fresh = self.widened(self.companions if k else self.coefficients, capacity)
            if fresh == NULL:
                return -1
            if k:
                self.companions = fresh
            else:
                self.coefficients = fresh
        self.capacity = capacity
        return 0

    cdef double *widened(self, double *old, Py_ssize_t capacity) noexcept nogil:
        """A copy of K rows of coefficients with room for `capacity`, zero filled; frees `old`."""
        cdef Py_ssize_t k
        cdef double *fresh = <double *> aligned_resize(
            NULL, 0, self.n_outputs * capacity * sizeof(double))
        if fresh == NULL:
            return NULL
        for k in range(self.n_outputs):
            memcpy(fresh + k * capacity, old + k * self.capacity, self.n * sizeof(double))
        free(old)
        return fresh

    cdef int open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                  Py_ssize_t n) noexcept nogil:
        """Open the learning window on the next n samples. Returns 0, or -1: no memory."""
        if self.reserve(self.n + n) < 0 or self.window.chunk.open(rows, order, first, n) < 0:
            return -1
        return self.window.fill(self.n, self.terms, n)

    cdef void scores(self, Window window, Py_ssize_t i, double *current,
                     double *averaged) noexcept nogil:
        """Scores of the window's sample i: f_t in `current`, the average of f_1 ... f_t in
        `averaged` (the same as f_t when the set is not averaged). Each has n_outputs numbers; the
        two may be the same memory, which then holds `averaged`.
        """
        cdef const char *g = window.row(i)
        cdef Py_ssize_t k, length = whole_panels(self.n)
        cdef double[2] sums
        for k in range(self.n_outputs):
            if self.averaged:
                self.ops.dot2(g, self.coefficients + k * self.capacity,
                              self.companions + k * self.capacity, length, sums)
                current[k] = self.scale * sums[0]
                averaged[k] = ((self.total + self.scale) * sums[0] - sums[1]) / (self.steps + 1)
            else:
                current[k] = self.scale * self.ops.dot(
                    g, self.coefficients + k * self.capacity, length)
                averaged[k] = current[k]

    cdef int add(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        """Make sample i of the open window a support row and repair its column.

        Returns 0, or -1 when memory ran out. There is room: `open` reserved it.
        """
        cdef Py_ssize_t k, slot = self.n
        if self.place(slot, i) < 0 or self.window.repair(i, slot) < 0:
            return -1
        for k in range(self.n_outputs):
            self.coefficients[k * self.capacity + slot] = coefficients[k] / self.scale
            if self.averaged:
                self.companions[k * self.capacity + slot] = \
                    self.coefficients[k * self.capacity + slot] * self.total
        self.n += 1
        return 0

    cdef int place(self, Py_ssize_t slot, Py_ssize_t i) noexcept nogil:
        """Store sample i of the window's chunk, and its kernel term, in a slot."""
        cdef Py_ssize_t size = self.store.itemsize
        memcpy(self.terms + slot * size, self.window.chunk.terms + i * size, size)
        return self.store.write(slot, self.window.chunk, i)

    cdef void advance(self) noexcept nogil:
        """Count one step: f_t has been scored and enters the average. Before `shrink` and `add`."""
        self.steps += 1
        self.total += self.scale

    cdef void shrink(self, double factor) noexcept nogil:
        """f <- factor f, in O(1) but for a rare fold."""
        if self.scale * factor < SMALLEST_SCALE:
            self.fold(factor)
        else:
            self.scale *= factor

    cdef void fold(self, double factor) noexcept nogil:
        """Multiply scale * factor into the coefficients; the sums of f_1 ... f_t stay."""
        cdef Py_ssize_t j
        cdef double product = self.scale * factor
        self.preserve()
        for j in range(self.n_outputs * self.capacity):
            if self.averaged:
                self.companions[j] -= self.coefficients[j] * self.total
            self.coefficients[j] *= product
        self.total = 0
        self.scale = 1

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present model for `rollback`; costs nothing until something changes."""
        free(self.saved.coefficients)
        self.saved.coefficients = NULL
        self.saved.active = True
        self.saved.n = self.n
        self.saved.scale = self.scale
        self.saved.total = self.total
        self.saved.steps = self.steps

    cdef void preserve(self) noexcept nogil:
        """Copy the coefficients of the checkpoint, once, before they are changed in place."""
        cdef Py_ssize_t k, n = self.saved.n
        cdef Py_ssize_t room = max(self.n_outputs * n, 1) * sizeof(double)
        if not self.saved.active or self.saved.coefficients != NULL:
            return
        self.saved.coefficients = <double *> malloc(2 * room)
        if self.saved.coefficients == NULL:
            return
        self.saved.companions = self.saved.coefficients + self.n_outputs * n
        for k in range(self.n_outputs):
            memcpy(self.saved.coefficients + k * n, self.coefficients + k * self.capacity,
                   n * sizeof(double))
            if self.averaged:
                memcpy(self.saved.companions + k * n, self.companions + k * self.capacity,
                       n * sizeof(double))

    cdef void rollback(self) noexcept nogil:
        """Return to the model of the checkpoint.

        Rows added since are made zero: free slots take part in products, with coefficient 0.
        """
        cdef Py_ssize_t k, slot, n = self.saved.n
        for slot in range(n, self.n):
            self.store.clear(slot)
        for k in range(self.n_outputs):
            if self.saved.coefficients != NULL:
                memcpy(self.coefficients + k * self.capacity, self.saved.coefficients + k * n,
                       n * sizeof(double))
                if self.averaged:
                    memcpy(self.companions + k * self.capacity, self.saved.companions + k * n,
                           n * sizeof(double))
            memset(self.coefficients + k * self.capacity + n, 0,
                   (self.n - n) * sizeof(double))
            if self.averaged:
                memset(self.companions + k * self.capacity + n, 0,
                       (self.n - n) * sizeof(double))
        self.n = n
        self.scale = self.saved.scale
        self.total = self.saved.total
        self.steps = self.saved.steps
        self.window.discard()

    @property
    def dtype(self):
        """Of the support rows, as a numpy dtype."""
        return np.dtype(np.float32 if self.store.itemsize == 4 else np.float64)

    @property
    def stored_sparse(self):
        """Whether the support rows are stored sparse, which sparse samples only can meet."""
        return self.store.needs_spread()

    def rows(self):
        """The support rows, ndarray or CSR matrix of shape (n, d)."""
        return self.store.get_rows(self.n)

    def dual_coefficients(self):
        """Effective coefficients of the model that predicts, ndarray of shape (n_outputs, n)."""
        raw, companions = self.raw(self.coefficients), self.raw(self.companions)
        if not self.averaged:
            return self.scale * raw
        return ((self.total + self.scale) * raw - companions) / (self.steps + 1)

    cdef object raw(self, double *values):
        """The first n of each row of `values` as an ndarray of shape (n_outputs, n)."""
        out = np.zeros((self.n_outputs, self.n))
        cdef double[:, ::1] view = out
        cdef Py_ssize_t k
        for k in range(self.n_outputs if self.n > 0 and values != NULL else 0):
            memcpy(&view[k, 0], values + k * self.capacity, self.n * sizeof(double))
        return out

    def get_state(self):
        """All that was learnt, as a dictionary of arrays and numbers."""
        return {
            "rows": self.store.get_rows(self.n),
            "coefficients": self.raw(self.coefficients),
            "companions": self.raw(self.companions),
            "scale": self.scale, "total": self.total, "steps": self.steps,
        }

    def set_state(self, state):
        """Take over what `get_state` gave; the set must be new."""
        cdef Samples samples = samples_of(state["rows"], self.dtype)
        cdef const double[:, ::1] coefficients = state["coefficients"]
        cdef const double[:, ::1] companions = state["companions"]
        cdef Py_ssize_t i, k, n = samples.rows.n
        if self.reserve(n) < 0:
            raise MemoryError(f"no memory for {n} support vectors")
        for i in range(n):
            if self.window.chunk.open(&samples.rows, NULL, i, 1) < 0 or self.place(i, 0) < 0:
                raise MemoryError(f"no memory for {n} support vectors")
        for k in range(self.n_outputs if n > 0 else 0):
            memcpy(self.coefficients + k * self.capacity, &coefficients[k, 0], n * sizeof(double))
            if self.averaged:
                memcpy(self.companions + k * self.capacity, &companions[k, 0], n * sizeof(double))
        self.n = n
        self.scale, self.total, self.steps = state["scale"], state["total"], state["steps"]

    def nbytes(self):
        """Bytes held for support rows, coefficients and terms."""
        per_slot = self.n_outputs * sizeof(double) * (1 + self.averaged) + self.store.itemsize
        return self.store.nbytes(self.n) + self.capacity * per_slot
