"""What fitted models are asked: the methods that answer, and the columns of the answers."""

from __future__ import annotations

from typing import Any

# What is asked for -> the method that answers.
ANSWERS = {"labels": "predict", "scores": "decision_function", "probabilities": "predict_proba"}


def learner_of(model: Any) -> Any:
    """Return the last step of a pipeline, or the model."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def columns_of(model: Any, what: str) -> Any:
    """Return the classes that the columns of answers are of; None if there is one column only."""
    classes = getattr(model, "classes_", None)
    if classes is None or what == "labels" or (what == "scores" and len(classes) == 2):
        return None
    return classes
