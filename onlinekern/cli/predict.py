"""What ``onlinekern predict`` does: the answers of a model to the rows of a file or a pipe."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.cli.rows import Known, pieces, reading_of, rows_from
from onlinekern.estimators.validation import names_are_no_matter, one_of
from onlinekern.fitted.save.atomic import replacing
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.reports.text import text_of
from onlinekern.streams.files import Blocks, Columns, Form
from onlinekern.streams.formats.libsvm import StreamError
from onlinekern.streams.paths import check_readable, check_writable, writing

# What is asked for -> the method of a model that tells.
ANSWERS = {
    "labels": "predict",
    "scores": "decision_function",
    "probabilities": "predict_proba",
    "intervals": "predict_interval",
}


@dataclass(frozen=True)
class PredictRequest:
    """The options of ``onlinekern predict``, as given (see its help)."""

    model: str
    data: str
    output: str
    what: str
    target: str | None
    zero_based: bool
    format: str | None = None
    separator: str | None = None
    decimal: str = "."
    header: bool = True
    coverage: float = 0.9

    def check(self) -> None:
        """Raise ValueError or OSError for whatever can be seen to be wrong without the data."""
        one_of("--what", self.what, ANSWERS)
        reading_of(self)
        if not 0 < self.coverage < 1:
            raise ValueError(f"--coverage must be between 0 and 1, got {self.coverage}")
        check_readable(self.model)
        if self.data != "-":
            check_readable(self.data)
        if self.output != "-":
            check_writable(self.output)


def predict(request: PredictRequest) -> None:
    """Write a line for each row: its label or target, or its scores or probabilities."""
    from onlinekern.fitted.save import load

    request.check()
    model = load(request.model)
    answer = answer_of(model, request)
    try:
        blocks = blocks_of(request, model)
    except StreamError as error:
        raise StreamError(f"{error} (the first file: that of {request.model})") from error
    with names_are_no_matter(), open_output(request.output) as stream:
        lines = csv.writer(stream, lineterminator="\n")
        header = header_of(model, request.what)
        if header:
            lines.writerow(header)
        n_rows = 0
        for X, y in pieces(blocks):
            with rows_from(n_rows + 1):
                lines.writerows(rows_of(answer(X)))
            stream.flush()  # of a pipe that goes on, the answers are wanted now
            n_rows += len(y)


def blocks_of(request: PredictRequest, model: Any) -> Blocks:
    """The rows, as the model takes them."""
    encoder = encoder_of(model)
    if encoder is not None:
        kinds = encoder.kinds_
        known, reading = Known(list(kinds), None), reading_of(request, kinds.items())
        return Blocks([request.data], request.target, Columns(), known, False, reading)
    names = getattr(model, "feature_names_in_", None)
    known = Known(None if names is None else list(names), None)
    form = Form(int(model.n_features_in_), request.zero_based, "float64")
    return Blocks([request.data], request.target, form, known, False, reading_of(request))


def answer_of(model: Any, request: PredictRequest) -> Any:
    """A function that gives the answers wanted for rows; ValueError if the model has none."""
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"{request.model}: this {type(model).__name__} has learnt nothing yet")
    name = ANSWERS[request.what]
    method = getattr(model, name, None)
    if method is None:
        learner = model.steps[-1][1] if hasattr(model, "steps") else model
        raise ValueError(f"--what {request.what}: {type(learner).__name__} has no {name}")
    if request.what == "intervals":
        return lambda X: np.column_stack(method(X, request.coverage))
    return method


def header_of(model: Any, what: str) -> list[str]:
    """The names of the columns where there are several; none for a single one."""
    if what == "intervals":
        return ["lower", "upper"]
    classes = getattr(model, "classes_", None)
    if classes is None or what == "labels" or (what == "scores" and len(classes) == 2):
        return []
    return [text_of(label) for label in classes]


def rows_of(answers: Any) -> Iterator[list[str]]:
    """A list of texts for each row of answers."""
    for row in answers.reshape(len(answers), -1):
        yield [text_of(value) for value in row]


@contextmanager
def open_output(path: str) -> Iterator[Any]:
    """A text stream to a file, which appears whole or not at all, or to standard output."""
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
