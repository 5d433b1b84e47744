"""Regression of several targets at once, by one model."""

from typing import Any, ClassVar

import numpy as np

from onlinekern.core.learning.heads import HEADS
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.tasks import OnlineRegressor
from onlinekern.estimators.types import Array, Sample, Samples
from onlinekern.estimators.validation import learn_row, own_weight


@estimator
class OnlineMultiRegressor(OnlineRegressor):
    """Base of regressors that learn one real target or several, which share what is learnt.

    The first samples tell how many; one column of targets is one target.
    """

    _target_checks = {"y_numeric": True, "multi_output": True}
    # Until the model knows it.
    _n_targets: ClassVar[int] = 1

    def predict(self, X: Samples) -> Array:
        """Predict the targets of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As the targets that were learnt.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def learn_one(self, x: Sample, y: Any, sample_weight: float = 1.0) -> Any:
        """Learn one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).
        y : float, or array-like of shape (n_outputs,)
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, y has not `n_outputs_` finite targets, or
            the weight is negative or not finite.
        """
        attributes = self.__dict__
        if "_model" not in attributes or "encoder_" in attributes:
            return learn_row(self, x, [y], own_weight(sample_weight))
        if self.n_outputs_ == 1:
            return super().learn_one(x, y, sample_weight)
        targets = np.ascontiguousarray(y, dtype=np.float64)
        self._check_number(targets.shape[-1] if targets.ndim == 1 else 1)
        if not np.isfinite(targets).all():
            raise ValueError(f"y must be finite, got {y}")
        return self._learn_row(attributes["_model"], x, targets, sample_weight)

    @property
    def n_outputs_(self) -> int:
        """Targets of a sample."""
        n_targets: int = self._fitted_model.head.n_targets
        return n_targets

    def _samples(self, X: Any, y: Any, dtype: Any, start: bool) -> Any:
        if getattr(y, "shape", ())[1:] == (0,):
            raise ValueError(f"y must hold a target of each sample, got an array of {y.shape}")
        X, y = super()._samples(X, y, dtype, start)
        n_targets = y.shape[1] if y.ndim == 2 else 1
        if start:
            self._n_targets = n_targets  # type: ignore[misc]
        else:
            self._check_number(n_targets)
        return X, y

    def _check_number(self, n_targets: int) -> None:
        """Raise ValueError unless a sample has as many targets as those before."""
        known = self.n_outputs_
        if n_targets != known:
            raise ValueError(
                f"y must have {known} target{'s' * (known > 1)} a sample, as those learnt before, "
                f"got {n_targets}"
            )

    def _encode(self, y: Any, labels: Any) -> Any:
        # The targets of a sample lie side by side.
        return super()._encode(y, labels).reshape(-1)

    def _head(self) -> Any:
        if self._n_targets == 1:
            return super()._head()
        if not self.standardize_target:
            return HEADS["several"](self._n_targets)
        forgetting = float(getattr(self, "forgetting", 1.0))
        return HEADS["several_standardized"](self._n_targets, forgetting)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
