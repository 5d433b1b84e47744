"""Merging of least squares in a learnt metric.

Models with the same metric are merged like other least squares. Models with different metrics have
no features in common. They are replaced by a new model in the average of their metrics, which
learns the samples that all of them have kept. In this case the metric is renewed afterwards. It is
also renewed if the total number of samples has reached a point at which a single stream would have
renewed it. A renewal that is still running is finished before the models are merged.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from onlinekern.core.models.metric_least_squares import KEPT, renewal_interval
from onlinekern.estimators.types import Floats
from onlinekern.fitted.families.forest import finished as renewed
from onlinekern.fitted.families.forest import kept_samples
from onlinekern.fitted.families.least_squares import (
    SUMS,
    learning,
    merged_fields,
    merged_residuals,
    read,
    taught,
)
from onlinekern.fitted.families.least_squares import begin as begin_sums
from onlinekern.fitted.families.mapped import terms
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.mix import Mix, last, of
from onlinekern.fitted.state import State, closed, describe, opened, same

SAMPLES = ("rows", "targets", "weights")


def merged_metric(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge models with the same metric, or train a new one in the average of their metrics."""
    parts, base = [finished(part) for part in parts], base and finished(base)
    counts, before = of(parts, base, "kept.count")
    count = mix.count(counts, before)
    samples = samples_of(mix, parts, base)
    most = min(KEPT, renewal_interval(parts[0].forgetting), count)
    lasts = {name: last(samples[name], most) for name in SAMPLES}
    kept = parts[0].kept.with_learnt(count=count, **lasts)
    every = [*parts, *([base] if base else [])]
    common = all(same(root_of(every[0]), root_of(each)) for each in every[1:])
    if common:
        fields = merged_fields(mix, parts, base)
    else:
        fields = {
            "entered": mix.count(*of(parts, base, "entered")),
            "residuals": merged_residuals(mix, *of(parts, base, "residuals")),
            "wide": any(part.wide for part in parts),
            **{name: getattr(parts[0], name) for name in ("map", "state")},
        }
    merged = parts[0].with_learnt(
        **fields, kept=kept, seed=parts[0].seed, choice=merged_choice(mix, parts), begun=None
    )
    if common and count.bit_length() == max(counts).bit_length():
        return merged
    space = closed(merged)
    if not common:
        metric = mix.mean(alike([metric_of(part) for part in parts]))
        rows, targets, weights = (samples[name] for name in SAMPLES)
        space.learn_anew(half_power(metric), rows, targets, weights, space.draws())
    space.renew()
    return opened(space)


def finished(part: State) -> State:
    """Return a model after its pending renewal, which its continuations have done as well."""
    if part.begun is None:
        return part
    return renewed(part)


def in_metric(space: State) -> State:
    """Return the map in the metric, without linear features beside it."""
    return space.map if hasattr(space.map, "root") else space.map.map


def root_of(space: State) -> Floats:
    """Return M^(1/2), or its diagonal."""
    return in_metric(space).root


def metric_of(space: State) -> Floats:
    """Return M, or its diagonal."""
    root = root_of(space)
    return root @ root if root.ndim == 2 else root * root


def alike(metrics: list[Floats]) -> list[Floats]:
    """Return the metrics as matrices, unless all are diagonal."""
    if all(metric.ndim == 1 for metric in metrics):
        return metrics
    return [np.diag(metric) if metric.ndim == 1 else metric for metric in metrics]


def merged_choice(mix: Mix, parts: list[State]) -> State | None:
    """Return the choice of the model with the most samples, and the mean of all gradients."""
    if parts[0].choice is None:
        return None
    most: State = max(parts, key=lambda part: part.kept.count).choice
    return most.changed(gradients=mix.mean([part.choice.gradients for part in parts]))


def half_power(metric: Floats) -> Floats:
    """Return M^(1/2), or its diagonal."""
    if metric.ndim == 1:
        return np.sqrt(metric)
    values, vectors = np.linalg.eigh(metric)
    return np.ascontiguousarray((vectors * np.sqrt(values)) @ vectors.T)


def samples_of(mix: Mix, parts: list[State], base: State | None) -> dict[str, Any]:
    """Return all samples that the models keep, with targets in units of the merged model."""
    every: list[Any] = [
        SimpleNamespace(
            entered=part.kept.count,
            rows=part.kept.rows,
            targets=unit * part.kept.targets + shift,
            weights=weight * part.kept.weights,
        )
        for part, weight, unit, shift in zip(
            [*parts, *([base] if base else [])],
            (*mix.weights, 1.0),
            mix.units,
            mix.shifts,
            strict=False,
        )
    ]
    old: Any = every.pop() if base else None
    most = sum(len(each.targets) for each in [*every, *([old] if old else [])])
    return kept_samples(mix, every, old, most)


def begin(space: State, old: State, growth: Growth) -> None:
    """Let new classes begin as in least squares, and renumber the classes of the kept samples."""
    begin_sums(space, old, growth)
    numbers = growth.class_numbers(old.n_outputs, old.n_labels)
    space.n_labels = growth.n_outputs
    space.kept = space.kept.changed(targets=numbers[old.kept.targets.astype(np.intp)])


KEPT_SAMPLES = "kept(count~ rows~[row column] targets~[row] weights~[row])"
describe(
    "models.metric_least_squares.MetricLeastSquares",
    f"map n_outputs# reg= forgetting= reach= residuals wide~ entered~ state({SUMS}) n_labels= "
    f"exponent= seed~ {KEPT_SAMPLES} choice(form~ width~ gradients~[feature ...]) "
    "first_taught= begun(count~ weights~[output weight] reg~ wide~)",
    read=read,
    merge=merged_metric,
    begin=begin,
    terms=terms,
    learning=learning,
    taught=taught,
)
