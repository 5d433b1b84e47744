"""Merging of local models (LOL): prototypes with their hyperplanes.

A prototype is the mean of its samples, so two prototypes are merged into their weighted mean. If
the models began with a common base, prototypes at the same place correspond to each other; each
model has moved them a little. Otherwise the prototypes of two models are paired. The pairing
minimises the total of the added variances n m / (n + m) ||p - q||^2. Only as many pairs are merged
as needed to stay within the number of prototypes. The hyperplanes of a pair are averaged by their
numbers of samples, or multiplied as Gaussians (see `gaussians`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.terms import Constant, Linear, Terms
from onlinekern.fitted.export.terms import Local as LocalTerm
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.gaussians import LEAST_VARIANCE, combined, repeats_of
from onlinekern.fitted.merge.mix import Averaging, Mix, of
from onlinekern.fitted.state import State, describe, fields, opened


@dataclass(frozen=True)
class Blocks:
    """Hyperplanes with their sample counts, and the prototypes to which they belong.

    Parameters
    ----------
    counts : ndarray of shape (n,)
    centers : ndarray of shape (n, d)
    latest, averaged : ndarray of shape (n, n_outputs, width)
        Weights of the last model, and of the average that predicts.
    known : ndarray of shape (n, n_outputs, width)
        Precision that the samples have added to the prior; 0 for first-order weights.
    """

    counts: Floats
    centers: Floats
    latest: Floats
    averaged: Floats
    known: Floats

    def __len__(self) -> int:
        return len(self.counts)

    def part(self, places: Any) -> Blocks:
        """Return the blocks at some places."""
        return Blocks(*(numbers[places] for numbers in vars(self).values()))

    def followed_by(self, other: Blocks) -> Blocks:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Blocks(*(np.concatenate(pair) for pair in pairs))


def blended(groups: list[Blocks], shares: list[Floats], prior: Any, second_order: bool) -> Blocks:
    """Merge corresponding blocks; `shares` are their sample counts."""
    counts = np.maximum(np.sum(shares, axis=0), np.finfo(float).tiny)
    parts = [share / counts for share in shares]

    def mean(name: str) -> Any:
        values = [getattr(group, name) for group in groups]
        axes = (1,) * (values[0].ndim - 1)
        pairs = zip(parts, values, strict=True)
        return sum(part.reshape(-1, *axes) * value for part, value in pairs)

    known, latest = np.sum([group.known for group in groups], axis=0), mean("latest")
    if second_order:
        targets = sum((group.known + prior) * group.latest for group in groups)
        latest = targets / (known + prior)
    return Blocks(counts, mean("centers"), latest, mean("averaged"), known)


def paired(one: Blocks, other: Blocks, n: int) -> tuple[Array, Array]:
    """Return the places of the pairs that must be merged so that n blocks are left."""
    distances = (
        np.square(one.centers).sum(axis=1)[:, None]
        - 2 * one.centers @ other.centers.T
        + np.square(other.centers).sum(axis=1)
    )
    weights = one.counts[:, None] * other.counts / (one.counts[:, None] + other.counts)
    costs = weights * np.maximum(distances, 0.0)
    rows, columns = linear_sum_assignment(costs)
    kept = np.argsort(costs[rows, columns], kind="stable")[: len(one) + len(other) - n]
    return rows[kept], columns[kept]


def joined(one: Blocks, other: Blocks, n: int, second_order: bool) -> Blocks:
    """Join the prototypes of two models to at most n prototypes."""
    if len(one) + len(other) <= n:
        return one.followed_by(other)
    rows, columns = paired(one, other, n)
    pair = [one.part(rows), other.part(columns)]
    merged = blended(pair, [part.counts for part in pair], 1.0, second_order)
    # A merged pair stays at its place in `one`; unpaired blocks of `other` follow at the end.
    found = Blocks(*(numbers.copy() for numbers in vars(one).values()))
    for numbers, fresh in zip(vars(found).values(), vars(merged).values(), strict=True):
        numbers[rows] = fresh
    return found.followed_by(other.part(np.setdiff1d(np.arange(len(other)), columns)))


@dataclass(frozen=True)
class Local:
    """Local model: the shared hyperplane, and the hyperplanes of the prototypes."""

    shared: Blocks
    places: Blocks

    @classmethod
    def of(cls, part: State) -> Local:
        own, prototypes, hyperplanes = part.options, part.prototypes, part.hyperplanes
        averaging, latest, n = Averaging(own.averaging), hyperplanes.values, prototypes.n
        averaged = latest
        if averaging.present:
            averaged = latest - hyperplanes.companions / averaging.weights(hyperplanes.steps)[1]
        known = 0 * latest
        if own.second_order:
            least = LEAST_VARIANCE / own.sharing
            known = 1 / np.maximum(hyperplanes.variances, least) - priors_of(own)
        counts = np.concatenate([[float(part.totals.n_samples)], prototypes.statistics[:n, 0]])
        means = np.zeros((n + 1, own.d))
        divided = prototypes.statistics[:n, :1] if keeps_sums(own) else 1
        means[1:] = prototypes.centers[:n, : own.d] / divided
        whole = Blocks(counts, means, *(each[: n + 1] for each in (latest, averaged, known)))
        return cls(whole.part(slice(1)), whole.part(slice(1, None)))


def keeps_sums(options: State) -> bool:
    """Return whether each prototype is stored as the sum of its samples."""
    return bool(options.sparse and not options.fixed)


def priors_of(options: State) -> Floats:
    """Return the prior precision of each hyperplane; the shared one comes first."""
    priors = np.ones((1 + options.n_prototypes, 1, 1))
    priors[0] = options.sharing
    return priors


def merged_local(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge the shared hyperplanes, and the prototypes with their hyperplanes."""
    own = parts[0].options
    models = [Local.of(part) for part in parts]
    first = Local.of(base) if base else None
    counts, before = of(parts, base, "totals.n_samples")
    repeats = repeats_of(own.d * (own.joint + own.n_assign)) if own.second_order else 0.0
    common = since(mix, *of(models, first, "shared"), own.sharing, repeats)
    if own.fixed or (first is not None and len(first.places) == own.n_prototypes):
        places = since(mix, *of(models, first, "places"), 1.0, repeats)
        if own.fixed:
            places = replace(places, centers=models[0].places.centers)
    else:
        groups = [model.places for model in models]
        places = folded(mix, groups, counts, before or 0, own.n_prototypes, own.second_order)
    totals = {
        name: max(float(mix.total(numbers, known or 0.0)), 0.0)
        for name in ("squared_norms", "distances")
        for numbers, known in [of(parts, base, f"totals.{name}")]
    }
    totals["n_distances"] = mix.count(*of(parts, base, "totals.n_distances"))
    totals["n_samples"] = mix.count(counts, before)
    steps = mix.count(*of(parts, base, "hyperplanes.steps"))
    means, old = of(parts, base, "mean")
    return parts[0].with_learnt(
        prototypes=prototypes_state(parts[0], places),
        hyperplanes=hyperplanes_state(parts[0], common.followed_by(places), steps),
        mean=moved_mean(mix, means, counts, old, before or 0),
        totals=parts[0].totals.with_learnt(**totals),
    )


