"""Transformers that learn from targets too: what a target is, and what is kept of it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from onlinekern.core.features.taught import TaughtFeatures
from onlinekern.estimators.atomic import learnt_by
from onlinekern.estimators.savable import Savable
from onlinekern.estimators.scikit_learn import BaseEstimator
from onlinekern.estimators.types import Floats
from onlinekern.estimators.validation import validate_data

FLOATS = [np.float64, np.float32]
Target: TypeAlias = Literal["auto", "labels", "numbers"]


class TaughtTransformer(Savable, TransformerMixin, BaseEstimator):
    """Base of transformers that learn from samples and their labels or numbers.

    What is learnt is an object of the core, `TaughtFeatures`.
    """

    target: Target
    _labels: tuple[str, ...]

    @property
    def _taught(self) -> TaughtFeatures:
        check_is_fitted(self)
        return learnt_by(self)

    def _validate(self, X: Any, reset: bool = False) -> Any:
        return validate_data(self, X, dtype=FLOATS if reset else self._taught.dtype, reset=reset)

    def _validate_both(self, X: Any, y: Any, start: bool) -> tuple[Any, Any]:
        """Return validated rows and targets."""
        known = self.target if start else self._taught.kind
        dtype = FLOATS if start else self._taught.dtype
        numeric = known == "numbers"
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

    def __sklearn_is_fitted__(self) -> bool:
        return learnt_by(self) is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def is_text(y: Any) -> bool:
    """Return whether targets are labels that are no numbers."""
    return bool(y.dtype.kind not in "biuf")
