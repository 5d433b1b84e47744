# Linear learners on the cells of a forest. May change at minor versions.
from libc.stdint cimport int32_t, uint8_t, uint16_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.learning.combination cimport Combination
from onlinekern.core.learning.held_targets cimport HeldTargets
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.models.cells cimport CellWeights, ForestCells
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows


# Cells of a sample, one per tree: numbers of its leaves, and of its upper cells (`UPPER_CELLS`).
cdef struct Cells:
    const int32_t *leaves
    const int32_t *upper


# A forest and its weights: all that a renewal replaces.
cdef class Generation:
    cdef readonly Forest forest
    cdef readonly ForestCells leaves
    cdef readonly ForestCells upper              # None if no expert sees the upper cells
    cdef readonly object metric, importances     # ndarrays of shape (d,)
    cdef double[::1] offset, unit                # centre and scale of the targets, (n_outputs,)
    cdef double exact_times                      # measured over planned time of exact trees

    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


# Replaced trees and cells, freed a few per sample: freeing a forest at once stalls one sample.
cdef class Discarded:
    cdef list parts
    cdef Py_ssize_t n                # length of `parts`

    cdef void take(self, Generation before, list replaced) noexcept
    cdef void free_some(self, Py_ssize_t n_samples) noexcept nogil


# Buffers for the scaled rows of a block, their cells, and the scores of one of them.
cdef class Walked:
    cdef float *rows                 # capacity x width
    cdef int32_t *leaves             # capacity x n_trees
    cdef int32_t *upper              # capacity x n_trees
    cdef double *sums                # sum of the records of the leaves, then of the upper cells
    cdef double *variances           # variance of each expert's score, n_experts
    cdef double *scored              # scores, n_experts x n_outputs
    cdef Py_ssize_t capacity
    cdef Py_ssize_t n                # rows of the last `walk`
    cdef Py_ssize_t n_trees
    cdef Py_ssize_t width            # columns of a scaled row

    cdef void walk(self, Forest forest, const Rows *rows, const Py_ssize_t *order,
                   Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef void walk_tree(self, Forest forest, Py_ssize_t t, Py_ssize_t first) noexcept nogil
    cdef void take(self, const uint16_t *leaves, const uint8_t *upper, Py_ssize_t stride,
                   Py_ssize_t n) noexcept nogil
    cdef Cells cells(self, Py_ssize_t i) noexcept nogil


# A block of rows is walked tree by tree, so the nodes of a tree are loaded into the nearest cache
# once per block. With many features a block has fewer rows, to bound its memory, but at least 64,
# as in other spaces. A caller that announces 64 rows may have many more (`reserve_block`).
cdef enum:
    MOST_TOGETHER = 256
    FEWEST_TOGETHER = 64
    NUMBERS_TOGETHER = 1 << 18       # rows times columns, at most


cdef inline Py_ssize_t rows_together(Py_ssize_t width) noexcept nogil:
    """Rows of a block whose rows have `width` columns."""
    return max(<Py_ssize_t> FEWEST_TOGETHER,
               min(<Py_ssize_t> MOST_TOGETHER, NUMBERS_TOGETHER // width))


cdef class CellExperts:
    cdef readonly Py_ssize_t n_experts, n_outputs, n_labels
    cdef readonly Rule rule
    cdef double *noises              # noise r of each expert
    cdef readonly Combination combination
    cdef readonly HeldTargets held   # clips targets that are outliers; regression only
    cdef Py_ssize_t n_lower          # the first n_lower experts see leaves only, the others both
    cdef double *shares              # 1 / sqrt(cells of a sample that the expert sees)
    cdef const Py_ssize_t[::1] n_seen    # each expert sees this many of the first trees
    # [is_exact][experts that do not see the tree]: initial variances of leaves, and of upper cells.
    cdef list initial_variances
    cdef double *errors              # errors of the experts on one output
    # Step on the sample that is learnt:
    cdef double *contractions        # b of `ForestCells.step`, n_experts
    cdef double *steps               # coefficients a, n_experts x n_outputs

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
