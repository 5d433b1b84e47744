"""Where the function of some rows changes, for trees that are to cut there.

Kernel least squares of a few of the rows give gradients: the mean square along each feature, the
leading directions of the gradients' outer product, and the slopes of each row along both. A forest
does that in pieces (`models.forest_renewal`), `look` at once.
"""
from collections import namedtuple

import numpy as np

from onlinekern.core.features.gradients import (
    MOST_LINEAR, MOST_OUTPUTS, KernelGradients, few_outputs, iterated_directions,
    leading_directions, n_equations, signed)
from onlinekern.core.partitions.renewal import slopes_of, spread, units
from onlinekern.core.partitions.scale cimport N_DIRECTIONS, Scale

# The kernel machine that tells where the function changes: rows, numbers, landmarks, width.
cdef Py_ssize_t TAUGHT = 2048
cdef Py_ssize_t TAUGHT_NUMBERS = 1 << 20
cdef Py_ssize_t LEAST_TAUGHT = 256
LANDMARKS = 200
# A light one, for rows of many features, has fewer, no linear part, and directions that are found
# by iteration from its gradients (docs/kernel_forests.md).
FEW_LANDMARKS = 100
# Directions mix features in which fewer pairs of rows agree, as they do of six equally frequent
# values, and others if there are so many rows for each
# (docs/kernel_forests_tried.md).
cdef double MOST_TIES = 1 / 6.0
cdef Py_ssize_t ROWS_OF_TIED = 50
WIDTH = 0.25
# Scaled values beyond do not count for it.
FARTHEST_TAUGHT = 8.0
# Whole numbers of at most so many values are labels, if nothing else is said of them.
cdef Py_ssize_t MOST_LABELS = 32
# Of more labels than this the rarest are told apart no more.
cdef Py_ssize_t MOST_CLASSES = 256

Look = namedtuple("Look", "scale slopes slope_of metric importances")
Look.__doc__ = """What trees grow by: a `Scale`; absolute slopes of rows, and which of them belongs
to each row (`slopes_of`); the metric for the next look; and the share of each feature in the mean
square of the gradient."""


