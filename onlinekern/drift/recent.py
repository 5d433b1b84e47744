"""The last samples of a stream, in the parts (X, y, weight) in which they came."""

import copy
from typing import Any

import numpy as np

from onlinekern.learners.ahead import Lesson


def last_copied(lesson: Lesson, most: int) -> list[Any]:
    """Return copies of the last samples that count, at most so many, in parts."""
    counted = [lesson]
    if lesson.weight is not None:
        # Runs of samples that count: any kind of table can be cut into those.
        steps = np.diff(np.concatenate([[0], lesson.counts.astype(np.int8), [0]]))
        runs = zip(np.flatnonzero(steps > 0), np.flatnonzero(steps < 0), strict=True)
        counted = [lesson.part(int(first), int(last)) for first, last in runs]
    new = last_of([(one.X, one.y, one.weight) for one in counted], most)
    # What the caller gave may change.
    return [(copy_of(X), y.copy(), None if w is None else w.copy()) for X, y, w in new]


def copy_of(X: Any) -> Any:
    """Return a copy of samples: of rows in a list, or of what can change."""
    if isinstance(X, list | tuple):
        return copy.deepcopy(X)
    return X.copy() if hasattr(X, "copy") else X


def last_of(parts: list[Any], most: int) -> list[Any]:
    """Return the last samples, at most so many, of parts (X, y, weight) of a stream."""
    left = most
    for k in range(len(parts) - 1, -1, -1):
        X, y, weight = parts[k]
        if len(y) >= left:
            rest = Lesson(X, y, weight).part(len(y) - left, len(y))
            return [(rest.X, rest.y, rest.weight), *parts[k + 1 :]]
        left -= len(y)
    return parts
