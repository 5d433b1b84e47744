"""Samples that are dictionaries of any values, for estimators that begin with a `TableEncoder`."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from onlinekern.estimators.warnings import warn


class Records:
    """Names of columns, and the samples as dictionaries of them.

    It does for any values what `Vocabulary` does for numbers. The first sample has all columns; a
    value that a later one lacks is missing.

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
        """Make the names of the first sample the columns; warn once of names that come later.

        It returns the number of names known before, for `forget`.
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
        """Take back what `take_up` did, when there were `known` names before."""
        if known == 0:
            self.columns, self.width = {}, 0

    def known_row(self, x: Mapping[Hashable, Any]) -> dict[Hashable, Any] | None:
        """Return the same as `row`, or None if there are names without a column."""
        return self.row(x) if x.keys() <= self.columns.keys() and self.width > 0 else None

    def row(self, x: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
        """Return a sample as a dictionary of the columns; None is missing."""
        return {name: x.get(name) for name in self.columns}
