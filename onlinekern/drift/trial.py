"""Learners on the samples of a call, and which of two errs less."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.learners.ahead import Lesson, learns_alone

# The errors of about the last hundred samples decide.
LATELY = 0.99


class Course:
    """A learner on samples, all of which it learns from a first one on, each answered before.

    Attributes
    ----------
    learner : estimator
    answers : ndarray of shape (n,) or (n, n_targets)
        Those to samples before the first are no answers.
    errors : ndarray of shape (n,)
        1 for a mistake; of targets the sum of the absolute errors.
    """

    def __init__(self, learner: Any, lesson: Lesson, first: int, classifies: bool) -> None:
        self.learner, self.answers = learner, lesson.y
        if first < len(lesson.y):
            told = predictions_ahead(learner, lesson.part(first, len(lesson.y)))
            self.answers = np.concatenate([lesson.y[:first], told]) if first else told
        if classifies:
            self.errors = (self.answers != lesson.y).astype(np.float64)
        else:
            wrong = np.abs(self.answers.astype(np.float64) - lesson.y)
            self.errors = wrong.reshape(len(wrong), int(np.prod(wrong.shape[1:]))).sum(axis=1)

    @cached_property
    def losses(self) -> Floats:
        """Squares of the errors, ndarray of shape (n,), by which two learners are compared."""
        with np.errstate(over="ignore"):
            return np.where(np.isnan(self.errors), np.inf, self.errors) ** 2


class Pair(NamedTuple):
    """Who answers, perhaps one that learns beside it, and what both have erred lately."""

    own: Course
    rival: Course | None = None
    own_sum: float = 0.0
    rival_sum: float = 0.0
    is_new: bool = True

    def ask(self, lesson: Lesson, first: int, last: int) -> tuple[Array, Floats, Pair]:
        """Return the answers to samples, their errors, and the pair behind them."""
        if self.rival is None:
            return self.own.answers[first:last], self.own.errors[first:last], self
        own, rival = self.own, self.rival
        own_sum, rival_sum, is_new = self[2:]
        answers, errors, counts = [], [], lesson.counts
        for i in range(first, last):
            answers.append(own.answers[i])
            errors.append(own.errors[i])
            if counts[i]:
                own_sum = LATELY * own_sum + own.losses[i]
                rival_sum = LATELY * rival_sum + rival.losses[i]
            if rival_sum < own_sum:
                own, rival, own_sum, rival_sum = rival, own, rival_sum, own_sum
                is_new = not is_new
        after = Pair(own, rival, float(own_sum), float(rival_sum), is_new)
        return np.array(answers), np.array(errors), after


def predictions_ahead(learner: Any, lesson: Lesson) -> Array:
    """Teach a learner samples; return its predictions before."""
    if learns_alone(learner, "partial_fit_predict"):
        return np.asarray(lesson.teach(learner, "partial_fit_predict"))
    answers = lesson.teach_each(learner, lambda model, X: np.asarray(model.predict(X))[0])
    unknown = np.zeros(lesson.y.shape[1:]) if lesson.y.ndim > 1 else 0.0
    nothing = unknown if lesson.classes is None else lesson.classes[0]
    return np.array([nothing if one is None else one for one in answers])
