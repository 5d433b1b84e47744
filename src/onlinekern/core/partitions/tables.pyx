"""Tables of a scale, and groups: orders of categories, learnt from samples.

A cut of a column divides the categories into those before and those behind it. Where one number is
to be told, the best division into two sets is among those of the order by the mean target (Fisher
1958; Breiman et al. 1984, section 4.2); for classes the order is that along the leading direction
of the categories' class probabilities (Coppersmith, Hong and Hosking 1999). Where categories matter
only together with other features, their means may be alike: so a second order is that along which
the products of the target with the other features differ most. A third one is their own, that of
their numbers or columns: of months, ages or degrees it tells what neither may. Groups of one-hot
columns have the same orders. Of several outputs one direction holds only a part of what they tell:
so groups have further orders, along the next directions.
"""
import numpy as np

from onlinekern.core.partitions.gaps cimport N_NUMBERS
from onlinekern.core.partitions.groups cimport ORDERS
from onlinekern.core.partitions.scale cimport FIRST_CODE, MOST_COLUMNS, N_DIRECTIONS
from onlinekern.core.partitions.gaps import MOST_GAPS, leading
from onlinekern.core.partitions.scale import entries_of

# A category of so many samples has half the deviation of its mean that they show.
SMOOTH = 4.0
# Columns that a category becomes, and in how many numbers other columns tell the second order.
N_ORDERS = ORDERS
MOST_OTHERS = 16
# Further directions of these products that groups have orders along, of several outputs.
MOST_FURTHER = 3
FARTHEST = 8.0
# Rows of a piece of the work.
BLOCK = 1024
# How far entries differ in the second order and in their own one, in spreads: cuts of columns that
# often tell little take the place of cuts that tell more.
SECOND_UNIT = 0.5


def most_further(Py_ssize_t d, Py_ssize_t n_categories):
    """How many axes tables and gaps may add to d features, of which so many are categories."""
    return (N_ORDERS - 1) * n_categories + N_NUMBERS * (most_gaps(d, n_categories) > 0)


