"""Frequent directions, and precisions that hold them, merged.

A sketch C of rows X has 0 <= X'X - C'C <= s I. The rows of several sketches, put together and
shrunk to the size of one, are a sketch of all their rows, with the sum of their s and of what was
shrunk away (Ghashami, Liberty, Phillips and Woodruff 2016, section 3). If the models began with a
common one, its rows are in all of their sketches; they are subtracted as often as they are too
many. Then X'X - C'C lies between -s I and s I, where s counts the base as often as it was
subtracted.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.gaussians import Gaussian
from onlinekern.fitted.merge.maps import Common
from onlinekern.fitted.merge.mix import Mix, of
from onlinekern.fitted.state import State

Term = tuple[float, Floats]


def sketch_of(terms: list[Term], size: int) -> tuple[Floats, float]:
    """Return rows C whose C'C is the sum of factor R'R over terms (factor, R), and the shrinkage.

    C has at most 2 size - 1 rows; what a negative factor leaves below 0 is left out.
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


def sketch_terms(mix: Mix, parts: list[State], base: State | None) -> list[Term]:
    """Return the rows of all sketches, and how often each counts."""
    terms = [(w, part.rows) for w, part in zip(mix.weights, parts, strict=True)]
    if base is not None:
        terms.append((1 - sum(mix.weights), base.rows))
    return terms


def merged_sketch(
    mix: Mix, parts: list[State], base: State | None, extra: list[Term] | None = None
) -> State:
    """Merge `FrequentDirections`."""
    first = parts[0]
    if any((part.size, part.d) != (first.size, first.d) for part in parts):
        raise ValueError("the sketches have different sizes or numbers of features")
    rows, shrunk = sketch_of([*sketch_terms(mix, parts, base), *(extra or [])], first.size)
    squares, before = of(parts, base, "squared_norm")
    squared_norm = max(0.0, mix.total(squares, before or 0.0))
    bound = sum(w * part.shrinkage for w, part in zip(mix.weights, parts, strict=True))
    if base is not None:
        bound += abs(1 - sum(mix.weights)) * base.shrinkage
    shrinkage = float(bound + shrunk)
    return first.told(rows=rows, squared_norm=float(squared_norm), shrinkage=shrinkage)


def turned_rows(common: Common, rows: Floats, place: int, width: int) -> Floats:
    """Return rows in the common features, as wide as they were."""
    turned = common.vectors(rows, place)
    return np.pad(turned, ((0, 0), (0, width - turned.shape[1])))


def turned_covariance(common: Common, own: State, place: int) -> State:
    """Return a `Sketched` covariance in the common features; all but the prior becomes rows."""
    sketch, (diagonal,) = own.sketch, own.diagonal
    more = np.diag(np.sqrt(diagonal - 1))
    every = np.concatenate([sketch.rows, more[np.flatnonzero(diagonal > 1)]])
    turned = sketch.changed(rows=turned_rows(common, every, place, sketch.d))
    return own.changed(sketch=turned, diagonal=np.ones((1, len(diagonal))))


def target_of(common: Common, own: Gaussian, place: int) -> Floats:
    """Return S^-1 mu in the common features: sums over samples, see `mapped.turned_gaussian`."""
    if own.covariance is None:
        target = own.mean
    else:
        rows = own.covariance.sketch.rows
        target = own.covariance.diagonal * own.mean + own.mean @ rows.T @ rows
    return turned_rows(common, target, place, own.mean.shape[1])


def merged_precision(mix: Mix, common: Common, models: list[Gaussian], base: Gaussian) -> Gaussian:
    """Merge means and `Sketched` covariances: precisions diag(D) + C'C are added."""
    known = [mix.units[i] * target_of(common, own, i) for i, own in enumerate(models)]
    target = mix.total(known, mix.units[-1] * target_of(common, base, -1))
    covariances, prior = of(models, base, "covariance")
    if common.turns[0] is not None:
        covariances = [turned_covariance(common, own, i) for i, own in enumerate(covariances)]
        prior = prior and turned_covariance(common, prior, -1)
    diagonals, first = of(covariances, prior, "diagonal")
    first = np.ones((1, base.mean.shape[1])) if prior is None else first
    diagonal = np.maximum(mix.total(diagonals, first), 1.0)
    sketches, known_sketch = of(covariances, prior, "sketch")
    merged = merged_sketch(mix, sketches, known_sketch)
    rows = merged.rows
    factor = np.linalg.cholesky(np.eye(len(rows)) + rows / diagonal @ rows.T)
    scaled = target / diagonal
    if len(rows) > 0:
        inner = scipy.linalg.cho_solve((factor, True), rows @ scaled.T)
        scaled = scaled - (rows.T @ inner).T / diagonal
    covariance = covariances[0].told(sketch=merged, diagonal=diagonal, factor=factor)
    return Gaussian(scaled, covariance)
