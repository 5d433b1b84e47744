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

from onlinekern._commands.arguments import check_readable, check_writable, one_of, writing
from onlinekern._commands.rows import Columns, pieces
from onlinekern._saving.atomic import replacing
from onlinekern._validation import names_are_no_matter
from onlinekern.streams import Blocks, Form, StreamError

ANSWERS = ("labels", "scores", "probabilities")


@dataclass(frozen=True)
class PredictRequest:
    """The options of ``onlinekern predict``, as given (see its help)."""

    model: str
    data: str
    output: str
    what: str
    target: str | None
    zero_based: bool

    def check(self) -> None:
        """Raise ValueError or OSError for whatever can be seen to be wrong without the data."""
        one_of("--what", self.what, ANSWERS)
        check_readable(self.model)
        if self.data != "-":
            check_readable(self.data)
        if self.output != "-":
            check_writable(self.output)


def predict(request: PredictRequest) -> None:
    """Write a line for each row: its label or target, or its scores or probabilities."""
    from onlinekern import load

    request.check()
    model = load(request.model)
    answer = answer_of(model, request.what, request.model)
    names = getattr(model, "feature_names_in_", None)
    like = Columns(None if names is None else list(names), None)
    form = Form(int(model.n_features_in_), request.zero_based, "float64")
    try:
        blocks = Blocks([request.data], request.target, form, like, labelled=False)
    except StreamError as error:
        raise StreamError(f"{error} (the first file: that of {request.model})") from error
    with names_are_no_matter(), open_output(request.output) as stream:
        lines = csv.writer(stream, lineterminator="\n")
        header = header_of(model, request.what)
        if header:
            lines.writerow(header)
        for X, _ in pieces(blocks):
            lines.writerows(rows_of(answer(X)))


def answer_of(model: Any, what: str, path: str) -> Any:
    """The method of a model that gives the answers wanted; ValueError if it has none."""
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"{path}: this {type(model).__name__} has learnt nothing yet")
    name = {"labels": "predict", "scores": "decision_function", "probabilities": "predict_proba"}
    if not hasattr(model, name[what]):
        raise ValueError(f"--what {what}: {type(model).__name__} has no {name[what]}")
    return getattr(model, name[what])


def header_of(model: Any, what: str) -> list[str]:
    """The names of the columns where there are several; none for a single one."""
    classes = getattr(model, "classes_", None)
    if classes is None or what == "labels" or (what == "scores" and len(classes) == 2):
        return []
    return [text_of(label) for label in classes]


def rows_of(answers: Any) -> Iterator[list[str]]:
    """A list of texts for each row of answers."""
    for row in answers.reshape(len(answers), -1):
        yield [text_of(value) for value in row]


def text_of(value: Any) -> str:
    """A label or number as text: whole numbers without a point, the others to the last bit."""
    if isinstance(value, np.floating):
        value = float(value)
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


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
