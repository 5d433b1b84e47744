"""The error of a table that a learner does not take as it is: which columns, and what to write.

Text, categories, dates and missing values are looked for after the conversion to numbers has
failed; only the types of a data frame are looked at before, for some libraries make dates counts of
microseconds without a word.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets

from onlinekern.estimators.categories import TYPES, names_of
from onlinekern.estimators.types import Array

TEXT, CATEGORIES, DATES = "text", "categories", "dates or times"
MISSING, INFINITE = "missing values (NaN)", "infinity"
# How the names of types of pandas, polars and Arrow begin.
OF_DATES = ("date", "time", "period", "duration")
DATE_TYPES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
MISSING_TYPES = ("NoneType", "NAType", "NaTType")
# Errors list so many names of each kind.
MOST_NAMES = 4
# What scikit-learn says of targets that are objects, and of those of which one is missing.
OBJECTS = "Unknown label type: unknown"
# And of those that have more axes than they should.
ONE_AXIS = "should be a 1d array"
# What a learner of one number a sample says of several.
OTHERS_TAKE_SEVERAL = (
    ". KernelForestRegressor and KernelRLSRegressor learn several targets, and scikit-learn's "
    "MultiOutputRegressor has a model for each"
)
OF_MISSING_TARGETS = (
    "Input contains NaN", "Input y contains NaN", "value of NA is ambiguous", "NAType", OBJECTS,
    "not supported between instances",
)  # fmt: skip
# What labels of these types of Python become an array of; all others become text.
MADE_OF = {("bool",): "bool", ("int",): "int", ("float",): "float", ("float", "int"): "float"}
# Errors of other things than the values of X.
OTHER_ERRORS = ("The feature names should match", "requires y to be passed")


def check_types(estimator: Any, X: Any, takes_missing: bool) -> None:
    """Raise ValueError if an array, or a column of a data frame, has a type of dates or times."""
    types = [X.dtype] if isinstance(X, np.ndarray) else types_of(X)
    if types is not None and any(map(is_date_type, set(types))):
        raise explained(estimator, X, TypeError("dates"), takes_missing)


def check_rows(X: Any) -> None:
    """Raise an error if X is no table, but looks like one: a Series, or rows of several kinds."""
    if X is None:
        raise ValueError("X is None, no table. Expected 2D array")
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which has no rows yet: give X.collect()")
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        raise TypeError(
            "X is a frame of Dask, which has no rows yet: give X.compute(), or learn it with "
            "onlinekern.distributed.fit"
        )
    if type(X).__name__ == "Series" and not hasattr(X, "columns"):
        raise ValueError(
            "X is a Series, no table. Expected 2D array, got 1D array instead: X.to_frame() is a "
            f"table of one column{', X.to_frame().T of one row' * hasattr(X, 'iloc')}. "
            "learn_one and score_one take a row"
        )
    if isinstance(X, Iterator | Set):
        raise TypeError(f"X is a {type(X).__name__}, no table: give a list of its rows, in order")
    if (error := of_texts(X)) is not None:
        raise error
    listed = isinstance(X, list | tuple) and any(isinstance(row, Mapping) for row in X)
    if listed and not holds_dictionaries(X):
        raise TypeError("X holds dictionaries and other things: rows are all of one kind")
    if getattr(getattr(X, "dtype", None), "names", None):
        raise TypeError("X is an array with named fields: pandas.DataFrame(X) is a table")
    check_names(X)


def of_texts(X: Any) -> ValueError | None:
    """Return the error of a list of texts, or an array of them, in the place of rows."""
    listed = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim == 1)
    if not listed or len(X) == 0 or not isinstance(X[0], str):
        return None
    return ValueError(
        "X is a list of texts, no table. Expected 2D array, got 1D array instead: [{'text': text} "
        "for text in X] are rows of one column"
    )


def of_lengths(X: Any, error: Exception) -> ValueError | None:
    """Return the error of lists that are not as long as the first one."""
    if "inhomogeneous" not in str(error):
        return None
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
    k = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
    if k is None:
        return None
    return ValueError(
        f"X[{k}] has {lengths[k]} values, and X[0] has {lengths[0]}: all rows have as many"
    )


def check_names(X: Any) -> None:
    """Raise ValueError if a table has no columns, or two of one name."""
    types = types_of(X)
    if types is None:
        return
    if types == []:
        raise ValueError(f"X has no columns: 0 feature(s) (shape=({len(X)}, 0)) while a minimum of "
                         "1 is required.")  # fmt: skip
    found = names_of(X) or list(getattr(X, "column_names", []))
    if len(set(found)) < len(found):
        first = next(name for name in found if found.count(name) > 1)
        raise ValueError(f"X has two columns named {first!r}")


def explained(estimator: Any, X: Any, error: Exception, takes_missing: bool) -> Exception:
    """Return the error to raise where rows could not be validated.

    Parameters
    ----------
    estimator : estimator
    X : array-like, sparse matrix or data frame
    error : Exception
        It is returned if no column of X is the reason.
    takes_missing : bool
        Whether NaN in X stands for a missing value.
    """
    if any(words in str(error) for words in OTHER_ERRORS):
        return error
    if (own := of_texts(X) or of_lengths(X, error)) is not None:
        return own
    name = type(estimator).__name__
    if sp.issparse(X):
        if "contains NaN" not in str(error):
            return error
        return ValueError(f"X has {MISSING}. {name} takes finite numbers: drop or fill in the "
                          "elements of the sparse matrix that are NaN")  # fmt: skip
    X = [X] if isinstance(X, Mapping) else X
    found: dict[str, list[Any]] = {}
    for label, column, kind in columns_of(X):
        for what in kinds_in(column, kind):
            found.setdefault(what, []).append(label)
    if takes_missing:
        found.pop(MISSING, None)
    by_name = holds_dictionaries(X)
    named = types_of(X) is not None or by_name
    if not found and by_name:
        return TypeError(f"X holds dictionaries, {name} {what_instead(estimator, X)}")
    if not found or (list(found) == [INFINITE] and not named):
        return error
    has = "; ".join(f"{what} in {listed(labels, named)}" for what, labels in found.items())
    endless = found.pop(INFINITE, None)
    advice = f"{name} takes finite numbers"
    if takes_missing:
        advice += ", categories and missing values"
    if found:
        advice += f". {what_to_write(estimator, X, found)}"
    if endless:
        advice += "Infinite values" if found else ". Infinite values"
        advice += " have no encoding: make them missing, or leave their rows out"
    return ValueError(f"X has {has}. {advice}")


def explained_targets(y: Any, error: Exception, are_numbers: bool = False) -> Exception | None:
    """Return the error to raise where one of the targets is missing, or they are no column.

    It is None for all else.
    """
    if isinstance(y, Iterator | Set):
        return ValueError(
            f"y is a {type(y).__name__}: give a list or an array of targets, in the order of the "
            "rows"
        )
    shape: tuple[int, ...] = np.shape(y) if hasattr(y, "shape") else ()
    if len(shape) > 2 or (len(shape) == 2 and ONE_AXIS in str(error)):
        advice = OTHERS_TAKE_SEVERAL if are_numbers and len(shape) == 2 else ""
        return ValueError(
            f"y must have one label or target a sample, shape ({shape[0]},), got shape "
            f"{shape}{advice}"
        )
    if not any(words in str(error) for words in OF_MISSING_TARGETS):
        return None
    values = np.asarray(y, dtype=object)
    of_each = values.reshape(len(values), -1) if values.ndim else values[:0]
    row = next((k for k, each in enumerate(of_each.tolist()) if any(map(is_missing, each))), None)
    if row is None:
        if values.ndim != 1:
            return None
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        unlike = "str" in kinds and len(kinds) > 1
        if not unlike and OBJECTS not in str(error):
            return None
        return ValueError(
            f"{OBJECTS}. y holds objects ({', '.join(kinds)}): labels are of one kind, an "
            f"array such as y.astype({MADE_OF.get(tuple(kinds), 'str')})"
        )
    return ValueError(f"y[{row}] is missing or NaN: leave out the samples that have no target")


def check_labels(y: Any) -> None:
    """Raise ValueError unless y are labels: `sklearn.utils.multiclass`, which names no row."""
    try:
        with np.errstate(invalid="ignore"):  # It makes whole numbers of NaN, too.
            check_classification_targets(y)
    except (TypeError, ValueError) as error:
        raise explained_targets(y, error) or error from None


def listed(labels: list[Any], named: bool) -> str:
    """Return the first names, or numbers, of columns, and how many more there are."""
    first = ", ".join(repr(one) if named else f"column {one}" for one in labels[:MOST_NAMES])
    more = len(labels) - MOST_NAMES
    return first if more <= 0 else f"{first} and {more} more"


def what_to_write(estimator: Any, X: Any, found: Mapping[str, list[Any]]) -> str:
    """Return the end of a message: the lines that make a model which takes such columns."""
    name = type(estimator).__name__
    begin = f"{within(estimator, X)}, along a stream:\n\n    from onlinekern import "
    if hasattr(estimator, "update_many"):  # A detector of change is no step.
        return (
            f"{begin}TableEncoder\n    encoder, detector = TableEncoder(), {name}()\n"
            "    detector.update_many(encoder.learn_transform(X))\n"
        )
    steps = ["TableEncoder()"]
    if getattr(estimator, "_any_scale", True) is False:
        steps.append("OnlineStandardScaler()")
    imported = ", ".join(sorted(step[:-2] for step in steps))
    steps.append(f"{name}()")
    if not hasattr(estimator, "predict"):
        steps.append("...")
    return (
        f"{begin}{imported}, make_stream_pipeline\n"
        f"    model = make_stream_pipeline({', '.join(steps)})\n"
    )


def what_instead(estimator: Any, X: list[Mapping[str, Any]]) -> str:
    """Return what is learnt, or has been, and what to give in the place of dictionaries."""
    n_features = vars(estimator).get("n_features_in_")
    if n_features is None:
        return f"learns rows of numbers: give lists of them. {within(estimator, X)}"
    return (
        f"has learnt rows of {n_features} numbers without names: give lists of them in that order, "
        f"or learn tables from the beginning. {within(estimator, X)}"
    )


def within(estimator: Any, X: Any) -> str:
    """Return the parameter that makes a learner take such columns, and what else does."""
    encode = getattr(estimator, "encode", None)
    before = "TableEncoder makes numbers of such columns"
    if encode is None:
        return before
    named = types_of(X) is not None or holds_dictionaries(X)
    if encode is False or not named:
        kind = "auto" if named else True
        return f"encode={kind!r} takes such columns as they are. So does a TableEncoder"
    return (
        "Its first samples were numbers alone, so it has no encoder: encode=True makes one in any "
        f"case. {before}"
    )


def holds_dictionaries(X: Any) -> bool:
    """Return whether rows are a list of dictionaries."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, Mapping) for x in X)


