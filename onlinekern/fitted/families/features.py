"""Explicit features: the fields of feature maps, maps as plain numbers, and features of trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.features.joined import WithLinear
from onlinekern.core.features.map import RandomFourier
from onlinekern.core.features.metric import InMetric
from onlinekern.core.features.nested import MOST_ROUNDING, NestedNystroem
from onlinekern.core.kernels.python_kernel import PythonKernel
from onlinekern.core.linalg.copies import unpacked
from onlinekern.estimators.features import MOST_FREQUENCIES
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export import terms
from onlinekern.fitted.export.states import Landmarks
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.merge.mix import scaled_average
from onlinekern.fitted.state import State, describe, fields_of, kind_of, opened

SUPPORT_SET = "kernel= d= dtype= n_outputs# averaged= is_sparse="
ROWS = "rows[slot ...] terms~[slot] ages~[slot] free[free] added"
SUPPORT_VECTORS = f"arguments({SUPPORT_SET}) state({ROWS} {scaled_average('output slot')})"
# The coefficients of these sets are not used, so there is one output whatever the model has.
LANDMARKS = SUPPORT_VECTORS.replace("#", "=").replace("output", "one")


def formula_of(part: Any, what: str) -> Any:
    """Return the terms of a space or a map, or a kernel's name; raise TypeError if unknown."""
    kind = kind_of(type(part))
    formula = kind and (kind.terms or kind.options.get("kernel"))
    if not formula:
        raise TypeError(
            f"the {what} {type(part).__name__} cannot be exported: it is no part of onlinekern "
            "whose formula is known"
        )
    return formula


def kernel_of(kernel: Any) -> terms.KernelFunction:
    """Return a kernel of the core as plain numbers."""
    if isinstance(kernel, PythonKernel):
        raise TypeError(
            f"kernel={kernel.function!r} is a Python function, which cannot be exported: take a "
            f"kernel of the library, one of {', '.join(terms.FORMULAS)}"
        )
    return terms.KernelFunction(formula_of(kernel, "kernel"), **fields_of(kernel))


def map_of(features: Any) -> terms.Map:
    """Return a feature map of the core as plain numbers, without its constant feature."""
    return formula_of(features, "feature map")(features)


def rounding_of(features: Any) -> float:
    """Return the square root of the machine epsilon of the samples' dtype."""
    return float(np.sqrt(np.finfo(np.float32 if features.itemsize == 4 else np.float64).eps))


def fourier(features: Any) -> terms.Fourier:
    count = features.n_components * features.d
    if count > MOST_FREQUENCIES and not isinstance(features, RandomFourier):
        raise TypeError(
            f"the feature map {type(features).__name__} cannot be exported: a matrix would take "
            f"its place, of {features.n_components} frequencies of {features.d} features, and "
            f"at most {MOST_FREQUENCIES} numbers are written"
        )
    return terms.Fourier(features.frequencies().astype(np.float64))


def nystroem(features: Any) -> terms.Projected:
    projection = features.projection().astype(np.float64)
    landmarks = features.landmarks
    return terms.Projected(kernel_of(landmarks.kernel), landmarks.rows(), projection)


