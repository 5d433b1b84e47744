"""Products of Gaussians, which merge models with a covariance that began with the same prior.

Such a model is a Gaussian over its weights, N(mu_i, S_i). The models learn from different samples,
so their precisions P_i = S_i^-1 add up:

    P = P_0 + sum_i (P_i - P_0),
    P mu = P_0 mu_0 + sum_i (P_i mu_i - P_0 mu_0),

where N(mu_0, S_0) is the model from which all continued (the base), or the prior N(0, I). This is
exact if S_i is the full covariance.

Variances alone do not say which weights move together. Suppose k features are always equal. Then
each of their weights corrects the whole error that the parts have in common, and the sum corrects
it k times. Models of many short parts then oscillate from one round of merging to the next. For the
mean, the precision that each model adds is therefore counted k times: P_0 + k (P_i - P_0). A sample
with k non-zero features has x x' <= k diag(x^2), so the step stays within the evidence of the
samples. This is the bound of parallel coordinate descent (Richtarik and Takac 2016). As a result,
models of long parts are averaged by their precisions. What models of short parts have learnt adds
up, as far as the base's precision is larger than what they add to it. Merging a single model
returns that model, and the result does not depend on the order of the models.

In rules of confidence (CW, SCW), the precision does not count samples. It grows until a margin is
reached, and each model reaches it by itself. The increases of precision of these models are
averaged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.mix import Mix

# Variances below this share of the largest one are rounding errors.
LEAST_VARIANCE = 1e-12
# Wide samples have mostly features that are 0 or of small weight. At most this many of them are
# counted as moving together.
MOST_TOGETHER = 100


class Gaussian(NamedTuple):
    """Gaussian over the weights of features; its covariance is a state, or None for the prior."""

    mean: Floats
    covariance: Any


def inverse(matrices: Floats) -> Floats:
    """Return the inverses of variances (2-D array) or of covariance matrices (3-D array)."""
    if matrices.ndim == 2:
        return 1 / np.maximum(matrices, LEAST_VARIANCE * matrices.max())
    return np.stack([symmetric_inverse(matrix) for matrix in matrices])


def symmetric_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric matrix, with eigenvalues kept above rounding errors."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    least = LEAST_VARIANCE * abs(values).max(initial=0.0)
    half = vectors / np.sqrt(np.maximum(values, least))
    found: Floats = half @ half.T
    # On some machines, the computed product with the transpose is not exactly symmetric.
    return (found + found.T) / 2


def products(matrices: Floats, rows: Floats) -> Floats:
    """Multiply each row by its own matrix, or all rows by the same one."""
    if matrices.ndim == 2:
        return matrices * rows
    return np.stack([matrices[k % len(matrices)] @ row for k, row in enumerate(rows)])


def unit_matrices(like: Floats) -> Floats:
    """Return variances of 1, or unit matrices, in the shape of the argument."""
    if like.ndim == 2:
        return np.ones_like(like)
    return np.broadcast_to(np.eye(like.shape[-1]), like.shape).copy()


def repeats_of(n_together: int) -> float:
    """Return k, the number of weights with variances that one sample may move."""
    return float(min(n_together, MOST_TOGETHER))


def merged_gaussians(
    mix: Mix,
    means: list[Floats],
    covariances: list[Floats],
    old: Floats,
    prior: Floats | None,
    repeats: float,
) -> tuple[Floats, Floats]:
    """Return mean and covariance of the product of Gaussians."""
    precisions = [inverse(covariance) for covariance in covariances]
    first = unit_matrices(precisions[0]) if prior is None else inverse(prior)
    targets = [products(own, mean) for own, mean in zip(precisions, means, strict=True)]
    return combined(mix, targets, precisions, products(first, old), first, repeats)


def combined(
    mix: Mix,
    targets: list[Floats],
    precisions: list[Floats],
    old: Floats,
    first: Floats,
    repeats: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return mean and covariance of the product of Gaussians; `targets` are P_i mu_i.

    For the mean, the precision beyond `first` counts `repeats` times.
    """
    covariance = inverse(mix.evidence(precisions, first))
    counted = covariance
    if repeats > 1:
        more = [(repeats - 1) * (own - first) for own in precisions]
        triples = zip(targets, precisions, more, strict=True)
        targets = [target + products(extra, products(inverse(own), target))
                   for target, own, extra in triples]  # fmt: skip
        more = [own + extra for own, extra in zip(precisions, more, strict=True)]
        counted = inverse(mix.evidence(more, first))
    known = [unit * target for unit, target in zip(mix.units, targets, strict=False)]
    return products(counted, mix.evidence(known, mix.units[-1] * old)), covariance
