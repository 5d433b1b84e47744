"""Terms in C: the tables and the functions of each term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.kernel_width import falls_with_distance
from onlinekern.estimators.types import Floats
from onlinekern.fitted.export import terms
from onlinekern.fitted.export.c.forest import write_trees
from onlinekern.fitted.export.c.sections import VALUES, diagonal
from onlinekern.fitted.export.c.source import Source

NORMS = {"squared_distance": "square", "absolute_distance": "absolute"}


def is_sparse(vectors: Any, itemsize: int) -> bool:
    """Return whether vectors take less memory if only their non-zero elements are stored."""
    if not sp.issparse(vectors):
        return False
    whole = vectors.shape[0] * vectors.shape[1] * itemsize
    return bool(vectors.nnz * (itemsize + 4) < whole)


def needs_dense(term: terms.Term, itemsize: int) -> bool:
    """Return whether a term's code needs dense rows."""
    kernel, vectors = kernel_and_vectors(term)
    if kernel is not None:
        return falls_with_distance(kernel.name) or is_sparse(vectors, itemsize)
    if isinstance(term, terms.Moved):
        return term.root.ndim == 1
    return isinstance(term, terms.Local | terms.Trees)


def kernel_and_vectors(term: terms.Term) -> tuple[terms.KernelFunction | None, Any]:
    """Return the kernel of a term, and the vectors with which it compares rows."""
    if isinstance(term, terms.Expansion):
        return term.kernel, term.vectors
    features = term.map if isinstance(term, terms.Mapped | terms.Leverage) else None
    if isinstance(features, terms.Projected):
        return features.kernel, features.landmarks
    return None, None


def write_kernel(
    source: Source,
    id_: str,
    kernel: terms.KernelFunction,
    vectors: Any,
    capacity: int | None = None,
) -> str:
    """Write the function `<id>_kernel` with its vectors; return the expression for `norm`.

    With a `capacity`, the vectors are part of the state, with room for this many.
    """
    n_features = vectors.shape[1]
    sparse = is_sparse(vectors, source.dtype.itemsize)
    value, product = VALUES[kernel.name]
    norm = "0"
    if kernel.name == "cosine":
        write_norms(source, id_, vectors, capacity)
        norm = "inverse_norm(x)"
    elif sparse and product in NORMS:
        source.use(NORMS[product])
        norm = f"{NORMS[product]}(x)"
    if kernel.name == "polynomial":
        source.use("power")
    if capacity is not None:
        source.state(f"{id_}_vectors", vectors, capacity * n_features)
        expression = product_with(source, id_, product, n_features)
    else:
        expression = write_vectors(source, id_, vectors, product, sparse)
    parameters = {
        "$gamma": source.number(kernel.gamma),
        "$coef0": source.number(kernel.coef0),
        "$degree": str(kernel.degree),
        "${id}": id_,
    }
    for name, text in parameters.items():
        value = value.replace(name, text)
    source.fill("kernel", id=id_, product=expression, value=value)
    return norm


def write_norms(source: Source, id_: str, vectors: Any, capacity: int | None) -> None:
    """Write the inverse norms of vectors; with a capacity, they are part of the state."""
    source.use("inverse_norm")
    norms = np.sqrt(np.square(terms.dense(vectors)).sum(axis=1))
    numbers = 1 / np.where(norms > 0, norms, np.inf)
    if capacity is None:
        source.constants(f"{id_}_norms", numbers)
    else:
        source.state(f"{id_}_norms", numbers, capacity)


def product_with(source: Source, id_: str, product: str, n_features: int) -> str:
    """Return the expression for the product of a row with dense vector i."""
    source.use(product)
    vector = f"{id_}_vectors + i * {n_features}"
    return f"dot({vector}, x)" if product == "dot" else f"{product}({vector}, x->values, x->n)"


def write_vectors(source: Source, id_: str, vectors: Any, product: str, sparse: bool) -> str:
    """Write the tables of vectors; return the expression for the product of a row with vector i."""
    n_features = vectors.shape[1]
    if not sparse:
        source.constants(f"{id_}_vectors", terms.dense(vectors))
        return product_with(source, id_, product, n_features)
    rows = sp.csr_matrix(vectors)
    source.use(f"sparse_{product}")
    source.wide_columns |= n_features > 1 << 16
    source.constants(f"{id_}_elements", rows.data[: rows.indptr[-1]])
    width = 4 if n_features > 1 << 16 else 2
    source.integers(f"{id_}_columns", rows.indices[: rows.indptr[-1]], "column", width)
    source.integers(f"{id_}_starts", rows.indptr, "int32_t", 4)
    place = f"{id_}_starts[i]"
    stored = f"{id_}_elements + {place}, {id_}_columns + {place}, {id_}_starts[i + 1] - {place}"
    more = ", norm" if product in NORMS else ""
    return f"sparse_{product}({stored}, x->values{more})"


def write_expansion(source: Source, id_: str, term: terms.Expansion) -> None:
    count, outputs = term.coefficients.shape[1], len(term.coefficients)
    norm = write_kernel(source, id_, term.kernel, term.vectors)
    source.constants(f"{id_}_coefficients", term.coefficients.T)
    source.fill("expansion", id=id_, norm=norm, count=count, outputs=outputs)


def write_linear(source: Source, id_: str, term: terms.Linear) -> None:
    outputs, features = term.weights.shape
    source.constants(f"{id_}_weights", term.weights)
    source.fill("linear", id=id_, outputs=outputs, features=features)


