"""Orders of categories, learnt from samples: tables for categorical columns, and orders of groups.

A split of an ordered column divides the categories into those before and those behind a threshold.
A category has three orders:

1. By its mean target. With one target, the best division into two sets is one of this order (Fisher
   1958; Breiman et al. 1984, section 4.2). With several, the order is that along the leading
   direction of the categories' means (Coppersmith, Hong and Hosking 1999, for classes).
2. Along the direction in which the means of the products of the target with other features differ
   most: for categories that matter only together with other features.
3. By its number, or column: for months, ages or degrees.

Groups of one-hot columns have the same orders. With several outputs they have further ones, along
the next directions of 1 and 2.
"""
import numpy as np

from onlinekern.core.partitions.gaps cimport N_NUMBERS
from onlinekern.core.partitions.groups cimport ORDERS
from onlinekern.core.partitions.scale cimport FIRST_CODE, MOST_COLUMNS, N_DIRECTIONS
from onlinekern.core.partitions.gaps import MOST_GAPS, leading
from onlinekern.core.partitions.scale import entries_of

# Means are shrunk to the mean of all: by half for a category of this many samples.
SMOOTH = 4.0
# Orders of a categorical column.
N_ORDERS = ORDERS
# For the second order, more other features than this become as many random sums of them.
MOST_OTHERS = 16
# Further orders of a group along directions of these products, with several outputs.
MOST_FURTHER = 3
# Scaled features are clipped here in these products.
FARTHEST = 8.0
# Rows of a step.
BLOCK = 1024
# Spread of the values along the second and third order; 1 along the first. These two often explain
# little, and with a larger spread their splits would displace better ones.
SECOND_UNIT = 0.5


def most_further(Py_ssize_t d, Py_ssize_t n_categories):
    """Most axes that tables and gaps add to d features, n_categories of which are categories."""
    return (N_ORDERS - 1) * n_categories + N_NUMBERS * (most_gaps(d, n_categories) > 0)


