"""Columns of a table as inputs of an ONNX graph, converted to features as by an encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlinekern.estimators.categories import MOST_CODE
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export.onnx.graph import ML_DOMAIN, Graph, Tensor
from onlinekern.fitted.export.table import Encoding, is_textual
from onlinekern.preprocessing.tables.dates import DAY, HOUR, MONDAY, WEEK, YEAR

DOUBLE, TEXT = np.dtype(np.float64), np.dtype(object)
# Names of outputs, which no column may have.
OUTPUTS = ("label", "probabilities", "scores", "variable")
# Days from March 1 of the year 0 to 1970, and the days in 400, 100 and 4 years.
SINCE_MARCH, LENGTHS = 719468, (146097, 36524, 1460)


def inputs_of(graph: Graph, table: Encoding, dtype: np.dtype[Any]) -> list[Tensor]:
    """Return an input for each column that becomes features: texts, numbers, or seconds."""
    found = []
    for column in table.columns:
        if not column.n_features:
            continue
        if column.name in OUTPUTS:
            raise ValueError(
                f"the column {column.name!r} has the name of an output of the graph: give the "
                "table another name for it before training"
            )
        if column.kind == "hashed" and not column.is_coded:
            raise TypeError(
                f"column {column.name!r} is of kind 'hashed', and ONNX has no operator that hashes "
                "text. A TableEncoder(kinds={...: 'category'}, max_categories=...) makes it a "
                "category, which can be exported; export_c takes both"
            )
        kind = TEXT if is_textual(column) else DOUBLE if column.kind == "date" else dtype
        found.append(Tensor(graph, column.name, kind))
    return found


def encoded(graph: Graph, inputs: list[Tensor], table: Encoding, dtype: np.dtype[Any]) -> Tensor:
    """Return the rows of features, in the type of the numbers."""
    columns = [column for column in table.columns if column.n_features]
    blocks = [
        graph.cast(features_of(graph, x, column), dtype)
        for x, column in zip(inputs, columns, strict=True)
    ]
    rows = graph.beside(*blocks)
    if table.scaling is None:
        return rows
    wide = (graph.cast(rows, DOUBLE) - table.scaling.mean) / table.scaling.scale
    limit = table.scaling.limit
    wide = graph.op("Clip", wide, -limit, limit) if np.isfinite(limit) else wide
    return graph.cast(wide, dtype)


def features_of(graph: Graph, x: Tensor, column: Any) -> Tensor:
    """Return the features of a column, (n, n_features)."""
    if column.kind == "date":
        return date_features(graph, x, column)
    if is_textual(column):
        return code(graph, x, column) if column.is_coded else one_hot(graph, x, column)
    if not column.fills:
        return x
    missing = graph.op("IsNaN", x)
    mean = graph.constant(column.total / max(column.count, 1), x.dtype)
    filled = graph.where(missing, mean, x)
    if column.n_features == 1:
        return filled
    return graph.beside(filled, graph.cast(missing, x.dtype))


def places(graph: Graph, x: Tensor, texts: tuple[str, ...], other: int) -> Tensor:
    """Return the index of each text in `texts`, or `other` for all other texts."""
    return graph.op(
        "LabelEncoder", x, dtype=np.int64, domain=ML_DOMAIN, classes_strings=list(texts),
        default_int64=other,
    )  # fmt: skip


def one_hot(graph: Graph, x: Tensor, column: Any) -> Tensor:
    """Return the one-hot features of a column."""
    width = column.n_features
    known = (*column.known,) or ("",)
    other = width - 1 if len(column.known) == column.room else width
    # The last row is for texts without a feature.
    rows = np.vstack([np.eye(width), np.zeros(width)])
    found = places(graph, x, known, other)
    if not column.known:
        found = found * graph.integers(0) + graph.integers(width)
    taken = graph.op("Gather", graph.constant(rows, np.float32), found, dtype=np.float32)
    return graph.op("Squeeze", taken, graph.integers([1]))


def code(graph: Graph, x: Tensor, column: Any) -> Tensor:
    """Return the category numbers of a column; NaN for a missing value."""
    found = places(graph, x, (*column.known, ""), MOST_CODE)
    missing = graph.op("Equal", found, graph.integers(len(column.known)))
    numbers = graph.cast(found, np.float32)
    return graph.where(missing, nothing(graph, np.float32), numbers)


def nothing(graph: Graph, dtype: Any) -> Tensor:
    """Return NaN as 0 / 0: `Graph.constant` accepts finite numbers only."""
    zero = graph.constant([[0.0]], dtype)
    return zero / zero


def date_features(graph: Graph, seconds: Tensor, column: Any) -> Tensor:
    """Return the features of dates, (n, n_features); for a missing date, 0 or NaN."""
    found = [each for part in column.circles for each in part_of(seconds, part)]
    rows = graph.beside(*found)
    missing = graph.op("IsNaN", seconds)
    keeps = np.isnan(column.absent)
    absent = nothing(graph, DOUBLE) if keeps else graph.constant([[0.0]], DOUBLE)
    return graph.where(missing, absent, rows)


def part_of(seconds: Tensor, part: str) -> list[Tensor]:
    """Return the features of a part of dates, see `dates.PARTS`."""
    own = part.removeprefix("half ")
    if own in TURNS:
        turns = TURNS[own](seconds)
        turns = turns if own == part else turns * 2.0
        angle = (turns - seconds.graph.op("Floor", turns)) * (2 * np.pi)
        # Older versions of onnxruntime have the sine, but not the cosine, of doubles.
        return [seconds.graph.op("Sin", angle), seconds.graph.op("Sin", angle + np.pi / 2)]
    return [NUMBERS[part](seconds)]


def whole(x: Tensor, length: float) -> Tensor:
    """Return floor(x / length)."""
    return x.graph.op("Floor", x / float(length))


def rest(x: Tensor, length: float) -> Tensor:
    """Return x modulo length, >= 0."""
    return x - whole(x, length) * float(length)


def weekday(seconds: Tensor) -> Tensor:
    return rest(whole(seconds, DAY) + 3.0, 7)


def from_march(seconds: Tensor) -> Tensor:
    """Return the day of a year that begins in March, from 0: a leap day is then the last day."""
    own = rest(whole(seconds, DAY) + float(SINCE_MARCH), LENGTHS[0])
    years = own + -whole(own, LENGTHS[2])
    years = years + whole(own, LENGTHS[1]) - whole(own, LENGTHS[0] - 1)
    year = whole(years, 365)
    before = year * 365.0 + whole(year, 4)
    return own - (before - whole(year, 100))


def day_of_month(seconds: Tensor) -> Tensor:
    day = from_march(seconds)
    month = whole(day * 5.0 + 2.0, 153)
    before = whole(month * 153.0 + 2.0, 5)
    return day - before + 1.0


def day_of_year(seconds: Tensor) -> Tensor:
    day = from_march(seconds)
    is_first, later = day < 306.0, day - 305.0
    return day.graph.where(is_first, day + 61.0, later)


Maker = Callable[[Tensor], Tensor]
TURNS: dict[str, Maker] = {
    "day": lambda s: s / DAY,
    "week": lambda s: (s - MONDAY) / WEEK,
    "year": lambda s: s / YEAR,
}
NUMBERS: dict[str, Maker] = {
    "hour": lambda s: rest(s, DAY) / HOUR,
    "weekday": weekday,
    "weekend": lambda s: s.graph.cast(weekday(s) > 4.0, DOUBLE),
    "day of the month": day_of_month,
    "day of the year": day_of_year,
    "time": lambda s: s / DAY,
}


def coded(graph: Graph, x: Tensor, layout: parts.Layout) -> Tensor:
    """Return rows in the form for trees (`core.samples.coded`)."""
    return graph.beside(*(coded_column(graph, x, first, count) for first, count in layout))


def coded_column(graph: Graph, x: Tensor, first: int, count: int) -> Tensor:
    """Return a column of these rows, (n, 1), from `count` columns of x from `first` on."""
    own = graph.columns(x, [first])
    if count == 1:
        return own
    zero = graph.constant([[0.0]], x.dtype)
    if count == 0:
        flag = graph.columns(x, [first + 1])
        there = graph.op("Equal", flag, zero)
        return graph.where(there, own, nothing(graph, x.dtype))
    group = graph.columns(x, np.arange(first, first + count))
    empty = graph.cast(graph.op("Equal", group, zero), x.dtype)
    # Index of the first nonzero column. If all are 0, the category is unknown.
    numbers = graph.op("ArgMin", empty, axis=1, keepdims=1, dtype=np.int64)
    none = graph.op("Equal", graph.sum(empty), float(count))
    unknown = graph.constant([[float(MOST_CODE)]], x.dtype)
    return graph.where(none, unknown, graph.cast(numbers, x.dtype))
