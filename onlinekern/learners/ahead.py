"""What a learner says of samples before it learns them: of this library, or of another.

Learners of this library say so for all samples of a call. Others are asked and taught sample by
sample. Either way a sample is answered by what was learnt of those before it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length

from onlinekern.estimators.row_blocks import rows_of
from onlinekern.estimators.table_errors import check_rows
from onlinekern.estimators.types import Array, Floats
from onlinekern.estimators.validation import check_weights, csr_of
from onlinekern.preprocessing.steps import takes


class Lesson:
    """The samples of a call, and what goes with them.

    Parameters
    ----------
    X : array-like, CSR matrix or table of n rows
    y : ndarray of shape (n,), or (n, n_targets) of several targets
    weight : ndarray of shape (n,) or None
    classes : ndarray or None
    """

    def __init__(self, X: Any, y: Array, weight: Any = None, classes: Any = None) -> None:
        self.X, self.y, self.weight, self.classes = X, y, weight, classes

    @classmethod
    def of(
        cls, X: Any, y: Array, sample_weight: Any, classes: Any = None, whole: bool = False
    ) -> Lesson:
        """Return the lesson of what a caller gives; ValueError if it does not fit together.

        They are a part of a stream, or the `whole` of what is learnt.
        """
        if type(X) is not np.ndarray:
            check_rows(X)
        X = csr_of(X)
        if not (sp.issparse(X) or hasattr(X, "iloc") or hasattr(X, "__getitem__")):
            X = np.asarray(X)
        if type(X) is not np.ndarray or X.shape[:1] != y.shape[:1]:  # scikit-learn takes its time
            check_consistent_length(X, y)
        if len(y) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        labels = None if classes is None else np.asarray(classes)
        return cls(X, y, check_weights(sample_weight, y, whole), labels)

    def part(self, first: int, last: int) -> Lesson:
        """Return the lesson of the samples first ... last - 1."""
        if first == 0 and last == len(self.y):
            return self
        rows = rows_of(self.X, slice(first, last))
        weight = None if self.weight is None else self.weight[first:last]
        return Lesson(rows, self.y[first:last], weight, self.classes)

    def teach(self, learner: Any, method: str) -> Any:
        """Call a method of a learner with the samples."""
        more = {"classes": self.classes, "sample_weight": self.weight}
        given = {name: value for name, value in more.items() if value is not None}
        for name in given:
            if not is_own(learner) and not takes(learner, method, name):
                raise ValueError(f"{name}: {type(learner).__name__}.{method} takes none")
        return getattr(learner, method)(self.X, self.y, **given)

    def teach_each(self, learner: Any, ask: Callable[[Any, Any], Any]) -> list[Any]:
        """Ask a learner, then teach it, sample by sample; None where it knew nothing yet.

        A sample of weight 0 is not taught: some learners refuse it.
        """
        answers = []
        for i in range(len(self.y)):
            one = self.part(i, i + 1)
            try:
                answers.append(ask(learner, one.X))
            except NotFittedError:
                answers.append(None)
            if one.counts[0]:
                one.teach(learner, "partial_fit")
        return answers

    @property
    def counts(self) -> Any:
        """Which samples count: those of a weight > 0."""
        return np.ones(len(self.y), dtype=bool) if self.weight is None else self.weight > 0


def is_own(learner: Any) -> bool:
    """Return whether a learner is one of this library."""
    return type(learner).__module__.startswith("onlinekern.")


def learns_alone(learner: Any, method: str) -> bool:
    """Return whether a learner answers all samples of a call, each before it is learnt."""
    # A method of that name in another library need not test first.
    return is_own(learner) and hasattr(learner, method)


def predict_ahead(learner: Any, lesson: Lesson) -> Floats:
    """Teach a regressor; return its predictions before, NaN where it knew nothing."""
    if learns_alone(learner, "partial_fit_predict"):
        return lesson.teach(learner, "partial_fit_predict")
    shape = lesson.y.shape[1:]
    found = lesson.teach_each(learner, lambda learner, X: np.reshape(learner.predict(X), shape))
    nothing = np.full(shape, np.nan)
    return np.array([nothing if one is None else one for one in found], dtype=np.float64)


def strangeness(learner: Any, X: Any) -> Floats:
    """Return how strange each class is for samples, ndarray of shape (n_samples, n_classes).

    It is the negative score, with two classes of one the score and of the other its negative; or
    one minus the probability; or, of a learner that has neither, whether it is another than the
    predicted.
    """
    own = learns_alone(learner, "_partial_fit_scores")
    if not own and hasattr(learner, "predict_proba"):
        return 1 - np.asarray(learner.predict_proba(X), dtype=np.float64)
    if hasattr(learner, "decision_function"):
        return of_scores(np.asarray(learner.decision_function(X), dtype=np.float64))
    predicted = np.asarray(learner.predict(X))
    return (predicted[:, None] != learner.classes_).astype(np.float64)


def of_scores(scores: Floats) -> Floats:
    """Return how strange the classes are that have these scores."""
    if scores.ndim == 2 and scores.shape[1] > 1:
        return -scores
    return np.column_stack([scores, -scores])


def strangeness_ahead(learner: Any, lesson: Lesson, edges: list[int]) -> tuple[Array, Floats, Any]:
    """Teach a classifier; return how strange each class was for the samples before.

    A class that was unknown is infinitely strange; so a sample of a new class is learnt in a call
    of its own: `edges` says where the samples are cut (`edges_of`).

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels that it knows now.
    strange : ndarray of shape (n_samples, n_classes)
    told : ndarray of bool, shape (n_samples,)
        Where the learner knew two classes or more, and something of the samples.
    """
    found = [strangeness_of_part(learner, lesson.part(*edge)) for edge in pairwise(edges)]
    classes = labels_known(learner, lesson)
    if len(found) == 1 and len(found[0][0]) == len(classes):
        return found[0]
    strange, told = np.full((len(lesson.y), len(classes)), np.inf), []
    for first, (labels, values, knew) in zip(edges, found, strict=False):
        columns = np.searchsorted(classes, labels)
        strange[first : first + len(values), columns] = values
        told.append(knew)
    return classes, strange, np.concatenate(told)


def edges_of(learner: Any, lesson: Lesson) -> list[int]:
    """Return where the samples are cut for `strangeness_ahead`, both ends among them."""
    if len(lesson.y) == 1:
        return [0, 1]
    known = labels_known(learner, lesson)
    labels, places = np.unique(lesson.y, return_index=True)
    new = places[~np.isin(labels, known)]
    return sorted({0, *new.tolist(), *(new + 1).tolist(), len(lesson.y)})


def strangeness_of_part(learner: Any, part: Lesson) -> tuple[Array, Floats, Any]:
    """Return the labels that a learner knew, the columns of `strangeness_ahead`, and where told."""
    known, n = labels_known(learner, part), len(part.y)
    own = learns_alone(learner, "_partial_fit_scores")
    if own and len(known) >= 2 and (known == part.y[0]).any():
        return known, of_scores(part.teach(learner, "_partial_fit_scores")), np.ones(n, dtype=bool)
    # Where there is one label, or none, there is nothing to ask.
    ask = partial(strangeness_among, known) if len(known) >= 2 else answer_nothing
    if own:
        rows = [ask(learner, part.X)] * n
        part.teach(learner, "partial_fit")
    else:
        rows = part.teach_each(learner, ask)
    told = np.array([one is not None for one in rows])
    nothing = np.zeros((1, len(known)))
    return known, np.concatenate([nothing if one is None else one for one in rows]), told


def strangeness_among(labels: Array, learner: Any, X: Any) -> Floats:
    """Return `strangeness` of these labels: infinite of those that the learner does not know."""
    found = strangeness(learner, X)
    if found.shape[1] == len(labels):
        return found
    among = np.full((len(found), len(labels)), np.inf)
    among[:, np.searchsorted(labels, learner.classes_)] = found
    return among


def answer_nothing(learner: Any, X: Any) -> None:
    """Answer nothing, whatever is asked."""


def labels_known(learner: Any, lesson: Lesson) -> Array:
    """Return the labels that a classifier knows, those told beforehand among them, sorted."""
    known = getattr(learner, "classes_", None)
    if known is None:
        # A learner that takes labels up as they come predicts the only one that has come.
        try:
            known = np.unique(learner.predict(rows_of(lesson.X, slice(0, 1))))
        except (NotFittedError, AttributeError):
            known = lesson.y[:0]
    if lesson.classes is not None:
        known = np.union1d(known, lesson.classes)
    return np.asarray(known)
