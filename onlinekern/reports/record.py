"""What a page tells of a run over a stream, noted along the way in bounded memory."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.reports.text import text_of

# Of more points of the curve, every second one goes.
MOST_POINTS = 512
FIRST_STRIDE = 50
# Of more classes than this, the later ones are counted together.
MOST_LABELS = 20
OTHERS = "other classes"


class Record:
    """The curve of the errors, and how often which class was taken for which.

    Parameters
    ----------
    window : int
        Rows that are the last ones.
    n_rows : int
        Rows that were learnt before the first one of this record.
    total : float
        Sum of their losses.

    Attributes
    ----------
    points : list of (int, float, float)
        Rows, mean loss of all, and mean loss of the last ones.
    first : int
        Rows before the first one of this record.
    labels : list of str
        Classes that came, those of earlier calls first.
    counts : Counter
        (class, predicted class) -> rows.
    """

    def __init__(self, window: int, n_rows: int = 0, total: float = 0.0) -> None:
        self.window, self.n_rows, self.total, self.first = window, n_rows, total, n_rows
        self.points: list[tuple[int, float, float]] = []
        self.labels: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self._stride = FIRST_STRIDE
        self._last: Floats = np.zeros(0)

    @classmethod
    def begin(cls, wanted: Any, window: int, score: Any, state: Any) -> Self | None:
        """A record, if a page is wanted; it goes on from a checkpoint that holds one."""
        if wanted is None:
            return None
        record = cls(window, score.n_rows, score.total)
        if state is not None and "record" in state and state["record"]["window"] == window:
            record.restore(dict(state["record"]))
        return record

    def add(self, predicted: Any, y: Any, counted: bool) -> None:
        """Take up the predictions of some rows, and what they were."""
        with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
            losses = (predicted != y).astype(float) if counted else (predicted - y) ** 2
            self._mark(losses)
        if counted:
            self._count(y, predicted)

    def _mark(self, losses: Floats) -> None:
        """Note the points among some rows."""
        rows = self.n_rows + np.arange(1, len(losses) + 1)
        totals = self.total + np.cumsum(losses)
        kept = np.concatenate([self._last, losses])
        sums = np.concatenate([[0.0], np.cumsum(kept)])
        for place in np.flatnonzero(rows % self._stride == 0).tolist():
            stop = len(self._last) + place + 1
            start = max(0, stop - self.window)
            last = float(sums[stop] - sums[start]) / (stop - start)
            n = int(rows[place])
            self.points.append((n, float(totals[place]) / n, last))
        self.n_rows += len(losses)
        if len(losses):
            self.total = float(totals[-1])
        self._last = kept[-self.window :]
        while len(self.points) > MOST_POINTS:
            self._stride *= 2
            self.points = [point for point in self.points if point[0] % self._stride == 0]

    def _count(self, y: Array, predicted: Array) -> None:
        labels, numbers = np.unique(np.concatenate([y, predicted]), return_inverse=True)
        truths, guesses = np.split(numbers, 2)
        names = [self._named(text_of(label)) for label in labels]
        found, times = np.unique(truths * len(labels) + guesses, return_counts=True)
        for pair, count in zip(found.tolist(), times.tolist(), strict=True):
            truth, guess = divmod(pair, len(labels))
            self.counts[names[truth], names[guess]] += count

    def _named(self, label: str) -> str:
        if label in self.labels:
            return label
        if len(self.labels) == MOST_LABELS:
            return OTHERS
        self.labels.append(label)
        return label

    def state(self) -> dict[str, Any]:
        """All of it as plain numbers and text, for `restore`."""
        return {
            "window": self.window,
            "n_rows": self.n_rows,
            "total": self.total,
            "first": self.first,
            "points": [list(point) for point in self.points],
            "stride": self._stride,
            "last": self._last.tolist(),
            "labels": self.labels,
            "counts": [[truth, guess, n] for (truth, guess), n in self.counts.items()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self.n_rows, self.total = state["n_rows"], state["total"]
        self.first, self._stride = state["first"], state["stride"]
        self.points = [(n, error, last) for n, error, last in state["points"]]
        self._last = np.array(state["last"], dtype=np.float64)
        self.labels = list(state["labels"])
        self.counts = Counter({(truth, guess): n for truth, guess, n in state["counts"]})
