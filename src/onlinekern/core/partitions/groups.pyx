"""Groups: one-hot columns, of which at most one is on in a row, become a few ordered columns.

A split of a one-hot column separates one category from all others, which says little. A split of
an ordered column divides the categories into two sets. So a group gets the orders of a categorical
column (`partitions.tables`), and more of them with several outputs. They replace the first columns
of the group; its other columns are 0. The value along an order is a base plus the steps of all
columns that are on: so it is also defined if several are, or none.
"""
from libc.math cimport log
from libc.stdint cimport int32_t, uint64_t

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row

# Names of the arrays of groups in a state.
GROUPS = ("group_members", "group_starts", "group_middles", "group_bases", "group_steps",
          "group_rates")
# The evidence for a group is the number of samples in which two of its columns would be on if they
# were independent. No such sample occurs by chance with probability e^-evidence. This probability,
# times the number of runs or of groups of k that can be formed from m columns, must be below e^-8.
cdef Py_ssize_t LEAST_MEMBERS = 3
cdef double LEAST_EVIDENCE = 8.0
# A column leaves the group that it joined if its own evidence is below this, plus log m.
cdef double LEAST_OF_MEMBER = 2.0
# A column is compared with this many of the largest groups, and with as many of the smallest:
# thousands of overlapping columns would otherwise be compared with one another.
cdef Py_ssize_t LOOKED_AT = 128
# Samples in a word of a bit set.
cdef Py_ssize_t WORD = 64


