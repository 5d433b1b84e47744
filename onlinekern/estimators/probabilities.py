"""Probabilities of classes: by the logistic link, or by a calibration that the stream keeps."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp

from onlinekern.estimators.calibration import IDENTITY, Calibration, calibration_of
from onlinekern.estimators.types import Floats, Samples


class Probabilities:
    """Mixin of classifiers."""

    multi_class: str
    _scores: Callable[[Samples], Floats]
    _fitted_model: Any

    @property
    def calibration_(self) -> Calibration | None:
        """What `predict_proba` makes of scores: slopes, offset, samples that they were fitted to.

        None with ``loss='logistic'``, whose scores have a link of their own.
        """
        model = self._fitted_model
        if self._is_logistic():
            return None
        with model.reading():
            return calibration_of(model)

    def predict_proba(self, X: Samples) -> Floats:
        """Probabilities of the classes.

        With ``loss='logistic'`` they follow from the scores by the loss's own link: two classes,
        ``1 / (1 + exp(-f))``; more, the softmax of the scores with ``multi_class='margin'``, or the
        same of each class's own problem, made to sum to 1, with 'ovr'. Every other learner is
        calibrated (`calibration_`): two classes have ``1 / (1 + exp(-a f))`` with one a for f > 0
        and another for f < 0, more have ``1 / (1 + exp(-a f_k - b))``, made to sum to 1.

        The two numbers are fitted (after Platt) to the last 512 scores that samples had before they
        were learnt; from the 512th sample on every fourth sample counts. `fit` counts the first of
        its passes only. With few samples the probabilities stay near those that know nothing. They
        are of classes as they come: a class weight changes the scores, and so is undone. The
        likeliest class is what `predict` says.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The classes are in the order of `classes_`.

        References
        ----------
        J. Platt (2000). Probabilities for SV machines. Advances in Large Margin Classifiers.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Samples) -> Floats:
        """Logarithms of what `predict_proba` gives, of tiny probabilities too.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        model = self._fitted_model
        logistic = self._is_logistic()
        with model.reading():
            scores = self._scores(X)
            calibration = IDENTITY if logistic else calibration_of(model)
        single, scores = scores.shape[1] == 1, calibration.of(scores)
        if single:
            return log_expit(scores, out=scores)
        if logistic and self.multi_class == "margin":
            return log_softmax(scores, axis=1)
        each = log_expit(scores)
        return each - logsumexp(each, axis=1, keepdims=True)

    def _is_logistic(self) -> bool:
        return getattr(self, "loss", None) == "logistic"
