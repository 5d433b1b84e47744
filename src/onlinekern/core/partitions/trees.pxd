# Forests of binary trees in flat arrays. May change at minor versions.
from libc.stdint cimport int32_t, uint16_t

from onlinekern.core.samples.rows cimport Rows


# A row goes left where its value is at most the cut. The right child lies behind the left one. A
# leaf has an infinite cut, and is its own left child: a walk may go on at it.
cdef struct Node:
    float cut
    uint16_t feature
    uint16_t left


# Values are cast to float32: these are the samples in units of their spread, and cut off here.
cdef enum:
    MOST_NODES = 65535       # of a tree, as children have 16 bits
    MOST_COLUMNS = 65535     # of a row that is walked
    N_DIRECTIONS = 8         # directions beside the axes: so many floats are added up together
    UPPER_LEVEL = 4          # depth of the nodes that are cells beside the leaves


cdef class Scale:
    cdef readonly Py_ssize_t d, n_directions
    cdef double *center          # d
    cdef double *factor          # d, 0 where a feature is constant
    cdef float *zero             # d, a sample of zeros
    cdef float *directions       # d x N_DIRECTIONS, of scaled samples; NULL without

    cdef inline Py_ssize_t width(self) noexcept nogil:
        """Numbers of a scaled row: the features, then the directions."""
        return self.d + self.n_directions

    cdef void load(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil


cdef class Forest:
    cdef readonly Py_ssize_t n_trees, n_nodes
    cdef readonly Scale scale
    cdef Node *nodes
    cdef int32_t *first          # n_trees + 1: where the nodes of each tree begin
    cdef Py_ssize_t capacity     # nodes that there is memory for

    cdef Node *room_for(self, Py_ssize_t more) except NULL
    cdef void walk_row(self, const float *z, int32_t *leaves, int32_t *upper) noexcept nogil
    cdef void walk_rows(self, const float *z, Py_ssize_t n, int32_t *leaves,
                        int32_t *upper) noexcept nogil


cdef void walk_tree(const Node *tree, int32_t first, const float *z, Py_ssize_t width, Py_ssize_t n,
                    int32_t *leaves, int32_t *upper, Py_ssize_t stride) noexcept nogil
