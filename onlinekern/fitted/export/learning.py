"""What a fitted model needs to go on learning: its state, and the parts of its step.

Only what is known in full is described; `describe_learning` says of anything else what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from onlinekern.core.base.part import Part
from onlinekern.core.features.joined import WithLinear
from onlinekern.core.features.nested import NestedNystroem
from onlinekern.core.learning.heads import Weighted
from onlinekern.core.models.least_squares import LeastSquaresSpace
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.linear_batches import BatchSpace
from onlinekern.core.models.linear_second_order import SecondOrderSpace
from onlinekern.core.models.mapped import MappedSpace
from onlinekern.core.models.nogd import NystroemSpace
from onlinekern.core.models.space import KernelSpace
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export.spaces import inverse_of, kernel_of, map_of, rounding_of
from onlinekern.fitted.export.states import (
    Described,
    KernelState,
    Landmarks,
    Learning,
    LinearState,
    MappedState,
    Scaler,
    SquaresState,
    State,
)
from onlinekern.fitted.export.terms import Fourier, dense
from onlinekern.fitted.save.registered import restorer
from onlinekern.preprocessing.kernel_features import FeatureTransformer
from onlinekern.preprocessing.scaler import OnlineStandardScaler


class CannotLearn(TypeError):
    """The step of a model cannot be exported; the message goes on after 'cannot learn: '."""


# Class of a part -> the names of its arguments. Others have no description.
PARTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("PerceptronLoss", "Hinge", "SquaredHinge", "Logistic", "Exponential"), ()),
    **dict.fromkeys(("Squared", "Absolute", "Perceptron", "Gate"), ()),
    **dict.fromkeys(("SmoothHinge", "Huber"), ("delta",)),
    "EpsilonInsensitive": ("epsilon",),
    **dict.fromkeys(("Schedule", "InverseSquareRoot", "Inverse"), ("eta",)),
    "Power": ("eta", "power"),
    **dict.fromkeys(("Gradient", "Pegasos"), ("loss", "schedule", "regularisation")),
    "BatchPegasos": ("loss", "regularisation", "batch_size"),
    "PassiveAggressive": ("loss",),
    **dict.fromkeys(("PassiveAggressive1", "PassiveAggressive2"), ("loss", "C")),
    **dict.fromkeys(("ScaledPassiveAggressive1", "ScaledPassiveAggressive2"), ("loss", "C")),
    "WithinMargin": ("margin",),
    "LossProportional": ("alpha", "beta", "weighted"),
    "SlopeProportional": ("G",),
    **dict.fromkeys(("Head", "Binary"), ()),
    "Standardized": ("forgetting",),
    "LeastSquares": ("loss",),
    "AROW": ("loss", "r"),
    "ConfidenceWeighted": ("loss", "confidence"),
    **dict.fromkeys(
        ("SoftConfidenceWeighted1", "SoftConfidenceWeighted2"), ("loss", "confidence", "C")
    ),
    **dict.fromkeys(("OneVsRest", "Margin", "Joint", "JointOneVsRest"), ("n_classes",)),
}
POLICIES: dict[str, tuple[str, ...]] = {
    "Budget": (),
    **dict.fromkeys(("RefuseWhenFull", "OldestEviction", "CheapestReplacement"), ("bound",)),
    "RandomEviction": ("bound", "generator"),
    "UniformEviction": ("bound", "generator", "max_coefficient"),
}
# Policies whose support vectors grow with the stream, or to a bound that may be far away.
GROWING = ("Budget", "RefuseWhenFull")


def described(part: Any, kind: str) -> Described:
    """A part of the step by its name."""
    name = type(part).__name__
    if name not in PARTS or not type(part).__module__.startswith("onlinekern.core."):
        raise CannotLearn(f"the {kind} {name} has no C")
    arguments = dict(zip(PARTS[name], part.arguments, strict=False))
    if name == "Perceptron":
        arguments["loss"] = part.loss
    for key, value in arguments.items():
        if isinstance(value, Part):
            arguments[key] = described(value, key)
    return Described(name, arguments)


def describe_learning(estimator: Any) -> Learning:
    """What a fitted estimator needs to go on learning; CannotLearn if its step is not known."""
    if isinstance(estimator, Pipeline):
        return of_pipeline(estimator)
    own = vars(estimator)
    if not hasattr(estimator, "learn_one"):
        raise CannotLearn("it learns whole sets of samples")
    if "_warm_up" in own:
        raise CannotLearn(
            "the width of its kernel is not settled yet: give gamma a number, or more samples"
        )
    if "_recent" in own:
        raise CannotLearn("the offset of a detector follows the scores of many samples")
    model = estimator._fitted_model
    with model.reading():
        return of_model(estimator, model)


def of_pipeline(pipeline: Any) -> Learning:
    """The description of a pipeline whose maps stay, and whose scaler, the first step, learns."""
    *steps, (_, learner) = pipeline.steps
    used = [(name, step) for name, step in steps if step is not None and not isinstance(step, str)]
    learning = describe_learning(learner)
    for number, (name, step) in enumerate(used):
        if type(step) is OnlineStandardScaler and number == 0:
            learning = replace(learning, scaler=scaler_of(step))
        elif not isinstance(step, FeatureTransformer):
            raise CannotLearn(f"the step {name!r} learns too, and is not the first one")
    return learning


def scaler_of(scaler: Any) -> Scaler:
    """Running moments that go on."""
    moments, options = scaler._moments, scaler._scaling()
    state = moments.get_state()
    if moments.n == 0:
        raise CannotLearn("its scaler has seen no sample")
    return Scaler(
        mean=moments.mean(),
        variance=moments.variance(),
        centred=moments.centred,
        scaled=options["scaled"],
        weight=state["total"] / state["unit"],
        forgetting=float(scaler.forgetting),
        limit=np.inf if options["limit"] is None else float(options["limit"]),
    )


def of_model(estimator: Any, model: Any) -> Learning:
    """The description of a model that no thread changes meanwhile."""
    if not hasattr(model, "space"):
        raise CannotLearn("it is a race of several models")
    kind = type(model.space)
    if kind not in SPACES:
        raise CannotLearn(f"the space {kind.__name__} has no C")
    state, numbers = SPACES[kind](model.space)
    head, step_factors = model.head, None
    if type(head) is Weighted:
        head, step_factors = head.arguments
    _, (_, _, _, _, _, targets) = model.__reduce__()
    return Learning(
        state=state,
        **numbers,
        rule=described(model.rule, "rule"),
        gate=described(model.gate, "gate"),
        head=described(head, "head"),
        factors=factors_of_samples(estimator),
        step_factors=None if step_factors is None else np.array(step_factors, dtype=np.float64),
        targets=targets,
        seen=model.n_seen,
        generator=model.rng.get_state(),
    )


def factors_of_samples(estimator: Any) -> Floats | None:
    """What class_weight multiplies the weights of samples with."""
    from onlinekern.estimators.class_weights import factors_of

    weights = getattr(estimator, "class_weight", None)
    if weights is None or hasattr(estimator, "_weigh_classes"):
        return None
    if isinstance(weights, str):
        raise CannotLearn("class_weight='balanced' follows the stream")
    return factors_of(weights, estimator.classes_)


def linear(space: Any) -> tuple[State, dict[str, Any]]:
    """Weights of the features themselves."""
    cls, arguments, state = space.__reduce__()[1]
    if cls is BatchSpace:
        if space.batch_size > 1 or space.radius > 0:
            raise CannotLearn("it learns in batches, or projects its weights")
        arguments = arguments[2:]
    d, _, n_outputs, averaging, intercept, *more = arguments
    skipped, in_length = more if cls is not SecondOrderSpace else (0, True)
    parts = np.reshape(state["blocks"], (1 + (averaging is not False), n_outputs, -1))
    numbers = {
        "values": np.ascontiguousarray(parts[0, :, : d + 1]),
        "companions": np.ascontiguousarray(parts[-1, :, : d + 1]),
        "averaging": averaging,
        "scale": state["scale"],
        "total": state["total"],
        "steps": state["steps"],
        "skipped": skipped,
    }
    variances = None
    if cls is SecondOrderSpace:
        variances = np.ones((n_outputs, d + 1))
        variances[:, : d + intercept] = diagonal_of(space)
    return LinearState(float(intercept), float(intercept) if in_length else 0.0, variances), numbers


def diagonal_of(space: Any) -> Floats:
    """The variances of a model of second order."""
    if space.kind != "diagonal":
        raise CannotLearn(f"covariance={space.kind!r} has no C; 'diagonal' has")
    found: Floats = space.get_state()["covariance"]
    return found


def coefficients_of(coefficients: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The numbers of coefficients, of support vectors or of features."""
    names = ("values", "companions", "scale", "total", "steps")
    return {
        **{name: state[name] for name in names},
        "averaging": coefficients.averaging,
        "skipped": 0,
    }


