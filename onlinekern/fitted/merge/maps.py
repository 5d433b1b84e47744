"""Feature maps that several models have in common.

Random Fourier features are common to models that have drawn the same frequencies. Nystroem features
with growing landmarks are coordinates in the span of the landmarks, in an orthonormal basis. A
function in the span of landmarks D is projected onto the span of other landmarks U by T = L_U^-1
K_UD L_D^-T, where K_D = L_D L_D'. If all models have the same landmarks, no projection is needed
and the function stays exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.core.features.nested import NestedNystroem
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.union import kernel_values
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.estimators.types import Array, Floats
from onlinekern.fitted.merge.expansions import gram_of
from onlinekern.fitted.merge.mix import every, of
from onlinekern.fitted.merge.selection import MOST_PROJECTED, exchanged
from onlinekern.fitted.state import State, closed, opened, same

NOT_COMMON = (
    "the models have different features: give all of them the same gamma and an integer as "
    "random_state, or let all begin with one model that has learnt the first samples (base)"
)


@dataclass(frozen=True)
class Common:
    """Feature map of the merged model, with the matrices that transform each model's weights to it.

    Parameters
    ----------
    map : State
    turns : tuple of ndarray or None
        A matrix T for each model, and for the base; None where the features are the same.
    constant : int or None
        Position of the constant feature.
    """

    map: State
    turns: tuple[Any, ...]
    constant: int | None = None

    def vectors(self, rows: Floats, place: int) -> Floats:
        """Transform rows of numbers, one per feature of model `place`, to the common features."""
        turn = self.turns[place]
        if turn is None:
            return rows
        return fitting(rows, turn.shape[1]) @ turn.T

    def matrix(self, matrix: Floats, place: int) -> Floats:
        """Transform a symmetric matrix of model `place` to the common features."""
        turn = self.turns[place]
        if turn is None:
            return matrix
        wide = fitting(fitting(matrix, turn.shape[1]).T, turn.shape[1])
        return turn @ wide @ turn.T


def fitting(rows: Floats, width: int) -> Floats:
    """Return rows of length `width`: missing numbers are 0, and numbers beyond it are dropped."""
    return np.pad(rows, ((0, 0), (0, max(0, width - rows.shape[1]))))[:, :width]


def common_map(
    parts: list[State], base: State | None, weights: Sequence[Floats] | None = None
) -> Common:
    """Return the map of the merged model; raise ValueError if no features are in common.

    Parameters
    ----------
    parts : list of State
    base : State or None
    weights : sequence of ndarray of shape (n_outputs, width), optional
        Weights of the features of each model. Their sum is the merged function. If there is no
        room for all landmarks, the ones are kept whose span comes nearest to this function.
    """
    maps = every(parts, base)
    if all(same(maps[0], other) for other in maps[1:]):
        return Common(parts[0], (None,) * len(maps), constant_of(parts[0]))
    if {part.kind_.name for part in maps} == {"WithLinear"}:
        offset = closed(parts[0]).offset
        inner = common_map(*of(parts, base, "map"), weights and [w[:, offset:] for w in weights])
        turns = [scipy.linalg.block_diag(np.eye(offset), turn) for turn in inner.turns]
        return Common(parts[0].with_learnt(map=inner.map), tuple(turns), constant_of(parts[0]))
    if {part.kind_.name for part in maps} == {"InMetric"}:
        if not all(same(maps[0].root, other.root) for other in maps[1:]):
            raise ValueError(NOT_COMMON)
        inner = common_map(*of(parts, base, "map"), weights)
        return Common(parts[0].with_learnt(map=inner.map, root=parts[0].root), inner.turns)
    if {part.kind_.name for part in maps} != {"NestedNystroem"}:
        raise ValueError(NOT_COMMON)
    return common_landmarks(parts, maps, weights)


def constant_of(part: State) -> int | None:
    """Return the position of the constant feature, which is 1 for all samples."""
    return closed(part.map).d if part.kind_.name == "WithLinear" else None


def common_landmarks(
    parts: list[State], maps: list[State], weights: Sequence[Floats] | None
) -> Common:
    """Take landmarks of all models until the map is full, the first ones of each model first."""
    first = maps[0]
    for name in ("arguments", "n_components", "selection", "novelty"):
        if any(not same(getattr(first, name), getattr(other, name)) for other in maps[1:]):
            raise ValueError(NOT_COMMON)
    landmarks = [part.state.rows for part in parts]
    places = [(np.arange(n.shape[0]) + 0.5) / max(n.shape[0], 1) for n in landmarks]
    order = np.argsort(np.concatenate(places), kind="stable")
    rows = one_after_another(landmarks)[order]
    if weights is not None and first.n_components < len(order) <= MOST_PROJECTED:
        coefficients = coefficients_of(parts, weights)[:, order]
        chosen = nearest_landmarks(first, rows, coefficients)
        rows = rows[np.concatenate([chosen, np.setdiff1d(np.arange(len(order)), chosen)])]
    support = SupportSet(*closed(first.arguments))
    common = NestedNystroem(support, first.n_components, first.selection, first.novelty)
    common.add_rows(rows)
    turns = tuple(turn_onto(common, part) for part in maps)
    return Common(opened(common), turns)


def coefficients_of(parts: list[State], weights: Sequence[Floats]) -> Floats:
    """Return the coefficients of all landmarks in w . z(x) = w'L^-1 k(x)."""
    own = [fitting(w, len(part.whitening)) @ part.whitening
           for part, w in zip(parts, weights, strict=True)]  # fmt: skip
    return np.concatenate(own, axis=1)


def nearest_landmarks(part: State, rows: Any, coefficients: Floats) -> Array:
    """Return the places of the landmarks whose span comes nearest to a function of all of them."""
    gram = gram_of(part.arguments, rows)
    return exchanged(gram, gram @ coefficients.T, part.n_components)


def turn_onto(common: Any, part: State) -> Floats:
    """Return T, which transforms the features of one map to those of another."""
    values = kernel_values(common.landmarks, part.state.rows)
    return common.whitening() @ values.T @ part.whitening.T
