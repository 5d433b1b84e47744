"""Products of Gaussians: what models with a covariance have learnt from the same prior.

Such a model is a Gaussian over its weights, N(mu_i, S_i). What several have learnt is independent,
so their precisions add up:

    S^-1 = S_0^-1 + sum_i (S_i^-1 - S_0^-1),
    S^-1 mu = S_0^-1 mu_0 + sum_i (S_i^-1 mu_i - S_0^-1 mu_0),

where N(mu_0, S_0) is the model that all began with, or the prior N(0, I).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinekern.estimators.types import Floats
from onlinekern.fitted.merge.mix import Mix

# Variances below this share of the largest one are rounding.
LEAST_VARIANCE = 1e-12


class Gaussian(NamedTuple):
    """Gaussian over the weights of features; its covariance is a state, None for the prior."""

    mean: Floats
    covariance: Any


def inverse(matrices: Floats) -> Floats:
    """Return the inverses of variances (two axes) or of covariance matrices (three)."""
    if matrices.ndim == 2:
        return 1 / np.maximum(matrices, LEAST_VARIANCE * matrices.max())
    return np.stack([symmetric_inverse(matrix) for matrix in matrices])


def symmetric_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric matrix; eigenvalues are held above rounding errors."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    least = LEAST_VARIANCE * abs(values).max(initial=0.0)
    half = vectors / np.sqrt(np.maximum(values, least))
    found: Floats = half @ half.T
    # A product with the transpose is not symmetric to the bit everywhere.
    return (found + found.T) / 2


def products(matrices: Floats, rows: Floats) -> Floats:
    """Multiply the rows by a matrix for each, or by one for all."""
    if matrices.ndim == 2:
        return matrices * rows
    return np.stack([matrices[k % len(matrices)] @ row for k, row in enumerate(rows)])


def unit_matrices(like: Floats) -> Floats:
    """Return variances of 1 in the form of others."""
    if like.ndim == 2:
        return np.ones_like(like)
    return np.broadcast_to(np.eye(like.shape[-1]), like.shape).copy()


def merged_gaussians(
    mix: Mix, means: list[Floats], covariances: list[Floats], old: Floats, prior: Floats | None
) -> tuple[Floats, Floats]:
    """Return mean and covariance of the product of Gaussians."""
    precisions = [inverse(covariance) for covariance in covariances]
    first = unit_matrices(precisions[0]) if prior is None else inverse(prior)
    targets = [products(own, mean) for own, mean in zip(precisions, means, strict=True)]
    return combined(mix, targets, precisions, products(first, old), first)


def combined(
    mix: Mix, targets: list[Floats], precisions: list[Floats], old: Floats, first: Floats
) -> tuple[Floats, Floats]:
    """Return mean and covariance of the product of Gaussians; targets are S_i^-1 mu_i."""
    precision = mix.total(precisions, first)
    known = [unit * target for unit, target in zip(mix.units, targets, strict=False)]
    target = mix.total(known, mix.units[-1] * old)
    covariance = inverse(precision)
    return products(covariance, target), covariance
