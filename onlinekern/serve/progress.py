"""What a person wants to see of a server: the error along the stream, and the last requests."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple

# A curve has at most so many marks: when there are more, every second one goes.
MOST_MARKS = 256
# So many of the last requests are told.
LAST = 20


class Mark(NamedTuple):
    """The error of a stream at a sample, since the start and lately."""

    sample: int
    error: float
    lately: float


class Curve:
    """The error along a stream, in a bounded number of marks."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.stride = 1

    def add(self, n_samples: int, errors: Any) -> None:
        """Take note of errors after so many samples."""
        mark = Mark(n_samples, float(errors.error), float(errors.window_error))
        if self.marks and n_samples < self.marks[-1].sample + self.stride:
            return
        self.marks.append(mark)
        if len(self.marks) > MOST_MARKS:
            self.marks = self.marks[1::2]
            self.stride = max(1, 2 * self.stride, n_samples // MOST_MARKS)


class LastRequests:
    """The last requests to predict and to learn; only the event loop may use it."""

    def __init__(self) -> None:
        self._found: deque[dict[str, Any]] = deque(maxlen=LAST)

    def add(self, path: str, status: int, seconds: float) -> None:
        """Take note of a request."""
        self._found.append(
            {"at": time.time(), "path": path, "status": status, "ms": round(1e3 * seconds, 3)}
        )

    def told(self) -> list[dict[str, Any]]:
        """Return them, the last one first."""
        return list(reversed(self._found))


def importances_of(model: Any, most: int) -> list[tuple[str, float]]:
    """Return the largest importances of a model's features with their names; none without any."""
    from onlinekern.plotting.importances import found_in

    try:
        values, names = found_in(model)
    except (TypeError, ValueError, AttributeError):
        return []
    order = values.argsort(kind="stable")[::-1][:most]
    return [(str(names[k]), float(values[k])) for k in order if values[k] > 0]
