"""Merging of frequent directions, and of precisions that contain them.

A sketch C of rows X satisfies 0 <= X'X - C'C <= s I. To merge sketches, their rows are stacked and
shrunk to the size of one. The result is a sketch of all rows, and its s is the sum of their s and
of the shrinkage of this step (Ghashami, Liberty, Phillips and Woodruff 2016, section 3). If the
models began with a common base, all of their sketches contain its rows. The surplus copies are
subtracted. Then X'X - C'C lies between -s I and s I, where s counts the base once for each
subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.gaussians import Gaussian
from onlinekern.fitted.merge.maps import Common, fitting
from onlinekern.fitted.merge.mix import Mix, of
from onlinekern.fitted.state import State

Term = tuple[float, Floats]


def sketch_of(terms: list[Term], size: int) -> tuple[Floats, float]:
    """Return a sketch C with C'C = sum of factor R'R over terms (factor, R), and its shrinkage.

    C has at most 2 size - 1 rows. Directions with a negative sum, from negative factors, are
    dropped.
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


def merged_sketch(
    mix: Mix, parts: list[State], base: State | None, extra: Sequence[Term] = ()
) -> State:
    """Merge `FrequentDirections`: each sketch counts by the weight of its model."""
    first = parts[0]
    if any((part.size, part.d) != (first.size, first.d) for part in parts):
        raise ValueError("the sketches have different sizes or numbers of features")
    terms = [(w, part.rows) for w, part in zip(mix.weights, parts, strict=True)]
    bound = sum(w * part.shrinkage for w, part in zip(mix.weights, parts, strict=True))
    if base is not None:
        again = 1 - sum(mix.weights)
        terms.append((again, base.rows))
        bound += abs(again) * base.shrinkage
    return sketch_state(mix, parts, base, [*terms, *extra], bound)


def turned_covariance(common: Common, own: State, place: int) -> State:
    """Return a `Sketched` covariance in the common features.

    Only the prior stays in the diagonal; all other precision becomes rows.
    """
    if common.turns[place] is None:
        return own
    sketch, (diagonal,) = own.sketch, own.diagonal
    more = np.diag(np.sqrt(diagonal - 1))
    every = np.concatenate([sketch.rows, more[np.flatnonzero(diagonal > 1)]])
    turned = sketch.changed(rows=fitting(common.vectors(every, place), sketch.d))
    return own.changed(sketch=turned, diagonal=np.ones((1, len(diagonal))))


def times(own: State, mean: Floats) -> Floats:
    """Multiply rows by the precision D + C'C."""
    rows = own.sketch.rows
    return own.diagonal * mean + mean @ rows.T @ rows


def solved(diagonal: Floats, rows: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return rows times (D + C'C)^-1, and the Cholesky factor of I + C D^-1 C'."""
    factor = np.asarray(np.linalg.cholesky(np.eye(len(rows)) + rows / diagonal @ rows.T), float)
    scaled: Floats = targets / diagonal
    if len(rows) > 0:
        inner = scipy.linalg.cho_solve((factor, True), rows @ scaled.T)
        scaled = scaled - (rows.T @ inner).T / diagonal
    return scaled, factor


def mean_in(common: Common, own: Gaussian, turned: State, place: int) -> Floats:
    """Return the mean in the common features, made of sums; see `mapped.turned_gaussian`."""
    if common.turns[place] is None:
        return own.mean
    target = common.vectors(times(own.covariance, own.mean), place)
    target = fitting(target, own.mean.shape[1])
    return solved(turned.diagonal, turned.sketch.rows, target)[0]


def merged_precision(mix: Mix, common: Common, models: list[Gaussian], base: Gaussian) -> Gaussian:
    """Merge means and `Sketched` covariances: the models' additions to the base's D + C'C add up.

    A sketch that continues the base's sketch loses a part of it by shrinking. So the difference of
    the two can be negative in some directions. Negative parts count as 0, otherwise the merged
    model would lose them once for each model. In every direction, the precision that samples have
    added is at most this difference plus the shrinkage of the model's sketch since the base. This
    upper bound is used for the mean, which could otherwise move beyond the evidence of the samples
    (see `gaussians`).
    """
    width = base.mean.shape[1]
    covariances, prior = of(models, base, "covariance")
    nothing = covariances[0].sketch.changed(rows=np.zeros((0, width)), shrinkage=0.0)
    empty = covariances[0].changed(sketch=nothing, diagonal=np.ones((1, width)))
    turned = [turned_covariance(common, own, i) for i, own in enumerate(covariances)]
    first = empty if prior is None else turned_covariance(common, prior, -1)
    old = mean_in(common, Gaussian(base.mean, prior), first, -1) if prior else base.mean
    weights = mix.weights if mix.adds else mix.shares
    terms, diagonal, slack = [(1.0, first.sketch.rows)], first.diagonal, 0.0
    target = start = mix.units[-1] * times(first, old)
    for i, (weight, own) in enumerate(zip(weights, turned, strict=True)):
        # R'R is the positive part of C'C - B'B.
        rows = sketch_of([(1.0, own.sketch.rows), (-1.0, first.sketch.rows)], width + 1)[0]
        shrunk = max(own.sketch.shrinkage - first.sketch.shrinkage, 0.0)
        mean = mean_in(common, models[i], own, i)
        counted = times(first, mean) + shrunk * mean + mean @ rows.T @ rows
        target = target + weight * (mix.units[i] * counted - start)
        added = whole_diagonal(own) - whole_diagonal(first) - np.square(rows).sum(axis=0)
        diagonal = diagonal + weight * np.maximum(added, 0.0)
        terms.append((weight, rows))
        slack += weight * shrunk
    every = sketch_of(terms, width + 1)[0]
    latest, _ = solved(first.diagonal + slack, every, target)
    sketches, begun = of(turned, first, "sketch")
    merged = sketch_state(mix, sketches, begun, terms, begun.shrinkage + slack)
    # The precision that the sketch drops stays in the diagonal.
    dropped = np.square(every).sum(axis=0) - np.square(merged.rows).sum(axis=0)
    diagonal = diagonal + np.maximum(dropped, 0.0)
    factor = solved(diagonal, merged.rows, target)[1]
    covariance = covariances[0].with_learnt(sketch=merged, diagonal=diagonal, factor=factor)
    return Gaussian(latest, covariance)


def whole_diagonal(own: State) -> Floats:
    """Return the diagonal of D + C'C."""
    return own.diagonal + np.square(own.sketch.rows).sum(axis=0)


def sketch_state(
    mix: Mix, parts: list[State], base: State | None, terms: list[Term], bound: float
) -> State:
    """Return a sketch of the rows of terms.

    `bound` is the error of the terms; the shrinkage of this step is added to it.
    """
    rows, shrunk = sketch_of(terms, parts[0].size)
    squares, before = of(parts, base, "squared_norm")
    squared_norm = max(0.0, mix.total(squares, before or 0.0))
    shrinkage = float(bound + shrunk)
    return parts[0].with_learnt(rows=rows, squared_norm=float(squared_norm), shrinkage=shrinkage)