def since(
    mix: Mix, groups: list[Blocks], first: Blocks | None, prior: float, repeats: float
) -> Blocks:
    """Merge blocks that have the same places in all models and in the base.

    For second-order weights, the precision that a model adds counts `repeats` times for the mean
    (see `gaussians`). For first-order weights it is 0.
    """
    old = np.zeros_like(groups[0].counts) if first is None else first.counts
    pairs = zip(mix.weights, groups, strict=True)
    shares = [weight * np.maximum(group.counts - old, 0.0) for weight, group in pairs]
    empty = sum(shares) == 0
    shares = [np.where(empty, 1.0, share) for share in shares]
    merged = blended(groups, shares, prior, False)
    counts = mix.total([group.counts for group in groups], old)
    sums = [group.counts[:, None] * group.centers for group in groups]
    start = 0.0 if first is None else first.counts[:, None] * first.centers
    centers = mix.total(sums, start) / np.maximum(counts, 1e-300)[:, None]
    latest, known = merged.latest, merged.known
    if repeats:
        flat = len(counts), -1
        precisions = [(group.known + prior).reshape(flat) for group in groups]
        targets = [own * group.latest.reshape(flat)
                   for own, group in zip(precisions, groups, strict=True)]  # fmt: skip
        start, before = np.full_like(precisions[0], prior), 0 * targets[0]
        if first is not None:
            start = (first.known + prior).reshape(flat)
            before = start * first.latest.reshape(flat)
        mean, variance = combined(mix, targets, precisions, before, start, repeats)
        latest = mean.reshape(latest.shape)
        known = np.maximum(1 / variance.reshape(known.shape) - prior, 0.0)
    return Blocks(counts, centers, latest, merged.averaged, known)


def folded(
    mix: Mix, groups: list[Blocks], counts: list[int], before: int, most: int, second_order: bool
) -> Blocks:
    """Merge prototypes of models without a common base, model by model."""
    pairs = zip(mix.weights, groups, strict=True)
    weighted = [replace(group, counts=weight * group.counts) for weight, group in pairs]
    found, seen = weighted[0], counts[0]
    for group, count in zip(weighted[1:], counts[1:], strict=True):
        seen += count - before
        found = joined(found, group, min(most, seen), second_order)
    return replace(found, counts=np.maximum(found.counts, 1.0))


