# The support set and its look-ahead window (layer 6). May change at minor versions.
from onlinekern.core.chunks cimport Chunk
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.journals cimport Journal
from onlinekern.core.kernels cimport Kernel
from onlinekern.core.points cimport Point
from onlinekern.core.rows cimport Rows
from onlinekern.core.slots cimport Slots
from onlinekern.core.stores cimport Store
from onlinekern.core.windows cimport Window


cdef class SupportSet:
    cdef readonly Kernel kernel
    cdef readonly Store store
    cdef readonly Coefficients coefficients
    cdef readonly Slots slots
    cdef readonly Py_ssize_t n, capacity      # slots in use, free ones among them, and in all
    cdef readonly bint sparse
    cdef char *terms             # kernel terms of the support rows
    cdef Journal old_terms       # of the rows that are overwritten
    cdef Window window
    cdef Py_ssize_t saved_n
    cdef Window probe            # over one support row, or a point between two
    cdef Point point, other, blended

    cdef Window new_window(self, Py_ssize_t rows)
    cdef int make_room(self, Py_ssize_t rows) except -1
    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef int open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                  Py_ssize_t n) noexcept nogil
    cdef int allow_probes(self) except -1
    cdef const char *kernel_row(self, Py_ssize_t slot) noexcept nogil
    cdef void as_doubles(self, const char *g, double *out) noexcept nogil
    cdef double diagonal(self, Py_ssize_t i) noexcept nogil
    cdef int place(self, Py_ssize_t slot, Chunk chunk, Py_ssize_t i) noexcept nogil
    cdef int blend(self, Py_ssize_t i, Py_ssize_t slot, Py_ssize_t other,
                   double h) noexcept nogil
    cdef Py_ssize_t add(self, Py_ssize_t i, const double *step) noexcept nogil
    cdef int drop(self, Py_ssize_t slot) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
