"""Transformers that learn from targets too: what a target is, and what is kept of it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from onlinekern.estimators.savable import require
from onlinekern.estimators.types import Floats
from onlinekern.estimators.validation import validate_data
from onlinekern.preprocessing.transformer import FLOATS, CoreTransformer

Target: TypeAlias = Literal["auto", "labels", "numbers"]


class TaughtTransformer(CoreTransformer):
    """Base of transformers that learn from samples and their labels or numbers.

    What is learnt is an object of the core, `TaughtFeatures`.
    """

    target: Target
    _labels: tuple[str, ...]

    @property
    def _dtype(self) -> Any:
        return self._known.dtype

    def _validate_both(self, X: Any, y: Any, start: bool) -> tuple[Any, Any]:
        """Return validated rows and targets."""
        kind = self.target if start else self._known.kind
        dtype = FLOATS if start else self._dtype
        numeric = kind == "numbers"
        X, y = validate_data(self, X, y, dtype=dtype, reset=start, y_numeric=numeric)
        if not start and bool(self._labels) != is_text(y):
            raise ValueError(
                f"y holds {y.dtype}, but in the first call it did not hold such labels"
            )
        return X, y

    def _kind_of(self, y: Any) -> Target:
        """Return what these targets are."""
        return "labels" if is_text(y) else self.target

    def _numbers(self, y: Any) -> Floats:
        """Return targets as numbers: labels are numbered as they come."""
        if not is_text(y):
            return np.asarray(y, dtype=np.float64)
        values, first, places = np.unique(y.astype(str), return_index=True, return_inverse=True)
        known = {label: number for number, label in enumerate(self._labels)}
        for value in values[np.argsort(first)].tolist():
            known.setdefault(value, len(known))
        self._labels = tuple(known)
        return np.array([known[value] for value in values.tolist()], dtype=float)[places]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self.__sklearn_is_fitted__():
            labels: Any = vars(self).get("_labels")
            known = type(labels) is tuple and all(type(label) is str for label in labels)
            require(known and len(set(labels)) == len(labels), "its labels are none")
            require(not labels or self._known.kind == "labels", "its targets are no labels")


def is_text(y: Any) -> bool:
    """Return whether targets are labels that are no numbers."""
    return bool(y.dtype.kind not in "biuf")
