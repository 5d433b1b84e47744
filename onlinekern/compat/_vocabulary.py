"""Conversion of samples from dictionaries: numbers become rows, other values become tables."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.core.samples.dictionaries import dense_row, sparse_row
from onlinekern.estimators.types import Array, Floats
from onlinekern.estimators.warnings import warn


class Vocabulary:
    """Feature names in the order of their arrival, and rows with a column for each.

    New names in one sample are sorted, so that the order of a dictionary does not matter. If a
    sample lacks a feature, its value is 0.

    Parameters
    ----------
    max_features : int or None
        Width of the rows; None is the number of names of the first sample.
    sparse : bool
        Whether rows are CSR matrices.

    Attributes
    ----------
    columns : dict
        Name -> column; column k is the k-th name.
    width : int
        0 before the first sample.
    """

    def __init__(self, max_features: int | None, sparse: bool) -> None:
        self.max_features = max_features
        self.sparse = sparse
        self.columns: dict[Hashable, int] = {}
        self.width = 0
        self.warned = False

    def take_up(self, names: Collection[Hashable]) -> int:
        """Assign columns to new names, as long as columns are free.

        The first time that names are left out, a warning is raised.

        Parameters
        ----------
        names : collection of hashable

        Returns
        -------
        int
            Number of names known before, for `forget`.

        Raises
        ------
        ValueError
            If the first sample has no features.
        """
        known = len(self.columns)
        new = in_order([name for name in names if name not in self.columns])
        if self.width == 0:
            if not new:
                raise ValueError("the first sample has no features")
            self.width = self.max_features or len(new)
        room = self.width - known
        self.columns.update(zip(new[:room], range(known, self.width), strict=False))
        if len(new) > room and not self.warned:
            self.warned = True
            warn(
                f"feature {new[room]!r} is ignored, and so is every other new name: the model has "
                f"{self.width} columns, all taken. Give max_features for features to come",
                UserWarning,
            )
        return known

    def forget(self, known: int) -> None:
        """Undo `take_up`; there were `known` names before."""
        for name in list(self.columns)[known:]:
            del self.columns[name]
        if known == 0:
            self.width = 0

    def row(self, x: Mapping[Hashable, Any]) -> Any:
        """Return the row of a sample; names without a column are ignored.

        Parameters
        ----------
        x : dict of hashable to number

        Returns
        -------
        ndarray of shape (width,), or CSR matrix of shape (1, width), float64

        Raises
        ------
        ValueError
            If the value of a feature is no number.
        """
        try:
            return self._compiled_row(x)[0]
        except (TypeError, ValueError, OverflowError):
            # The code below reads other mappings and numbers as text, and raises errors for the
            # rest.
            pass
        try:
            return self._sparse_row(x) if self.sparse else self._dense_row(x)
        except (TypeError, ValueError, OverflowError):
            check_numbers(x)
            raise

    def known_row(self, x: Mapping[Hashable, Any]) -> Any:
        """Return the row of a sample, or None if it has names without a column.

        It is also None before there are columns, and for samples that only `row` can read.
        """
        if self.width == 0:
            return None
        try:
            row, found = self._compiled_row(x)
        except (TypeError, ValueError, OverflowError):
            return None
        return row if found == len(x) else None

    def _compiled_row(self, x: Any) -> tuple[Any, int]:
        """Return the row of a dictionary of numbers, and how many of its names have a column."""
        if not self.sparse:
            return dense_row(x, self.columns, self.width)
        values, indices, starts = sparse_row(x, self.columns)
        # As copy.copy does; constructing a matrix takes thirty times as long.
        row = object.__new__(sp.csr_matrix)
        vars(row).update(vars(empty_row(self.width)))
        row.data, row.indices, row.indptr = values, indices, starts
        return row, len(values)

    def _dense_row(self, x: Mapping[Hashable, Any]) -> Floats:
        row = np.zeros(self.width)
        values = [x.get(name, 0.0) for name in self.columns]
        row[: len(values)] = np.array(values, dtype=np.float64)
        return row

    def _sparse_row(self, x: Mapping[Hashable, Any]) -> Any:
        columns = self.columns
        pairs = sorted((columns[name], value) for name, value in x.items() if name in columns)
        indices = np.array([column for column, _ in pairs], dtype=np.int32)
        values = np.array([value for _, value in pairs], dtype=np.float64)
        starts = np.array([0, len(pairs)], dtype=np.int32)
        return sp.csr_matrix((values, indices, starts), shape=(1, self.width))

    def rows(self, names: Collection[Hashable], values: Floats) -> Any:
        """Return the rows of a batch; names without a column are ignored.

        Parameters
        ----------
        names : collection of hashable
        values : ndarray of shape (n, number of names)

        Returns
        -------
        ndarray or CSR matrix of shape (n, width), float64
        """
        places = [k for k, name in enumerate(names) if name in self.columns]
        columns = np.array([self.columns[name] for name in names if name in self.columns], np.intp)
        shape = (len(values), self.width)
        if self.sparse:
            found = sp.coo_matrix(values[:, places])
            entries: tuple[Array, tuple[Array, Array]] = found.data, (found.row, columns[found.col])
            rows = sp.csr_matrix(entries, shape=shape)
            rows.sort_indices()
            return rows
        rows = np.zeros(shape)
        rows[:, columns] = values[:, places]
        return rows


@lru_cache(maxsize=16)
def empty_row(width: int) -> Any:
    """Return a CSR matrix of one row of zeros."""
    return sp.csr_matrix((1, width))


def in_order(names: list[Any]) -> list[Any]:
    """Sort names; names that cannot be compared are sorted by type and text."""
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


def check_numbers(x: Mapping[Hashable, Any]) -> None:
    """Raise ValueError, which names the feature, if a value is not a number."""
    for name, value in x.items():
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"feature {name!r} is {value!r}, which is no number; "
                "river.preprocessing.OneHotEncoder makes numbers of categories"
            ) from None


class Records:
    """Names of columns, and samples as dictionaries with these names.

    This class is the counterpart of `Vocabulary` for values of any type. The first sample has all
    columns. If a later sample lacks one, its value is missing.

    Attributes
    ----------
    columns : dict
        Name -> place, in the order in which they came.
    width : int
        Their number; 0 before the first sample.
    """

    def __init__(self) -> None:
        self.columns: dict[Hashable, int] = {}
        self.width = 0
        self.warned = False

    def take_up(self, names: Collection[Hashable]) -> int:
        """Make the names of the first sample the columns; warn once about names that come later.

        Return the number of names known before, for `forget`.
        """
        known = self.width
        if known == 0:
            if not names:
                raise ValueError("the first sample has no features")
            self.columns = {name: place for place, name in enumerate(names)}
            self.width = len(self.columns)
        elif not self.warned and (new := [name for name in names if name not in self.columns]):
            self.warned = True
            warn(
                f"feature {new[0]!r} is ignored, and so is every other new name: the columns are "
                "those of the first sample",
                UserWarning,
            )
        return known

    def forget(self, known: int) -> None:
        """Undo `take_up`; there were `known` names before."""
        if known == 0:
            self.columns, self.width = {}, 0

    def known_row(self, x: Mapping[Hashable, Any]) -> dict[Hashable, Any] | None:
        """Return the same as `row`, or None if the sample has names without a column."""
        return self.row(x) if x.keys() <= self.columns.keys() and self.width > 0 else None

    def row(self, x: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
        """Return a sample as a dictionary with all columns; a missing value is None."""
        return {name: x.get(name) for name in self.columns}
