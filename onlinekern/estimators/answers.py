"""The methods that answer for a fitted model, and the columns of their answers."""

from __future__ import annotations

from typing import Any

# This maps what is asked for to the method that answers.
ANSWERS = {"labels": "predict", "scores": "decision_function", "probabilities": "predict_proba"}


def columns_of(model: Any, what: str) -> Any:
    """Return the classes of the columns of answers; None if there is one column only."""
    classes = getattr(model, "classes_", None)
    if classes is None or what == "labels" or (what == "scores" and len(classes) == 2):
        return None
    return classes
