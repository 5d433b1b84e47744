"""Forest: binary trees in flat arrays, and the walk of a row to a leaf of each tree.

Most of the time of a sample goes into the walks: each step waits until a node and a value of the
row are loaded. So eight walks are interleaved. For a single row these are walks down eight trees.
For a block they are walks of eight rows down one tree, whose nodes then stay in the nearest cache.
Both find the same leaves.

Rows are in the units of a `Scale`.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.vector cimport aligned_room
from onlinekern.core.partitions.loops cimport ok_prefetch
from onlinekern.core.partitions.scale cimport MOST_COLUMNS, Scale

# Nodes in a cache line.
cdef enum: OF_LINE = 8
# The bits of a NaN; a leaf has its number in the low bits.
cdef uint32_t LEAF = 0x7fc00000


cdef void make_leaf(Node *tree, Py_ssize_t node) noexcept nogil:
    """Make a node a leaf; `number_leaves` numbers it later."""
    memcpy(&tree[node].cut, &LEAF, sizeof(float))
    tree[node].feature, tree[node].left = 0, <uint16_t> node


cdef Py_ssize_t number_leaves(Node *tree, Py_ssize_t first, Py_ssize_t last,
                              Py_ssize_t before) noexcept nogil:
    """Number the leaves among nodes first ... last - 1, from `before` on. Returns the next number.
    """
    cdef Py_ssize_t i
    cdef uint32_t bits, own, leaf, number = <uint32_t> before
    for i in range(first, last):
        # Without a branch, because it would be mispredicted.
        memcpy(&own, &tree[i].cut, sizeof(float))
        leaf = is_leaf(tree, i)
        bits = own ^ ((own ^ (LEAF | number)) & (0 - leaf))
        memcpy(&tree[i].cut, &bits, sizeof(float))
        number += leaf
    return number


cdef void find_paths(const Node *tree, Py_ssize_t first, Py_ssize_t last,
                     int32_t *paths) noexcept nogil:
    """Write the paths to the root and to the children of nodes first ... last - 1 (see `BELOW`)."""
    cdef Py_ssize_t i, child
    paths[0] = 1
    for i in range(first, last):
        if is_leaf(tree, i):
            continue
        # Parents come before their children.
        for child in range(2):
            if paths[i] < UPPER_CELLS:
                paths[tree[i].left + child] = 2 * paths[i] + <int32_t> child
            else:
                paths[tree[i].left + child] = paths[i] | BELOW


cdef inline void walk_together(Walks *walks) noexcept nogil:
    """Walk all rows down to their leaves; note the nodes at `UPPER_LEVEL` on the way."""
    cdef int k, _depth
    cdef unsigned int next, changed = 1
    for k in range(ABREAST):
        walks.at[k], walks.turns[k] = 0, 1
    for _depth in range(UPPER_LEVEL):
        for k in range(ABREAST):
            next = step_down(walks.tree[k], walks.at[k], walks.row[k])
            walks.turns[k] = 2 * walks.turns[k] + next - walks.tree[k][walks.at[k]].left
            walks.at[k] = next
    for k in range(ABREAST):
        walks.above[k] = walks.at[k]
    while changed:
        changed = 0
        for k in range(ABREAST):
            next = step_down(walks.tree[k], walks.at[k], walks.row[k])
            changed |= next ^ walks.at[k]
            walks.at[k] = next


cdef class Tree:
    """A binary tree in a flat array; a single leaf at first. A numbered tree does not change.

    Parameters
    ----------
    capacity : int
        Most nodes.
    """

    def __cinit__(self, Py_ssize_t capacity):
        self.nodes = <Node *> aligned_room(capacity * sizeof(Node))
        if self.nodes == NULL:
            raise MemoryError(f"no memory for a tree of {capacity} nodes")
        self.n_nodes = 1
        make_leaf(self.nodes, 0)
        self.n_leaves = number_leaves(self.nodes, 0, 1, 0)

    def __dealloc__(self):
        free(self.nodes)


cdef Tree tree_of(Node *nodes, Py_ssize_t n_nodes, Py_ssize_t n_leaves):
    """A tree that takes over an array of nodes, whose leaves are numbered, and frees it."""
    cdef Tree tree = Tree(1)
    free(tree.nodes)
    tree.nodes, tree.n_nodes, tree.n_leaves = nodes, n_nodes, n_leaves
    return tree


cdef class Forest:
    """Trees over rows of one scale.

    Parameters
    ----------
    scale : Scale
    trees : list of Tree
    """

    def __cinit__(self, Scale scale not None, list trees not None):
        cdef Py_ssize_t t
        if not trees:
            raise ValueError("a forest must have a tree")
        if scale.width() > MOST_COLUMNS:
            raise ValueError(f"trees cut rows of at most {MOST_COLUMNS} columns, got "
                             f"{scale.width()} of {scale.d} features")
        self.n_trees, self.scale, self.trees = len(trees), scale, list(trees)
        self.roots = <const Node **> calloc(self.n_trees, sizeof(Node *))
        self.sizes = <Py_ssize_t *> calloc(self.n_trees, sizeof(Py_ssize_t))
        if self.roots == NULL or self.sizes == NULL:
            raise MemoryError(f"no memory for {self.n_trees} trees")
        for t in range(self.n_trees):
            self.put(t, <Tree?> trees[t])

    def __dealloc__(self):
        free(self.roots)
        free(self.sizes)

    @staticmethod
    def stumps(Py_ssize_t n_trees, Scale scale not None):
        """A forest whose trees are single leaves."""
        return Forest(scale, [Tree(1) for _ in range(n_trees)])

    @staticmethod
    def of_arrays(cuts, features, left, first, Scale scale not None):
        """The forest with the arrays that `arrays` returns.

        Raises
        ------
        TypeError, ValueError
            If the arrays are not those of a forest.
        """
        check_nodes(cuts, features, left, first, scale.width())
        cdef Py_ssize_t i, begin, end
        cdef const float[::1] a = np.ascontiguousarray(cuts)
        cdef const int32_t[::1] b = np.ascontiguousarray(features)
        cdef const int32_t[::1] c = np.ascontiguousarray(left)
        cdef Tree tree
        trees = []
        for begin, end in zip(first[:len(first) - 1].tolist(), first[1:].tolist()):
            tree = Tree(end - begin)
            for i in range(begin, end):
                tree.nodes[i - begin].cut = a[i]
                tree.nodes[i - begin].feature = <uint16_t> b[i]
                tree.nodes[i - begin].left = <uint16_t> c[i]
            tree.n_nodes = end - begin
            tree.n_leaves = number_leaves(tree.nodes, 0, tree.n_nodes, 0)
            trees.append(tree)
        return Forest(scale, trees)

    def copy(self):
        """A shallow copy: it shares the trees, which either may replace by others."""
        return Forest(self.scale, self.trees)

    cdef void put(self, Py_ssize_t t, Tree tree):
        """Replace tree t."""
        self.trees[t] = tree
        self.roots[t], self.sizes[t] = tree.nodes, tree.n_nodes

    @property
    def n_nodes(self):
        cdef Tree tree
        return sum([tree.n_nodes for tree in self.trees])

    @property
    def n_leaves(self):
        cdef Tree tree
        return sum([tree.n_leaves for tree in self.trees])

    cdef void walk_row(self, const float *z, int32_t *leaves, int32_t *upper) noexcept nogil:
        """Write the numbers of the leaf and of the upper cell of a scaled row in each tree.

        A leaf that is not below `UPPER_LEVEL` has no upper cell: its number is `UPPER_CELLS`.
        """
        cdef Py_ssize_t t = 0, last
        cdef int k
        cdef Walks walks
        while t < self.n_trees:
            last = min(self.n_trees - t, <Py_ssize_t> ABREAST)
            for k in range(ABREAST):
                # If fewer trees are left, the first of them is walked several times.
                walks.tree[k] = self.roots[t + (k if k < last else 0)]
                walks.row[k] = z
            walk_together(&walks)
            for k in range(last):
                note(&walks, k, leaves + t + k, upper + t + k)
            t += ABREAST

    cdef void walk_rows(self, const float *z, Py_ssize_t n, int32_t *leaves,
                        int32_t *upper) noexcept nogil:
        """Write the cells of n rows, as `walk_row`; both arrays are n x n_trees."""
        cdef Py_ssize_t t, i, width = self.scale.width()
        if n < ABREAST:
            for i in range(n):
                self.walk_row(z + i * width, leaves + i * self.n_trees, upper + i * self.n_trees)
            return
        for t in range(self.n_trees):
            self.walk_tree(t, z, n, leaves, upper, t + 1)

    cdef void walk_tree(self, Py_ssize_t t, const float *z, Py_ssize_t n, int32_t *leaves,
                        int32_t *upper, Py_ssize_t following) noexcept nogil:
        """Write the cells of n rows in tree t, as `walk_rows`; other trees' are left as they are.

        Meanwhile the nodes of tree `following` are prefetched, if there is such a tree.
        """
        cdef Py_ssize_t i = 0, last, width = self.scale.width(), fetched = 0, m, wanted
        cdef Py_ssize_t n_nodes = self.sizes[following] if following < self.n_trees else 0
        cdef const Node *nodes = self.roots[following] if following < self.n_trees else NULL
        m = (n_nodes * ABREAST // max(n, 1) // OF_LINE + 1) * OF_LINE
        cdef int k
        cdef Walks walks
        for k in range(ABREAST):
            walks.tree[k] = self.roots[t]
        while i < n:
            last = min(n - i, <Py_ssize_t> ABREAST)
            for k in range(ABREAST):
                walks.row[k] = z + (i + (k if k < last else 0)) * width
            walk_together(&walks)
            for k in range(last):
                note(&walks, k, leaves + (i + k) * self.n_trees + t,
                     upper + (i + k) * self.n_trees + t)
            i += ABREAST
            wanted = min(fetched + m, n_nodes)
            while fetched < wanted:
                ok_prefetch(nodes + fetched)
                fetched += OF_LINE

    def arrays(self):
        """Cuts, features and left children of all nodes, and the first node of each tree.

        Cuts are float32, infinite at leaves; the others are int32. Left children are numbered
        within their tree.
        """
        cdef Py_ssize_t i, n = self.n_nodes, at = 0, t = 0
        cdef Tree tree
        cuts = np.empty(n, dtype=np.float32)
        features, left = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        first = np.zeros(self.n_trees + 1, dtype=np.int32)
        cdef float[::1] a = cuts
        cdef int32_t[::1] b = features, c = left, d = first
        for tree in self.trees:
            for i in range(tree.n_nodes):
                a[at + i] = INFINITY if is_leaf(tree.nodes, i) else tree.nodes[i].cut
                b[at + i], c[at + i] = tree.nodes[i].feature, tree.nodes[i].left
            at += tree.n_nodes
            t += 1
            d[t] = <int32_t> at
        return cuts, features, left, first


cdef inline void note(const Walks *walks, int k, int32_t *leaf, int32_t *upper) noexcept nogil:
    """Write the leaf and the upper cell that walk k has found."""
    leaf[0] = number_of(walks.tree[k] + walks.at[k])
    upper[0] = <int32_t> (UPPER_CELLS if walks.at[k] == walks.above[k]
                          else walks.turns[k] - UPPER_CELLS)


def check_nodes(cuts, features, left, first, Py_ssize_t width):
    """Raise TypeError or ValueError unless the arrays are trees over rows of `width` numbers."""
    kinds = (("cuts", cuts, np.float32), ("features", features, np.int32),
             ("left", left, np.int32), ("first", first, np.int32))
    for name, array, dtype in kinds:
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise TypeError(f"{name} must be an ndarray of {np.dtype(dtype)} with one axis")
    n = len(cuts)
    sizes = np.diff(first)
    if len(features) != n or len(left) != n or len(sizes) < 1 or first[0] != 0 or sizes.sum() != n \
            or sizes.min() < 1 or sizes.max() > MOST_NODES:
        raise ValueError("first must hold the first node of each tree, from 0 on, and their number")
    place, size = np.arange(n) - np.repeat(first[:-1], sizes), np.repeat(sizes, sizes)
    # Children must follow their parents: then every walk ends.
    cut = (left > place) & (left < size - 1) & np.isfinite(cuts)
    good = (cut | ((left == place) & np.isposinf(cuts))) & (features >= 0) & (features < width)
    if not good.all():
        raise ValueError(f"node {int(np.argmin(good))} is not a valid node of a tree over rows of "
                         f"{width} numbers")
