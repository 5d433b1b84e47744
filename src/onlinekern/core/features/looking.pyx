"""The teacher of forests: finds where a function changes, so that trees split there.

Kernel least squares is fitted to the last rows. Its gradients give the mean squared slope along
each feature, the leading eigenvectors of the gradients' mean outer product as directions, and the
slopes of each row along both. A forest does this in small steps (`models.forest_renewal`); `look`
does it at once.
"""
from collections import namedtuple

import numpy as np

from onlinekern.core.features.gradients import (
    MOST_LINEAR, MOST_OUTPUTS, KernelGradients, few_outputs, iterated_directions,
    leading_directions, n_equations, signed)
from onlinekern.core.partitions.renewal import slopes_of, spread, units
from onlinekern.core.partitions.scale cimport N_DIRECTIONS, Scale

# The teacher learns the last TAUGHT rows; with many features fewer, TAUGHT_NUMBERS / d but at least
# LEAST_TAUGHT.
cdef Py_ssize_t TAUGHT = 2048
cdef Py_ssize_t TAUGHT_NUMBERS = 1 << 20
cdef Py_ssize_t LEAST_TAUGHT = 256
LANDMARKS = 200
# A light teacher, for many features, has fewer landmarks and no linear part, and finds directions
# by iteration on its gradients (docs/kernel_forests.md).
FEW_LANDMARKS = 100
# Directions mix features of many values: in which fewer than this share of pairs of rows agree,
# that of six equally frequent values. They mix the others too if there are ROWS_OF_TIED rows for
# each of these (docs/kernel_forests_tried.md).
cdef double MOST_TIES = 1 / 6.0
cdef Py_ssize_t ROWS_OF_TIED = 50
# gamma of the teacher, times the number of features.
WIDTH = 0.25
# Scaled values are clipped here for the teacher.
FARTHEST_TAUGHT = 8.0
# Targets of kind 'auto' are labels if they are integers of at most this many values.
cdef Py_ssize_t MOST_LABELS = 32
# Rarest labels beyond this number are treated as one class.
cdef Py_ssize_t MOST_CLASSES = 256

Look = namedtuple("Look", "scale slopes slope_of metric importances")
Look.__doc__ = """The result of `look`: a `Scale`; absolute slopes, and the row of them for each row
(`slopes_of`); the metric for the next look; and the share of each feature in the mean square of the
gradient."""


