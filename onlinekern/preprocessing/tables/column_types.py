"""The kind of a table column, guessed from its stored type or its first rows.

Readers of text ask for the type with which a column is read; `TableEncoder` asks for its kind.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from sklearn.utils import murmurhash3_32

from onlinekern.estimators.types import Array

# Texts with at least this many words on average, which seldom repeat, are not categories.
WORDS = 4
DIFFERENT = 0.5
# Number of rows that decide the kind of a column; more rows would hardly change the guess.
FIRST_ROWS = 1000
# A column of numbers with at most this share of words is a column of numbers with a few errors.
NEARLY_ALL = 0.9
NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
BOOLEAN = r"^(?i:true|false)$"
# Marks that may stand before and after a number, and numbers with digits in groups of three:
# 1,234.50 or 1.234,50.
AROUND = re.compile(r"^\s*([+-]?)\s*[$\u20ac\u00a3\u00a5]?\s*|\s*[%$\u20ac\u00a3\u00a5]?\s*$")
GROUP = r"[+-]?[1-9][0-9]{0,2}"
GROUPED = re.compile(rf"{GROUP}(,[0-9]{{3}})+(\.[0-9]*)?|{GROUP}(\.[0-9]{{3}})+,[0-9]*")
# Digits that nobody counts with: 01067, and numbers of telephones with the code of a country.
CODE = re.compile(r"0[0-9]+|\+[1-9][0-9]{7,14}")
# The places of a single text among itself.
ONE = np.zeros(1, dtype=np.int32)
# Largest default number of one-hot features of a category column.
MOST_ROOM = 100
# A column with more values than this, by an estimate, is treated as unbounded.
UNBOUNDED = 1000
# If nearly all values of a column are different, they do not repeat, and there is nothing to learn.
NEVER_AGAIN = 0.98
# A column with fewer values than this is no identifier: rows of the same value will come.
LEAST_OF_IDENTIFIER = 20_000
# Type with which a column of text is read if its kind is given; other kinds are read as text.
TYPES = {"number": pa.float64(), "boolean": pa.bool_()}
# Floats represent all integers up to this one exactly.
EXACT = 2**53
MOST_INTEGER = 2**63 - 1
MOST_FEATURES = 2**31 - 1
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?")
# Dates of other forms: 30.12.2024, 12/30/2024 07:00, 2024/12/30. The ranges of day, month and year
# exclude most numbers of telephones, parts and versions.
DAY, MONTH, YEAR = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])", r"(19|20)\d\d"
YEAR_LAST = rf"({DAY}[./-]{MONTH}|{MONTH}[./-]{DAY})[./-]{YEAR}"
YEAR_FIRST = rf"{YEAR}[./]{MONTH}[./]{DAY}"
OTHER_DATE = re.compile(rf"\s*({YEAR_LAST}|{YEAR_FIRST})([\sT,]+\d.*)?")


def texts_of(values: Any) -> Any:
    """Return values as an array of strings; missing values are ""."""
    texts = values if values.type == pa.string() else pc.cast(values, pa.string(), safe=False)
    return pc.fill_null(texts, "") if texts.null_count else texts


def distinct_texts(values: Any) -> tuple[list[str], Array]:
    """Return the distinct texts in order of first occurrence, and the index of each value."""
    texts = texts_of(values)
    if len(texts) == 1:
        return texts.to_pylist(), ONE
    coded = texts.dictionary_encode()
    return coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)


def family(kind: Any) -> str:
    """Return the family of an Arrow type: number, boolean, text, date, missing or other."""
    types = pa.types
    if types.is_null(kind):
        return "missing"
    if types.is_boolean(kind):
        return "boolean"
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_duration)
    if any(test(kind) for test in numeric):
        return "number"
    if any(test(kind) for test in (types.is_timestamp, types.is_date, types.is_time)):
        return "date"
    return "text" if types.is_string(kind) else "other"


def guessed_kind(values: Any, stored: Any, most: int) -> str:
    """Guess the kind of a column from its stored type, or from its first texts.

    Category columns have at most `most` features.
    """
    found = family(values.type)
    if pa.types.is_dictionary(stored) and found != "date":
        return category_kind(values, most)
    if found == "missing" or (found == "text" and values.null_count == len(values)):
        return "ignore"
    return text_kind(values, most) if found == "text" else found


def looks_like_numbers(values: Any) -> tuple[str, bool] | None:
    """If all texts look like numbers, return the first one, and whether commas are decimal.

    Numbers may have a percent sign or a currency, and a comma before decimals or thousands. Digits
    of equal length, such as postcodes, and digits with a 0 in front are codes and not numbers.
    """
    texts = [text for text in texts_of(values[:FIRST_ROWS]).to_pylist() if text]
    if all(map(str.isdigit, texts)) and {*map(len, texts)} - {1} and len({*map(len, texts)}) == 1:
        return None
    if any(map(CODE.fullmatch, texts)):
        return None
    bare = [AROUND.sub(r"\1", text) for text in texts]
    found = [bool(GROUPED.fullmatch(text)) for text in bare]
    plain = [text for text, grouped in zip(bare, found, strict=True) if not grouped]
    if not texts or not all(re.match(NUMBER, text.replace(",", ".")) for text in plain):
        return None
    # What is read with decimal commas is neither in groups of three nor beside a unit.
    with_commas = bare == [text.strip() for text in texts] and not any(found)
    return texts[0], with_commas and any("," in text for text in plain)


def looks_like_dates(values: Any) -> str | None:
    """Return the first text of a column if all look like dates that are not in ISO 8601."""
    texts = [text for text in texts_of(values[:FIRST_ROWS]).to_pylist() if text]
    return texts[0] if texts and all(map(OTHER_DATE.fullmatch, texts)) else None


def text_kind(values: Any, most: int) -> str:
    """Return whether texts are dates, categories or words."""
    texts = [text for text in texts_of(values[:FIRST_ROWS]).to_pylist() if text]
    if texts and all(map(DATE.fullmatch, texts)):
        return "date"
    words = sum(len(text.split()) for text in texts) / max(1, len(texts))
    if words >= WORDS and len(set(texts)) > DIFFERENT * len(texts):
        return "text"
    return category_kind(values, most)


def category_kind(values: Any, most: int) -> str:
    """Return the kind of categories: with a feature for each, or hashed if there are too many."""
    return "category" if len(distinct_texts(values)[0]) <= most else "hashed"


def is_unbounded(values: Any) -> bool:
    """Return whether a column seems to have more values than a table of features has room for.

    A column whose values never repeat, such as order numbers, does not count.
    """
    share_once, estimate = variety_of(texts_of(values))
    return share_once < NEVER_AGAIN and estimate > UNBOUNDED


def is_identifier(values: Any) -> bool:
    """Return whether values hardly repeat and are very many, like order numbers."""
    texts = texts_of(values)
    share_once, estimate = variety_of(pc.filter(texts, pc.not_equal(texts, "")))
    return share_once >= NEVER_AGAIN and estimate >= LEAST_OF_IDENTIFIER


def variety_of(texts: Any) -> tuple[float, float]:
    """Return the share of the texts that come once, and how many different ones there may be.

    The number is estimated by those that came once and twice (Chao 1984).
    """
    counts = pc.value_counts(texts).field("counts").to_numpy()
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return once / max(1, len(texts)), len(counts) + once * (once - 1) / (2 * (twice + 1))


def type_of_kind(kind: str) -> Any:
    """Return the type with which a column of text is read, given its kind."""
    return TYPES.get(kind, pa.string())


def type_name(kind: Any) -> str:
    """Return the name of one of the `TYPES` for messages."""
    return "number" if kind == TYPES["number"] else "true or false"


def type_of_text(values: Any, decimal: str) -> Any:
    """Return the type with which a column of text is read, guessed from its first values.

    `decimal` is the decimal sign of numbers.
    """
    kind = values.type
    if pa.types.is_boolean(kind):
        return kind
    if pa.types.is_string(kind):
        there = values.drop_null()
        number = NUMBER.replace(r"\.", re.escape(decimal))
        for pattern, of_these in ((number, pa.float64()), (BOOLEAN, pa.bool_())):
            count = pc.sum(pc.match_substring_regex(there, pattern)).as_py() or 0
            if count > NEARLY_ALL * len(there):
                return of_these
        return kind
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return pa.float64() if is_number else pa.string()


def type_of_values(values: list[Any]) -> Any:
    """Return the type with which a column of JSON is read: that of nearly all values, or text."""
    kinds = [type(value) for value in values if value is not None]
    for types, of_these in (((bool,), pa.bool_()), ((int, float), pa.float64())):
        if sum(kind in types for kind in kinds) > NEARLY_ALL * len(kinds):
            return of_these
    return pa.string()


def holds_value(values: Any) -> bool:
    """Return whether a column's values are present: neither missing nor empty texts."""
    if family(values.type) == "text":
        return any(texts_of(values).unique().to_pylist())
    return bool(pc.any(pc.is_valid(values)).as_py()) and not all_nan(values)


