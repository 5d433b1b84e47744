"""The state that a model has learnt in C, converted to the state of a space."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.terms import dense
from onlinekern.fitted.state import State, closed


@dataclass(frozen=True)
class Taught:
    """The fields of a saved state, with the number of samples since the export.

    Attributes
    ----------
    fields : dict
        Name -> ndarray, of float64 or of whole numbers.
    more : int
        Samples learnt since the export; < 0 if the state is older than the model.
    dtype : dtype
        Number type of the C.
    """

    fields: dict[str, Array]
    more: int
    dtype: Any

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def count(self, name: str) -> int:
        """Return a whole number."""
        return int(self.fields[name][0])

    def number(self, name: str) -> float:
        return float(self.fields[name][0])

    def matrix(self, name: str, n_rows: int) -> Floats:
        """Return an array of numbers in `n_rows` rows."""
        return self.fields[name].reshape(n_rows, -1)

    def covariance(self, before: Floats, places: Any) -> Floats:
        """Return variances or covariances of weights; `places` are positions of features."""
        fresh = before.copy()
        given, n = self.matrix("covariance", len(before)), len(places)
        if before.ndim == 2:
            fresh[:, places] = given[:, :n]
            return fresh
        length = isqrt(given.shape[1])
        given = given.reshape(-1, length, length)[:, :n, :n]
        fresh[:, places[:, np.newaxis], places] = (given + given.transpose(0, 2, 1)) / 2
        return fresh

    def average(self, state: State, places: Any) -> dict[str, Any]:
        """Return values, companions, scale, total and steps; `places` are feature positions."""
        own: dict[str, Any] = {"scale": self.number("scale"), "total": state.total}
        own["companions"] = state.companions
        n = len(np.arange(state.values.shape[1])[places])
        for name in ("values", "companions"):
            if name in self:
                rows = getattr(state, name).copy()
                rows[:, places] = self.matrix(name, len(rows))[:, :n]
                own[name] = rows
        own["steps"] = max(0, state.steps + self.more)
        if "steps" in self:
            own["steps"] = self.count("steps")
        if "total" in self:
            own["total"] = self.number("total")
        return own

    def vectors(self, part: State, n: int) -> dict[str, Any]:
        """Return rows, norm terms, ages and the count of n vectors, for a set without free slots.

        A vector that is still in its slot keeps its age. All other vectors are newer, in the order
        of their slots, because a device does not store the order of their arrival.
        """
        state, own = part.state, part.arguments
        old = dense(state.rows)
        rows = self.fields["support_vectors"].reshape(-1, own.d)[:n]
        rows = np.ascontiguousarray(rows, dtype=own.dtype)
        kept = np.zeros(n, dtype=bool)
        known = min(n, len(old))
        # In C, a row of float64 may have been rounded.
        rounded = old.astype(self.dtype).astype(rows.dtype)
        kept[:known] = (rows[:known] == rounded[:known]).all(axis=1)
        rows[:known][kept[:known]] = old[:known][kept[:known]]
        ages, fresh = np.zeros(n, dtype=np.int64), np.flatnonzero(~kept)
        ages[:known] = state.ages[:known]
        ages[fresh] = state.added + np.arange(len(fresh))
        support = SupportSet(*closed(own))
        support.add_rows(rows, np.zeros((n, len(state.values))))
        norm_terms = np.array(support.get_state()["terms"])
        norm_terms[:known] = np.where(kept[:known], state.terms[:known], norm_terms[:known])
        return {
            "rows": sp.csr_matrix(rows) if sp.issparse(state.rows) else rows,
            "terms": norm_terms,
            "ages": ages,
            "free": state.free,
            "added": state.added + len(fresh),
        }
