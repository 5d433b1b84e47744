"""Forest: binary trees in flat arrays, and the walk of a row to a leaf of each.

The walk is most of what a sample costs: one step after another waits for a node and for a value of
the row. So eight walks go side by side, of eight trees for a single row, or of eight rows in a tree
for a block, whose nodes then stay in the nearest cache. Both find the same leaves.

A row is walked in units of its own spread (`Scale`): float32 then tells values apart that lie close
together far from 0, such as dates.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row
from onlinekern.core.base.vector cimport ok_sparse_row

# A scaled value is cut off at so many spreads: products with it stay finite.
cdef double FARTHEST = 1e6
# A NaN, and its bits in which the number of a leaf is.
cdef uint32_t LEAF = 0x7fc00000
cdef uint32_t NUMBER = 0x003fffff


cdef inline float scaled(double x, double center, double factor) noexcept nogil:
    """A value in units of the spread of its feature."""
    return <float> max(min((x - center) * factor, FARTHEST), -FARTHEST)


cdef class Scale:
    """Centers and factors of the features, and directions beside them.

    A row z has (x_j - center_j) factor_j for each feature, and then its products with the
    directions.

    Parameters
    ----------
    center, factor : ndarray of shape (d,)
    directions : ndarray of shape (d, n), float32, optional
        n is `N_DIRECTIONS`.
    """

    def __cinit__(self, const double[::1] center, const double[::1] factor,
                  const float[:, ::1] directions=None):
        cdef Py_ssize_t j, d = center.shape[0]
        if factor.shape[0] != d or d < 1:
            raise ValueError(f"center and factor must have one length >= 1, got {d} and "
                             f"{factor.shape[0]}")
        if directions is not None and (directions.shape[0] != d
                                       or directions.shape[1] != N_DIRECTIONS):
            raise ValueError(f"directions must have shape ({d}, {N_DIRECTIONS}), got "
                             f"{(directions.shape[0], directions.shape[1])}")
        self.d = d
        self.n_directions = 0 if directions is None else N_DIRECTIONS
        self.center = <double *> calloc(2 * d, sizeof(double))
        self.zero = <float *> calloc(d * (1 + self.n_directions), sizeof(float))
        if self.center == NULL or self.zero == NULL:
            raise MemoryError(f"no memory for the scale of {d} features")
        self.factor = self.center + d
        memcpy(self.center, &center[0], d * sizeof(double))
        memcpy(self.factor, &factor[0], d * sizeof(double))
        for j in range(d):
            self.zero[j] = scaled(0, center[j], factor[j])
        if directions is not None:
            self.directions = self.zero + d
            memcpy(self.directions, &directions[0, 0], d * N_DIRECTIONS * sizeof(float))

    def __dealloc__(self):
        free(self.center)
        free(self.zero)

    cdef void load(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil:
        """Write row i of some rows, scaled, with its directions."""
        cdef Py_ssize_t j, m, d = self.d
        cdef float sums[N_DIRECTIONS]
        cdef const float *direction
        cdef ok_sparse_row x
        if is_sparse(rows):
            memcpy(z, self.zero, d * sizeof(float))
            x = sparse_row(rows, i)
            for j in range(x.count):
                m = x.columns[j]
                z[m] = scaled((<const float *> x.values)[j] if rows.itemsize == 4
                              else (<const double *> x.values)[j],
                              self.center[m], self.factor[m])
        elif rows.itemsize == 4:
            scale_dense(<const float *> dense_row(rows, i), self.center, self.factor, d, z)
        else:
            scale_dense(<const double *> dense_row(rows, i), self.center, self.factor, d, z)
        if self.n_directions:
            memset(sums, 0, sizeof(sums))
            for j in range(d):
                direction = self.directions + j * N_DIRECTIONS
                for m in range(N_DIRECTIONS):
                    sums[m] += z[j] * direction[m]
            memcpy(z + d, sums, sizeof(sums))

    def arrays(self):
        """The arguments that make such a scale."""
        cdef Py_ssize_t d = self.d
        center, factor = np.empty(d), np.empty(d)
        cdef double[::1] a = center, b = factor
        memcpy(&a[0], self.center, d * sizeof(double))
        memcpy(&b[0], self.factor, d * sizeof(double))
        if not self.n_directions:
            return center, factor, None
        directions = np.empty((d, N_DIRECTIONS), dtype=np.float32)
        cdef float[:, ::1] c = directions
        memcpy(&c[0, 0], self.directions, d * N_DIRECTIONS * sizeof(float))
        return center, factor, directions


ctypedef fused real:
    float
    double


cdef inline void scale_dense(const real *x, const double *center, const double *factor,
                             Py_ssize_t d, float *z) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        z[j] = scaled(x[j], center[j], factor[j])


cdef void make_leaf(Node *tree, Py_ssize_t node) noexcept nogil:
    """Make a node a leaf, without a number so far."""
    memcpy(&tree[node].cut, &LEAF, sizeof(float))
    tree[node].feature, tree[node].left = 0, <uint16_t> node


cdef inline int32_t number_of(const Node *leaf) noexcept nogil:
    """The number of a leaf in its tree."""
    cdef uint32_t bits
    memcpy(&bits, &leaf.cut, sizeof(float))
    return <int32_t> (bits & NUMBER)


cdef inline void walk_together(Walks *walks) noexcept nogil:
    """Walk down to the leaves."""
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


cdef class Forest:
    """Trees over rows of one scale; at first each is a leaf.

    Parameters
    ----------
    n_trees : int
    scale : Scale
    """

    def __cinit__(self, Py_ssize_t n_trees, Scale scale not None):
        if n_trees < 1:
            raise ValueError(f"n_trees must be at least 1, got {n_trees}")
        if scale.width() > MOST_COLUMNS:
            raise ValueError(f"trees cut rows of at most {MOST_COLUMNS - N_DIRECTIONS} features, "
                             f"got {scale.d}")
        self.n_trees, self.scale = n_trees, scale
        self.first = <int32_t *> calloc(2 * (n_trees + 1), sizeof(int32_t))
        if self.first == NULL:
            raise MemoryError(f"no memory for {n_trees} trees")
        self.first_leaf = self.first + n_trees + 1

    def __dealloc__(self):
        free(self.first)
        free(self.nodes)

    @staticmethod
    def stumps(Py_ssize_t n_trees, Scale scale not None):
        """A forest whose trees have not begun to grow."""
        cdef Forest forest = Forest(n_trees, scale)
        cdef Py_ssize_t t
        cdef Node *nodes = forest.room_for(n_trees)
        for t in range(n_trees):
            make_leaf(nodes + t, 0)
            forest.first[t + 1] = t + 1
        forest.n_nodes = n_trees
        forest.number_leaves()
        return forest

    @staticmethod
    def of_arrays(cuts, features, left, first, Scale scale not None):
        """The forest that `arrays` tells of.

        Raises
        ------
        TypeError, ValueError
            If no forest has such arrays.
        """
        check_nodes(cuts, features, left, first, scale.width())
        cdef Py_ssize_t i, n = len(cuts)
        cdef Forest forest = Forest(len(first) - 1, scale)
        cdef const float[::1] a = np.ascontiguousarray(cuts)
        cdef const int32_t[::1] b = np.ascontiguousarray(features)
        cdef const int32_t[::1] c = np.ascontiguousarray(left)
        cdef const int32_t[::1] d = np.ascontiguousarray(first)
        cdef Node *nodes = forest.room_for(n)
        for i in range(n):
            nodes[i].cut, nodes[i].feature, nodes[i].left = a[i], <uint16_t> b[i], <uint16_t> c[i]
        memcpy(forest.first, &d[0], d.shape[0] * sizeof(int32_t))
        forest.n_nodes = n
        forest.number_leaves()
        return forest

    cdef Node *room_for(self, Py_ssize_t more) except NULL:
        """Memory for so many nodes more, behind those that there are."""
        cdef Py_ssize_t wanted = self.n_nodes + more
        cdef void *fresh
        if wanted > self.capacity:
            wanted = max(wanted, self.capacity + self.capacity // 2)
            fresh = aligned_resize(self.nodes, self.n_nodes * sizeof(Node), wanted * sizeof(Node))
            if fresh == NULL:
                raise MemoryError(f"no memory for {wanted} nodes of trees")
            self.nodes, self.capacity = <Node *> fresh, wanted
        return self.nodes + self.n_nodes

    cdef void number_leaves(self) noexcept nogil:
        """Number the leaves of each tree, in the order of its nodes."""
        cdef Py_ssize_t t, i
        cdef Node *tree
        cdef uint32_t number, bits
        for t in range(self.n_trees):
            tree, number = self.nodes + self.first[t], 0
            for i in range(self.first[t + 1] - self.first[t]):
                if is_leaf(tree, i):
                    bits = LEAF | number
                    memcpy(&tree[i].cut, &bits, sizeof(float))
                    number += 1
            self.first_leaf[t + 1] = self.first_leaf[t] + <int32_t> number

    @property
    def n_leaves(self):
        return self.first_leaf[self.n_trees]

    cdef void walk_row(self, const float *z, int32_t *leaves, int32_t *upper) noexcept nogil:
        """The cells of a scaled row: its leaf in each tree, among all leaves; and the upper cell.

        The upper cell of a leaf that is not below `UPPER_LEVEL` is one that stands for none,
        n_trees * UPPER_CELLS.
        """
        cdef Py_ssize_t t = 0, last
        cdef int k
        cdef Walks walks
        while t < self.n_trees:
            last = min(self.n_trees - t, <Py_ssize_t> ABREAST)
            for k in range(ABREAST):
                # The last trees may be fewer: one of them is walked again.
                walks.tree[k] = self.nodes + self.first[t + (k if k < last else 0)]
                walks.row[k] = z
            walk_together(&walks)
            for k in range(last):
                self.note(t + k, &walks, k, leaves + t + k, upper + t + k)
            t += ABREAST

    cdef inline void note(self, Py_ssize_t t, const Walks *walks, int k, int32_t *leaf,
                          int32_t *upper) noexcept nogil:
        """Write the cells in which a walk has ended."""
        leaf[0] = self.first_leaf[t] + number_of(walks.tree[k] + walks.at[k])
        upper[0] = <int32_t> (
            self.n_trees * UPPER_CELLS if walks.at[k] == walks.above[k]
            else t * UPPER_CELLS + <Py_ssize_t> walks.turns[k] - UPPER_CELLS)

    cdef void walk_rows(self, const float *z, Py_ssize_t n, int32_t *leaves,
                        int32_t *upper) noexcept nogil:
        """The same of n rows, n x n_trees each."""
        cdef Py_ssize_t t, i, last, width = self.scale.width()
        cdef int k
        cdef Walks walks
        if n < ABREAST:
            for i in range(n):
                self.walk_row(z + i * width, leaves + i * self.n_trees, upper + i * self.n_trees)
            return
        for t in range(self.n_trees):
            for k in range(ABREAST):
                walks.tree[k] = self.nodes + self.first[t]
            i = 0
            while i < n:
                last = min(n - i, <Py_ssize_t> ABREAST)
                for k in range(ABREAST):
                    walks.row[k] = z + (i + (k if k < last else 0)) * width
                walk_together(&walks)
                for k in range(last):
                    self.note(t, &walks, k, leaves + (i + k) * self.n_trees + t,
                              upper + (i + k) * self.n_trees + t)
                i += ABREAST

    def arrays(self):
        """Cuts, features and left children of all nodes, and where those of each tree begin.

        Cuts are float32, infinite at leaves; the others int32. Children are numbered within a tree.
        """
        cdef Py_ssize_t i, n = self.n_nodes
        cuts = np.empty(n, dtype=np.float32)
        features, left = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        first = np.empty(self.n_trees + 1, dtype=np.int32)
        cdef float[::1] a = cuts
        cdef int32_t[::1] b = features, c = left, d = first
        for i in range(n):
            a[i], b[i], c[i] = self.nodes[i].cut, self.nodes[i].feature, self.nodes[i].left
            if a[i] != a[i]:
                a[i] = INFINITY
        memcpy(&d[0], self.first, (self.n_trees + 1) * sizeof(int32_t))
        return cuts, features, left, first


def check_nodes(cuts, features, left, first, Py_ssize_t width):
    """Raise TypeError or ValueError unless walks of rows of `width` numbers end in such trees."""
    kinds = (("cuts", cuts, np.float32), ("features", features, np.int32),
             ("left", left, np.int32), ("first", first, np.int32))
    for name, array, dtype in kinds:
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise TypeError(f"{name} must be an ndarray of {np.dtype(dtype)} with one axis")
    n = len(cuts)
    sizes = np.diff(first)
    if len(features) != n or len(left) != n or len(sizes) < 1 or first[0] != 0 or sizes.sum() != n \
            or sizes.min() < 1 or sizes.max() > MOST_NODES:
        raise ValueError("first must say where the nodes of each tree begin, from 0 to their count")
    place, size = np.arange(n) - np.repeat(first[:-1], sizes), np.repeat(sizes, sizes)
    # Children lie behind their parents, so that a walk goes on, and ends.
    cut = (left > place) & (left < size - 1) & np.isfinite(cuts)
    good = (cut | ((left == place) & np.isposinf(cuts))) & (features >= 0) & (features < width)
    if not good.all():
        raise ValueError(f"node {int(np.argmin(good))} is none of a tree over {width} numbers")
