"""The encoding of a table for export: how rows of values become rows of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinekern.fitted.export.scoring import Standardisation, standardisation
from onlinekern.preprocessing.tables.encoder import TableEncoder

# For each kind of column: the input type in C and in ONNX, number or text.
TEXTUAL = ("category", "hashed")
WORDS = {
    "number": "number", "boolean": "1 or 0", "category": "text", "hashed": "text",
    "date": "seconds since 1970", "ignore": "anything",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Encoding:
    """Columns of a table with their learnt state, and the scaling of their features.

    Attributes
    ----------
    columns : tuple of Column
        See `preprocessing.tables.columns`.
    scaling : Standardisation or None
        Scaling of the features. An encoder scales numbers and dates if its rows are sparse.
    """

    columns: tuple[Any, ...]
    scaling: Standardisation | None = None

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        return sum(column.n_features for column in self.columns)


def is_textual(column: Any) -> bool:
    """Return whether the values of a column are texts."""
    return column.kind in TEXTUAL


def encoding_of(encoder: TableEncoder, who: str) -> Encoding | None:
    """Return the encoding of a fitted encoder, or None if each column is a number and a feature.

    Raise TypeError for a table with a column of free text, or with columns that share slots.
    """
    for column in encoder._columns:
        if column.shares:
            raise TypeError(
                f"{who} cannot be exported: column {column.name!r} is one of those that share "
                f"{column.width:,} slots. TableEncoder(categories='one-hot') gives each features "
                "of its own"
            )
        if column.kind == "text":
            raise TypeError(
                f"{who} cannot be exported: column {column.name!r} is of kind 'text', whose words "
                "have no form there. TableEncoder(kinds={...: 'ignore'}) leaves it out"
            )
    if all(c.kind in ("number", "boolean") and not c.indicator for c in encoder._columns):
        return None
    return Encoding(tuple(encoder._columns), scaling_of(encoder))


def numbered_table(forest: Any) -> Encoding | None:
    """Return the encoding of a forest that numbers the categories of a data frame by itself."""
    known = dict(vars(forest).get("_categories", ()))
    if all(values is None for values in known.values()):
        return None
    import pyarrow as pa

    from onlinekern.preprocessing.tables.column_types import texts_of
    from onlinekern.preprocessing.tables.columns import CodedColumn, KeptNumberColumn

    columns: list[Any] = []
    for place, name in enumerate(forest.feature_names_in_):
        values = known.get(place)
        if values is None:
            columns.append(KeptNumberColumn(name))
        else:
            texts = [texts_of(pa.array([value])).to_pylist()[0] for value in values]
            columns.append(CodedColumn(name, tuple(texts)))
    return Encoding(tuple(columns))


def scaling_of(encoder: TableEncoder) -> Standardisation | None:
    """Return the scaling of an encoder's dense features, or None if it does not scale."""
    scaler = vars(encoder).get("_scaler")
    if not encoder.sparse_ or scaler is None:
        return None
    options = scaler._scaling()
    own = standardisation(scaler._moments, options["limit"], options["scaled"])
    # One-hot features are 0 or 1, so the limit of a scaler inside an encoder never clips them.
    assert own.limit >= 1
    dense = [not column.is_sparse for column in encoder._columns for _ in range(column.n_features)]
    mean, scale = np.zeros(len(dense)), np.ones(len(dense))
    if own.mean is not None:
        mean[dense] = own.mean
    if own.scale is not None:
        scale[dense] = own.scale
    return Standardisation(mean, scale, own.limit)