def most_gaps(Py_ssize_t d, Py_ssize_t n_categories):
    """Most features with gaps: each takes two columns, and so do all together."""
    left = MOST_COLUMNS - N_DIRECTIONS - N_NUMBERS - d - (N_ORDERS - 1) * n_categories
    return max(0, min(d - n_categories, MOST_GAPS, left // 2))


def steps_of_tables(Py_ssize_t n, Py_ssize_t n_ordered):
    """Steps of a `TableLearner` with n samples and n_ordered categorical columns and groups."""
    return 2 * n_ordered + ((n + BLOCK - 1) // BLOCK if n_ordered else 0)


class TableLearner:
    """Learns the orders of categorical columns and of groups in small steps.

    Call `begin`, then `step` with 0 ... `n_steps` - 1. Then `arrays` returns the tables, and
    `groups` the groups.

    Parameters
    ----------
    n, d : int
        Samples and features.
    categories : tuple of int
        Categorical features.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t d, categories):
        self.n, self.d = n, d
        self.categories = np.array(categories, dtype=np.intp)
        self.numbers = np.delete(np.arange(d), self.categories)
        self.found, self.places = [], []
        self.hot, self.n_steps = None, 0

    def begin(self, X, center, factor, targets, draws, hot):
        """Set the samples X, centers and factors of numeric features, and a few targets.

        `draws` is the numpy.random.RandomState of the random sums; `hot` is a `GroupLearner` that
        has found its groups.
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
        # The mean of the targets is that of their products with 1.
        self.one = np.ones((self.n, 1)), np.zeros(1)

    def step(self, Py_ssize_t k):
        """Do step k; steps are done in ascending order."""
        cdef Py_ssize_t size = self.n_ordered, last = self.n_steps - size
        if k < size:
            self.order(k)
        elif k < last:
            self.mix(k - size)
        else:
            self.order_again(k - last)

    def order(self, k):
        """Find the first order (by mean targets) of categorical column or group k."""
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
        """Compute the few random sums of all features for block k of the rows."""
        rows, numbers = slice(k * BLOCK, (k + 1) * BLOCK), self.numbers
        X = np.ascontiguousarray(self.X[rows])
        Z = (X[:, numbers] - self.center[numbers]) * self.factor[numbers]
        Z = np.clip(Z, -FARTHEST, FARTHEST)
        Z[np.isnan(Z)] = 0
        places = [own[entries[rows], :1] for own, (entries, _) in zip(self.first, self.coded)]
        self.others[rows] = np.hstack([Z, *places]) @ self.signs

    def order_again(self, k):
        """Find the second order (by products) of column or group k; assemble all its orders."""
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
        """Positions of the entries of k along the directions in which mean products differ most.

        The products are those of the targets with `others`, from which the part that the column's
        own positions contribute is subtracted. Returns an ndarray (size, n_orders), with fewer
        columns if the means differ in fewer directions.
        """
        entries, counts = self.coded[k]
        sums = product_sums(entries, np.ascontiguousarray(self.targets), others, own, signs)
        mean = sums.sum(axis=0) / self.n
        deviations = (sums - counts[:, None] * mean) / (counts + SMOOTH)[:, None]
        return in_units(leading(deviations, counts, n_orders), counts)

    def arrays(self):
        """The argument `tables` of a `Scale`; None without categorical columns."""
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
    """The entry of each value in its table, and the number of values of each entry."""
    size = FIRST_CODE + 1 + int(np.nanmax(values, initial=-1))
    entries = entries_of(values, size)
    return entries, counts_of(entries, size)


def counts_of(entries, Py_ssize_t size):
    """Number of samples of each of `size` entries, ndarray of float64."""
    return np.bincount(entries, minlength=size).astype(float)


def product_sums(const Py_ssize_t[::1] entries, const double[:, ::1] targets,
                 const double[:, ::1] others, const double[::1] own, const double[::1] signs):
    """Sums for each entry e of targets[i, a] (others[i, j] - own[e] signs[j]), ndarray (size, m).

    `own` are the column's own positions, which `others` contain with these signs.
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
    """Positions shifted to mean 0 over the samples, divided by the deviation of the first column.

    Entries without samples are at 0.
    """
    total, counts = counts.sum(), counts[:, None]
    mean = (counts * places).sum(axis=0) / total
    deviation = np.sqrt((counts * (places - mean) ** 2).sum(axis=0) / total)[0]
    if not deviation > 1e-12:
        return np.zeros(places.shape)
    return np.where(counts > 0, (places - mean) / deviation, 0.0)


def check_categories(categories, Py_ssize_t d):
    """The features as a tuple of int; ValueError unless they ascend within [0, d)."""
    found = tuple(map(int, categories))
    if any(not 0 <= feature < d for feature in found) or sorted(set(found)) != list(found):
        raise ValueError(f"categories must be features in [0, {d}), ascending, got {categories}")
    if found and d + (N_ORDERS - 1) * len(found) + N_DIRECTIONS > MOST_COLUMNS:
        raise ValueError(f"trees split rows of at most {MOST_COLUMNS} columns: {d} features, "
                         f"{len(found)} of them categories, are too many")
    return found


def on_axes(numbers, before, after):
    """Convert numbers per axis of the scale `before` to the axes of the scale `after`.

    A new axis gets the number of the first axis of its feature, or the mean if it belongs to all
    gaps. The orders of a new group get the largest number of its members.
    """
    known = dict(zip(keys(before), numbers))
    mean = np.mean(numbers)
    found = np.array([known.get(key, known.get((key[0], 0), mean)) for key in keys(after)])
    if before.groups is None and after.groups is None:
        return found
    alone = found if before.groups is None else before.groups.as_members(found)
    return alone if after.groups is None else after.groups.as_orders(alone, found, before.groups)


def keys(scale):
    """A pair for each axis: its feature, and its number among the axes of that feature."""
    found, turns = [], {}
    for source in scale.source_of_axes().tolist():
        turns[source] = turns.get(source, -1) + 1
        found.append((source, turns[source]))
    return found


def of_features(shares, scale):
    """Sum the shares of all axes by feature, ndarray of shape (d,).

    The shares of the axes of all gaps are divided among the features with gaps by their weights
    there, and those of a group's orders among its members.
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
