"""Categories in the columns of a table: which columns hold them, and the numbers that they get.

A column of numbers holds the numbers of categories as they are. The values of a column of a data
frame are numbered as they come: first those that its type lists, in that order, and later ones
behind them. So a stream has the same numbers however it is cut into frames of one type.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.types import Array, ArrayLike, Floats

# A constant of `core.partitions.scale`.
MOST_CODE = 65535
CategoricalFeatures: TypeAlias = Literal["from_dtype"] | Annotated[ArrayLike, "array-like"] | None
# (feature, its values in the order of their numbers), or None where it has numbers already.
Categories: TypeAlias = "tuple[tuple[int, tuple[Any, ...] | None], ...]"
# Types of columns of pandas and polars that hold categories.
TYPES = ("CategoricalDtype", "Categorical", "Enum")


def names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame; None for anything else."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return None
    return list(columns)


def holds_categories(column: Any) -> bool:
    """Return whether the type of a column of a data frame is one of categories."""
    return type(column.dtype).__name__ in TYPES


def n_categories(column: Any) -> int:
    """Return how many categories a column of a data frame has: those that its type lists."""
    if hasattr(column, "iloc"):
        return len(column.cat.categories)
    return (
        len(column.dtype.categories) if type(column.dtype).__name__ == "Enum" else column.n_unique()
    )


def holds_numbers(column: Any) -> bool:
    """Return whether a column of a data frame holds numbers."""
    kind = column.dtype
    if hasattr(kind, "is_numeric"):  # polars
        return bool(kind.is_numeric()) or type(kind).__name__ == "Boolean"
    return not holds_categories(column) and getattr(kind, "kind", "O") in "biuf"


def first_categories(X: Any, chosen: Any) -> Categories:
    """Return the features of the first samples that hold categories.

    Parameters
    ----------
    X : array-like, CSR matrix or data frame
    chosen : 'from_dtype', array-like or None
        The parameter `categorical_features`.

    Raises
    ------
    ValueError
        If `chosen` are no features of X.
    """
    if chosen is None:
        return ()
    names = names_of(X)
    if isinstance(chosen, str):
        if names is None:
            return ()
        places = [k for k, name in enumerate(names) if holds_categories(X[name])]
    else:
        places = chosen_places(np.asarray(chosen), names, np.shape(X))
    if names is None:
        return tuple((place, None) for place in places)
    return tuple((k, None if holds_numbers(X[names[k]]) else ()) for k in places)


def chosen_places(chosen: Array, names: list[Any] | None, shape: tuple[int, ...]) -> list[int]:
    """Return the numbers of features that are given by a mask, numbers or names."""
    what = "categorical_features"
    n = len(names) if names is not None else (shape[1] if len(shape) == 2 else 0)
    if chosen.size == 0:
        return []
    if chosen.ndim != 1:
        raise ValueError(f"{what} must have one axis, got shape {chosen.shape}")
    if chosen.dtype.kind == "b":
        if len(chosen) != n:
            raise ValueError(f"{what} is a mask of {len(chosen)} features, but X has {n}")
        return [int(k) for k in np.flatnonzero(chosen)]
    if chosen.dtype.kind in "iu":
        wrong = chosen[(chosen < 0) | (chosen >= n)]
        if len(wrong):
            raise ValueError(f"{what} must be in [0, {n - 1}], got {int(wrong[0])}")
        return sorted(set(chosen.tolist()))
    if names is None:
        raise ValueError(
            f"{what} must be a mask or numbers of features where X has no names of columns, got "
            f"{chosen.tolist()}"
        )
    unknown = [name for name in chosen.tolist() if name not in names]
    if unknown:
        raise ValueError(f"{what} has {unknown[0]!r}, which is no column of X")
    return sorted({names.index(name) for name in chosen.tolist()})


def kinds_of_chosen(X: Any, chosen: Any) -> dict[str, str] | None:
    """Return the kinds of columns for an encoder: those that the parameter names are categories."""
    if chosen is None or isinstance(chosen, str):
        return None
    names = names_of(X) or getattr(X, "column_names", None)
    if names is None:
        rows = [X] if isinstance(X, Mapping) else X
        named = all(isinstance(row, Mapping) for row in rows)
        names = list(dict.fromkeys(name for row in rows for name in row)) if named else None
    n_columns = np.shape(X)[1] if names is None else len(names)
    places = chosen_places(np.asarray(chosen), names, (0, n_columns))
    labels = [f"x{place}" for place in range(n_columns)] if names is None else names
    return {str(labels[place]): "category" for place in places}


def numbered(X: Any, known: Categories, learn: bool) -> tuple[Any, Categories]:
    """Return a data frame with numbers in place of categories, and the categories now known.

    Other samples are returned as they are. A value that is not known has the number `MOST_CODE` if
    nothing is learnt.

    Raises
    ------
    ValueError
        If a column holds more categories than there are numbers, or categories that the parameter
        does not name.
    """
    names = names_of(X)
    if names is None:
        return numbered_rows(X, known, learn)
    check_columns(X, names, known)
    found, columns = [], {}
    for place, values in known:
        column = X[names[place]] if place < len(names) else None
        if values is not None and column is not None:
            columns[names[place]], values = numbers_of(column, values, learn)
        found.append((place, values))
    return (with_columns(X, columns) if columns else X), tuple(found)


def numbered_rows(X: Any, known: Categories, learn: bool) -> tuple[Any, Categories]:
    """Return lists, or an Arrow table, with numbers in place of categories: as `numbered`."""
    is_table = hasattr(X, "set_column")
    if not (is_table or isinstance(X, list)) or all(values is None for _, values in known):
        return X, known
    rows: Any = X if is_table else [list(row) for row in X]
    found = []
    for place, values in known:
        if values is not None and (is_table or all(place < len(row) for row in rows)):
            given = X.column(place).to_pylist() if is_table else [row[place] for row in rows]
            column = SimpleNamespace(to_list=lambda given=given: given, dtype=None, name=place)
            numbers, values = numbers_of(column, values, learn)
            if is_table:
                rows = rows.set_column(place, rows.column_names[place], [numbers])
            else:
                for row, number in zip(rows, numbers.tolist(), strict=True):
                    row[place] = number
        found.append((place, values))
    return rows, tuple(found)


def check_columns(X: Any, names: list[Any], known: Categories) -> None:
    """Raise ValueError if a column that is not known as one has the type of categories."""
    places = {place for place, _ in known}
    for place, name in enumerate(names):
        if place not in places and holds_categories(X[name]):
            raise ValueError(
                f"X has categories in the column {name!r}, which categorical_features does not "
                "name, or which had none in the first samples"
            )


def numbers_of(column: Any, known: tuple[Any, ...], learn: bool) -> tuple[Floats, tuple[Any, ...]]:
    """Return the numbers of the values of a column, NaN of missing ones, and the values known."""
    if hasattr(column, "cat") and hasattr(column, "iloc"):
        listed = column.cat.categories.tolist()
        places = column.cat.codes.to_numpy()
    else:
        listed, places = listed_values(column)
    listed = [plain(value) for value in listed]
    numbers = {value: number for number, value in enumerate(known)}
    if learn:
        for value in listed:
            numbers.setdefault(value, len(numbers))
        if len(numbers) > MOST_CODE:
            raise ValueError(
                f"column {column.name!r} of X holds {len(numbers)} categories; at most {MOST_CODE} "
                "have numbers. encode=True, from the first samples on, takes any number: the last "
                "ones share one"
            )
        known = tuple(numbers)
    table = np.array([*(numbers.get(value, MOST_CODE) for value in listed), np.nan])
    return table[places], known


def listed_values(column: Any) -> tuple[list[Any], Array]:
    """Return values, in the order in which they first come, and the place of each row's, or -1."""
    values = column.to_list()
    if type(column.dtype).__name__ == "Enum":
        listed = dict.fromkeys(column.dtype.categories.to_list())
    else:
        listed = dict.fromkeys(value for value in values if value is not None and value == value)
    places = {value: place for place, value in enumerate(listed)}
    return list(listed), np.array([places.get(value, -1) for value in values], dtype=np.intp)


