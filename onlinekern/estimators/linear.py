"""Estimators whose model is a weight for each feature, perhaps with a covariance."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from onlinekern.core import COVARIANCES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.linear_second_order import SecondOrderSpace
from onlinekern.estimators.atomic import twin_of
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.memory import Form, available_memory
from onlinekern.estimators.parameters import Average, estimator
from onlinekern.estimators.types import Floats, Samples
from onlinekern.estimators.validation import validate_data
from onlinekern.estimators.warnings import warn

# A weight has a copy that undoes a failed call, and a share in the journal of a line of weights.
WEIGHT_BYTES = 18
# Weights of classes that take more are warned of.
MUCH = 1e9


@estimator
class LinearEstimator(Learner):
    """Mixin of linear learners, whose models give their weights and constants in `effective`."""

    fit_intercept: bool = True
    average: Average = False

    _takes_wide = True

    def _n_bytes(self, form: Form) -> int:
        n_weights = form.n_features * form.n_outputs * (1 + bool(self.average))
        return WEIGHT_BYTES * n_weights

    def _check_features(self, X: Any, n_outputs: int) -> None:
        super()._check_features(X, n_outputs)
        vars(self).pop("_warned_of_weights", None)  # This model is a new one.
        warn_of_weights(self, Form.of(X, n_outputs))

    def _check_growth(self, head: Any) -> None:
        model: Any = self._model
        form = Form(model.d, head.n_outputs, model.dtype.itemsize, False)
        self._check_form(form)
        warn_of_weights(self, form)

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


def check_memory(kind: str, n_outputs: int, length: int, *sizes: int) -> None:
    """Raise MemoryError if there is no room for covariances of this kind."""
    needed = COVARIANCES[kind].nbytes(n_outputs, length, *sizes)
    available = available_memory()
    if needed > available:
        one = n_outputs == 1 or kind != "full"
        matrices = "a matrix" if one else f"{n_outputs} matrices"
        rows = min(2 * sizes[0], 2 * length) if sizes else length
        raise MemoryError(
            f'covariance="{kind}" keeps {matrices} of {rows} x {length} numbers: with the copy '
            f"that undoes a failed call {needed / 1e9:.3g} gigabytes, and {available / 1e9:.3g} "
            'are available. Use covariance="diagonal", or fewer features.'
        )


def warn_of_weights(estimator: Any, form: Form) -> None:
    """Warn, once a model, that weights of many features for each of many classes are large."""
    n_bytes = twin_of(estimator)._n_bytes(form)
    if form.n_outputs == 1 or n_bytes < MUCH or vars(estimator).get("_warned_of_weights"):
        return
    estimator._warned_of_weights = True
    warn(
        f"{type(estimator).__name__} keeps weights of {form.n_features:,} features for each of "
        f"{form.n_outputs} classes: {n_bytes / 1e9:.2g} gigabytes, and more if more classes come. "
        "Fewer features take less: TableEncoder(slots=...), --slots on the command line",
        UserWarning,
    )


def warn_of_degeneration(estimator: Any) -> None:
    """Warn, once, that samples were skipped because no variance was left in their direction."""
    n_degenerate = estimator._model.space.n_degenerate
    if n_degenerate and not estimator._warned:
        estimator._warned = True
        warn(
            f"the covariance has degenerated: {n_degenerate} samples were skipped because no "
            "variance was left in their direction. With CWClassifier, noisy labels cause this: "
            "use SCWClassifier or AROWClassifier. With those, scale the features, raise r or "
            "lower the confidence.",
            ConvergenceWarning,
        )


@estimator
class SecondOrderEstimator(LinearEstimator):
    """Mixin of learners with a covariance of the weights; a subclass says what the steps are."""

    covariance: Literal["diagonal", "full", "shared"] = "diagonal"

    @property
    def _takes_wide(self) -> bool:  # type: ignore[override]
        return self.covariance == "diagonal"

    def _n_bytes(self, form: Form) -> int:
        # Each weight has at least a variance.
        weights = super()._n_bytes(form)
        return weights + WEIGHT_BYTES * form.n_features * form.n_outputs

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        self._warned = False
        if self.covariance != "diagonal":
            check_memory(self.covariance, n_outputs, X.shape[1] + bool(self.fit_intercept))
        return SecondOrderSpace(*self._linear(X, n_outputs), self.covariance)

    def _finish(self) -> None:
        warn_of_degeneration(self)

    @property
    def covariance_(self) -> Floats:
        """Covariances of the last weights: (n_outputs, n), (n_outputs, n, n) or (1, n, n)."""
        return self._read(lambda space: space.covariance.to_array())

    def leverage(self, X: Samples) -> Floats:
        """Return ``x' S x`` of samples: the variance of their scores.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            The mean of those of the classes, where each has its own S.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        rows = validate_data(self, X, dtype=self._fitted_model.dtype, reset=False)
        covariances = self.covariance_
        n_features = rows.shape[1]
        constant = covariances.shape[-1] > n_features
        if covariances.ndim == 2:
            mean = covariances.mean(axis=0)
            squares = rows.multiply(rows) if sp.issparse(rows) else rows * rows
            found = squares @ mean[:n_features]
            return np.asarray(found + mean[-1] if constant else found, dtype=np.float64)
        mean = covariances.mean(axis=0)
        rows = rows.toarray() if sp.issparse(rows) else rows
        if constant:
            rows = np.column_stack([rows, np.ones(len(rows))])
        return np.einsum("ij,ij->i", rows @ mean, rows)