def number_taught(Py_ssize_t n, Py_ssize_t d):
    """How many of n rows the kernel machine learns, the last ones."""
    return min(n, max(LEAST_TAUGHT, min(TAUGHT, TAUGHT_NUMBERS // d)))


def n_landmarks(Py_ssize_t n, bint is_light):
    """How many of n rows the kernel machine has as landmarks."""
    return min(n, FEW_LANDMARKS if is_light else LANDMARKS)


def teacher_bytes(Py_ssize_t n, Py_ssize_t d, Py_ssize_t n_outputs, bint is_light,
                  bint is_directed):
    """How many bytes a kernel machine takes at most that learns of n rows where to cut.

    Of each row it has the row, kernel values and linear features, targets, squares of slopes, and
    these as trees have them; for directions the gradient for each target, twice if it is light; the
    equations, their factors, and what they are solved with.
    """
    cdef Py_ssize_t taught = number_taught(n, d), told = min(n_outputs, MOST_OUTPUTS)
    cdef Py_ssize_t size = n_equations(n_landmarks(taught, is_light), d, not is_light)
    cdef Py_ssize_t kept = told * (1 + is_light) if is_directed else 0
    by_row = (3 + kept) * d + size + told + 2 * N_DIRECTIONS
    return 8 * (taught * by_row + 3 * size * size + (2 * d * d if is_directed else 0))


def signs_of(labels, Py_ssize_t n_classes):
    """Targets of the outputs that class numbers stand for, ndarray of shape (n, n_outputs)."""
    if n_classes <= 2:
        return np.where(labels > 0, 1.0, -1.0)[:, None]
    return np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)


def goals_of(y, kind):
    """Class numbers or None, targets in units of their deviation or None, and how many classes."""
    values, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    few = len(values) <= MOST_LABELS and (values == np.floor(values)).all()
    if kind == "labels" or (kind == "auto" and few):
        if len(values) > MOST_CLASSES:
            numbers = np.full(len(values), MOST_CLASSES - 1)
            numbers[np.argsort(-counts, kind="stable")[:MOST_CLASSES]] = np.arange(MOST_CLASSES)
            labels = numbers[labels]
        return labels.astype(np.int32), None, min(len(values), MOST_CLASSES)
    largest = max(np.abs(y).max(), 1e-300)
    offset, unit = units(y / largest)
    return None, (y / largest - offset) / unit, 0


def bounded(Z):
    """Rows as the kernel machine sees them: no value is far from all others."""
    return np.clip(Z, -FARTHEST_TAUGHT, FARTHEST_TAUGHT)


def machine_of(Z, targets, metric, draws, bint is_directed, bint is_light=False):
    """The kernel machine that is to learn rows, `KernelGradients`.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        In the units of the trees, `bounded`.
    targets : ndarray of shape (n, n_outputs)
        In units of their deviation.
    metric : ndarray of shape (d,)
    draws : numpy.random.RandomState
        Draws the landmarks.
    is_directed : bool
        Whether directions are wanted; where they would cost too much there are none.
    is_light : bool
        Whether it is to cost little, though features are many.
    """
    few, landmarks = drawn_for(targets, draws, is_light)
    return drawn_machine(Z, few, landmarks, metric, is_directed, is_light)


def drawn_for(targets, draws, bint is_light):
    """What a machine draws: few targets, and the rows that are landmarks."""
    n = len(targets)
    return few_outputs(targets, draws), draws.permutation(n)[:n_landmarks(n, is_light)]


def drawn_machine(Z, few, landmarks, metric, bint is_directed, bint is_light,
                  Py_ssize_t room=0, bint keeps=False):
    """The machine of what has been drawn; the last two are its own, the others of `machine_of`."""
    d = Z.shape[1]
    return KernelGradients(Z, few, landmarks, metric, WIDTH / d,
                           is_directed and 1 < d <= MOST_LINEAR, not is_light, room, keeps)


def mixed_features(machine, Py_ssize_t n_empty=0):
    """Which features directions mix, ndarray of intp; none: there are to be no directions.

    They are those of many values, and others, but `n_empty` that are 0, if there are many rows for
    each of these. A sum of
    features of few values, or of one that most rows have, has many values, along which a cut finds
    something in any noise.
    """
    half = len(machine.rows) // 2
    if not machine.is_directed or half == 0:
        return np.zeros(0, dtype=np.intp)
    # Rows side by side may be alike because they are near in time.
    ties = ties_of(machine.rows, half)
    mixed = np.flatnonzero(ties < MOST_TIES)
    if ROWS_OF_TIED * (len(ties) - n_empty - len(mixed)) <= len(machine.rows):
        mixed = np.arange(len(ties))
    return mixed if len(mixed) > 1 else mixed[:0]


def ties_of(const double[:, ::1] rows, Py_ssize_t half):
    """Of `half` pairs of rows the share that agrees in each feature, ndarray of shape (d,)."""
    cdef Py_ssize_t i, j
    ties = np.zeros(rows.shape[1])
    cdef double[::1] counts = ties
    for i in range(half):
        for j in range(rows.shape[1]):
            counts[j] += rows[i, j] == rows[half + i, j]
    return ties / half


def leading_of(machine, mixed):
    """Directions along which the function changes most, of such features (`mixed_features`).

    They have no signs yet. None: there are none.
    """
    if not len(mixed):
        return None
    if machine.product is None:
        return iterated_directions(machine.gradients, mixed, N_DIRECTIONS)
    product = machine.product[np.ix_(mixed, mixed)] / len(machine.squares)
    return leading_directions(product, N_DIRECTIONS)


def directions_of(machine, mixed, leading):
    """The directions that `leading_of` has found, ndarray (d, n) of float32, or None."""
    if leading is None:
        return None
    directions = np.zeros((machine.rows.shape[1], N_DIRECTIONS), dtype=np.float32)
    directions[mixed] = signed(leading, N_DIRECTIONS)
    return directions


def metric_of(machine):
    """The metric for the next machine, and the share of each feature in the mean square."""
    own = machine.squares.mean(axis=0)
    metric = np.maximum(np.sqrt(own / max(own.mean(), 1e-300)), 1e-3)
    return metric / metric.mean(), own / max(own.sum(), 1e-300)


def look(X, targets, metric, draws):
    """Look where the function of rows changes.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Of many rows the last ones tell.
    targets, metric, draws
        As of `machine_of`.

    Returns
    -------
    Look
    """
    n = len(X)
    last = slice(n - number_taught(n, X.shape[1]), n)
    center, factor = spread(X)
    Z = bounded((X[last] - center) * factor)
    machine = machine_of(Z, targets[last], metric, draws, True)
    machine.finish()
    mixed = mixed_features(machine)
    directions = directions_of(machine, mixed, leading_of(machine, mixed))
    squares = machine.squares
    if directions is not None:
        squares = np.hstack([squares, machine.squares_along(directions, slice(None))])
    slopes, slope_of = slopes_of(squares, squares.mean(axis=0), n)
    return Look(Scale(center, factor, directions), slopes, slope_of, *metric_of(machine))
