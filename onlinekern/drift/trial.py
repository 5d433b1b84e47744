"""Learners on the samples of a call, and which of two errs less."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from onlinekern.core.learning.trials import answering, seen_of
from onlinekern.estimators.types import Array, Floats
from onlinekern.learners.ahead import Lesson, learns_alone

# Behind a trial there is a pause from so many samples on.
LEAST_PAUSE = 1000


class Attention(NamedTuple):
    """Which samples are looked at: of samples with weights, by their weight over the largest one.

    Where classes are balanced, plain mistakes rise along the stream, and those of what is looked at
    fall (`core.learning.trials`).

    Attributes
    ----------
    offered : int
        Samples that counted.
    largest : float
        The largest weight lately.
    counts : tuple of (label, int)
        Samples of each label; only where classes are balanced.
    """

    offered: int = 0
    largest: float = 0.0
    counts: tuple[tuple[Any, int], ...] = ()

    def behind(self, lesson: Lesson, class_weight: Any) -> tuple[Array, Floats, Attention]:
        """Return which samples are looked at, their weights, and the attention behind them.

        Parameters
        ----------
        lesson : Lesson
        class_weight : dict, 'balanced' or None
        """
        own = lesson.counts
        weights = np.ones(len(lesson.y)) if lesson.weight is None else lesson.weight.copy()
        counts = self.counts
        if isinstance(class_weight, str):
            # Without the number of classes, which changes no ratio.
            known, labels = dict(counts), numbers_of(lesson.y)
            total = sum(known.values())
            for i in np.flatnonzero(own).tolist():
                known[labels[i]] = known.get(labels[i], 0) + 1
                total += 1
                weights[i] *= total / known[labels[i]]
            counts = tuple(known.items())
        elif class_weight is not None:
            weights *= [class_weight.get(label, 1.0) for label in lesson.y.tolist()]
            own = own & (weights > 0)
        seen = np.zeros(len(own), dtype=bool)
        seen[own], largest = seen_of(weights[own], self.offered, self.largest)
        n_counted = int(np.count_nonzero(own))
        return seen, weights, Attention(self.offered + n_counted, largest, counts)


def numbers_of(labels: Array) -> list[Any]:
    """Return labels in types that models are saved with; dates are equal in any unit."""
    if labels.dtype.kind in "mM":
        labels = labels.astype(f"{labels.dtype.kind}8[us]").astype(np.int64)
    return labels.tolist()


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
    own_longer: float = 0.0
    rival_longer: float = 0.0

    def ask(
        self, lesson: Lesson, first: int, last: int, weights: Floats
    ) -> tuple[Array, Floats, Pair]:
        """Return the answers to samples, their errors, and the pair behind them."""
        if self.rival is None:
            return self.own.answers[first:last], self.own.errors[first:last], self
        part, both = slice(first, last), (self.own, self.rival)
        with np.errstate(over="ignore", invalid="ignore"):
            one, other = (weights[part] * each.losses[part] for each in both)
        others, sums = answering(one, other, lesson.counts[part], self[2:])
        by_other = others[:-1]
        wide = by_other.reshape(-1, *[1] * (self.own.answers.ndim - 1))
        answers = np.where(wide, self.rival.answers[part], self.own.answers[part])
        errors = np.where(by_other, self.rival.errors[part], self.own.errors[part])
        own, rival = reversed(both) if others[-1] else both
        return answers, errors, Pair(own, rival, *sums)


def predictions_ahead(learner: Any, lesson: Lesson) -> Array:
    """Teach a learner samples; return its predictions before."""
    if learns_alone(learner, "partial_fit_predict"):
        return np.asarray(lesson.teach(learner, "partial_fit_predict"))
    answers = lesson.teach_each(learner, lambda model, X: np.asarray(model.predict(X))[0])
    unknown = np.zeros(lesson.y.shape[1:]) if lesson.y.ndim > 1 else 0.0
    nothing = unknown if lesson.classes is None else lesson.classes[0]
    return np.array([nothing if one is None else one for one in answers])
