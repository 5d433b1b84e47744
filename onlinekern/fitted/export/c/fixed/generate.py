"""Generation of a C file in fixed point from the description of a fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onlinekern.estimators.types import Floats
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export import terms
from onlinekern.fitted.export.c.fixed.rows import Given, Row, checked_rows, measured, row_of
from onlinekern.fitted.export.c.fixed.source import FixedSource
from onlinekern.fitted.export.c.fixed.terms import (
    bound_of,
    constant_of,
    reduced,
    turned,
    write_term,
)
from onlinekern.fitted.export.c.generate import write_prediction
from onlinekern.fitted.export.c.header import Exported, finished
from onlinekern.fitted.export.c.labels import label_table

# Scores of the given rows use this many of the 31 bits of a score. Other rows may have larger ones.
SCORE_BITS = 29
# Largest number in a sum of 64 bits that no row can make overflow.
SUM_BITS = 61
MISSING = """,
    /* a feature whose value is missing */
    {}_MISSING = INT16_MIN"""


def generate_fixed(scoring: parts.Scoring, prefix: str, header: str, rows: Any) -> Exported:
    """Generate the C of a description in fixed point.

    Parameters
    ----------
    scoring : Scoring
    prefix : str
        Beginning of the names in the header.
    header : str
        Name of the header, which the code includes.
    rows : array-like or sparse matrix of shape (n, n_features)
        Samples; fixed-point features cover their ranges.

    Raises
    ------
    TypeError
        If a part cannot be computed in fixed point. The message names it, and says why.
    ValueError
        If `rows` do not fit the model, or are too far apart for its kernel.
    """
    body = body_of(scoring)
    samples = checked_rows(rows, scoring.n_features, scoring.missing)
    bits, zeros = measured(samples)
    source = FixedSource(prefix)
    labels = label_table(source, scoring.labels)
    source.whole(f"{prefix}_bits", bits, "int8_t")
    source.whole(f"{prefix}_zeros", zeros, "int32_t")
    write_body(source, body, given_of(scoring, body, row_of(bits, zeros), samples))
    source.fill("fixed_entries", outputs=body.n_outputs, work=source.calls)
    predict = write_prediction(source, scoring, "fixed_")
    missing = MISSING.format(source.names["PREFIX"]) if source.has_missing else ""
    given: dict[str, Any] = {"labels": labels, "predict": predict, "bits": source.bits}
    return finished(source, scoring, header, "fixed/model.h", missing=missing, **given)


def body_of(scoring: parts.Scoring) -> parts.Sum:
    """Return the body of a description as a sum of terms that can be computed in fixed point."""
    name = scoring.name
    if scoring.table is not None:
        raise TypeError(f"dtype='int16': {name} takes rows of a table, of numbers of any size")
    if not isinstance(scoring.body, parts.Sum):
        pairs = isinstance(scoring.body, parts.PairVote)
        what = "pairs of classes divide their sums" if pairs else "experts divide their shares"
        raise TypeError(f"dtype='int16': {name} has no fixed point: the votes of {what}")
    own = scoring.body.terms
    maps = [k for k, step in enumerate(scoring.steps) if isinstance(step, parts.Features)]
    if maps:
        own = mapped(scoring, maps[0])
    try:
        found = [reduced(term) for term in own]
        for root in matrices(scoring):
            found = [turned(term, root) for term in found]
        return replace(scoring.body, terms=tuple(found))
    except TypeError as error:
        raise TypeError(f"dtype='int16': {name}: {error}") from error


def matrices(scoring: parts.Scoring) -> list[Floats]:
    """Return the metrics' matrices that are applied before the terms, the last one first."""
    steps = scoring.steps
    before = [k for k, step in enumerate(steps) if isinstance(step, parts.Turned)]
    if before and any(isinstance(step, parts.Standardisation) for step in steps[before[0] :]):
        raise TypeError("a scaler behind a metric that is a matrix has no fixed point")
    found = [step.root for step in steps if isinstance(step, parts.Turned)]
    return found[::-1]


def mapped(scoring: parts.Scoring, place: int) -> tuple[terms.Term, ...]:
    """Return the terms of a linear model on kernel features as terms of the rows themselves."""
    step = scoring.steps[place]
    assert isinstance(step, parts.Features)
    assert isinstance(scoring.body, parts.Sum)
    behind = [one for one in scoring.steps[place + 1 :] if not isinstance(one, parts.Single)]
    own = scoring.body.terms
    if behind or not all(isinstance(term, terms.Linear | terms.Constant) for term in own):
        raise TypeError(
            f"dtype='int16': features of a kernel have fixed point right before a linear learner "
            f"only, not before {scoring.name}"
        )
    return tuple(
        terms.Mapped(step.map, term.weights) if isinstance(term, terms.Linear) else term
        for term in own
    )


def given_of(scoring: parts.Scoring, body: parts.Sum, row: Row, samples: Floats) -> Given:
    """Return the facts about the model that writing terms needs, with the scaled samples."""
    for step in scoring.steps:
        if isinstance(step, parts.Features | parts.Turned):
            break
        samples = step.apply(samples)
        if isinstance(step, parts.Standardisation):
            row = row.standardised(step)
    units = np.broadcast_to(np.asarray(body.scale, dtype=np.float64), (body.n_outputs,))
    return Given(row, samples, units)


def write_body(source: FixedSource, body: parts.Sum, given: Given) -> None:
    """Write the terms, and the start values of the scores."""
    start = np.broadcast_to(np.asarray(body.shift, dtype=np.float64), (body.n_outputs,))
    bound = np.abs(start)
    for term in body.terms:
        constant = constant_of(term, given)
        start, bound = start + constant, bound + np.abs(constant) + bound_of(term, given)
    source.bits = score_bits(body.scores(given.rows), bound)
    ids = [write_term(source, term, given) for term in body.terms]
    source.whole("start", np.rint(start * np.exp2(source.bits)).astype(np.int64), "int64_t")
    clipped = given.row.is_clipped and any(ids)
    if clipped:
        source.whole("least", given.row.least, "int16_t")
        source.whole("most", given.row.most, "int16_t")
        source.memory("clipped", len(given.row.least))
        source.fill("fixed_clip", features=len(given.row.least))
    lines = ["    memcpy(sums, start, sizeof(sums));"]
    lines += ["    x = clip(x);"] if clipped else []
    lines += [f"    {id_}_add(x, sums);" for id_ in ids if id_ is not None]
    source.calls = "\n".join(lines if any(ids) else [*lines, "    (void)x;"])


def score_bits(scores: Floats, bound: Floats) -> int:
    """Return the number of fractional bits of scores, given those of the rows and a bound."""
    largest = float(np.max(np.abs(scores), initial=0.0))
    most = float(np.max(bound, initial=0.0))
    largest, most = (value if value > 0 else 1.0 for value in (largest, most))
    return int(np.floor(min(SCORE_BITS - np.log2(largest), SUM_BITS - np.log2(most))))
