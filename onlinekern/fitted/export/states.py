"""Description of a model that goes on learning after export: its state, and the parts of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onlinekern.core.base.part import Part
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.export.terms import Fourier, KernelFunction, Map, Projected, Trees
from onlinekern.fitted.state import fields_of, kind_of


class CannotLearn(TypeError):
    """Error for a step that cannot be exported; the message follows 'cannot learn: '."""


class Described(NamedTuple):
    """Name of a part's class, with the part's arguments."""

    name: str
    arguments: dict[str, Any]


def described(part: Any, kind: str) -> Described:
    """Return the description of a part of the step: its class name and arguments."""
    known = kind_of(type(part))
    if known is None or not known.options.get("in_c"):
        raise CannotLearn(f"the {kind} {type(part).__name__} has no C")
    arguments = fields_of(part)
    if known.name in ("Perceptron", "MarginPerceptron"):
        arguments["loss"] = part.loss
    for key, value in arguments.items():
        if isinstance(value, Part):
            arguments[key] = described(value, key)
    return Described(known.name, arguments)


class Numbers(NamedTuple):
    """Numbers that a model scores with.

    Attributes
    ----------
    values, companions : ndarray of shape (n_outputs, length)
        The model of output k is `scale` times values[k]. The other fields are those of
        `base.scaled_average`.
    averaging : False, True, 'decay' or float
    scale, total : float
    steps, skipped : int
    """

    values: Floats
    companions: Floats
    averaging: Any = False
    scale: float = 1.0
    total: float = 0.0
    steps: int = 0
    skipped: int = 0

    @classmethod
    def of(
        cls, state: Any, averaging: Any, columns: Any = slice(None), skipped: int = 0
    ) -> Numbers:
        """Return the numbers of a scaled average, restricted to some columns."""
        values, companions = (
            np.ascontiguousarray(rows[:, columns]) for rows in (state.values, state.companions)
        )
        return cls(values, companions, averaging, state.scale, state.total, state.steps, skipped)


@dataclass(frozen=True, eq=False)
class LinearState:
    """Weights of the features of a row, and an intercept.

    An update with the coefficient a adds a times `intercept` to the intercept. `in_length` is added
    to the squared length of a row. A second-order model has `variances` of the weights and of the
    intercept, for each output.
    """

    intercept: float
    in_length: float
    variances: Floats | None = None


class Mean(NamedTuple):
    """Weight of the samples in a mean of features, and its factor before each sample."""

    forgetting: float
    weight: float


@dataclass(frozen=True, eq=False)
class MappedState:
    """Weights of the features of a map, and of a constant feature 1 if there is one.

    With `mean`, the weights are the mean of the features of the samples.
    """

    map: Map
    constant: bool
    mean: Mean | None = None


class Slots(NamedTuple):
    """Slots of a policy that may leave some slots free.

    Attributes
    ----------
    ages : ndarray of int
        Number of each support vector among all that were ever added, from 1 on; 0 in free slots.
    free : ndarray of int
        The free slots, a stack: the last one is used first.
    """

    ages: Array
    free: Array


class Beside(NamedTuple):
    """Features beside kernel values of `slots` vectors: those of a map, if any, and an offset.

    Their weights follow the coefficients of the support vectors.
    """

    slots: int
    map: Map | None
    offset: bool


@dataclass(frozen=True, eq=False)
class KernelState:
    """Support vectors and their coefficients, slot by slot, under a policy.

    `added` is the number of support vectors ever added; `lengths` are their kernel values with
    themselves. If `unbounded`, they may fill all the memory provided. They are float32 if `single`.
    A policy may have `matrices` of them.
    """

    kernel: KernelFunction
    vectors: Floats
    policy: Described
    added: int
    lengths: Floats
    unbounded: bool
    single: bool
    matrices: dict[str, Floats]
    slots: Slots | None = None
    beside: Beside | None = None


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Features L^-1 k(x) of landmarks, which may grow to `room`.

    A sample x becomes a landmark if all of these hold: its squared distance from the span of the
    others is above the share `least` of k(x, x); with `only_entered`, it enters the model; and the
    length of its row of the whitening L^-1, times sqrt(k(x, x)), is at most `steepest`. They are
    `fixed` when all have been found.
    """

    kernel: KernelFunction
    vectors: Floats
    whitening: Floats
    room: int
    least: float
    only_entered: bool
    fixed: bool
    steepest: float


