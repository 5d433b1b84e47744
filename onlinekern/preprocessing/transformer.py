"""The base of the transformers that learn an object of the core."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.savable import Savable, require
from onlinekern.estimators.scikit_learn import BaseEstimator
from onlinekern.estimators.validation import validate_data

FLOATS = [np.float64, np.float32]


class CoreTransformer(Savable, TransformerMixin, BaseEstimator):
    """Base of transformers that learn an object of the core.

    A subclass says in `_learnt_as` which attribute this is, and in `_kind` of which class.
    """

    _kind: ClassVar[type[Any]]
    # These take effect in mid-stream; what a stream began with has the others.
    _acts: ClassVar[frozenset[str]] = frozenset()

    @property
    def _begins_with(self) -> frozenset[str]:
        return frozenset(self._get_param_names()) - self._acts

    @property
    def _known(self) -> Any:
        """What has been learnt; NotFittedError if this is nothing."""
        check_is_fitted(self)
        return vars(self)[self._learnt_as]

    @property
    def _dtype(self) -> Any:
        """The types of samples that are not the first: those that it has learnt, or all."""
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
