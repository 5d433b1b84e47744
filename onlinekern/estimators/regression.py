"""Regression: predictions of targets, and the heads of the core that standardise them."""

from typing import Any, ClassVar, Self

import numpy as np

from onlinekern.core import HEADS, LOSSES
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.scikit_learn import RegressorMixin
from onlinekern.estimators.several_targets import (
    ONE,
    SEVERAL,
    check_some,
    finite_target,
    finite_targets,
    number_of_targets,
    of_targets,
)
from onlinekern.estimators.types import Array, ArrayLike, Floats, Sample, Samples, Weights
from onlinekern.estimators.validation import (
    goes_by_names,
    learn_encoded,
    learn_row,
    own_weight,
    refused,
)


@estimator
class Regressor(RegressorMixin, Learner):
    """Base of regressors, which learn one real target, or several that share what is learnt.

    The first samples set their number; one column of targets is one target.
    """

    standardize_target: bool = True

    _target_checks = ONE
    _absent = {"standardize_target": False}
    # Until the model knows it.
    _n_targets: ClassVar[int] = 1

    def predict(self, X: Samples) -> Array:
        """Predict the targets of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs) of several targets
            As the targets that were learnt.
        """
        return of_targets(self._scores(X))

    def _samples(self, X: Any, y: Any, dtype: Any, start: bool) -> Any:
        check_some(y)
        X, y = super()._samples(X, y, dtype, start)
        if self._target_checks is SEVERAL:
            n_targets = number_of_targets(y, None if start else self.n_outputs_)
            if start:
                self._n_targets = n_targets  # type: ignore[misc]
        return X, y

    def _encode(self, y: Any, labels: Any) -> Any:
        # The targets of a sample lie side by side.
        return np.ascontiguousarray(y, dtype=np.float64).reshape(-1)

    def _plain_loss(self) -> Any:
        return LOSSES["epsilon_insensitive"](self.epsilon)  # type: ignore[attr-defined]

    def _head(self) -> Any:
        several = (self._n_targets,) if self._n_targets > 1 else ()
        if not self.standardize_target:
            return HEADS["several" if several else "regression"](*several)
        forgetting = float(getattr(self, "forgetting", 1.0))
        return HEADS["several_standardized" if several else "standardized"](*several, forgetting)

    @property
    def n_outputs_(self) -> int:
        """Targets of a sample; only learners that take several have it."""
        if self._target_checks is not SEVERAL:
            raise AttributeError(f"{type(self).__name__} learns one target: it has no n_outputs_")
        return self._fitted_model.head.n_targets

    @property
    def target_mean_(self) -> float | Floats:
        """Mean of the targets so far; 0 without `standardize_target`. Of several, an ndarray."""
        return self._fitted_model.target_mean

    @property
    def target_scale_(self) -> float | Floats:
        """Standard deviation of the targets so far; 1 if it is 0, or nothing is standardised.

        Of several targets, ndarray of shape (n_outputs,).
        """
        return self._fitted_model.target_scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._target_checks is SEVERAL
        return tags


@estimator
class OnlineRegressor(Regressor):
    """Base of regressors that learn from a stream."""

    @fit_method
    def partial_fit(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn one pass over a batch, in its order.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) of several targets
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._partial_fit(X, y, None, sample_weight)
        return self

    @fit_method
    def partial_fit_predict(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Array:
        """Predict each sample, then learn it: `partial_fit` that tests first.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._partial_fit(X, y, None, sample_weight)

    def learn_one(self, x: Sample, y: Any, sample_weight: float = 1.0) -> Self:
        """Learn one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).
        y : float, or array-like of shape (n_outputs,) of several targets
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, y is not finite or not as many targets
            as before, or the weight is negative or not finite.
        """
        attributes = self.__dict__
        model = attributes.get("_model")
        encodes = "encoder_" in attributes
        # What waits is said once, by a call that succeeds.
        if (
            model is None or "_warm_up" in attributes or "_waiting_parameters" in attributes
            or (type(x) is not np.ndarray and not encodes and goes_by_names(attributes, x))
        ):  # fmt: skip
            return learn_row(self, x, [y], own_weight(sample_weight))
        weight = sample_weight
        if self._target_checks is SEVERAL and self.n_outputs_ > 1:
            y = finite_targets(y, self.n_outputs_)
        else:
            y = finite_target(y)
        if encodes:
            return learn_encoded(self, x, lambda row: self._learn_number(row, y, weight))
        try:
            if self._calls_blas:
                self._learn_number(x, y, weight)
            else:
                model.learn_one(x, y, weight)
        except (TypeError, ValueError) as error:
            own = own_weight(weight)
            if isinstance(x, dict):  # The core takes none.
                return learn_row(self, x, [y], own)
            raise refused(self, x, error) from None
        return self
