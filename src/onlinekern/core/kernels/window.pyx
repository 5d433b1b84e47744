"""The look-ahead window: kernel values of the coming samples with the support vectors.

Invariants (what makes look-ahead exact):
1. For every sample i of the open block that is still to come and every occupied slot r,
   values[i, r] = kappa(x_i, s_r), bit for bit what a window of one sample would hold.
2. A method that changes a support vector repairs its column. A free slot keeps its former vector
   and a finite column until it is used again; its coefficients are 0.
   A row holds products until `row` converts them to kernel values, just before the score: they are
   then in the nearest cache. The conversion gives the same bits at any time.
3. No score is kept. A score is the dot product of a row of values with the coefficients, computed
   when the sample's turn comes. So a change of coefficients never touches the window.

Large sets whose kernel values are not needed are an exception (see strips): then the columns begin
with slot `first`, and `sums` hold the part of each score that belongs to the slots before it.
"""
from libc.stdlib cimport free
from libc.string cimport memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport (
    OK_PANEL, OK_SUMS, aligned_resize, grow, whole_panels,
)
from onlinekern.core.kernels.block cimport KernelBlock
from onlinekern.core.kernels.cost_model cimport strip_length, tile_rows, tile_width
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.kernels.panel_store cimport Store
from onlinekern.core.kernels.python_kernel cimport PythonKernel