def plain(value: Any) -> Any:
    """Return a category as a text, number or bool of Python, which files hold."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | bool | int | float) else str(value)


def with_columns(X: Any, columns: dict[Any, Floats]) -> Any:
    """Return a data frame with other columns in place of those of these names."""
    if hasattr(X, "with_columns"):  # polars
        series = type(X[next(iter(columns))])
        return X.with_columns([series(name, column) for name, column in columns.items()])
    return X.assign(**columns) if all(isinstance(n, str) for n in columns) else assigned(X, columns)


def assigned(X: Any, columns: dict[Any, Floats]) -> Any:
    """Return a frame of pandas whose names need not be texts with other columns."""
    X = X.copy(deep=False)
    for name, column in columns.items():
        X[name] = column
    return X


def check_numbers(X: Any, known: Categories, names: Array | None) -> None:
    """Raise ValueError unless validated rows have the numbers of categories where they should."""
    for place, _ in known:
        column = X[:, [place]].toarray()[:, 0] if sp.issparse(X) else X[:, place]
        with np.errstate(invalid="ignore"):
            good = (column >= 0) & (column <= MOST_CODE) & (column == np.floor(column))
        good |= np.isnan(column)
        if not good.all():
            row = int(np.argmin(good))
            which = place if names is None else repr(names[place])
            raise ValueError(
                f"X has {column[row]:g} in row {row} of column {which}, which holds categories "
                f"(categorical_features): they have the numbers 0 ... {MOST_CODE}, and NaN stands "
                "for a missing one"
            )


def common_categories(each: list[Categories]) -> Categories:
    """Return the categories of models that are merged, each of which knows the first of them.

    Raises
    ------
    ValueError
        If two models have given one number to two categories.
    """
    longest = max(each, key=lambda known: sum(len(values or ()) for _, values in known))
    for known in each:
        for (place, values), (other, more) in zip(known, longest, strict=True):
            if place != other or (values or ())[:] != (more or ())[: len(values or ())]:
                raise ValueError(
                    f"the models have other numbers for the categories of column {place}: give "
                    "all parts of the stream columns of one type, which lists all categories"
                )
    return longest


def are_categories(found: Any, coded: tuple[int, ...] | None) -> bool:
    """Return whether these are categories of the coded features of a model."""
    if type(found) is not tuple or not all(type(one) is tuple and len(one) == 2 for one in found):
        return False
    if tuple(place for place, _ in found) != coded:
        return False
    values = [own for _, own in found if own is not None]
    plain_ones = all(type(own) is tuple and all(map(is_plain, own)) for own in values)
    return plain_ones and all(len(set(own)) == len(own) <= MOST_CODE for own in values)


def is_plain(value: Any) -> bool:
    """Return whether a value is one that `plain` returns."""
    return type(value) in (str, bool, int, float)
