"""Prototypes with their hyperplanes (LOL), merged.

A prototype is the mean of its samples, so that two become one by their weighted mean. Models that
began with a common one have the same prototypes, each moved a little. Others are paired: of all
ways to pair prototypes of two models, the one of the smallest added variance,
n m / (n + m) ||p - q||^2; as many of its pairs become one as there is no room for. Their
hyperplanes are averaged by their numbers of samples, or multiplied as Gaussians (see `linear`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.merge.averages import Averaging
from onlinekern.fitted.merge.linear import LEAST_VARIANCE
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.opened import Opened


@dataclass(frozen=True)
class Blocks:
    """Hyperplanes with their numbers of samples, and the prototypes that they belong to.

    Parameters
    ----------
    counts : ndarray of shape (n,)
    centers : ndarray of shape (n, d)
    latest, averaged : ndarray of shape (n, n_outputs, width)
        Weights of the last model, and of the one that predicts.
    known : ndarray of shape (n, n_outputs, width)
        What samples added to the precisions; 0 of first-order weights.
    """

    counts: Floats
    centers: Floats
    latest: Floats
    averaged: Floats
    known: Floats

    def __len__(self) -> int:
        return len(self.counts)

    def part(self, places: Any) -> Blocks:
        """Some of them."""
        return Blocks(*(numbers[places] for numbers in vars(self).values()))

    def followed_by(self, other: Blocks) -> Blocks:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Blocks(*(np.concatenate(pair) for pair in pairs))


def blended(groups: list[Blocks], shares: list[Floats], prior: Any, second_order: bool) -> Blocks:
    """Blocks that belong together become one; `shares` are their numbers of samples."""
    counts = np.maximum(np.sum(shares, axis=0), np.finfo(float).tiny)
    parts = [share / counts for share in shares]

    def mean(name: str) -> Any:
        values = [getattr(group, name) for group in groups]
        axes = (1,) * (values[0].ndim - 1)
        return sum(
            part.reshape(-1, *axes) * value for part, value in zip(parts, values, strict=True)
        )

    known, latest = np.sum([group.known for group in groups], axis=0), mean("latest")
    if second_order:
        targets = sum((group.known + prior) * group.latest for group in groups)
        latest = targets / (known + prior)
    return Blocks(counts, mean("centers"), latest, mean("averaged"), known)


def paired(one: Blocks, other: Blocks, n: int) -> tuple[Array, Array]:
    """Places of the pairs that become one so that n blocks are left."""
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
    """The prototypes of two models as n prototypes."""
    if len(one) + len(other) <= n:
        return one.followed_by(other)
    rows, columns = paired(one, other, n)
    pair = [one.part(rows), other.part(columns)]
    merged = blended(pair, [part.counts for part in pair], 1.0, second_order)
    # The pair keeps its place, the others come last.
    found = Blocks(*(numbers.copy() for numbers in vars(one).values()))
    for numbers, fresh in zip(vars(found).values(), vars(merged).values(), strict=True):
        numbers[rows] = fresh
    return found.followed_by(other.part(np.setdiff1d(np.arange(len(other)), columns)))


@dataclass(frozen=True)
class Local:
    """A local model: the shared hyperplane, and those of the prototypes."""

    shared: Blocks
    places: Blocks

    @classmethod
    def of(cls, part: Opened) -> Local:
        options, (n, centers, statistics), (steps, rows), _, totals = part.arguments
        d, _, n_outputs, _, _, sharing, *_, sparse = options
        averaging, second_order = Averaging(options[10]), options[11]
        width = rows.shape[1] // (n_outputs * (1 + averaging.present + second_order))
        parts = rows.reshape(len(rows), -1, n_outputs, width)
        latest = averaged = parts[:, 0]
        if averaging.present:
            averaged = latest - parts[:, 1] / averaging.weights(steps)[1]
        priors = np.ones((len(rows), 1, 1))
        priors[0] = sharing
        known = 0 * latest
        if second_order:
            known = 1 / np.maximum(parts[:, -1], LEAST_VARIANCE / sharing) - priors
        counts = np.concatenate([[float(totals[0])], statistics[:n, 0]])
        means = np.zeros((n + 1, d))
        means[1:] = centers[:n, :d] / (statistics[:n, :1] if sparse else 1)
        whole = Blocks(counts, means, *(each[: n + 1] for each in (latest, averaged, known)))
        return cls(whole.part(slice(1)), whole.part(slice(1, None)))


def merged_local(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`LocalSpace`."""
    options, (_, centers, statistics), (_, rows), _, _ = parts[0].arguments
    second_order, n_most, sharing = options[11], options[3], options[5]
    models = [Local.of(part) for part in parts]
    first = Local.of(base) if base else None
    totals = [part.arguments[4] for part in parts]
    before = base.arguments[4] if base else (0, 0.0, 0.0, 0)
    n_samples = mix.count([own[0] for own in totals], before[0])
    shared = since(
        mix, [m.shared for m in models], first.shared if first else None, sharing, second_order
    )
    if first is not None and len(first.places) == n_most:
        places = since(mix, [m.places for m in models], first.places, 1.0, second_order)
    else:
        places = folded(mix, [m.places for m in models], totals, before[0], n_most, second_order)
    sums = [mix.total([own[k] for own in totals], before[k]) for k in (1, 2)]
    n_distances = mix.count([own[3] for own in totals], before[3])
    counted = (n_samples, max(float(sums[0]), 0.0), max(float(sums[1]), 0.0), n_distances)
    means, old = [part.arguments[3] for part in parts], base.arguments[3] if base else None
    mean = moved_mean(mix, means, [own[0] for own in totals], old, before[0])
    steps = mix.count([p.arguments[2][0] for p in parts], base.arguments[2][0] if base else 0)
    prototypes = prototypes_state(places, centers, statistics, bool(options[-1]))
    hyperplanes = hyperplane_rows(shared, places, rows, Averaging(options[10]), options, steps)
    return parts[0].changed(options, prototypes, (steps, hyperplanes), mean, counted)


