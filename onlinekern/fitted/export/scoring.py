"""Description of how a model scores: steps that transform the row, a sum or a vote, a prediction.

`describe` (module `describe`) makes it from an estimator. A code generator for another language
needs nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.terms import Fourier, Projected, Term

# Constants of `learning.vote`: the least share, for a class that a member of a vote rules out, and
# the margin by which predictions may be outside the range of the targets seen, in units of this
# range.
LEAST_SHARE = 1e-6
MARGIN = 0.25
# Scores of a twin are clipped to this limit (`core.learning.twin`).
MOST_TWIN = 50.0
HEADS = ("binary", "classes", "regression", "outlier")


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Step that computes (x - mean) / scale, clipped to -limit ... limit; NaN becomes 0.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), or None
        None if no means are subtracted, so that zeros stay zeros.
    scale : ndarray of shape (n_features,), or None
        None stands for 1 everywhere.
    limit : float
        Limit, or inf for none.
    missing : bool
        Whether rows may contain NaN.
    """

    mean: Floats | None
    scale: Floats | None
    limit: float
    missing: bool = False

    def apply(self, X: Floats) -> Floats:
        """Return the scaled rows."""
        X = X if self.mean is None else X - self.mean
        X = X if self.scale is None else X / self.scale
        X = np.where(np.isnan(X), 0.0, X) if self.missing else X
        return np.clip(X, -self.limit, self.limit)


def standardisation(moments: Any, limit: float | None, scaled: bool) -> Standardisation:
    """Return the standardisation of rows by running moments."""
    mean, variance = moments.mean(), moments.variance()
    limit = np.inf if limit is None or not scaled else float(limit)
    if moments.n == 0:
        limit = 0.0  # before the first row, every scaled row is 0
    # Deviations of a few units in the last place of the mean are rounding errors.
    with np.errstate(over="ignore"):
        varies = variance > 16 * np.finfo(float).eps ** 2 * mean * mean
    scale = np.sqrt(np.where(varies, variance, 1.0)) if scaled else None
    missing = bool(sentinels(moments))
    return Standardisation(mean if moments.centred else None, scale, limit, missing)


@dataclass(frozen=True, eq=False)
class Sentinels:
    """Step that replaces numbers that stand for missing values by NaN.

    Attributes
    ----------
    numbers : ndarray of shape (n_features,)
        This number for each feature; NaN if there is none.
    """

    numbers: Floats

    @property
    def columns(self) -> Array:
        """Indices of the features with such a number."""
        return np.flatnonzero(~np.isnan(self.numbers))

    def apply(self, X: Floats) -> Floats:
        """Return the rows with NaN for missing values."""
        return np.where(self.numbers == X, np.nan, X)


def sentinels(moments: Any) -> tuple[Sentinels, ...]:
    """Return the `Sentinels` step of running moments, or () if they have found none."""
    found = Sentinels(moments.missing_values())
    return (found,) if len(found.columns) else ()


@dataclass(frozen=True, eq=False)
class Single:
    """Step that rounds rows to float32, the type of the samples that the model has learnt."""

    def apply(self, X: Floats) -> Floats:
        """Return the rounded rows."""
        return X.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Features:
    """Step that turns rows into their features.

    Attributes
    ----------
    map : Fourier or Projected
    """

    map: Fourier | Projected


@dataclass(frozen=True, eq=False)
class Turned:
    """Step that turns x into M^(1/2) x.

    Attributes
    ----------
    root : ndarray of shape (n_features, n_features)
        M^(1/2), which is symmetric.
    """

    root: Floats


Layout: TypeAlias = "tuple[tuple[int, int], ...]"
Step: TypeAlias = Standardisation | Sentinels | Single | Features | Turned


@dataclass(frozen=True, eq=False)
class Sum:
    """Score shift + scale (sum of the terms).

    Attributes
    ----------
    n_outputs : int
    terms : tuple
    scale, shift : float, or ndarray (n_outputs,)
        1 and 0 unless the targets were standardised. The shift of a detector is minus its offset.
    """

    n_outputs: int
    terms: tuple[Term, ...]
    scale: Any = 1.0
    shift: Any = 0.0

    def scores(self, X: Floats) -> Floats:
        """Return the scores of rows, ndarray (n, n_outputs)."""
        total = np.zeros((len(X), self.n_outputs))
        term: Any
        for term in self.terms:
            total += term.scores(X)
        return self.shift + self.scale * total


