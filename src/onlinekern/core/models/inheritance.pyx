"""Inheritance: new leaves copy the weights and variances of the leaf that was split.

A tree has thousands of leaves. Copying them all at one sample would take too long, so a few are
copied with each sample. A sample that is learnt meanwhile changes one old leaf; the copies of that
leaf are then made again.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.models.cell_experts cimport CellExperts, Generation
from onlinekern.core.models.cells cimport CellWeights
from onlinekern.core.partitions.trees cimport (
    BELOW, UPPER_CELLS, Tree, is_leaf, number_of, step_down)


cdef class Inheritance:
    """Copies the cells of one tree at a time to the tree that replaces it.

    `begin` takes the next tree. `go_on` copies the cells of some nodes and returns whether all are
    copied. `update` repeats the copies that a row learnt meanwhile has made stale. `put` replaces
    the tree in its forest.

    Parameters
    ----------
    experts : CellExperts
    """

    def __cinit__(self, CellExperts experts not None):
        self.experts = experts
        self.n_lower = experts.n_lower * experts.n_outputs

    def __dealloc__(self):
        free(self.origin)

    cdef int begin(self, Generation now, Py_ssize_t place, Tree after, int64_t entered) except -1:
        """Begin to copy the cells of tree `place`; `entered` samples have been learnt so far."""
        cdef Py_ssize_t n = after.n_nodes
        cdef void *fresh
        if n > self.room:
            fresh = aligned_resize(self.origin, 0, 3 * n * sizeof(int32_t))
            if fresh == NULL:
                raise MemoryError(f"no memory for a tree of {n} nodes")
            self.origin, self.room = <int32_t *> fresh, 3 * n // 2
        self.paths = self.origin + self.room
        self.place, self.after, self.before = place, after, now.forest.trees[place]
        self.old = now.leaves.blocks[place]
        self.fresh = self.experts.new_leaves(place, after.n_leaves, False)
        self.begun, self.n_done, self.n_cut = entered, 0, 0
        self.origin[0], self.paths[0] = 0, 1
        return 0

    cdef bint go_on(self, Py_ssize_t n) noexcept nogil:
        """Process n more nodes and copy those that are leaves. Returns whether all are done."""
        cdef Py_ssize_t i, child, node, last = min(self.n_done + n, self.after.n_nodes)
        cdef int32_t path
        for i in range(self.n_done, last):
            if is_leaf(self.after.nodes, i):
                self.copy_leaf(i)
                continue
            path = self.paths[i]
            if UPPER_CELLS <= path < BELOW and is_leaf(self.before.nodes, self.origin[i]):
                self.cut[self.n_cut] = <int32_t> i
                self.n_cut += 1
            # Parents come before their children.
            for child in range(2):
                node = self.after.nodes[i].left + child
                self.origin[node] = <int32_t> node if node < self.before.n_nodes \
                    else self.origin[i]
                self.paths[node] = 2 * path + <int32_t> child if path < UPPER_CELLS \
                    else path | BELOW
        self.n_done = last
        return last == self.after.n_nodes

    cdef void copy_leaf(self, Py_ssize_t node) noexcept nogil:
        """Copy the record of the old leaf that a new leaf lies in.

        A new leaf may lie in a new upper cell. The experts that see both read leaf and upper cell,
        and `put` gives their weights to the upper cell. So their weights are 0 in such a leaf:
        their scores do not change.
        """
        cdef int32_t origin = self.origin[node]
        cdef float *record = self.fresh.record(number_of(self.after.nodes + node))
        memcpy(record, self.old.record(number_of(self.before.nodes + origin)),
               self.fresh.length * sizeof(float))
        if self.paths[node] >= BELOW > self.paths[origin]:
            memset(record + self.n_lower, 0,
                   (self.fresh.n_weights - self.n_lower) * sizeof(float))

    cdef void copy_subtree(self, Py_ssize_t node) noexcept nogil:
        """Copy the records of all leaves below a node again."""
        cdef Py_ssize_t left
        if is_leaf(self.after.nodes, node):
            self.copy_leaf(node)
            return
        left = self.after.nodes[node].left
        self.copy_subtree(left)
        self.copy_subtree(left + 1)

    cdef void update(self, const float *row) noexcept nogil:
        """Copy the leaf that a scaled row has changed again, to all new leaves within it."""
        cdef unsigned int node = 0
        while not is_leaf(self.before.nodes, node):
            node = step_down(self.before.nodes, node, row)
        self.copy_subtree(node)

    cdef int put(self, Generation now) except -1:
        """Replace the tree and its cells in the forest, once all are copied."""
        cdef Py_ssize_t k, node
        cdef CellWeights old, upper = None
        if now.upper is not None:
            old, upper = now.upper.blocks[self.place], self.experts.new_upper(self.place)
            memcpy(upper.values, old.values, (UPPER_CELLS + 1) * upper.length * sizeof(float))
            for k in range(self.n_cut):
                node = self.cut[k]
                self.experts.copy_both(
                    self.old.record(number_of(self.before.nodes + self.origin[node])),
                    upper.record(self.paths[node] - UPPER_CELLS))
            upper.forget_copies()
        self.fresh.forget_copies()
        now.put_tree(self.place, self.after, self.fresh, upper)
        self.after = self.before = None
        self.old = self.fresh = None
        return 0