def most_gaps(Py_ssize_t d, Py_ssize_t n_categories):
    """How many features may have gaps: each has two columns, and so have all together."""
    left = MOST_COLUMNS - N_DIRECTIONS - N_NUMBERS - d - (N_ORDERS - 1) * n_categories
    return max(0, min(d - n_categories, MOST_GAPS, left // 2))


def steps_of_tables(Py_ssize_t n, Py_ssize_t n_ordered):
    """How many steps the orders of n samples take, of so many categories and groups."""
    return 2 * n_ordered + ((n + BLOCK - 1) // BLOCK if n_ordered else 0)


class TableLearner:
    """Tables of samples and the orders of groups, learnt in pieces.

    After `begin` there are `n_steps` to take: then `arrays` are the tables, and `groups` groups.

    Parameters
    ----------
    n, d : int
        Samples and features.
    categories : tuple of int
        Features that are categories.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t d, categories):
        self.n, self.d = n, d
        self.categories = np.array(categories, dtype=np.intp)
        self.numbers = np.delete(np.arange(d), self.categories)
        self.found, self.places = [], []
        self.hot, self.n_steps = None, 0

    def begin(self, X, center, factor, targets, draws, hot):
        """Take samples, the units of those that are numbers, targets of a few outputs, and draws.

        The draws, numpy.random.RandomState, are those of the signs. `hot` has found groups.
        """
        self.hot, members = hot, hot.members()
        self.numbers = np.setdiff1d(self.numbers, members)
        self.n_ordered = len(self.categories) + len(hot.groups)
        self.n_steps = steps_of_tables(self.n, self.n_ordered)
        self.X, self.center, self.factor, self.targets = X, center, factor, targets
        self.coded, self.first = [], []
        n_others = len(self.numbers) + self.n_ordered
        self.signs = np.eye(n_others)
        if n_others > MOST_OTHERS:
            self.signs = draws.randint(2, size=(n_others, MOST_OTHERS)) * 2.0 - 1.0
        self.others = np.empty((self.n, self.signs.shape[1]))
        # The mean targets are as products with 1.
        self.one = np.ones((self.n, 1)), np.zeros(1)

    def step(self, Py_ssize_t k):
        """Take a step, one after the other."""
        cdef Py_ssize_t size = self.n_ordered, last = self.n_steps - size
        if k < size:
            self.order(k)
        elif k < last:
            self.mix(k - size)
        else:
            self.order_again(k - last)

    def order(self, k):
        """Order the categories of a feature or a group by their mean targets."""
        cdef Py_ssize_t g = k - len(self.categories)
        if g < 0:
            self.coded.append(code(self.X[:, self.categories[k]]))
        else:
            entries, size = self.hot.codes(g), len(self.hot.groups[g]) + 1
            entries += FIRST_CODE
            self.coded.append((entries, counts_of(entries, FIRST_CODE + size)))
        own = np.zeros(len(self.coded[k][1]))
        self.first.append(self.places_by(k, *self.one, own, self.targets.shape[1]))

    def mix(self, k):
        """Find a few sums of all features of some rows."""
        rows, numbers = slice(k * BLOCK, (k + 1) * BLOCK), self.numbers
        X = np.ascontiguousarray(self.X[rows])
        Z = (X[:, numbers] - self.center[numbers]) * self.factor[numbers]
        Z = np.clip(Z, -FARTHEST, FARTHEST)
        Z[np.isnan(Z)] = 0
        places = [own[entries[rows], :1] for own, (entries, _) in zip(self.first, self.coded)]
        self.others[rows] = np.hstack([Z, *places]) @ self.signs

    def order_again(self, k):
        """Order categories by what the target and other features do together."""
        _, counts = self.coded[k]
        first, n_further = self.first[k], MOST_FURTHER if self.targets.shape[1] > 1 else 0
        second = SECOND_UNIT * self.places_by(
            k, self.others, self.signs[len(self.numbers) + k], np.ascontiguousarray(first[:, 0]),
            1 + n_further)
        ranks = np.zeros((len(counts), 1))
        ranks[counts > 0, 0] = np.arange(np.count_nonzero(counts))
        own = SECOND_UNIT * in_units(ranks, counts)
        orders = np.hstack([first[:, :1], second[:, :1], own, first[:, 1:], second[:, 1:]]).T
        if k < len(self.categories):
            self.found += [(self.categories[k], turn == 0, own)
                           for turn, own in enumerate(orders[:N_ORDERS])]
        else:
            self.places.append(orders[:len(counts) - FIRST_CODE - 1, FIRST_CODE:])

    def places_by(self, k, others, signs, own, Py_ssize_t n_orders):
        """Places of entries in the orders along which the means of some products differ most.

        They are those of the targets with `others`, less what the feature's own places add to
        these. The places are an ndarray (size, n_orders), of fewer columns where means differ in
        fewer directions.
        """
        entries, counts = self.coded[k]
        sums = product_sums(entries, np.ascontiguousarray(self.targets), others, own, signs)
        mean = sums.sum(axis=0) / self.n
        deviations = (sums - counts[:, None] * mean) / (counts + SMOOTH)[:, None]
        return in_units(leading(deviations, counts, n_orders), counts)

    def arrays(self):
        """The argument `tables` of a `Scale`; None where there is nothing to look up."""
        found = self.found
        if not found:
            return None
        column, columns = self.d, []
        for source, is_own, _ in found:
            columns.append(source if is_own else column)
            column += not is_own
        starts = np.cumsum([0, *(len(places) for _, _, places in found)])
        return (np.array([source for source, _, _ in found], dtype=np.int32),
                np.array(columns, dtype=np.int32), starts.astype(np.int32),
                np.concatenate([places for _, _, places in found]).astype(np.float32))

    def groups(self):
        """The argument `groups` of a `Scale`."""
        return None if self.hot is None else self.hot.found(self.places, self.d)


def code(values):
    """The entries of values in their table, and how many values each entry has."""
    size = FIRST_CODE + 1 + int(np.nanmax(values, initial=-1))
    entries = entries_of(values, size)
    return entries, counts_of(entries, size)


def counts_of(entries, Py_ssize_t size):
    """How many samples each of so many entries has, ndarray of float64."""
    return np.bincount(entries, minlength=size).astype(float)


def product_sums(const Py_ssize_t[::1] entries, const double[:, ::1] targets,
                 const double[:, ::1] others, const double[::1] own, const double[::1] signs):
    """The sums, for each entry, of the targets' products with other numbers, ndarray (size, m).

    What an entry's own place adds to these numbers, with a sign each, is taken off.
    """
    cdef Py_ssize_t i, a, j, e, n = others.shape[1]
    sums = np.zeros((own.shape[0], targets.shape[1] * n))
    cdef double[:, ::1] found = sums
    with nogil:
        for i in range(entries.shape[0]):
            e = entries[i]
            for a in range(targets.shape[1]):
                for j in range(n):
                    found[e, a * n + j] += targets[i, a] * (others[i, j] - own[e] * signs[j])
    return sums


def in_units(places, counts):
    """Places with mean 0 over the samples, in units of the deviation of those in the first column.

    Entries without samples are at 0.
    """
    total, counts = counts.sum(), counts[:, None]
    mean = (counts * places).sum(axis=0) / total
    deviation = np.sqrt((counts * (places - mean) ** 2).sum(axis=0) / total)[0]
    if not deviation > 1e-12:
        return np.zeros(places.shape)
    return np.where(counts > 0, (places - mean) / deviation, 0.0)


def check_categories(categories, Py_ssize_t d):
    """These features as a tuple of int; ValueError unless they ascend within [0, d)."""
    found = tuple(map(int, categories))
    if any(not 0 <= feature < d for feature in found) or sorted(set(found)) != list(found):
        raise ValueError(f"categories must be features in [0, {d}), ascending, got {categories}")
    if found and d + (N_ORDERS - 1) * len(found) + N_DIRECTIONS > MOST_COLUMNS:
        raise ValueError(f"trees cut rows of at most {MOST_COLUMNS} columns: {d} features of which "
                         f"{len(found)} are categories are too many")
    return found


def on_axes(numbers, before, after):
    """Numbers of the axes of a scale, for those of another one.

    An axis that was not there has the number of its feature; those of all gaps are as the mean. The
    orders of a group that was not there have the largest number of its members.
    """
    known = dict(zip(keys(before), numbers))
    mean = np.mean(numbers)
    found = np.array([known.get(key, known.get((key[0], 0), mean)) for key in keys(after)])
    if before.groups is None and after.groups is None:
        return found
    alone = found if before.groups is None else before.groups.as_members(found)
    return alone if after.groups is None else after.groups.as_orders(alone, found, before.groups)


def keys(scale):
    """The feature of each axis, and the number of the axis among those of the feature."""
    found, turns = [], {}
    for source in scale.source_of_axes().tolist():
        turns[source] = turns.get(source, -1) + 1
        found.append((source, turns[source]))
    return found


def of_features(shares, scale):
    """The sums of the axes' shares for each feature, ndarray of shape (d,).

    Features with gaps have parts of the shares of the axes of all gaps, by their weights there, and
    members of a group of those of its orders.
    """
    sources = scale.source_of_axes()
    own = sources >= 0
    if scale.groups is not None:
        shares = scale.groups.shared(shares)
    found = np.bincount(sources[own], weights=shares[own], minlength=scale.d)
    if scale.gaps is not None:
        gaps, _, _, _, weights, _ = scale.gaps.fields()
        parts = np.abs(weights.astype(float))
        found[gaps] += parts @ (shares[~own] / np.maximum(parts.sum(axis=0), 1e-300))
    return found
