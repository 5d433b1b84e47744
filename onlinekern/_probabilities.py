"""Probabilities of classes, of models learnt with the logistic loss."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.utils.metaestimators import available_if

from onlinekern._typing import Floats, Function, Samples


def _logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        raise AttributeError(f"probabilities need loss='logistic', got loss={estimator.loss!r}")
    return True


_if_logistic: Callable[[Function], Function] = available_if(_logistic)


class LogisticProbabilities:
    """Mixin of classifiers that may have the logistic loss."""

    multi_class: str
    _scores: Callable[[Samples], Floats]

    @_if_logistic
    def predict_proba(self, X: Samples) -> Floats:
        """Probabilities of the classes, of a model learnt with the logistic loss.

        Two classes: ``1 / (1 + exp(-f))``. More: the softmax of the scores with
        ``multi_class='margin'``; the same of each class's own problem, made to sum to 1, with
        'ovr'.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        return softmax(log_expit(scores) if self.multi_class == "ovr" else scores, axis=1)
