"""The terms of the models of the core: for each space, what it adds up to a score.

A space is looked up by its exact class: a subclass of another package may compute something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from onlinekern.core.features.hashed import HashedFourier
from onlinekern.core.features.joined import WithLinear
from onlinekern.core.features.map import RandomFourier
from onlinekern.core.features.nested import NestedNystroem
from onlinekern.core.features.nystroem import Nystroem
from onlinekern.core.features.structured import StructuredFourier
from onlinekern.core.kernels import kernels
from onlinekern.core.kernels.python_kernel import PythonKernel
from onlinekern.core.models.dual_sgd import DualSpace
from onlinekern.core.models.kernel_mean import MeanSpace
from onlinekern.core.models.least_squares import LeastSquaresSpace
from onlinekern.core.models.leverage import LeverageSpace
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.linear_batches import BatchSpace
from onlinekern.core.models.linear_second_order import SecondOrderSpace
from onlinekern.core.models.local import LocalSpace
from onlinekern.core.models.mapped import MappedSpace
from onlinekern.core.models.mapped_second_order import MappedSecondOrderSpace
from onlinekern.core.models.nogd import NystroemSpace
from onlinekern.core.models.olla import AllOutputs, OLLASpace, SupportOutputs
from onlinekern.core.models.sdrogd import SketchedSpace
from onlinekern.core.models.space import InverseTimeSpace, KernelSpace
from onlinekern.estimators.features import MOST_FREQUENCIES
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export.terms import (
    Constant,
    Expansion,
    Fourier,
    KernelFunction,
    Leverage,
    Linear,
    Local,
    Map,
    Mapped,
    Projected,
    Term,
)
from onlinekern.fitted.save.registered import restorer

Terms = tuple[Term, ...]
# Class of a kernel -> its name, and the parameters in the order of its arguments.
KERNELS: dict[type, tuple[str, tuple[str, ...]]] = {
    kernels.Gaussian: ("gaussian", ("gamma",)),
    kernels.Laplacian: ("laplacian", ("gamma",)),
    kernels.Polynomial: ("polynomial", ("gamma", "degree", "coef0")),
    kernels.Kernel: ("linear", ()),
    kernels.Sigmoid: ("sigmoid", ("gamma", "coef0")),
    kernels.Cosine: ("cosine", ()),
}


def kernel_of(kernel: Any) -> KernelFunction:
    """A kernel of the core."""
    if isinstance(kernel, PythonKernel):
        raise TypeError(
            f"kernel={kernel.function!r} is a Python function, which cannot be exported: take a "
            f"kernel of the library, one of {', '.join(name for name, _ in KERNELS.values())}"
        )
    name, parameters = looked_up(KERNELS, kernel, "kernel")
    return KernelFunction(name, **dict(zip(parameters, kernel.arguments, strict=True)))


def looked_up(table: dict[type, Any], part: Any, kind: str) -> Any:
    """The entry of a table for the exact class of a part; TypeError if there is none."""
    if type(part) not in table:
        raise TypeError(
            f"the {kind} {type(part).__name__} cannot be exported: it is no part of onlinekern "
            "whose formula is known"
        )
    return table[type(part)]


def map_of(features: Any) -> Map:
    """A feature map of the core, its constant left out."""
    return looked_up(MAPS, features, "feature map")(features)


def fourier(features: Any) -> Fourier:
    count = features.n_components * features.d
    if count > MOST_FREQUENCIES and not isinstance(features, RandomFourier):
        raise TypeError(
            f"the feature map {type(features).__name__} cannot be exported: a matrix would take "
            f"its place, of {features.n_components} frequencies of {features.d} features, and "
            f"at most {MOST_FREQUENCIES} numbers are written"
        )
    return Fourier(features.frequencies().astype(np.float64))


def nystroem(features: Any) -> Projected:
    projection = features.projection().astype(np.float64)
    landmarks = features.landmarks
    return Projected(kernel_of(landmarks.kernel), landmarks.rows(), projection)


def nested(features: Any) -> Projected:
    landmarks = features.landmarks
    # The features of a model of float32 samples are made with a whitening of that type.
    whitening = features.whitening().astype(landmarks.dtype).astype(np.float64)
    return Projected(kernel_of(landmarks.kernel), landmarks.rows(), whitening)


MAPS: dict[type, Callable[[Any], Map]] = {
    RandomFourier: fourier,
    HashedFourier: fourier,
    StructuredFourier: fourier,
    Nystroem: nystroem,
    NestedNystroem: nested,
}


def weighted(features: Any, weights: Floats, offsets: Floats) -> Terms:
    """The terms of weights of the features of a map, (n_outputs, n_features), and of offsets."""
    if isinstance(features, WithLinear):
        d = features.d
        linear = Linear(weights[:, :d] / np.sqrt(max(d, 1)))
        return linear, *weighted(features.map, weights[:, d:], offsets)
    constant = (Constant(offsets),) if np.any(offsets) else ()
    return Mapped(map_of(features), weights), *constant


def expansion(support: Any) -> Expansion:
    """The support vectors of a set under its kernel."""
    return Expansion(kernel_of(support.kernel), support.rows(), support.effective())


def kernel_space(space: Any) -> Terms:
    # A policy that solves least squares has offsets beside the support vectors.
    offsets = space.budget.get_learnt().get("offsets")
    constant = () if offsets is None else (Constant(offsets.ravel()[: space.n_outputs]),)
    return expansion(space.support), *constant


def dual_space(space: Any) -> Terms:
    weights, offsets = space.budget.coefficients()
    features = space.budget.map
    return expansion(space.support), *weighted(features, weights[:, features.columns()], offsets)


def mapped_space(space: Any) -> Terms:
    return weighted(space.map, space.effective(), space.offsets())


def linear_space(space: Any) -> Terms:
    effective = space.effective()
    linear = Linear(np.ascontiguousarray(effective[:, :-1]))
    return (linear, Constant(effective[:, -1])) if np.any(effective[:, -1]) else (linear,)


def olla_space(space: Any) -> Terms:
    return expansion(space.support), Constant(space.offsets())


def nystroem_space(space: Any) -> Terms:
    arguments, state, _, _, learnt = space.__reduce__()[1]
    if learnt is None:
        return (expansion(space.support),)
    projection, weights = learnt
    features = restorer("Nystroem")(arguments, state, projection)
    averaging = space.support.coefficients.averaging
    mapped = restorer("MappedSpace")(features, space.n_outputs, averaging, weights)
    return mapped_space(mapped)


def inverse_of(block: Any) -> Floats:
    """A^-1 of least squares, after all samples so far."""
    state = block.get_state()
    matrix: Floats = state["inverse"]
    if state["count"]:
        # The samples of the open block are not in the inverse yet: see `linalg.open_block`.
        solved = solve_triangular(state["factor"], state["products"].T, trans="T", lower=False)
        matrix = matrix - solved.T @ solved
    if block.forgetting < 1:
        matrix = matrix * block.forgetting ** -float(state["since"])
    return matrix


def rounding_of(features: Any) -> float:
    """The square root of the machine epsilon of a map's samples."""
    return float(np.sqrt(np.finfo(np.float32 if features.itemsize == 4 else np.float64).eps))


