# Forests of binary trees in flat arrays. May change at minor versions.
from libc.stdint cimport int32_t, uint16_t, uint32_t
from libc.string cimport memcpy

from onlinekern.core.partitions.scale cimport Scale


# A row goes left if its value is at most `cut` (the threshold). The right child follows the left
# one. A leaf is its own left child and its cut is NaN, so a walk that goes on stays there. The low
# bits of that NaN hold the number of the leaf in its tree.
cdef struct Node:
    float cut
    uint16_t feature
    uint16_t left


cdef enum:
    MOST_NODES = 65535       # most nodes of a tree: numbers of children have 16 bits
    UPPER_LEVEL = 4          # depth of the upper cells: nodes that are cells beside the leaves
    UPPER_CELLS = 16         # upper cells of a tree; as a cell number: no upper cell
    # The path to a node is the bit 1, then a bit for each step (1: right) down to `UPPER_LEVEL`. It
    # is less than UPPER_CELLS above that level, and UPPER_CELLS + the number of the cell there.
    # Nodes further down have the path of their upper cell, with this bit set:
    BELOW = 32


# ABREAST walks are interleaved: their trees, rows and present nodes.
cdef enum:
    ABREAST = 8

cdef struct Walks:
    const Node *tree[ABREAST]
    const float *row[ABREAST]
    unsigned int at[ABREAST]
    unsigned int above[ABREAST]      # node at `UPPER_LEVEL`
    unsigned int turns[ABREAST]      # path to that node


cdef class Tree:
    cdef readonly Py_ssize_t n_nodes, n_leaves
    cdef Node *nodes


cdef class Forest:
    cdef readonly Py_ssize_t n_trees
    cdef readonly Scale scale
    cdef readonly list trees
    cdef const Node **roots
    cdef Py_ssize_t *sizes       # nodes of each tree

    cdef void put(self, Py_ssize_t t, Tree tree)
    cdef void walk_row(self, const float *z, int32_t *leaves, int32_t *upper) noexcept nogil
    cdef void walk_tree(self, Py_ssize_t t, const float *z, Py_ssize_t n, int32_t *leaves,
                        int32_t *upper, Py_ssize_t following) noexcept nogil
    cdef void walk_rows(self, const float *z, Py_ssize_t n, int32_t *leaves,
                        int32_t *upper) noexcept nogil


cdef inline bint is_leaf(const Node *tree, Py_ssize_t node) noexcept nogil:
    return tree[node].left == node


cdef inline unsigned int step_down(const Node *tree, unsigned int at,
                                   const float *z) noexcept nogil:
    """The child of a node that a row goes to; a leaf is its own child."""
    return tree[at].left + (z[tree[at].feature] > tree[at].cut)


cdef inline int32_t number_of(const Node *leaf) noexcept nogil:
    """The number of a leaf in its tree, from the bits of its cut."""
    cdef uint32_t bits
    memcpy(&bits, &leaf.cut, sizeof(float))
    return <int32_t> (bits & <uint32_t> 0x003fffff)


cdef void make_leaf(Node *tree, Py_ssize_t node) noexcept nogil
cdef Py_ssize_t number_leaves(Node *tree, Py_ssize_t first, Py_ssize_t last,
                              Py_ssize_t before) noexcept nogil
cdef void find_paths(const Node *tree, Py_ssize_t first, Py_ssize_t last,
                     int32_t *paths) noexcept nogil
cdef Tree tree_of(Node *nodes, Py_ssize_t n_nodes, Py_ssize_t n_leaves)
