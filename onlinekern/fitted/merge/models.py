"""Models and races, merged: what all kinds of spaces have in common, and a rule for each kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.fitted.merge.expansions import merged_nystroem, merged_olla
from onlinekern.fitted.merge.filters import merged_support_vectors
from onlinekern.fitted.merge.least_squares import merged_least_squares, merged_leverage
from onlinekern.fitted.merge.linear import (
    merged_linear,
    merged_mapped,
    merged_mapped_gaussian,
    merged_mean,
)
from onlinekern.fitted.merge.local import merged_local
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.opened import Opened, same
from onlinekern.fitted.merge.sketches import merged_sketched

# Scores that are kept for probabilities at most.
KEPT = 512
# Kind of space -> rule.
SPACES: dict[str, Any] = {
    "KernelSpace": merged_support_vectors,
    "LeastSquaresSpace": merged_least_squares,
    "LeverageSpace": merged_leverage,
    "LinearSpace": merged_linear,
    "LocalSpace": merged_local,
    "MappedSecondOrderSpace": merged_mapped_gaussian,
    "MappedSpace": merged_mapped,
    "MeanSpace": merged_mean,
    "NystroemSpace": merged_nystroem,
    "OLLASpace": merged_olla,
    "SketchedSpace": merged_sketched,
}


def merged_model(mix: Mix, models: list[Opened], base: Opened | None) -> Opened:
    """`Model`; its random numbers go on from those of the first."""
    every = [*models, *([base] if base else [])]
    parts = [model.arguments[0] for model in every]
    check_parts(parts)
    space, head, rule, gate, rng, d, dtype = parts[0]
    seen, mistakes, loss = ([m.arguments[k] for m in models] for k in (1, 2, 3))
    before = base.arguments[1:4] if base else (0, 0, 0.0)
    mix = mix.counting(seen, before[0])
    targets = [model.arguments[5] for model in every]
    told = None
    if targets[0] is not None:
        mix, told = with_targets(mix, targets, head.target_forgetting, base is not None)
    spaces = [part[0] for part in parts[: len(models)]]
    if space.name not in SPACES:
        raise TypeError(f"models with a {space.name} cannot be merged")
    merged = SPACES[space.name](mix, spaces, parts[-1][0] if base else None)
    recent = [model.arguments[4] for model in models]
    if recent[0] is not None:
        recent = [merged_recent(mix, recent, base.arguments[4] if base else None)]
    counts = mix.count(seen, before[0]), mix.count(mistakes, before[1])
    total = float(before[2] + sum(own - before[2] for own in loss))
    arguments = (merged, head, rule, gate, rng, d, dtype)
    return models[0].changed(arguments, *counts, total, recent[0], told)


def check_parts(parts: list[Any]) -> None:
    """Raise ValueError unless head, rule, gate and form of samples of all models are the same."""
    names = ("head", "rule", "gate", "number of features", "dtype")
    first = (*parts[0][1:4], *parts[0][5:])
    for own in parts[1:]:
        for name, one, other in zip(names, first, (*own[1:4], *own[5:]), strict=True):
            if one != other:
                raise ValueError(f"the models have different {name}s: {one} and {other}")
        if own[0].name != parts[0][0].name:
            raise ValueError(
                f"the models are of different kinds: {parts[0][0].name}, {own[0].name}"
            )


def with_targets(
    mix: Mix, targets: list[Any], forgetting: float, has_base: bool
) -> tuple[Mix, tuple[Any, ...]]:
    """Running mean and scale of the targets of all models, and the mix in units of them."""
    fixed, weights, means, squares, scales = (list(values) for values in zip(*targets, strict=True))
    n = len(mix.weights)
    if all(one[1:] == targets[0][1:] for one in targets):
        merged = targets[0]
    else:
        centre = means[0]
        sums = [np.array([w, w * (m - centre), s + w * (m - centre) ** 2])
                for w, m, s in zip(weights, means, squares, strict=True)]  # fmt: skip
        weight, first, second = mix.total(sums[:n], sums[-1] if has_base else 0.0, forgetting)
        weight = max(weight, np.finfo(float).tiny)
        mean = centre + first / weight
        spread = max(0.0, second - first * first / weight)
        scale = float(np.sqrt(spread / weight))
        scale = scale if scale > 1e-15 * abs(mean) else 1.0
        merged = (any(fixed), float(weight), float(mean), float(spread), scale)
    mean, scale = merged[2], merged[4]
    # The last ones are those of the base.
    own = [*zip(means[:n], scales[:n], strict=True), (means[-1], scales[-1])]
    units = tuple(each[1] / scale for each in own)
    shifts = tuple((each[0] - mean) / scale for each in own)
    return Mix(mix.weights, mix.counts, units, shifts), merged


def merged_recent(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`RecentScores`: the last ones of each model, as many as its share."""
    n_outputs, n_labels, _, _ = parts[0].arguments
    noted = mix.count([part.arguments[2] for part in parts], base.arguments[2] if base else 0)
    rows = mix.latest([part.arguments[3] for part in parts], min(noted, KEPT))
    return parts[0].changed(n_outputs, n_labels, noted, rows)


