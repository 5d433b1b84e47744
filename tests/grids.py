"""Grids of parameters: which rows the gate walks, and which `.ci/long` walks beside them.

A fault is of one value, or of two together, far more often than of three. So the gate walks the
rows in which each two values of two axes meet; the others have the mark `long`.
"""

import itertools

import pytest


def meeting(*axes):
    """Return few rows of a grid in which each two values of two axes meet."""
    rows = list(itertools.product(*(range(len(axis)) for axis in axes)))
    wanted = set().union(*map(pairs_of, rows))
    chosen = []
    while wanted:
        chosen.append(max(rows, key=lambda row: len(pairs_of(row) & wanted)))
        wanted -= pairs_of(chosen[-1])
    return [tuple(axis[i] for axis, i in zip(axes, row, strict=True)) for row in sorted(chosen)]


def pairs_of(row):
    """Return the pairs of values of a row, each with its two axes."""
    return set(itertools.combinations(enumerate(row), 2))


def grid(*axes, few=None):
    """Return all rows of a grid for `parametrize`; the mark `long` on those beyond `meeting`.

    With `few`, the gate walks rows of these axes, which have fewer values.
    """
    kept = meeting(*(few or axes))
    return [marked(row, row not in kept) for row in itertools.product(*axes)]


def thinned(first, second, share):
    """Return all pairs for `parametrize`; one of so many, with each value, is not `long`.

    For what is alike for all values of one axis, such as a check that all learners share.
    """
    rows = itertools.product(enumerate(first), enumerate(second))
    return [marked((a, b), (i + j) % share != 0) for (i, a), (j, b) in rows]


def marked(row, long):
    """Return a row as a parameter."""
    return pytest.param(*row, marks=pytest.mark.long if long else ())


def forms(dtypes, layouts, windows, turn=0):
    """Return (dtype, layout, window): each two of them meet, and in the next turn the other halves.

    Of two dtypes, each layout and window has one in even turns, the other in odd ones.
    """
    for i, layout in enumerate(layouts):
        for j, window in enumerate(windows):
            yield dtypes[(i + j + turn) % len(dtypes)], layout, window
