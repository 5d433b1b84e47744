"""What the parts of a renewal of a forest take about, in nanoseconds of a processor.

A renewal is spread over samples by these figures: how even its work is depends on them.
"""
# A number of a row that is copied, brought to scale or loaded, and one that is measured.
COPY = 2
SCALE = 8
LOAD = 15
MEASURE = 5
# A pair of equations that the kernel machine learns, and a landmark and feature of a gradient.
PAIR = 0.06
SLOPE = 0.2
# A step that is done once.
STEP = 2e5
# Growth of a row in a tree, by exact cuts along an axis, and its rank there.
GROWTH = 400
EXACT = 100
RANK = 15
# Replay of a row in a tree, an output of it, and a walk.
REPLAY = 20
OUTPUT = 3
WALK = 40


def once(*functions):
    """A unit of a look for each function, or function and what it gets: (function, this, cost)."""
    return [(*(each if isinstance(each, tuple) else (each, None)), STEP) for each in functions]


def by_rows(function, Py_ssize_t n, Py_ssize_t size, double cost):
    """Units of a look that each see some of n rows, of which one takes so long."""
    return [(function, slice(first, min(first + size, n)), cost * size)
            for first in range(0, n, size)]
