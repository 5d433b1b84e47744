"""SupportSet: support vectors with their coefficients, and the window over the coming samples.

A support vector keeps its slot while it is in the set. Removing it frees the slot for a later one;
nothing else moves. `Slots` knows which slots are occupied, and since when.

Only `add` and `interpolate` change a support vector, and both repair its column of the window.
`drop` leaves the vector and its column in place, with coefficients of 0, until the next `add` takes
the slot. Changing coefficients (shrinking, averaging) does not touch the window.
"""
from libc.string cimport memcpy, memset

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.growing_memory cimport free_grown, grown
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport (
    MOST_FEATURES, check_width, chosen, count_of, fields_of, flag_of, float_dtype, integer_within,
    integers_within, items_of, rows_of_form, shown,
)
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport OK_PANEL, whole_panels
from onlinekern.core.kernels.block cimport KernelBlock
from onlinekern.core.kernels.byte_store cimport ByteStore
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.cost_model cimport kept_sparse, outweighs
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.kernels.panel_store cimport PanelStore
from onlinekern.core.kernels.slots cimport Slots
from onlinekern.core.kernels.sparse_store cimport SparseStore
from onlinekern.core.kernels.strips cimport open_rows, score_row, score_rows, stay_as_they_are
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of
from onlinekern.core.samples.sparse_rows cimport Point

from onlinekern.core.kernels.coefficient_rows import FIELDS
from onlinekern.core.kernels.slots import SLOT_FIELDS

SET_FIELDS = ("rows", "terms", *SLOT_FIELDS, *FIELDS)
# Sparse and dense rows sum their norms in another order; the sums differ by far less.
cdef double TERM_ERROR = 1e-4
# Memory grows by half, but by at most this many support vectors, to bound the cost for one call.
cdef Py_ssize_t MOST_MORE = 2048


