"""What a renewal of a forest computes once: units of features and targets, and slopes."""
import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape, finite_number, positive_number
from onlinekern.core.partitions.trees cimport UPPER_CELLS, UPPER_LEVEL

# Of a row's slopes, so much is the mean of all rows: one gradient may err.
COMMON_SLOPE = 0.1
LEAST_SLOPE = 1e-4


def check_sizes(Py_ssize_t most, **numbers):
    """Raise ValueError unless each of these numbers is in [1, most]."""
    for name, number in numbers.items():
        if not 1 <= number <= most:
            raise ValueError(f"{name} must be in [1, {most}], got {number}")


def check_reach(rows, entered, begun):
    """Raise ValueError unless the last rows hold one of before a renewal, which grows from them."""
    if len(rows) <= entered - begun:
        raise ValueError(f"rows must reach back to sample {begun}, where a renewal began: more "
                         f"than {entered - begun}, got {len(rows)}")


def outputs_of(Py_ssize_t n_labels):
    """How many outputs a learner of so many classes has."""
    return n_labels if n_labels > 2 else 1


def check_labels(labels, Py_ssize_t n_labels):
    """Raise ValueError unless these are class numbers."""
    if isinstance(labels, np.ndarray) and not np.isin(labels, np.arange(n_labels)).all():
        raise ValueError(f"targets must be class numbers, 0 ... {n_labels - 1}")


def cells_of(forest):
    """The node of each leaf, and of each upper cell (-1: there is none), two ndarrays of intp."""
    _, _, left, first = forest.arrays()
    place = np.arange(len(left)) - np.repeat(first[:forest.n_trees], np.diff(first))
    nodes = np.flatnonzero(left == place)
    roots = first[:forest.n_trees].astype(np.intp)[:, None]
    at = roots
    for _ in range(UPPER_LEVEL):
        node = np.maximum(at, 0)
        down, ends = roots + left[node], left[node] == place[node]
        # The children of a leaf are itself and none.
        pair = [np.where(at < 0, -1, down), np.where((at < 0) | ends, -1, down + 1)]
        at = np.stack(pair, axis=2).reshape(forest.n_trees, 2 * at.shape[1])
    node = np.maximum(at, 0)
    at[left[node] == place[node]] = -1
    return nodes, at.reshape(forest.n_trees * UPPER_CELLS)


def spread(X):
    """Centers of features, and factors to units of their spread: two ndarrays of shape (d,).

    Samples farther than four deviations are left out, twice over: a few that are far off would hide
    how the others differ. So are missing values. The factor of a constant feature is 0.
    """
    center, scale = moments(X, ~np.isnan(X))
    for _ in range(2):
        inside = np.abs(X - center) <= 4 * scale
        closer, smaller = moments(X, inside)
        useful = smaller > 0
        center, scale = np.where(useful, closer, center), np.where(useful, smaller, scale)
    with np.errstate(divide="ignore", over="ignore"):
        factor = np.where(scale > 0, 1 / scale, 0.0)
    factor[~np.isfinite(factor)] = 0
    return np.ascontiguousarray(center, dtype=np.float64), np.ascontiguousarray(factor)


def moments(X, inside):
    """Means and deviations of the columns, of the elements inside, however large they are."""
    size = np.maximum(inside.sum(axis=0), 1)
    X = X.astype(np.float64, copy=False)
    largest = np.where(inside, np.abs(X), 0).max(axis=0)
    largest[largest == 0] = 1
    Z = np.where(inside, X / largest, 0)
    mean = Z.sum(axis=0) / size
    square = (np.where(inside, Z - mean, 0) ** 2).sum(axis=0) / size
    deviation = np.sqrt(square)
    deviation[deviation <= 1e-12 * np.abs(mean)] = 0
    return mean * largest, deviation * largest


def units(y):
    """Mean and deviation of targets; a deviation of 0 is 1."""
    largest = max(np.abs(y).max(), 1e-300)
    mean = (y / largest).mean()
    deviation = np.sqrt((((y / largest) - mean) ** 2).mean())
    return float(mean * largest), float(deviation * largest) if deviation > 1e-12 else 1.0


def units_of_each(Y):
    """Means and deviations of the columns of targets, ndarray of shape (2, n_targets)."""
    found = [units(y) for y in np.ascontiguousarray(Y.T)]
    return np.ascontiguousarray(np.transpose(found))


def told(numbers, Py_ssize_t n_targets):
    """What a state says of the offsets or units of outputs: a number, or those of the targets."""
    return np.array(numbers) if n_targets > 1 else float(numbers[0])


def restored_units(state, Py_ssize_t n_targets, Py_ssize_t n_outputs):
    """Offsets and units of outputs from what a state says."""
    if n_targets == 1:
        offset = finite_number("offset", state["offset"])
        unit = positive_number("unit", state["unit"])
        return np.full(n_outputs, offset), np.full(n_outputs, unit)
    offset = doubles_of_shape("offset", state["offset"], (n_outputs,))
    unit = doubles_of_shape("unit", state["unit"], (n_outputs,))
    if not (unit > 0).all():
        raise ValueError(f"unit must be > 0, got {unit.min()}")
    return offset, unit


def slopes_of(squares, mean, Py_ssize_t n):
    """Absolute slopes of rows, float32, and which of them belongs to each of n rows.

    The last rows have their own, mixed with the mean of all, and the rows before have the mean.
    """
    taught = len(squares)
    unit = max(mean.mean(), 1e-300)
    mixed = np.vstack([mean, (1 - COMMON_SLOPE) * squares + COMMON_SLOPE * mean]) / unit
    slopes = np.sqrt(np.maximum(mixed, LEAST_SLOPE)).astype(np.float32)
    slope_of = np.zeros(n, dtype=np.int32)
    slope_of[n - taught:] = np.arange(1, taught + 1)
    return slopes, slope_of
