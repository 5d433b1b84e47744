"""The state of an estimator as names and values that can be compared, bit for bit."""

import numpy as np
from scipy import sparse

from onlinekern.core.base.part import Part

PLAIN = bool | int | float | str | bytes | np.generic | np.dtype | type


def as_arrays(rows):
    """Return rows as a list of arrays that can be compared."""
    return [rows.data, rows.indices, rows.indptr] if sparse.issparse(rows) else [rows]


def flattened(value, path):
    """Yield (path, array or text) for each item of a state."""
    if isinstance(value, Part):
        value = value.arguments
    if isinstance(value, dict):
        # Attributes that were set in another order are the same.
        for key, item in value.items():
            yield from flattened(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        yield path, len(value)
        for i, item in enumerate(value):
            yield from flattened(item, f"{path}.{i}")
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from flattened(value.tolist(), path)
    elif isinstance(value, np.ndarray) or sparse.issparse(value):
        for i, part in enumerate(as_arrays(value)):
            yield f"{path}.{i}", part
    elif hasattr(value, "iloc"):
        yield from flattened(value.to_numpy(dtype=object), path)
    elif value is None or isinstance(value, PLAIN):
        yield path, repr(value)
    elif hasattr(value, "__dict__"):
        yield from flattened(vars(value), path)
    else:
        yield from flattened(value.__reduce__()[1], path)


def state_of(estimator):
    """Return everything that an estimator holds: its parameters, attributes and compiled model."""
    state = dict(flattened(vars(estimator), "estimator"))
    space = getattr(vars(estimator).get("_model"), "space", None)
    state["refused"] = getattr(getattr(space, "budget", None), "refused", None)
    return state


def difference(actual, expected):
    """Return the name of an item in which two states differ, None if they are the same."""
    for name in sorted(actual.keys() ^ expected.keys()):
        return f"{name}, which one of them lacks"
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            other = actual[name]
            same = isinstance(other, np.ndarray) and other.dtype == value.dtype
            same = same and other.shape == value.shape and other.tobytes() == value.tobytes()
        else:
            same = not isinstance(actual[name], np.ndarray) and actual[name] == value
        if not same:
            return name
    return None
