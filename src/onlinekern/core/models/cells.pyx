"""ForestCells: weights and variances of the cells of all trees.

Each expert has a variance and one weight per output in every cell. All numbers of a cell form one
record, so a sample causes one cache miss per cell for all experts. The cells of one tree form a
block (`CellWeights`), so that a single tree can be replaced.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport aligned_room
from onlinekern.core.partitions.loops cimport forest_loops, ok_prefetch


cdef class CellWeights:
    """Records of the cells of one tree: weights 0 and the initial variances at first.

    One more record of zeros follows the last cell. Rows without a cell read it; it never changes.

    Parameters
    ----------
    n_cells : int
        Without the record of zeros.
    variances : ndarray of shape (n_experts,), float32
        Initial variances. An expert that does not see the tree has 0: its weights there stay 0.
    n_outputs : int
    is_begun : bool, default=True
        Whether to write the initial records. If False, the caller writes them, or calls `begin`.
    """

    def __cinit__(self, Py_ssize_t n_cells, const float[::1] variances, Py_ssize_t n_outputs,
                  bint is_begun=True):
        self.n_cells, self.n_experts, self.n_outputs = n_cells, variances.shape[0], n_outputs
        self.variances, self.n_weights = variances, self.n_experts * n_outputs
        self.length = (self.n_weights + self.n_experts + LANES - 1) // LANES * LANES
        size = <object> (n_cells + 1) * self.length * sizeof(float)
        self.journal = Journal(self.length * sizeof(float))
        self.values = <float *> aligned_room(size)
        if self.values == NULL:
            raise MemoryError(f"no memory for the weights of {n_cells} cells: they take "
                              f"{size / 1e9:.3g} gigabytes")
        memset(self.record(n_cells), 0, self.length * sizeof(float))
        if is_begun:
            self.begin(0, n_cells)
        self.forget_copies()

    def __dealloc__(self):
        free(self.values)

    cdef void begin(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Write the initial records of the cells `first` to `last - 1`."""
        cdef Py_ssize_t cell, e
        memset(self.record(first), 0, (last - first) * self.length * sizeof(float))
        for cell in range(first, last):
            for e in range(self.n_experts):
                self.record(cell)[self.n_weights + e] = self.variances[e]

    cdef void checkpoint(self) noexcept nogil:
        self.journal.begin(self.n_cells)

    cdef void forget_copies(self) noexcept nogil:
        """Keep no copies for undo until the next checkpoint.

        New cells need none: a rollback returns to the cells before them, which are other objects.
        """
        self.journal.begin(0)

    cdef void rollback(self) noexcept nogil:
        self.journal.restore(self.values, self.length * sizeof(float))

    def to_array(self):
        """Variance, then weights: ndarray (n_cells, n_experts, 1 + n_outputs), float32."""
        cdef Py_ssize_t cell, e, k
        out = np.empty((self.n_cells, self.n_experts, 1 + self.n_outputs), dtype=np.float32)
        cdef float[:, :, ::1] view = out
        for cell in range(self.n_cells):
            for e in range(self.n_experts):
                view[cell, e, 0] = self.record(cell)[self.n_weights + e]
                for k in range(self.n_outputs):
                    view[cell, e, 1 + k] = self.record(cell)[e * self.n_outputs + k]
        return out

    def set_array(self, array):
        """Overwrite all records with an array of `to_array`.

        Raises
        ------
        TypeError, ValueError
            If the array has another shape or type, a number that is not finite, or a variance < 0.
        """
        cdef Py_ssize_t cell, e, k
        shape = self.n_cells, self.n_experts, 1 + self.n_outputs
        if not isinstance(array, np.ndarray) or array.dtype != np.float32:
            raise TypeError("cells must be an ndarray of float32")
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"cells must be finite and of shape {shape}, got {array.shape}")
        if (array[:, :, 0] < 0).any():
            raise ValueError("variances of cells must be >= 0")
        cdef const float[:, :, ::1] view = np.ascontiguousarray(array)
        for cell in range(self.n_cells):
            for e in range(self.n_experts):
                self.record(cell)[self.n_weights + e] = view[cell, e, 0]
                for k in range(self.n_outputs):
                    self.record(cell)[e * self.n_outputs + k] = view[cell, e, 1 + k]


