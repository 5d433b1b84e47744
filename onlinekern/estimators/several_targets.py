"""The targets of a regression: one of each sample, or several that share what a model learns."""

from typing import Any

import numpy as np

from onlinekern.estimators.types import Array, Floats

# How scikit-learn's validation takes y. A learner says by the second that it takes several targets.
ONE = {"y_numeric": True}
SEVERAL = {"y_numeric": True, "multi_output": True}


def of_targets(scores: Array) -> Array:
    """Return scores of the shape in which targets come: those of one output have one axis."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def check_some(y: Any) -> None:
    """Raise ValueError for an array without columns, of which validation says less."""
    if getattr(y, "shape", ())[1:] == (0,):
        raise ValueError(f"y must hold a target of each sample, got an array of {y.shape}")


def number_of_targets(y: Any, known: int | None) -> int:
    """Return how many targets a sample has; ValueError if not as many as known."""
    n_targets = y.shape[1] if y.ndim == 2 else 1
    if known is not None and n_targets != known:
        raise ValueError(
            f"y must have {known} target{'s' * (known > 1)} a sample, as those learnt before, "
            f"got {n_targets}"
        )
    return n_targets


def finite_target(y: Any) -> float:
    """Return the target of one sample as the core takes it; ValueError if it is none."""
    try:
        target = float(y)
    except (TypeError, ValueError):
        raise ValueError(f"y must be a number, got {y!r}") from None
    if target - target != 0:
        raise ValueError(f"y must be finite, got {target}")
    return target


def finite_targets(y: Any, known: int) -> Floats:
    """Return the targets of one sample as the core takes them; ValueError if they are none."""
    targets = np.ascontiguousarray(y, dtype=np.float64)
    number_of_targets(targets.reshape(1, -1) if targets.ndim <= 1 else targets, known)
    if targets.ndim > 1:
        raise ValueError(f"y must be {known} numbers, got an array of shape {targets.shape}")
    if not np.isfinite(targets).all():
        raise ValueError(f"y must be finite, got {y}")
    return targets
