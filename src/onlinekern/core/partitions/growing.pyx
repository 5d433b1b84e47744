"""Grower: grows trees from rows in small steps, with random splits or exact ones."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from onlinekern.core.base.vector cimport aligned_resize, aligned_room
from onlinekern.core.partitions.exact_cuts cimport ExactCutter
from onlinekern.core.partitions.loops cimport ok_cut, ok_prefetch
from onlinekern.core.partitions.trees cimport (
    ABREAST, BELOW, MOST_NODES, UPPER_CELLS, Node, Tree, find_paths, make_leaf, number_leaves,
    number_of, step_down, tree_of)

# Depth limit: rows that differ in the last digit only would make a tree as deep as a list.
cdef int DEEPEST = 40
# The clock is read after TIMED units of work, about as many nanoseconds. Between two readings at
# most MOST_TIMED nanoseconds count: beyond that another program had the processor.
cdef Py_ssize_t TIMED = 5000
cdef int64_t MOST_TIMED = 50000
# Units of work, about a nanosecond each. For a row: to draw it, to sort it by leaf, to walk it to
# its leaf in a random or an exact (deeper) tree, to add its residual up, to update its residual.
cdef Py_ssize_t WORK_OF_CHOICE = 4
cdef Py_ssize_t WORK_OF_SORT = 4
cdef Py_ssize_t[2] WORK_OF_WALK = [15, 24]
cdef Py_ssize_t WORK_OF_SUM = 1
cdef Py_ssize_t WORK_OF_SHARE = 2
# For a node of the finished tree: to number it with its path, and to copy it.
cdef Py_ssize_t WORK_OF_NUMBER = 4
cdef Py_ssize_t WORK_OF_COPY = 2
# Size of a step: nodes numbered or copied; rows walked, drawn, and divided in a large node.
cdef Py_ssize_t NUMBERED = 1024
cdef Py_ssize_t WALKED = 256
cdef Py_ssize_t CHOSEN = 1024
cdef Py_ssize_t DIVIDED = 1024


cdef int64_t nanoseconds() noexcept nogil:
    """Time of a monotonic clock."""
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <int64_t> now.tv_sec * 1000000000 + now.tv_nsec


cdef class Grower(ExactCutter):
    """Grows the trees of a forest from the same rows, one after another.

    Call `load` for all rows once. For each tree call `begin`, then `grow` until it returns True,
    then `grown`, which returns the tree.

    Parameters
    ----------
    rows, n_axes, slopes, slope_of, goals, has_margin, n_candidates
        See `Cutter`.
    most_in_leaf : int
        Nodes of more rows are split.
    """

    def __cinit__(self, rows, n_axes, slopes, slope_of, goals, has_margin, n_candidates,
                  Py_ssize_t most_in_leaf):
        cdef int32_t i
        self.most_in_leaf = most_in_leaf
        self.pool = <int32_t *> calloc(3 * self.n_rows + 1, sizeof(int32_t))
        if self.pool == NULL:
            raise MemoryError(f"no memory to grow trees from {self.n_rows} rows")
        self.spare, self.sorted = self.pool + self.n_rows, self.pool + 2 * self.n_rows
        for i in range(self.n_rows):
            self.pool[i] = i

    def __dealloc__(self):
        free(self.pool)
        free(self.nodes)
        free(self.copied)
        free(self.paths)
        free(self.ends)

    cdef void write_to(self, uint16_t *cells, uint8_t *upper) noexcept nogil:
        """Set where the next trees write the cells of all rows; NULL: they do not."""
        self.cells, self.upper = cells, upper

    cdef int begin(self, Tree before, Py_ssize_t count, uint64_t seed) except -1:
        """Begin a tree from a random draw of `count` rows; split the leaves of `before` if given.
        """
        cdef Py_ssize_t old = 1 if before is None else before.n_nodes
        self.begin_draws(seed)
        self.took = 0
        self.reserve(old + 2 * count, old)
        self.n_nodes, self.most_nodes = old, min(old + 2 * count, MOST_NODES)
        if before is None:
            self.update_shares()
            make_leaf(self.nodes, 0)
        else:
            memcpy(self.nodes, before.nodes, old * sizeof(Node))
        memset(self.ends, 0, old * sizeof(int32_t))
        self.n_leaves, self.leaf, self.n_waiting, self.n_divided = old, -1, 0, 0
        self.count, self.n_chosen, self.n_walked = count, 0, 0
        self.n_numbered, self.n_updated, self.n_copied = 0, -1, 0
        if self.is_exact:
            self.begin_exact()
        return 0

    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_leaves) except -1:
        """Allocate memory for n_nodes nodes, and for the rows of the first n_leaves nodes."""
        cdef void *nodes
        cdef void *ends
        if n_nodes > self.room:
            nodes = aligned_resize(self.nodes, 0, n_nodes * sizeof(Node))
            if nodes == NULL:
                raise MemoryError(f"no memory for a tree of {n_nodes} nodes")
            self.nodes = <Node *> nodes
            nodes = aligned_resize(self.paths, 0, n_nodes * sizeof(int32_t))
            if nodes == NULL:
                raise MemoryError(f"no memory for a tree of {n_nodes} nodes")
            self.paths, self.room = <int32_t *> nodes, n_nodes
        self.boosting.reserve(n_nodes)
        if n_leaves > self.room_of_ends:
            ends = aligned_resize(self.ends, 0, n_leaves * sizeof(int32_t))
            if ends == NULL:
                raise MemoryError(f"no memory for the leaves of a tree of {n_leaves} nodes")
            self.ends, self.room_of_ends = <int32_t *> ends, n_leaves
        return 0

    cdef bint grow(self, int64_t limit) noexcept nogil:
        """Grow until the tree has taken `limit` nanoseconds in total. Returns whether it is whole.

        The limits of the calls change nothing in the tree.
        """
        cdef int64_t now, then = nanoseconds()
        cdef Py_ssize_t timed = self.work
        cdef bint goes_on = True
        while goes_on and self.took < limit:
            goes_on = self.step()
            if self.work - timed >= TIMED or not goes_on:
                now = nanoseconds()
                self.took += max(<int64_t> 1, min(now - then, MOST_TIMED))
                then, timed = now, self.work
        return not goes_on

    cdef bint step(self) noexcept nogil:
        """Do one step of the growth. Returns False if the tree is whole."""
        if self.n_chosen < self.count:
            self.choose()
        elif self.n_walked < self.count:
            self.find_leaves()
        elif self.leaf < 0:
            self.by_leaf()
        elif self.n_waiting > 0:
            self.cut_next()
        elif self.n_updated < 0:
            if self.n_numbered > 0 or not self.next_leaf():
                self.number()
        else:
            return self.update_residuals() or self.copy_nodes()
        return True

    cdef void number(self) noexcept nogil:
        """Number some more leaves of the tree, whose splits are done; then residuals are updated.
        """
        cdef Py_ssize_t first = self.n_numbered, last = min(first + NUMBERED, self.n_nodes)
        self.n_leaves = number_leaves(self.nodes, first, last, 0 if first == 0 else self.n_leaves)
        if self.cells:
            find_paths(self.nodes, first, last, self.paths)
        self.boosting.begin(first, last)
        self.work += WORK_OF_NUMBER * (last - first)
        self.n_numbered = last
        if last == self.n_nodes:
            self.n_updated = 0

    cdef bint copy_nodes(self) noexcept nogil:
        """Copy some more nodes for `grown`. Returns False if all are copied."""
        cdef Py_ssize_t first = self.n_copied, last = min(first + NUMBERED, self.n_nodes)
        if first == last:
            return False
        if first == 0:
            free(self.copied)
            self.copied = <Node *> aligned_room(self.n_nodes * sizeof(Node))
        if self.copied != NULL:
            memcpy(self.copied + first, self.nodes + first, (last - first) * sizeof(Node))
        self.n_copied = last
        self.work += WORK_OF_COPY * (last - first)
        return True

    cdef bint update_residuals(self) noexcept nogil:
        """Update the residuals of some more rows by the tree. Returns False if all are updated.

        First the rows that were not drawn are walked to their leaves. Then the residuals of all
        rows are summed leaf by leaf. Then each row's residual is reduced by the mean of its leaf.
        """
        cdef Py_ssize_t i, n = self.n_rows, first = self.n_updated, last, others = n - self.count
        cdef bint learns = self.n_candidates > 1
        # With one candidate, splits do not depend on residuals.
        if first == others + 2 * n or not (learns or self.cells):
            return False
        if first < others:
            last = min(others, first + WALKED)
            for i in range(self.count + first, self.count + last, 8):
                self.find_leaves_abreast(self.pool, i,
                                         min(self.count + last - i, <Py_ssize_t> ABREAST), True)
            self.work += WORK_OF_WALK[self.is_exact] * (last - first)
        elif first < others + n:
            first -= others
            last = min(n, first + 2 * WALKED)
            if learns:
                self.boosting.add_up(self.spare, first, last)
            self.work += WORK_OF_SUM * (last - first)
        else:
            first -= others + n
            last = min(n, first + WALKED)
            if learns:
                self.boosting.learn(self.spare, first, last)
            if self.cells:
                self.write_cells(first, last)
            self.work += WORK_OF_SHARE * (last - first)
        self.n_updated += last - first
        return True

    cdef void write_cells(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Write leaf and upper cell of some rows."""
        cdef Py_ssize_t i
        cdef int32_t leaf, path
        for i in range(first, last):
            leaf = self.spare[i]
            path = self.paths[leaf]
            self.cells[i] = <uint16_t> number_of(self.nodes + leaf)
            self.upper[i] = <uint8_t> (path - BELOW - UPPER_CELLS if path >= BELOW
                                       else UPPER_CELLS)

    cdef void skip(self) noexcept nogil:
        """End the tree as it has begun, without splits."""
        while self.n_chosen < self.count:
            self.choose()
        # No drawn row has a leaf so far: `update_residuals` has to walk all rows.
        self.count = 0
        while self.n_updated < 0:
            self.number()
        while self.update_residuals():
            pass

    cdef void find_leaves(self) noexcept nogil:
        """Find the leaves of some more of the drawn rows in the tree at its beginning."""
        cdef Py_ssize_t i, last = min(self.count, self.n_walked + WALKED)
        cdef int32_t *leaves = self.spare
        if self.n_nodes == 1:
            # The tree is a single leaf.
            last = self.count
            memset(leaves, 0, last * sizeof(int32_t))
            self.ends[0] = <int32_t> last
        else:
            i = self.n_walked
            while i < last:
                self.find_leaves_abreast(self.order, i, min(last - i, <Py_ssize_t> ABREAST), False)
                i += ABREAST
            for i in range(self.n_walked, last):
                self.ends[leaves[i]] += 1
            self.work += WORK_OF_WALK[self.is_exact] * (last - self.n_walked)
        self.n_walked = last

    cdef void find_leaves_abreast(self, const int32_t *order, Py_ssize_t first, Py_ssize_t n,
                                  bint by_row) noexcept nogil:
        """Walk rows order[first] ... order[first + n - 1], n <= ABREAST, to their leaves together.

        The leaves are written to `spare`: at the row numbers if `by_row`, else at the places.
        """
        cdef int k
        cdef Py_ssize_t i
        cdef unsigned int next, changed = 1
        cdef unsigned int[ABREAST] at
        cdef const float *rows[ABREAST]
        for k in range(ABREAST):
            # If there are fewer rows, the first one is walked several times.
            i = first + (k if k < n else 0)
            rows[k], at[k] = &self.rows[order[i], 0], 0
            if first + ABREAST + k < self.n_rows:
                for i in range(0, self.width, 16):
                    ok_prefetch(&self.rows[order[first + ABREAST + k], i])
        while changed:
            changed = 0
            for k in range(ABREAST):
                next = step_down(self.nodes, at[k], rows[k])
                changed |= next ^ at[k]
                at[k] = next
        for k in range(<int> n):
            self.spare[order[first + k] if by_row else first + k] = <int32_t> at[k]

    cdef void by_leaf(self) noexcept nogil:
        """Counting sort of `order` by leaf; the rows of leaf k end at ends[k]."""
        cdef Py_ssize_t i, k
        cdef int32_t *leaves = self.spare
        cdef int32_t *ends = self.ends
        for k in range(1, self.n_leaves):
            ends[k] += ends[k - 1]
        if self.n_leaves > 1:
            # Each leaf is filled from its end, so ends[k] moves down to its start.
            memcpy(self.sorted, self.order, self.count * sizeof(int32_t))
            for i in range(self.count - 1, -1, -1):
                ends[leaves[i]] -= 1
                self.order[ends[leaves[i]]] = self.sorted[i]
            for k in range(self.n_leaves):
                ends[k] = ends[k + 1] if k + 1 < self.n_leaves else <int32_t> self.count
            self.work += WORK_OF_SORT * (self.count + self.n_leaves)
        self.leaf = 0

    cdef bint next_leaf(self) noexcept nogil:
        """Push the next of the first leaves that has enough rows. Returns False if there is none.
        """
        cdef Py_ssize_t first
        while self.leaf < self.n_leaves:
            first = self.ends[self.leaf - 1] if self.leaf > 0 else 0
            self.leaf += 1
            if self.ends[self.leaf - 1] - first > self.most_in_leaf:
                self.push_leaf(self.leaf - 1, first, self.ends[self.leaf - 1], 0)
                return True
            self.keep_leaf(self.leaf - 1, first, self.ends[self.leaf - 1])
        return False

    cdef void keep_leaf(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Note that rows order[first] ... order[last - 1] lie in leaf `node`, which stays one."""
        cdef Py_ssize_t i
        for i in range(first, last):
            self.spare[self.order[i]] = <int32_t> node

    cdef void push_leaf(self, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last,
                        Py_ssize_t depth) noexcept nogil:
        """Push a leaf with rows order[first] ... order[last - 1] on the stack of leaves to split.

        The stack holds at most one leaf for each level, and one more.
        """
        cdef Py_ssize_t *waiting = self.waiting + 4 * self.n_waiting
        waiting[0], waiting[1], waiting[2], waiting[3] = node, first, last, depth
        self.n_waiting += 1

    cdef void cut_next(self) noexcept nogil:
        """Do a step for the leaf on top of the stack: find its split, or divide some rows."""
        cdef Py_ssize_t *waiting = self.waiting + 4 * (self.n_waiting - 1)
        cdef Py_ssize_t node = waiting[0], first = waiting[1], last = waiting[2], n
        if self.n_divided == 0:
            if not self.may_cut(first, last, waiting[3]):
                self.n_waiting -= 1
                self.keep_leaf(node, first, last)
                return
            if self.is_exact and self.count_some(first, last):
                return
            self.best, self.middle = self.best_cut(first, last), first
        n = last - first - self.n_divided
        if self.best.gain >= 0:
            # A piece has at least DIVIDED rows: fewer would be divided like a small node.
            n = DIVIDED if n >= 2 * DIVIDED else n
            first += self.n_divided
            self.middle = self.divide(first, first + n, self.middle, &self.best)
            self.n_divided += n
            if first + n < last:
                return
        self.end_cut()

    cdef bint may_cut(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t depth) noexcept nogil:
        """Whether a leaf has enough rows, and the tree room for two more nodes and a level."""
        return (last - first > self.most_in_leaf and depth < DEEPEST
                and self.n_nodes + 2 <= self.most_nodes)

    cdef void end_cut(self) noexcept nogil:
        """Split the leaf on top of the stack and push its children; without a split, keep it."""
        cdef Py_ssize_t *waiting = self.waiting + 4 * (self.n_waiting - 1)
        cdef Py_ssize_t node = waiting[0], first = waiting[1], last = waiting[2], depth = waiting[3]
        self.n_waiting -= 1
        self.n_divided = 0
        if self.best.gain < 0 or self.middle == first or self.middle == last:
            self.keep_leaf(node, first, last)
            return
        self.set_cut(node, &self.best)
        self.push_leaf(self.n_nodes - 2, first, self.middle, depth + 1)
        self.push_leaf(self.n_nodes - 1, self.middle, last, depth + 1)

    cdef void set_cut(self, Py_ssize_t node, const ok_cut *cut) noexcept nogil:
        """Turn a leaf into an inner node with two new leaves."""
        cdef Py_ssize_t k
        self.nodes[node].cut = cut.at
        self.nodes[node].feature = <uint16_t> cut.feature
        self.nodes[node].left = <uint16_t> self.n_nodes
        for k in range(self.n_nodes, self.n_nodes + 2):
            make_leaf(self.nodes, k)
        self.n_nodes += 2

    cdef void choose(self) noexcept nogil:
        """Draw some more rows into `order`, without replacement (Fisher-Yates shuffle)."""
        cdef Py_ssize_t i, j, last = min(self.count, self.n_chosen + CHOSEN)
        cdef int32_t row
        for i in range(self.n_chosen, last):
            j = i + <Py_ssize_t> ((self.n_rows - i) * self.uniform())
            row = self.pool[j]
            self.pool[j] = self.pool[i]
            self.pool[i] = self.order[i] = row
        self.work += WORK_OF_CHOICE * (last - self.n_chosen)
        self.n_chosen = last

    cdef Tree grown(self):
        """The finished tree."""
        cdef Tree tree
        if self.copied == NULL:
            raise MemoryError(f"no memory for a tree of {self.n_nodes} nodes")
        tree = tree_of(self.copied, self.n_nodes, self.n_leaves)
        self.copied = NULL
        return tree
