# Weights of the cells of a forest. May change at minor versions.
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.partitions.loops cimport ok_forest_table


# Floats that are added up together.
cdef enum:
    LANES = 8


cdef class CellWeights:
    cdef readonly Py_ssize_t n_cells, n_experts, n_outputs
    cdef Py_ssize_t n_weights        # of a record; its variances follow them
    cdef Py_ssize_t length           # floats of a record, in whole lanes
    cdef const float[::1] variances  # that cells begin with
    cdef float *values
    cdef Journal journal

    cdef inline float *record(self, Py_ssize_t cell) noexcept nogil:
        return self.values + cell * self.length

    cdef void begin(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void forget_copies(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef class ForestCells:
    cdef readonly Py_ssize_t n_trees, n_experts, n_outputs
    cdef readonly list blocks
    cdef Py_ssize_t n_weights, length    # as of each block
    cdef int32_t none
    cdef const ok_forest_table *loops
    cdef float *factors              # of a step: of each weight, then of each variance
    cdef float **values              # the first record of each block,
    cdef PyObject **owners           # and the block, which the list holds,
    cdef PyObject **journals         # and its journal

    cdef inline float *record(self, Py_ssize_t t, Py_ssize_t cell) noexcept nogil:
        return self.values[t] + cell * self.length

    cdef void put(self, Py_ssize_t t, CellWeights block)
    cdef void add(self, const int32_t *cells, double *sums) noexcept nogil
    cdef void prefetch(self, const int32_t *cells) noexcept nogil
    cdef Status touch(self, const int32_t *cells) noexcept nogil
    cdef void step(self, const int32_t *cells, const double *coefficients,
                   const double *falls) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
