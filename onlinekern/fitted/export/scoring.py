"""What a fitted model computes of a row: steps in front, a sum or a vote, and how labels follow.

`describe` (module `describe`) makes it of an estimator; `Scoring.scores` evaluates it. A generator
of code for another language needs nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from onlinekern.estimators.types import Array, Floats, Samples
from onlinekern.fitted.export.terms import Fourier, Projected, Term, dense

# Of a class that a member of a vote rules out, and how far outside of the targets seen a prediction
# may be, in units of their range: the constants of `learning.vote`.
LEAST_SHARE = 1e-6
MARGIN = 0.25
HEADS = ("binary", "classes", "regression", "outlier")


@dataclass(frozen=True, eq=False)
class Standardisation:
    """(x - mean) / scale, held within -limit ... limit.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), or None
        None where no means are subtracted: zeros stay zeros.
    scale : ndarray of shape (n_features,), or None
        None is 1 everywhere.
    limit : float
        inf for none.
    """

    mean: Floats | None
    scale: Floats | None
    limit: float

    def apply(self, X: Floats) -> Floats:
        """The scaled rows."""
        X = X if self.mean is None else X - self.mean
        X = X if self.scale is None else X / self.scale
        return np.clip(X, -self.limit, self.limit)


@dataclass(frozen=True, eq=False)
class Single:
    """Numbers are rounded to float32: the model has learnt samples of that type."""

    def apply(self, X: Floats) -> Floats:
        """The rounded rows."""
        return X.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Features:
    """Rows become their features.

    Attributes
    ----------
    map : Fourier or Projected
    """

    map: Fourier | Projected

    def apply(self, X: Floats) -> Floats:
        """The features of rows."""
        return self.map.features(X)


Step: TypeAlias = Standardisation | Single | Features


@dataclass(frozen=True, eq=False)
class Sum:
    """shift + scale (sum of the terms).

    Attributes
    ----------
    n_outputs : int
    terms : tuple
    scale, shift : float
        1 and 0 unless the targets were standardised; the shift of a detector is its offset, < 0.
    """

    n_outputs: int
    terms: tuple[Term, ...]
    scale: float = 1.0
    shift: float = 0.0

    def scores(self, X: Floats) -> Floats:
        """Scores of rows, ndarray (n, n_outputs)."""
        total = np.zeros((len(X), self.n_outputs))
        for term in self.terms:
            total += term.scores(X)
        return self.shift + self.scale * total


@dataclass(frozen=True, eq=False)
class Member:
    """One who votes.

    Attributes
    ----------
    share : float
        In the answer; the shares of a vote sum to 1.
    link : float
        Of the score f to the share of a class: 1 / (1 + exp(-link f)); 0 is (1 + f) / 2. Not used
        in a vote on targets.
    sum : Sum
    """

    share: float
    link: float
    sum: Sum


@dataclass(frozen=True, eq=False)
class ClassVote:
    """The weighted mean of what members give the classes; of two, the difference of the two.

    Attributes
    ----------
    n_outputs : int
        1 for two classes.
    members : tuple of Member
    """

    n_outputs: int
    members: tuple[Member, ...]

    def scores(self, X: Floats) -> Floats:
        """Answers to rows, ndarray (n, n_outputs)."""
        total = np.zeros((len(X), self.n_outputs))
        for member in self.members:
            total += member.share * self.shares(member, member.sum.scores(X))
        return total

    def shares(self, member: Member, scores: Floats) -> Floats:
        """What a member with these scores gives the classes."""
        # exp of a large number is inf, and 1 / (1 + inf) is the 0 that is meant.
        with np.errstate(over="ignore"):
            logistic = 1 / (1 + np.exp(-member.link * scores))
        if self.n_outputs == 1:
            return np.clip(scores, -1, 1) if member.link == 0 else 2 * logistic - 1
        own = np.maximum(0, (1 + scores) / 2) if member.link == 0 else logistic
        own = own + LEAST_SHARE
        result: Floats = own / own.sum(axis=1, keepdims=True)
        return result


@dataclass(frozen=True, eq=False)
class TargetVote:
    """The weighted mean of the members' predictions, each held near the targets seen.

    Attributes
    ----------
    members : tuple of Member
    least, most : float
        What predictions are held within; -inf and inf before a target was seen.
    """

    members: tuple[Member, ...]
    least: float
    most: float
    n_outputs: int = 1

    def scores(self, X: Floats) -> Floats:
        """Answers to rows, ndarray (n, 1)."""
        total = np.zeros((len(X), 1))
        for member in self.members:
            total += member.share * np.clip(member.sum.scores(X), self.least, self.most)
        return total


@dataclass(frozen=True, eq=False)
class PairVote:
    """Votes of the pairs of classes (0, 1), (0, 2), ... (1, 2), ..., a score > 0 for the first.

    Of a class, the sum s of its scores, which counts as s / (3 (|s| + 1)) of a vote, is added.

    Attributes
    ----------
    n_outputs : int
        Classes.
    sum : Sum
        With an output for each pair.
    """

    n_outputs: int
    sum: Sum

    def signs(self) -> Floats:
        """1 where a class is the first of a pair, -1 where it is the second, (pairs, classes)."""
        first, second = np.triu_indices(self.n_outputs, 1)
        classes = np.arange(self.n_outputs)
        found: Floats = (first[:, None] == classes) - 1.0 * (second[:, None] == classes)
        return found

    def scores(self, X: Floats) -> Floats:
        """Votes for the classes, ndarray (n, n_outputs)."""
        scores, signs = self.sum.scores(X), self.signs()
        votes = (scores > 0) @ np.maximum(signs, 0) + (scores <= 0) @ np.maximum(-signs, 0)
        totals = scores @ signs
        found: Floats = votes + totals / (3 * (np.abs(totals) + 1))
        return found


Body: TypeAlias = Sum | ClassVote | TargetVote | PairVote


def sums_of(body: Body) -> tuple[Sum, ...]:
    """The sums in a body."""
    if isinstance(body, Sum):
        return (body,)
    if isinstance(body, PairVote):
        return (body.sum,)
    return tuple(member.sum for member in body.members)


@dataclass(frozen=True, eq=False)
class Scoring:
    """What a fitted model computes.

    Attributes
    ----------
    name : str
        The class of the estimator.
    n_features : int
        Of a row as it is given.
    steps : tuple
        What is done to the row, in this order, before it is scored.
    body : Sum, ClassVote, TargetVote or PairVote
        What `decision_function` (`predict` of a regressor) gives; of pairs of classes their votes,
        whatever the parameter `decision_function_shape`.
    head : {'binary', 'classes', 'regression', 'outlier'}
        How a prediction follows from the scores: class 1 where the score is > 0; the first class of
        the largest score; the score itself; class 1, inside, where the score is >= 0, else class 0.
    labels : ndarray, or None
        The label of each class number; -1 and 1 of a detector; None of a regressor.
    """

    name: str
    n_features: int
    steps: tuple[Step, ...]
    body: Body
    head: str
    labels: Array | None

    @property
    def n_outputs(self) -> int:
        """Numbers in a score."""
        return self.body.n_outputs

    def scores(self, X: Samples) -> Floats:
        """Scores of rows, ndarray (n, n_outputs)."""
        rows = dense(X)
        for step in self.steps:
            rows = step.apply(rows)
        return self.body.scores(rows)

    def predict(self, X: Samples) -> Array:
        """Class numbers of rows, or targets, ndarray (n,)."""
        scores = self.scores(X)
        if self.head == "regression":
            return scores[:, 0]
        if self.head == "classes":
            return scores.argmax(axis=1)
        return (scores[:, 0] > 0 if self.head == "binary" else scores[:, 0] >= 0).astype(np.intp)
