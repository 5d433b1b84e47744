"""Estimators whose model is a weight for each feature."""

from typing import Any

from sklearn.base import is_classifier

from onlinekern.core.base.random import Generator
from onlinekern.core.models.linear import LinearSpace
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import Average, estimator
from onlinekern.estimators.types import Floats

# A weight has a copy that undoes a failed call, and a share in the journal of a line of weights.
WEIGHT_BYTES = 18


@estimator
class LinearEstimator(Learner):
    """Mixin of linear learners, whose models give their weights and constants in `effective`."""

    fit_intercept: bool = True
    average: Average = False

    _takes_wide = True

    def _n_bytes(self, form: Form) -> int:
        n_weights = form.n_features * form.n_outputs * (1 + bool(self.average))
        return WEIGHT_BYTES * n_weights

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        return LinearSpace(*self._linear(X, n_outputs))

    def _linear(self, X: Any, n_outputs: int) -> Any:
        """Return the arguments of a space for samples like X."""
        return X.shape[1], X.dtype, n_outputs, self.average, float(self.fit_intercept)

    @property
    def coef_(self) -> Floats:
        """Weights of the model that predicts, (n_outputs, n_features), or (n_features,)."""
        coef: Floats = self._read_in_units(lambda space: space.effective()[:, :-1])
        return coef if is_classifier(self) else coef[0]

    @property
    def intercept_(self) -> Floats:
        """Constants of the model that predicts, ndarray of shape (n_outputs,)."""
        return self._read_in_units(lambda space: space.effective()[:, -1], mean=True)
