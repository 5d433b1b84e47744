# Learners on the cells of a forest. May change at minor versions.
from libc.stdint cimport int32_t, uint8_t, uint16_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.combination cimport Combination
from onlinekern.core.learning.held_targets cimport HeldTargets
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cells cimport CellWeights, ForestCells
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows


# The cells of a sample in each tree: its leaf, and the node above it that is a cell too.
cdef struct Cells:
    const int32_t *leaves
    const int32_t *upper


# What changes when a forest is renewed.
cdef class Generation:
    cdef readonly Forest forest
    cdef readonly ForestCells leaves
    cdef readonly ForestCells upper              # of the experts that see the upper cells, or None
    cdef readonly object metric, importances     # ndarrays of shape (d,)
    cdef double[::1] offset, unit                # of the targets of a regression, (n_outputs,)

    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


# Parts of forests that are freed a few at a time: at once it takes longer than a sample may.
cdef class Leaving:
    cdef list parts
    cdef Py_ssize_t n

    cdef void take(self, Generation before, list replaced) noexcept
    cdef void free_some(self, Py_ssize_t n_samples) noexcept nogil


# Room for the scaled rows of a block, and for their cells.
cdef class Walked:
    cdef float *rows
    cdef int32_t *leaves
    cdef int32_t *upper
    cdef double *sums                # of the records of the leaves, then of the upper cells
    cdef double *variances           # n_experts
    cdef double *scored              # n_experts x n_outputs
    cdef Py_ssize_t capacity
    cdef Py_ssize_t n                # rows that were walked last
    cdef Py_ssize_t n_trees
    cdef Py_ssize_t width

    cdef void walk(self, Forest forest, const Rows *rows, const Py_ssize_t *order,
                   Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef void walk_tree(self, Forest forest, Py_ssize_t t, Py_ssize_t first) noexcept nogil
    cdef void take(self, const uint16_t *leaves, const uint8_t *upper, Py_ssize_t stride,
                   Py_ssize_t n) noexcept nogil
    cdef Cells cells(self, Py_ssize_t i) noexcept nogil


# Rows that are walked together, tree by tree: the nodes of a tree come into the nearest cache once
# for all of them. Of many features they are fewer, though as many as other spaces take together:
# a call that tells of so many rows may have many more.
cdef enum:
    MOST_TOGETHER = 256
    FEWEST_TOGETHER = 64
    NUMBERS_TOGETHER = 1 << 18


cdef inline Py_ssize_t rows_together(Py_ssize_t width) noexcept nogil:
    """How many rows of so many columns are walked together."""
    return max(<Py_ssize_t> FEWEST_TOGETHER,
               min(<Py_ssize_t> MOST_TOGETHER, NUMBERS_TOGETHER // width))


cdef class CellExperts:
    cdef readonly Py_ssize_t n_experts, n_outputs, n_labels
    cdef readonly Rule rule
    cdef double *noises              # r of each expert
    cdef readonly Combination combination
    cdef readonly HeldTargets held   # of numbers
    cdef Py_ssize_t n_lower          # the first experts see the leaves only, the others both
    cdef double *shares              # 1 / sqrt(number of cells of a sample that an expert sees)
    cdef const Py_ssize_t[::1] n_seen    # how many of the first trees it sees
    # What cells begin with: of other trees and of exact ones, by how many experts do not see a
    # tree, of its leaves and of its upper cells.
    cdef list first_variances
    cdef double *missed              # errors of the experts in an output
    # Of the sample that is learnt: what a variance falls by; coefficients of experts and outputs.
    cdef double *falls
    cdef double *steps

    cdef bint sees_both(self) noexcept nogil
    cdef Py_ssize_t n_blind(self, Py_ssize_t t) noexcept nogil
    cdef CellWeights new_leaves(self, Py_ssize_t t, Py_ssize_t n_leaves, bint is_begun=*,
                                bint is_exact=*)
    cdef CellWeights new_upper(self, Py_ssize_t t, bint is_exact=*)
    cdef void copy_both(self, const float *leaf, float *upper) noexcept nogil
    cdef void fetch(self, Generation now, Walked walked, Py_ssize_t i, bint begins,
                    Py_ssize_t end) noexcept nogil
    cdef void score(self, Generation now, const Cells *cells, Walked walked) noexcept nogil
    cdef void predict(self, Generation now, Walked walked, Py_ssize_t i, double *out) noexcept nogil
    cdef void mix(self, Generation now, const double *scored, double *out) noexcept nogil
    cdef double target(self, Generation now, Py_ssize_t k, const double *y) noexcept nogil
    cdef Status learn(self, Generation now, const Cells *cells, Walked walked, const double *y,
                      double weight, bint is_undone) noexcept nogil
    cdef double solve(self, Generation now, Py_ssize_t e, const double *scored, double variance,
                      const double *y, double importance) noexcept nogil
    cdef void hold(self, Generation now, const double *scored, double *y) noexcept nogil
    cdef void combine(self, Generation now, const double *scored, const double *y,
                      double weight) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
