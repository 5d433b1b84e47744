"""Estimators whose model is a weight for each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier

from onlinekern.core.models.linear import LinearSpace
from onlinekern.estimators.constraints import AVERAGE
from onlinekern.estimators.contract import OnlineEstimator
from onlinekern.estimators.types import Floats

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator

# A weight, its copy that undoes a failed call, and its share in the journal of a line of weights.
WEIGHT_BYTES = 18


@dataclass(kw_only=True, eq=False, repr=False)
class LinearModel(OnlineEstimator):
    """Mixin for models that give their weights and constants in `effective`."""

    def _n_bytes(self, n_features: int, n_outputs: int, itemsize: int, is_sparse: bool) -> int:
        n_weights = n_features * n_outputs * (1 + bool(getattr(self, "average", False)))
        return WEIGHT_BYTES * n_weights

    @property
    def coef_(self) -> Floats:
        """Weights of the model that predicts, (n_outputs, n_features), or (n_features,)."""
        coef = self._read_in_units(lambda space: space.effective()[:, :-1])
        return coef if is_classifier(self) else coef[0]

    @property
    def intercept_(self) -> Floats:
        """Constants of the model that predicts, ndarray of shape (n_outputs,)."""
        return self._read_in_units(lambda space: space.effective()[:, -1], mean=True)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearEstimator(LinearModel):
    """Mixin for linear learners of the first order."""

    fit_intercept: bool = True
    average: bool | str | float = False

    _constraints = {"fit_intercept": ["boolean"], "average": AVERAGE}

    def _space(self, X: Any, n_outputs: int, rng: Generator) -> Any:
        return LinearSpace(*self._linear(X, n_outputs))

    def _linear(self, X: Any, n_outputs: int) -> Any:
        """The arguments of a space for samples like X."""
        return X.shape[1], X.dtype, n_outputs, self.average, float(self.fit_intercept)
