"""CellWeights: linear functions of the cells of a sample, with a variance for each cell.

A cell is a feature that is s in the samples it holds and 0 in others, with s = 1 / sqrt(number of
cells of a sample). Several experts learn on one walk: each has a weight an output, and a variance,
in every cell. All numbers of a cell lie together, so that a sample fetches each cell once.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport aligned_resize


cdef class CellWeights:
    """Weights 0 and variances 1.

    Parameters
    ----------
    n_cells : int
    n_trees : int
        So many leaves a sample has.
    n_lower, n_both : int
        Experts that see the leaves, and that see the upper cells too.
    n_outputs : int
    """

    def __cinit__(self, Py_ssize_t n_cells, Py_ssize_t n_trees, Py_ssize_t n_lower,
                  Py_ssize_t n_both, Py_ssize_t n_outputs):
        cdef Py_ssize_t cell, e
        cdef Layout *layout = &self.layout
        layout.n_experts, layout.n_lower = n_lower + n_both, n_lower
        layout.n_outputs = n_outputs
        layout.length = place_of(layout, layout.n_experts)
        layout.share_lower, layout.share_both = 1 / sqrt(n_trees), 1 / sqrt(2.0 * n_trees)
        self.n_cells = n_cells
        size = <object> n_cells * layout.length * sizeof(float)
        self.journal = Journal(layout.length * sizeof(float))
        self.values = <float *> aligned_resize(NULL, 0, size)
        if self.values == NULL:
            raise MemoryError(f"no memory for the weights of {n_cells} cells: they take "
                              f"{size / 1e9:.3g} gigabytes")
        memset(self.values, 0, size)
        for cell in range(n_cells):
            for e in range(layout.n_experts):
                self.record(cell)[place_of(layout, e)] = 1
        self.forget_copies()

    def __dealloc__(self):
        free(self.values)

    cdef void sum_up(self, const Cells *cells, double *sums) noexcept nogil:
        """Sums of the records of the leaves, then of the upper cells: 2 * length numbers.

        A leaf that is its own upper cell counts once.
        """
        cdef Py_ssize_t t, j, length = self.layout.length
        cdef bint both = self.layout.n_lower < self.layout.n_experts
        cdef const float *record
        memset(sums, 0, 2 * length * sizeof(double))
        for t in range(cells.n_trees):
            record = self.record(cells.leaves[t])
            for j in range(length):
                sums[j] += record[j]
            if both and cells.upper[t] != cells.leaves[t]:
                record = self.record(cells.upper[t])
                for j in range(length):
                    sums[length + j] += record[j]

    cdef Status touch(self, const Cells *cells) noexcept nogil:
        """Keep a copy of the records of a sample, before they change. Returns a status."""
        cdef Py_ssize_t t
        cdef bint both = self.layout.n_lower < self.layout.n_experts
        for t in range(cells.n_trees):
            if self.journal.keep(cells.leaves[t], self.record(cells.leaves[t])) < 0 \
                    or (both and self.journal.keep(cells.upper[t],
                                                   self.record(cells.upper[t])) < 0):
                return NO_MEMORY
        return OK

    cdef void step(self, const Cells *cells, Py_ssize_t e, const double *coefficients,
                   double contraction) noexcept nogil:
        """w_k += s a_k S and S -= b (s S)^2 in the cells of a sample, of expert e."""
        cdef Py_ssize_t t
        cdef bint both = e >= self.layout.n_lower
        cdef double share = self.layout.share_both if both else self.layout.share_lower
        cdef double fall = contraction * share * share
        for t in range(cells.n_trees):
            step_cell(self.record(cells.leaves[t]) + place_of(&self.layout, e), coefficients,
                      self.layout.n_outputs, share, fall)
            if both and cells.upper[t] != cells.leaves[t]:
                step_cell(self.record(cells.upper[t]) + place_of(&self.layout, e), coefficients,
                          self.layout.n_outputs, share, fall)

    cdef void checkpoint(self) noexcept nogil:
        self.journal.begin(self.n_cells)

    cdef void forget_copies(self) noexcept nogil:
        """Cells that are new need no copies: whoever takes them back goes on with others."""
        self.journal.begin(0)

    cdef void rollback(self) noexcept nogil:
        self.journal.restore(self.values, self.layout.length * sizeof(float))

    cdef int inherit(self, CellWeights before, const int32_t[::1] origin) except -1:
        """Begin each cell with the numbers of a cell of a forest that has grown since."""
        cdef Py_ssize_t cell
        for cell in range(self.n_cells):
            memcpy(self.record(cell), before.record(origin[cell]),
                   self.layout.length * sizeof(float))
        return 0

    def to_array(self):
        """All numbers, ndarray of shape (n_cells, n_experts, 1 + n_outputs), float32."""
        out = np.empty((self.n_cells, self.layout.n_experts, 1 + self.layout.n_outputs),
                       dtype=np.float32)
        cdef float[::1] view = out.reshape(-1)
        memcpy(&view[0], self.values, out.nbytes)
        return out

    def set_array(self, array):
        """Overwrite them with what `to_array` gave.

        Raises
        ------
        TypeError, ValueError
            When the array is of another shape or type, or its numbers are not finite.
        """
        shape = self.n_cells, self.layout.n_experts, 1 + self.layout.n_outputs
        if not isinstance(array, np.ndarray) or array.dtype != np.float32:
            raise TypeError("cells must be an ndarray of float32")
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"cells must be finite and of shape {shape}, got {array.shape}")
        if (array[:, :, 0] < 0).any():
            raise ValueError("variances of cells must be >= 0")
        cdef const float[::1] view = np.ascontiguousarray(array).reshape(-1)
        memcpy(self.values, &view[0], array.nbytes)


cdef inline void step_cell(float *numbers, const double *coefficients, Py_ssize_t n_outputs,
                           double share, double fall) noexcept nogil:
    cdef Py_ssize_t k
    cdef double variance = numbers[0]
    for k in range(n_outputs):
        numbers[1 + k] += <float> (share * coefficients[k] * variance)
    numbers[0] = <float> (variance - fall * variance * variance)