def mapped(space: Any) -> tuple[State, dict[str, Any]]:
    """Weights of the features of a map."""
    features = space.map
    numbers = coefficients_of(space.weights, space.weights.get_state())
    constant = features.constant >= 0
    places = features.columns()
    if constant:
        places = np.append(places, features.constant)
    for name in ("values", "companions"):
        numbers[name] = np.ascontiguousarray(numbers[name][:, places])
    return MappedState(map_of(features), constant), numbers


def staged(space: Any) -> tuple[State, dict[str, Any]]:
    """NOGD in its second stage."""
    arguments, state, _, _, learnt = space.__reduce__()[1]
    if learnt is None:
        raise CannotLearn(
            f"it has {space.support.n_rows} of the {space.n_landmarks} support vectors that "
            "become landmarks"
        )
    projection, weights = learnt
    features = restorer("Nystroem")(arguments, state, projection)
    averaging = space.support.coefficients.averaging
    return mapped(restorer("MappedSpace")(features, space.n_outputs, averaging, weights))


def kernel(space: Any) -> tuple[State, dict[str, Any]]:
    """Coefficients of support vectors."""
    budget, support = space.budget, space.support
    name = type(budget).__name__
    if name not in POLICIES or not type(budget).__module__.startswith("onlinekern.core."):
        raise CannotLearn(f"the budget policy {name} has no C")
    state = support.get_state()
    if len(state["free"]):
        raise CannotLearn("some slots of its support vectors are free")
    policy = Described(name, dict(zip(POLICIES[name], budget.arguments, strict=False)))
    policy.arguments.pop("generator", None)
    vectors = dense(state["rows"])
    own = kernel_of(support.kernel)
    lengths = budget.get_learnt().get("lengths", np.zeros(0))
    numbers = coefficients_of(support.coefficients, state)
    return KernelState(own, vectors, policy, state["added"], np.asarray(lengths)), numbers


