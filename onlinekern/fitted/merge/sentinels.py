"""Merges the sentinels of several models: numbers that stand for missing values of a feature.

An end of the range in one model that is no end in all of them is added to the values between. If
squares overflow, the feature is given up, as it is along a stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.linalg.sentinels import ENDS, FARTHEST, HIGHEST, LOWEST, settled
from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.mix import Mix, every
from onlinekern.fitted.state import State


def merged_ends(
    mix: Mix, states: list[State], before: State | None, forgetting: float, count: int
) -> tuple[Floats, Floats]:
    """Merge the `Ends` of the features; `count` is the number of all rows.

    Returns the ends, (d, 13), and means and variances of all values except the sentinels, (2, d);
    NaN if not known.
    """
    known = [state.ends.T for state in every(states, before) if state.count]
    if not known:
        return np.zeros_like(states[0].ends), np.zeros((2, len(states[0].ends)))
    own: dict[str, Any] = {name: np.array([ends[k] for ends in known])
                           for k, name in enumerate(ENDS)}  # fmt: skip
    low, high = own["low"].min(axis=0), own["high"].max(axis=0)
    values = np.concatenate([own[name] for name in ("low", "low_next", "high_next", "high")])
    above = np.where(values > low, values, np.inf).min(axis=0)
    below = np.where(values < high, values, -np.inf).max(axis=0)
    centre = own["mean"][0]
    sums = [about(state, low, high, centre) for state in states]
    start = np.zeros_like(sums[0]) if before is None else about(before, low, high, centre)
    counts = np.maximum(mix.total([each[:2] for each in sums], start[:2]), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = mix.total([each[2:] for each in sums], start[2:], forgetting)
    fits = np.isfinite(weights).all(axis=0)
    weights[2:, ~fits] = 0
    low_weight, high_weight, between = np.maximum(weights[:3], 0.0)
    mean, second = weights[3:] / np.maximum(between, np.finfo(float).tiny)
    is_given_up = ~fits | (own["n_values"] < 0).any(axis=0)
    sides = [((own["side"] == side) & (own[name] == end)).any(axis=0)
             for side, name, end in ((LOWEST, "low", low), (HIGHEST, "high", high))]  # fmt: skip
    merged = {
        "low": low,
        "low_next": np.where(np.isfinite(above), above, low),
        "low_count": counts[0],
        "low_weight": low_weight,
        "high": high,
        "high_next": np.where(np.isfinite(below), below, high),
        "high_count": counts[1],
        "high_weight": high_weight,
        "mean": centre + mean,
        "variance": np.maximum(second - mean * mean, 0.0),
        "weight": between,
        "n_values": np.where(is_given_up, -1, own["n_values"].max(axis=0)),
        "side": np.select(sides, [LOWEST, HIGHEST], 0),
    }
    ends = np.stack([merged[name] for name in ENDS], axis=1).astype(np.float64)
    return ends, settled(ends, float(count))


def numbers_of(ends: Floats) -> Floats:
    """Return the sentinel of each feature, (d,); inf: none."""
    own = dict(zip(ENDS, ends.T, strict=True))
    return np.select(
        [own["side"] == LOWEST, own["side"] == HIGHEST], [own["low"], own["high"]], np.inf
    )


def about(state: State, low: Floats, high: Floats, centre: Floats) -> Floats:
    """Return statistics of a model's features for these ends of the merged range, (7, d).

    They are the numbers of rows with the lowest and with the highest value; the weights of both;
    and of all other values the weight, and the weighted sums of differences from the centre and of
    their squares, which are infinite if they overflow.
    """
    found = np.zeros((7, len(low)))
    if not state.count:
        return found
    own = dict(zip(ENDS, state.ends.T, strict=True))
    for side in ("low", "high"):
        value, weight = own[side], own[f"{side}_weight"] / state.unit
        at_low, at_high = value == low, (value == high) & (value != low)
        found[:2] += own[f"{side}_count"] * np.stack([at_low, at_high])
        found[2:4] += weight * np.stack([at_low, at_high])
        found[4:] += sums_of(np.where(at_low | at_high, 0.0, weight), value, 0.0, centre)
    found[4:] += sums_of(own["weight"] / state.unit, own["mean"], own["variance"], centre)
    return found


def sums_of(weight: Floats, mean: Floats, variance: Any, centre: Floats) -> Floats:
    """Return weights, and weighted sums of differences from `centre` and their squares, (3, d)."""
    with np.errstate(over="ignore"):
        shift = np.where(weight > 0, mean - centre, 0.0)
        known = np.abs(shift) < FARTHEST
        shift = np.where(known, shift, 0.0)
        sums = weight * np.stack([np.ones_like(shift), shift, variance + shift * shift])
    return np.where(known, sums, np.inf)