@dataclass(frozen=True, eq=False)
class Twin:
    """Combination of the scores of a target and of its twin, asinh(y / s).

    Attributes
    ----------
    own, other : float
        Weights of the two predictions of the target.
    factor : float
        A score z of the twin predicts the target factor sinh(z).
    least, most : float
        Bounds to which both predictions and their sum are clipped.
    """

    own: float
    other: float
    factor: float
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Member:
    """Member of a vote.

    Attributes
    ----------
    share : float
        Weight of the member; the weights in a vote sum to 1, and may be negative.
    link : float
        If > 0, a class with the score f gets the share 1 / (1 + exp(-link f)). If 0, it gets
        (1 + f) / 2. If < 0, it gets the softmax exp(-link f). A vote on targets does not use it.
    sum : Sum
    raw : bool, default=False
        Whether it scores rows before the steps of the vote.
    twin : Twin, optional
        Combines the two scores of its sum into one.
    """

    share: float
    link: float
    sum: Sum
    raw: bool = False
    twin: Twin | None = None


@dataclass(frozen=True, eq=False)
class ClassVote:
    """Weighted mean of the members' shares of the classes; for two classes, their difference.

    Attributes
    ----------
    n_outputs : int
        Number of classes; 1 for two classes.
    members : tuple of Member
    steps : tuple
        Steps that the row goes through for the members that are not `raw`.
    layout : tuple
        Form in which `raw` members get the row (`core.samples.coded`); () is the row itself.
    """

    n_outputs: int
    members: tuple[Member, ...]
    steps: tuple[Step, ...] = ()
    layout: Layout = ()


@dataclass(frozen=True, eq=False)
class TargetVote:
    """Weighted sum of the members' predictions; these and the sum are clipped to bounds.

    Attributes
    ----------
    members : tuple of Member
    least, most : float
        Bounds near the targets seen; -inf and inf before the first target.
    steps : tuple
        Steps that the row goes through for the members that are not `raw`.
    """

    members: tuple[Member, ...]
    least: float
    most: float
    steps: tuple[Step, ...] = ()
    n_outputs: int = 1
    layout: Layout = ()


@dataclass(frozen=True, eq=False)
class PairVote:
    """Votes of the pairs of classes (0, 1), (0, 2), ... (1, 2), ...

    A score > 0 is a vote for the first class of the pair. The sum s of the scores for a class
    breaks ties: it is added to the votes as s / (3 (|s| + 1)).

    Attributes
    ----------
    n_outputs : int
        Number of classes.
    sum : Sum
        Sum with an output for each pair.
    """

    n_outputs: int
    sum: Sum

    def signs(self) -> Floats:
        """Return 1 for the first class of a pair, -1 for the second, (pairs, classes)."""
        first, second = np.triu_indices(self.n_outputs, 1)
        classes = np.arange(self.n_outputs)
        return (first[:, None] == classes) - 1.0 * (second[:, None] == classes)


Body: TypeAlias = Sum | ClassVote | TargetVote | PairVote


def bounds_in(of: TargetVote | Twin, dtype: Any) -> tuple[float, float]:
    """Return the bounds of a vote or a twin, clipped to the range of a type."""
    largest = float(np.finfo(dtype).max)
    return max(of.least, -largest), min(of.most, largest)


def sums_of(body: Body) -> tuple[Sum, ...]:
    """Return the sums in a body."""
    if isinstance(body, Sum):
        return (body,)
    if isinstance(body, PairVote):
        return (body.sum,)
    return tuple(member.sum for member in body.members)


@dataclass(frozen=True, eq=False)
class Scoring:
    """Description of what a fitted model computes.

    Attributes
    ----------
    name : str
        Name of the estimator's class.
    n_features : int
        Number of features of a row as it is given, or as the encoding of a table gives it.
    steps : tuple
        Steps that the row goes through, in this order, before it is scored.
    body : Sum, ClassVote, TargetVote or PairVote
        Computes `decision_function` (`predict` of a regressor). For pairs of classes it computes
        votes, whatever the parameter `decision_function_shape`.
    head : {'binary', 'classes', 'regression', 'outlier'}
        How the prediction follows from the scores. 'binary': class 1 if the score is > 0.
        'classes': the first class with the largest score. 'regression': the score itself.
        'outlier': class 1 (inlier) if the score is >= 0, else class 0.
    labels : ndarray, or None
        Label of each class number; -1 and 1 for a detector; None for a regressor.
    missing : bool
        Whether NaN in a row stands for a missing value; otherwise such rows have no scores.
    table : Encoding or None
        The first step of all: converts a row of a table to features. None: the input is no table.
    """

    name: str
    n_features: int
    steps: tuple[Step, ...]
    body: Body
    head: str
    labels: Array | None
    missing: bool = False
    table: Any = None

    @property
    def n_outputs(self) -> int:
        """Number of outputs in a score."""
        return self.body.n_outputs
