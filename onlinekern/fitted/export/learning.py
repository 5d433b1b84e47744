"""Description of learning: the state of a fitted model, and the parts of its step.

A step is described only if all of its parts are known. `describe_learning` raises an error that
names an unknown part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from onlinekern.core.experts import REACH
from onlinekern.core.learning.heads import Weighted
from onlinekern.core.learning.vote import MeanVote
from onlinekern.core.linalg.sentinels import ENDS, WEIGHTS_OF_ENDS
from onlinekern.core.race import Race
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export import states
from onlinekern.fitted.state import fields_of, kind_of, opened
from onlinekern.preprocessing.kernel_features import FeatureTransformer
from onlinekern.preprocessing.learnt_metric import LearntMetric
from onlinekern.preprocessing.scaler import OnlineStandardScaler
from onlinekern.preprocessing.steps import does_something


def describe_learning(estimator: Any) -> states.Learning:
    """Describe how an estimator learns; raise CannotLearn if a part of its step is unknown."""
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
    """Describe a pipeline: fixed maps, and perhaps a scaler as the first step, which learns."""
    *steps, (_, learner) = pipeline.steps
    used = [(name, step) for name, step in steps if does_something(step)]
    learning = describe_learning(learner)
    if isinstance(learning.state, states.RaceState) and used:
        raise states.CannotLearn(f"the race scales its rows itself, behind the step {used[0][0]!r}")
    for number, (name, step) in enumerate(used):
        if type(step) is OnlineStandardScaler and number == 0:
            learning = replace(learning, scaler=scaler_of(step))
        elif isinstance(step, LearntMetric):
            raise states.CannotLearn(f"the step {name!r} learns a metric, which has no C")
        elif not isinstance(step, FeatureTransformer):
            raise states.CannotLearn(f"the step {name!r} learns too, and is not the first one")
        elif not step._is_settled():
            raise states.CannotLearn(
                f"the features of the step {name!r} are not settled yet: give more samples"
            )
    return learning


def scaler_of(scaler: Any) -> states.Scaler:
    """Return the running moments of a scaler that goes on learning."""
    options = scaler._scaling()
    limit = np.inf if options["limit"] is None else float(options["limit"])
    return scaler_by(scaler._moments, options["scaled"], float(scaler.forgetting), limit)


def scaler_by(
    moments: Any, scaled: bool, forgetting: float, limit: float, reach: float = np.inf
) -> states.Scaler:
    """Return running moments that go on learning, and how they scale rows."""
    state = opened(moments).state
    if moments.n == 0:
        raise states.CannotLearn("its scaler has seen no sample")
    return states.Scaler(
        mean=moments.mean(),
        variance=moments.variance(),
        centred=moments.centred,
        scaled=scaled,
        weight=state.total / state.unit,
        forgetting=forgetting,
        limit=limit,
        reach=reach,
        ends=ends_of(state),
    )


def ends_of(state: Any) -> states.Ends | None:
    """Return the ends by which running moments find missing values, if they look for these."""
    if state.ends is None:
        return None
    fields = state.ends.copy()
    fields[:, [ENDS.index(name) for name in WEIGHTS_OF_ENDS]] /= state.unit
    return states.Ends(float(state.count), fields)


def of_model(estimator: Any, model: Any) -> states.Learning:
    """Describe a model, which no thread may change meanwhile."""
    if isinstance(model, Race):
        return of_race(estimator, model)
    kind = kind_of(type(model.space))
    if kind is None or kind.learning is None:
        raise states.CannotLearn(f"the space {type(model.space).__name__} has no C")
    own = opened(model)
    # Trials after alarms do not take place in C.
    own = getattr(own, "model", own)
    state, numbers = kind.learning(own.arguments.space)
    if not isinstance(state, states.ForestState) and model.head.n_targets > 1:
        raise states.CannotLearn(f"its samples have {model.head.n_targets} targets each")
    weighted = fields_of(model.head) if type(model.head) is Weighted else {}
    head, step_factors = weighted.get("inner", model.head), weighted.get("weights")
    return states.Learning(
        state=state,
        numbers=numbers,
        rule=states.described(model.rule, "rule"),
        sampler=states.described(model.sampler, "sampler"),
        head=states.described(head, "head"),
        factors=factors_of_samples(estimator),
        step_factors=None if step_factors is None else np.array(step_factors, dtype=np.float64),
        targets=None if own.targets is None else states.Targets(**vars(own.targets)),
        seen=own.seen,
        lead=own.lead,
        generator=model.rng.get_state(),
        recent=recent_of(estimator),
    )


def of_race(estimator: Any, race: Any) -> states.Learning:
    """Describe a race; all of its experts must be known, and none may be a forest."""
    if any(race.raw):
        raise states.CannotLearn(
            "it is a race with forests, which take megabytes and grow from samples that are kept: "
            "with time_budget=10 or a smaller memory_budget it has none"
        )
    if factors_of_samples(estimator) is not None:
        raise states.CannotLearn(
            "class_weight counts in the numbers that scale the rows of a race, which C has not"
        )
    own = opened(race)
    # Trials after alarms do not take place in C.
    own = getattr(own, "race", own)
    vote, progress = own.arguments.vote, own.progress
    state, numbers = vote.state, vote.arguments
    experts = tuple(growing(of_model(None, expert)) for expert in race.experts)
    known = states.RaceState(
        experts=experts,
        costs=tuple(race.costs),
        links=tuple(race.vote.links),
        patience=tuple(race.patience),
        losses=np.append(state.losses, state.combined[0]),
        counts=np.append(state.counts, state.combined[1]),
        errors=state.errors,
        met=state.met,
        voting=np.array(progress.voting, dtype=np.int64),
        alarm=max(0, progress.alarm - progress.began),
        range=np.array(getattr(state, "range", np.zeros(0))),
        is_mean=isinstance(race.vote, MeanVote),
        decay=float(numbers.decay),
        sharpness=float(numbers.sharpness),
        budget=float(race.budget),
    )
    return replace(
        experts[0],
        state=known,
        factors=None,
        targets=None,
        seen=progress.n_seen - progress.began,
        scaler=scaler_by(race.moments, True, float(race.forgetting), float(race.limit), REACH),
    )


def growing(expert: states.Learning) -> states.Learning:
    """Return an expert with its landmarks in RAM, even if all of them exist already."""
    state = expert.state
    if not isinstance(state, states.JointState) or not isinstance(state.map, states.Landmarks):
        return expert
    return replace(expert, state=replace(state, map=replace(state.map, fixed=False)))


def recent_of(estimator: Any) -> states.Recent | None:
    """Return the last scores of a detector."""
    recent = getattr(estimator, "_recent", None)
    if recent is None:
        return None
    fraction, values = float(estimator.contamination), np.array(recent.values)
    numbers = recent.count, recent.EVERY, recent.quantile
    return states.Recent(fraction, values, *numbers, estimator._scores_are_odds())


def factors_of_samples(estimator: Any) -> Floats | None:
    """Return the factors by which class_weight multiplies the weights of samples."""
    from onlinekern.estimators.class_weights import factors_of

    weights = getattr(estimator, "class_weight", None)
    if weights is None or hasattr(estimator, "_weigh_classes"):
        return None
    if isinstance(weights, str):
        raise states.CannotLearn("class_weight='balanced' follows the stream")
    return factors_of(weights, estimator.classes_)
