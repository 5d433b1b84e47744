"""Readers of the body of a request as samples: JSON rows, labels or targets, and weights.

All of a body is checked before any of it is used. Messages name the argument, the row and the
feature. `rows_to_X` alone knows what a model takes: lists or dictionaries of numbers, or of values
of all kinds (`TableRowReader`).
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from onlinekern.preprocessing.steps import learner_of
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.serve.refusal import Refusal, bad, kind_of
from onlinekern.serve.table_rows import TableRowReader
from onlinekern.streams.errors import shown

# A column of text takes four bytes for each letter of its longest label, in every row.
LONGEST_LABEL = 256
# Number of labels that a message lists.
MOST_LISTED = 10
NUMBERS = (int, float)


class Samples(NamedTuple):
    """Samples of a request: rows, and what is known of them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), or list of dict
    y : ndarray of shape (n_samples,) or None
    sample_weight : ndarray of shape (n_samples,) or None
    """

    X: Any
    y: Any = None
    sample_weight: Any = None


class Asked(NamedTuple):
    """What a request to /predict wants to know of its rows.

    Attributes
    ----------
    what : str
        A key of `onlinekern.estimators.answers.ANSWERS`, if it is known.
    coverage : float or None
        The share of the targets that intervals are to hold.
    """

    what: str
    coverage: float | None


def parsed(body: bytes, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the object of a JSON body whose names are all known; 400 otherwise."""
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        bad("the body is no UTF-8 text")
    except RecursionError:
        bad("the body is nested too deep")
    except ValueError as error:
        bad(f"the body is no JSON: {error}")
    if not isinstance(found, dict):
        bad(f'the body must be an object such as {{"rows": [[...]]}}, got {kind_of(found)}')
    for name in found:
        if name not in known:
            bad(f"unknown argument {shown(name)}; known are {', '.join(known)}")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


class RowReader:
    """Reader that turns rows of JSON into the matrix that a model takes.

    Parameters
    ----------
    model : estimator
        One that has learnt: it knows its number of features, and their names if it was trained on
        tables.
    """

    def __init__(self, model: Any) -> None:
        names = getattr(model, "feature_names_in_", None)
        self.names = None if names is None else [str(name) for name in names]
        self.n_features = int(model.n_features_in_)
        # A model of float32 would check and convert rows of float64 at every call.
        first = model.steps[0][1] if hasattr(model, "steps") else model
        learnt = getattr(first, "_model", None)
        self.dtype = np.dtype(getattr(learnt, "dtype", np.float64))
        self.takes_missing: bool = getattr(first, "_takes_missing", False)

    def rows_to_X(self, rows: list[Any]) -> Any:
        """Return the matrix of checked rows, ndarray of shape (n_samples, n_features)."""
        if not rows:
            bad("rows is empty; give at least one")
        lists = [self._list_of(row, k) for k, row in enumerate(rows)]
        if self.takes_missing:
            lists = [[np.nan if value is None else value for value in row] for row in lists]
        try:
            # This takes numbers only: NumPy would take text for numbers, and null for NaN.
            flat = array("d", chain.from_iterable(lists))
        except (TypeError, OverflowError):
            self._refuse_value(lists)
        X = np.frombuffer(flat, dtype=np.float64).reshape(len(rows), self.n_features)
        with np.errstate(over="ignore"):
            X = X.astype(self.dtype)
        if np.isinf(X).any():
            row, column = np.argwhere(np.isinf(X))[0]
            bad(f"{self._place(row, column)} is too large for {self.dtype}")
        return X

    def _list_of(self, row: Any, number: int) -> list[Any]:
        """Return the values of a row in the order of the model's features."""
        if isinstance(row, dict):
            return self._in_order(row, number)
        if not isinstance(row, list):
            bad(f"rows[{number}] must be an array or an object, got {kind_of(row)}")
        if len(row) != self.n_features:
            bad(f"rows[{number}] has {len(row)} numbers, the model has {self.n_features} features")
        return row

    def _in_order(self, row: dict[str, Any], number: int) -> list[Any]:
        if self.names is None:
            bad(
                f"rows[{number}] is an object, but the model was trained without names of "
                f"features: give an array of {self.n_features} numbers"
            )
        try:
            values = [row[name] for name in self.names]
        except KeyError as error:
            bad(f"rows[{number}] has no feature {shown(error.args[0])}")
        if len(row) != self.n_features:
            unknown = min(row.keys() - set(self.names))
            bad(f"rows[{number}] has the feature {shown(unknown)}, which the model does not know")
        return values

    def _refuse_value(self, lists: list[list[Any]]) -> NoReturn:
        for number, row in enumerate(lists):
            for column, value in enumerate(row):
                try:
                    array("d", [value])
                except TypeError:
                    bad(f"{self._place(number, column)} must be a number, got {kind_of(value)}")
                except OverflowError:
                    bad(f"{self._place(number, column)} is too large for a number")
        raise AssertionError("every value is a number")

    def _place(self, row: int, column: int) -> str:
        name = f" (feature {shown(self.names[column])})" if self.names is not None else ""
        return f"rows[{row}][{column}]{name}"


