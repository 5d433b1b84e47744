"""Tables that an encoder inside a learner turns into rows of numbers.

All learners validate their samples by `validation.validate_data`, which calls this module. The
first samples decide: if a table has columns of text, categories or dates, or missing values that
the learner does not take, the learner gets a `TableEncoder`, the attribute `encoder_`. From then on
it learns along the stream and encodes all samples. It is replaced, never changed in place, so that
a failed call keeps the old one and other threads can read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.array_types import plain_samples
from onlinekern.estimators.categories import MOST_CODE, TYPES, n_categories, names_of
from onlinekern.estimators.savable import operations
from onlinekern.estimators.table_errors import (
    as_numbers,
    check_rows,
    columns_of,
    holds_dictionaries,
    is_date_type,
    kind_of_type,
    types_of,
)
from onlinekern.estimators.types import Array

# Categories and words of tables share so many features, or fewer if memory is short.
SLOTS = 2**20

Encode: TypeAlias = Literal["auto"] | bool


class Encoded:
    """Rows that the encoder of a learner has made of a table.

    Parameters
    ----------
    rows : ndarray or CSR matrix of shape (n_samples, n_features)
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __getitem__(self, piece: Any) -> Encoded:
        return Encoded(self.rows[piece])


def encoded(estimator: Any, X: Any, start: bool, learn: bool, y: Any = None) -> Any:
    """Return samples as they are, or as `Encoded` rows if the estimator has an encoder for them.

    Parameters
    ----------
    estimator : estimator
        It gets a new encoder if samples that `start` a stream ask for one, and loses that of an
        earlier stream.
    X : table, array-like, CSR matrix or Encoded
    start : bool
    learn : bool
        Whether the encoder learns the samples too, each before it is encoded.
    y : array-like, set or None
        Their targets, or a set of all classes: a new encoder's features depend on how many there
        are.
    """
    if isinstance(X, Encoded):
        return X
    X = with_names(estimator, plain_samples(X), start)
    X = X if start else matched(estimator, X)
    check_rows(X)
    own = vars(estimator)
    # With warm_start the weights go on, so the features stay, too.
    if start and not ("encoder_" in own and getattr(estimator, "warm_start", False)):
        own.pop("encoder_", None)
        if not asks_for_encoder(estimator, X):
            return X
        found = operations().new_encoder(estimator._encoding(X, y))
    elif "encoder_" in own:
        found = own["encoder_"]
    else:
        return in_order(estimator, X) if holds_rows_by_name(X) else X
    if not learn:
        return Encoded(encoded_by(found, X, learn))
    found = found._now()
    rows = encoded_by(found, X, learn)
    estimator.encoder_ = found
    return Encoded(rows)


def with_names(estimator: Any, X: Any, start: bool) -> Any:
    """Return samples; columns of a frame whose names are not strings get strings as names.

    scikit-learn would take such columns by position, in any order, without a warning. The numbers
    from 0 on are positions: pandas gives them as names to the columns of an array.
    """
    names = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    if all(isinstance(name, str) for name in names):
        return X
    texts = [str(name) for name in names]
    known = None if start else getattr(estimator, "feature_names_in_", None)
    # A model that has learnt other names takes columns by position, as from an array.
    if are_positions(names) and (known is None or set(texts) != set(known)):
        return X
    places = set(range(len(names)))
    if not start and known is None and len(places.intersection(names)) == len(names):
        return X[sorted(places)]
    # A window of a time series has times or numbers as names, which differ in the next one.
    if len(X) == 1 and known is None and not any(isinstance(name, str) for name in names):
        return X
    return X.set_axis(texts, axis="columns")


def matched(estimator: Any, X: Any) -> Any:
    """Return samples; for a model of categories, with columns in the order that it has learnt.

    If all columns are numbers, another order is an error, as in scikit-learn.
    """
    known = vars(estimator).get("feature_names_in_")
    names = names_of(X) if vars(estimator).get("_categories") else None
    if known is None or names is None or names == list(known):
        return X
    if set(names) != set(known):
        raise ValueError(other_columns("it", names, list(known)))
    return X[list(known)]


