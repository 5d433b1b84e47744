"""Frequent directions, scatter matrices and what is learnt with them, merged.

A sketch C of rows X has 0 <= X'X - C'C <= s I. The rows of several sketches, put together and
shrunk to the size of one, are a sketch of all their rows, with the sum of their s and of what was
shrunk away (Ghashami, Liberty, Phillips and Woodruff 2016, section 3). If the models began with a
common one, its rows are in all of their sketches; they are subtracted as often as they are too
many. Then X'X - C'C lies between -s I and s I, where s counts the base as often as it was
subtracted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.maps import Common
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.opened import Opened

Term = tuple[float, Floats]


def sketch_of(terms: list[Term], size: int) -> tuple[Floats, float]:
    """Rows C whose C'C is the sum of factor R'R over terms (factor, R), and what was shrunk away.

    At most 2 size - 1 rows; what a negative factor leaves below 0 is left out.
    """
    rows = np.concatenate([np.sqrt(abs(factor)) * part for factor, part in terms])
    signs = np.concatenate([np.full(len(part), np.sign(factor)) for factor, part in terms])
    basis, small = np.linalg.qr(rows.T)
    values, vectors = np.linalg.eigh(small * signs @ small.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    least = np.finfo(float).eps * max(abs(values).max(initial=0.0), 0.0) * len(values)
    shrunk = 0.0
    kept = int(np.count_nonzero(values > least))
    if kept >= 2 * size:
        shrunk, kept = float(values[size]), size
    roots = np.sqrt(np.maximum(values[:kept] - shrunk, 0.0))
    return np.ascontiguousarray((basis @ vectors[:, :kept] * roots).T), shrunk


def sketch_terms(mix: Mix, parts: list[Opened], base: Opened | None) -> list[Term]:
    """The rows of all sketches, and how often each counts."""
    terms = [(w, part.arguments[2]) for w, part in zip(mix.weights, parts, strict=True)]
    if base is not None:
        terms.append((1 - sum(mix.weights), base.arguments[2]))
    return terms


def merged_sketch(
    mix: Mix, parts: list[Opened], base: Opened | None, extra: list[Term] | None = None
) -> Opened:
    """`FrequentDirections`."""
    size, d, *_ = parts[0].arguments
    if any(part.arguments[:2] != (size, d) for part in parts):
        raise ValueError("the sketches have different sizes or numbers of features")
    rows, shrunk = sketch_of([*sketch_terms(mix, parts, base), *(extra or [])], size)
    squares = [part.arguments[3] for part in parts]
    squared_norm = max(0.0, mix.total(squares, base.arguments[3] if base else 0.0))
    bounds = [part.arguments[4] for part in parts]
    bound = sum(w * s for w, s in zip(mix.weights, bounds, strict=True))
    if base is not None:
        bound += abs(1 - sum(mix.weights)) * base.arguments[4]
    return parts[0].changed(size, d, rows, float(squared_norm), float(bound + shrunk))


def merged_scatter(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`Scatter`: the means and weights of the classes exactly, the scatter by its sketch."""
    _, n_classes, centred, (_, _, top) = parts[0].arguments
    states = [part.arguments[3] for part in parts]
    before = base.arguments[3] if base else tuple(np.zeros_like(part) for part in states[0])
    sums = np.maximum(mix.total([state[1] for state in states], before[1]), 0.0)
    counts = sums[0, :-1]
    moments = [state[1][0, :-1, None] * state[0] for state in states]
    old = before[1][0, :-1, None] * before[0]
    means = mix.total(moments, old) / np.maximum(counts, np.finfo(float).tiny)[:, None]
    extra = between_means(mix, states, before, means) if centred else []
    sketches = [part.arguments[0] for part in parts]
    sketch = merged_sketch(mix, sketches, base.arguments[0] if base else None, extra)
    return parts[0].changed(sketch, n_classes, centred, (means, sums, top))