def moved_mean(mix: Mix, means: list[Floats], counts: list[int], old: Any, before: int) -> Floats:
    """Return the mean over the samples of all models."""
    sums = [count * mean for count, mean in zip(counts, means, strict=True)]
    total = mix.total(counts, before)
    return mix.total(sums, 0.0 if old is None else before * old) / max(total, 1e-300)


def prototypes_state(space: State, places: Blocks) -> State:
    """Return the state of prototypes; sparse models store sums instead of centers."""
    own = space.prototypes
    n, d = places.centers.shape
    rows, counted = np.zeros_like(own.centers), np.zeros_like(own.statistics)
    rows[:n, :d] = places.centers * (places.counts[:, None] if keeps_sums(space.options) else 1)
    counted[:n, 0] = places.counts
    counted[:n, 1] = np.square(rows[:n]).sum(axis=1)
    return own.with_learnt(n=n, centers=rows, statistics=counted)


def hyperplanes_state(space: State, whole: Blocks, steps: int) -> State:
    """Return the state of hyperplanes; unused ones get the prior."""
    own, n, averaging = space.hyperplanes, len(whole), Averaging(space.options.averaging)
    values = np.zeros_like(own.values)
    values[:n] = whole.latest
    found = {"steps": steps, "values": values}
    if averaging.present:
        found["companions"] = companions = np.zeros_like(values)
        everyone = averaging.weights(steps)[1]
        companions[:n] = everyone * (whole.latest - whole.averaged)
    if space.options.second_order:
        known = np.zeros_like(values)
        known[:n] = np.maximum(whole.known, 0.0)
        found["variances"] = 1 / (known + priors_of(space.options))
    return own.with_learnt(**found)


def begin(space: State, _: State, growth: Growth) -> None:
    """Set the variances of new classes to those of the prior."""
    if space.options.second_order:
        space.hyperplanes.variances[:, growth.new] = 1 / priors_of(space.options)


def terms(space: Any) -> Terms:
    state = opened(space)
    own, totals = state.options, state.totals
    d, intercept = own.d, own.intercept
    mean = space.center_of_samples() if own.center else np.zeros(d)
    prototypes, local = space.prototypes.means(), space.local()
    bias = local[:, :, d] if intercept else np.zeros(local.shape[:2])
    centers = prototypes if own.offsets else np.tile(mean, (len(prototypes), 1))
    bandwidth = totals.distances / totals.n_distances if totals.n_distances else 0.0
    weights = np.ascontiguousarray(local[:, :, :d])
    parts = prototypes, own.n_assign, bandwidth, centers, weights, bias
    terms: Terms = (LocalTerm(*parts),) if len(prototypes) else ()
    if not own.joint:
        return terms
    shared = space.shared()
    constant = (shared[:, d] if intercept else 0.0) - shared[:, :d] @ mean
    return Linear(np.ascontiguousarray(shared[:, :d])), Constant(constant), *terms


OPTIONS = (
    "d= dtype= n_outputs# n_prototypes= n_assign= sharing= joint= center= intercept= offsets= "
    "averaging= second_order= normalized= sparse= fixed="
)


def read(stored: dict[str, Any]) -> dict[str, Any]:
    """Split the rows of one array into weights, companions and variances."""
    own = dict(zip(fields(OPTIONS), stored["options"], strict=True))
    steps, rows = stored["hyperplanes"]
    there = {"values": True, "companions": own["averaging"], "variances": own["second_order"]}
    names = [name for name, has in there.items() if has is not False]
    parts = rows.reshape(len(rows), len(names), own["n_outputs"], -1)
    each = {name: parts[:, place] for place, name in enumerate(names)}
    return {**stored, "hyperplanes": {"steps": steps, **each}}


def write(named: dict[str, Any]) -> dict[str, Any]:
    steps, *parts = named["hyperplanes"].values()
    rows = np.stack(parts, axis=1)
    return {**named, "hyperplanes": (steps, rows.reshape(len(rows), -1))}


describe(
    "models.local.LocalSpace",
    f"options({OPTIONS}) prototypes(n centers[prototype column] statistics~[prototype statistic]) "
    "hyperplanes(steps values[block output feature] companions[block output feature] "
    "variances~[block class feature]) "
    "mean[one column] totals(n_samples~ squared_norms~ distances n_distances)",
    read=read,
    write=write,
    merge=merged_local,
    begin=begin,
    terms=terms,
)
