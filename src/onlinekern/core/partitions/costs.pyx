"""What the parts of a renewal of a forest take about, in nanoseconds of a processor.

A renewal is spread over samples by these figures: how even its work is depends on them.
"""
from libc.math cimport log2, sqrt
from libc.stdint cimport int64_t

from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT

# A unit of the look that calls more functions of arrays, beside what is in it.
ARRAYS = 9e3
# A number of a row that is copied, brought to scale, seen or loaded, one that may be bent, and one
# that is measured.
COPY = 1
SCALE = 1.5
SEE = 3
LOAD = 0.6
BEND = 10
MEASURE = 5
# A number of a row that tells of others, where values are missing.
GAP = 15
# A pair of equations that the kernel machine learns, and a landmark and feature of a gradient.
PAIR = 0.06
SLOPE = 0.2
# A step that is done once, from a light to a heavy one; what it takes for each column, where it
# looks at all of them, or for each row, and where slopes of rows are averaged; and a step of a
# table.
LIGHT = 1.5e4
STEP = 5e4
LONG = 7e4
HEAVY = 1.1e5
COLUMN = 1e3
ROW = 5
AVERAGED = 25
TABLE = 3e5
# What the first unit that calls functions of arrays takes more than others of its stage, one that
# calls many of them or BLAS, and the first of another stage: their instructions are in no cache.
FIRST_ARRAYS = 2.5e4
FIRST_BLAS = 5e4
FIRST = 1e4
# A tree; growth of a row in it, a level of it for all and for each feature; of a full leaf; what
# each row that is kept is told; and how many times all that takes with several outputs.
TREE = 4e3
LEVEL = 5.5
FEATURE = 0.075
LEAF = 100
TELL = 12
SEVERAL = 1.25
# The same of a large tree, all in all; exact cuts of a row along an axis beside, with one output
# and with several; of leaves alone, along so many axes what the rest of a tree takes; and a step of
# a rank.
GROWTH = 115
EXACT = (20, 55)
EXACT_LEAVES = 30.0
RANK = 1.3
# Replay of a row in a tree, and an output of it; and half as much again for so many leaves, as
# their square root, whose cells are not in the caches.
REPLAY = 4
OUTPUT = 2
LEAVES = 1600
# A walk in a tree of n full leaves takes so many times n^(2/3): large trees are not in the caches.
WALK = 0.42
# The first rows that are walked take so many times as long: no node is in the caches.
COLD = 256
TIMES_OF_COLD = 2.2
# Where the memory is full, a renewal has at most so many times the work of a sample beside it: what
# the default forest of two classes has in a quarter of the memory (docs/kernel_forests.md). This is
# told by what a row took in a tree when it was chosen: its growth, an exact cut along an axis,
# replay and learning. Growth takes less now, but renewals last as long: so models that were saved
# in one go on with the same bits.
MOST_TIMES = 7.6
GROWTH_THEN = 270
EXACT_THEN = 30
REPLAY_THEN = 3
OUTPUT_THEN = 3
LEARN_THEN = 114
# The first renewals take so many times fewer samples than others: a stream that ends before they
# are whole errs more (docs/kernel_forests_tried.md).
EARLY_SHARE = 16


def learnt_again(double n_leaves, Py_ssize_t n_outputs):
    """What a row takes in a tree where it is learnt again."""
    return (REPLAY + OUTPUT * n_outputs) * (1 + 0.5 * sqrt(n_leaves / LEAVES))


def times_of_exact(Py_ssize_t n_sought, bint is_whole, Py_ssize_t n_telling, double share):
    """How many times the work of others a tree takes that is cut exactly along so many axes.

    `share` is that of the rows of the others which it grows from.
    """
    growth = GROWTH * SEVERAL if n_telling > 1 else GROWTH
    return share * (1 + n_sought / (growth / EXACT[n_telling > 1] if is_whole else EXACT_LEAVES))


