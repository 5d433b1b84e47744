"""Classifiers whose classes may be learnt pair by pair, and whose probabilities are asked for."""

from typing import Any, Literal

import numpy as np

from onlinekern.core.learning.heads import OneVsOne
from onlinekern.estimators.classification import Classifier
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.scikit_learn import available_if
from onlinekern.estimators.types import Floats, Sample, Samples


def has_probabilities(estimator: Any) -> bool:
    """Return whether probabilities were asked for; raise AttributeError if not."""
    if estimator.solver == "smo" and not estimator.probability:
        raise AttributeError(
            "probabilities of solver='smo' cost further steps in fit: set probability=True"
        )
    return True


@estimator
class PairwiseClassifier(Classifier):
    """Mixin of classifiers that score by votes of pairs with ``multi_class='ovo'``."""

    multi_class: Literal["ovr", "margin", "softmax", "ovo"] = "ovr"  # type: ignore[assignment]
    probability: bool = False
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"

    def _scores(self, X: Any) -> Floats:
        return self._strengths(super()._scores(X))

    def _strengths(self, scores: Any) -> Any:
        head: Any = self._fitted_model.head
        return head.strengths(scores) if isinstance(head, OneVsOne) else scores

    def decision_function(self, X: Samples) -> Floats:
        """Score samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            With two classes, > 0 is ``classes_[1]``; with more, the largest wins. With
            ``multi_class='ovo'`` these are votes, and what decides between equal ones, or, with
            ``decision_function_shape='ovo'``, the scores of the pairs of classes (0, 1), (0, 2),
            ... (1, 2), ...: > 0 is the first class.
        """
        if self.decision_function_shape == "ovo" and isinstance(self._fitted_model.head, OneVsOne):
            return super()._scores(X)
        return super().decision_function(X)

    def score_one(self, x: Sample) -> float | Floats:
        score = super().score_one(x)
        if not isinstance(self._fitted_model.head, OneVsOne):
            return score
        return self._strengths(np.atleast_2d(score))[0]

    @available_if(has_probabilities)
    def predict_proba(self, X: Samples) -> Floats:
        return super().predict_proba(X)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Samples) -> Floats:
        return super().predict_log_proba(X)

    score_one.__doc__ = Classifier.score_one.__doc__
    predict_proba.__doc__ = Classifier.predict_proba.__doc__
    predict_log_proba.__doc__ = Classifier.predict_log_proba.__doc__