def whole(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a map with L^-1 unpacked to a full matrix."""
    n = len(stored["state"]["ages"])
    return {**stored, "whitening": unpacked("whitening", stored["whitening"], n, 1, False)}


def nested(features: Any) -> terms.Projected:
    landmarks = features.landmarks
    # If the samples are float32, the core computes features with a whitening of that type.
    whitening = features.whitening().astype(landmarks.dtype).astype(np.float64)
    return terms.Projected(kernel_of(landmarks.kernel), landmarks.rows(), whitening)


def weighted(features: Any, weights: Floats, offsets: Floats) -> terms.Terms:
    """Return the terms of weights (n_outputs, n_features) of a map's features, plus offsets."""
    if isinstance(features, WithLinear):
        d = features.d
        linear = terms.Linear(weights[:, :d] / np.sqrt(max(d, 1)))
        return linear, *weighted(features.map, weights[:, d:], offsets)
    constant = (terms.Constant(offsets),) if np.any(offsets) else ()
    if isinstance(features, InMetric):
        mapped = terms.Mapped(map_of(features.map), weights)
        return terms.Moved(features.root, mapped), *constant
    return terms.Mapped(map_of(features), weights), *constant


def expansion(support: Any) -> terms.Expansion:
    """Return the kernel expansion of a support set."""
    return terms.Expansion(kernel_of(support.kernel), support.rows(), support.effective())


def joint_of(features: Any) -> tuple[float | None, bool, Any, Any]:
    """Return the parts of joint features.

    These are the factor of the row's own elements or None, whether a constant 1 follows them, the
    map, and the root of the metric.
    """
    inner: Any = features
    factor = root = None
    if type(features) is WithLinear:
        inner, factor = features.map, 1 / np.sqrt(max(features.d, 1))
    if type(inner) is InMetric:
        inner, root = inner.map, inner.root
    mapping = landmarks_of(inner) if type(inner) is NestedNystroem else map_of(inner)
    return factor, features.constant >= 0, mapping, root


def joint_places(features: Any) -> Any:
    """Return the features' positions in C: the row's own, the constant, those of the map."""
    inner, offset, places = features, 0, np.zeros(0, dtype=np.intp)
    if type(features) is WithLinear:
        inner, offset, places = features.map, features.offset, np.arange(features.d)
    if features.constant >= 0:
        places = np.append(places, features.constant)
    return np.concatenate([places, offset + inner.columns()])


def grown(features: State, found: Taught) -> State:
    """Return a map with the landmarks of a device."""
    if "whitening" not in found:
        return features
    if hasattr(features, "map"):
        return features.changed(map=grown(features.map, found))
    return grown_landmarks(features, found)


def grown_landmarks(landmarks: State, found: Taught) -> State:
    """Return landmarks with those of a device."""
    n, room = found.count("n_landmarks"), landmarks.n_components
    whitening = found.matrix("whitening", room)[:n, :n]
    fields = found.vectors(landmarks, n)
    empty = np.zeros((len(landmarks.state.values), n))
    state = landmarks.state.changed(**fields, values=empty, companions=empty)
    return landmarks.changed(state=state, whitening=np.tril(whitening))


def landmarks_of(features: Any) -> Landmarks:
    """Return the landmarks that grow with the stream."""
    own = opened(features)
    vectors = terms.dense(own.state.rows)
    return Landmarks(
        kernel=kernel_of(own.arguments.kernel),
        vectors=vectors,
        whitening=own.whitening,
        room=own.n_components,
        least=rounding_of(features) if own.selection == "first" else own.novelty,
        only_entered=own.selection == "margin",
        fixed=len(vectors) == own.n_components,
        steepest=float(MOST_ROUNDING / np.finfo(own.arguments.dtype).eps),
    )


for name, text in (
    ("map.RandomFourier", "frequencies="),
    ("hashed.HashedFourier", "table= seed= n_components= d="),
    ("structured.StructuredFourier", "signs= scales= d="),
):
    text = f"{text} dtype= constant="
    describe(f"features.{name}", text, by_function=False, terms=fourier)
describe("features.joined.WithLinear", "map", by_function=False)
describe("features.metric.InMetric", "map root[feature ...]", by_function=False)
describe("features.nystroem.Nystroem", f"{LANDMARKS} projection=", terms=nystroem)
describe(
    "features.nested.NestedNystroem",
    f"{LANDMARKS} n_components= selection= novelty= whitening[slot slot]",
    read=whole,
    terms=nested,
)


SCALES = "centers[forest feature] factors[forest feature] directions[forest feature direction]"
NODES = "cuts[node] features[node] left[node] first[end]"

describe(
    "features.partition.Partition",
    "arguments(d= dtype= at= trees= most_in_leaf= n_candidates= share= kind= seed=) "
    f"state(entered rows[sample feature] targets[sample] shares[feature] {SCALES} {NODES})",
)
METRIC = "entered rows[sample feature] targets[sample] root[feature ...]"
describe(
    "features.gradient_metric.GradientMetric",
    f"arguments(d= dtype= full= exponent= kind= seed=) state({METRIC})",
)
describe(
    "models.chosen_metric.ChosenMetric",
    f"arguments(d= dtype= exponent= kind= seed=) state({METRIC} form gradients[feature ...])",
)
