# The look-ahead window: kernel values of coming samples. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.block cimport KernelBlock
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.kernels.panel_store cimport Store

cdef enum:
    # Elements between the rows of a tile: they must not compete for the same cache sets.
    TILE_GAP = 16


cdef class Window:
    cdef readonly KernelBlock block
    cdef Store store
    cdef Kernel kernel
    cdef char *values         # capacity x ld, a row per coming sample: see `row`, `all_rows`
    cdef char *column         # of the support vector added last
    cdef const char *norm_terms     # of the support vectors
    cdef Py_ssize_t ld, itemsize, values_bytes
    cdef Py_ssize_t finished  # rows that hold kernel values; those after them hold products
    cdef Py_ssize_t first     # the slot of the first column: 0, or see strips
    cdef Py_ssize_t columns   # in use, in whole panels
    cdef Py_ssize_t strip     # columns that are scored together
    cdef double *sums         # unfinished dots, see Coefficients.add_scores
    cdef Py_ssize_t sums_bytes
    cdef bint begun_anew      # whether they were, since coefficients changed
    cdef Py_ssize_t opened    # slots when the block was opened
    cdef char *tile           # kernel values of some rows with some slots, see fill_tile
    cdef Py_ssize_t tile_bytes, tile_rows, tile_width

    cdef const char *row(self, Py_ssize_t i) noexcept nogil
    cdef const char *all_rows(self) noexcept nogil
    cdef void finish(self, Py_ssize_t n) noexcept nogil
    cdef Status fill(self, Py_ssize_t n, const char *norm_terms, Py_ssize_t spare,
                     Py_ssize_t first=*) noexcept nogil
    cdef Status ask_function(self, Py_ssize_t n, bint pairs) noexcept
    cdef void multiply(self, Py_ssize_t panel) noexcept nogil
    cdef void apply_kernel(self, Py_ssize_t i, Py_ssize_t n, Py_ssize_t column,
                           Py_ssize_t m) noexcept nogil
    cdef Status reserve_sums(self, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil
    cdef void clear_sums(self, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil
    cdef Status open_tiles(self, const char *norm_terms, Py_ssize_t vectors) noexcept nogil
    cdef const char *fill_tile(self, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t slot,
                               Py_ssize_t m) noexcept nogil
    cdef void fill_exact(self, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t panel, char *g,
                         Py_ssize_t ld) noexcept nogil
    cdef void fill_exact_panel(self, Py_ssize_t panel) noexcept nogil
    cdef void open_panel(self, Py_ssize_t first) noexcept nogil
    cdef Status refill_column(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil
    cdef Status repair_column(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil
    cdef Status reserve_columns(self, Py_ssize_t columns) noexcept nogil
    cdef void free_values(self) noexcept nogil
