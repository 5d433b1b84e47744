"""Merging of KRLS-T: a posterior N(mu, S) over the values of a function at the support vectors.

The samples add J = S^-1 - K^-1 and b = S^-1 mu to the prior. J and b are transformed to the union
of the support vectors and added, which gives the product of the posteriors. They are averaged
instead in two cases: if the models continued from a base, of which each has forgotten a different
share, or if the union is larger than the budget.

If the union is larger than the budget, the support vectors are kept whose span comes nearest to the
merged function. Distances are measured where the samples are: sum_i c_i kappa(x_i, .) has the norm
c'(K + K J K) c, which is that of the log posterior. J and b are then transformed to the kept
support vectors. The merged function is in this case the midpoint between the mean of the product
and the average of the functions. The product alone would trust each model most at its own support
vectors, although the model may have dropped other support vectors near them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.expansions import Expansion, expansion_of, finished, set_of, union
from onlinekern.fitted.merge.filters import Union, added_over, learnt_of, taken_up
from onlinekern.fitted.merge.gaussians import symmetric_inverse
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.merge.selection import exchanged
from onlinekern.fitted.state import State


class Posterior(NamedTuple):
    """Posterior N(mu, S) at some support vectors of the union, with their kernel matrix."""

    places: Any
    gram: Floats
    values: Floats
    covariance: Floats


def merged_tracker(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge KRLS-T."""
    space = parts[0]
    most = space.budget.arguments.max_support
    whole = union(mix, [expansion_of(part) for part in parts])
    chosen = Union.of(set_of(space.arguments, whole.rows))
    sums = [posterior(mix, part, i) for i, part in enumerate(parts)]
    averaged = base is not None or len(whole) > most
    fair = replace(mix, weights=mix.shares) if averaged else mix
    precision, vector = added_over(fair, chosen, sums, has_base=False)
    covariance = posterior_covariance(chosen.gram, precision)
    found = Posterior(np.arange(len(whole)), chosen.gram, covariance @ vector, covariance)
    if len(whole) > most:
        average = chosen.gram @ whole.coefficients.T + mix.mean(mix.shifts[: len(parts)])
        found = reduced(chosen.gram, precision, (found.values + average) / 2, most)
    return finished(mix, parts, base, with_posterior(mix, parts, whole, found))


def reduced(gram: Floats, precision: Floats, values: Floats, most: int) -> Posterior:
    """Return the posterior over at most `most` support vectors."""
    half = posterior_half(gram, precision)
    # K S^-1 K = K + K J K.
    turned = scipy.linalg.solve(half, gram)
    norm = turned.T @ turned
    products = turned.T @ scipy.linalg.solve(half, values)
    kept = exchanged(norm, products, most)
    square = np.ix_(kept, kept)
    coefficients = scipy.linalg.solve(norm[square], products[kept], assume_a="pos")
    own = gram[square]
    turn = scipy.linalg.solve(own, gram[kept], assume_a="pos")
    covariance = posterior_covariance(own, turn @ precision @ turn.T)
    return Posterior(kept, own, own @ coefficients, covariance)


def with_posterior(mix: Mix, parts: list[State], whole: Expansion, found: Posterior) -> State:
    """Return the space with this posterior."""
    space, n = parts[0], len(found.places)
    size, width = learnt_of(space).inverse.shape
    inverse, lengths = symmetric_inverse(found.gram), np.diagonal(found.gram)
    squares = {"inverse": inverse, "covariance": found.covariance, "prior": found.gram}
    rows = {"diagonal": lengths[None], "values": found.values.T}
    more = width - n
    learnt = {
        **{name: np.pad(own, ((0, size - n), (0, more))) for name, own in squares.items()},
        **{name: np.pad(own, ((0, 0), (0, more))) for name, own in rows.items()},
        **{"n_updates": 0, "broken": False, "pending": None},
        "residuals": mix.mean([learnt_of(part).residuals for part in parts]),
    }
    support = set_of(space.arguments, whole.rows[found.places], inverse @ found.values)
    return taken_up(space, support, learnt)


def posterior_half(gram: Floats, precision: Floats) -> Floats:
    """Return H with H H' = (K^-1 + J)^-1 = L (1 + L'J L)^-1 L', where K = L L'.

    No sample can reduce the precision. J may have negative eigenvalues, because it is a difference
    of sums that forget; they count as 0.
    """
    lower = np.linalg.cholesky(gram)
    values, vectors = np.linalg.eigh(lower.T @ precision @ lower)
    return lower @ vectors / np.sqrt(1 + np.maximum(values, 0.0))


def posterior_covariance(gram: Floats, precision: Floats) -> Floats:
    """Return (K^-1 + J)^-1."""
    half = posterior_half(gram, precision)
    covariance: Floats = half @ half.T
    return (covariance + covariance.T) / 2


def posterior(mix: Mix, part: State, place: int) -> tuple[Any, Floats, Floats]:
    """Return rows, S^-1 - K^-1 and S^-1 mu of a KRLS-T model."""
    learnt = learnt_of(part)
    used = np.flatnonzero(learnt.diagonal[0])
    covariance = learnt.covariance[np.ix_(used, used)]
    precision = symmetric_inverse(covariance)
    values = mix.units[place] * learnt.values[:, used].T + mix.shifts[place]
    added = precision - symmetric_inverse(learnt.prior[np.ix_(used, used)])
    return part.state.rows[used], added, precision @ values
