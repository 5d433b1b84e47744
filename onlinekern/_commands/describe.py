"""What ``onlinekern info MODEL`` says of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlinekern.tables import TableEncoder, encoder_of

# More names or classes than this are counted, not listed.
MOST_LISTED = 20


def lines_about(model: Any) -> Iterator[str]:
    """Yield lines of text: what a model is, what it has learnt, and what it is asked with."""
    yield " ".join(str(model).split())
    learner = model.steps[-1][1] if hasattr(model, "steps") else model
    if not hasattr(model, "n_features_in_"):
        yield "has learnt nothing yet"
        return
    encoder = encoder_of(model)
    if encoder is not None:
        yield from lines_about_columns(encoder)
    names = None if encoder is not None else getattr(model, "feature_names_in_", None)
    n_features = learner.n_features_in_
    yield f"features: {listed(names) if names is not None else f'{n_features:,}'}"
    if hasattr(learner, "classes_"):
        yield f"classes: {listed(learner.classes_)}"
    if hasattr(learner, "n_seen_"):
        yield f"samples learnt: {learner.n_seen_:,}"
    if hasattr(learner, "n_mistakes_"):
        yield f"mistakes before learning: {learner.n_mistakes_:,}"
    if hasattr(learner, "n_support_"):
        yield f"support vectors: {learner.n_support_:,}"
    if hasattr(learner, "report"):
        yield from str(learner.report()).splitlines()


def lines_about_columns(encoder: TableEncoder) -> Iterator[str]:
    """Yield the columns of the tables that a model takes, with the kind of each."""
    kinds = list(encoder.kinds_.items())
    yield f"columns: {len(kinds):,}"
    for name, kind in kinds[:MOST_LISTED]:
        yield f"  {name}: {kind}"
    if len(kinds) > MOST_LISTED:
        yield "  ..."


def listed(values: Any) -> str:
    """The values, if they are few, and how many they are."""
    shown = ", ".join(map(str, values[:MOST_LISTED]))
    return f"{shown}, ... ({len(values):,} in all)" if len(values) > MOST_LISTED else shown
