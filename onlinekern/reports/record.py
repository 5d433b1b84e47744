"""Errors of a run over a stream, for a report: with their curve and the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.types import Floats
from onlinekern.evaluate.errors import Confusion, Curve, Errors
from onlinekern.reports.text import text_of

FIRST_STRIDE = 50


class Record(Errors):
    """Errors with their curve, and how often which class was taken for which, in bounded memory.

    Parameters
    ----------
    counted, window : as of `Errors`

    Attributes
    ----------
    curve : Curve
    confusion : Confusion
        It is empty for a regression.
    first : int
        Rows before those that curve and confusion know of.
    """

    def __init__(self, counted: bool, window: int) -> None:
        super().__init__(counted, window)
        self.curve, self.confusion, self.first = Curve(FIRST_STRIDE), Confusion(text_of), 0

    def add(self, y: Any, predicted: Any) -> Floats:
        losses, start = [np.zeros(0)], 0
        while start < len(y):
            part = slice(start, start + self.curve.to_next(self.n_rows))
            losses.append(super().add(y[part], predicted[part]))
            self.curve.note(self)
            start = part.stop
        if self.counted:
            self.confusion.add(y, predicted)
        return np.concatenate(losses)

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "window": self.window,
            "first": self.first,
            "curve": self.curve.state(),
            "confusion": self.confusion.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        if state.get("window") != self.window:  # of another window, or of a run without a page
            self.first = self.n_rows
            return
        self.first = state["first"]
        self.curve.restore(state["curve"])
        self.confusion.restore(state["confusion"])
