"""The samples for a display: arrays, or blocks of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length

from onlinekern.preprocessing.steps import learner_of
from onlinekern.streams.blocks import in_blocks
from onlinekern.streams.errors import check_count, pairs_of

# Number of rows that a learner gets at a time, which does not affect what it learns.
ROWS = 1000


def blocks_of(X: Any, y: Any = None) -> Iterable[tuple[Any, Any]]:
    """Return samples as blocks ``(X, y)``.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features), or iterable of (X, y)
        The latter, blocks of a stream, without `y`.
    y : array-like of shape (n_samples,), optional

    Raises
    ------
    TypeError
        If there is no `y` and X is no iterable of pairs.
    ValueError
        If X and y are not of the same length.
    """
    if y is not None:
        check_consistent_length(X, y)
        return [(X, np.asarray(y))]
    if hasattr(X, "shape") or not isinstance(X, Iterable):
        raise TypeError(f"y may be None only if X is an iterable of (X, y), got {type(X).__name__}")
    return ((rows, np.asarray(labels)) for rows, labels in pairs_of(X, "X"))


def with_classes(
    estimator: Any, blocks: Iterable[tuple[Any, Any]], classes: Any
) -> tuple[Iterable[tuple[Any, Any]], Any]:
    """Return the blocks, and all classes of the stream, or None for a regression.

    Raises
    ------
    ValueError
        If the classes of an iterator must be given and are not.
    """
    if classes is not None:
        return blocks, np.unique(classes)
    if not is_classifier(estimator):
        return blocks, None
    if hasattr(estimator, "classes_"):
        return blocks, estimator.classes_
    if isinstance(blocks, list):
        return blocks, np.unique(np.concatenate([y for _, y in blocks]))
    raise ValueError("classes must be given for blocks of a stream: it is read only once")


def cut(blocks: Iterable[tuple[Any, Any]], rows: int) -> Iterator[tuple[Any, ...]]:
    """Return the blocks in pieces of at most `rows` rows."""
    check_count("rows", rows)
    # X may be a list without a shape, so the length is taken from y.
    return ((X, y) for y, X in in_blocks(((y, X) for X, y in blocks), rows))


def name_of(estimator: Any, name: str | None) -> str:
    """Return the given name, or the class name of the estimator or of a pipeline's last step."""
    if name is not None:
        return name
    last = learner_of(estimator)
    return type(last).__name__
