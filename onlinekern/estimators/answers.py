"""The methods that answer for a fitted model, and the columns of their answers."""

from __future__ import annotations

from typing import Any

import numpy as np

# This maps what is asked for to the method that answers.
ANSWERS = {
    "labels": "predict",
    "scores": "decision_function",
    "probabilities": "predict_proba",
    "intervals": "predict_interval",
    "sets": "predict_set",
}


def answers_of(model: Any, what: str, X: Any, coverage: float | None = None) -> Any:
    """Return what a model says of rows.

    Parameters
    ----------
    model : estimator
        It has the method of `what`.
    what : str
        A key of `ANSWERS`.
    X : what the model takes
    coverage : float, optional
        The share that intervals are to hold; None: what the model does without.

    Returns
    -------
    ndarray of shape (n_samples, ...)
        Of intervals, the last axis has the lower and the upper end.
    """
    method = getattr(model, ANSWERS[what])
    if what != "intervals":
        return method(X)
    given = () if coverage is None else (coverage,)
    return np.stack(method(X, *given), axis=-1)


def columns_of(model: Any, what: str) -> Any:
    """Return the classes of the columns of answers; None if there is one column only."""
    classes = getattr(model, "classes_", None)
    if what in ("labels", "intervals") or classes is None:
        return None
    return None if what == "scores" and len(classes) == 2 else classes
