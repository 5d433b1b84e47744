# Weights for the new leaves of a tree whose leaves are split. May change at minor versions.
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.models.cell_experts cimport CellExperts, Generation
from onlinekern.core.models.cells cimport CellWeights
from onlinekern.core.partitions.trees cimport UPPER_CELLS, Tree


cdef class Inheritance:
    cdef int64_t begun                     # samples learnt when the copying of this tree began
    cdef CellExperts experts
    cdef Tree before, after                # the tree before and after its leaves were split
    cdef CellWeights old, fresh            # records of their leaves
    cdef Py_ssize_t place                  # index of the tree in its forest
    cdef Py_ssize_t n_lower                # weights of the experts that see the leaves only
    cdef Py_ssize_t n_done                 # nodes of `after` that are processed
    cdef Py_ssize_t room                   # capacity of each of the two arrays below
    cdef int32_t *origin                   # node of `before` that each node of `after` lies in
    cdef int32_t *paths                    # path to each node of `after`, see `UPPER_CELLS`
    cdef int32_t cut[UPPER_CELLS]          # new upper cells: nodes that lie in a leaf of `before`
    cdef Py_ssize_t n_cut                  # how many these are

    cdef int begin(self, Generation now, Py_ssize_t place, Tree after, int64_t entered) except -1
    cdef bint go_on(self, Py_ssize_t n) noexcept nogil
    cdef void copy_leaf(self, Py_ssize_t node) noexcept nogil
    cdef void copy_subtree(self, Py_ssize_t node) noexcept nogil
    cdef void update(self, const float *row) noexcept nogil
    cdef int put(self, Generation now) except -1