cdef class Window:
    """A window over up to `rows` samples.

    Parameters
    ----------
    store : Store
        Of the support vectors.
    kernel : Kernel
    rows : int >= 1
    """

    def __cinit__(self, Store store not None, Kernel kernel not None, Py_ssize_t rows):
        self.store = store
        self.kernel = kernel
        self.itemsize = store.itemsize
        self.strip = strip_length(store.itemsize)
        self.block = KernelBlock(rows, store.d, store.itemsize, kernel)
        self.column = <char *> aligned_resize(NULL, 0, whole_panels(rows) * self.itemsize)
        if self.column == NULL:
            raise MemoryError(f"no memory for a look-ahead window of {rows} rows")

    def __dealloc__(self):
        free(self.values)
        free(self.column)
        free(self.sums)
        free(self.tile)

    cdef const char *row(self, Py_ssize_t i) noexcept nogil:
        """The kernel values of sample i: one number per slot, in whole panels."""
        if i >= self.finished:
            self.finish(i + 1)
        return self.values + i * self.ld * self.itemsize

    cdef const char *all_rows(self) noexcept nogil:
        """The kernel values of all samples of the block, of leading dimension `ld`."""
        if self.finished < self.block.n:
            self.finish(self.block.n)
        return self.values

    cdef void finish(self, Py_ssize_t n) noexcept nogil:
        """Make kernel values of the products in the first n rows."""
        self.apply_kernel(self.finished, n - self.finished, 0, self.columns)
        self.finished = n

    cdef void apply_kernel(self, Py_ssize_t i, Py_ssize_t n, Py_ssize_t column,
                           Py_ssize_t m) noexcept nogil:
        """Make kernel values of the products in m columns of n rows, from row i on."""
        cdef Py_ssize_t size = self.itemsize, slot = self.first + column
        self.kernel.transform(
            self.block.ops, self.values + (i * self.ld + column) * size, self.ld, n, m,
            self.block.norm_terms + i * size, self.norm_terms + slot * size, self.block.sparse)

    cdef Status fill(self, Py_ssize_t n, const char *norm_terms, Py_ssize_t spare,
                     Py_ssize_t first=0) noexcept nogil:
        """Compute the kernel values of the open block with n support vectors.

        `norm_terms` are those of the support vectors. `spare` columns are kept free for new ones.
        The columns begin with slot `first`, of a whole panel. Returns a status.
        """
        cdef Py_ssize_t p
        if self.reserve_columns(whole_panels(n + spare) - first) < 0:
            return NO_MEMORY
        self.norm_terms = norm_terms
        self.first = first
        self.columns = whole_panels(n) - first
        self.finished = 0
        if self.kernel.of_rows:
            self.finished = self.block.n
            with gil:
                return self.ask_function(n, spare > 0)
        if n > 0 and self.store.needs_panels() and self.block.make_panels() < 0:
            return NO_MEMORY
        for p in range(self.columns // OK_PANEL):
            self.multiply(p)
        if self.block.any_exact:
            self.all_rows()
            for p in range(self.columns // OK_PANEL):
                self.fill_exact_panel(p)
        return OK

    cdef Status ask_function(self, Py_ssize_t n, bint pairs) noexcept:
        """The same for a kernel that is a Python function: one call for the block.

        With `pairs` also for the values of the rows with one another, of which `repair_column`
        makes columns later. Returns a status; the kernel keeps what the function raised.
        """
        cdef PythonKernel kernel = <PythonKernel> self.kernel
        cdef const double[:, ::1] values
        cdef Py_ssize_t i, r, rows = self.block.n
        try:
            X = self.block.dense_rows()
            Z = self.store.get_rows(n)
            values = kernel.values_of(X, np.concatenate([Z, X]) if pairs else Z)
        except BaseException as error:
            return kernel.fail(error)
        memset(self.values, 0, rows * self.ld * self.itemsize)
        for i in range(rows):
            for r in range(n):
                if self.itemsize == 4:
                    (<float *> self.values)[i * self.ld + r] = <float> values[i, r]
                else:
                    (<double *> self.values)[i * self.ld + r] = values[i, r]
        return self.block.take_pairs(values, n) if pairs else OK

    cdef void multiply(self, Py_ssize_t panel) noexcept nogil:
        """Write the products with the support vectors of one panel of the columns."""
        self.store.product(self.block, 0, self.block.n, self.first // OK_PANEL + panel,
                           self.kernel.accumulate,
                           self.values + panel * OK_PANEL * self.itemsize, self.ld)

    cdef Status reserve_sums(self, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil:
        """Make room for unfinished dots of so many rows with so many coefficient vectors."""
        cdef Py_ssize_t bytes = rows * vectors * OK_SUMS * <Py_ssize_t> sizeof(double)
        return NO_MEMORY if grow(<void **> &self.sums, &self.sums_bytes, bytes) < 0 else OK

    cdef void clear_sums(self, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil:
        """Begin the dots of so many rows from row i on, for which there is room."""
        cdef Py_ssize_t size = vectors * OK_SUMS
        memset(self.sums + i * size, 0, rows * size * sizeof(double))

    cdef Status open_tiles(self, const char *norm_terms, Py_ssize_t vectors) noexcept nogil:
        """Prepare `fill_tile`, and the dots of all rows of the open block. Returns a status.

        There is room for the dots of one row more.
        """
        cdef Py_ssize_t bytes
        self.norm_terms = norm_terms
        self.tile_rows = tile_rows(self.block.n, vectors)
        if self.store.needs_panels():
            # Its products are made for the rows of a whole panel of the block.
            self.tile_rows = OK_PANEL
        self.tile_width = tile_width(self.tile_rows, self.itemsize, vectors)
        bytes = self.tile_rows * (self.tile_width + TILE_GAP) * self.itemsize
        if grow(<void **> &self.tile, &self.tile_bytes, bytes) < 0 \
                or self.reserve_sums(self.block.n + 1, vectors) < 0:
            return NO_MEMORY
        return self.block.make_panels() if self.store.needs_panels() else OK

    cdef const char *fill_tile(self, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t slot,
                               Py_ssize_t m) noexcept nogil:
        """Kernel values of some rows, from row i on, with m slots from `slot` on, whole panels.

        They are `tile_width` + TILE_GAP numbers apart.
        """
        cdef Py_ssize_t p, ld = self.tile_width + TILE_GAP, size = self.itemsize
        for p in range(m // OK_PANEL):
            self.store.product(self.block, i, rows, slot // OK_PANEL + p, self.kernel.accumulate,
                               self.tile + p * OK_PANEL * size, ld)
        self.kernel.transform(self.block.ops, self.tile, ld, rows, m,
                              self.block.norm_terms + i * size, self.norm_terms + slot * size,
                              self.block.sparse)
        for p in range(m // OK_PANEL if self.block.any_exact else 0):
            self.fill_exact(i, rows, slot // OK_PANEL + p, self.tile + p * OK_PANEL * size, ld)
        return self.tile

    cdef void fill_exact(self, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t panel, char *g,
                         Py_ssize_t ld) noexcept nogil:
        """Recompute the values of rows too long for the expanded distance (see kernels).

        g are those of some rows, from row i on, with one panel of support vectors.
        """
        cdef Py_ssize_t j
        if self.block.any_wide:
            self.store.wide_distances(self.block, self.block.wide_squares, i, rows, panel, g, ld)
        for j in range(i, i + rows):
            if self.block.wide_squares[j] >= 0:
                self.kernel.of_distance(self.block.ops, g, ld, 1, OK_PANEL)
            elif self.block.is_exact(j):
                self.store.distance(self.block, j, panel, self.kernel.accumulate,
                                    self.block.is_sifted(j), g)
                self.kernel.of_distance(self.block.ops, g, ld, 1, OK_PANEL)
            g += ld * self.itemsize

    cdef void fill_exact_panel(self, Py_ssize_t panel) noexcept nogil:
        """The same for all rows and one panel of the columns."""
        self.fill_exact(0, self.block.n, self.first // OK_PANEL + panel,
                        self.values + panel * OK_PANEL * self.itemsize, self.ld)

    cdef Status repair_column(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil:
        """Sample i is now the support vector in `slot`: write its column for the samples after i.

        Returns a status.
        """
        cdef Py_ssize_t j, first = i + 1, column = slot - self.first
        if first == self.block.n:
            return OK
        if column >= self.columns:
            self.open_panel(first)
        if self.finished > first:
            self.all_rows()
        if self.block.make_panels() < 0 \
                or self.block.kernel_column(i, self.finished > first, self.column) < 0:
            return NO_MEMORY
        for j in range(first, self.block.n):
            if self.itemsize == 4:
                (<float *> self.values)[j * self.ld + column] = (<float *> self.column)[j]
            else:
                (<double *> self.values)[j * self.ld + column] = (<double *> self.column)[j]
        return OK

    cdef void open_panel(self, Py_ssize_t first) noexcept nogil:
        """Clear the next panel of columns in the rows from `first` on: a kernel of what another
        window left there might overflow."""
        cdef Py_ssize_t j
        for j in range(first, self.block.n):
            memset(self.values + (j * self.ld + self.columns) * self.itemsize, 0,
                   OK_PANEL * self.itemsize)
        self.columns += OK_PANEL

    cdef Status refill_column(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil:
        """The support vector in `slot` is now a point that is no sample: write its column.

        The whole panel is computed again, as in `fill`, so the bits are those of a new window.
        Does nothing after the last sample of the block. Returns a status.
        """
        cdef Py_ssize_t panel = (slot - self.first) // OK_PANEL
        if i + 1 == self.block.n:
            return OK
        if self.store.needs_panels() and self.block.make_panels() < 0:
            return NO_MEMORY
        self.multiply(panel)
        self.apply_kernel(0, self.finished, panel * OK_PANEL, OK_PANEL)
        if self.block.any_exact:
            self.fill_exact_panel(panel)
        return OK

    cdef Status reserve_columns(self, Py_ssize_t columns) noexcept nogil:
        """Make each row hold at least `columns` values; the values are lost. Returns a status.

        The leading dimension is an odd multiple of a cache line, so that the values of one column
        do not compete for the same cache sets.
        """
        # Transposed products come in squares, see vector.h.
        cdef Py_ssize_t ld, rows = (self.block.n + 3) // 4 * 4
        if columns <= self.ld and rows * self.ld * self.itemsize <= self.values_bytes:
            return OK
        ld = whole_panels(columns + columns // 4) + 16
        if grow(<void **> &self.values, &self.values_bytes, rows * ld * self.itemsize) < 0:
            return NO_MEMORY
        self.ld = ld
        return OK

    cdef void free_values(self) noexcept nogil:
        """Drop all values: one that overflowed would give NaN in a product with 0."""
        free(self.values)
        self.values = NULL
        self.ld = self.values_bytes = 0