def merged_race(mix: Mix, races: list[Opened], base: Opened | None) -> Opened:
    """`Race`: each expert with its counterparts; the losses that give them their weights."""
    every = [*races, *([base] if base else [])]
    settings = [(race.arguments[0][1], *race.arguments[0][4:]) for race in every]
    if not all(same(settings[0], other) for other in settings[1:]):
        raise ValueError("the models have different experts, or different forms of samples")
    progress = [race.arguments[1] for race in races]
    old = base.arguments[1] if base else None
    own = mix.counting([each[0] for each in progress], old[0] if old else 0)
    experts, costs, _, _, *rest = races[0].arguments[0]
    parts = [race.arguments[0] for race in races]
    before = base.arguments[0] if base else None
    merged = tuple(
        merged_model(mix, [part[0][k] for part in parts], before[0][k] if before else None)
        for k in range(len(experts))
    )
    votes = merged_vote(own, [part[2] for part in parts], before[2] if before else None)
    scaled = merged_moments(
        mix, [part[3] for part in parts], before[3] if before else None, rest[-1]
    )
    recent = [race.arguments[2] for race in races]
    if recent[0] is not None:
        recent = [merged_recent(own, recent, base.arguments[2] if base else None)]
    arguments = (merged, costs, votes, scaled, *rest)
    return races[0].changed(arguments, merged_progress(own, progress, old), recent[0])


def merged_progress(mix: Mix, progress: list[Any], old: Any) -> tuple[Any, ...]:
    """Where a race has got to. Whoever votes in one of the races votes; marks are those before."""
    seen = mix.count([each[0] for each in progress], old[0] if old else 0)
    noted = mix.count([each[1] for each in progress], old[1] if old else 0)
    # An alarm is a number of samples to come.
    alarm = seen + max(0, *(each[2] - each[0] for each in progress))
    stride = max(each[3] for each in progress)
    voting = np.maximum.reduce([each[4] for each in progress])
    learnt = mix.total([each[5] for each in progress], old[5] if old else 0)
    history = list(old[6]) if old else []
    return seen, noted, alarm, stride, voting, learnt.astype(np.int64), history


def merged_vote(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`Vote`: mean losses."""
    name, arguments, state = parts[0].arguments
    states = [part.arguments[2] for part in parts]
    before: dict[str, Any] = base.arguments[2] if base else {"n_mistakes": 0, "total": 0.0}
    merged = {field: mix.mean([own[field] for own in states]) for field in ("losses", "counts")}
    merged["n_mistakes"] = mix.count([own["n_mistakes"] for own in states], before["n_mistakes"])
    totals = [own["total"] - before["total"] for own in states]
    merged["total"] = float(before["total"] + sum(totals))
    if "range" in state:
        seen = np.concatenate([own["range"] for own in states])
        merged["range"] = np.array([seen.min(), seen.max()]) if len(seen) else np.array([])
    return parts[0].changed(name, arguments, merged)


def merged_moments(mix: Mix, parts: list[Opened], base: Opened | None, forgetting: float) -> Opened:
    """`RunningMoments`: exactly, unless what is old is forgotten."""
    d, centred, _ = parts[0].arguments
    if any(part.arguments[:2] != (d, centred) for part in parts):
        raise ValueError("the moments are of different numbers of features or forms of samples")
    states = [part.arguments[2] for part in parts]
    before = base.arguments[2] if base else None
    counts = [state["count"] for state in states]
    mix = mix.counting(counts, before["count"] if before else 0)
    weights = [state["total"] / state["unit"] for state in states]
    old = before["total"] / before["unit"] if before else 0.0
    total = max(float(mix.total(weights, old, forgetting)), 0.0)
    count = mix.count(counts, before["count"] if before else 0)
    arrays = [state["moments"] for state in states]
    if not centred:
        sums = [array / state["unit"] for array, state in zip(arrays, states, strict=True)]
        start = before["moments"] / before["unit"] if before else 0.0
        moments = np.maximum(mix.total(sums, start, forgetting), 0.0)
    else:
        centre = arrays[0][0]
        sums = [w * about(array, centre) for w, array in zip(weights, arrays, strict=True)]
        start = old * about(before["moments"], centre) if before else 0.0
        first, second = mix.total(sums, start, forgetting) / max(total, np.finfo(float).tiny)
        moments = np.stack([centre + first, np.maximum(second - first * first, 0.0)])
    state = {"moments": moments, "count": count, "unit": 1.0, "total": total}
    return parts[0].changed(d, centred, state)


def about(moments: Any, centre: Any) -> Any:
    """First and second moments about a point, of means and variances."""
    shift = moments[0] - centre
    return np.stack([shift, moments[1] + shift * shift])
