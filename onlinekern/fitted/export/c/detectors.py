"""Detectors in C: the offset, which follows the scores of the last samples, and their scores."""

from __future__ import annotations

import numpy as np

from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.c.terms import diagonal_of
from onlinekern.fitted.export.states import Landmarks, Mean, SquaresState


def write_recent(learner: Forms) -> str:
    """Write the scores of the last samples; return the line that notes one."""
    recent = learner.learning.recent
    if recent is None:
        return ""
    source, kept = learner.source, len(recent.values)
    source.state("recent", recent.values)
    source.counter("recent_count", recent.noted)
    source.scalar("offset", recent.quantile)
    fraction = learner.number(recent.fraction)
    learner.fill("recent_scores", kept=kept, every=recent.every, fraction=fraction)
    return "    note_score({});"


def mean_steps(learner: Forms, mean: Mean) -> tuple[str, str]:
    """Return the lines that shrink a mean of features, and that which adds a sample."""
    learner.source.scalar("mean_weight", mean.weight)
    forgetting = learner.number(mean.forgetting)
    shrink = [
        f"    mean_weight = {forgetting} * mean_weight + coefficients[0];",
        "    shrink(1 - coefficients[0] / mean_weight);",
    ]
    return "\n".join(shrink), "        add(0, &phi, coefficients[0] / mean_weight);"


def write_leverage(learner: Forms, state: SquaresState) -> None:
    """Write the function `model_scores` of leverages."""
    rest = ""
    if isinstance(state.map, Landmarks):
        rounding = max(state.rounding, float(np.sqrt(np.finfo(learner.source.dtype).eps)))
        rest = learner.filled("beyond_features", rounding=learner.number(rounding))
    fade = "" if state.sums is None else "    variance *= weight_after(since);"
    learner.fill("leverage_scores", rest=rest, fade=fade)


def own_length(learner: Forms, state: SquaresState) -> str:
    """Return the line that keeps the kernel value of a row with itself, if leverages need it."""
    if not state.leverage or not isinstance(state.map, Landmarks):
        return ""
    learner.source.memory("own_length", 1)
    return f"    own_length[0] = {diagonal_of(learner.source, state.map.kernel)};"