def late_row(double n_leaves, Py_ssize_t n_outputs):
    """What a row that has come meanwhile takes, which is walked too, where others take 1."""
    return 1 + WALK * n_leaves ** (2 / 3.0) / learnt_again(n_leaves, n_outputs)


def late_rows(double n_leaves, Py_ssize_t lag, Py_ssize_t n_outputs):
    """What all of them take, and how many are the first."""
    cold = min(lag, COLD)
    return late_row(n_leaves, n_outputs) * (lag + (TIMES_OF_COLD - 1) * cold), cold


def leaves_of_tree(Py_ssize_t n, tuple settings):
    """How many leaves a tree of n rows has, if they are full."""
    _, most_in_leaf, _, share, most_rows, _ = settings
    return rows_of_tree(n, share, most_rows) / <double> most_in_leaf


def rows_of_tree(Py_ssize_t n, double share, Py_ssize_t most_rows):
    """How many of n rows a tree grows from."""
    return min(n, max(64, int(share * n)), most_rows)


def samples_spread_over(int64_t begun, double spread, Py_ssize_t early, Py_ssize_t memory,
                        Py_ssize_t n_trees, double share, Py_ssize_t most_rows,
                        Py_ssize_t replays, Py_ssize_t n_exact, Py_ssize_t n_outputs):
    """How many samples a renewal of all trees is spread over.

    They are a share of those before it, and a smaller one of the first ones. The largest renewal
    may last longer, so that its work on a sample is not above `MOST_TIMES` of what learning one
    takes between renewals. Shorter streams would end before a renewal that lasts longer is whole.

    Parameters
    ----------
    begun : int
        Samples before it.
    spread : float
        The share.
    early : int
        Up to so many samples a renewal is one of the first ones.
    memory, n_trees, share, most_rows, replays
        As of `ForestSpace`.
    n_exact, n_outputs : int
    """
    cdef Py_ssize_t n = min(begun, memory), least = int(spread * n)
    if begun <= early:
        least = int(spread * n / EARLY_SHARE)
        # Over one sample all would be done at once, too, and a sample later.
        return least if least > 1 else 0
    if begun < memory or least == 0:
        return least
    again = REPLAY_THEN + OUTPUT_THEN * n_outputs
    growth = GROWTH_THEN + EXACT_THEN * MOST_SOUGHT * n_exact / n_trees
    work = growth * rows_of_tree(n, share, most_rows) + again * replays * n
    return min(max(least, int(work / (MOST_TIMES * (again + LEARN_THEN)))), n)


def shares_of_stages(double look, Py_ssize_t n, Py_ssize_t d, Py_ssize_t lag, tuple settings,
                     Py_ssize_t n_exact, double exact_share, Py_ssize_t n_telling,
                     Py_ssize_t n_outputs):
    """After which share of its samples a renewal has looked, and its trees have grown.

    Parameters
    ----------
    look : float
        What the look takes.
    n, d, lag : int
        Samples that it grows from, their features, and the samples that it is spread over.
    settings : tuple
        As of `Renewal`.
    n_exact, exact_share
        As of `ForestSpace`.
    n_telling, n_outputs : int
        Outputs that tell where to cut, and all.
    """
    n_trees, _, _, share, most_rows, replays = settings
    grown_from, n_leaves = rows_of_tree(n, share, most_rows), leaves_of_tree(n, settings)
    levels = log2(max(2, n_leaves))
    growth = TREE + (LEVEL + FEATURE * d) * levels * grown_from + LEAF * n_leaves + TELL * n
    growth *= n_trees * (SEVERAL if n_telling > 1 else 1)
    exactly_from = min(grown_from, rows_of_tree(n, exact_share, n))
    growth += EXACT[n_telling > 1] * MOST_SOUGHT * n_exact * exactly_from
    late, _ = late_rows(n_leaves, lag, n_outputs)
    replay = learnt_again(n_leaves, n_outputs) * n_trees * (replays * n + late)
    return look / (look + growth + replay), (look + growth) / (look + growth + replay)