def leverage_space(space: Any) -> Terms:
    features, positions = space.map, space.map.columns()
    matrix = np.ascontiguousarray(inverse_of(space.block)[np.ix_(positions, positions)])
    return (Leverage(map_of(features), matrix, space.block.sums.reg, rounding_of(features)),)


def local_space(space: Any) -> Terms:
    _, _, _, _, totals = space.__reduce__()[1]
    d, _, _, _, n_assign, _, joint, center, intercept, offsets, *_ = space.options
    _, _, distances, n_distances = totals
    mean = space.center_of_samples() if center else np.zeros(d)
    prototypes = space.prototypes.means()
    local = space.local()
    bias = local[:, :, d] if intercept else np.zeros(local.shape[:2])
    centers = prototypes if offsets else np.tile(mean, (len(prototypes), 1))
    bandwidth = distances / n_distances if n_distances else 0.0
    parts = prototypes, n_assign, bandwidth, centers, np.ascontiguousarray(local[:, :, :d]), bias
    terms: Terms = (Local(*parts),) if len(prototypes) else ()
    if not joint:
        return terms
    shared = space.shared()
    constant = (shared[:, d] if intercept else 0.0) - shared[:, :d] @ mean
    return Linear(np.ascontiguousarray(shared[:, :d])), Constant(constant), *terms


SPACES: dict[type, Callable[[Any], Terms]] = {
    KernelSpace: kernel_space,
    InverseTimeSpace: kernel_space,
    DualSpace: dual_space,
    MappedSpace: mapped_space,
    MappedSecondOrderSpace: mapped_space,
    MeanSpace: mapped_space,
    LeastSquaresSpace: mapped_space,
    LinearSpace: linear_space,
    BatchSpace: linear_space,
    SecondOrderSpace: linear_space,
    SketchedSpace: linear_space,
    OLLASpace: olla_space,
    AllOutputs: olla_space,
    SupportOutputs: olla_space,
    NystroemSpace: nystroem_space,
    LeverageSpace: leverage_space,
    LocalSpace: local_space,
}


def terms_of(space: Any) -> Terms:
    """What a space adds up to a score; TypeError if its formula is not known."""
    terms: Terms = looked_up(SPACES, space, "space")(space)
    return terms
