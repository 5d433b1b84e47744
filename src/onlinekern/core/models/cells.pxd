# Weights of the cells of a forest. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal


# Floats that are added up together.
cdef enum:
    LANES = 8


cdef class CellWeights:
    cdef readonly Py_ssize_t n_cells, n_experts, n_outputs
    cdef Py_ssize_t n_weights        # floats of a record that are weights, in whole lanes
    cdef Py_ssize_t length           # floats of a record
    cdef float *values
    cdef Journal journal

    cdef inline float *record(self, Py_ssize_t cell) noexcept nogil:
        return self.values + cell * self.length

    cdef void add_weights(self, const int32_t *cells, Py_ssize_t n, double *sums) noexcept nogil
    cdef double variance(self, const int32_t *cells, Py_ssize_t n, Py_ssize_t e) noexcept nogil
    cdef Status touch(self, const int32_t *cells, Py_ssize_t n) noexcept nogil
    cdef void step(self, const int32_t *cells, Py_ssize_t n, Py_ssize_t e,
                   const double *coefficients, double fall) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void forget_copies(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
