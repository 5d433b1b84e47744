"""Estimators whose model is a weight for each feature."""

from dataclasses import dataclass

from sklearn.base import is_classifier

from onlinekern._base import OnlineEstimator
from onlinekern.core.models.linear import LinearSpace


@dataclass(kw_only=True, eq=False, repr=False)
class LinearModel(OnlineEstimator):
    """Mixin for models that give their weights and constants in `effective`."""

    @property
    def coef_(self):
        """Weights of the model that predicts, (n_outputs, n_features), or (n_features,)."""
        coef = self._fitted_model.space.effective()[:, :-1]
        return coef if is_classifier(self) else coef[0]

    @property
    def intercept_(self):
        """Constants of the model that predicts, ndarray of shape (n_outputs,)."""
        return self._fitted_model.space.effective()[:, -1]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearEstimator(LinearModel):
    """Mixin for linear learners of the first order."""

    fit_intercept: bool = True
    average: bool = False

    _constraints = {"fit_intercept": ["boolean"], "average": ["boolean"]}

    def _space(self, X, n_outputs, rng):
        return LinearSpace(*self._linear(X, n_outputs))

    def _linear(self, X, n_outputs):
        """The arguments of a space for samples like X."""
        return X.shape[1], X.dtype, n_outputs, bool(self.average), float(self.fit_intercept)
