"""What the parts of a renewal of a forest take about, in nanoseconds of a processor.

A renewal is spread over samples by these figures: how even its work is depends on them.
"""
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT

# A number of a row that is copied, brought to scale or loaded, and one that is measured.
COPY = 4
SCALE = 10
LOAD = 15
MEASURE = 7
# A number of a row that tells of others, where values are missing.
GAP = 15
# A pair of equations that the kernel machine learns, and a landmark and feature of a gradient.
PAIR = 0.1
SLOPE = 0.4
# A step that is done once.
STEP = 3e5
# Growth of a row in a tree, by exact cuts along an axis, those of leaves alone, and a step of its
# rank there.
GROWTH = 270
EXACT = 30
EXACT_LEAVES = 9
RANK = 4
# Replay of a row in a tree, an output of it, and a walk.
REPLAY = 12
OUTPUT = 3
WALK = 60
# Where the memory is full, a renewal has at most so many times the work of a sample beside it.
MOST_TIMES = 24


def once(*functions):
    """A unit of a look for each function, or function and what it gets: (function, this, cost)."""
    return [(*(each if isinstance(each, tuple) else (each, None)), STEP) for each in functions]


def by_rows(function, Py_ssize_t n, Py_ssize_t size, double cost):
    """Units of a look that each see some of n rows, of which one takes so long."""
    return [(function, slice(first, min(first + size, n)), cost * size)
            for first in range(0, n, size)]


def learnt_again(Py_ssize_t n_outputs):
    """What a row takes in a tree where it is learnt again."""
    return REPLAY + OUTPUT * n_outputs


def times_of_exact(Py_ssize_t n_sought, bint is_whole):
    """How many times the work of others a tree takes that is cut exactly along so many axes."""
    return 1 + (EXACT if is_whole else EXACT_LEAVES) * n_sought / <double> GROWTH


def late_row(Py_ssize_t n_outputs):
    """What a row that has come meanwhile takes, which is walked too, where others take 1."""
    return 1 + WALK / learnt_again(n_outputs)


def rows_of_tree(Py_ssize_t n, double share, Py_ssize_t most_rows):
    """How many of n rows a tree grows from."""
    return min(n, max(64, int(share * n)), most_rows)


def samples_spread_over(int64_t begun, double spread, Py_ssize_t memory, Py_ssize_t n_trees,
                        double share, Py_ssize_t most_rows, Py_ssize_t replays, Py_ssize_t n_exact,
                        Py_ssize_t n_outputs):
    """How many samples a renewal of all trees is spread over.

    They are a share of those before it. The largest renewal may last longer, so that its work on a
    sample is not above `MOST_TIMES` of what learning one takes between renewals. Shorter streams
    would end before a renewal that lasts longer is whole.

    Parameters
    ----------
    begun : int
        Samples before it.
    spread : float
        The share.
    memory, n_trees, share, most_rows, replays
        As of `ForestSpace`.
    n_exact, n_outputs : int
    """
    cdef Py_ssize_t n = min(begun, memory), least = int(spread * n)
    if begun < memory or least == 0:
        return least
    again = learnt_again(n_outputs)
    growth = GROWTH + EXACT * MOST_SOUGHT * n_exact / n_trees
    work = growth * rows_of_tree(n, share, most_rows) + again * replays * n
    return min(max(least, int(work / (MOST_TIMES * (again + WALK)))), n)


def shares_of_stages(double look, Py_ssize_t n, Py_ssize_t lag, tuple settings,
                     Py_ssize_t n_exact, Py_ssize_t n_outputs):
    """After which share of its samples a renewal has looked, and its trees have grown.

    Parameters
    ----------
    look : float
        What the look takes.
    n, lag : int
        Samples that it grows from, and those that it is spread over.
    settings : tuple
        As of `Renewal`.
    n_exact, n_outputs : int
    """
    n_trees, _, _, share, most_rows, replays = settings
    growth = GROWTH * n_trees + EXACT * MOST_SOUGHT * n_exact
    rows = replays * n + late_row(n_outputs) * lag
    ends = np.cumsum([look, growth * rows_of_tree(n, share, most_rows),
                      learnt_again(n_outputs) * n_trees * rows])
    return ends[:2] / ends[2]
