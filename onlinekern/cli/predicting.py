"""The work of ``onlinekern predict``: predicting the rows of a file or a pipe."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onlinekern.cli.rows import PIECE, TARGET, blocks_for, check_formats, reading_of, rows_of_files
from onlinekern.estimators.answers import ANSWERS, answers_of, columns_of
from onlinekern.estimators.validation import no_name_warnings
from onlinekern.fitted.save import load
from onlinekern.fitted.save.atomic import replacing
from onlinekern.preprocessing.steps import learner_of
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.reports.text import text_of
from onlinekern.streams.blocks import in_blocks
from onlinekern.streams.errors import ExtraFeatures, StreamError
from onlinekern.streams.files import Blocks
from onlinekern.streams.formats.readers import TABLES
from onlinekern.streams.paths import writing

if TYPE_CHECKING:
    from onlinekern.cli.predict import Request

HINT = "--target names the column of the targets, --ignore-extra leaves out what the model lacks"


def predict(request: Request) -> None:
    """Write a line with the prediction for each row."""
    model, metadata = load(request.model, return_metadata=True)
    answer = answer_of(model, request)
    try:
        blocks = blocks_of(request, model, metadata)
    except ExtraFeatures as error:
        raise StreamError(f"{error} (the first file: that of {request.model}); {HINT}") from error
    except StreamError as error:
        raise StreamError(f"{error} (the first file: that of {request.model})") from error
    with hinting(), no_name_warnings(), open_output(request.output) as stream:
        lines = csv.writer(stream, lineterminator="\n")
        header = header_of(model, request.what)
        if header:
            lines.writerow(header)
        n_rows = 0
        with rows_of_files(blocks, lambda: n_rows):
            for X, y in in_blocks(blocks, PIECE):
                lines.writerows(rows_of(answer(X)))
                stream.flush()  # a reader of the pipe should see each prediction at once
                n_rows += len(y)


@contextmanager
def hinting() -> Iterator[None]:
    """Add a hint to errors about rows with more features than the model."""
    try:
        yield
    except ExtraFeatures as error:
        raise StreamError(f"{error}; {HINT}") from error


def blocks_of(request: Request, model: Any, metadata: dict[str, Any]) -> Blocks:
    """Open the rows in the form that the model needs, without the target column of `train`."""
    named = getattr(model, "feature_names_in_", None) is not None
    table = named or encoder_of(model) is not None
    reading = replace(reading_of(request), ignore_extra=request.ignore_extra)
    formats = check_formats(request, [request.data], reading, table)
    known = metadata.get(TARGET) if table and formats.issubset(TABLES) else None
    target = str(known) if request.target is None and known is not None else request.target
    return blocks_for(model, request.data, target, request.zero_based, reading)


def answer_of(model: Any, request: Request) -> Any:
    """Return the function that computes the output for rows; ValueError if the model has none."""
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"{request.model}: this {type(model).__name__} has learnt nothing yet")
    name = ANSWERS[request.what]
    if not hasattr(model, name):
        learner = type(learner_of(model)).__name__
        raise ValueError(f"--what {request.what}: {learner} has no {name}")
    return lambda X: answers_of(model, request.what, X, request.coverage)


def header_of(model: Any, what: str) -> list[str]:
    """Return the names of several output columns; empty for a single one."""
    if what == "intervals":
        n_targets = getattr(learner_of(model), "n_outputs_", 1)
        ends = ["lower", "upper"]
        return ends if n_targets == 1 else [f"{end}_{k}" for k in range(n_targets) for end in ends]
    classes = columns_of(model, what)
    return [] if classes is None else [text_of(label) for label in classes]


def rows_of(values: Any) -> Iterator[list[str]]:
    """Yield a list of texts for each row of output."""
    for row in values.reshape(len(values), -1):
        yield [text_of(value) for value in row]


@contextmanager
def open_output(path: str) -> Iterator[Any]:
    """Open a text stream to standard output, or to a file that appears only when complete."""
    if path == "-":
        with writing("standard output"):
            yield sys.stdout
            sys.stdout.flush()
        return
    with replacing(path) as raw:
        stream = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        yield stream
        stream.flush()
        stream.detach()
