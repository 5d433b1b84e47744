"""Frequent directions, scatter matrices, and the linear models that are learnt with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.fitted.families.linear import terms
from onlinekern.fitted.merge.mix import Mix, of
from onlinekern.fitted.merge.sketches import Term, merged_sketch
from onlinekern.fitted.state import State, describe


def merged_scatter(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge `Scatter`s: class means and weights exactly, the scatter by its sketch."""
    states, before = of(parts, base, "state")
    if before is None:
        nothing = {name: np.zeros_like(values) for name, values in vars(states[0]).items()}
        before = states[0].changed(**nothing)
    sums = np.maximum(mix.total(*of(states, before, "sums")), 0.0)
    counts = sums[0, :-1]
    moments = [state.sums[0, :-1, None] * state.means for state in states]
    old = before.sums[0, :-1, None] * before.means
    means = mix.total(moments, old) / np.maximum(counts, np.finfo(float).tiny)[:, None]
    extra = between_means(mix, states, before, means) if parts[0].centred else []
    sketch = merged_sketch(mix, *of(parts, base, "sketch"), extra)
    merged = states[0].with_learnt(means=means, sums=sums, top=states[0].top)
    return parts[0].with_learnt(sketch=sketch, state=merged)


def between_means(mix: Mix, states: list[Any], before: Any, means: Any) -> list[Term]:
    """Return terms that convert scatters about the models' means to scatter about the common mean.

    A model's scatter consists of the scatter of the base's samples, the scatter of its later
    samples, and the scatter between the means of these two groups. The terms remove the last one
    and add the scatter of each group's mean about the common mean.
    """
    terms: list[Term] = []
    first = before.sums[0, :-1]
    for weight, own in zip(mix.weights, states, strict=True):
        counts = own.sums[0, :-1]
        later = np.maximum(counts - first, 0.0)
        fresh = counts[:, None] * own.means - first[:, None] * before.means
        fresh = np.where(later[:, None] > 0, fresh / np.maximum(later, 1e-300)[:, None], means)
        within = np.sqrt(first * later / np.maximum(counts, 1e-300))
        terms.append((-weight, within[:, None] * (before.means - fresh)))
        terms.append((weight, np.sqrt(later)[:, None] * (fresh - means)))
    terms.append((1.0, np.sqrt(first)[:, None] * (before.means - means)))
    return [(factor, rows) for factor, rows in terms if rows.any()]


def merged_sketched(mix: Mix, parts: list[State], base: State | None) -> State:
    """Merge `SketchedSpace`s: weights are averaged; gradients of open batches are combined."""
    own, states = parts[0].arguments, [part.state for part in parts]
    scatter = merged_scatter(mix, *of(parts, base, "arguments.scatter"))
    exponent = max(state.exponent for state in states)
    factors = [np.ldexp(1.0, max(state.exponent - exponent, -1000)) for state in states]
    weights, average = (
        mix.mean([factor * rows for factor, rows in zip(factors, each, strict=True)])
        for each in ([own.weights for own in states], [own.average for own in states])
    )
    open_rows, pending = (op(own.pending for own in states) for op in (sum, max))
    merged = states[0].with_learnt(
        weights=weights,
        average=average if own.averaging else weights,
        gradient=sum(own.gradient for own in states) * (pending / max(open_rows, 1)),
        steps=mix.count(*of(parts, base, "state.steps")),
        exponent=exponent,
        pending=pending,
    )
    return parts[0].with_learnt(arguments=own.with_learnt(scatter=scatter), state=merged)


describe(
    "linalg.frequent_directions.FrequentDirections",
    "size= d= rows~[direction feature] squared_norm~ shrinkage~",
)
describe(
    "linalg.scatter.Scatter",
    "sketch n_classes= centred= state(means~[label feature] sums~[one sum] top~[one feature])",
)
describe(
    "models.sdrogd.SketchedSpace",
    "arguments(scatter discriminant= step_size= n_outputs= batch_size= intercept= averaging=) "
    "state(weights~[output feature] average[output feature] gradient~[output feature] "
    "steps~ exponent pending~)",
    merge=merged_sketched,
    terms=terms,
)
