"""The base of conformal learners: it teaches another, and knows what share of its answers hold."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.atomic import UndoneOnFailure, lock_of
from onlinekern.estimators.coverage import Coverage
from onlinekern.estimators.parameters import Share, positional_estimator, warn_of_waiting
from onlinekern.estimators.savable import require
from onlinekern.estimators.scikit_learn import HasMethods
from onlinekern.estimators.types import Floats
from onlinekern.estimators.validation import wrong_type
from onlinekern.learners.ahead import Lesson, learns_alone
from onlinekern.learners.wrapping import LearnerAround
from onlinekern.preprocessing.pipeline import StreamPipeline
from onlinekern.preprocessing.steps import undone_on_failure


@positional_estimator
class Conformal(LearnerAround):
    """Base of learners that wrap another, and know what share of its answers hold."""

    estimator: Annotated[Any, HasMethods(["fit", "partial_fit", "predict"])] | None = None
    coverage: Share = 0.9

    _learnt_as = "_coverage"
    _begins_with = frozenset({"estimator", "coverage", "by_class"})
    # With this method a learner of this library answers all samples of a call ahead.
    _ahead: ClassVar[str]
    # What follows several classes or targets; one `Coverage` follows all samples alike.
    _several: ClassVar[type]

    def _default(self) -> Any:
        """Return the learner that None stands for."""
        raise NotImplementedError(f"{type(self).__name__}._default")

    @property
    def _learner(self) -> Any:
        """The learner: the one that learns, or the parameter before anything has been learnt."""
        learner = super()._learner
        return self._default() if learner is None else learner

    def _learn(self, lesson: Lesson, start: bool) -> tuple[Any, Floats]:
        """Learn samples; return what was answered before, and the threshold of each."""
        warn_of_waiting(self, start)
        if start:
            learner = clone(self._default() if self.estimator is None else self.estimator)
            kind, other = get_tags(self).estimator_type, get_tags(learner).estimator_type
            if other not in (kind, None):
                raise wrong_type("estimator", f"be a {kind}", learner)
            coverage = self._new_coverage(learner, lesson)
        else:
            learner, coverage = self.estimator_, self._coverage.copy()
        edges = self._edges(learner, lesson)
        with self._undone_on_failure(learner, len(edges) > 2) as taught:
            answers, scores, held = self._answers(taught, lesson, edges)
            thresholds = self._take_up(coverage, lesson, answers, scores, held)
        self.estimator_: Any = taught
        self._coverage: Any = coverage
        return answers, thresholds

    def _learn_row(self, x: Any, number: Any, weight: float = 1.0) -> tuple[Floats, Floats] | None:
        """Learn one row in the shortest way: None if this is a case for `_learn`.

        `number` is the target as the core takes it.

        Returns
        -------
        scores : ndarray of shape (1, n_outputs)
            Those before.
        thresholds : ndarray of shape (1,), or (1, n_outputs) of several targets
        """
        learner = self._learner_of_rows()
        if learner is None:
            return None
        with lock_of(self), UndoneOnFailure(learner._model):
            scores = learner._teach_row(x, number, weight)
            if scores is None:
                return None
            score, held = self._score_of(scores, number)
            # Who saves the model meanwhile gets one state or the other.
            coverage = self._coverage.copy()
            thresholds = self._take_row_up(coverage, number, score, bool(weight > 0), held)
            self._coverage = coverage
        return scores, thresholds

    def _check_loaded(self) -> None:
        own = vars(self)
        if not {"_coverage", "estimator_"} & own.keys():
            return
        followed: Any = own.get("_coverage")
        learner = own.get("estimator_")
        require(type(followed) in (Coverage, self._several), "its coverage is none")
        followed._check_loaded()
        learns = hasattr(learner, "predict") and hasattr(learner, "partial_fit")
        require(learns, "it has no learner")

    def _new_coverage(self, learner: Any, lesson: Lesson) -> Any:
        """Return what follows the scores of a stream that begins with these samples."""
        return Coverage(self.coverage)

    def _take_up(
        self, coverage: Any, lesson: Lesson, answers: Any, scores: Floats, held: Any
    ) -> Floats:
        """Take up the scores of samples; return the thresholds before each."""
        return coverage.append(coverage.informative(scores, lesson.counts), held)

    def _take_row_up(
        self, coverage: Any, number: Any, score: Any, counts: bool, held: Any
    ) -> Floats:
        """Take up the score of a row; return the thresholds before it."""
        return coverage.append_one(score, counts, held)

    def _is_row(self, X: Any, y: Any) -> bool:
        """Return whether samples are one row of an array, without names that it should have."""
        named = "feature_names_in_" in vars(vars(self).get("estimator_", self))
        return len_of(X) == 1 and type(y) is np.ndarray and y.shape == (1,) and not named

    def _score_of(self, scores: Floats, number: Any) -> tuple[Any, Any]:
        """Return the score of a row that had these scores, and whether it is held anyway."""
        raise NotImplementedError(f"{type(self).__name__}._score_of")

    def _edges(self, learner: Any, lesson: Lesson) -> list[int]:
        """Return where the samples are cut into calls, both ends among them."""
        return [0, len(lesson.y)]

    def _answers(self, learner: Any, lesson: Lesson, edges: list[int]) -> tuple[Any, Floats, Any]:
        """Teach a learner; return its answers before, their scores, and what is held anyway.

        A score is NaN where there was no answer.
        """
        raise NotImplementedError(f"{type(self).__name__}._answers")

    @contextmanager
    def _undone_on_failure(self, learner: Any, several: bool) -> Iterator[Any]:
        """Return a context with a learner to teach, perhaps in several calls.

        The one given is as it was if that fails.
        """
        is_pipeline = isinstance(learner, StreamPipeline)
        if not learns_alone(learner, self._ahead) or (is_pipeline and several):
            # Their steps take one call back, if any.
            yield copy.deepcopy(learner)
            return
        with undone_on_failure(learner):
            yield learner

    @property
    def n_seen_(self) -> int:
        """Samples learnt, if the learner counts them."""
        return int(self._learner.n_seen_)

    @property
    def coverage_(self) -> Any:
        """Coverage so far of intervals or sets made before their samples were learnt."""
        check_is_fitted(self)
        return share_of(self._coverage.held, self._coverage.told)

    @property
    def threshold_(self) -> Any:
        """Greatest score that is held now; infinite as long as too few scores are known."""
        check_is_fitted(self)
        return self._threshold

    @property
    def _threshold(self) -> Any:
        return self._coverage.threshold

    def _check_coverage(self, coverage: float | None) -> None:
        """Raise ValueError for another share than the one that is followed."""
        if coverage is not None and coverage != self._coverage.share:
            raise ValueError(
                f"coverage: this {type(self).__name__} has followed {self._coverage.share} along "
                f"the stream, and can tell no other, got {coverage!r}"
            )


def share_of(held: Any, told: Any) -> Any:
    """Return held / told, of numbers or arrays; NaN if told is 0."""
    return np.where(told, held, np.nan)[()] / np.maximum(told, 1)


def len_of(X: Any) -> int:
    """Return the number of rows of an array, else -1."""
    return len(X) if type(X) is np.ndarray and X.ndim == 2 else -1