def between_means(mix: Mix, states: list[Any], before: Any, means: Floats) -> list[Term]:
    """What is added to scatters about several means for that about the common one.

    Each model has the scatter of the base's samples, of its own later ones, and of the two means;
    the last does not count, for what counts is how far each of the means is from the common one.
    """
    terms: list[Term] = []
    first = before[1][0, :-1]
    for weight, (own_means, own_sums, _) in zip(mix.weights, states, strict=True):
        counts = own_sums[0, :-1]
        later = np.maximum(counts - first, 0.0)
        fresh = counts[:, None] * own_means - first[:, None] * before[0]
        fresh = np.where(later[:, None] > 0, fresh / np.maximum(later, 1e-300)[:, None], means)
        within = np.sqrt(first * later / np.maximum(counts, 1e-300))
        terms.append((-weight, within[:, None] * (before[0] - fresh)))
        terms.append((weight, np.sqrt(later)[:, None] * (fresh - means)))
    terms.append((1.0, np.sqrt(first)[:, None] * (before[0] - means)))
    return [(factor, rows) for factor, rows in terms if rows.any()]


def merged_sketched(mix: Mix, parts: list[Opened], base: Opened | None) -> Opened:
    """`SketchedSpace`: its weights are averaged, its gradient is that of all open batches."""
    _, *rest = parts[0].arguments[0]
    scatters = [part.arguments[0][0] for part in parts]
    merged = merged_scatter(mix, scatters, base.arguments[0][0] if base else None)
    states = [part.arguments[1] for part in parts]
    steps = mix.count([state[3] for state in states], base.arguments[1][3] if base else 0)
    exponent = max(state[4] for state in states)
    factors = [np.ldexp(1.0, max(state[4] - exponent, -1000)) for state in states]
    weights, average = (
        mix.mean([factor * state[place] for factor, state in zip(factors, states, strict=True)])
        for place in (0, 1)
    )
    if not rest[-1]:
        average = weights
    open_rows, pending = sum(state[5] for state in states), max(state[5] for state in states)
    gradient = sum(state[2] for state in states) * (pending / max(open_rows, 1))
    state = (weights, average, gradient, steps, exponent, pending)
    return parts[0].changed((merged, *rest), state)


def turned_rows(common: Common, rows: Floats, place: int, width: int) -> Floats:
    """Rows in the common features, as wide as they were."""
    turned = common.vectors(rows, place)
    return np.pad(turned, ((0, 0), (0, width - turned.shape[1])))


def turned_precision(common: Common, covariance: Opened, place: int) -> Opened:
    """A `Sketched` covariance in the common features: all but the prior becomes rows."""
    n_outputs, sketch, diagonal, factor = covariance.arguments
    size, d, rows, *rest = sketch.arguments
    more = np.diag(np.sqrt(diagonal[0] - 1))
    every = np.concatenate([rows, more[np.flatnonzero(diagonal[0] > 1)]])
    turned = turned_rows(common, every, place, d)
    return covariance.changed(
        n_outputs, sketch.changed(size, d, turned, *rest), np.ones_like(diagonal), factor
    )


def merged_precision(
    mix: Mix,
    common: Common,
    means: list[Floats],
    covariances: list[Opened],
    old: Floats,
    prior: Opened | None,
) -> tuple[Floats, Opened]:
    """Means and `Sketched` covariance: precisions diag(D) + C'C are added up."""
    if common.turns[0] is not None:
        width = old.shape[1]
        means = [turned_rows(common, mean, i, width) for i, mean in enumerate(means)]
        covariances = [turned_precision(common, own, i) for i, own in enumerate(covariances)]
        if prior is not None:
            old, prior = turned_rows(common, old, -1, width), turned_precision(common, prior, -1)
    n_outputs, *_ = covariances[0].arguments
    one = np.ones((1, old.shape[1]))
    diagonals = [each.arguments[2] for each in covariances]
    first = prior.arguments[2] if prior else one
    diagonal = np.maximum(mix.total(diagonals, first), 1.0)
    sketches = [each.arguments[1] for each in covariances]
    merged = merged_sketch(mix, sketches, prior.arguments[1] if prior else None)
    known = [
        unit * (d * mean + mean @ each.arguments[2].T @ each.arguments[2])
        for unit, d, mean, each in zip(mix.units, diagonals, means, sketches, strict=False)
    ]
    target = first * old
    if prior is not None:
        rows = prior.arguments[1].arguments[2]
        target = target + old @ rows.T @ rows
    target = mix.total(known, mix.units[-1] * target)
    rows = merged.arguments[2]
    factor = np.linalg.cholesky(np.eye(len(rows)) + rows / diagonal @ rows.T)
    scaled = target / diagonal
    if len(rows) > 0:
        inner = scipy.linalg.cho_solve((factor, True), rows @ scaled.T)
        scaled = scaled - (rows.T @ inner).T / diagonal
    return scaled, covariances[0].changed(n_outputs, merged, diagonal, factor)