def types_of(X: Any) -> list[Any] | None:
    """Return the types of the columns of a data frame or an Arrow table; None for others."""
    if isinstance(X, np.ndarray | list | tuple) or sp.issparse(X):
        return None
    if names_of(X) is not None:
        return list(X.dtypes)
    schema: Any = getattr(X, "schema", None)
    return list(schema.types) if hasattr(schema, "types") and hasattr(X, "column_names") else None


def is_date_type(kind: Any) -> bool:
    """Return whether a type of a column is one of dates, times or time spans."""
    return str(kind).lower().startswith(OF_DATES)


def columns_of(X: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the name or number, the values and the type of each column that may hold no numbers."""
    types = types_of(X)
    if types is not None:
        names = X.column_names if hasattr(X, "column_names") else X.columns
        for place, (name, kind) in enumerate(zip(names, types, strict=True)):
            if hasattr(X, "iloc"):
                yield name, X.iloc[:, place], kind
            else:
                yield name, X.column(place) if hasattr(X, "column") else X[name], kind
        return
    if holds_dictionaries(X):
        for name in dict.fromkeys(name for row in X for name in row):
            yield name, [row.get(name) for row in X], None
        return
    try:
        rows = np.asarray(X)
        if rows.dtype.kind == "U" and not isinstance(X, np.ndarray):
            rows = np.asarray(X, dtype=object)
    except (TypeError, ValueError):
        return
    kind = rows.dtype if is_date_type(rows.dtype) else None
    if rows.ndim == 2 and (kind or rows.dtype.kind in "fOU"):
        for place in range(rows.shape[1]):
            yield place, rows[:, place], kind


def kinds_in(column: Any, kind: Any) -> list[str]:
    """Return what a column holds that is no finite number."""
    if kind is not None and is_date_type(kind):
        return [DATES]
    numbers = as_numbers(column)
    if numbers is None:
        return kinds_of_values(column, kind)
    absent = np.isnan(numbers)
    if absent.all():  # The first row of a stream, say: the type tells what others will hold.
        return [kind_of_type(kind) or MISSING] if len(absent) else []
    found = [MISSING] if absent.any() else []
    return [*found, INFINITE] if np.isinf(numbers).any() else found


def kind_of_type(kind: Any) -> str:
    """Return whether a type of a column is one of categories or of text; "" if of neither."""
    if "dictionary" in str(kind) or type(kind).__name__ in TYPES:
        return CATEGORIES
    words = str(kind).lower()
    return TEXT if words == "str" or "string" in words.partition("<")[0] else ""


def as_numbers(column: Any) -> Array | None:
    """Return the values of a column as numbers; None if some are none."""
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None  # Structures may become a matrix.


def kinds_of_values(column: Any, kind: Any) -> list[str]:
    """Return what the values of a column are that cannot be converted to numbers."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    there = [value for value in values if not is_missing(value)]
    found = []
    if any(isinstance(value, str) for value in there):
        found.append(kind_of_type(kind) or TEXT)
    elif any(isinstance(value, DATE_TYPES) or type(value).__name__ == "Period" for value in there):
        found.append(DATES)
    elif as_numbers(there) is None:
        return []
    # Text and categories tell of themselves; a date or number that is missing is one more thing.
    return found if found else [MISSING] * (len(there) < len(values))


def is_missing(value: Any) -> bool:
    """Return whether a value stands for a missing one."""
    return type(value).__name__ in MISSING_TYPES or (isinstance(value, float) and value != value)
