"""Classification: labels, predictions, probabilities, and the heads of the core."""

import datetime
from collections.abc import Hashable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp

from onlinekern.core import HEADS
from onlinekern.core.learning.labels import class_numbers
from onlinekern.estimators.array_types import plain_targets
from onlinekern.estimators.atomic import UndoneOnFailure, fit_method, lock_of
from onlinekern.estimators.calibration import Calibration, SoftmaxCalibration, calibration_of
from onlinekern.estimators.class_weights import balance, factor_of, factor_of_balance, factors_of
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.savable import operations, require
from onlinekern.estimators.scikit_learn import ClassifierMixin
from onlinekern.estimators.table_errors import check_labels
from onlinekern.estimators.types import Array, ArrayLike, Classes, Floats, Sample, Samples, Weights
from onlinekern.estimators.validation import (
    are_whole,
    goes_by_names,
    has_more,
    labels_in,
    labels_of,
    learn_encoded,
    learn_row,
    own_weight,
    refused,
    same_labels,
)

# Ways to learn several classes whose probabilities are the softmax of the scores, if the loss is
# the logistic one.
OF_SOFTMAX = ("margin", "softmax")


@estimator
class Classifier(ClassifierMixin, Learner):
    """Base of classifiers of two classes or more."""

    class_weight: dict[Any, float] | Literal["balanced"] | None = None
    multi_class: Literal["ovr", "margin"] = "ovr"

    # If true, a new label in a stream becomes a class without being announced.
    _takes_labels_up: ClassVar[bool] = False
    # That of a calibration, where scores are shares of the classes.
    _floor: ClassVar[float] = 0.0

    def decision_function(self, X: Samples) -> Floats:
        """Score samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, > 0 is ``classes_[1]``; with more, the largest wins.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def score(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> float:
        """Return the share of the samples whose label is predicted.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        return super().score(X, plain_targets(y), sample_weight)

    def predict(self, X: Samples) -> Array:
        """Predict the labels of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        winners = self._winners(self._scores(X))
        return self.classes_[winners]

    def _winners(self, scores: Array) -> Any:
        """Return class numbers from scores."""
        return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)

    @property
    def calibration_(self) -> Calibration | SoftmaxCalibration | None:
        """What makes `predict_proba` of scores, and how many samples it fits.

        None if the scores have a link of their own.
        """
        model = self._fitted_model
        if self._has_link():
            return None
        with model.reading():
            return calibration_of(model, self._floor)

    def predict_proba(self, X: Samples) -> Floats:
        """Predict the probabilities of the classes.

        Every learner of a stream is calibrated (`calibration_`). Two classes have ``1 / (1 +
        exp(-a f - b))``, with a and b for f > 0 and others for f <= 0. More have the softmax of ``a
        f_k + b_k``, with a for f_k > 0 and another for f_k <= 0, where the class of the largest f_k
        has an offset of its own, and b_k of the others falls with the logarithm of how rare they
        are. So the predicted class is the likeliest, and what scores do not tell, the shares of the
        classes do.

        The numbers are fitted, as in [1]_, to the last 512 scores that samples had before they
        were learnt; from the 512th sample on every fourth sample counts. `fit` counts the first of
        its passes only. With few samples the probabilities stay near the shares of the classes.
        They are of classes as they come: a class weight changes the scores, and the calibration
        undoes this as far as the likeliest class stays what `predict` says. Where a f + b is beyond
        log(4 n + 1), of n scores kept, it grows with its logarithm only: no score is taken for
        certain. The scores of `StreamClassifier` are shares of the classes: there f is the
        logarithm of the odds of a share (of several classes, of a share over an equal one).

        With the logistic loss, OLLA, which learns in batches, has the loss's own link: two classes
        have ``1 / (1 + exp(-f))``; more have the softmax of the scores with
        ``multi_class='softmax'`` or 'margin', or the same of each class's own problem, made to sum
        to 1, with 'ovr'.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The classes are in the order of `classes_`.

        References
        ----------
        .. [1] J. C. Platt (2000). Probabilities for SV machines. Advances in Large Margin
           Classifiers, 61-74.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Samples) -> Floats:
        """Predict the logarithms of `predict_proba`, of tiny probabilities too.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        model = self._fitted_model
        with model.reading():
            scores = self._scores(X)
            calibration = None if self._has_link() else calibration_of(model, self._floor)
        if calibration is not None:
            return calibration.log_proba(scores)
        if scores.shape[1] == 1:
            return log_expit(np.column_stack([-scores, scores]))
        if self._has_softmax():
            return log_softmax(scores, axis=1)
        each = log_expit(scores)
        return each - logsumexp(each, axis=1, keepdims=True)

    def _has_softmax(self) -> bool:
        """Return whether the model learns the scores of all classes together."""
        return type(self._fitted_model.head) in map(HEADS.get, OF_SOFTMAX)

    def _has_link(self) -> bool:
        """Return whether scores have a link to probabilities that needs no calibration."""
        return getattr(self, "loss", None) == "logistic"

    @property
    def n_mistakes_(self) -> int:
        """Number of samples whose prediction, made before they were learnt, was wrong."""
        return self._fitted_model.n_mistakes

    def _labels(self, y: Any) -> Any:
        check_labels(y)
        return labels_in(y)

    def _encode(self, y: Any, labels: Any) -> Any:
        """Return y as class numbers, float64, and note the labels."""
        noted = self.__sklearn_is_fitted__() and labels is self.classes_
        numbers = class_numbers(y, labels)
        if numbers is not None and (noted or are_whole(labels)):
            if not noted:
                self._note_classes(labels)
            return numbers
        # Once there are labels of the same kind, a target that is none of them is an unknown label.
        if not noted or y.dtype.kind != labels.dtype.kind:
            check_labels(y)
        numbers = np.searchsorted(labels, y)
        known = labels[np.minimum(numbers, len(labels) - 1)] == y
        if not np.all(known):
            raise ValueError(
                f"y holds labels that are not among the classes {labels}: {np.unique(y[~known])}. "
                "partial_fit learns those that its argument `classes` names, old and new ones"
            )
        if not noted:
            self._note_classes(labels)
        return numbers.astype(np.float64)

    def _weigh(self, y: Any, weight: Any, whole: bool = False) -> Any:
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str):
            factors = self._balanced(y, weight, whole)
        else:
            more_may_come = self._takes_labels_up and not whole
            factors = factors_of(self.class_weight, self.classes_, more_may_come)
            factors = factors[y.astype(np.intp)]
        return factors if weight is None else factors * weight

    def _renew_parameters(self, before: dict[str, Any]) -> None:
        if isinstance(self.class_weight, dict):
            # The labels may be those of the next `fit`.
            factors_of(self.class_weight, self.classes_, more_may_come=True)
        super()._renew_parameters(before)

    def _balanced(self, y: Any, weight: Any, whole: bool) -> Floats:
        """Return the factors of 'balanced', and note the counts of the classes."""
        counts = self._counts(begun=not whole and self.__sklearn_is_fitted__())
        if len(y) == 1 and not whole:
            counted = weight is None or weight[0] > 0
            factor, self._class_counts = factor_of_balance(y[0], counts, counted)
            return np.array([factor])
        counted = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        factors, self._class_counts = balance(y, counts, counted)
        if whole:
            of_class = np.maximum(1, self._class_counts)[y.astype(np.intp)]
            factors = self._class_counts.sum() / (len(self.classes_) * of_class)
        return factors

    def _counts(self, begun: bool = True) -> Any:
        """Return how many samples of each class have come, if some have."""
        counts = self.__dict__.get("_class_counts") if begun else None
        return np.zeros(len(self.classes_), dtype=np.int64) if counts is None else counts

    def _weigh_one(self, number: float, weight: float) -> tuple[float, Any]:
        """Return the weight of one sample, and the counts of classes after it, if they are kept."""
        if not isinstance(self.class_weight, str):
            weights: Any = self.class_weight
            return weight * factor_of(weights, self._numbers, number, self._takes_labels_up), None
        factor, counts = factor_of_balance(number, self._counts(), weight > 0)
        return weight * factor, counts

    def _check_loaded(self) -> None:
        if "_model" not in vars(self):
            return
        labels: Any = vars(self).get("classes_")
        require(isinstance(labels, np.ndarray) and labels.ndim == 1, "its classes are no labels")
        outputs = 1 if len(labels) == 2 else len(labels)
        fits = len(labels) > 1 and outputs == self._model.head.n_outputs
        require(fits, "it has other classes")
        require(np.array_equal(np.unique(labels), labels), "its classes do not ascend")
        self._note_classes(labels)

    def _note_classes(self, labels: Array) -> None:
        self.classes_ = labels
        self._numbers = {label: float(k) for k, label in enumerate(labels.tolist())}

    def _decode(self, predictions: Any) -> Any:
        return self.classes_[predictions.astype(np.intp)]

    def _n_labels(self) -> int:
        return len(self.classes_)

    def _head(self) -> Any:
        if len(self.classes_) == 2:
            return HEADS["binary"]()
        return HEADS[self.multi_class](len(self.classes_))


@estimator
class OnlineClassifier(Classifier):
    """Base of classifiers that learn from a stream."""

    def _has_link(self) -> bool:
        # Steps are too large at first, or too small: the logistic link is one of optima.
        return False

    @fit_method
    def partial_fit(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Self:
        """Learn one pass over a batch, in its order.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that may come, needed in the first call. More labels in a later call are
            taken up: what has been learnt is kept, and the new classes begin at the score -1 where
            there is an intercept (and classes are learnt one against the rest), else at 0.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._partial_fit(X, y, self._classes(classes), sample_weight)
        return self

    @fit_method
    def partial_fit_predict(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Array:
        """Predict each sample, then learn it: `partial_fit` that tests first.

        Parameters
        ----------
        X, y, classes, sample_weight
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self._partial_fit(X, y, self._classes(classes), sample_weight)

    @fit_method
    def _partial_fit_scores(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Floats:
        """Score each sample, then learn it; return the scores, (n_samples, n_outputs).

        All labels in y must be among those known, or in `classes`.
        """
        return self._partial_fit(X, y, self._classes(classes), sample_weight, scored=True)

    def learn_one(
        self, x: Sample, y: Any, classes: Classes = None, sample_weight: float = 1.0
    ) -> Self:
        """Learn one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).
        y : label
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`; needed when this is the first call, or when there are more.
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, y is none of `classes_`, or the weight is
            negative or not finite.
        """
        attributes = self.__dict__
        model = attributes.get("_model")
        if (
            model is None or "_warm_up" in attributes or "encoder_" in attributes
            or "_waiting_parameters" in attributes
            or (type(x) is not np.ndarray and goes_by_names(attributes, x))
        ):  # fmt: skip
            return self._learn_row_of_table(x, y, classes, sample_weight)
        if classes is not None and has_more(classes, self.classes_):
            return learn_row(self, x, [y], classes, own_weight(sample_weight))
        try:
            number = self._numbers[y]
        except (KeyError, TypeError):
            number = self._number_of_date(y)
        try:
            if self.class_weight is not None or self._calls_blas:
                self._learn_number(x, number, sample_weight)
            else:
                model.learn_one(x, number, sample_weight)
        except (TypeError, ValueError) as error:
            own = own_weight(sample_weight)
            if isinstance(x, dict):  # The core takes none.
                return learn_row(self, x, [y], classes, own)
            raise refused(self, x, error) from None
        return self

    def _learn_row_of_table(self, x: Any, y: Any, classes: Any, weight: float) -> Self:
        """Learn one sample whose columns have names, or the first ones."""
        own = vars(self).keys()
        # What waits is said once, by a call that succeeds.
        encodes = {"_model", "encoder_"} <= own and not {"_warm_up", "_waiting_parameters"} & own
        if not encodes or (classes is not None and has_more(classes, self.classes_)):
            return learn_row(self, x, [y], classes, own_weight(weight))
        known = isinstance(y, Hashable) and y in self._numbers
        number = self._numbers[y] if known else self._number_of_date(y)
        return learn_encoded(self, x, lambda row: self._learn_number(row, number, weight))

    def _learn_number(self, x: Any, number: float, weight: float) -> None:
        """Learn one sample of the class of a number, with the weight of that class."""
        if self.class_weight is None:
            super()._learn_number(x, number, weight)
            return
        with lock_of(self), UndoneOnFailure(self._model):
            factor, counts = self._weigh_one(number, weight)
            super()._learn_number(x, number, factor)
            if counts is not None:
                self._class_counts = counts

    def _number_of_date(self, y: Any) -> Any:
        """Return the class number of a label that is not in the dictionary: a date, or no class.

        Equal dates of different units may have different hashes.
        """
        kinds = {"M": (np.datetime64, datetime.date), "m": (np.timedelta64, datetime.timedelta)}
        if isinstance(y, kinds.get(self.classes_.dtype.kind, ())):
            date = np.array(y, dtype=self.classes_.dtype.kind + "8")
            same = np.flatnonzero(self.classes_ == date)
            if len(same):
                return float(same[0])
        raise ValueError(f"y is {y!r}, which is none of the classes {self.classes_}")

    def _classes(self, classes: Classes) -> Any:
        """Return the labels, at the first call from `classes`."""
        fitted = self.__sklearn_is_fitted__()
        if fitted and (classes is None or same_labels(classes, self.classes_)):
            return self.classes_
        labels = None if classes is None else labels_of(classes)
        if fitted and labels is not None and has_more(labels, self.classes_):
            self._take_up(labels)
            return self.classes_
        if not fitted:
            self.__dict__.pop("classes_", None)
        if not hasattr(self, "classes_"):
            if labels is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_ = labels
        elif labels is not None and not np.array_equal(self.classes_, labels):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return self.classes_

    def _take_up(self, labels: Array) -> None:
        """Go on with more classes."""
        before = self.classes_
        self._note_classes(labels)
        if hasattr(self, "_weigh_classes"):
            self._weigh_classes(None)
        head = self._head()
        self._check_growth(head)
        try:
            self._model = self._grown_model(before, labels, head)
        except TypeError:
            raise ValueError(
                f"{type(self).__name__} cannot take up classes in mid-stream: it began with "
                f"{before}. Give all labels, {labels}, in the first call of partial_fit"
            ) from None
        self._renumber(np.searchsorted(labels, before))

    def _grown_model(self, before: Array, labels: Array, head: Any) -> Any:
        """Return the model with the outputs of this head, for more labels."""
        return operations().grow_model(self._model, before, labels, head)

    def _renumber(self, numbers: Any) -> None:
        super()._renumber(numbers)
        if "_class_counts" in vars(self):
            counts = np.zeros(len(self.classes_), dtype=np.int64)
            counts[numbers] = self._class_counts
            self._class_counts = counts
