"""Models of explicit features: weights, Gaussians over weights, and means of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.features.nested import NestedNystroem
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export.states import (
    CannotLearn,
    ConfidentState,
    Landmarks,
    MappedState,
    Mean,
    Numbers,
)
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.export.terms import Terms
from onlinekern.fitted.families.features import grown, joint_of, joint_places, map_of, weighted
from onlinekern.fitted.grow import Growth
from onlinekern.fitted.merge.gaussians import (
    Gaussian,
    combined,
    inverse,
    products,
    repeats_of,
    unit_matrices,
)
from onlinekern.fitted.merge.maps import Common, common_map, fitting
from onlinekern.fitted.merge.mix import Averaging, Mix, merged_steps, of, scaled_average
from onlinekern.fitted.merge.sketches import merged_precision
from onlinekern.fitted.state import State, closed, describe

WEIGHTS = scaled_average("output feature")


def merged_mapped(mix: Mix, parts: list[State], base: State | None) -> State:
    """Average the weights in the common features."""
    latest = mix.terms([own.state.scale * own.state.values for own in parts])
    common = common_map(*of(parts, base, "map"), latest)
    weights = merged_weights(mix, common, parts, base)
    return parts[0].with_learnt(map=common.map, state=weights)


def merged_weights(mix: Mix, common: Common, parts: list[State], base: State | None) -> State:
    """Return the state of the average of the models' weights."""
    averaging = Averaging(parts[0].averaged)
    states, before = of(parts, base, "state")
    pairs = [averaging.pair(state) for state in states]
    turned = [[common.vectors(half, i) for half in pair] for i, pair in enumerate(pairs)]
    width = states[0].values.shape[1]
    halves = [fitting(mix.blend(half), width) for half in zip(*turned, strict=True)]
    steps = merged_steps(mix, states, before)
    return states[0].with_learnt(**averaging.fields(halves[0], halves[1], steps))


def merged_mapped_gaussian(mix: Mix, parts: list[State], base: State | None) -> State:
    """Multiply the Gaussians in the common features."""
    space = parts[0]
    models = [Gaussian(own.state.scale * own.state.values, own.covariance) for own in parts]
    common = common_map(*of(parts, base, "map"), mix.terms([own.mean for own in models]))
    averaging = Averaging(space.averaged)
    weights = merged_weights(mix, common, parts, base)
    latest, averaged = averaging.pair(weights)
    prior = Gaussian(np.zeros_like(models[0].mean), None)
    if base:
        prior = Gaussian(base.state.scale * base.state.values, base.covariance)
    merged = merged_precision if space.covariance.kind_.name == "Sketched" else merged_covariance
    latest, covariance = merged(mix, common, models, prior)
    averaged = averaged if averaging.present else latest
    return space.with_learnt(
        map=common.map,
        covariance=covariance,
        n_degenerate=mix.count(*of(parts, base, "n_degenerate")),
        state=weights.with_learnt(**averaging.fields(latest, averaged, weights.steps)),
    )


def merged_covariance(mix: Mix, common: Common, models: list[Gaussian], base: Gaussian) -> Gaussian:
    """Return mean and covariance of the product in the common features."""
    precisions = [inverse(own.covariance.array) for own in models]
    one, means = unit_matrices(precisions[0]), [own.mean for own in models]
    first = one if base.covariance is None else inverse(base.covariance.array)
    every = [*zip(precisions, means, strict=True), (first, base.mean)]
    places = [*range(len(means)), -1]
    turned = [turned_gaussian(common, *own, i) for own, i in zip(every, places, strict=True)]
    (*precisions, first), (*targets, old) = (list(half) for half in zip(*turned, strict=True))
    array = models[0].covariance.array
    repeats = repeats_of(array.shape[1]) if array.ndim == 2 else 1.0
    latest, covariance = combined(mix, targets, precisions, old, first, repeats)
    if covariance.ndim > array.ndim:
        # Each variance is conditional on all other weights, as in the rules with covariance
        # 'diagonal'.
        covariance = 1 / np.diagonal(inverse(covariance), axis1=1, axis2=2)
    return Gaussian(latest, models[0].covariance.with_learnt(array=covariance))


def turned_gaussian(
    common: Common, precision: Floats, mean: Floats, place: int
) -> tuple[Floats, Floats]:
    """Return S^-1 and S^-1 mu in the common features; features that a model lacks get the prior.

    Both are sums over samples, so transforming the features transforms them exactly. The mean
    itself is not such a sum. If it were projected, the part of the function lost by the projection
    would enter as if samples had supported it.
    """
    target = products(precision, mean)
    if common.turns[place] is None:
        return precision, target
    length = mean.shape[1]
    wide = fitting(common.vectors(target, place), length)
    # The transform of variances is a full matrix. The mean follows from this full matrix.
    whole = precision if precision.ndim == 3 else np.stack([np.diag(row) for row in precision])
    found = unit_matrices(whole)
    for k, matrix in enumerate(whole - found):
        known = common.matrix(matrix, place)
        found[k, : len(known), : len(known)] += known
    return found, wide