def since(
    mix: Mix, groups: list[Blocks], first: Blocks | None, prior: float, second_order: bool
) -> Blocks:
    """Blocks of the same places in all models, and in the base."""
    old = np.zeros_like(groups[0].counts) if first is None else first.counts
    shares = [
        w * np.maximum(group.counts - old, 0.0)
        for w, group in zip(mix.weights, groups, strict=True)
    ]
    empty = sum(shares) == 0
    shares = [np.where(empty, 1.0, share) for share in shares]
    merged = blended(groups, shares, prior, False)
    counts = mix.total([group.counts for group in groups], old)
    sums = [group.counts[:, None] * group.centers for group in groups]
    start = 0.0 if first is None else first.counts[:, None] * first.centers
    centers = mix.total(sums, start) / np.maximum(counts, 1e-300)[:, None]
    latest, known = (
        merged.latest,
        mix.total([g.known for g in groups], first.known if first else 0.0),
    )
    if second_order:
        known = np.maximum(known, 0.0)
        targets = [(group.known + prior) * group.latest for group in groups]
        start = 0.0 if first is None else (first.known + prior) * first.latest
        latest = mix.total(targets, start) / (known + prior)
    return Blocks(counts, centers, latest, merged.averaged, known)


def folded(
    mix: Mix, groups: list[Blocks], totals: list[Any], before: int, most: int, second_order: bool
) -> Blocks:
    """Prototypes that do not belong together from the start, model by model."""
    weighted = [
        Blocks(weight * group.counts, *list(vars(group).values())[1:])
        for weight, group in zip(mix.weights, groups, strict=True)
    ]
    found, seen = weighted[0], totals[0][0]
    for group, own in zip(weighted[1:], totals[1:], strict=True):
        seen += own[0] - before
        found = joined(found, group, min(most, seen), second_order)
    return Blocks(np.maximum(found.counts, 1.0), *list(vars(found).values())[1:])


def moved_mean(mix: Mix, means: list[Floats], counts: list[int], old: Any, before: int) -> Floats:
    """The mean of the samples of all models."""
    sums = [count * mean for count, mean in zip(counts, means, strict=True)]
    total = mix.total(counts, before)
    mean: Floats = mix.total(sums, 0.0 if old is None else before * old) / max(total, 1e-300)
    return mean


def prototypes_state(places: Blocks, centers: Floats, statistics: Floats, sparse: bool) -> Any:
    """Number, centers (sums, of sparse models) and statistics of prototypes."""
    n, d = places.centers.shape
    rows, counted = np.zeros_like(centers), np.zeros_like(statistics)
    rows[:n, :d] = places.centers * (places.counts[:, None] if sparse else 1)
    counted[:n, 0] = places.counts
    counted[:n, 1] = np.square(rows[:n]).sum(axis=1)
    return n, rows, counted


def hyperplane_rows(
    shared: Blocks, places: Blocks, like: Floats, averaging: Averaging, options: Any, steps: int
) -> Floats:
    """Rows of weights, companions and variances; what is not used has the prior."""
    whole = shared.followed_by(places)
    second_order, sharing, n = options[11], options[5], len(whole)
    shape = (len(like), 1 + averaging.present + second_order, options[2], -1)
    rows = np.zeros_like(like).reshape(shape)
    rows[:n, 0] = whole.latest
    if averaging.present:
        averaged = whole.averaged
        rows[:n, 1] = averaging.weights(steps)[1] * (whole.latest - averaged)
    if second_order:
        priors = np.ones((len(like), 1, 1))
        priors[0] = sharing
        known = np.zeros_like(rows[:, -1])
        known[:n] = np.maximum(whole.known, 0.0)
        rows[:, -1] = 1 / (known + priors)
    return rows.reshape(like.shape)
