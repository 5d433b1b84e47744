"""Merging models that have each learnt a part of a stream into one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from onlinekern.estimators.atomic import learnt_by, lock_of
from onlinekern.estimators.blas_threads import ONE_THREAD
from onlinekern.estimators.categories import common_categories
from onlinekern.estimators.outliers import RecentQuantile
from onlinekern.estimators.savable import Savable
from onlinekern.fitted.families.models import merged_moments
from onlinekern.fitted.merge.mix import Mix, every, in_turns, last
from onlinekern.fitted.merge.sketches import merged_sketch
from onlinekern.fitted.save.consistency import complete
from onlinekern.fitted.state import closed, opened, same
from onlinekern.preprocessing.pipeline import StreamPipeline
from onlinekern.preprocessing.steps import check_learnt, does_something
from onlinekern.preprocessing.tables.errors import difference

# These parameters only affect how a model is trained, so they may differ.
FREE = {"n_epochs", "n_jobs", "random_state", "shuffle", "verbose", "window"}
# These attributes belong to one stream, or are computed anew.
OWN = {"_numbers", "_warm_up"}
# (Mix, values of an attribute in the models, value in the base or None) -> merged value.
Merge: TypeAlias = Callable[[Mix, list[Any], Any], Any]


def merge(
    models: Sequence[Any], weights: Sequence[float] | None = None, *, base: Any = None
) -> Any:
    """Return one model that knows what several have learnt, each from a part of a stream.

    docs/merging.md describes the result for each learner, and its cost. Sums of kernel least
    squares, of moments and of means are added, which is exact. Linear and mapped models are
    averaged. Kernel expansions are averaged too; the merged model keeps those support vectors whose
    span comes nearest to the average.

    Parameters
    ----------
    models : sequence of estimators
        Fitted models of one class with the same parameters, features and classes. They are not
        changed. Kernel learners must have the same kernel width, and the same landmarks or random
        features if they use them. To ensure this, let all models continue from one model
        (`base`), or set `gamma` and an integer `random_state`.
    weights : sequence of float > 0, default=None
        Weight of each model's samples. None means 1 for each model: averages are then weighted by
        the numbers of samples learnt, and sums are added.
    base : estimator, default=None
        The model from which all of them have continued. What it has learnt counts once. None means
        that each model began untrained.

    Returns
    -------
    estimator
        A new model of the same class. Its counters include the samples of all models. Its random
        numbers continue those of the first model. Its memory of recent scores holds the last
        scores of each model, in proportion to the model's share.

    Raises
    ------
    TypeError
        If `models` holds no estimators of this library, or none that can be merged.
    ValueError
        If the models do not fit together, or there are no models, or a weight is not > 0.
    sklearn.exceptions.NotFittedError
        If a model has learnt nothing.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from onlinekern import KernelRLSClassifier, merge
    >>> X, y = make_classification(600, random_state=0)
    >>> first = KernelRLSClassifier(gamma=0.05, n_components=50, gate="always")
    >>> first = first.fit(X[:200], y[:200])
    >>> from copy import deepcopy
    >>> parts = [deepcopy(first).partial_fit(X[k:k + 200], y[k:k + 200]) for k in (200, 400)]
    >>> merge(parts, base=first).n_seen_
    600
    """
    if not isinstance(models, Iterable):
        raise TypeError(f"models must be a list of estimators, got {models!r}")
    models = list(models)
    if not models:
        raise ValueError("models must hold one model at least")
    given = every(models, base)
    for model in given:
        if not isinstance(model, Savable):
            raise TypeError(f"models must be estimators of onlinekern, got {model!r}")
    checked = np.ones(len(models)) if weights is None else np.asarray(weights, dtype=float)
    if checked.shape != (len(models),) or not np.isfinite(checked).all() or (checked <= 0).any():
        raise ValueError(f"weights must be {len(models)} finite numbers > 0, got {weights!r}")
    # BLAS runs on one thread: the bits of a model would otherwise depend on the number of threads.
    with ONE_THREAD():
        found = merged(Mix(tuple(checked.tolist())), models, base)
    # Merging one model with its base returns that model to the bit.
    return deepcopy(models[0]) if len(models) == 1 and checked[0] == 1 else found


def merged(mix: Mix, models: list[Any], base: Any) -> Any:
    """Merge models that have been checked."""
    given = every(models, base)
    check_same(given)
    if isinstance(models[0], StreamPipeline):
        return merged_pipeline(mix, models, base)
    own = [state_of(model) for model in models]
    before = None if base is None else state_of(base)
    attributes = {name: value for name, value in own[0].items() if name not in OWN}
    attributes |= merged_attributes(mix, own, before)
    twin = models[0].__class__.__new__(models[0].__class__)
    twin.__dict__.update(attributes)
    complete(twin)
    return twin


def check_same(given: list[Any]) -> None:
    """Raise an error unless the models have the same class, parameters and features."""
    first = given[0]
    for model in given:
        if type(model) is not type(first):
            raise ValueError(
                f"models must be of one class, got {type(first).__name__} and "
                f"{type(model).__name__}"
            )
        check_learnt(model)
        if isinstance(model, StreamPipeline):
            continue
        if "estimator_" in vars(model):
            raise TypeError(
                f"a {type(model).__name__} cannot be merged: what it knows of its own stream has "
                "no sum. Merge the learners inside, estimator_"
            )
        one, other = (m.get_params(deep=False) for m in (first, model))
        for name in sorted(one.keys() - FREE):
            if not same(one[name], other[name]):
                raise ValueError(
                    f"models must have the same parameters, got {name}={one[name]!r} and "
                    f"{name}={other[name]!r}"
                )
        if len({"encoder_" in vars(m) for m in (first, model)}) > 1:
            raise ValueError(
                "models must all have an encoder of tables, or none: let all begin with one (base)"
            )
        columns, others = (getattr(m, "feature_names_in_", None) for m in (first, model))
        if not same(columns, others):
            raise ValueError(f"models must have the same columns: {unlike(columns, others)}")
        labels, others = (getattr(m, "classes_", None) for m in (first, model))
        if not same(labels, others):
            raise ValueError(
                f"models must have the same classes_, got {labels} and {others}: announce all "
                "classes at the start"
            )


def unlike(columns: Any, others: Any) -> str:
    """Describe how the column names of two models differ."""
    if columns is None or others is None:
        return "one has learnt rows without names"
    found, known = (list(map(repr, names.tolist())) for names in (others, columns))
    return f"one {difference(found, known) or 'has them in another order'}"


def state_of(model: Any) -> dict[str, Any]:
    """Return a model's attributes; its learnt parts are opened while no thread changes it."""
    with lock_of(model):
        return {
            name: opened(value) if value is learnt_by(model) or name == "_map" else copy(value)
            for name, value in vars(model).items()
        }


