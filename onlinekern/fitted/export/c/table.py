"""Rows of a table in C: values become features as in the encoder of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.categories import MOST_CODE
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export.c.labels import in_utf8, literal, literals
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.table import WORDS, Encoding, is_textual
from onlinekern.preprocessing.tables.dates import DAY, MONDAY, WEEK, YEAR

# Part of a date -> statements that write its features, the first one to `x`; see `dates.PARTS`.
TURNS = {"day": f"seconds / {DAY!r}", "week": f"(seconds - {MONDAY!r}) / {WEEK!r}",
         "year": f"seconds / {YEAR!r}"}  # fmt: skip
NUMBERS = {
    "hour": f"(seconds - {DAY!r} * floor(seconds / {DAY!r})) / 3600",
    "weekday": "weekday(seconds)",
    "weekend": "weekday(seconds) >= 5",
    "day of the month": "day_of_month(seconds)",
    "day of the year": "day_of_year(seconds)",
    "time": f"seconds / {DAY!r}",
}
NEEDED = {"weekday": "weekday", "weekend": "weekday", "day of the month": "day_of_month",
          "day of the year": "day_of_year"}  # fmt: skip


def write_table(source: Source, table: Encoding, head: str) -> str:
    """Write the functions that take rows of a table; return their declarations."""
    lines, first = [], 0
    for number, column in enumerate(table.columns):
        if column.n_features:
            lines.append(column_lines(source, column, number, first).rstrip("\n"))
        first += column.n_features
    if table.scaling is not None:
        lines.append(scaling_lines(source, table.scaling, first))
    names = literals(source, [column.name for column in table.columns])
    source.flash += sum(len(in_utf8(column.name)) + 1 for column in table.columns)
    declared = f"const char *const {source.names['prefix']}_columns"
    source.table(declared, names, len(names))
    source.fill("encode", columns="\n".join(lines))
    source.memory("encoded_row", first)
    source.fill("row_entries")
    kind = "target" if head == "regression" else "class"
    source.fill(f"predict_row_{kind}")
    described = [f"   {k}. {comment_of(c)}" for k, c in enumerate(table.columns)]
    predict = source.filled(f"declare_predict_row_{kind}").rstrip()
    given = {"columns": "\n".join(described), "count": len(names), "predict": predict}
    return source.filled("declare_rows", **given)


def comment_of(column: Any) -> str:
    """Return the description of a column for a comment in C."""
    name = literal(column.name)[1:-1].replace("*/", "* /").replace("/*", "/ *")
    zone = getattr(column, "zone", None)
    return f"{name}: {WORDS[column.kind]}" + (f" ({zone})" if zone else "")


def column_lines(source: Source, column: Any, number: int, first: int) -> str:
    """Return the statements that write the features of a column, from position `first` on."""
    given: dict[str, Any] = {"column": number, "first": first, "about": comment_of(column)}
    width = column.n_features
    if column.kind == "date":
        return date_lines(source, column, given)
    if not is_textual(column):
        source.use("nothing")
        mean = repr(column.total / max(column.count, 1))
        absent = mean if column.fills else "nothing()"
        indicator = ""
        if width == 2:
            indicator = source.filled("encode_indicator", first=first)
        return source.filled("encode_number", absent=absent, indicator=indicator, **given)
    if column.kind == "hashed" and not column.is_coded:
        return source.filled("encode_hash", width=width, **given)
    id_ = source.new_id("texts")
    write_texts(source, id_, column.known)
    given |= {"id": id_, "known": len(column.known)}
    if column.is_coded:
        source.use("nothing")
        return source.filled("encode_code", unknown=MOST_CODE, **given)
    others = ""
    if len(column.known) == column.room:
        others = source.filled("encode_others", first=first, width=width)
    return source.filled("encode_category", width=width, others=others, **given)


def write_texts(source: Source, id_: str, known: tuple[str, ...]) -> None:
    """Write the table of a column's texts, sorted by bytes, with their places."""
    source.use("place_of")
    encoded = [in_utf8(text) for text in known]
    order = sorted(range(len(known)), key=encoded.__getitem__)
    source.flash += sum(len(text) + 1 + 8 for text in encoded)
    texts = literals(source, [known[k] for k in order])
    source.table(f"static const char *const {id_}_texts", texts, max(1, len(texts)))
    places = np.array(order or [0], dtype=np.int64)
    source.integers(f"{id_}_places", places, "int32_t", 4)


def date_lines(source: Source, column: Any, given: dict[str, Any]) -> str:
    """Return the statements that write the parts of a date."""
    place, lines = given["first"], []
    source.use("nothing")
    for part in column.circles:
        own = part.removeprefix("half ")
        if own in TURNS:
            source.use("circle")
            turns = TURNS[own] if own == part else f"2 * ({TURNS[own]})"
            lines.append(f"            on_circle({turns}, x + {place});")
            place += 2
        else:
            if part in NEEDED:
                source.use(NEEDED[part])
            lines.append(f"            x[{place}] = (real)({NUMBERS[part]});")
            place += 1
    absent = "nothing()" if np.isnan(column.absent) else "0"
    width = column.n_features
    return source.filled("encode_date", width=width, absent=absent, parts="\n".join(lines), **given)


def scaling_lines(source: Source, scaling: parts.Standardisation, width: int) -> str:
    """Return the statements that scale the features."""
    id_ = source.new_id("encoded")
    source.constants(f"{id_}_mean", scaling.mean)
    source.constants(f"{id_}_scale", scaling.scale)
    lines = source.filled("scale_features", id=id_, features=width)
    if np.isfinite(scaling.limit):
        source.fill("clip", id=id_, features=width, limit=source.number(scaling.limit))
        lines += f"    {id_}_clip(x);\n"
    return lines


def write_layout(source: Source, layout: parts.Layout) -> None:
    """Write the function that makes the row which the trees take."""
    source.use("nothing")
    for name, place in (("layout_first", 0), ("layout_count", 1)):
        values = np.array([pair[place] for pair in layout])
        source.integers(name, values, "int32_t", 4)
    source.memory("coded", len(layout))
    source.fill("coded_row", length=len(layout))
