"""Recursive least squares in C: its features, its landmarks, and its step."""

from __future__ import annotations

import numpy as np

from onlinekern.fitted.export.c.detectors import own_length, write_recent
from onlinekern.fitted.export.c.forms import Forms
from onlinekern.fitted.export.c.terms import diagonal_of, write_features, write_kernel
from onlinekern.fitted.export.states import JointState, Landmarks, SquaresState


def room_to_grow(state: JointState) -> int:
    """Return how many features may still come."""
    own = state.map
    return own.room - len(own.vectors) if isinstance(own, Landmarks) else 0


def write_joint_features(learner: Forms, state: JointState) -> None:
    """Write the functions `look` and `product` of joint features, and their landmarks."""
    source, size = learner.source, learner.size
    base = base_of(state, size.features)
    mapped = f"    map_features(x, features + {base});"
    used = str(size.length)
    own = state.map
    if own is None:
        mapped = ""
    elif not isinstance(own, Landmarks):
        write_features(source, "map", own)
    else:
        n, room = len(own.vectors), own.room
        used = f"{base} + n_landmarks"
        mapped = f"    landmark_features(x, features + {base});"
        source.fixed = own.fixed
        source.counter("n_landmarks", n, "int32_t", room)
        source.memory("kernel_values", room)
        padded = np.zeros((room, room))
        padded[:n, :n] = own.whitening
        # Landmarks that are all there stay in flash.
        write = source.constants if own.fixed else source.state
        write("whitening", padded)
        vectors = own.vectors.reshape(-1, size.features)
        place = None if own.fixed else room
        norm = write_kernel(source, "support", own.kernel, vectors, place)
        learner.fill("landmark_features", norm=norm, room=room)
        if isinstance(state, SquaresState) and (length := own_length(learner, state)):
            mapped += "\n" + length
    linear = ""
    if state.factor is not None:
        linear = learner.filled("own_elements", factor=learner.number(state.factor))
    constant = f"    features[{base - 1}] = 1;" if state.constant else ""
    if not (isinstance(state, SquaresState) and state.leverage):
        learner.fill("squares_product")
    learner.fill("squares_look", linear=linear, constant=constant, mapped=mapped, used=used)


def base_of(state: JointState, n_features: int) -> int:
    """Return where the features of the map begin."""
    return (n_features if state.factor is not None else 0) + state.constant


def write_squares(learner: Forms, state: SquaresState) -> None:
    """Write the functions `consider`, `enter` and `learn` of least squares."""
    source, size, own = learner.source, learner.size, learner.learning
    width = len(state.inverse)
    padded = np.zeros((size.length, size.length))
    padded[:width, :width] = state.inverse
    source.state("inverse", padded)
    source.scalar("reg", state.reg)
    source.counter("entered", state.entered)
    source.memory("direction", size.length)
    more = f"            inverse[phi.n * ({size.length} + 1)] = 1 / reg;"
    grow = growing(learner, state, more)
    learner.fill("enter")
    target, margin = "y", "scores[0], y"
    if own.head.name in ("Joint", "JointOneVsRest"):
        learner.fill(f"margin_{own.head.name}")
        target, margin = "k == (int32_t)y ? 1 : -1", "margin_of(scores, (int32_t)y), 1"
    elif own.head.name == "Binary":
        target, margin = "y > 0 ? 1 : -1", "scores[0], y > 0 ? 1 : -1"
    if state.leverage:
        target = "scores[k]"  # there is nothing to fit
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
        consider=grow,
    )


def growing(learner: Forms, state: JointState, more: str = "") -> str:
    """Write the function `consider`; return the lines that call it, none without room to grow.

    `more` is what else a new feature needs.
    """
    landmarks = state.map
    if not isinstance(landmarks, Landmarks):
        return ""
    if len(landmarks.vectors) == landmarks.room:
        return ""
    norms = "    support_norms[n] = inverse_norm(x);" if landmarks.kernel.name == "cosine" else ""
    learner.fill(
        "consider",
        room=landmarks.room,
        diagonal=diagonal_of(learner.source, landmarks.kernel),
        least=learner.number(landmarks.least),
        norms=norms,
    )
    return learner.filled(
        "grow",
        asked="importance > 0" if landmarks.only_entered else "1",
        base=base_of(state, learner.size.features),
        more=more,
    )
