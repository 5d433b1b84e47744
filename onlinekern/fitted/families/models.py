"""Merging of models and races, which is the same for all kinds of spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from onlinekern.core.learning.second_order_rules import ConfidenceWeighted
from onlinekern.fitted.merge.mix import Mix, every, of
from onlinekern.fitted.merge.sentinels import merged_ends, numbers_of
from onlinekern.fitted.state import State, describe, same

# At most this many scores are kept for probabilities.
KEPT = 512


def merged_model(mix: Mix, models: list[State], base: State | None) -> State:
    """Merge `Model`s; the random numbers continue those of the first model."""
    every = [*models, *([base] if base else [])]
    parts = [model.arguments for model in every]
    check_parts(parts)
    own = parts[0]
    seen, before = of(models, base, "seen")
    mix = replace(mix.counting(seen, before), adds=not isinstance(own.rule, ConfidenceWeighted))
    targets = models[0].targets
    if targets is not None:
        each = [model.targets for model in every]
        mix, targets = with_targets(mix, each, own.head.target_forgetting, base is not None)
    if (merge := own.space.kind_.merge) is None:
        raise TypeError(f"models with a {own.space.kind_.name} cannot be merged")
    total = base.loss if base else 0.0
    return models[0].with_learnt(
        arguments=own.with_learnt(
            space=merge(mix, *of(models, base, "arguments.space")), rng=own.rng
        ),
        seen=mix.count(seen, before),
        mistakes=mix.count(*of(models, base, "mistakes")),
        loss=float(total + sum(model.loss - total for model in models)),
        recent=merged_recent(mix, *of(models, base, "recent")),
        targets=targets,
        lead=0,
    )


def check_parts(parts: list[State]) -> None:
    """Raise ValueError unless all models have the same head, rule, sampler and sample format."""
    first = parts[0]
    for own in parts[1:]:
        for name in ("head", "rule", "sampler", "d", "dtype"):
            one, other = getattr(first, name), getattr(own, name)
            if one != other:
                said = "numbers of features" if name == "d" else f"{name}s"
                raise ValueError(f"the models have different {said}: {one} and {other}")
        one, other = first.space.kind_, own.space.kind_
        if one is not other:
            raise ValueError(f"the models are of different kinds: {one.name}, {other.name}")


def with_targets(
    mix: Mix, each: list[State], forgetting: float, has_base: bool
) -> tuple[Mix, State]:
    """Return the mix in units of the merged targets, and their running mean and scale."""
    n, first = len(mix.weights), each[0]
    merged = first
    if not all(same(one.changed(fixed=first.fixed), first) for one in each):
        centre = first.mean
        sums = [sums_about(one, centre) for one in each]
        weight, moment, second = mix.total(sums[:n], sums[-1] if has_base else 0.0, forgetting)
        weight = np.maximum(weight, np.finfo(float).tiny)
        mean = centre + moment / weight
        spread = np.maximum(0.0, second - moment * moment / weight)
        scale = np.sqrt(spread / weight)
        numbers = {"weight": weight, "mean": mean, "squares": spread, "far": 0 * mean}
        numbers["scale"] = np.where(scale > 1e-15 * np.abs(mean), scale, 1.0)
        if np.ndim(centre) == 0:
            numbers = {name: float(number) for name, number in numbers.items()}
        merged = first.with_learnt(fixed=any(one.fixed for one in each), **numbers)
    # The last one belongs to the base.
    own = [*each[:n], each[-1]]
    units = tuple(one.scale / merged.scale for one in own)
    shifts = tuple((one.mean - merged.mean) / merged.scale for one in own)
    return replace(mix, units=units, shifts=shifts), merged


def sums_about(targets: State, centre: Any) -> Any:
    """Return weight, first and second moment of the targets about a point, for each target."""
    shift = targets.mean - centre
    weight = targets.weight + 0 * shift
    return np.array([weight, weight * shift, targets.squares + weight * shift**2])


def merged_recent(mix: Mix, parts: list[State | None], base: State | None) -> State | None:
    """Merge `RecentScores`: keep the last ones of each model, in proportion to its share."""
    first = parts[0]
    if first is None:
        return None
    noted = mix.count(*of(parts, base, "noted"))
    rows = mix.latest([part.rows for part in parts if part], min(noted, KEPT))
    return first.with_learnt(noted=noted, rows=rows)


def merged_race(mix: Mix, races: list[State], base: State | None) -> State:
    """Merge `Race`s: corresponding experts are merged, and so are the losses that weigh them."""
    parts, before = of(races, base, "arguments")
    own = parts[0]
    for other in (*parts[1:], *([before] if before else [])):
        names = ("costs", "head", "dtype", "budget", "limit", "forgetting", "layout")
        known = [[twin is None for twin in race.twins] for race in (own, other)]
        alike = all(same(getattr(own, n, ()), getattr(other, n, ())) for n in names)
        if not alike or known[0] != known[1]:
            raise unlike_races(own, other)
    counted = mix.counting(*of(races, base, "progress.n_seen"))
    experts, known = of(parts, before, "experts")
    merged = tuple(
        merged_model(mix, [each[k] for each in experts], known[k] if known else None)
        for k in range(len(own.experts))
    )
    return races[0].with_learnt(
        arguments=own.with_learnt(
            experts=merged,
            vote=merged_vote(counted, *of(parts, before, "vote")),
            moments=merged_moments(mix, *of(parts, before, "moments"), own.forgetting),
            twins=merged_twins(counted, parts, before),
        ),
        progress=merged_progress(counted, *of(races, base, "progress")),
        recent=merged_recent(counted, *of(races, base, "recent")),
    )


def unlike_races(own: Any, other: Any) -> ValueError:
    """Return the error for races with different experts, with the reason and a remedy."""
    if own.dtype != other.dtype:
        return ValueError(
            f"the models have learnt samples of different types, {own.dtype} and {other.dtype}: "
            "give all parts the same one, as X.astype('float32') does"
        )
    return ValueError(
        f"the models are races of different experts, {len(own.experts)} and {len(other.experts)}: "
        "a race that a former version saved goes on with its own, and experts leave a race when "
        "memory_budget has no room for more classes. Learn the parts anew, by one version, and let "
        "the first call of each know the classes of all (partial_fit by `classes`), or raise "
        "memory_budget"
    )


def merged_races(mix: Mix, races: list[State], base: State | None) -> State:
    """Merge `RenewedRace`s."""
    rival = base.rival if base else None
    begun = rival.progress.began if rival else None
    merged = merged_renewed(mix, races, base, begun, "race", "race.progress.began", merged_race)
    return merged.changed(race=counted(mix, merged.race, *of(races, base, "race")))


def merged_models(mix: Mix, models: list[State], base: State | None) -> State:
    """Merge `RenewedModel`s."""
    rival = base.rival if base else None
    begun = base.began + base.model.seen - rival.seen if base and rival else None
    merged = merged_renewed(mix, models, base, begun, "model", "began", merged_model)
    each, before = of(models, base, "model")
    seen = [one.began + one.model.seen for one in models]
    total = base.model.loss if base else 0.0
    own = merged.model.changed(
        mistakes=mix.count(*of(each, before, "mistakes")),
        loss=float(total + sum(one.loss - total for one in each)),
    )
    every = mix.count(seen, base.began + base.model.seen if base else None)
    return merged.changed(model=own, began=max(0, every - own.seen))


def merged_renewed(
    mix: Mix,
    each: list[State],
    base: State | None,
    begun: int | None,
    name: str,
    place: str,
    merge: Callable[[Mix, list[State], State | None], State],
) -> State:
    """Merge races or models that restart after alarms.

    Running trials end, and losses are compared anew from now on. Since the base, a model may have
    kept the part that predicts, or have replaced it by the base's rival (which began at sample
    `begun`), or by a later one. The largest of these three groups is merged, together with its
    common start in the base. The other groups are left out. `name` is the field of the part that
    predicts; `place` is the field of the sample at which this part began.
    """
    own = each[0]
    starts, started = of(each, base, place)
    known = {} if base is None else {started: "own", begun: "rival"} | {started: "own"}
    origins = [known.get(start, "none") for start in starts]
    most = max(("own", "rival", "none"), key=origins.count)
    chosen = [k for k, origin in enumerate(origins) if origin == most]
    some = replace(mix, weights=tuple(mix.weights[k] for k in chosen))
    kept, before = of([each[k] for k in chosen], base if most == "own" else None, name)
    if base is not None and most == "rival":
        before = base.rival
    bets, alone = own.trials.bets, without_rival(own)
    return alone.changed(
        **{name: merge(some, kept, before)},
        trials=alone.trials.with_learnt(
            bets=bets.changed(counts=0 * bets.counts, wealth=0 * bets.wealth),
            alarms=base.trials.alarms if base else (),
            course=alone.trials.course,
        ),
    )


def without_rival(one: State) -> State:
    """Return a `RenewedRace` or `RenewedModel` after ending its trial, if there is one."""
    course = one.trials.course.changed(left=0, due=False)
    return one.changed(rival=None, trials=one.trials.changed(course=course))


def counted(mix: Mix, merged: State, races: list[State], base: State | None) -> State:
    """Return a merged race with the sample counts of all races, including those left out."""
    states, before = of(races, base, "arguments.vote.state")
    known, progress, vote = before.total if before else 0.0, merged.progress, merged.arguments.vote
    more = mix.count(*of(races, base, "progress.n_seen")) - progress.n_seen
    state = vote.state.changed(
        total=float(known + sum(own.total - known for own in states)),
        n_mistakes=mix.count(*of(states, before, "n_mistakes")),
    )
    return merged.changed(
        arguments=merged.arguments.changed(vote=vote.changed(state=state)),
        progress=progress.changed(
            n_seen=progress.n_seen + more,
            began=max(0, progress.began + more),
            alarm=max(0, progress.alarm + more),
        ),
    )


def merged_twins(mix: Mix, parts: list[State], base: State | None) -> tuple[State | None, ...]:
    """Merge the twins of targets.

    Twins that began separately have different scales, although nearly equal ones on streams of the
    same kind. The merged twin uses the scale of the merged targets.
    """
    before = (None,) * len(parts[0].twins) if base is None else base.twins
    every = zip(*(own.twins for own in parts), before, strict=True)
    return tuple(None if each[0] is None else merged_twin(mix, each[:-1], each[-1])
                 for each in every)  # fmt: skip


def merged_twin(mix: Mix, twins: Sequence[State], base: State | None) -> State:
    """Merge `TwinTarget`s by their mean losses."""
    most = max(len(own.sizes) for own in twins)
    sizes = np.sort(np.concatenate([own.sizes for own in twins]))
    # If all models have the same sizes, the merged sizes are these too.
    places = (np.arange(most) + 0.5) * len(sizes) / max(1, most)
    errors, met = (float(mix.mean(of(twins, None, name)[0])) for name in ("errors", "met"))
    vote = merged_vote(mix, *of(twins, base, "vote"))
    return twins[0].with_learnt(
        vote=vote, sizes=sizes[places.astype(np.intp)], errors=errors, met=met
    )


def merged_progress(mix: Mix, each: list[State], old: State | None) -> State:
    """Merge the progress of races: an expert votes if it votes in any; the base's history stays."""
    seen = mix.count(*of(each, old, "n_seen"))
    learnt, before = of(each, old, "learnt")
    ages = [own.n_seen - own.began for own in each]
    return each[0].with_learnt(
        n_seen=seen,
        noted=mix.count(*of(each, old, "noted")),
        # An alarm is a sample number in the future.
        alarm=seen + max(0, *(own.alarm - own.n_seen for own in each)),
        stride=max(own.stride for own in each),
        voting=np.maximum.reduce([own.voting for own in each]),
        learnt=mix.total(learnt, 0 if before is None else before).astype(np.int64),
        history=list(old.history) if old else [],
        began=seen - mix.count(ages, old.n_seen - old.began if old else None),
    )


