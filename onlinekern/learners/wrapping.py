"""Bases of learners around another learner, whose attributes and predictions they pass on."""

from collections.abc import Callable
from typing import Any

from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.contract import Learner
from onlinekern.estimators.savable import Savable
from onlinekern.estimators.scikit_learn import BaseEstimator, available_if
from onlinekern.estimators.types import Array, Floats, Sample, Samples
from onlinekern.preprocessing.steps import BeforeCallWithin, learner_of, states_of


def learner_has(method: str) -> Callable[[Any], bool]:
    """Return a check for `available_if`: whether the learner has a method."""
    return lambda model: hasattr(model._learner, method)


class LearnerAround(Savable, MetaEstimatorMixin, BaseEstimator):
    """Base of learners around another, their parameter `estimator`; `estimator_` learns."""

    estimator: Any

    @property
    def _learner(self) -> Any:
        """The learner: the one that learns, or the parameter before anything has been learnt."""
        return vars(self).get("estimator_", self.estimator)

    @property
    def _learnt(self) -> Any:
        """The learner that learns; NotFittedError before anything has been learnt."""
        check_is_fitted(self)
        return self.estimator_

    def _learner_of_rows(self) -> Any:
        """Return the learner if it may be taught a single row as it is; else None."""
        learner = vars(self).get("estimator_")
        if not isinstance(learner, Learner) or "_waiting_parameters" in vars(self):
            return None
        # A race that waits for its second class has neither a model nor labels.
        return learner if "_model" in vars(learner) else None

    def _states_before(self) -> list[BeforeCallWithin]:
        """Return the states of those learners that are ours, which are taught in their place."""
        return states_of(vars(self).get("estimator_"), vars(self).get("_rival"))

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Features of a sample."""
        return int(self._learnt.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:  # type: ignore[override]
        """Names of the features, where the learner knows them."""
        return self._learnt.feature_names_in_

    def predict(self, X: Samples) -> Array:
        """Predict samples, as the learner does.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_targets) of several targets
        """
        return self._learnt.predict(X)

    @available_if(learner_has("score_one"))
    def score_one(self, x: Sample) -> float | Floats:
        """Score one sample, as the learner does.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict

        Returns
        -------
        float, or ndarray of shape (n_classes,) with more than two classes

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If x has not `n_features_in_` finite features.
        """
        return self._learnt.score_one(x)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = get_tags(self._learner)
        tags.input_tags = learner.input_tags
        tags.target_tags.multi_output = learner.target_tags.multi_output
        return tags


class OfClasses:
    """Mixin of learners around another one that may be a classifier: attributes of classes."""

    _learner: Any
    _learnt: Any

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self._learnt.classes_

    @available_if(learner_has("predict_proba"))
    def predict_proba(self, X: Samples) -> Floats:
        """Predict the probabilities of the classes, as the learner does.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._learnt.predict_proba(X)

    @available_if(learner_has("decision_function"))
    def decision_function(self, X: Samples) -> Floats:
        """Score samples, as the learner does.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._learnt.decision_function(X)

    @property
    def _takes_labels_up(self) -> bool:
        return getattr(learner_of(self._learner), "_takes_labels_up", False)
