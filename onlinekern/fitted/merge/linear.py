"""Linear models and models of explicit features, merged: averages, or products of Gaussians.

With a covariance, a model is a Gaussian over its weights, N(mu_i, S_i). What several models have
learnt from the same prior is independent, so that their precisions add up:

    S^-1 = S_0^-1 + sum_i (S_i^-1 - S_0^-1),
    S^-1 mu = S_0^-1 mu_0 + sum_i (S_i^-1 mu_i - S_0^-1 mu_0),

where N(mu_0, S_0) is the model that all began with, or the prior N(0, I).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.averages import Averaging, merged_steps
from onlinekern.fitted.merge.maps import Common, common_map
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.opened import Opened
from onlinekern.fitted.merge.sketches import merged_precision

# Numbers that a block of the core's linear weights has.
LINE = 8
# Of the largest variance: smaller ones are rounding.
LEAST_VARIANCE = 1e-12


def arguments_at(parts: list[Opened], base: Opened | None, place: int) -> tuple[list[Any], Any]:
    """The argument in this place of each object, and of the base (None if there is none)."""
    return [part.arguments[place] for part in parts], base.arguments[place] if base else None


def merged_linear(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`LinearSpace` and its subclasses."""
    cls, arguments, _ = parts[0].arguments
    states, before = arguments_at(parts, base, 2)
    batched, second_order = "batch_update" in states[0], "covariance" in states[0]
    d, _, n_outputs, kind, intercept, *rest = arguments[2:] if batched else arguments
    averaging = Averaging(kind, 0 if second_order else rest[0])
    shape = (-1, n_outputs, (d + LINE) // LINE * LINE)

    def pair_of(state: Any) -> tuple[Floats, Floats]:
        rows = state["blocks"].reshape(shape)
        latest, averaged = averaging.pair(state, rows[0], rows[-1])
        if batched:  # an open batch ends here
            latest = state["shrink"] * latest + state["batch_update"].reshape(shape)[0]
        return latest, averaged

    pairs = [pair_of(state) for state in states]
    latest, averaged = (mix.blend(half) for half in zip(*pairs, strict=True))
    fields: dict[str, Any] = {}
    if second_order:
        width = d + bool(intercept)
        old = pair_of(before)[0][:, :width] if before else np.zeros((n_outputs, width))
        prior = before["covariance"] if before else None
        covariances = [state["covariance"] for state in states]
        means = [pair[0][:, :width] for pair in pairs]
        latest[:, :width], covariance = merged_gaussians(mix, means, covariances, old, prior)
        counts = [state["n_degenerate"] for state in states]
        degenerate = mix.count(counts, before["n_degenerate"] if before else 0)
        fields = {"covariance": covariance, "n_degenerate": degenerate}
        averaged = averaged if averaging.present else latest
    if batched:
        norm = float(np.square(latest).sum())
        empty = np.zeros_like(states[0]["batch_update"])
        fields = {"batch_update": empty, "count": 0, "shrink": 1.0, "squared_norm": norm}
        averaged = averaged if averaging.present else latest
    state = averaging.state(latest, averaged, merged_steps(mix, states, before))
    rows = [state.pop("values"), state.pop("companions")][: 1 + averaging.present]
    blocks = np.stack(rows).reshape(-1, LINE)
    return parts[0].changed(cls, arguments, {**state, "blocks": blocks, **fields})


def inverse(matrices: Floats) -> Floats:
    """Inverses of variances (two axes), or of covariance matrices (three)."""
    if matrices.ndim == 2:
        return 1 / np.maximum(matrices, LEAST_VARIANCE * matrices.max())
    return np.stack([symmetric_inverse(matrix) for matrix in matrices])


def symmetric_inverse(matrix: Floats) -> Floats:
    """The inverse of a symmetric matrix, whose eigenvalues are held above rounding errors."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    least = LEAST_VARIANCE * abs(values).max(initial=0.0)
    half = vectors / np.sqrt(np.maximum(values, least))
    found: Floats = half @ half.T
    # A product with the transpose is not symmetric to the bit everywhere.
    return (found + found.T) / 2


def products(matrices: Floats, rows: Floats) -> Floats:
    """A matrix for each row, or one for all, times the rows."""
    if matrices.ndim == 2:
        return matrices * rows
    return np.stack([matrices[k % len(matrices)] @ row for k, row in enumerate(rows)])


def unit_matrices(like: Floats) -> Floats:
    """Variances of 1, in the form of others."""
    if like.ndim == 2:
        return np.ones_like(like)
    return np.broadcast_to(np.eye(like.shape[-1]), like.shape).copy()


def merged_gaussians(
    mix: Mix, means: list[Floats], covariances: list[Floats], old: Floats, prior: Floats | None
) -> tuple[Floats, Floats]:
    """Mean and covariance of the product of Gaussians."""
    precisions = [inverse(covariance) for covariance in covariances]
    first = unit_matrices(precisions[0]) if prior is None else inverse(prior)
    return combined(mix, means, precisions, old, first)


def combined(
    mix: Mix, means: list[Floats], precisions: list[Floats], old: Floats, first: Floats
) -> tuple[Floats, Floats]:
    precision = mix.total(precisions, first)
    units = mix.units
    known = [u * products(p, m) for u, p, m in zip(units, precisions, means, strict=False)]
    target = mix.total(known, units[-1] * products(first, old))
    covariance = inverse(precision)
    return products(covariance, target), covariance


def merged_mapped(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`MappedSpace`."""
    _, n_outputs, averaged, _ = parts[0].arguments
    common = common_map(*arguments_at(parts, base, 0))
    states, before = arguments_at(parts, base, 3)
    state = merged_weights(mix, common, states, before, Averaging(averaged))
    return parts[0].changed(common.map, n_outputs, averaged, state)


def merged_weights(
    mix: Mix, common: Common, states: list[Any], before: Any, averaging: Averaging
) -> Any:
    """The state of weights of features: their weighted average."""
    pairs = [averaging.pair(state, state["values"], state["companions"]) for state in states]
    turned = [[common.vectors(half, i) for half in pair] for i, pair in enumerate(pairs)]
    width = states[0]["values"].shape[1]
    halves = [widened(mix.blend(half), width) for half in zip(*turned, strict=True)]
    steps = merged_steps(mix, states, before)
    return averaging.state(halves[0], halves[1], steps)


def widened(rows: Floats, width: int) -> Floats:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


def merged_mapped_gaussian(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`MappedSecondOrderSpace`."""
    _, kind, covariance, *_ = parts[0].arguments
    common = common_map(*arguments_at(parts, base, 0))
    states, before = arguments_at(parts, base, 4)
    averaging = Averaging(kind)
    state = merged_weights(mix, common, states, before, averaging)
    latest, averaged = averaging.pair(state, state["values"], state["companions"])
    means = [state["scale"] * state["values"] for state in states]
    old = before["scale"] * before["values"] if before else np.zeros_like(means[0])
    covariances, prior = arguments_at(parts, base, 2)
    if covariance.name == "Sketched":
        latest, merged = merged_precision(mix, common, means, covariances, old, prior)
    else:
        latest, merged = merged_covariance(mix, common, means, covariances, old, prior)
    averaged = averaged if averaging.present else latest
    counts, degenerate = arguments_at(parts, base, 3)
    return parts[0].changed(
        common.map,
        kind,
        merged,
        mix.count(counts, degenerate or 0),
        averaging.state(latest, averaged, state["steps"]),
    )


def merged_covariance(
    mix: Mix,
    common: Common,
    means: list[Floats],
    covariances: list[Opened],
    old: Floats,
    prior: Opened | None,
) -> tuple[Floats, Opened]:
    """Means and covariance in the common features."""
    cls, n_outputs, length, _ = covariances[0].arguments
    precisions = [inverse(each.arguments[3]) for each in covariances]
    one = unit_matrices(precisions[0])
    first = one if prior is None else inverse(prior.arguments[3])
    if common.turns[0] is not None:
        every = [*zip(precisions, means, strict=True), (first, old)]
        places = [*range(len(means)), -1]
        turned = [
            turned_gaussian(common, *one_of, place)
            for place, one_of in zip(places, every, strict=True)
        ]
        (*precisions, first), (*means, old) = (list(half) for half in zip(*turned, strict=True))
    latest, covariance = combined(mix, means, precisions, old, first)
    return latest, covariances[0].changed(cls, n_outputs, length, covariance)


def turned_gaussian(
    common: Common, precision: Floats, mean: Floats, place: int
) -> tuple[Floats, Floats]:
    """Precision and mean in the common features; what one does not know there has the prior."""
    length = mean.shape[1]
    one = unit_matrices(precision)
    if common.turns[place] is None:
        return precision, mean
    wide = widened(common.vectors(mean, place), length)
    if precision.ndim == 2:
        known = np.stack([np.diag(common.matrix(np.diag(row), place)) for row in precision - one])
        return one + widened(known, length), wide
    found = one
    for k, matrix in enumerate(precision - one):
        known = common.matrix(matrix, place)
        found[k, : len(known), : len(known)] += known
    return found, wide


def merged_mean(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`MeanSpace`: sums of features are added."""
    _, forgetting, _, _ = parts[0].arguments
    common = common_map(*arguments_at(parts, base, 0))
    totals, total_before = arguments_at(parts, base, 2)
    states, before = arguments_at(parts, base, 3)
    sums = [n * state["scale"] * state["values"] for n, state in zip(totals, states, strict=True)]
    old = total_before * before["scale"] * before["values"] if before else 0.0
    total = mix.total(totals, total_before or 0.0, forgetting)
    mean = mix.total(sums, old, forgetting) / max(total, np.finfo(float).tiny)
    state = Averaging(False).state(mean, mean, merged_steps(mix, states, before))
    return parts[0].changed(common.map, forgetting, float(total), state)