def merged_mean(mix: Mix, parts: list[State], base: State | None) -> State:
    """Add the sums of features."""
    forgetting = parts[0].forgetting
    common = common_map(*of(parts, base, "map"))
    totals, total_before = of(parts, base, "total")
    states, before = of(parts, base, "state")
    sums = [n * own.scale * own.values for n, own in zip(totals, states, strict=True)]
    old = total_before * before.scale * before.values if before else 0.0
    total = mix.total(totals, total_before or 0.0, forgetting)
    mean = mix.total(sums, old, forgetting) / max(total, np.finfo(float).tiny)
    weights = Averaging(False).fields(mean, mean, merged_steps(mix, states, before))
    return parts[0].with_learnt(
        map=common.map, total=float(total), state=states[0].with_learnt(**weights)
    )


def begin(space: State, _: State, growth: Growth) -> None:
    """Set the weights of the constant feature for new classes."""
    constant = closed(space.map).constant
    if constant >= 0:
        growth.begin(space.state, constant, Averaging(space.averaged))


def terms(space: Any) -> Terms:
    return weighted(space.map, space.effective(), space.offsets())


def learning(space: State) -> tuple[MappedState, Numbers]:
    """Return the weights of a map's features."""
    features = closed(space.map)
    numbers = Numbers.of(space.state, space.averaged, places_of(features))
    return MappedState(map_of(features), features.constant >= 0), numbers


def confident_learning(space: State) -> tuple[ConfidentState, Numbers]:
    """Return the weights of joint features, and their covariance."""
    features, own = closed(space.map), space.covariance
    if not hasattr(own, "array"):
        raise CannotLearn("covariance='sketched' has no C; 'diagonal', 'full' and 'shared' have")
    factor, constant, mapping, root = joint_of(features)
    if isinstance(mapping, Landmarks) and mapping.only_entered and not mapping.fixed:
        raise CannotLearn("selection='margin' has not found all landmarks yet")
    places = joint_places(features)
    covariance = own.array[np.ix_(*[range(len(own.array)), places, places][: own.array.ndim])]
    state = ConfidentState(factor, constant, mapping, root, np.ascontiguousarray(covariance), False)
    return state, Numbers.of(space.state, space.averaged, places)


def confident_taught(space: State, found: Taught) -> State:
    """Return the space with the weights and the covariance of a device."""
    features = grown(space.map, found)
    places, own = joint_places(closed(features)), space.covariance
    covariance = found.covariance(own.array, places)
    more = found.average(space.state, places)
    return space.changed(
        map=features, covariance=own.changed(array=covariance), state=space.state.changed(**more)
    )


def mean_learning(space: State) -> tuple[MappedState, Numbers]:
    """Return the mean of a map's features."""
    features = closed(space.map)
    if type(features) is NestedNystroem and len(features.columns()) < features.n_components:
        raise CannotLearn("its landmarks are not all there")
    mean = Mean(space.forgetting, space.total)
    numbers = Numbers.of(space.state, False, features.columns())
    return MappedState(map_of(features), False, mean), numbers


def places_of(features: Any) -> Any:
    """Return the columns of a map's features, followed by the column of the constant."""
    places = features.columns()
    return np.append(places, features.constant) if features.constant >= 0 else places


def taught(space: State, found: Taught) -> State:
    """Return the space with the weights of a device."""
    more = found.average(space.state, places_of(closed(space.map)))
    return space.changed(state=space.state.changed(**more))


for name, axes in (
    ("Covariance", "class ..."),
    ("Diagonal", "class feature"),
    ("Full", "class feature feature"),
    ("Shared", "one feature feature"),
):
    described = f"cls= n_outputs# length= array~[{axes}]"
    describe(f"models.covariances.{name}", described, by_function=name == "Covariance")
describe(
    "models.sketched_covariance.Sketched",
    "n_outputs# sketch diagonal[one feature] factor[direction direction]",
)
describe(
    "models.mapped.MappedSpace",
    f"map n_outputs# averaged= state({WEIGHTS})",
    merge=merged_mapped,
    begin=begin,
    terms=terms,
    learning=learning,
    taught=taught,
)
describe(
    "models.mapped_second_order.MappedSecondOrderSpace",
    f"map averaged= covariance n_degenerate~ state({WEIGHTS})",
    merge=merged_mapped_gaussian,
    begin=begin,
    terms=terms,
    learning=confident_learning,
    taught=confident_taught,
)
describe(
    "models.kernel_mean.MeanSpace",
    f"map forgetting= total~ state({WEIGHTS})",
    merge=merged_mean,
    terms=terms,
    learning=mean_learning,
    taught=lambda space, found: taught(space, found).changed(total=found.number("mean_weight")),
)