cdef class Groups:
    """Groups of columns, and the values of their orders.

    Parameters
    ----------
    members : ndarray of shape (n_members,), int32
        Features, group by group, ascending in each.
    starts : ndarray of shape (n + 1,), int32
        First member of each group, and their number.
    middles : ndarray of shape (n_members,)
        A member is on if its value is larger.
    bases : ndarray of shape (n, n_orders), float32
        Values along the orders if no member is on. A group has at most as many orders as members.
    steps : ndarray of shape (n_members, n_orders), float32
        Added to the base if the member is on.
    rates : ndarray of shape (n_members,)
        Share of the samples in which each member is on.
    d : int
        Number of features.
    """

    def __cinit__(self, const int32_t[::1] members, const int32_t[::1] starts,
                  const double[::1] middles, const float[:, ::1] bases,
                  const float[:, ::1] steps, const double[::1] rates, Py_ssize_t d):
        cdef Py_ssize_t g, k
        self.members, self.starts, self.middles = members, starts, middles
        self.bases, self.steps, self.rates = bases, steps, rates
        self.n, self.n_members = bases.shape[0], members.shape[0]
        self.n_orders, self.n_empty = bases.shape[1], self.n_members
        self.numbers = np.full(d, -1, dtype=np.int32)
        self.owners = np.empty(self.n_members, dtype=np.int32)
        self.ends = np.empty(self.n, dtype=np.int32)
        for g in range(self.n):
            self.ends[g] = <int32_t> min(starts[g + 1], starts[g] + self.n_orders)
            self.n_empty -= self.ends[g] - starts[g]
            for k in range(starts[g], starts[g + 1]):
                self.numbers[members[k]], self.owners[k] = <int32_t> k, <int32_t> g

    cdef void fill(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil:
        """Write the values of row i along all orders to z, whose members are 0 before."""
        cdef Py_ssize_t a, g, j
        cdef int32_t k
        cdef ok_sparse_row x
        for g in range(self.n):
            for a in range(self.ends[g] - self.starts[g]):
                z[self.members[self.starts[g] + a]] = self.bases[g, a]
        if is_sparse(rows):
            x = sparse_row(rows, i)
            for j in range(x.count):
                k = self.numbers[x.columns[j]]
                if k >= 0 and ((<const float *> x.values)[j] if rows.itemsize == 4
                               else (<const double *> x.values)[j]) > self.middles[k]:
                    add(self, k, z)
        elif rows.itemsize == 4:
            add_dense(self, <const float *> dense_row(rows, i), z)
        else:
            add_dense(self, <const double *> dense_row(rows, i), z)

    def fields(self):
        """The arguments of `Groups`, without d."""
        return (np.array(self.members), np.array(self.starts), np.array(self.middles),
                np.array(self.bases), np.array(self.steps), np.array(self.rates))

    def parts(self):
        """The members of each group, a list of ndarrays; orders replace the first ones."""
        # intp avoids a cast of indices, in which NumPy crashes if there is no memory.
        return np.split(np.array(self.members, dtype=np.intp), np.array(self.starts)[1:self.n])

    def axes(self):
        """The axes that hold the orders of each group, a list of ndarrays."""
        return [part[:self.n_orders] for part in self.parts()]

    def without_axes(self):
        """The members whose axes hold no order."""
        return np.concatenate([part[self.n_orders:] for part in self.parts()])

    def fill_axes(self, X, Z):
        """Write the values along the orders to scaled rows Z in double; X are the raw rows."""
        _, starts, middles, bases, steps, _ = self.fields()
        on = (X[:, np.concatenate(self.parts())] > middles).astype(float)
        for g, axes in enumerate(self.axes()):
            own = slice(starts[g], starts[g + 1])
            Z[:, axes] = (bases[g] + on[:, own] @ steps[own].astype(float))[:, :len(axes)]

    def shared(self, shares):
        """Divide the shares (importances) of a group's orders among its members.

        A member's part is proportional to its variance along the order, rate (1 - rate) step^2.
        """
        shares = shares.copy()
        _, _, _, _, steps, rates = self.fields()
        varied = (rates * (1 - rates))[:, None] * steps.astype(float) ** 2
        for part, axes, own in zip(self.parts(), self.axes(),
                                   np.split(varied, np.array(self.starts)[1:self.n])):
            of_orders, shares[part] = shares[axes], 0
            own = own[:, :len(axes)]
            shares[part] += own / np.maximum(own.sum(axis=0), 1e-300) @ of_orders
        return shares

    def as_members(self, numbers):
        """Numbers per axis as if there were no groups: a member gets the largest of its group."""
        numbers = numbers.copy()
        for part, axes in zip(self.parts(), self.axes()):
            numbers[part] = numbers[axes].max()
        return numbers

    def as_orders(self, alone, numbers, before):
        """Numbers per axis for these groups, from numbers `alone` as if there were no groups.

        An order gets the largest number of its members. If the groups `before` (or None) had orders
        in the same axes, these keep their `numbers`.
        """
        found = alone.copy()
        known = set() if before is None else {tuple(axes.tolist()) for axes in before.axes()}
        for part, axes in zip(self.parts(), self.axes()):
            found[axes] = numbers[axes] if tuple(axes.tolist()) in known else alone[part].max()
        return found


ctypedef fused real:
    float
    double


cdef inline void add_dense(Groups groups, const real *x, float *z) noexcept nogil:
    cdef int32_t k
    for k in range(<int32_t> groups.n_members):
        if x[groups.members[k]] > groups.middles[k]:
            add(groups, k, z)


cdef inline void add(Groups groups, int32_t k, float *z) noexcept nogil:
    """Add the steps of member k, which is on, to the values of its group."""
    cdef Py_ssize_t a, first = groups.starts[groups.owners[k]]
    for a in range(groups.ends[groups.owners[k]] - first):
        z[groups.members[first + a]] += groups.steps[k, a]


cdef class GroupLearner:
    """Finds groups of one-hot columns in small steps.

    Call `note` for each column in turn. `find_runs` then finds groups of adjacent columns. `join`
    assigns the other columns, which may be shuffled, to groups, and `settle` keeps those for which
    there is enough evidence.

    Parameters
    ----------
    n : int
        Samples.
    """

    def __cinit__(self, Py_ssize_t n):
        self.n, self.n_words = n, (n + WORD - 1) // WORD
        self.packed = np.empty((WORD, self.n_words), dtype=np.uint64)
        self.bits = self.packed
        self.columns, self.counts, self.middles, self.stretches = [], [], [], []
        self.groups, self.waiting = [], []

    def note(self, const double[::1] x, Py_ssize_t j):
        """Store where feature j is on, if it is binary. Otherwise it ends the run before it."""
        cdef Py_ssize_t i, w, first, count = 0
        cdef double one = x[0], other = x[0], low, high, middle
        cdef uint64_t word
        cdef uint64_t is_on, is_third = 0
        cdef uint64_t[::1] own
        if self.n_columns == self.packed.shape[0]:
            self.packed = np.concatenate([self.packed, np.empty_like(self.packed)])
            self.bits = self.packed
        own = self.bits[self.n_columns]
        for i in range(self.n):
            if x[i] != one:
                other = x[i]
                break
        low, high = min(one, other), max(one, other)
        for w in range(self.n_words):
            first, word = w * WORD, 0
            for i in range(first, min(self.n, first + WORD)):
                is_on = x[i] == high
                is_third |= (x[i] != low) & (not is_on)
                word |= is_on << (i - first)
                count += is_on
            if is_third:
                self.part()
                return
            own[w] = word
        # Between adjacent floating-point numbers there is none: `low` is the threshold then.
        middle = low / 2 + high / 2
        if middle == high:
            middle = low
        # The value 0 must be off, because sparse rows do not store it.
        if low == high or not middle >= 0:
            return
        self.columns.append(j)
        self.counts.append(count)
        self.middles.append(middle)
        self.stretches.append(self.stretch)
        self.n_columns += 1

    def part(self):
        """End the present run: a feature that is no member follows."""
        self.stretch += 1

    def find_runs(self):
        """Find groups of adjacent columns: maximal runs without overlap."""
        if self.n_columns < LEAST_MEMBERS:
            return
        # The union of the present run is in the row after those of all groups.
        self.unions = np.zeros((self.n_columns + 1, self.n_words), dtype=np.uint64)
        self.union_bits, run = self.unions, []
        for k in range(self.n_columns):
            if run and (self.stretches[k] != self.stretches[run[0]]
                        or self.overlaps(self.n_groups, k)):
                self.end_run(run)
                run = []
            run.append(k)
            self.unite(self.n_groups, k)
        self.end_run(run)
        self.n_runs = self.n_groups
        taken = {k for run in self.groups for k in run}
        self.waiting = sorted((k for k in range(self.n_columns) if k not in taken),
                              key=lambda k: -self.counts[k])
        self.sizes = [self.size_of(run) for run in self.groups]
        self.order = sorted(range(self.n_groups), key=lambda g: -self.sizes[g])

    def end_run(self, list run):
        """Keep a run as a group if there is enough evidence."""
        if len(run) >= LEAST_MEMBERS \
                and self.evidence(run) >= LEAST_EVIDENCE + log(self.n_columns):
            self.groups.append(run)
            self.n_groups += 1
        self.unions[self.n_groups] = 0

    def evidence(self, list group):
        """Expected number of samples with two of these columns on, if they were independent."""
        squares = sum([self.counts[k] ** 2 for k in group])
        return (self.size_of(group) ** 2 - squares) / (2.0 * self.n)

    def size_of(self, list group):
        """Number of samples in which one of these columns is on."""
        return sum([self.counts[k] for k in group])

    def join(self, rows):
        """Add some of the waiting columns each to the largest group that it does not overlap."""
        cdef Py_ssize_t place, n
        for k in self.waiting[rows]:
            n = len(self.order)
            # Compare with the largest groups, then with the smallest ones.
            for place in (*range(min(n, LOOKED_AT)), *range(max(LOOKED_AT, n - LOOKED_AT), n)):
                if not self.overlaps(self.order[place], k):
                    break
            else:
                place = self.n_groups
                self.order.append(place)
                self.groups.append([])
                self.sizes.append(0)
                self.n_groups += 1
            g = self.order[place]
            self.groups[g].append(k)
            self.unite(g, k)
            self.sizes[g] += self.counts[k]
            while place > 0 and self.sizes[self.order[place - 1]] < self.sizes[g]:
                self.order[place] = self.order[place - 1]
                place -= 1
            self.order[place] = g

    def settle(self):
        """Keep the groups with enough evidence, in the order of their first features."""
        found, free = [], set(self.waiting)
        least = LEAST_OF_MEMBER + log(max(1, self.n_columns))
        for g, group in enumerate(self.groups):
            size = self.size_of(group)
            own = [k for k in group
                   if k not in free or self.counts[k] * (size - self.counts[k]) >= least * self.n]
            needed = LEAST_EVIDENCE + len(own) * log(self.n_columns)
            if len(own) >= LEAST_MEMBERS and (g < self.n_runs or self.evidence(own) >= needed):
                found.append(sorted(own))
        self.groups, self.n_groups, self.waiting = sorted(found), len(found), []
        self.unions = self.union_bits = None

    cdef bint overlaps(self, Py_ssize_t group, Py_ssize_t column) noexcept nogil:
        """Whether a column and a member of a group are on in the same sample."""
        cdef Py_ssize_t w
        for w in range(self.n_words):
            if self.union_bits[group, w] & self.bits[column, w]:
                return True
        return False

    cdef void unite(self, Py_ssize_t group, Py_ssize_t column) noexcept nogil:
        cdef Py_ssize_t w
        for w in range(self.n_words):
            self.union_bits[group, w] |= self.bits[column, w]

    def members(self):
        """The features of all groups, ndarray of intp."""
        return np.array([self.columns[k] for group in self.groups for k in group], dtype=np.intp)

    def codes(self, Py_ssize_t g):
        """Number of the member of group g that is on in each sample; the group's size if none is.
        """
        cdef Py_ssize_t w, i, place
        cdef uint64_t word
        codes = np.full(self.n, len(self.groups[g]), dtype=np.intp)
        cdef Py_ssize_t[::1] found = codes
        for place, k in enumerate(self.groups[g]):
            for w in range(self.n_words):
                word, i = self.bits[<Py_ssize_t> k, w], w * WORD
                while word:
                    if word & 1:
                        found[i] = place
                    word >>= 1
                    i += 1
        return codes

    def found(self, places, Py_ssize_t d):
        """The `Groups` over d features, or None if there are no groups.

        `places` holds for each group an ndarray (orders, size + 1): the values of its members along
        each order, and last the value if no member is on.
        """
        if not self.groups:
            return None
        chosen = [k for group in self.groups for k in group]
        most, first = max(map(len, places)), 0
        bases, steps = np.zeros((self.n_groups, most)), np.zeros((len(chosen), most))
        for g, own in enumerate(places):
            n, end = len(own), first + len(self.groups[g])
            bases[g, :n], steps[first:end, :n] = own[:, -1], (own[:, :-1] - own[:, -1:]).T
            first = end
        return Groups(
            self.members().astype(np.int32),
            np.cumsum([0, *map(len, self.groups)], dtype=np.int32),
            np.array([self.middles[k] for k in chosen]),
            bases.astype(np.float32), steps.astype(np.float32),
            np.array([self.counts[k] for k in chosen]) / self.n, d)


def fields_of_groups(groups):
    """The arrays that `GROUPS` names; empty if there are no groups."""
    if groups is not None:
        return groups.fields()
    return (np.zeros(0, np.int32), np.zeros(1, np.int32), np.zeros(0),
            np.zeros((0, ORDERS), np.float32), np.zeros((0, ORDERS), np.float32), np.zeros(0))


def groups_of(members, starts, middles, bases, steps, rates, Py_ssize_t d):
    """The groups with the arrays of `fields_of_groups`, which are checked; None if they are empty.
    """
    for name, array in (("group_members", members), ("group_starts", starts)):
        if not isinstance(array, np.ndarray) or array.dtype != np.int32 or array.ndim != 1:
            raise ValueError(f"{name} must be of int32 with one axis")
    n, shape = len(starts) - 1, np.shape(bases)
    n_orders = shape[1] if len(shape) == 2 else ORDERS
    if n < 0 or starts[0] != 0 or starts[n] != len(members) \
            or (np.diff(starts.astype(np.int64)) < LEAST_MEMBERS).any():
        raise ValueError("group_starts must say where the members of each group begin, from 0 to "
                         f"their count, {LEAST_MEMBERS} or more each")
    inside = np.ones(len(members), dtype=bool)
    inside[starts[:n].astype(np.intp)] = False
    if ((members < 0) | (members >= d)).any() or len(np.unique(members)) < len(members) \
            or (np.diff(members)[inside[1:]] <= 0).any():
        raise ValueError(f"group_members must be features, 0 ... {d - 1}, ascending in each group, "
                         "each in one")
    for name, array, size in (("group_bases", bases, n), ("group_steps", steps, len(members))):
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 \
                or array.shape != (size, max(n_orders, ORDERS)) or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, float32 and of shape {(size, n_orders)}, "
                             f"with {ORDERS} orders or more")
    middles = doubles_of_shape("group_middles", middles, (len(members),))
    rates = doubles_of_shape("group_rates", rates, (len(members),))
    if (middles < 0).any() or ((rates < 0) | (rates > 1)).any():
        raise ValueError("group_middles must be >= 0, and group_rates in [0, 1]")
    if not n:
        return None
    return Groups(*[np.array(array, order="C")
                    for array in (members, starts, middles, bases, steps, rates)], d)