def are_positions(names: list[Any]) -> bool:
    """Return whether the names of columns are the numbers from 0 on."""
    return names == list(range(len(names)))


def encoded_by(encoder: Any, X: Any, learn: bool) -> Any:
    """Return the encoded rows of a table, or, faster, of one dictionary."""
    if isinstance(X, list) and len(X) == 1 and encoder.__sklearn_is_fitted__():
        rows = encoder._row(X[0], learn)
        if rows is not None:
            return rows
    return encoder.learn_transform(X) if learn else encoder.transform(X)


def asks_for_encoder(estimator: Any, X: Any) -> bool:
    """Return whether the first samples of a stream need an encoder, and the estimator makes one."""
    encode = getattr(estimator, "encode", False)
    if encode is not True and (encode is False or type(X) is np.ndarray or sp.issparse(X)):
        return False
    if encode is True or holds_rows_by_name(X):
        return True
    if types_of(X) is None:
        return is_other_table(X)
    return any(needs_encoder(estimator, *column) for column in columns_of(X))


def holds_rows_by_name(X: Any) -> bool:
    """Return whether samples are dictionaries."""
    return isinstance(X, Mapping) or holds_dictionaries(X)


def is_other_table(X: Any) -> bool:
    """Return whether X is a table of a library whose types are not looked at (DuckDB, ...)."""
    is_array = isinstance(X, list | tuple) or hasattr(X, "__array__")
    return not is_array and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__"))


def needs_encoder(estimator: Any, name: Any, column: Any, kind: Any) -> bool:
    """Return whether a column of a table holds what the estimator does not take as it is."""
    if is_date_type(kind):
        return True
    if "dictionary" in str(kind) or type(kind).__name__ in TYPES:
        if not estimator._takes_categories or "dictionary" in str(kind):
            return True
        return n_categories(column) > MOST_CODE  # An encoder lets later categories share a number.
    if kind_of_type(kind) or (str(kind) == "object" and any(isinstance(x, str) for x in column)):
        return True  # Text, even if it looks like numbers.
    numbers = as_numbers(column)
    if numbers is None:
        return True
    absent = np.isnan(numbers)
    return bool(absent.any()) and not estimator._takes_missing


def in_order(estimator: Any, X: Any) -> Any:
    """Return dictionaries as lists, in the order of the names that an estimator knows."""
    names = getattr(estimator, "feature_names_in_", None)
    rows = [X] if isinstance(X, Mapping) else X
    if names is None:
        return X
    for row in rows:
        if row.keys() != set(names):
            raise ValueError(other_columns("a row", list(row), list(names)))
    return [[row[name] for name in names] for row in rows]


def other_columns(what: str, found: list[Any], known: list[Any]) -> str:
    """Return a message of names of columns that are not those known."""
    lacks = [repr(name) for name in known if name not in found]
    extra = [repr(name) for name in found if name not in known]
    differs = [f"lacks {', '.join(lacks)}"] * bool(lacks)
    differs += [f"has also {', '.join(extra)}"] * bool(extra)
    return f"X has other columns than those learnt: {what} {' and '.join(differs)}"


def stand_in(estimator: Any, start: bool) -> Any:
    """Return an estimator with the encoder's features, by which encoded rows are validated."""
    twin = object.__new__(type(estimator))
    own = vars(estimator).copy()
    found = own.pop("encoder_")
    own.pop("feature_names_in_", None)
    own["encode"] = False
    if not start:
        own["n_features_in_"] = found.n_features_out_
    vars(twin).update(own)
    return twin


def note_columns(estimator: Any) -> None:
    """Give an estimator the number and the names of the columns of its encoder."""
    found = estimator.encoder_
    estimator.n_features_in_ = found.n_features_in_
    estimator.__dict__.pop("feature_names_in_", None)
    if hasattr(found, "feature_names_in_"):
        estimator.feature_names_in_ = found.feature_names_in_


def feature_names(estimator: Any) -> Array | None:
    """Return the names of the features that the model of an estimator learns; None without any."""
    found = vars(estimator).get("encoder_")
    if found is not None:
        return found.get_feature_names_out()
    return getattr(estimator, "feature_names_in_", None)
