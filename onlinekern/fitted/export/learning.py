"""Description of what a fitted model needs to go on learning: its state, and its step's parts.

Only what is known in full is described; `describe_learning` names in an error what is not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from onlinekern.core.base.part import Part
from onlinekern.core.learning.heads import Weighted
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export import states
from onlinekern.fitted.state import fields_of, kind_of, opened
from onlinekern.preprocessing.kernel_features import FeatureTransformer
from onlinekern.preprocessing.scaler import OnlineStandardScaler


def described(part: Any, kind: str) -> states.Described:
    """Return a part of the step by its name."""
    known = kind_of(type(part))
    if known is None or not known.options.get("in_c"):
        raise states.CannotLearn(f"the {kind} {type(part).__name__} has no C")
    arguments = fields_of(part)
    if known.name in ("Perceptron", "MarginPerceptron"):
        arguments["loss"] = part.loss
    for key, value in arguments.items():
        if isinstance(value, Part):
            arguments[key] = described(value, key)
    return states.Described(known.name, arguments)


def describe_learning(estimator: Any) -> states.Learning:
    """Describe what an estimator needs to go on learning; CannotLearn if its step is unknown."""
    if isinstance(estimator, Pipeline):
        return of_pipeline(estimator)
    own = vars(estimator)
    if not hasattr(estimator, "learn_one"):
        raise states.CannotLearn("it learns whole sets of samples")
    if "_warm_up" in own:
        raise states.CannotLearn(
            "the width of its kernel is not settled yet: give gamma a number, or more samples"
        )
    if "encoder_" in own:
        raise states.CannotLearn("the encoder of its tables has no C")
    model = estimator._fitted_model
    with model.reading():
        return of_model(estimator, model)


def of_pipeline(pipeline: Any) -> states.Learning:
    """Describe a pipeline whose maps stay, and whose scaler, the first step, learns."""
    *steps, (_, learner) = pipeline.steps
    used = [(name, step) for name, step in steps if step is not None and not isinstance(step, str)]
    learning = describe_learning(learner)
    for number, (name, step) in enumerate(used):
        if type(step) is OnlineStandardScaler and number == 0:
            learning = replace(learning, scaler=scaler_of(step))
        elif not isinstance(step, FeatureTransformer):
            raise states.CannotLearn(f"the step {name!r} learns too, and is not the first one")
    return learning


def scaler_of(scaler: Any) -> states.Scaler:
    """Return the running moments of a scaler that goes on learning."""
    moments, options = scaler._moments, scaler._scaling()
    state = opened(moments).state
    if moments.n == 0:
        raise states.CannotLearn("its scaler has seen no sample")
    return states.Scaler(
        mean=moments.mean(),
        variance=moments.variance(),
        centred=moments.centred,
        scaled=options["scaled"],
        weight=state.total / state.unit,
        forgetting=float(scaler.forgetting),
        limit=np.inf if options["limit"] is None else float(options["limit"]),
    )


def of_model(estimator: Any, model: Any) -> states.Learning:
    """Describe a model that no thread changes meanwhile."""
    if not hasattr(model, "space"):
        raise states.CannotLearn("it is a race of several models")
    kind = kind_of(type(model.space))
    if kind is None or kind.learning is None:
        raise states.CannotLearn(f"the space {type(model.space).__name__} has no C")
    own = opened(model)
    state, numbers = kind.learning(own.arguments.space)
    if not isinstance(state, states.ForestState) and model.head.n_targets > 1:
        raise states.CannotLearn(f"its samples have {model.head.n_targets} targets each")
    weighted = fields_of(model.head) if type(model.head) is Weighted else {}
    head, step_factors = weighted.get("inner", model.head), weighted.get("weights")
    return states.Learning(
        state=state,
        numbers=numbers,
        rule=described(model.rule, "rule"),
        sampler=described(model.sampler, "sampler"),
        head=described(head, "head"),
        factors=factors_of_samples(estimator),
        step_factors=None if step_factors is None else np.array(step_factors, dtype=np.float64),
        targets=None if own.targets is None else states.Targets(**vars(own.targets)),
        seen=model.n_seen,
        lead=own.lead,
        generator=model.rng.get_state(),
        recent=recent_of(estimator),
    )


def recent_of(estimator: Any) -> states.Recent | None:
    """Return the last scores of a detector."""
    recent = vars(estimator).get("_recent")
    if recent is None:
        return None
    fraction, values = float(estimator.contamination), np.array(recent.values)
    return states.Recent(fraction, values, recent.count, recent.EVERY, recent.quantile)


def factors_of_samples(estimator: Any) -> Floats | None:
    """Return what class_weight multiplies the weights of samples by."""
    from onlinekern.estimators.class_weights import factors_of

    weights = getattr(estimator, "class_weight", None)
    if weights is None or hasattr(estimator, "_weigh_classes"):
        return None
    if isinstance(weights, str):
        raise states.CannotLearn("class_weight='balanced' follows the stream")
    return factors_of(weights, estimator.classes_)
