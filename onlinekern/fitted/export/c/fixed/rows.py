"""Rows in fixed point: the value that each whole number of a feature stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export import scoring as parts

# Features are within -LARGEST ... LARGEST. The given rows use at most the share ROOM of this range,
# so that other rows may be somewhat farther out.
LARGEST, ROOM = 32767, 30000
# Largest value, in steps, that the number 0 of a feature may stand for.
MOST_ZERO = 1 << 30
BITS = 127


@dataclass(frozen=True, eq=False)
class Row:
    """Row whose feature j is offset_j + step_j q_j, with whole numbers q.

    Attributes
    ----------
    offset, step : ndarray of shape (n_features,)
    least, most : ndarray of shape (n_features,), int
        Numbers outside this range are clipped to it.
    """

    offset: Floats
    step: Floats
    least: Array
    most: Array

    def standardised(self, by: parts.Standardisation) -> Row:
        """Return the row after a scaler.

        Raises
        ------
        ValueError
            If the scaler clips all values of a feature to the same limit.
        """
        mean = 0.0 if by.mean is None else by.mean
        scale = 1.0 if by.scale is None else by.scale
        offset, step = (self.offset - mean) / scale, self.step / scale
        least = np.rint(np.maximum(self.least, (-by.limit - offset) / step))
        most = np.rint(np.minimum(self.most, (by.limit - offset) / step))
        if np.any(least > most):
            j = int(np.argmax(least > most))
            raise ValueError(
                f"rows: column {j} has values only beyond the limit of the scaler, {by.limit:g}"
            )
        return Row(offset, step, least.astype(np.int64), most.astype(np.int64))

    def weighed(self, root: Floats) -> Row:
        """Return the row with each feature multiplied by a number."""
        return replace(self, offset=self.offset * root, step=self.step * root)

    @property
    def is_clipped(self) -> bool:
        """Whether features must be clipped to `least` and `most`."""
        return bool(np.any(self.least > -LARGEST) or np.any(self.most < LARGEST))


def checked_rows(rows: Any, n_features: int, missing: bool) -> Floats:
    """Return rows as a dense array; raise ValueError unless they fit the model."""
    if rows is None:
        raise ValueError(
            "rows must be given with dtype='int16': samples whose ranges the 16 bits of the "
            "features are to hold"
        )
    found = check_array(
        rows,
        accept_sparse=True,
        dtype=np.float64,
        ensure_all_finite="allow-nan" if missing else True,
        input_name="rows",
    )
    if found.shape[1] != n_features:
        raise ValueError(f"rows must have {n_features} features, got {found.shape[1]}")
    return found.toarray() if sp.issparse(found) else found


def measured(rows: Floats) -> tuple[Array, Array]:
    """Return `bits` and `zeros` of the features, whose values are (q + zero) / 2^bits.

    A feature that is constant in all rows gets a range that includes twice its value, or 1.

    Raises
    ------
    ValueError
        If a number is so large or so small that `bits` of its feature does not fit into 8 bits.
    """
    known = ~np.isnan(rows)
    least = np.min(rows, axis=0, initial=np.inf, where=known)
    most = np.max(rows, axis=0, initial=-np.inf, where=known)
    least, most = np.where(known.any(axis=0), [least, most], 0.0)
    middle, half = least / 2 + most / 2, most / 2 - least / 2
    half = np.where(half > 0, half, np.where(middle != 0, np.abs(middle), 1.0))
    bits = np.floor(np.log2(ROOM) - np.log2(half))
    largest = np.abs(np.where(middle != 0, middle, 1.0))
    limited = np.floor(np.log2(MOST_ZERO) - np.log2(largest))
    bits = np.where(middle != 0, np.minimum(bits, limited), bits)
    if np.any(np.abs(bits) > BITS):
        j = int(np.argmax(np.abs(bits)))
        raise ValueError(f"rows: column {j} has values of a size that fixed point does not hold")
    return bits.astype(np.int64), np.rint(middle * np.exp2(bits)).astype(np.int64)


def row_of(bits: Array, zeros: Array) -> Row:
    """Return the row as the caller gives it."""
    step = np.exp2(-bits.astype(np.float64))
    most = np.full(len(bits), LARGEST)
    return Row(zeros * step, step, -most, most)


@dataclass(frozen=True, eq=False)
class Given:
    """Facts about the model that writing terms needs.

    Attributes
    ----------
    row : Row
    rows : ndarray of shape (n, n_features)
        The samples after the scaler.
    units : ndarray of shape (n_outputs,)
        Factors of the scores.
    """

    row: Row
    rows: Floats
    units: Floats

    def weighed(self, root: Floats) -> Given:
        """Return the same for features that are multiplied by these numbers."""
        return Given(self.row.weighed(root), self.rows * root, self.units)