def merged_vote(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge `Vote`s by their mean losses."""
    states, before = of(parts, base, "state")
    names = "losses", "counts", "errors", "met", "combined"
    merged = {name: mix.mean([getattr(own, name) for own in states]) for name in names}
    known = before.total if before else 0.0
    merged["total"] = float(known + sum(own.total - known for own in states))
    if hasattr(states[0], "range"):
        seen = np.concatenate([own.range for own in states])
        merged["range"] = np.array([seen.min(), seen.max()]) if len(seen) else np.array([])
    mistakes = mix.count(*of(states, before, "n_mistakes"))
    return parts[0].with_learnt(state=states[0].with_learnt(**merged, n_mistakes=mistakes))


def merged_moments(mix: Mix, parts: list[State], base: State | None, forgetting: float) -> State:
    """Merge `RunningMoments`; this is exact unless old rows are forgotten."""
    first = parts[0]
    if any((part.d, part.centred) != (first.d, first.centred) for part in parts):
        raise ValueError("the moments are of different numbers of features or forms of samples")
    states, before = of(parts, base, "state")
    counts, count_before = of(states, before, "count")
    mix = mix.counting(counts, count_before)
    weights = [state.total / state.unit for state in states]
    old = before.total / before.unit if before else 0.0
    total = max(float(mix.total(weights, old, forgetting)), 0.0)
    if not first.centred:
        sums = [state.moments / state.unit for state in states]
        start = before.moments / before.unit if before else 0.0
        moments = np.maximum(mix.total(sums, start, forgetting), 0.0)
    else:
        centre = states[0].moments[0]
        sums = [w * about(own.moments, centre) for w, own in zip(weights, states, strict=True)]
        start = old * about(before.moments, centre) if before else 0.0
        mean, second = mix.total(sums, start, forgetting) / max(total, np.finfo(float).tiny)
        moments = np.stack([centre + mean, np.maximum(second - mean * mean, 0.0)])
    count = mix.count(counts, count_before)
    ends = None
    if all(state.ends is not None for state in every(states, before)):
        ends, left = merged_ends(mix, states, before, forgetting, count)
        # Moments know the sentinels that are known in all models.
        found = numbers_of(ends)
        unlike = [numbers_of(own.ends) != found for own in every(states, before)]
        moments = np.where(np.any(unlike, axis=0) & np.isfinite(left), left, moments)
    learnt = {"moments": moments, "count": count, "unit": 1.0, "total": total, "ends": ends}
    return first.with_learnt(state=states[0].with_learnt(**learnt))


def about(moments: Any, centre: Any) -> Any:
    """Return first and second moments about a point, given means and variances."""
    shift = moments[0] - centre
    return np.stack([shift, moments[1] + shift * shift])


describe(
    "stream.Model",
    "arguments(space head= rule= sampler= rng d= dtype=) seen mistakes loss recent "
    "targets(fixed weight mean squares scale far) lead",
    merge=merged_model,
)
describe(
    "race.Race",
    "arguments(experts costs= vote moments head= dtype= budget= limit= forgetting= "
    "layout= patience= twins) "
    "progress(n_seen noted alarm stride voting[expert] learnt[expert] history began) recent",
    merge=merged_race,
)
describe("renewed_race.RenewedRace", "race blank rival trials", merge=merged_races)
describe("renewed_model.RenewedModel", "model blank rival trials began", merge=merged_models)
describe(
    "learning.trials.Trials",
    "of_targets= bets alarms course(left due own_sum rival_sum own_longer rival_longer "
    "n_errors errors offered largest pause resting is_new)",
)
describe("learning.rank_bets.RankBets", "run_length= seed= counts[level] wealth[player] n_seen")
scores = "n_outputs# n_labels= noted rows[sample column]"
describe("learning.recent_scores.RecentScores", scores)
describe(
    "learning.vote.Vote",
    "name= arguments(links= n_outputs= decay= sharpness=) "
    "state(losses[loss] counts[loss] n_mistakes total errors[expert other] met[expert] "
    "combined[end] range[bound])",
)
describe("learning.twin.TwinTarget", "vote sizes[size] errors met")
describe(
    "linalg.running_moments.RunningMoments",
    "d= centred= state(moments[moment feature] count unit total ends[feature end])",
)