def squares(space: Any) -> tuple[State, dict[str, Any]]:
    """Recursive least squares."""
    block, features = space.block, space.map
    if block.forgetting < 1:
        raise CannotLearn("its least squares forget, and give back the prior from time to time")
    inner, factor, offset = features, None, 0
    places = np.zeros(0, dtype=np.intp)
    if type(features) is WithLinear:
        inner, factor, offset = features.map, 1 / np.sqrt(max(features.d, 1)), features.offset
        places = np.arange(features.d)
    if features.constant >= 0:
        places = np.append(places, features.constant)
    places = np.concatenate([places, offset + inner.columns()])
    inverse = np.ascontiguousarray(inverse_of(block)[np.ix_(places, places)])
    values = np.ascontiguousarray(block.weights()[:, places])
    mapping = landmarks_of(inner) if type(inner) is NestedNystroem else map_of(inner)
    if not isinstance(mapping, Fourier | Landmarks):
        raise CannotLearn(f"the feature map {type(inner).__name__} has no C")
    state = SquaresState(factor, features.constant >= 0, mapping, inverse, block.sums.reg)
    none = {"averaging": False, "scale": 1.0, "total": 0.0, "steps": 0, "skipped": 0}
    return state, {"values": values, "companions": values, **none}


def landmarks_of(features: Any) -> Landmarks:
    """Landmarks that come with the stream."""
    support = features.landmarks
    return Landmarks(
        kernel=kernel_of(support.kernel),
        vectors=dense(support.get_state()["rows"]),
        whitening=features.whitening(),
        room=features.n_components,
        least=rounding_of(features) if features.selection == "first" else features.novelty,
        only_entered=features.selection == "margin",
    )


SPACES: dict[type, Callable[[Any], tuple[State, dict[str, Any]]]] = {
    LinearSpace: linear,
    BatchSpace: linear,
    SecondOrderSpace: linear,
    MappedSpace: mapped,
    NystroemSpace: staged,
    KernelSpace: kernel,
    LeastSquaresSpace: squares,
}