@dataclass(frozen=True, eq=False)
class JointState:
    """Weights of joint features, a dense row of them.

    The features are the elements of the row times `factor`, unless that is None; then 1 if there is
    a `constant`; then the features of `map`, which may be None. With a `root`, the input of the map
    is the row times this matrix, or times this diagonal.
    """

    factor: float | None
    constant: bool
    map: Fourier | Projected | Landmarks | None
    root: Floats | None


@dataclass(frozen=True, eq=False)
class ConfidentState(JointState):
    """Weights of joint features, and a covariance of the weights.

    Attributes
    ----------
    covariance : ndarray of shape (n_outputs, length), or (n_matrices, length, length)
        Variances, or a matrix of each output, or of all outputs together.
    linear : bool
        Whether the learner is a linear one.
    """

    covariance: Floats
    linear: bool


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of least squares with forgetting, or with a prior precision that follows the stream.

    Attributes
    ----------
    matrix, vectors : ndarrays of shapes (length, length) and (n_outputs, length)
        A and b of all samples, where sample number i of an epoch has the weight `forgetting` ** -i.
    evidence : ndarray of shape (n_outputs + 2,), or (0,)
        The sums of `core.linalg.evidence`; empty if the prior precision is constant.
    coming : float
        The next prior precision, used from the end of the block on; 0: unchanged.
    since, count : int
        Samples since the epoch began, and since the block began.
    epoch, block : int
        Length of an epoch and of a block, in samples.
    forgetting : float
    below : int
        The prior precision is this many choices below the one of largest evidence.
    """

    matrix: Floats
    vectors: Floats
    evidence: Floats
    coming: float
    since: int
    count: int
    epoch: int
    block: int
    forgetting: float
    below: int

    @property
    def follows(self) -> bool:
        """Whether the prior precision follows the stream."""
        return len(self.evidence) > 0


@dataclass(frozen=True, eq=False)
class SquaresState(JointState):
    """Weights of least squares, with A^-1 = `inverse`.

    `reg` is the prior precision of a new feature, and `entered` the number of samples in the sums.
    With `leverage`, the score is the leverage of a row. It includes the part of the row outside of
    the span of the landmarks if that is above the share `rounding` of k(x, x).
    """

    inverse: Floats
    reg: float
    entered: int
    sums: Sums | None = None
    leverage: bool = False
    rounding: float = 0.0


@dataclass(frozen=True, eq=False)
class ForestState:
    """Trees, which no longer change, with second-order learners on their cells.

    A record has, for each expert, the weights of the outputs; then the variances of the experts.

    Attributes
    ----------
    trees : Trees
        The weights are the records of the leaves, float32.
    upper : ndarray of shape (n_trees * 16, length), float32
        Records of the nodes at depth 4, for the experts that use them besides the leaves. Records
        of nodes that do not exist are not used.
    noises : ndarray of shape (n_experts,)
        Noise variance of each expert: divides the weights of the samples.
    shares : ndarray of shape (n_experts,)
        1 / sqrt(number of cells of a sample that the expert uses).
    errors, met, weights : ndarray of shape (n_experts, n_experts), float, ndarray (n_experts,)
        The sums of products of two experts' errors, the weight of the samples in these sums, and
        the weights of the experts' scores, computed from both.
    held : ndarray of shape (n_targets, 5)
        State of `core.learning.held_targets`; empty for classes.
    n_lower : int
        Number of experts that use only the leaves: the first ones.
    n_labels : int
        Classes; 0: regression, in which (y - offset) / unit is learnt.
    rule : Described
    second_order : bool
        Whether the rule changes variances.
    """

    trees: Trees
    upper: Array
    noises: Floats
    shares: Floats
    errors: Floats
    met: float
    weights: Floats
    held: Floats
    n_lower: int
    n_labels: int
    offset: float | Floats
    unit: float | Floats
    rule: Described
    second_order: bool


@dataclass(frozen=True, eq=False)
class RaceState:
    """Experts that learn one stream, and their vote.

    Attributes
    ----------
    experts : tuple of Learning
        None of them is a forest.
    costs, links, patience : tuple of float and of int
        For each expert; see `core.race` and `core.learning.vote`.
    losses, counts : ndarray of shape (n_experts + 3,)
        Of the experts, of the vote, of the vote lately, and of the combination.
    errors, met : ndarrays of shape (n_experts, n_experts) and (n_experts,)
        Sums of products of two experts' errors, and the weight of the samples for each expert.
    voting : ndarray of shape (n_experts,)
        Whether each expert is awake.
    range : ndarray of shape (2,), or (0,)
        The smallest and the largest target so far.
    is_mean : bool
        True for regression (`MeanVote`).
    """

    experts: tuple[Learning, ...]
    costs: tuple[float, ...]
    links: tuple[float, ...]
    patience: tuple[int, ...]
    losses: Floats
    counts: Floats
    errors: Floats
    met: Floats
    voting: Array
    alarm: int
    range: Floats
    is_mean: bool
    decay: float
    sharpness: float
    budget: float


Space: TypeAlias = LinearState | MappedState | KernelState | JointState | ForestState | RaceState


class Ends(NamedTuple):
    """Statistics of the ends of each feature's range, by which sentinels are found.

    Attributes
    ----------
    rows : float
        Number of rows.
    fields : ndarray of shape (n_features, 13)
        The fields in `core.linalg.sentinels.ENDS`. The unit of weights is that of the last row.
    """

    rows: float
    fields: Floats


@dataclass(frozen=True, eq=False)
class Scaler:
    """Running moments of the features, which learn a row first, then standardise it.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_features,)
        The variance is about the mean, or about 0 without one (`centred`).
    centred, scaled : bool
        Whether means are subtracted, and whether rows are divided by deviations and clipped.
    weight : float
        Total weight of the rows so far; unit: the weight of the last one.
    forgetting, limit : float
    reach : float
        For moments about a mean, values are clipped at this many deviations.
    ends : Ends, or None
        Statistics for finding sentinels; None if they are not searched for.
    """

    mean: Floats
    variance: Floats
    centred: bool
    scaled: bool
    weight: float
    forgetting: float
    limit: float
    reach: float
    ends: Ends | None = None


class Targets(NamedTuple):
    """Running mean and scale of the targets so far; `fixed` if they do not change.

    `far` is the number of the last targets in a row that were beyond reach.
    """

    fixed: bool
    weight: float
    mean: float
    squares: float
    scale: float
    far: float


# The fields that learning changes.
TARGETS = Targets._fields[1:]


class Recent(NamedTuple):
    """The last scores of a detector, whose quantile is its offset.

    Attributes
    ----------
    fraction : float
    values : ndarray
        A ring buffer.
    noted : int
        Number of scores ever added.
    every : int
        Number of scores between two updates of the quantile, once there are many.
    quantile : float
    odds : bool
        Whether the trend is fitted to the logarithms of their odds.
    """

    fraction: float
    values: Floats
    noted: int
    every: int
    quantile: float
    odds: bool


@dataclass(frozen=True, eq=False)
class Learning:
    """Model that goes on learning.

    Attributes
    ----------
    state : LinearState, MappedState, KernelState, ConfidentState, SquaresState, ForestState, \
        or RaceState
    numbers : Numbers
    rule, sampler, head : Described
    factors : ndarray of shape (n_classes,), or None
        Factors of the weights of samples.
    step_factors : ndarray of shape (n_classes,), or None
        Factors of the coefficients; with OneVsRest, of the sample's own class only.
    targets : Targets, or None
    seen : int
    lead : int
        Lead of the last model over the average (`core.learning.heads`).
    generator : tuple of int
    scaler : Scaler, or None
        The first step before the model.
    recent : Recent, or None
        Last scores of a detector.
    """

    state: Space
    numbers: Numbers
    rule: Described
    sampler: Described
    head: Described
    factors: Floats | None
    step_factors: Floats | None
    targets: Targets | None
    seen: int
    lead: int
    generator: tuple[int, ...]
    scaler: Scaler | None = None
    recent: Recent | None = None