def write_constant(source: Source, id_: str, term: terms.Constant) -> None:
    source.constants(f"{id_}_values", term.values)
    source.fill("constant", id=id_, outputs=len(term.values))


def write_mapped(source: Source, id_: str, term: terms.Mapped) -> None:
    if isinstance(own := term.simplest(), terms.Expansion):
        write_expansion(source, id_, own)
        return
    assert isinstance(term.map, terms.Fourier)
    count, features = term.map.frequencies.shape
    source.constants(f"{id_}_frequencies", term.map.frequencies)
    source.constants(f"{id_}_weights", term.of_waves().transpose(2, 0, 1))
    source.fill("fourier", id=id_, count=count, features=features, outputs=len(term.weights))


def write_moved(source: Source, id_: str, term: terms.Moved) -> None:
    inner = write_term(source, term.term)
    features = len(term.root)
    source.memory(f"{id_}_row", features)
    if term.root.ndim == 1:
        source.constants(f"{id_}_root", term.root)
        source.fill("weighed", id=id_, features=features, inner=inner)
    else:
        write_turn(source, id_, term.root)
        source.fill("turned", id=id_, features=features, inner=inner)


def write_turn(source: Source, id_: str, root: Floats) -> None:
    """Write the function `<id>_turn`, which multiplies a row by a symmetric matrix."""
    source.constants(f"{id_}_root", root)
    source.fill("turn", id=id_, features=len(root))


def write_features(source: Source, id_: str, features: terms.Map) -> None:
    """Write the function `<id>_features`."""
    if isinstance(features, terms.Fourier):
        count, width = features.frequencies.shape
        source.constants(f"{id_}_frequencies", features.frequencies)
        factor = source.number(1 / np.sqrt(count))
        source.fill("fourier_features", id=id_, count=count, features=width, factor=factor)
        return
    length, count = features.projection.shape
    norm = write_kernel(source, id_, features.kernel, features.landmarks)
    source.constants(f"{id_}_projection", features.projection.T)
    source.fill("projected_features", id=id_, norm=norm, count=count, length=length)


def write_leverage(source: Source, id_: str, term: terms.Leverage) -> None:
    length = term.map.n_features
    write_features(source, id_, term.map)
    source.constants(f"{id_}_matrix", term.matrix)
    source.memory(f"{id_}_z", length)
    rest = ""
    if isinstance(term.map, terms.Projected):
        rest = source.filled(
            "beyond_landmarks",
            id=id_,
            length=length,
            diagonal=diagonal_of(source, term.map.kernel),
            rounding=source.number(max(term.rounding, np.sqrt(np.finfo(source.dtype).eps))),
            reg=source.number(term.reg),
        )
    source.fill("leverage", id=id_, length=length, rest=rest.rstrip())


def diagonal_of(source: Source, kernel: terms.KernelFunction) -> str:
    """Return the expression for the kernel value of a row with itself."""
    value = diagonal(kernel.name)
    for name in ("square", "power"):
        if f"{name}(" in value:
            source.use(name)
    for name, number in (("$gamma", kernel.gamma), ("$coef0", kernel.coef0)):
        value = value.replace(name, source.number(number))
    return value.replace("$degree", str(kernel.degree))


def write_local(source: Source, id_: str, term: terms.Local) -> None:
    count, outputs, features = term.weights.shape
    # If hyperplanes are functions of x - c, the product with c moves into the intercept.
    moved = term.intercepts - np.einsum("jkf,jf->jk", term.weights, term.centers)
    source.constants(f"{id_}_prototypes", term.prototypes)
    source.constants(f"{id_}_weights", term.weights)
    source.constants(f"{id_}_intercepts", moved)
    assigned = min(term.n_assign, count)
    source.memory(f"{id_}_distances", assigned)
    source.memory(f"{id_}_nearest", assigned, "int32_t")
    gap = f"{id_}_distances[t] - {id_}_distances[0]"
    share = f"EXP(-({gap}) / {source.number(term.bandwidth)})" if term.bandwidth > 0 else "t == 0"
    source.fill(
        "local",
        id=id_,
        count=count,
        outputs=outputs,
        features=features,
        assigned=assigned,
        share=share,
    )


def adds_nothing(term: terms.Term) -> bool:
    """Return whether a term compares rows with vectors but has none."""
    own = term.term if isinstance(term, terms.Moved) else term
    _, vectors = kernel_and_vectors(own)
    no_vectors = vectors is not None and vectors.shape[0] == 0
    return no_vectors and not isinstance(own, terms.Leverage)


# For each class of terms: prefix of its tables, and the writer of its function `<id>_add`.
WRITERS: dict[type, tuple[str, Callable[[Source, str, Any], None]]] = {
    terms.Expansion: ("expansion", write_expansion),
    terms.Linear: ("linear", write_linear),
    terms.Constant: ("constant", write_constant),
    terms.Mapped: ("mapped", write_mapped),
    terms.Moved: ("moved", write_moved),
    terms.Leverage: ("leverage", write_leverage),
    terms.Local: ("local", write_local),
    terms.Trees: ("forest", write_trees),
}


def write_term(source: Source, term: terms.Term) -> str | None:
    """Add a term to a file; return the id of its function, or None if it adds nothing."""
    kind, write = WRITERS[type(term)]
    id_ = source.new_id(kind)
    if adds_nothing(term):
        return None
    write(source, id_, term)
    return id_
