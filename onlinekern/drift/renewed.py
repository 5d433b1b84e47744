"""A learner that begins anew when its errors grow."""

import copy
from collections.abc import Hashable
from contextlib import ExitStack, suppress
from itertools import pairwise
from math import isfinite
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from onlinekern.core.learning.trials import next_pause
from onlinekern.drift.losses import DRAWS, Bounded, LossDetector
from onlinekern.drift.recent import last_copied, last_of
from onlinekern.drift.trial import LEAST_PAUSE, Attention, Course, Pair
from onlinekern.estimators.array_types import column_of_labels, plain_targets
from onlinekern.estimators.atomic import UndoneOnFailure, all_or_nothing, fit_method
from onlinekern.estimators.parameters import positional_estimator, warn_of_waiting
from onlinekern.estimators.scikit_learn import HasMethods, Interval, available_if
from onlinekern.estimators.types import (
    Array,
    ArrayLike,
    Classes,
    Floats,
    Indices,
    Sample,
    Samples,
    Weights,
)
from onlinekern.estimators.validation import (
    are_plain_targets,
    labels_in,
    learn_row,
    own_weight,
    wrong_type,
)
from onlinekern.learners.ahead import Lesson, learns_alone
from onlinekern.learners.wrapping import LearnerAround, OfClasses, learner_has
from onlinekern.preprocessing.steps import (
    BeforeCall,
    BeforeCalls,
    inner,
    learner_of,
    undone_on_failure,
)

# Least number of samples between two false alarms of the default detector, on average.
RUN_LENGTH = 100_000
# Samples that a learner learns at once; those after an alarm may be learnt in vain.
PIECE = 4096