cdef class SupportSet:
    """Support vectors and their coefficients for every output.

    Parameters
    ----------
    kernel : Kernel
    n_features : int
    dtype : numpy.float32 or numpy.float64
        Of the support vectors and the kernel values; coefficients and scores are double.
    n_outputs : int
    averaged : bool, 'uniform', 'decay' or float in (0, 1)
        Whether an average of f_1 ... f_t is scored beside f_t, and which; see `Coefficients`.
    sparse : bool
        Whether the samples are sparse: of many features, support vectors are stored sparse too.
    ones : bool, default=False
        Whether all samples are sparse rows of ones and the kernel is one of dot products: support
        vectors are stored as bytes.
    """

    def __cinit__(self, Kernel kernel not None, Py_ssize_t n_features, dtype,
                  Py_ssize_t n_outputs, averaged, bint sparse, bint ones=False):
        itemsize = float_dtype(dtype).itemsize
        integer_within("n_features", n_features, 0, MOST_FEATURES)
        self.kernel = kernel
        self.sparse = sparse
        self.n_outputs = n_outputs
        self.itemsize = itemsize
        self.coefficients = Coefficients(n_outputs, averaged, itemsize)
        self.slots = Slots()
        self.old_norm_terms = Journal(itemsize)
        sparse_form = SparseStore if sparse and kept_sparse(n_features) else PanelStore
        form = ByteStore if ones else sparse_form
        self.store = form(n_features, itemsize)
        self.window = self.new_window(1)
        if self.reserve(OK_PANEL) < 0:
            raise MemoryError(f"no memory for {OK_PANEL} support vectors")

    def __dealloc__(self):
        free_grown(self.norm_terms)

    def arguments(self):
        """The constructor's arguments."""
        return (self.kernel, self.store.d, self.dtype, self.n_outputs,
                self.coefficients.averaging, self.sparse)

    cdef Window new_window(self, Py_ssize_t rows):
        """A window over up to `rows` samples."""
        return Window(self.store, self.kernel, rows)

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        """Let the learning window take blocks of at least `rows` samples."""
        if self.window.block.capacity < rows:
            self.window = self.new_window(rows)
        return 0

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Make room for `capacity` support vectors in all. Returns a status."""
        cdef Py_ssize_t old = self.capacity, size = self.itemsize
        cdef char *norm_terms
        if capacity <= old:
            return OK
        capacity = whole_panels(max(capacity, old + min(old // 2, MOST_MORE)))
        norm_terms = <char *> grown(self.norm_terms, old, capacity, size)
        if norm_terms == NULL:
            return NO_MEMORY
        self.norm_terms = norm_terms
        if self.store.reserve(capacity) < 0 or self.coefficients.reserve(capacity) < 0 \
                or self.slots.reserve(capacity) < 0:
            return NO_MEMORY
        self.capacity = capacity
        return OK

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        """Open the learning window on the next n samples. Returns a status."""
        self.window.block.expected_panels = whole_panels(self.n) // OK_PANEL
        if self.reserve(self.n + n) < 0 or self.window.block.open(rows, order, first, n) < 0:
            return NO_MEMORY
        return open_rows(self.window, self.coefficients, self.norm_terms, self.n, n,
                         self.begins_rows())

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        """Scores of sample i of the open window, as `Coefficients.scores` gives them."""
        score_row(self.window, self.coefficients, i, current, averaged)

    cdef bint scored_in_strips(self) noexcept nogil:
        """Whether `score` holds no whole rows of kernel values."""
        return not self.kernel.of_rows and not self.coefficients.listed and (
            self.n > self.window.strip or outweighs(self.n, self.coefficients.n_vectors()))

    cdef bint begins_rows(self) noexcept nogil:
        """Whether `open` begins the scores of coming samples, see `strips.open_rows`."""
        return (self.most_unasked - self.n >= self.window.block.capacity
                and self.scored_in_strips() and self.slots.n_free == 0
                and stay_as_they_are(self.window, self.coefficients))

    cdef Status score(self, Window window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        """Predicting scores of n samples into out (n x n_outputs). Returns a status.

        Reads the set only, as `fill_window`.
        """
        cdef Py_ssize_t i
        window.block.expected_panels = whole_panels(self.n) // OK_PANEL
        if window.block.open(rows, NULL, first, n) < 0:
            return NO_MEMORY
        if self.scored_in_strips():
            return score_rows(window, self.coefficients, self.norm_terms, out)
        if window.fill(self.n, self.norm_terms, 0) < 0:
            return NO_MEMORY
        for i in range(n):
            self.coefficients.scores(window.row(i), out + i * self.n_outputs,
                                     out + i * self.n_outputs)
        return OK

    cdef Status fill_window(self, Window window, const Rows *rows, const Py_ssize_t *order,
                            Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Open a window on n samples, see `Block.open`, and leave no columns for new rows.

        Only reads the set: several threads may do so, each with its own window. Returns a status.
        """
        window.block.expected_panels = whole_panels(self.n) // OK_PANEL
        if window.block.open(rows, order, first, n) < 0:
            return NO_MEMORY
        return window.fill(self.n, self.norm_terms, 0)

    cdef int prepare_kernel_rows(self) except -1:
        """Prepare for `kernel_row` and `interpolate`; called before the first of them."""
        if self.row_window is None:
            self.row_window = self.new_window(1)
            # One by one: a list that finds no memory to grow makes Cython free its item twice.
            self.point = Point(self.store.d, self.itemsize, self.sparse)
            self.other = Point(self.store.d, self.itemsize, self.sparse)
            self.between = Point(self.store.d, self.itemsize, self.sparse)
        return 0

    cdef const char *kernel_row(self, Py_ssize_t slot) noexcept nogil:
        """Kernel values of a support vector with all support vectors, in whole panels.

        They are overwritten by the next call. NULL when memory ran out.
        """
        if self.store.read(slot, self.point) < 0 \
                or self.fill_window(self.row_window, &self.point.rows, NULL, 0, 1) < 0:
            return NULL
        return self.row_window.row(0)

    cdef void as_doubles(self, const char *g, double *out) noexcept nogil:
        """Copy a row of kernel values to double, one number per slot."""
        memset(out, 0, self.n * sizeof(double))
        self.coefficients.ops.add(g, 1, out, self.n)

    cdef Status write_row(self, Py_ssize_t slot, KernelBlock block, Py_ssize_t i) noexcept nogil:
        """Store row i of a block, and its norm term, in a slot. Returns a status."""
        cdef Py_ssize_t size = self.itemsize
        cdef char *term = self.norm_terms + slot * size
        if slot < self.saved_n and (self.store.keep(slot) < 0
                                    or self.old_norm_terms.keep(slot, term) < 0):
            return NO_MEMORY
        memcpy(term, block.norm_terms + i * size, size)
        return self.store.write(slot, block, i)

    cdef Status interpolate(self, Py_ssize_t i, Py_ssize_t slot, Py_ssize_t other,
                            double h) noexcept nogil:
        """s_slot <- (1 - h) s_slot + h s_other, while sample i is learnt.

        The coefficients stay what they are. Returns a status.
        """
        if self.store.read(slot, self.point) < 0 or self.store.read(other, self.other) < 0 \
                or self.between.interpolate(self.point, self.other, h) < 0 \
                or self.row_window.block.open(&self.between.rows, NULL, 0, 1) < 0 \
                or self.write_row(slot, self.row_window.block, 0) < 0:
            return NO_MEMORY
        return self.window.refill_column(i, slot)

    cdef Py_ssize_t add(self, Py_ssize_t i, const double *step) noexcept nogil:
        """Make sample i of the open block a support vector with K coefficients.

        Returns its slot, or NO_MEMORY. There is room: `open` reserved it.
        """
        cdef Py_ssize_t slot = self.slots.take()
        self.n = self.slots.n
        if slot < 0 or self.write_row(slot, self.window.block, i) < 0 \
                or self.window.repair_column(i, slot) < 0 \
                or self.coefficients.assign(slot, step) < 0:
            return NO_MEMORY
        return slot

    def add_rows(self, X, const double[:, ::1] coefficients, const Py_ssize_t[::1] order=None):
        """Add rows of X, a row of K coefficients to each, outside of any stream.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        coefficients : ndarray of shape (n_added, n_outputs)
        order : ndarray of shape (n_added,) of intp, optional
            The rows to add; default all, as they stand.
        """
        cdef Samples samples = samples_of(X, self.dtype)
        cdef const Py_ssize_t *rows = &order[0] if order is not None and len(order) > 0 else NULL
        cdef Py_ssize_t i, slot, n = coefficients.shape[0]
        check_width("X", samples.rows.d, self.store.d)
        check_width("coefficients", coefficients.shape[1], self.n_outputs)
        if order is None:
            integer_within("the number of coefficients", n, 0, samples.rows.n)
        else:
            integers_within("order", np.asarray(order), n, 0, samples.rows.n - 1)
        cdef Status status = self.reserve(self.n + n)
        for i in range(n):
            if status == OK:
                status = self.window.block.open(&samples.rows, rows, i, 1)
            slot = self.slots.take() if status == OK else -1
            if slot < 0 or self.write_row(slot, self.window.block, 0) < 0 \
                    or self.coefficients.assign(slot, &coefficients[i, 0]) < 0:
                raise MemoryError(f"no memory for {n} support vectors")
            self.n = self.slots.n

    cdef Status drop(self, Py_ssize_t slot) noexcept nogil:
        """Remove the support vector of a slot. Returns a status."""
        if self.slots.release(slot) < 0:
            return NO_MEMORY
        return self.coefficients.clear(slot)

    cdef Py_ssize_t replace(self, Py_ssize_t slot, Py_ssize_t i,
                            const double *step) noexcept nogil:
        """Put sample i of the open window into an occupied slot, as `add` does.

        Returns the slot, or NO_MEMORY when memory ran out.
        """
        if self.drop(slot) < 0:
            return NO_MEMORY
        return self.add(i, step)

    cdef Py_ssize_t smallest(self, const double *sizes) noexcept nogil:
        """The occupied slot of the smallest of n sizes, the oldest of equals; -1: none."""
        cdef Py_ssize_t slot, found = -1
        for slot in range(self.n):
            # Nearly all end here, so that the processor foresees the branch.
            if found >= 0 and sizes[slot] > sizes[found] or not self.occupied(slot):
                continue
            if found < 0 or sizes[slot] < sizes[found] or self.age(slot) < self.age(found):
                found = slot
        return found

    cdef void coefficients_of(self, Py_ssize_t slot, double *out) noexcept nogil:
        """Copy the K coefficients of a slot."""
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            out[k] = self.coefficients.average.scale * self.coefficients.at(k, slot)

    cdef void add_coefficients_of(self, Py_ssize_t slot, double factor,
                                  double *out) noexcept nogil:
        """out[k] += factor times coefficient k of a slot."""
        cdef Py_ssize_t k
        factor *= self.coefficients.average.scale
        for k in range(self.n_outputs):
            out[k] += factor * self.coefficients.at(k, slot)

    cdef Status set_coefficients(self, Py_ssize_t slot, const double *fresh) noexcept nogil:
        """Overwrite the K coefficients of a slot. Returns a status."""
        if self.coefficients.clear(slot) < 0:
            return NO_MEMORY
        return self.coefficients.assign(slot, fresh)

    cdef Status add_along(self, const double *direction, const double *step) noexcept nogil:
        """Add step[k] direction[r] to coefficient k of each slot r. Returns a status."""
        return self.coefficients.add_multiples_double(direction, step)

    cdef Status shrink(self, double factor) noexcept nogil:
        """Multiply all coefficients by a factor. Returns a status."""
        return self.coefficients.shrink(factor)

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present model for `rollback`."""
        self.saved_n = self.n
        self.store.checkpoint(self.n)
        self.old_norm_terms.begin(self.n)
        self.slots.checkpoint()
        self.coefficients.checkpoint()

    cdef void rollback(self) noexcept nogil:
        """Return to the model of the checkpoint.

        Slots used since are zeroed: unused slots take part in products, with coefficients of 0.
        """
        cdef Py_ssize_t slot
        for slot in range(self.saved_n, self.n):
            self.store.clear(slot)
        self.store.rollback()
        self.old_norm_terms.restore(self.norm_terms, self.store.itemsize)
        self.slots.rollback()
        self.n = self.saved_n
        self.coefficients.rollback()
        self.window.free_values()

    @property
    def dtype(self):
        """Of the support vectors, as a numpy dtype."""
        return np.dtype(np.float32 if self.itemsize == 4 else np.float64)

    @property
    def stored_sparse(self):
        """Whether support vectors are stored sparse; then samples must be sparse too."""
        return self.store.needs_panels()

    def rows(self):
        """The support vectors, the oldest first, ndarray or CSR matrix of shape (n_rows, d)."""
        return self.store.get_rows(self.n)[self.slots.by_age()]

    def effective(self):
        """Coefficients of the model that predicts, (n_outputs, n_rows), in the order of `rows`."""
        return self.coefficients.effective()[:, self.slots.by_age()]

    @property
    def n_rows(self):
        """The number of support vectors."""
        return self.count()

    def get_state(self):
        """All that was learnt, as a dictionary of arrays and numbers."""
        cdef Py_ssize_t address, size = self.itemsize
        norm_terms = np.zeros(self.n, self.dtype)
        address = norm_terms.ctypes.data
        memcpy(<void *> address, self.norm_terms, self.n * size)
        return {"rows": self.store.get_rows(self.n), "terms": norm_terms,
                **self.slots.get_state(), **self.coefficients.get_state()}

    def set_state(self, state):
        """Take over what `get_state` gave; the set must be new.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "a support set", SET_FIELDS)
        rows = rows_of_form("rows of the support vectors", state["rows"], self.store.d, self.dtype,
                            sp.issparse(state["rows"]))
        # This process may have another cost model than the one that saved the set.
        rows = sp.csr_matrix(rows) if self.stored_sparse else rows
        cdef Samples samples = samples_of(rows, self.dtype)
        cdef Py_ssize_t address, i, n = samples.rows.n
        if n != np.size(state["ages"]) or n != np.size(state["values"]) // self.n_outputs:
            raise ValueError(f"{n} support vectors need as many ages and coefficients of each "
                             f"output, got {np.size(state['ages'])} ages and "
                             f"{np.size(state['values'])} coefficients of {self.n_outputs} outputs")
        if self.reserve(n) < 0:
            raise MemoryError(f"no memory for {n} support vectors")
        for i in range(n):
            if self.window.block.open(&samples.rows, NULL, i, 1) < 0 \
                    or self.write_row(i, self.window.block, 0) < 0:
                raise MemoryError(f"no memory for {n} support vectors")
        # Norms of sparse rows were summed in another order than those of their dense copies.
        norm_terms = self.checked_terms(state["terms"], n)
        address = norm_terms.ctypes.data
        memcpy(self.norm_terms, <void *> address, norm_terms.nbytes)
        self.slots.set_state(chosen(state, SLOT_FIELDS))
        self.coefficients.set_state(chosen(state, FIELDS))
        self.n = n
        free_slots = state["free"]
        for name in ("values", "companions"):
            if state[name][:, free_slots].any():
                raise ValueError(f"{name} of the free slots {free_slots} must be 0")

    cdef object checked_terms(self, object norm_terms, Py_ssize_t n):
        """The norm terms of n support vectors, which must be those of their rows but for rounding.
        """
        cdef Py_ssize_t address
        form = self.dtype
        if not isinstance(norm_terms, np.ndarray) or norm_terms.shape != (n,) \
                or norm_terms.dtype.newbyteorder("=") != form:
            raise ValueError(f"norm terms of {n} support vectors must be an ndarray of shape "
                             f"{(n,)} and type {form}, got {shown(norm_terms)}")
        expected = np.zeros(n, form)
        address = expected.ctypes.data
        memcpy(<void *> address, self.norm_terms, n * self.itemsize)
        if not np.allclose(norm_terms, expected, TERM_ERROR, 0):
            raise ValueError("norm terms of the support vectors must be those of their rows, got "
                             f"{shown(norm_terms)}, not {shown(expected)}")
        return np.ascontiguousarray(norm_terms, form)

    def nbytes(self):
        """Bytes held for support vectors, coefficients and norm terms."""
        numbers = self.n_outputs * (1 + self.coefficients.averaged)
        per_slot = numbers * sizeof(double) + self.itemsize + 16  # term, age, free slot
        return self.store.nbytes(self.n) + self.capacity * per_slot


cdef SupportSet restored_set(object arguments, object state):
    """A support set from what `arguments` and `get_state` of another one gave.

    The number of features is compared with the rows before memory is asked for.
    """
    kernel, n_features, dtype, n_outputs, averaged, sparse = items_of(
        arguments, "arguments of a support set", 6)
    fields_of(state, "a support set", SET_FIELDS)
    rows_of_form("rows of the support vectors", state["rows"], count_of("n_features", n_features),
                 float_dtype(dtype), sp.issparse(state["rows"]))
    if np.shape(state["values"])[:1] != (n_outputs,):
        raise ValueError(f"coefficients of {n_outputs} outputs must have so many rows, got shape "
                         f"{np.shape(state['values'])}")
    cdef SupportSet support = SupportSet(kernel, n_features, dtype, n_outputs,
                                         averaged, flag_of("sparse", sparse))
    support.set_state(state)
    return support
