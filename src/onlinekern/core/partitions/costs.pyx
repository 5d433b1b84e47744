"""Estimated costs of the stages of a forest's renewal, in nanoseconds of CPU time.

The work of a renewal is spread over samples by these estimates. The better they are, the more even
is the work per sample.
"""
from libc.math cimport log2, sqrt
from libc.stdint cimport int64_t

from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT

# Overhead of a unit of the look that calls several NumPy functions.
ARRAYS = 9e3
# Per element of a row: to copy it, scale it for trees or for the kernel machine, load it into the
# grower, test a bend, and measure its spread.
COPY = 1
SCALE = 1.5
SEE = 3
LOAD = 0.6
BEND = 10
MEASURE = 5
# Per element of a row, to learn guesses for missing values.
GAP = 15
# Kernel machine: per row and pair of equations, and per landmark and feature of a gradient.
PAIR = 0.06
SLOPE = 0.2
# A step that is done once, from light to heavy; its additional cost per column or row, and per row
# whose slopes are averaged; and a step of a table.
LIGHT = 1.5e4
STEP = 5e4
LONG = 7e4
HEAVY = 1.1e5
COLUMN = 1e3
ROW = 5
AVERAGED = 25
TABLE = 3e5
# Additional cost of the first unit of a stage, whose instructions are not cached: if it calls NumPy
# functions, if it calls many of them or BLAS, and otherwise.
FIRST_ARRAYS = 2.5e4
FIRST_BLAS = 5e4
FIRST = 1e4
# Growth: per tree; per row and level, and per row, level and feature; per full leaf; per kept row,
# for its residual; and the factor of all these with several outputs.
TREE = 4e3
LEVEL = 5.5
FEATURE = 0.075
LEAF = 100
TELL = 12
SEVERAL = 1.25
# Growth per row of a large tree, in total; additional cost of exact cuts per row and axis, with one
# output and with several; number of axes whose exact cuts take as long as the rest, if leaves are
# split further; and cost per row of a step of ranking.
GROWTH = 115
EXACT = (20, 55)
EXACT_LEAVES = 30.0
RANK = 1.3
# Replay: per row and tree, and per output. Cache misses add half of it for LEAVES leaves per tree;
# this part grows as the square root of the leaves.
REPLAY = 4
OUTPUT = 2
LEAVES = 1600
# A walk through a tree of n full leaves takes WALK n^(2/3), due to cache misses.
WALK = 0.42
# The first COLD rows that are walked take TIMES_OF_COLD times as long: no node is cached.
COLD = 256
TIMES_OF_COLD = 2.2
# If the memory is full, the work of a renewal per sample is at most MOST_TIMES that of learning the
# sample. The default forest of two classes has this work if the lag is a quarter of the memory
# (docs/kernel_forests.md). It is computed with the costs per row and tree at the time of this
# choice: growth, an exact cut along an axis, replay, and learning. Growth takes less now, but the
# lag is kept: models that were saved during a renewal go on with the same bits.
MOST_TIMES = 7.6
GROWTH_THEN = 270
EXACT_THEN = 30
REPLAY_THEN = 3
OUTPUT_THEN = 3
LEARN_THEN = 114
# Early renewals are spread over EARLY_SHARE times fewer samples than later ones: if a stream ended
# before they are done, its errors would be larger (docs/kernel_forests_tried.md).
EARLY_SHARE = 16


def learnt_again(double n_leaves, Py_ssize_t n_outputs):
    """Cost of replaying a row in a tree."""
    return (REPLAY + OUTPUT * n_outputs) * (1 + 0.5 * sqrt(n_leaves / LEAVES))


def times_of_exact(Py_ssize_t n_sought, bint is_whole, Py_ssize_t n_telling, double share):
    """Cost of a tree with exact cuts along `n_sought` axes over that of another tree.

    `share` is the ratio of the numbers of rows that they grow from.
    """
    growth = GROWTH * SEVERAL if n_telling > 1 else GROWTH
    return share * (1 + n_sought / (growth / EXACT[n_telling > 1] if is_whole else EXACT_LEAVES))


def late_row(double n_leaves, Py_ssize_t n_outputs):
    """Cost of a late row, which came after the renewal began and is also walked.

    Unit: the cost of a replayed row.
    """
    return 1 + WALK * n_leaves ** (2 / 3.0) / learnt_again(n_leaves, n_outputs)


def late_rows(double n_leaves, Py_ssize_t lag, Py_ssize_t n_outputs):
    """Cost of all late rows in the same unit, and the number of those walked with a cold cache."""
    cold = min(lag, COLD)
    return late_row(n_leaves, n_outputs) * (lag + (TIMES_OF_COLD - 1) * cold), cold


def leaves_of_tree(Py_ssize_t n, tuple settings):
    """Number of leaves of a tree if all are full, of n kept rows."""
    _, most_in_leaf, _, share, most_rows, _ = settings
    return rows_of_tree(n, share, most_rows) / <double> most_in_leaf


def rows_of_tree(Py_ssize_t n, double share, Py_ssize_t most_rows):
    """Number of rows that a tree grows from, of n kept rows."""
    return min(n, max(64, int(share * n)), most_rows)


def samples_spread_over(int64_t begun, double spread, Py_ssize_t early, Py_ssize_t memory,
                        Py_ssize_t n_trees, double share, Py_ssize_t most_rows,
                        Py_ssize_t replays, Py_ssize_t n_exact, Py_ssize_t n_outputs):
    """The lag: number of samples that a renewal of all trees is spread over.

    It is a share of the samples before the renewal; early renewals have a smaller share. If the
    memory is full, the lag may be longer, so that the work per sample is at most `MOST_TIMES` that
    of learning a sample. Others have no longer lag: short streams would end before it.

    Parameters
    ----------
    begun : int
        Samples before the renewal.
    spread : float
        The share.
    early : int
        A renewal after at most this many samples is an early one.
    memory, n_trees, share, most_rows, replays
        As in `ForestSpace`.
    n_exact, n_outputs : int
    """
    cdef Py_ssize_t n = min(begun, memory), least = int(spread * n)
    if begun <= early:
        least = int(spread * n / EARLY_SHARE)
        # A lag of 1 would do all at once as well, but one sample later.
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
    """Shares of the lag after which the look is done, and after which the trees have grown.

    Parameters
    ----------
    look : float
        Cost of the look.
    n, d, lag : int
        Samples that the trees grow from, their features, and the lag in samples.
    settings : tuple
        As in `Renewal`.
    n_exact, exact_share
        As in `ForestSpace`.
    n_telling, n_outputs : int
        Number of outputs that determine the splits, and of all outputs.
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