@positional_estimator
class RenewedLearner(OfClasses, LearnerAround):
    """A learner that begins anew when a detector says that its errors have grown.

    Each sample is predicted before it is learnt, and the detector gets the mistakes, or the errors.
    At an alarm a new learner begins with the last samples, and for a while the old one learns
    beside it. The one with lower errors predicts, and is kept in the end. So after a false alarm,
    or a change that soon passes, the old learner stays.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor that learns a stream. It is cloned, not changed.
    detector : detector or None, default=None
        Has `update_many`, `alarms_` and `n_seen_`, as `LossDetector`; it is cloned. None: a
        `LossDetector` with ``run_length=100_000``.
    n_recent : int, default=20
        Number of last samples that a new learner learns first. Alarms come soon after a change, so
        most of more samples would be from before it.
    n_trial : int >= 0, default=1000
        Number of samples that both learn after an alarm, with twice the time and memory. With 0 the
        old learner is dropped at once, which has slightly lower errors if the change is permanent
        (docs/drift.md).

    Attributes
    ----------
    estimator_ : estimator
        The learner that predicts now.
    rival_ : estimator or None
        The other one, while two learn.
    detector_ : detector
    alarms_ : ndarray of shape (n_alarms,), int64
        Numbers of the samples, counted from 1, after which a new learner began.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.

    Notes
    -----
    Predictions do not depend on how a stream is divided into calls, if those of the learner do not.
    At an alarm in the middle of a call, the new learner learns the rest of it again. A sample of
    weight 0 does not count.

    In classification the detector gets 0 or 1. In regression the error e of a target, or the sum
    over several, becomes q / (q + 1) with q = sqrt(e / s), where s is the geometric mean of the
    first hundred errors that are not 0. So losses are bounded and have the ranks of e.

    If samples have weights, also by `class_weight` of the learner, the detector gets a sample with
    a probability of its weight over the largest recent one. Without this, plain mistakes would rise
    along the stream while classes are being balanced.

    Two learners are compared by weighted sums of squared errors, in which an error k samples ago
    counts 0.99^k. The new one predicts first. At an alarm during a trial, the one that predicts
    becomes the old one of the next trial.

    If errors are not exchangeable, as after outliers, alarms do not end. So after a second trial in
    a row that brought little, no other learner begins for 1,000 samples, then for 2,000, 4,000, ...
    A trial brings little if the new learner is dropped or has more than nine tenths of the old
    one's errors.

    Changes that a learner follows by itself raise no alarm. A learner that forgets anyway gains
    little (docs/drift.md).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelRLSClassifier
    >>> from onlinekern.drift import RenewedLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = (X[:, 0] > 0) ^ (np.arange(4000) >= 2000)  # the labels change sides
    >>> model = RenewedLearner(KernelRLSClassifier(random_state=0))
    >>> predicted = model.partial_fit_predict(X, y, classes=[False, True])
    >>> len(model.alarms_), bool(2000 < model.alarms_[0] < 2100)
    (1, True)
    >>> bool(np.mean(predicted[2200:] != y[2200:]) < 0.05)
    True
    """

    estimator: Annotated[Any, HasMethods(["partial_fit", "predict"])]
    detector: Annotated[Any, HasMethods(["update_many"])] | None = None
    n_recent: Annotated[int, Interval(Integral, 1, None, closed="left")] = 20
    n_trial: Annotated[int, Interval(Integral, 0, None, closed="left")] = 1000

    _learnt_as = "estimator_"
    # Parameters that do not change the current learner.
    _begins_with = frozenset({"estimator", "detector"})
    _waits_for = "with the next learner that begins, at an alarm or when it is fitted anew"

    @fit_method
    def fit(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Forget what has been learnt, then learn samples in their order, each predicted before.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_targets) of several targets
            All classes of a classifier, also for the samples before the first one of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 for the learner; None is 1 for every sample.

        Returns
        -------
        self : object
        """
        warn_of_waiting(self, start=True)
        self.__dict__.pop("estimator_", None)
        lesson = Lesson.of(X, self._targets(y), sample_weight, whole=True)
        if is_classifier(self.estimator):
            lesson.classes = labels_in(lesson.y)
        self._renew_and_learn(lesson)
        return self

    @fit_method
    def partial_fit(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Self:
        """Learn samples in their order, each predicted before.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_targets) of several targets
        classes : array-like of shape (n_classes,), default=None
            As the learner takes it; a new learner gets all that are known.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 for the learner; None is 1 for every sample.

        Returns
        -------
        self : object
        """
        self._renew_and_learn(Lesson.of(X, self._targets(y), sample_weight, classes))
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
        ndarray of shape (n_samples,), or (n_samples, n_targets)
        """
        return self._renew_and_learn(Lesson.of(X, self._targets(y), sample_weight, classes))

    def learn_one(
        self, x: Sample, y: Any, classes: Classes = None, sample_weight: float = 1.0
    ) -> Self:
        """Learn one sample, predicted before, as `partial_fit` does.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
        y : label or float, or array-like of shape (n_targets,)
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, the learner does not take y, or the
            weight is negative or not finite.
        """
        if classes is None and sample_weight == 1 and self._learn_row(x, y):
            return self
        return learn_row(self, x, np.asarray([y]), classes, own_weight(sample_weight))

    @available_if(learner_has("score"))
    def score(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> float:
        """Score predictions as the learner does: the share that is right, or R².

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        return self._learnt.score(X, y, sample_weight)

    @property
    def rival_(self) -> Any:
        """The other learner, as long as two learn."""
        return vars(self).get("_rival")  # Files of former versions have none.

    @property
    def alarms_(self) -> Indices:
        """Numbers of the samples after which a new learner began."""
        return np.array(vars(self).get("_renewals", ()), dtype=np.int64)

    @property
    def n_seen_(self) -> int:
        """Samples learnt."""
        return int(vars(self).get("_n_seen", 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = get_tags(self._learner)
        tags.estimator_type = learner.estimator_type
        tags.classifier_tags, tags.regressor_tags = learner.classifier_tags, learner.regressor_tags
        return tags

    def _targets(self, y: Any) -> Array:
        """Return the labels, or one target or several of each sample."""
        are_plain = are_plain_targets(y, getattr(y, "size", 0), "biuU")
        if not are_plain and is_classifier(self.estimator):
            return column_of_labels(y)
        targets = one_or_several(plain_targets(y))
        if targets.dtype == object and is_regressor(self.estimator):
            with suppress(TypeError, ValueError):  # The learner says what is wrong.
                return targets.astype(np.float64)
        return targets

    def _renew_and_learn(self, lesson: Lesson) -> Array:
        """Learn samples; return the predictions before."""
        warn_of_waiting(self, start=not self.__sklearn_is_fitted__())
        if not self.__sklearn_is_fitted__():
            self._begin()
        n = len(lesson.y)
        at_once = n <= PIECE and learns_alone(self.estimator_, "partial_fit_predict")
        with ExitStack() as stack:
            for learner in (self.estimator_, self.rival_):
                if learner is not None:
                    state = BeforeCall if at_once else BeforeCalls
                    stack.enter_context(undone_on_failure(learner, state))
            pieces = [lesson.part(i, min(i + PIECE, n)) for i in range(0, n, PIECE)]
            return np.concatenate([self._learn_piece(piece) for piece in pieces])

    def _begin(self) -> None:
        self.estimator_ = clone(self.estimator)
        self._rival: Any = None
        self.detector_ = self._new_detector()
        self._renewals: tuple[int, ...] = ()
        self._attention: tuple[Any, ...] = tuple(Attention())
        self._pause = self._rests_until = 0
        self._recent: tuple[Any, ...] = ()
        self._n_kept = self._n_seen = 0
        self._bounded = None if is_classifier(self.estimator) else Bounded()
        if self._bounded is not None and not is_regressor(self.estimator):
            raise wrong_type("estimator", "be a classifier or a regressor", self.estimator)

    def _new_detector(self) -> Any:
        if self.detector is None:
            return LossDetector(run_length=RUN_LENGTH, random_state=DRAWS)
        return clone(self.detector)

    @all_or_nothing
    def _learn_row(self, x: Any, y: Any) -> bool:
        """Learn one row in the shortest way; False if this is a case for `partial_fit`.

        The learner learns alone, and takes the row and its target as they are.
        """
        learner = self._learner_of_rows()
        if learner is None or self.rival_ is not None:
            return False
        if (number := self._number(learner, y)) is None:
            return False
        with UndoneOnFailure(learner._model):
            scores = learner._teach_row(x, number, 1.0)
            if scores is None:
                return False
            if self._bounded is None:
                error = float(learner._winners(scores)[0] != number)
            else:
                error = abs(scores[0, 0] - number)
            one = Lesson(x[None], np.asarray(plain_targets([y])))
            seen, _ = self._look(one)
            _, alarm = self._until_alarm(np.array([error]), seen)
            self._keep(one)
            self._n_seen += 1
            if alarm and self._n_seen > self._rest:
                new = self._new_learner(getattr(learner, "classes_", None))
                self.estimator_, self._rival = new, learner if self.n_trial else None
                self._note_alarm()
        return True

    def _number(self, learner: Any, y: Any) -> Any:
        """Return a label or target as the core takes it; None for one that needs a check."""
        if self._bounded is None:
            return learner._numbers.get(y) if isinstance(y, Hashable) else None
        is_one = isinstance(y, float) and isfinite(y) and getattr(learner, "n_outputs_", 1) == 1
        return y if is_one else None

    def _note_alarm(self) -> None:
        """Take note that a new learner begins now."""
        self._renewals = (*self._renewals, self._n_seen)
        self._end = self._n_seen + self.n_trial

    def _note_end(self, pair: Pair) -> None:
        """Take note that a trial has ended: behind the second that brought little is a pause."""
        before = vars(self).get("_pause", 0)
        self._pause = next_pause(before, pair.is_new, pair.own_longer, pair.rival_longer)
        self._rests_until = self._n_seen + self._pause if self._pause >= LEAST_PAUSE else 0

    @property
    def _rest(self) -> int:
        """The sample up to which no alarm begins a trial."""
        return vars(self).get("_rests_until", 0)  # Files of former versions have none.

    def _look(self, lesson: Lesson) -> tuple[Array, Floats]:
        """Return which samples the detector sees, and the weights of all."""
        before = Attention(*vars(self).get("_attention", (self._n_seen,)))
        class_weight = getattr(learner_of(inner(self.estimator)), "class_weight", None)
        seen, weights, after = before.behind(lesson, class_weight)
        self._attention = tuple(after)
        return seen, weights

    def _learn_piece(self, lesson: Lesson) -> Array:
        """Learn samples; each learner learns all that are left, whether or not it stays."""
        known = getattr(self.estimator_, "classes_", None)
        pair = self._pair(lesson)
        seen, weights = self._look(lesson)
        told, first, n = [], 0, len(lesson.y)
        while first < n:
            last = n if pair.rival is None else self._end_of_trial(lesson, first)
            answers, errors, after = pair.ask(lesson, first, last, weights)
            used, alarm = self._until_alarm(errors, seen[first:last])
            if first + used < last:
                last = first + used
                answers, _, after = pair.ask(lesson, first, last, weights)
            pair = after
            told.append(answers)
            part = lesson.part(first, last)
            self._keep(part)
            self._n_seen += int(np.count_nonzero(part.counts))
            first = last
            ends = pair.rival is not None and (alarm or self._n_seen == self._end)
            if ends:
                self._note_end(pair)
            if alarm and self._n_seen > self._rest:
                labels = self._labels_at(first, lesson, pair.own.learner, known)
                new = self._course(self._new_learner(labels), lesson, first)
                pair = Pair(new, pair.own if self.n_trial else None)
                self._note_alarm()
            elif ends:
                if not pair.is_new:
                    # What the old one erred meanwhile is no measure of what it errs else.
                    self.detector_ = self._new_detector()
                pair = Pair(pair.own)
        self.estimator_ = pair.own.learner
        self._rival = None if pair.rival is None else pair.rival.learner
        self._lately = pair[2:]
        return np.concatenate(told)

    def _pair(self, lesson: Lesson) -> Pair:
        """Return who learns now, on these samples."""
        own = self._course(self.estimator_, lesson)
        if self.rival_ is None:
            return Pair(own)
        return Pair(own, self._course(self.rival_, lesson), *self._lately)

    def _course(self, learner: Any, lesson: Lesson, first: int = 0) -> Course:
        return Course(learner, lesson, first, self._bounded is None)

    def _end_of_trial(self, lesson: Lesson, first: int) -> int:
        """Return up to which sample two learners learn."""
        counted = np.cumsum(lesson.counts[first:])
        left = int(np.searchsorted(counted, self._end - self._n_seen)) + 1
        return first + min(left, len(counted))

    def _until_alarm(self, errors: Floats, counts: Any) -> tuple[int, bool]:
        """Return how many samples come up to an alarm, and whether there is one."""
        places = np.flatnonzero(counts & np.isfinite(errors))
        losses, early = errors[places], 0
        # These are replaced, and never changed: a call that fails goes back to them.
        detector, bounded = copy.deepcopy(self.detector_), copy.copy(self._bounded)
        if bounded is not None:
            losses, early = bounded(losses)
        used, alarm = len(errors), False
        if len(losses):
            known, seen = len(detector.alarms_), detector.n_seen_
            detector.update_many(losses)
            alarm = len(detector.alarms_) > known
        if alarm:
            # What came after the alarm is not the old learner's any more.
            count = int(detector.alarms_[known]) - seen
            detector = copy.deepcopy(self.detector_).update_many(losses[:count])
            used = int(places[early + count - 1]) + 1
        self.detector_, self._bounded = detector, bounded
        return used, alarm

    def _keep(self, part: Lesson) -> None:
        """Keep the last samples, in the parts in which they came."""
        new = last_copied(part, self.n_recent)
        kept = [*self._recent, *new]
        # To leave out what is older takes longer than to learn a sample, so it is done by and by.
        self._n_kept = vars(self).get("_n_kept", 0) + sum(len(y) for _, y, _ in new)
        if self._n_kept > 2 * self.n_recent:
            kept, self._n_kept = last_of(kept, self.n_recent), self.n_recent
        self._recent = tuple(kept)

    def _labels_at(self, first: int, lesson: Lesson, old: Any, known: Any) -> Any:
        """Return the labels that the old learner knew before a sample; it has learnt them all.

        Before the call it had `known`. A sample that comes later must not count.
        """
        labels = getattr(old, "classes_", None)
        if labels is None or (known is not None and len(known) == len(labels)):
            return labels
        if known is None:  # It had learnt one class only, or nothing.
            known = np.concatenate([lesson.y[:0], *(y for _, y, _ in self._recent)])
        given = lesson.y[:0] if lesson.classes is None else lesson.classes
        come = np.isin(labels, known) | np.isin(labels, given) | np.isin(labels, lesson.y[:first])
        return labels[come] if np.count_nonzero(come) > 1 else None

    def _new_learner(self, labels: Any) -> Any:
        learner = clone(self.estimator)
        at_once = learns_alone(learner, "partial_fit_predict")
        for X, y, weight in last_of(list(self._recent), self.n_recent):
            part = Lesson(X, y, weight, labels)
            # What another library learns of many samples may depend on which come together.
            edges = [0, len(y)] if at_once else range(len(y) + 1)
            for edge in pairwise(edges):
                piece = part.part(*edge)
                if at_once or piece.counts.any():
                    piece.teach(learner, "partial_fit")
        return learner


def one_or_several(y: Any) -> Array:
    """Return the targets, ndarray of shape (n,), or (n, n_targets) of more than one."""
    given = np.asarray(y)
    return given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
