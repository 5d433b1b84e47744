# Feature maps: explicit features of a block. May change at minor versions.
from onlinekern.core.base.part cimport Component, Status
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.panel_store cimport PanelStore
from onlinekern.core.samples.rows cimport Rows


cdef class FeatureWindow


cdef class FeatureMap(Component):
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly Py_ssize_t n_features    # in a row, without the constant
    cdef readonly Py_ssize_t length        # of a row of features, in whole panels
    cdef readonly Py_ssize_t constant      # position of the constant 1 in a row; -1: none
    cdef Py_ssize_t scratch_bytes          # that `fill` needs beside the features
    cdef bint by_rows                      # whether `fill` leaves the rows to `finish_row`
    cdef void fill(self, Block block, char *z, char *scratch) noexcept nogil
    cdef void finish_row(self, char *z) noexcept nogil
    cdef double square(self, const char *z) noexcept nogil
    cdef Py_ssize_t work(self) noexcept nogil
    cdef void copy(self, const char *z, char *out) noexcept nogil
    cdef FeatureWindow new_window(self, Py_ssize_t rows)
    cdef FeatureWindow learning_window(self, Py_ssize_t rows)
    cdef bint stored_sparse(self) noexcept nogil
    cdef Py_ssize_t used(self) noexcept nogil
    cdef double remainder(self, FeatureWindow window, Py_ssize_t i) noexcept nogil
    cdef int see(self, X, char *out, double *squares, double *remainders) except -1
    cdef Status consider(self, FeatureWindow window, Py_ssize_t i, bint entered) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef class FourierMap(FeatureMap):
    cdef readonly Py_ssize_t n_components
    cdef Py_ssize_t sine                   # position of the first sine in a row
    cdef double factor
    cdef int lay_out(self, Py_ssize_t n_components, bint constant) except -1


cdef class RandomFourier(FourierMap):
    cdef PanelStore panels


cdef class FeatureBlock:
    cdef FeatureMap map
    cdef char *values
    cdef char *scratch
    cdef Py_ssize_t row_bytes
    cdef readonly Py_ssize_t capacity
    cdef Py_ssize_t finished               # rows that hold features
    cdef void fill(self, Block block) noexcept nogil
    cdef const char *row(self, Py_ssize_t i) noexcept nogil
    cdef const char *rows(self, Py_ssize_t n) noexcept nogil


cdef class FeatureWindow:
    cdef Block block
    cdef FeatureBlock features
    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil


cdef PanelStore panels_of(object rows, object dtype)