def merged_attributes(mix: Mix, own: list[dict[str, Any]], before: Any) -> dict[str, Any]:
    """Return the merged attributes; all others are taken from the first model."""
    found: dict[str, Any] = {}
    for name, merge_parts in MERGED.items():
        if own[0].get(name) is not None:
            parts = [each[name] for each in own]
            found[name] = merge_parts(mix, parts, None if before is None else before[name])
    if "_moments" in own[0]:
        parts, base = [each["_moments"] for each in own], before and before["_moments"]
        found["_moments"] = closed(merged_moments(mix, parts, base, own[0]["forgetting"]))
    if "support_" in own[0]:
        # The number of training points has no meaning if the models had several training sets.
        found["support_"] = np.arange(found["_model"].space.support.n_rows)
    return found


def merged_spaces(mix: Mix, models: list[Any], base: Any) -> Any:
    kinds = sorted({each.kind_.name for each in every(models, base)})
    if len(kinds) > 1:
        # Races from files of former versions have no restarts.
        raise ValueError(f"the models are of different kinds or versions: {', '.join(kinds)}")
    return closed(models[0].kind_.merge(mix, models, base))


def common(message: str, part: Callable[[Any], Any] = lambda own: own) -> Merge:
    """Return a merging rule that requires equal values, else raises ValueError with this text.

    `part` selects what is compared.
    """

    def first(mix: Mix, each: list[Any], base: Any) -> Any:
        if not all(same(part(each[0]), part(other)) for other in each[1:]):
            raise ValueError(f"the models have different {message}")
        return closed(each[0])

    return first


