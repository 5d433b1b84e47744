"""OLLA: kernel expansions over a set of points that is learnt as a whole, with offsets."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.budgets.policy import Budget
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.models.union import take_in
from onlinekern.fitted.export.terms import Constant, Terms
from onlinekern.fitted.families.features import SUPPORT_VECTORS, expansion
from onlinekern.fitted.merge.expansions import check_sets, empty_set, expansion_of, union
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.state import State, describe


def merged_olla(mix: Mix, parts: list[State], base: State | None) -> State:
    """Average the functions."""
    check_sets(parts)
    whole = union(mix, [expansion_of(part) for part in parts])
    support = empty_set(parts[0].arguments)
    take_in(KernelSpace(support, Budget()), whole.rows, np.ascontiguousarray(whole.coefficients.T))
    state = parts[0].state.told(**{**support.get_state(), "total": 0.0, "steps": 0})
    return parts[0].told(state=state, offset=mix.blend([part.offset for part in parts]))


def terms(space: Any) -> Terms:
    return expansion(space.support), Constant(space.offsets())


for name in ("OLLASpace", "AllOutputs", "SupportOutputs"):
    describe(
        f"models.olla.{name}",
        f"{SUPPORT_VECTORS} penalty= fit_intercept= offset[output]",
        by_function=name == "OLLASpace",
        merge=merged_olla,
        terms=terms,
    )
