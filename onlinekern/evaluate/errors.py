"""The errors along a stream, each sample predicted before it was learnt."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np


class Score:
    """How well the rows were predicted before they were learnt.

    Parameters
    ----------
    counted : bool
        Whether mistakes are counted; otherwise errors are squared.
    window : int
        Rows that are the last ones.
    """

    def __init__(self, counted: bool, window: int) -> None:
        self.counted, self.n_rows, self.total = counted, 0, 0.0
        self._last: deque[float] = deque(maxlen=window)

    def add(self, predicted: Any, y: Any) -> None:
        """Take up the predictions of some rows, and what they were."""
        losses = (predicted != y).astype(float) if self.counted else (predicted - y) ** 2
        self.n_rows += len(losses)
        self.total += float(losses.sum())
        self._last.extend(losses.tolist())

    @property
    def error(self) -> float:
        """Share of mistakes, or root mean squared error, of all rows."""
        return self._mean(self.total, self.n_rows)

    @property
    def window_error(self) -> float:
        """The same of the last rows."""
        return self._mean(sum(self._last), len(self._last))

    def _mean(self, total: float, count: int) -> float:
        mean = total / max(1, count)
        return mean if self.counted else float(np.sqrt(mean))

    def state(self) -> dict[str, Any]:
        """What `restore` takes."""
        return {"n_rows": self.n_rows, "total": self.total, "last": list(self._last)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.n_rows, self.total = state["n_rows"], state["total"]
        self._last.extend(state["last"])

    def __str__(self) -> str:
        shown = "{:.2%} mistakes" if self.counted else "RMSE {:.4g}"
        last = f"{self.window_error:.2%}" if self.counted else f"{self.window_error:.4g}"
        return f"{shown.format(self.error)}, last {len(self._last):,}: {last}"
