# Weights of the cells of a forest. May change at minor versions.
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.partitions.loops cimport ok_forest_table


# A record is padded to a multiple of this many floats, one vector register.
cdef enum:
    LANES = 8


cdef class CellWeights:
    cdef readonly Py_ssize_t n_cells, n_experts, n_outputs
    cdef Py_ssize_t n_weights        # of a record, n_experts x n_outputs; its variances follow
    cdef Py_ssize_t length           # floats of a record, padded to whole lanes
    cdef const float[::1] variances  # initial variance of a cell for each expert
    cdef float *values               # n_cells + 1 records
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
    cdef Py_ssize_t n_weights, length    # of a record, the same in each block
    cdef int32_t none                # number of the cell that is no cell; -1: there is none
    cdef const ok_forest_table *loops
    cdef float *factors              # of a step: one for each weight, then for each variance
    cdef float **values              # first record of each block
    cdef PyObject **owners           # each block, borrowed from the list
    cdef PyObject **journals         # journal of each block, borrowed

    cdef inline float *record(self, Py_ssize_t t, Py_ssize_t cell) noexcept nogil:
        return self.values[t] + cell * self.length

    cdef void put(self, Py_ssize_t t, CellWeights block)
    cdef void add(self, const int32_t *cells, double *sums) noexcept nogil
    cdef void prefetch(self, const int32_t *cells) noexcept nogil
    cdef Status touch(self, const int32_t *cells) noexcept nogil
    cdef void step(self, const int32_t *cells, const double *coefficients,
                   const double *contractions) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
