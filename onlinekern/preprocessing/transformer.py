"""The bases of transformers around an object of the core, and of those that learn from targets."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.savable import Savable, require
from onlinekern.estimators.scikit_learn import BaseEstimator
from onlinekern.estimators.types import Floats
from onlinekern.estimators.validation import validate_data

FLOATS = [np.float64, np.float32]


class CoreTransformer(Savable, TransformerMixin, BaseEstimator):
    """Base of transformers that learn an object of the core.

    A subclass names this attribute in `_learnt_as`, and the class of the object in `_kind`.
    """

    _kind: ClassVar[type[Any]]
    # These parameters may change during a stream; all others keep their values of the first call.
    _acts: ClassVar[frozenset[str]] = frozenset()

    @property
    def _begins_with(self) -> frozenset[str]:
        return frozenset(self._get_param_names()) - self._acts

    @property
    def _known(self) -> Any:
        """The learnt object; NotFittedError if there is none."""
        check_is_fitted(self)
        return vars(self)[self._learnt_as]

    @property
    def _dtype(self) -> Any:
        """The allowed dtypes: after the first samples, the learnt one."""
        return FLOATS

    def _validate(self, X: Any, reset: bool = False) -> Any:
        """Return validated rows."""
        return validate_data(self, X, dtype=FLOATS if reset else self._dtype, reset=reset)

    def _check_loaded(self) -> None:
        own = vars(self)
        if self._learnt_as in own:
            known = own[self._learnt_as]
            require(isinstance(known, self._kind), f"its {self._learnt_as[1:]} is none")
            require(own.get("n_features_in_") == known.d, "the number of features is not one")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


Target: TypeAlias = Literal["auto", "labels", "numbers"]


class TaughtTransformer(CoreTransformer):
    """Base of transformers that learn from samples and their labels or numbers.

    They learn an object of the core, `TaughtFeatures`.
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
        """Return the kind of these targets."""
        return "labels" if is_text(y) else self.target

    def _numbers(self, y: Any) -> Floats:
        """Return targets as numbers; labels are numbered in the order of their arrival."""
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
    """Return whether targets are labels that are not numbers."""
    return bool(y.dtype.kind not in "biuf")
