# Cells of a tree whose leaves are cut further. May change at minor versions.
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.models.cell_experts cimport CellExperts, Generation
from onlinekern.core.models.cells cimport CellWeights
from onlinekern.core.partitions.trees cimport UPPER_CELLS, Tree


cdef class Inheritance:
    cdef int64_t begun                     # samples that the cells had learnt when it began
    cdef CellExperts experts
    cdef Tree before, after
    cdef CellWeights old, fresh
    cdef Py_ssize_t place                  # of the tree in its forest
    cdef Py_ssize_t n_lower                # weights of the experts that see the leaves only
    cdef Py_ssize_t n_done                 # nodes whose cells are there
    cdef Py_ssize_t room
    cdef int32_t *origin                   # of each node: the one of before that it is part of,
    cdef int32_t *paths                    # and where it is
    cdef int32_t cut[UPPER_CELLS]          # nodes that are upper cells now, within a leaf of before
    cdef Py_ssize_t n_cut

    cdef int begin(self, Generation now, Py_ssize_t place, Tree after, int64_t entered) except -1
    cdef bint go_on(self, Py_ssize_t n) noexcept nogil
    cdef void give(self, Py_ssize_t node) noexcept nogil
    cdef void give_again(self, Py_ssize_t node) noexcept nogil
    cdef void update(self, const float *row) noexcept nogil
    cdef int put(self, Generation now) except -1
