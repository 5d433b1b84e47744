"""Class weights, as factors of the weights of samples."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from onlinekern.estimators.types import Floats


def factors_of(weights: dict[Any, float], labels: Any, more_may_come: bool = False) -> Floats:
    """Return the weights of the labels, in order; those that the dictionary leaves out have 1.

    Parameters
    ----------
    weights : dict
    labels : ndarray of shape (n_classes,)
    more_may_come : bool, default=False
        Whether the dictionary may hold other labels.
    """
    known = {label: k for k, label in enumerate(labels.tolist())}
    factors = np.ones(len(known))
    for label, weight in weights.items():
        if label not in known and not more_may_come:
            raise ValueError(f"class_weight has {label!r}, which is none of the classes {labels}")
        if not isinstance(weight, Real) or not isfinite(weight) or weight < 0:
            raise ValueError(f"class_weight of {label!r} must be a number >= 0, got {weight!r}")
        if label in known:
            factors[known[label]] = weight
    return factors


def factor_of(
    weights: dict[Any, float], numbers: dict[Any, float], number: float, more_may_come: bool = False
) -> float:
    """Return the weight of one class by its number, from a dictionary that may have changed.

    Parameters
    ----------
    weights : dict
    numbers : dict of label to number
        In the order of the numbers.
    number : float
    more_may_come : bool, default=False
        Whether the dictionary may hold other labels.
    """
    labels = tuple(numbers)
    try:
        return known_factors(tuple(weights.items()), labels, more_may_come)[int(number)]
    except TypeError:  # A weight that is a list, for example, has a message of its own.
        return float(factors_of(weights, np.array(labels), more_may_come)[int(number)])


@lru_cache(maxsize=64)
def known_factors(
    weights: tuple[tuple[Any, float], ...], labels: tuple[Any, ...], more_may_come: bool
) -> tuple[float, ...]:
    """Return `factors_of`, without a new check while the weights and the labels are the same."""
    factors = factors_of(dict(weights), np.array(labels), more_may_come)
    return tuple(factors.tolist())


def factor_of_balance(number: float, counts: Any, counted: bool) -> tuple[float, Any]:
    """Return `balance` of one sample: its factor, and the counts after it."""
    counts = counts.copy()
    if not counted:
        return 0.0, counts
    counts[int(number)] += 1
    own = counts.tolist()
    return sum(own) / (len(own) * own[int(number)]), counts


def balance(numbers: Any, counts: Any, counted: Any) -> tuple[Floats, Any]:
    """Return the factors n / (K n_c) of the samples of a stream, and the counts after it.

    n counts the samples up to each one, itself included, and n_c those of its class; K is the
    number of classes.

    Parameters
    ----------
    numbers : ndarray of shape (n_samples,)
        Class numbers.
    counts : ndarray of shape (K,)
        Samples of each class before.
    counted : ndarray of bool of shape (n_samples,)
        Samples of weight 0 are not counted; their factor is 0.
    """
    own, total = np.empty(len(numbers)), counts.sum() + np.cumsum(counted)
    counts = counts.copy()
    for k in range(len(counts)):
        of_class = numbers == k
        so_far = counts[k] + np.cumsum(counted[of_class])
        own[of_class] = so_far
        counts[k] = so_far[-1] if len(so_far) else counts[k]
    return np.divide(total, len(counts) * own, out=np.zeros(len(own)), where=counted), counts