def number_taught(Py_ssize_t n, Py_ssize_t d):
    """Number of the last of n rows that the teacher learns."""
    return min(n, max(LEAST_TAUGHT, min(TAUGHT, TAUGHT_NUMBERS // d)))


def n_landmarks(Py_ssize_t n, bint is_light):
    """Number of landmarks of a teacher of n rows."""
    return min(n, FEW_LANDMARKS if is_light else LANDMARKS)


def teacher_bytes(Py_ssize_t n, Py_ssize_t d, Py_ssize_t n_outputs, bint is_light,
                  bint is_directed):
    """Upper bound on the bytes of a teacher of n rows.

    For each row it stores the row, its kernel values and linear features, targets, squared slopes,
    and the slopes for trees. For directions it also stores the gradient of each output, twice if it
    is light. Then there are the normal equations, their factor, and a copy to solve them.
    """
    cdef Py_ssize_t taught = number_taught(n, d), few = min(n_outputs, MOST_OUTPUTS)
    cdef Py_ssize_t size = n_equations(n_landmarks(taught, is_light), d, not is_light)
    cdef Py_ssize_t kept = few * (1 + is_light) if is_directed else 0
    by_row = (3 + kept) * d + size + few + 2 * N_DIRECTIONS
    return 8 * (taught * by_row + 3 * size * size + (2 * d * d if is_directed else 0))


def signs_of(labels, Py_ssize_t n_classes):
    """Targets 1 and -1 of the outputs for class numbers, ndarray of shape (n, n_outputs)."""
    if n_classes <= 2:
        return np.where(labels > 0, 1.0, -1.0)[:, None]
    return np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)


def goals_of(y, kind):
    """Targets as (class numbers, None, number of classes) or (None, standardised targets, 0)."""
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
    """Scaled rows, clipped for the teacher: an outlier would be far from all landmarks."""
    return np.clip(Z, -FARTHEST_TAUGHT, FARTHEST_TAUGHT)


def machine_of(Z, targets, metric, draws, bint is_directed, bint is_light=False):
    """A teacher (`KernelGradients`) that is not fitted yet.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Scaled rows, `bounded`.
    targets : ndarray of shape (n, n_outputs)
        Standardised targets.
    metric : ndarray of shape (d,)
    draws : numpy.random.RandomState
        Draws the landmarks.
    is_directed : bool
        Whether directions are wanted; with too many features there are none.
    is_light : bool
        Whether it is a light teacher.
    """
    few, landmarks = drawn_for(targets, draws, is_light)
    return drawn_machine(Z, few, landmarks, metric, is_directed, is_light)


def drawn_for(targets, draws, bint is_light):
    """The random parts of a teacher: few sums of the targets, and the numbers of the landmarks."""
    n = len(targets)
    return few_outputs(targets, draws), draws.permutation(n)[:n_landmarks(n, is_light)]


def drawn_machine(Z, few, landmarks, metric, bint is_directed, bint is_light,
                  Py_ssize_t room=0, bint keeps=False):
    """A teacher with the results of `drawn_for`; `room` and `keeps` are of `KernelGradients`."""
    d = Z.shape[1]
    return KernelGradients(Z, few, landmarks, metric, WIDTH / d,
                           is_directed and 1 < d <= MOST_LINEAR, not is_light, room, keeps)


def mixed_features(machine, Py_ssize_t n_empty=0):
    """Features that directions mix, ndarray of intp; empty: there will be no directions.

    They are the features of many values. The others are added if there are enough rows for each of
    them (`n_empty` columns, which are 0, do not count). A sum of features of few values has many
    values itself, so a split along it could fit noise.
    """
    half = len(machine.rows) // 2
    if not machine.is_directed or half == 0:
        return np.zeros(0, dtype=np.intp)
    # Pair rows half a block apart: adjacent rows may agree because they are close in time.
    ties = ties_of(machine.rows, half)
    mixed = np.flatnonzero(ties < MOST_TIES)
    if ROWS_OF_TIED * (len(ties) - n_empty - len(mixed)) <= len(machine.rows):
        mixed = np.arange(len(ties))
    return mixed if len(mixed) > 1 else mixed[:0]


def ties_of(const double[:, ::1] rows, Py_ssize_t half):
    """Share of the pairs of rows i and half + i that agree in each feature, ndarray (d,)."""
    cdef Py_ssize_t i, j
    ties = np.zeros(rows.shape[1])
    cdef double[::1] counts = ties
    for i in range(half):
        for j in range(rows.shape[1]):
            counts[j] += rows[i, j] == rows[half + i, j]
    return ties / half


def leading_of(machine, mixed):
    """Directions along which the function changes most, over the features `mixed`; None: none.

    Their signs are not fixed yet.
    """
    if not len(mixed):
        return None
    if machine.product is None:
        return iterated_directions(machine.gradients, mixed, N_DIRECTIONS)
    product = machine.product[np.ix_(mixed, mixed)] / len(machine.squares)
    return leading_directions(product, N_DIRECTIONS)


def directions_of(machine, mixed, leading):
    """The directions of `leading_of` with fixed signs over all features, (d, n) float32, or None.
    """
    if leading is None:
        return None
    directions = np.zeros((machine.rows.shape[1], N_DIRECTIONS), dtype=np.float32)
    directions[mixed] = signed(leading, N_DIRECTIONS)
    return directions


def metric_of(machine):
    """The metric for the next teacher, and the share of each feature in the mean squared gradient.
    """
    own = machine.squares.mean(axis=0)
    metric = np.maximum(np.sqrt(own / max(own.mean(), 1e-300)), 1e-3)
    return metric / metric.mean(), own / max(own.sum(), 1e-300)


def look(X, targets, metric, draws):
    """Fit a teacher and compute all that trees need from it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The teacher learns the last of many rows.
    targets, metric, draws
        See `machine_of`.

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