def merged_quantile(mix: Mix, parts: list[RecentQuantile], base: Any) -> RecentQuantile:
    """Return the quantile of the last scores of all models, each in proportion to its share.

    The scores since the base are interleaved, as if one stream had continued the base's.
    """
    before = 0 if base is None else base.count
    mix = mix.counting([part.count for part in parts], before)
    found = RecentQuantile(parts[0].fraction, parts[0].odds)
    found.count = mix.count([part.count for part in parts], before)
    fresh = [last(held, min(part.count - before, len(held)))
             for part, held in zip(parts, map(in_order, parts), strict=True)]  # fmt: skip
    taken = mix.numbers_of_latest([len(held) for held in fresh], found.LENGTH)
    values = np.concatenate([last(held, n) for held, n in zip(fresh, taken, strict=True)])
    old = np.zeros(0) if base is None else in_order(base)
    old = last(old, min(found.LENGTH - len(values), len(old)))
    values = np.concatenate([old, values[in_turns(taken)]])
    places = np.arange(found.count - len(values), found.count) % found.LENGTH
    found.values[places] = values
    if len(values):
        found.renew()
    return found


def in_order(part: RecentQuantile) -> Any:
    """Return the stored numbers, the oldest first."""
    held = min(part.count, part.LENGTH)
    return part.values[np.arange(part.count - held, part.count) % part.LENGTH]


def merged_columns(mix: Mix, tables: list[list[Any]], before: Any) -> list[Any]:
    """Merge columns of tables by adding sums; categories must have the same features everywhere."""
    found = []
    for place, columns in enumerate(zip(*tables, strict=True)):
        first = columns[0]
        old = None if before is None else before[place]
        if any((type(c), c.name, c.n_features) != (type(first), first.name, first.n_features)
               for c in columns):  # fmt: skip
            raise ValueError(f"column {first.name!r} is not the same in all models")
        if hasattr(first, "known"):
            first = longest(columns)
        if hasattr(first, "total"):
            own = mix.counting([c.count for c in columns], old.count if old else 0)
            total = own.total([c.total for c in columns], old.total if old else 0.0)
            count = mix.count([c.count for c in columns], old.count if old else 0)
            first = replace(first, total=float(total), count=count)
        found.append(first)
    return found


def longest(columns: Sequence[Any]) -> Any:
    """Return the column with the most categories; the others must know the first ones of these."""
    most = max(columns, key=lambda column: len(column.known))
    for column in columns:
        if most.known[: len(column.known)] != column.known:
            raise ValueError(
                f"column {most.name!r} has its categories in different features: let all models "
                "begin with one that knows them (base), or make it kind 'hashed'"
            )
    return most


def merged_pipeline(mix: Mix, models: list[Any], base: Any) -> StreamPipeline:
    """Return a pipeline whose steps are merged."""
    names = [name for name, _ in models[0].steps]
    given = every(models, base)
    if any([name for name, _ in model.steps] != names for model in given):
        raise ValueError("the pipelines have different steps")
    steps: list[tuple[str, Any]] = []
    for place, (name, step) in enumerate(models[0].steps):
        if not isinstance(step, Savable):
            if does_something(step):
                raise TypeError(f"step {name!r} of the pipelines cannot be merged: {step!r}")
            steps.append((name, step))
            continue
        own = [model.steps[place][1] for model in models]
        steps.append((name, merged(mix, own, base and base.steps[place][1])))
    twin = copy(models[0])
    twin.__dict__.update({**vars(models[0]), "steps": steps})
    return twin


MERGED: dict[str, Merge] = {
    # Encoders are merged first. Models with different encoders also have different features, and
    # the error about features would hide the cause.
    "encoder_": merged,
    "_model": merged_spaces,
    # Sketches do not count their rows, so their shares follow from the weights alone.
    "_sketch": lambda mix, own, base: closed(
        merged_sketch(mix.counting([1] * len(own), 0), own, base)
    ),
    "_map": common(
        "features: give an integer as random_state, and let all begin with one model (base) whose "
        "features are settled, after 200 samples or `n_landmarks`"
    ),
    "_partition": common("partitions: let all begin with one whose trees have grown (base)"),
    # What is learnt in one metric has no meaning in another.
    "_metric": common(
        "metrics: let all begin with one model (base), and merge before a metric is looked at "
        "again, at sample 256, 512, 1,024, ...",
        lambda metric: metric.state.root,
    ),
    "_columns": merged_columns,
    "_scaler": merged,
    "_recent": merged_quantile,
    "_categories": lambda mix, categories, base: common_categories(categories),
    "n_iter_": lambda mix, numbers, base: max(numbers),
}