class LabelReader:
    """Reader that turns the y of a request into labels that a classifier learns.

    Parameters
    ----------
    learner : estimator
        A classifier that has learnt.
    like : ndarray
        Labels of its kind.
    most : int
        Classes that it may come to have.
    """

    def __init__(self, learner: Any, like: Any, most: int) -> None:
        self.learner, self.like, self.most = learner, like, most
        # Labels of a table may be an array of objects.
        self.kind = np.asarray(like.tolist()).dtype.kind
        self.grows = bool(getattr(learner, "_takes_labels_up", False))

    def read(self, values: list[Any]) -> Any:
        """Return the labels, ndarray of shape (n_samples,)."""
        check = {"U": _check_text, "b": _check_truth}.get(self.kind, _check_number)
        for number, value in enumerate(values):
            check(value, number)
        self._check_known(values)
        labels = np.array(values)
        if self.kind in "iu" and labels.dtype.kind == "f" and (labels == np.rint(labels)).all():
            return labels.astype(np.int64)
        return labels

    def _check_known(self, values: list[Any]) -> None:
        known = set(getattr(self.learner, "classes_", self.like[:1]).tolist())
        new = [number for number, value in enumerate(values) if value not in known]
        if not new:
            return
        first = f"y[{new[0]}] is {shown(values[new[0]])}"
        if not self.grows:
            raise Refusal(
                422,
                f"{first}, which is none of the model's classes ({_listed(known)}); "
                f"{type(self.learner).__name__} does not take up classes as they come",
            )
        if len(known.union(values)) > self.most:
            raise Refusal(
                422,
                f"{first}, a new class; with those of this request the model would have more than "
                f"{self.most} (--max-classes)",
            )


def _listed(labels: set[Any]) -> str:
    texts = sorted(shown(label) for label in labels)
    return ", ".join(texts[:MOST_LISTED]) + (", ..." if len(texts) > MOST_LISTED else "")


def _check_text(value: Any, number: int) -> None:
    if not isinstance(value, str):
        bad(f"y[{number}] must be text, as the model's classes are, got {kind_of(value)}")
    if len(value) > LONGEST_LABEL:
        bad(f"y[{number}] has {len(value)} letters; a label has at most {LONGEST_LABEL}")
    # NumPy drops zeros at the end, and no file holds half of a pair.
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        bad(f"y[{number}] holds a letter that no label may have: {shown(value)}")


def _check_truth(value: Any, number: int) -> None:
    if not isinstance(value, bool):
        bad(f"y[{number}] must be true or false, as the model's classes are, got {kind_of(value)}")


def _check_number(value: Any, number: int) -> None:
    if type(value) not in NUMBERS:
        bad(f"y[{number}] must be a number, got {kind_of(value)}")
    if not -(2**63) <= value < 2**63:
        bad(f"y[{number}] is too large for a label")


def read_numbers(values: list[Any], name: str) -> Any:
    """Return finite numbers, ndarray of float64; 400 names the argument and the place."""
    for number, value in enumerate(values):
        if type(value) not in NUMBERS:
            bad(f"{name}[{number}] must be a number, got {kind_of(value)}")
    try:
        found = np.array(array("d", values), dtype=np.float64)
    except OverflowError:
        bad(f"{name} holds a number that is too large")
    if not np.isfinite(found).all():
        bad(f"{name}[{int(np.argmin(np.isfinite(found)))}] is too large for a number")
    return found