cdef class ForestCells:
    """Blocks of cells, one per tree.

    Parameters
    ----------
    blocks : list of CellWeights
        All for the same experts and outputs.
    none : int
        Cell number of a row that has no cell in a tree; -1 if every row has one.
    """

    def __cinit__(self, list blocks not None, int32_t none):
        cdef Py_ssize_t t
        cdef CellWeights first = blocks[0]
        self.n_trees, self.blocks, self.none = len(blocks), list(blocks), none
        self.n_experts, self.n_outputs = first.n_experts, first.n_outputs
        self.n_weights, self.length = first.n_weights, first.length
        self.loops = forest_loops()
        self.values = <float **> calloc(self.n_trees, sizeof(float *))
        self.owners = <PyObject **> calloc(self.n_trees, sizeof(PyObject *))
        self.journals = <PyObject **> calloc(self.n_trees, sizeof(PyObject *))
        self.factors = <float *> calloc(self.n_weights + self.n_experts, sizeof(float))
        if self.values == NULL or self.owners == NULL or self.journals == NULL \
                or self.factors == NULL:
            raise MemoryError(f"no memory for the cells of {self.n_trees} trees")
        for t in range(self.n_trees):
            self.put(t, blocks[t])

    def __dealloc__(self):
        free(self.values)
        free(self.owners)
        free(self.journals)
        free(self.factors)

    cdef void put(self, Py_ssize_t t, CellWeights block):
        """Replace the block of tree t."""
        self.blocks[t] = block
        self.values[t], self.owners[t] = block.values, <PyObject *> block
        self.journals[t] = <PyObject *> block.journal

    def copy(self):
        """A shallow copy: it shares the blocks, which either may replace by others."""
        return ForestCells(self.blocks, self.none)

    cdef void add(self, const int32_t *cells, double *sums) noexcept nogil:
        """Write the sum of n_trees records, one cell of each tree, to `sums` (`length` numbers)."""
        self.loops.add_records(self.values, cells, self.n_trees, self.length, sums)

    cdef void prefetch(self, const int32_t *cells) noexcept nogil:
        """Prefetch n_trees records, one cell of each tree."""
        cdef Py_ssize_t t, first
        cdef const float *numbers
        for t in range(self.n_trees):
            numbers = self.record(t, cells[t])
            for first in range(0, self.length, 16):
                ok_prefetch(numbers + first)

    cdef Status touch(self, const int32_t *cells) noexcept nogil:
        """Copy one record of each tree for undo, before it changes. Returns a status."""
        cdef Py_ssize_t t
        # The stamps that say whether a record has been copied are cache misses as a rule.
        for t in range(self.n_trees):
            ok_prefetch((<Journal> self.journals[t]).stamps + cells[t])
        for t in range(self.n_trees):
            if (<Journal> self.journals[t]).wants(cells[t]) \
                    and (<Journal> self.journals[t]).keep(cells[t], self.record(t, cells[t])) < 0:
                return NO_MEMORY
        return OK

    cdef void step(self, const int32_t *cells, const double *coefficients,
                   const double *contractions) noexcept nogil:
        """Update one cell of each tree: w_k += a_k S and S -= b S^2 for each expert.

        `coefficients` holds a_k, n_experts x n_outputs; `contractions` holds b, n_experts. An
        expert with b < 0 takes no step.
        """
        cdef Py_ssize_t e, k, K = self.n_outputs
        cdef float *reductions = self.factors + self.n_weights
        for e in range(self.n_experts):
            reductions[e] = <float> contractions[e] if contractions[e] >= 0 else 0
            for k in range(e * K, (e + 1) * K):
                self.factors[k] = <float> coefficients[k] if contractions[e] >= 0 else 0
        self.loops.step_records(self.values, cells, self.n_trees, self.length, self.none,
                                self.n_experts, K, self.factors, reductions)

    cdef void checkpoint(self) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(self.n_trees):
            (<CellWeights> self.owners[t]).checkpoint()

    cdef void rollback(self) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(self.n_trees):
            (<CellWeights> self.owners[t]).rollback()

    def to_array(self):
        """Arrays of the blocks in one: ndarray (n_cells, n_experts, 1 + n_outputs), float32."""
        return np.concatenate([block.to_array() for block in self.blocks])

    def set_array(self, array):
        """Overwrite all blocks with an array of `to_array`."""
        cdef CellWeights block
        cdef Py_ssize_t first = 0
        for block in self.blocks:
            block.set_array(array[first:first + block.n_cells])
            first += block.n_cells
