"""State of a model that goes on learning, and the parts of its step."""

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
    """Return a part of the step by its name."""
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
        The model of output k is `scale` times values[k]; see `base.scaled_average` for the others.
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
        """Return the numbers of a scaled average, in some columns of it."""
        values, companions = (
            np.ascontiguousarray(rows[:, columns]) for rows in (state.values, state.companions)
        )
        return cls(values, companions, averaging, state.scale, state.total, state.steps, skipped)


@dataclass(frozen=True, eq=False)
class LinearState:
    """Weights of the features of a row, and an intercept.

    A coefficient a moves the intercept by a times `intercept`; `in_length` is added to the squared
    length of a row. A model of second order has `variances` of the weights and of the intercept,
    for each output.
    """

    intercept: float
    in_length: float
    variances: Floats | None = None


class Mean(NamedTuple):
    """Weight of the samples whose features have a mean, and by what it is multiplied before one."""

    forgetting: float
    weight: float


@dataclass(frozen=True, eq=False)
class MappedState:
    """Weights of the features of a map, and of a constant feature 1 if there is one.

    The weights may be the `mean` of the features of the samples.
    """

    map: Map
    constant: bool
    mean: Mean | None = None


class Slots(NamedTuple):
    """Slots of a policy under which some are free.

    Attributes
    ----------
    ages : ndarray of int
        Number of each support vector among those that ever came, from 1 on; 0 in free slots.
    free : ndarray of int
        The free slots; the last one is taken first.
    """

    ages: Array
    free: Array


class Beside(NamedTuple):
    """Features of a map, if there is one, and an offset beside kernel values of `slots` vectors.

    Their weights stand behind the coefficients of the support vectors, which move there.
    """

    slots: int
    map: Map | None
    offset: bool


@dataclass(frozen=True, eq=False)
class KernelState:
    """Coefficients of support vectors, slot by slot, under a policy.

    `added` counts the support vectors that ever came; `lengths` are their kernel values with
    themselves. If they are `unbounded`, they may fill all the room there is. They are float32 if
    `single`. A policy may keep `matrices` of them.
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

    A sample becomes a landmark if its part beyond the others is above the share `least` of its
    kernel value with itself, and, with `only_entered`, if it enters the model too; and if its row
    of the whitening, times the root of that value, is no longer than `steepest`. Once all are there
    they are `fixed`.
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

    They are the elements of a row times `factor`, unless that is None, then 1 if there is a
    `constant`, then those of `map`, which may have none. With a `root`, the map is of the row times
    this matrix, or this diagonal.
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
    """Sums of least squares that forget, or whose prior precision follows the stream.

    Attributes
    ----------
    matrix, vectors : ndarrays of shapes (length, length) and (n_outputs, length)
        A and b of all samples, where sample number i of an epoch weighs `forgetting` ** -i.
    evidence : ndarray of shape (n_outputs + 2,), or (0,)
        The sums of `core.linalg.evidence`; none if the prior precision stays.
    coming : float
        The prior precision that the block takes when it is full; 0 if it takes none.
    since, count : int
        Samples since the last epoch began, and since the last block.
    epoch, block : int
        How many samples these have.
    forgetting : float
    below : int
        So many choices below the densest prior precision is what is taken.
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

    `reg` is the prior precision of a new feature; so
    many samples have `entered` the sums. The score may be the `leverage` of a row; a part beyond
    the landmarks counts there above the share `rounding` of its kernel value with itself.
    """

    inverse: Floats
    reg: float
    entered: int
    sums: Sums | None = None
    leverage: bool = False
    rounding: float = 0.0


@dataclass(frozen=True, eq=False)
class ForestState:
    """Trees, and learners of second order on their cells, on the trees as they are.

    A record holds the weights of the outputs of each expert, then the variances of the experts.

    Attributes
    ----------
    trees : Trees
        The weights are the records of the leaves, float32.
    upper : ndarray of shape (n_trees * 16, length), float32
        Records of the nodes at depth 4, of the experts that see them beside the leaves. Those that
        there are not stay as they are.
    noises : ndarray of shape (n_experts,)
        What divides the weights of the samples of each expert.
    shares : ndarray of shape (n_experts,)
        1 / sqrt(number of cells of a sample that the expert sees).
    errors, met, weights : ndarray of shape (n_experts, n_experts), float, ndarray (n_experts,)
        The sums of the products of two experts' errors, the samples that these are of, and the
        weights of the scores that follow from both.
    held : ndarray of shape (n_targets, 5)
        What is known of the targets (`core.learning.held_targets`); none of classes.
    n_lower : int
        The first experts see the leaves alone.
    n_labels : int
        Classes; 0 if targets are numbers, which are learnt in units of `unit` from `offset`.
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
        Of each expert, see `core.race` and `core.learning.vote`.
    losses, counts : ndarray of shape (n_experts + 3,)
        Of the experts, of the vote, of it lately, and of the combination.
    errors, met : ndarrays of shape (n_experts, n_experts) and (n_experts,)
        The sums of the products of two experts' errors, and how many those of each expert are.
    voting : ndarray of shape (n_experts,)
        Who is awake.
    range : ndarray of shape (2,), or (0,)
        The smallest and the largest target so far.
    is_mean : bool
        Whether the vote is on targets.
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
    """The ends of the range of each feature, by which sentinels are found.

    Attributes
    ----------
    rows : float
        How many rows they are of.
    fields : ndarray of shape (n_features, 13)
        Those that `core.linalg.sentinels.ENDS` names; weights in units of the last row.
    """

    rows: float
    fields: Floats


@dataclass(frozen=True, eq=False)
class Scaler:
    """Running moments of the features, which standardise a row after they have learnt it.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_features,)
        The variance is about the mean, or about 0 without one (`centred`).
    centred, scaled : bool
        Whether means are subtracted, and whether rows are divided by deviations and clipped.
    weight : float
        Total weight of the rows so far, in units of the last one.
    forgetting, limit : float
    reach : float
        Deviations beyond which moments about a mean see values as no farther.
    ends : Ends, or None
        What tells numbers that stand for missing values, if these are looked for.
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
    """Running mean and scale of the targets so far; `fixed` if they stay as they are.

    `far` are the last ones in a row that were beyond reach.
    """

    fixed: bool
    weight: float
    mean: float
    squares: float
    scale: float
    far: float


# What learning changes of them.
TARGETS = Targets._fields[1:]


class Recent(NamedTuple):
    """The last scores of a detector, whose quantile is its offset.

    Attributes
    ----------
    fraction : float
    values : ndarray
        A ring.
    noted : int
        Scores that ever came.
    every : int
        Scores between two quantiles, once there are many.
    quantile : float
    odds : bool
        Whether the logarithms of their odds have the trend.
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
        Factors of the coefficients; with one against the rest, of the sample's own class only.
    targets : Targets, or None
    seen : int
    lead : int
        Of the last model over the average (`core.learning.heads`).
    generator : tuple of int
    scaler : Scaler, or None
        The first step in front of the model.
    recent : Recent, or None
        Of a detector.
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
