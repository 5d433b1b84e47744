"""Identity number of a model: a checksum of everything that learning does not change."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export import states

# Fields that learning in C changes, or that follow from such fields.
LEARNT: dict[str, set[str]] = {
    "Learning": {"seen", "lead", "generator"},
    "Numbers": {"values", "companions", "scale", "total", "steps"},
    "LinearState": {"variances"},
    "KernelState": {"vectors", "added", "lengths", "matrices", "slots"},
    "Mean": {"weight"},
    "Recent": {"values", "noted", "quantile"},
    "Landmarks": {"vectors", "whitening"},
    "ConfidentState": {"covariance"},
    "SquaresState": {"inverse", "reg", "entered"},
    "Sums": {"matrix", "vectors", "evidence", "coming", "since", "count"},
    "ForestState": {"upper", "errors", "met", "weights", "held"},
    "Trees": {"weights"},
    "RaceState": {"losses", "counts", "errors", "met", "voting", "alarm", "range"},
    "Scaler": {"mean", "variance", "weight", "ends"},
    "Targets": set(states.TARGETS),
}


def identity(scoring: parts.Scoring, learning: states.Learning, layout: Any) -> int:
    """Return the checksum of a model and of the layout of its state.

    Two models have the same checksum if each can continue from the state of the other. They then
    have the same parameters, features, labels, random features and trees.
    """
    steps = scoring.steps
    if learning.scaler is not None:
        learnt = parts.Standardisation, parts.Sentinels
        steps = tuple(step for step in steps if not isinstance(step, learnt))
    head = scoring.name, scoring.n_features, scoring.head, scoring.missing
    labels = None if scoring.labels is None else [str(label) for label in scoring.labels]
    found = 0
    for piece in pieces((head, labels, steps, learning, layout)):
        found = zlib.crc32(piece, found)
    return found


def pieces(value: Any) -> Iterator[bytes]:
    """Yield the bytes of a description, without the values that learning changes."""
    if isinstance(value, np.ndarray):
        yield f"{value.shape}".encode()
        yield np.ascontiguousarray(value, dtype="<f8").tobytes()
    elif sp.issparse(value):
        rows = value.tocsr()
        yield from pieces((rows.shape, rows.data, rows.indices, rows.indptr))
    elif is_dataclass(value) or hasattr(value, "_fields"):
        name = type(value).__name__
        names = [f.name for f in fields(value)] if is_dataclass(value) else value._fields
        changes = LEARNT.get(name, set())
        if isinstance(value, states.Landmarks) and value.fixed:
            changes = set()
        kept = [own for own in names if own not in changes]
        yield from pieces([name, *[(own, getattr(value, own)) for own in kept]])
    elif isinstance(value, (tuple, list)):
        yield f"({len(value)}".encode()
        for item in value:
            yield from pieces(item)
    elif isinstance(value, dict):
        yield from pieces(sorted(value.items()))
    elif value is None or isinstance(value, (bool, np.bool_, str)):
        yield f"{value!s},".encode()
    elif isinstance(value, (int, float, np.integer, np.floating)):
        yield f"{float(value)!r},".encode()
    else:
        raise TypeError(f"{type(value).__name__} has no bytes")