def all_nan(values: Any) -> bool:
    """Return whether all numbers of a column that are not missing are NaN."""
    return pa.types.is_floating(values.type) and bool(pc.all(pc.is_nan(values)).as_py())


def is_value(value: Any) -> bool:
    """Return whether a value of a dictionary is present: `holds_value` without Arrow."""
    try:
        return value is not None and not (type(value) is str and not value) and value == value
    except TypeError:  # NA of pandas equals nothing, not even itself.
        return False
    except ValueError:  # An array has no truth value.
        return True


def number_of(value: Any) -> float | None:
    """Return a plain value as a finite number, or NaN if it is missing; None for others."""
    if value is None:
        return math.nan
    if isinstance(value, float):
        return None if math.isinf(value) else float(value)
    return float(value) if type(value) in (int, bool) and -EXACT <= value <= EXACT else None


def text_of(value: Any) -> str | None:
    """Return a plain value as text, as Arrow does, or "" for a missing value; else None."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value) if abs(value) <= MOST_INTEGER else None
    return value if type(value) is str and value.isprintable() else None


def is_width(value: Any) -> bool:
    """Return whether a value is valid as a number of features."""
    return type(value) is int and 0 < value <= MOST_FEATURES


def hashed(texts: list[str]) -> Array:
    """Return a hash of each text, an integer >= 0."""
    return np.array([murmurhash3_32(text, positive=True) for text in texts], dtype=np.int64)


def one_of_each(places: Array, width: int) -> Any:
    """Return CSR rows with a 1 at each place; -1 gives an empty row."""
    found = places >= 0
    starts = np.concatenate(([0], np.cumsum(found)))
    columns = places[found]
    return sp.csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(places), width))
