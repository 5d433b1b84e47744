"""KRLS-T, merged: a posterior N(mu, S) over the values of a function at the support vectors.

What the samples have added to the prior's precision is J = S^-1 - K^-1 and b = S^-1 mu. Over the
union of the support vectors J and b are added, which is the product of the posteriors. They are
averaged if the models began with a common one, of which each has forgotten another share, or if
more vectors than the budget are left. Then those stay whose span comes nearest to the function
where the samples are: in the norm c'(K + K J K) c of sum_i c_i kappa(x_i, .), that of the log
posterior. J and b are then those over the ones who stay.

The function is half-way between the mean of the product and the average of the functions. The
product trusts a model most where its support vectors lie, though it has lost others near by.
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
    """Places of support vectors in the union, their kernel matrix, and N(mu, S) of their values."""

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
    return finished(mix, parts, base, told(mix, parts, whole, found))


def reduced(gram: Floats, precision: Floats, values: Floats, most: int) -> Posterior:
    """Return the posterior over at most so many support vectors."""
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


def told(mix: Mix, parts: list[State], whole: Expansion, found: Posterior) -> State:
    """Return the space with a posterior."""
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

    No sample takes certainty away: what differences of forgotten sums leave below 0 in J is 0.
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
    """Return rows, S^-1 - K^-1 and S^-1 mu of a tracker."""
    learnt = learnt_of(part)
    used = np.flatnonzero(learnt.diagonal[0])
    covariance = learnt.covariance[np.ix_(used, used)]
    precision = symmetric_inverse(covariance)
    values = mix.units[place] * learnt.values[:, used].T + mix.shifts[place]
    added = precision - symmetric_inverse(learnt.prior[np.ix_(used, used)])
    return part.state.rows[used], added, precision @ values