class BodyReader:
    """Reader that turns the body of a request into samples for one model.

    Parameters
    ----------
    model : estimator
        One that has learnt.
    task : {'classification', 'regression', 'outliers'}
    most_classes : int
        Classes that a growing classifier may come to have.
    """

    def __init__(self, model: Any, task: str, most_classes: int) -> None:
        encoder, learner = encoder_of(model), learner_of(model)
        self.rows: RowReader | TableRowReader
        self.rows = RowReader(model) if encoder is None else TableRowReader(encoder)
        self.task = task
        # Nothing but the kind of its answers matters.
        inside = encoder_of(learner)
        rows = np.zeros((1, learner.n_features_in_))
        like = learner.predict(rows if inside is None else [dict.fromkeys(inside.kinds_)])
        self.n_targets = like.size
        if task == "classification":
            self.labels = LabelReader(learner, like, most_classes)

    def to_predict(self, body: bytes, query: Mapping[str, str]) -> tuple[Samples, Asked]:
        """Return the rows of a request to /predict, and what it wants to know of them."""
        content = parsed(body, ("rows", "row", "what", "coverage"))
        what, coverage = content.get("what"), content.get("coverage")
        if what is not None and not isinstance(what, str):
            bad(f"what must be text, got {kind_of(what)}")
        _check_share(coverage, kind_of(coverage))
        given = query.get("coverage")
        asked = Asked(
            _one("what", what, query.get("what")) or "labels",
            _one("coverage", coverage, None if given is None else _share_of(given)),
        )
        return Samples(self._rows(content)), asked

    def to_learn(self, body: bytes) -> Samples:
        """Return the samples of a request to /learn."""
        content = parsed(body, ("rows", "row", "y", "sample_weight"))
        X = self._rows(content)
        weights = None
        if content.get("sample_weight") is not None:
            weights = read_numbers(_column(content, "sample_weight", len(X)), "sample_weight")
            if (weights < 0).any():
                bad(f"sample_weight[{int(np.argmax(weights < 0))}] is negative")
        return Samples(X, self._targets(content, len(X)), weights)

    def _rows(self, content: dict[str, Any]) -> Any:
        if ("rows" in content) == ("row" in content):
            bad('give either "rows", an array of rows, or "row", a single one')
        rows = [content["row"]] if "row" in content else content["rows"]
        if not isinstance(rows, list):
            bad(f"rows must be an array of rows, got {kind_of(rows)}")
        return self.rows.rows_to_X(rows)

    def _targets(self, content: dict[str, Any], n_samples: int) -> Any:
        if self.task == "outliers":
            if content.get("y") is not None:
                bad("y: the model looks for outliers, and learns rows without targets")
            return None
        if self.n_targets > 1:
            raise Refusal(
                422,
                f"the model learns {self.n_targets} targets of each row, and is not taught here: "
                "/learn takes one",
            )
        if "y" not in content:
            bad("y is missing: one label or target for each row")
        values = _column(content, "y", n_samples)
        if self.task == "classification":
            return self.labels.read(values)
        return read_numbers(values, "y")


def _one(name: str, here: Any, there: Any) -> Any:
    """Return an argument that may stand in the body and in the address of a request."""
    if here is not None and there is not None and here != there:
        bad(f"{name} is {here} in the body, and {there} in the address")
    return there if here is None else here


def _share_of(text: str) -> float:
    """Return the coverage that an address gives; 400 if it is none."""
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    _check_share(share, shown(text))
    return share


def _check_share(value: Any, got: str) -> None:
    if value is not None and (type(value) not in NUMBERS or not 0 < value < 1):
        bad(f"coverage must be a number between 0 and 1, got {got}")


def _column(content: dict[str, Any], name: str, n_samples: int) -> list[Any]:
    """Return one value for each row: an array, or the only value of a single row."""
    values = content[name]
    if "row" in content and not isinstance(values, list):
        return [values]
    if not isinstance(values, list):
        bad(f"{name} must be an array of one value for each row, got {kind_of(values)}")
    if len(values) != n_samples:
        bad(f"{name} has {len(values)} values for {n_samples} rows")
    return values
