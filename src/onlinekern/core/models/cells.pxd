# Weights of the cells of a forest. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal


# The cells of a sample: its leaf in each tree, and the node above it that is a cell too.
cdef struct Cells:
    const int32_t *leaves
    const int32_t *upper
    Py_ssize_t n_trees


# Experts, and how their numbers lie in the record of a cell: a variance, then a weight an output.
cdef struct Layout:
    Py_ssize_t n_experts
    Py_ssize_t n_lower           # the first ones see the leaves only, the others both
    Py_ssize_t n_outputs
    Py_ssize_t length            # floats of a record
    double share_lower           # 1 / sqrt(cells of a sample)
    double share_both


cdef class CellWeights:
    cdef readonly Py_ssize_t n_cells
    cdef Layout layout
    cdef float *values
    cdef Journal journal

    cdef inline float *record(self, Py_ssize_t cell) noexcept nogil:
        return self.values + cell * self.layout.length

    cdef void sum_up(self, const Cells *cells, double *sums) noexcept nogil
    cdef Status touch(self, const Cells *cells) noexcept nogil
    cdef void step(self, const Cells *cells, Py_ssize_t e, const double *coefficients,
                   double contraction) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void forget_copies(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef int inherit(self, CellWeights before, const int32_t[::1] origin) except -1


cdef inline Py_ssize_t place_of(const Layout *layout, Py_ssize_t e) noexcept nogil:
    """Where the numbers of expert e begin in a record."""
    return e * (1 + layout.n_outputs)
