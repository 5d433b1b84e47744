"""Recursive least squares in C: its features, its landmarks, its step; detectors of outliers."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.features.nested import MOST_ROUNDING
from onlinekern.core.linalg.evidence import AT_ONCE, CHOICES
from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.c.terms import diagonal_of, write_features, write_kernel
from onlinekern.fitted.export.states import JointState, Landmarks, Mean, SquaresState, Sums

# Of `linalg.evidence`: the least share of the squares of the targets that is not explained.
LEAST_SHARE = 1e-12


def room_to_grow(state: JointState) -> int:
    """Return how many features may still come."""
    own = state.map
    return own.room - len(own.vectors) if isinstance(own, Landmarks) else 0


def write_joint_features(learner: Forms, state: JointState) -> None:
    """Write the functions `look` and `product` of joint features, and their landmarks."""
    base, own = base_of(state, learner.size.features), state.map
    moved = write_metric(learner, state)
    given = "x" if moved is None else "&moved"
    mapped = f"    map_features({given}, features + {base});"
    if own is None:
        mapped = ""
    elif not isinstance(own, Landmarks):
        write_features(learner.source, "map", own)
    else:
        mapped = f"    landmark_features({given}, features + {base});"
        write_landmarks(learner, own)
    if isinstance(state, SquaresState):
        if length := own_length(learner, state):
            mapped += "\n" + length
        write_weights(learner, state)
    if moved is not None:
        mapped = f"{moved}\n{mapped}"
    linear = ""
    if state.factor is not None:
        linear = learner.filled("own_elements", factor=learner.number(state.factor))
    constant = f"    features[{base - 1}] = 1;" if state.constant else ""
    if not (isinstance(state, SquaresState) and state.leverage):
        learner.fill("squares_product")
    used = used_of(learner, state)
    learner.fill("squares_look", linear=linear, constant=constant, mapped=mapped, used=used)


def write_landmarks(learner: Forms, own: Landmarks) -> None:
    """Write the landmarks, and the function of their features."""
    source, n, room = learner.source, len(own.vectors), own.room
    source.fixed = own.fixed
    source.counter("n_landmarks", n, "int32_t", room)
    source.memory("kernel_values", room)
    padded = np.zeros((room, room))
    padded[:n, :n] = own.whitening
    # Landmarks that are all there stay in flash.
    write = source.constants if own.fixed else source.state
    write("whitening", padded)
    vectors = own.vectors.reshape(-1, learner.size.features)
    norm = write_kernel(source, "support", own.kernel, vectors, None if own.fixed else room)
    learner.fill("landmark_features", norm=norm, room=room)


def write_weights(learner: Forms, state: SquaresState) -> None:
    """Write the function of what the weights of samples grow by instead of forgetting."""
    if state.sums is not None:
        forgetting = state.sums.forgetting
        name = "larger_weights" if forgetting < 1 else "same_weights"
        learner.fill(name, **{"lambda": learner.number(forgetting)})


def write_metric(learner: Forms, state: JointState) -> str | None:
    """Write the metric of the map; return the lines that move a row, None without one."""
    if state.root is None:
        return None
    source = learner.source
    source.constants("metric_root", state.root)
    source.memory("moved_row", learner.size.features)
    learner.fill("weighed_row" if state.root.ndim == 1 else "turned_row")
    return "    row moved;\n    move_row(x, &moved);"


def used_of(learner: Forms, state: JointState) -> str:
    """Return how many features there are by now."""
    if not isinstance(state.map, Landmarks):
        return str(learner.size.length)
    return f"({base_of(state, learner.size.features)} + n_landmarks)"


def base_of(state: JointState, n_features: int) -> int:
    """Return where the features of the map begin."""
    return (n_features if state.factor is not None else 0) + state.constant


def write_squares(learner: Forms, state: SquaresState) -> None:
    """Write the functions `consider`, `enter` and `learn` of least squares."""
    source, size = learner.source, learner.size
    learner.corner("inverse", state.inverse, size.length, size.length)
    source.scalar("reg", state.reg)
    source.counter("entered", state.entered)
    source.memory("direction", size.length)
    added = f"            inverse[phi.n * ({size.length} + 1)] = 1 / "
    if state.sums is None:
        grow = growing(learner, state, f"{added}reg;")
        learner.fill("enter")
        enter = "        enter(&phi, importance);"
    else:
        enter = write_sums(learner, state, state.sums)
        prior = "(reg * weight_after(since))"
        more = f"{added}{prior};\n            sums[phi.n * (phi.n + 3) / 2] = {prior};"
        grow = growing(learner, state, more)
    target, margin = targets_of(learner, state)
    save, restore = learner.kept()
    targets, checks = learner.standardising()
    source.use("all_finite")
    learner.fill(
        "learn_squares",
        noted=write_recent(learner).format("scores[0]"),
        save="\n".join(save),
        targets="\n".join(targets),
        target=target,
        margin=margin,
        more=checks,
        restore="\n".join("    " + line for line in restore),
        dry=learner.trial("scores", restore),
        consider=grow,
        enter=enter,
    )


def targets_of(learner: Forms, state: SquaresState) -> tuple[str, str]:
    """Return the target of output k, and the arguments of the sampler: score and target."""
    if state.leverage:
        return "scores[k]", "scores[0], y"  # there is nothing to fit
    head = learner.learning.head.name
    if head in ("Joint", "JointOneVsRest"):
        learner.fill(f"margin_{head}")
        return "k == (int32_t)y ? 1 : -1", "margin_of(scores, (int32_t)y), 1"
    if head == "Binary":
        return "y > 0 ? 1 : -1", "scores[0], y > 0 ? 1 : -1"
    return "y", "scores[0], y"


def write_sums(learner: Forms, state: SquaresState, sums: Sums) -> str:
    """Write the sums, and what makes the inverse anew; return the lines that take up a row."""
    source, size = learner.source, learner.size
    rows, columns = np.tril_indices(len(sums.matrix))
    source.state("sums", sums.matrix[rows, columns], size.length * (size.length + 1) // 2)
    learner.corner("vectors", sums.vectors, size.outputs, size.length)
    source.counter("since", sums.since, "int32_t", max(1, sums.epoch - 1))
    source.counter("in_block", sums.count, "int32_t", max(1, sums.block - 1))
    single = source.dtype == np.float32
    given: dict[str, Any] = {"used": used_of(learner, state), "block": sums.block}
    given |= {"epoch": sums.epoch, "fade_evidence": "", "note_evidence": ""}
    given["extra"] = learner.number(1e-6 if single else 1e-15)
    if sums.follows:
        source.state("evidence", sums.evidence[:-1])
        source.counter("counted", round(sums.evidence[-1]))
        source.scalar("coming", sums.coming)
        source.constants("regs", CHOICES)
        for name in ("fade_evidence", "note_evidence"):
            given[name] = learner.filled(name)
        given["largest"] = learner.largest
        given["share"] = learner.number(1e-6 if single else LEAST_SHARE)
        given |= {"choices": len(CHOICES), "below": sums.below}
        later = learner.filled("choose_later", at_once=AT_ONCE) if sums.forgetting == 1 else ""
        given["choose_later"] = later
    learner.fill("enter")
    learner.fill("sums", **given)
    learner.fill("choice" if sums.follows else "no_choice", **given)
    ends = "epoch_ends" if sums.forgetting < 1 else "epoch_ends_early"
    given["renewed"] = learner.filled(ends, early=3 * sums.block // 4, **given)
    learner.fill("take_up", **given)
    goal = "0" if state.leverage else "scores[k] + coefficients[k]"
    return learner.filled("take_up_targets", goal=goal)


def growing(learner: Forms, state: JointState, more: str = "") -> str:
    """Write the function `consider`; return the lines that call it, none without room to grow.

    `more` is what else a new feature needs.
    """
    landmarks = state.map
    if not isinstance(landmarks, Landmarks) or len(landmarks.vectors) == landmarks.room:
        return ""
    norms = "    support_norms[n] = inverse_norm(x);" if landmarks.kernel.name == "cosine" else ""
    learner.fill(
        "consider",
        room=landmarks.room,
        diagonal=diagonal_of(learner.source, landmarks.kernel),
        least=learner.number(landmarks.least),
        steepest=learner.number(
            min(landmarks.steepest, MOST_ROUNDING / float(np.finfo(learner.source.dtype).eps))
        ),
        norms=norms,
    )
    moved = f"        const row moved = {{moved_row, 0, {learner.size.features}}};\n"
    return learner.filled(
        "grow",
        row="x" if state.root is None else "&moved",
        moved="" if state.root is None else moved,
        asked="importance > 0" if landmarks.only_entered else "1",
        base=base_of(state, learner.size.features),
        more=more,
    )


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
