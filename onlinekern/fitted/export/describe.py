"""Description of the computation of a fitted estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from onlinekern.core.learning.heads import OneVsOne
from onlinekern.core.learning.vote import MeanVote
from onlinekern.core.race import Race
from onlinekern.estimators.types import Array
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export.forest import terms_of_cells
from onlinekern.fitted.export.table import encoding_of, numbered_table
from onlinekern.fitted.export.terms import Constant, Linear
from onlinekern.fitted.families.features import formula_of, map_of
from onlinekern.preprocessing.partition_features import PartitionFeatures
from onlinekern.preprocessing.steps import does_something
from onlinekern.preprocessing.tables.encoder import TableEncoder


def describe(estimator: Any) -> parts.Scoring:
    """Describe what a fitted estimator computes.

    Parameters
    ----------
    estimator : estimator
        A learner of this library, or a pipeline of its transformers and a learner.

    Returns
    -------
    Scoring
        Its `scores` are those of `decision_function`; for a regressor, those of `predict`.

    Raises
    ------
    NotFittedError
        If the estimator, or a step of the pipeline, has not learnt anything.
    TypeError
        If a part cannot be described, such as a Python function as kernel, or a part or step of
        another package. The message names it.
    """
    if isinstance(estimator, Pipeline):
        return of_pipeline(estimator)
    from onlinekern.estimators.contract import Learner

    if not isinstance(estimator, Learner):
        name = type(estimator).__name__
        if isinstance(getattr(estimator, "estimator_", None), Learner):
            raise TypeError(f"{name} is not exported; the learner in it is: its estimator_")
        raise TypeError(f"{name} is no learner of onlinekern")
    return of_learner(estimator)


def of_learner(learner: Any) -> parts.Scoring:
    """Describe a learner alone."""
    model = learner._fitted_model
    if "encoder_" in vars(learner):
        table = encoding_of(learner.encoder_, f"the encoder of the {type(learner).__name__}")
    else:
        table = numbered_table(learner)
    with model.reading():
        if isinstance(model, Race):
            steps, body = of_race(model)
        else:
            # The offset of a detector.
            shift = -float(learner.offset_) if hasattr(learner, "_recent") else 0.0
            steps, body = rounding(model.dtype), of_model(model, shift)
            if isinstance(model.head, OneVsOne):
                body = parts.PairVote(model.head.n_labels, body)
    return parts.Scoring(
        name=type(learner).__name__,
        n_features=model.d,
        steps=steps,
        body=body,
        head=head_of(learner, body.n_outputs),
        labels=labels_of(learner),
        missing=learner._takes_missing,
        table=table,
    )


def labels_of(learner: Any) -> Array | None:
    """Return the label of each class number."""
    if hasattr(learner, "_recent"):
        return np.array([-1, 1])
    return None if is_regressor(learner) else learner.classes_


def head_of(learner: Any, n_outputs: int) -> str:
    """Return the kind of prediction, which says how it follows from the scores."""
    if hasattr(learner, "_recent"):
        return "outlier"
    if is_regressor(learner):
        return "regression"
    return "binary" if n_outputs == 1 else "classes"


def rounding(dtype: Any) -> tuple[parts.Step, ...]:
    """Return the rounding step before a model that has learnt samples of this dtype."""
    return (parts.Single(),) if np.dtype(dtype) == np.float32 else ()


def of_model(model: Any, shift: float = 0.0) -> parts.Sum:
    """Return the sum that a model computes, in the units of unstandardised targets."""
    terms = formula_of(model.space, "space")(model.space)
    if model.head.target_forgetting == 0:
        return parts.Sum(model.head.n_outputs, terms, shift=shift)
    return parts.Sum(model.head.n_outputs, terms, scale=model.target_scale, shift=model.target_mean)


def of_race(race: Any) -> tuple[tuple[parts.Step, ...], parts.Body]:
    """Return steps and vote of a race. Most experts score scaled rows in float32."""
    steps = parts.standardisation(race.moments, race.limit, True), parts.Single()
    # Members that score unscaled rows come first, so that rows can then be scaled in place.
    awake = sorted(np.flatnonzero(race.voting), key=lambda k: not race.raw[k])
    factors, links = race.vote.factors(race.voting), race.vote.links
    members = tuple(
        parts.Member(
            float(factors[k]), float(links[k]), of_model(race.experts[k]), bool(race.raw[k]),
            of_twin(race.twins[k]),
        )
        for k in awake
    )  # fmt: skip
    before = (*rounding(race.dtype), *parts.sentinels(race.moments))
    if not isinstance(race.vote, MeanVote):
        return before, parts.ClassVote(race.head.n_outputs, members, steps, race.layout)
    return before, parts.TargetVote(members, *ends_of(race.vote), steps, layout=race.layout)


def of_twin(twin: Any) -> parts.Twin | None:
    """Return how the scores of a target and its twin are combined."""
    if twin is None:
        return None
    own, other, factor = twin.formula()
    least, most = ends_of(twin.vote)
    return parts.Twin(own, other, factor, least, most)


def ends_of(vote: Any) -> tuple[float, float]:
    """Return the bounds of the predictions of a vote on targets."""
    seen = vote.get_state()["range"]
    if len(seen) == 0:
        return -np.inf, np.inf
    least, most = (float(end) for end in seen)
    reach = parts.MARGIN * (most - least)
    return least - reach, most + reach


def of_pipeline(pipeline: Any) -> parts.Scoring:
    """Describe a pipeline by its steps and its learner."""
    check_is_fitted(pipeline)
    *transformers, (_, learner) = pipeline.steps
    last = describe(learner)
    used = [(name, step) for name, step in transformers if does_something(step)]
    if used and last.table is not None:
        raise TypeError(
            f"the encoder of the {last.name} cannot be exported behind the step {used[0][0]!r}: "
            "a TableEncoder as the first step can"
        )
    table, before = last.table, used[0][1] if used else None
    if type(before) is TableEncoder:
        name, _ = used.pop(0)
        table = encoding_of(before, f"the step {name!r} (TableEncoder)")
    if used and type(used[-1][1]) is PartitionFeatures:
        last = of_cells(*used.pop(), last)
    steps = [step for name, transformer in used for step in of_transformer(name, transformer)]
    n_features = last.n_features
    if before is not None and type(before) is not PartitionFeatures:
        coded = type(before) is TableEncoder
        n_features = before.n_features_out_ if coded else before.n_features_in_
    return replace(last, n_features=n_features, steps=(*steps, *last.steps), table=table,
                   missing=last.missing and not steps)  # fmt: skip


def of_cells(name: str, transformer: Any, last: parts.Scoring) -> parts.Scoring:
    """Describe a linear learner behind cells of trees: its weights become those of the leaves."""
    partition, body = transformer._partition, last.body
    if not isinstance(body, parts.Sum) or not all(
        isinstance(term, Linear | Constant) for term in body.terms
    ):
        raise TypeError(
            f"the step {name!r} (PartitionFeatures) can be exported in front of linear learners "
            f"only, not of {last.name}. Export the learner alone, and transform the rows before"
        )
    terms: list[Any] = []
    for term in body.terms:
        terms += terms_of_cells(partition, term.weights) if isinstance(term, Linear) else [term]
    return replace(
        last,
        n_features=partition.d,
        steps=rounding(partition.dtype),
        body=replace(body, terms=tuple(terms)),
    )


def of_transformer(name: str, transformer: Any) -> list[parts.Step]:
    """Return the steps of a transformer in a pipeline."""
    from onlinekern.preprocessing.kernel_features import FeatureTransformer
    from onlinekern.preprocessing.learnt_metric import LearntMetric
    from onlinekern.preprocessing.scaler import OnlineStandardScaler

    if type(transformer) is OnlineStandardScaler:
        options = transformer._scaling()
        return [parts.standardisation(transformer._moments, options["limit"], options["scaled"])]
    if type(transformer) is LearntMetric:
        single = rounding(transformer._metric.dtype)
        return [*single, in_metric(transformer._metric.present.root), *single]
    if isinstance(transformer, FeatureTransformer):
        single = rounding(transformer._dtype)
        return [*single, parts.Features(map_of(transformer._map)), *single]
    raise TypeError(
        f"the step {name!r} ({type(transformer).__name__}) cannot be exported; steps that can: "
        "a TableEncoder that comes first, OnlineStandardScaler, FourierFeatures, NystroemFeatures, "
        "LearntMetric; PartitionFeatures right before the learner. Export the learner alone, and "
        "transform the rows before"
    )


def in_metric(root: Array) -> parts.Step:
    """Return the step that multiplies rows by M^(1/2), or by its diagonal."""
    if root.ndim == 2:
        return parts.Turned(root)
    return parts.Standardisation(None, 1 / root, np.inf)
