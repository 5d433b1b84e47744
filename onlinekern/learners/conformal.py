"""Conformal prediction along a stream: intervals and sets of labels around any learner."""

from collections.abc import Hashable
from math import isfinite
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.array_types import column_of_labels, plain_targets
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.coverage import ClassCoverage, Coverage, TargetCoverage
from onlinekern.estimators.parameters import positional_estimator
from onlinekern.estimators.savable import require
from onlinekern.estimators.scikit_learn import ClassifierMixin, RegressorMixin
from onlinekern.estimators.several_targets import finite_target, finite_targets, number_of_targets
from onlinekern.estimators.types import Array, ArrayLike, Classes, Floats, Sample, Samples, Weights
from onlinekern.estimators.validation import (
    NUMBERS,
    are_plain_targets,
    columns_of_targets,
    labels_in,
    learn_row,
    own_weight,
)
from onlinekern.learners.ahead import (
    Lesson,
    edges_of,
    is_own,
    of_scores,
    predict_ahead,
    strangeness,
    strangeness_ahead,
)
from onlinekern.learners.conformal_base import Conformal, len_of
from onlinekern.learners.wrapping import OfClasses
from onlinekern.preprocessing.steps import learner_of


@positional_estimator
class ConformalRegressor(RegressorMixin, Conformal):
    """Regression with intervals that cover the target as often as asked, on any stream.

    A regressor predicts, and the interval is its prediction plus and minus a threshold. The
    threshold is a quantile of the last errors, each taken before its sample was learnt. The level
    of the quantile is corrected after each sample, by whether the interval covered the target
    (adaptive conformal inference [1]_). Levels at eight rates are averaged, with weights by their
    losses [2]_. So the coverage holds on streams that drift, for any targets and any learner.

    With several targets, if the regressor learns them, each has its own interval and coverage. All
    targets of a sample together are covered less often.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A regressor with `partial_fit` and `predict`, of this library, of scikit-learn or with the
        same methods. It is cloned, not changed. None: a `StreamRegressor`.
    coverage : float in (0, 1), default=0.9
        Share of the targets that the intervals should cover.

    Attributes
    ----------
    estimator_ : estimator
        The regressor that learns.
    coverage_ : float, or ndarray of shape (n_outputs,) of several targets
        Share of the samples so far that were covered by their interval, made before they were
        learnt; NaN before the first interval.
    threshold_ : float, or ndarray of shape (n_outputs,)
        Half the current width of the intervals.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the regressor has it.

    Notes
    -----
    The last 512 errors count; with more than 98 % coverage, the last ``10 / (1 - coverage)``, at
    most 65,536. Until there are ``1 / (1 - coverage) - 1`` of them, intervals are infinite. Later
    an interval exceeds the largest of these errors by at most about a fifth of their range. A
    sample of weight 0 does not count; any other counts once. Intervals do not depend on how a
    stream is divided into calls, if predictions do not.

    A regressor of this library learns a call at once. Another one predicts and learns row by row,
    on a copy, so that a failed call changes nothing.

    This is algorithm 1 of [2]_, with two changes. It uses the mean of the levels instead of a drawn
    one, plus a correction that follows what intervals have missed. And levels go down to
    ``coverage - 1``, where intervals are wider than the largest error, so that the coverage holds
    even if each error is the largest so far.

    `KernelRLSRegressor` has its own intervals, for any coverage, which are wider where it knows
    less.

    References
    ----------
    .. [1] I. Gibbs, E. Candès (2021). Adaptive conformal inference under distribution shift.
       Advances in Neural Information Processing Systems 34, 1660-1672.
    .. [2] I. Gibbs, E. Candès (2024). Conformal inference for online prediction with arbitrary
       distribution shifts. Journal of Machine Learning Research 25, 1-36.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import ConformalRegressor, KernelOGDRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (3000, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(3000)
    >>> y[1500:] *= -1  # the stream changes
    >>> model = ConformalRegressor(KernelOGDRegressor(gamma=1.0), coverage=0.9)
    >>> lower, upper = model.partial_fit_interval(X, y)
    >>> bool(abs(np.mean((lower <= y) & (y <= upper)) - 0.9) < 0.01)
    True
    >>> lower, upper = model.predict_interval(X[:5])
    """

    _ahead = "partial_fit_predict"
    _several = TargetCoverage

    @fit_method
    def fit(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn from scratch: the samples once, in their order, each predicted before.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            What the regressor takes.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) of several targets
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the regressor; None is 1 for every sample.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X, y or sample_weight are invalid.
        """
        self._learn(self._lesson(X, y, sample_weight, whole=True), start=True)
        return self

    @fit_method
    def partial_fit(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn samples in their order, each predicted before.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self : object
        """
        self._go_on(X, y, sample_weight)
        return self

    @fit_method
    def partial_fit_predict(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Array:
        """Predict each sample, then learn it: `partial_fit` that tests first.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs)
            0 where a regressor of another library had learnt nothing yet.
        """
        return np.nan_to_num(self._go_on(X, y, sample_weight)[0], nan=0.0)

    @fit_method
    def partial_fit_interval(
        self, X: Samples, y: ArrayLike, sample_weight: Weights = None
    ) -> tuple[Array, Array]:
        """Tell the interval of each sample, then learn it: `partial_fit` that tests first.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples,) or (n_samples, n_outputs)
        """
        return around(*self._go_on(X, y, sample_weight))

    def learn_one(self, x: Sample, y: Any, sample_weight: float = 1.0) -> Self:
        """Learn one sample, predicted before, as `partial_fit` does.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array of floats.
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
        weight, followed = own_weight(sample_weight), vars(self).get("_coverage")
        if np.shape(y) == (1,):
            y = y[0]
        if followed is None and np.ndim(y):  # They tell how many there are.
            return learn_row(self, x, [y], weight)
        if isinstance(followed, TargetCoverage):
            target: Any = finite_targets(y, len(followed.each))
        else:
            target = finite_target(y)
        if self._learn_row(x, target, sample_weight) is not None:
            return self
        return learn_row(self, x, [target], weight)

    def predict_interval(self, X: Samples, coverage: float | None = None) -> tuple[Array, Array]:
        """Predict intervals that hold the targets of a share `coverage` of the samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        coverage : float or None, default=None
            Nothing but the parameter of the same name, which None stands for: it has been followed
            along the stream.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples,) or (n_samples, n_outputs)
            An interval for each target of a sample. Infinite as long as too few errors are known.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X is invalid, or it is another coverage.
        """
        predicted = self.predict(X)
        self._check_coverage(coverage)
        return around(predicted, self._coverage.threshold)

    def _go_on(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Floats]:
        """Learn samples; return the predictions before, and the thresholds."""
        one = type(vars(self).get("_coverage")) is Coverage and self._is_row(X, y)
        if one and sample_weight is None and are_plain_targets(y, 1, NUMBERS):
            found = self._learn_row(X[0], float(y[0]))
            if found is not None:
                return found[0][:, 0], found[1]
        lesson = self._lesson(X, y, sample_weight)
        return self._learn(lesson, start=not self.__sklearn_is_fitted__())

    def _lesson(self, X: Any, y: Any, sample_weight: Any, whole: bool = False) -> Lesson:
        if are_plain_targets(y, len_of(X), NUMBERS):
            y = y.astype(np.float64, copy=False)
        else:
            y = columns_of_targets(y)
        return Lesson.of(X, y, sample_weight, whole=whole)

    def _learn(self, lesson: Lesson, start: bool) -> tuple[Any, Floats]:
        if not start:
            followed = self._coverage
            number_of_targets(lesson.y, len(followed.each) if self._follows_several else 1)
        return super()._learn(lesson, start)

    @property
    def n_outputs_(self) -> int:
        """Targets of a sample."""
        check_is_fitted(self)
        return len(self._coverage.each) if self._follows_several else 1

    @property
    def threshold_(self) -> Any:
        """Half the width of the intervals now; infinite as long as too few errors are known."""
        found = np.maximum(super().threshold_, 0.0)
        return found if self._follows_several else float(found)

    @property
    def _follows_several(self) -> bool:
        return isinstance(vars(self).get("_coverage"), TargetCoverage)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self._follows_several:
            n = len(self._coverage.each)
            n_targets = getattr(learner_of(self.estimator_), "n_outputs_", n)
            require(n_targets == n > 1, "its coverage is of other targets")

    def _new_coverage(self, learner: Any, lesson: Lesson) -> Any:
        if lesson.y.ndim > 1:
            # Others say so themselves: not all that learn several have the tag.
            if is_own(learner) and not get_tags(learner).target_tags.multi_output:
                raise ValueError(
                    f"y must hold one target of each sample, as {type(learner).__name__} learns "
                    f"no more, got {lesson.y.shape[1]}"
                )
            return TargetCoverage(self.coverage, lesson.y.shape[1])
        return super()._new_coverage(learner, lesson)

    def _answers(self, learner: Any, lesson: Lesson, edges: list[int]) -> tuple[Any, Floats, Any]:
        predicted = predict_ahead(learner, lesson)
        errors = np.abs(lesson.y - predicted)
        # No interval is narrower than its middle (`around`).
        return predicted, errors, errors == 0

    def _score_of(self, scores: Floats, number: Any) -> tuple[Any, Any]:
        errors = np.abs(number - scores[0])
        if self._follows_several:
            return errors, errors == 0
        return float(errors[0]), bool(errors[0] == 0)

    def _default(self) -> Any:
        from onlinekern.learners.race.stream import StreamRegressor

        return StreamRegressor()


def around(predicted: Floats, threshold: Any) -> tuple[Floats, Floats]:
    """Return the intervals of this half width around predictions, where there are none, all."""
    if predicted.size == 1 and isfinite(predicted.flat[0]):  # a row has no time for what follows
        half = np.maximum(threshold, 0.0)
        return predicted - half, predicted + half
    width = np.where(np.isnan(predicted), np.inf, np.maximum(threshold, 0.0))
    middle = np.nan_to_num(predicted, nan=0.0)
    return middle - width, middle + width


@positional_estimator
class ConformalClassifier(OfClasses, ClassifierMixin, Conformal):  # type: ignore[override]
    """Classification with sets of labels that contain the true one as often as asked.

    A classifier scores the classes, and the set holds the labels whose negative scores are at most
    a threshold. The threshold is a quantile of the negative scores of the true labels, taken before
    their samples were learnt. The level of the quantile is corrected after each sample, by whether
    the set contained the label (adaptive conformal inference [1]_). Levels at eight rates are
    averaged, with weights by their losses [2]_. So the coverage holds on streams that drift. A set
    of one label is a sure answer; a set of several says which ones are possible.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A classifier with `partial_fit` and `predict`, of this library, of scikit-learn or with the
        same methods. It is cloned, not changed. None: a `StreamClassifier`.
    coverage : float in (0, 1), default=0.9
        Share of the samples whose set should contain the label.
    allow_empty : bool, default=True
        Whether sets may be empty. If a classifier is right more often than `coverage`, empty sets
        for samples unlike those learnt keep the coverage exact. False: the predicted label is
        always in the set, and coverage may be higher.
    by_class : bool, default=False
        Whether coverage holds in each class, over the samples with its label. False: it holds over
        all samples, so those of a rare class may never be covered. True: each class has its own
        threshold, from the scores of its own samples (class-conditional, or Mondrian, conformal
        prediction [3]_), and is in every set until there are enough of them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    estimator_ : estimator
        The classifier that learns.
    coverage_ : float
        Share of the samples so far whose set, made before they were learnt, contained the label;
        NaN before the first set.
    class_coverage_ : ndarray of shape (n_classes,)
        The same for each class; NaN for classes that have had no threshold yet. Only with
        `by_class`.
    threshold_ : float
        The current threshold of negative scores. With `by_class` that of each class, an ndarray of
        shape (n_classes,), infinite if a class has too few samples.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the classifier has it.

    Notes
    -----
    Scores are those of `decision_function`; with two classes, f and -f. For classifiers of other
    libraries, `predict_proba` is used if they have it. With neither, a set holds the predicted
    label or all labels.

    The last 512 scores count; with more than 98 % coverage, the last ``10 / (1 - coverage)``, at
    most 65,536. Until there are ``1 / (1 - coverage) - 1`` of them, sets hold all labels. A label
    that the classifier did not know when its sample came counts as not covered. A sample of weight
    0 does not count; any other counts once. Sets do not depend on how a stream is divided into
    calls, if scores do not.

    With `by_class`, all of this holds for the samples of each class. The first sample of a class is
    not informative. During the next ``1 / (1 - coverage) - 1`` samples of the class, all sets hold
    its label. From then on its threshold follows its last 512 samples. A class that was not given
    in `classes` has no column, and so is in no set, before its first sample has been learnt.

    A classifier of this library learns a call at once. Another one scores and learns row by row, on
    a copy, so that a failed call changes nothing.

    The levels are those of `ConformalRegressor`.

    References
    ----------
    .. [1] I. Gibbs, E. Candès (2021). Adaptive conformal inference under distribution shift.
       Advances in Neural Information Processing Systems 34, 1660-1672.
    .. [2] I. Gibbs, E. Candès (2024). Conformal inference for online prediction with arbitrary
       distribution shifts. Journal of Machine Learning Research 25, 1-36.
    .. [3] V. Vovk (2012). Conditional validity of inductive conformal predictors. Asian Conference
       on Machine Learning, 475-490.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import ConformalClassifier, KernelRLSClassifier
    >>> from onlinekern.streams import SEA
    >>> X, y = SEA(random_state=0).take(3000)
    >>> model = ConformalClassifier(KernelRLSClassifier(random_state=0), coverage=0.9)
    >>> sets = model.partial_fit_set(X / 10, y, classes=[0, 1])
    >>> bool(abs(np.mean(sets[np.arange(3000), y]) - 0.9) < 0.01)
    True
    >>> model.predict_set(X[:2] / 10).shape
    (2, 2)
    """

    allow_empty: bool = True
    by_class: bool = False

    _ahead = "_partial_fit_scores"
    _several = ClassCoverage
    _absent = {"by_class": False}

    @fit_method
    def fit(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn from scratch: the samples once, in their order, each scored before.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            What the classifier takes.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the classifier; None is 1 for every sample.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X, y or sample_weight are invalid, or y holds one class only.
        """
        lesson = self._lesson(X, y, None, sample_weight, whole=True)
        lesson.classes = labels_in(lesson.y)
        self._learn(lesson, start=True)
        return self

    @fit_method
    def partial_fit(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Self:
        """Learn samples in their order, each scored before.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of shape (n_classes,), default=None
            All labels that may come, for the classifier: needed in the first call, unless it takes
            labels up as they come. More labels later, where it takes them up.

        Returns
        -------
        self : object
        """
        self._go_on(X, y, classes, sample_weight)
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
        (labels, strange), _ = self._go_on(X, y, classes, sample_weight)
        return labels[strange.argmin(axis=1)]

    @fit_method
    def partial_fit_set(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Array:
        """Tell the set of each sample, then learn it: `partial_fit` that tests first.

        Parameters
        ----------
        X, y, classes, sample_weight
            As in `partial_fit`.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            The columns are in the order of `classes_`, as it is after this call.
        """
        (_, strange), thresholds = self._go_on(X, y, classes, sample_weight)
        return self._sets(strange, thresholds.reshape(len(strange), -1))

    def learn_one(
        self, x: Sample, y: Any, classes: Classes = None, sample_weight: float = 1.0
    ) -> Self:
        """Learn one sample, scored before, as `partial_fit` does.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array of floats.
        y : label
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, the classifier does not take this label,
            or the weight is negative or not finite.
        """
        weight = own_weight(sample_weight)
        number = self._number(y) if classes is None else None
        if number is not None and self._learn_row(x, number, sample_weight) is not None:
            return self
        return learn_row(self, x, [y], classes, weight)

    def predict_set(self, X: Samples) -> Array:
        """Predict sets that hold the labels of a share `coverage` of the samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            Whether a label is in the set; the columns are in the order of `classes_`.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X is invalid.
        """
        check_is_fitted(self)
        if not hasattr(self.estimator_, "classes_"):  # as long as one label has come
            return np.ones((len(self.estimator_.predict(X)), 1), dtype=bool)
        return self._sets(strangeness(self.estimator_, X), self._threshold)

    def score(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> float:
        """Return the share of the samples whose label is predicted.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        return super().score(X, plain_targets(y), sample_weight)

    @property
    def class_coverage_(self) -> Floats:
        """Share of the samples of each class that were held; only with `by_class`."""
        check_is_fitted(self)
        if not isinstance(self._coverage, ClassCoverage):
            raise AttributeError("class_coverage_ is followed with by_class=True only")
        return self._coverage.shares(self._labels())

    @property
    def _threshold(self) -> Any:
        if isinstance(self._coverage, ClassCoverage):
            return self._coverage.thresholds(self._labels())
        return self._coverage.threshold

    def _labels(self) -> Array:
        """Return the labels known; as long as one has come, the learner may not say which."""
        return getattr(self.estimator_, "classes_", self._coverage.labels)

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, Floats]:
        """Learn samples; return the labels, how strange each was before, and the thresholds."""
        if sample_weight is None and classes is None and self._is_row(X, y):
            number = self._number(y[0])
            found = None if number is None else self._learn_row(X[0], number)
            if found is not None:
                return (self.classes_, of_scores(found[0])), found[1]
        lesson = self._lesson(X, y, classes, sample_weight)
        return self._learn(lesson, start=not self.__sklearn_is_fitted__())

    def _lesson(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, whole: bool = False
    ) -> Lesson:
        if not are_plain_targets(y, len_of(X), "biuU"):
            y = column_of_labels(y)
        return Lesson.of(X, y, sample_weight, classes, whole)

    def _answers(self, learner: Any, lesson: Lesson, edges: list[int]) -> tuple[Any, Floats, Any]:
        classes, strange, told = strangeness_ahead(learner, lesson, edges)
        own = strange[np.arange(len(lesson.y)), np.searchsorted(classes, lesson.y)]
        scores = np.where(told, own, np.nan)
        held = not self.allow_empty and own == strange.min(axis=1)
        return (classes, strange), scores, held

    def _edges(self, learner: Any, lesson: Lesson) -> list[int]:
        return edges_of(learner, lesson)

    def _new_coverage(self, learner: Any, lesson: Lesson) -> Any:
        if self.by_class:
            return ClassCoverage(self.coverage)
        return super()._new_coverage(learner, lesson)

    def _take_up(
        self, coverage: Any, lesson: Lesson, answers: Any, scores: Floats, held: Any
    ) -> Floats:
        if not isinstance(coverage, ClassCoverage):
            return super()._take_up(coverage, lesson, answers, scores, held)
        labels, strange = answers
        numbers = np.searchsorted(labels, lesson.y)
        found = coverage.append(scores, lesson.counts, held, numbers, labels)
        # Where a class was unknown, it had no column.
        return np.where(strange < np.inf, found, -np.inf)

    def _take_row_up(
        self, coverage: Any, number: Any, score: float, counts: bool, held: bool
    ) -> Floats:
        if not isinstance(coverage, ClassCoverage):
            return super()._take_row_up(coverage, number, score, counts, held)
        return coverage.append_one(score, counts, held, int(number), self.classes_)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        followed = vars(self).get("_coverage")
        if isinstance(followed, ClassCoverage):
            known = np.isin(followed.labels, self._labels())
            require(bool(known.all()), "its coverage is of other classes")

    def _sets(self, strange: Floats, thresholds: Any) -> Array:
        """Return the sets of labels that are no stranger than the thresholds."""
        sets: Array = strange <= thresholds
        if not self.allow_empty:
            sets |= strange == strange.min(axis=1, keepdims=True)
        return sets

    def _number(self, y: Any) -> Any:
        """Return the number of a label that the learner knows, None of any other."""
        numbers = vars(vars(self).get("estimator_", self)).get("_numbers", {})
        return numbers.get(y) if isinstance(y, Hashable) else None

    def _score_of(self, scores: Floats, number: Any) -> tuple[float, bool]:
        strange = of_scores(scores)[0]
        own = strange[int(number)]
        return own, not self.allow_empty and own == strange.min()

    def _default(self) -> Any:
        from onlinekern.learners.race.stream import StreamClassifier

        return StreamClassifier()
