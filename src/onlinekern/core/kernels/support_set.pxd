# The support set and its look-ahead window. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.kernels.block cimport KernelBlock
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.kernels.panel_store cimport Store
from onlinekern.core.kernels.slots cimport Slots
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.samples.rows cimport Rows
from onlinekern.core.samples.sparse_rows cimport Point


cdef class SupportSet:
    cdef readonly Kernel kernel
    cdef readonly Store store
    cdef readonly Coefficients coefficients
    cdef readonly Slots slots
    cdef readonly Py_ssize_t n, capacity      # slots ever used, and slots in all
    cdef readonly Py_ssize_t n_outputs, itemsize
    cdef readonly bint sparse
    # While there are at most this many slots, only scores of coming samples are needed, no kernel
    # values: the window may hold partial scores.
    cdef Py_ssize_t most_unasked
    cdef char *norm_terms        # of the support vectors, see kernels
    cdef Journal old_norm_terms  # of the slots that are overwritten
    cdef Window window
    cdef Py_ssize_t saved_n
    cdef Window row_window            # over one support vector, or a point between two
    cdef Point point, other, between

    cdef inline Py_ssize_t count(self) noexcept nogil:
        """The number of support vectors: of occupied slots."""
        return self.n - self.slots.n_free

    cdef inline bint occupied(self, Py_ssize_t slot) noexcept nogil:
        """Whether there is a support vector in a slot below n."""
        return self.slots.ages[slot] >= 0

    cdef inline int64_t age(self, Py_ssize_t slot) noexcept nogil:
        """How many support vectors came in before that of an occupied slot."""
        return self.slots.ages[slot]

    cdef inline int64_t n_added(self) noexcept nogil:
        """How many support vectors ever came in."""
        return self.slots.n_added

    cdef inline double squared_length(self, Py_ssize_t i) noexcept nogil:
        """kappa(x_i, x_i) of a sample of the open window."""
        return self.kernel.diagonal(self.window.block.squares[i])

    cdef inline const char *kernel_values(self, Py_ssize_t i) noexcept nogil:
        """Kernel values of sample i of the open window, one per slot, in whole panels."""
        return self.window.row(i)

    cdef inline double kernel_value(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil:
        """kappa(x_i, s_slot) of a sample of the open window."""
        if self.itemsize == 4:
            return (<const float *> self.window.row(i))[slot]
        return (<const double *> self.window.row(i))[slot]

    cdef inline double norm(self, Py_ssize_t slot) noexcept nogil:
        """The Euclidean norm of the K coefficients of a slot, without the common scale."""
        return self.coefficients.norm(slot)

    cdef Window new_window(self, Py_ssize_t rows)
    cdef int reserve_block(self, Py_ssize_t rows) except -1
    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil
    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil
    cdef bint scored_in_strips(self) noexcept nogil
    cdef bint begins_rows(self) noexcept nogil
    cdef Status score(self, Window window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil
    cdef Status fill_window(self, Window window, const Rows *rows, const Py_ssize_t *order,
                            Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef int prepare_kernel_rows(self) except -1
    cdef const char *kernel_row(self, Py_ssize_t slot) noexcept nogil
    cdef void as_doubles(self, const char *g, double *out) noexcept nogil
    cdef Status write_row(self, Py_ssize_t slot, KernelBlock block, Py_ssize_t i) noexcept nogil
    cdef Status interpolate(self, Py_ssize_t i, Py_ssize_t slot, Py_ssize_t other,
                            double h) noexcept nogil
    cdef Py_ssize_t add(self, Py_ssize_t i, const double *step) noexcept nogil
    cdef Status drop(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t replace(self, Py_ssize_t slot, Py_ssize_t i, const double *step) noexcept nogil
    cdef Py_ssize_t smallest(self, const double *sizes) noexcept nogil
    cdef void coefficients_of(self, Py_ssize_t slot, double *out) noexcept nogil
    cdef void add_coefficients_of(self, Py_ssize_t slot, double factor, double *out) noexcept nogil
    cdef Status set_coefficients(self, Py_ssize_t slot, const double *fresh) noexcept nogil
    cdef Status add_along(self, const double *direction, const double *step) noexcept nogil
    cdef Status shrink(self, double factor) noexcept nogil
    cdef object checked_terms(self, object norm_terms, Py_ssize_t n)
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef SupportSet restored_set(object arguments, object state)
