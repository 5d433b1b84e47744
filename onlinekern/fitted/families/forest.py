"""Kernel forests: weights of the cells of trees, with a variance for each cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.fitted.export.forest import terms_of_forest
from onlinekern.fitted.state import describe

SCALE = "center[feature] factor[feature] directions[feature direction]"
NODES = "cuts[node] features[node] left[node] first[end]"
KEPT = "rows~[sample feature] targets~[sample] weights~[sample]"


def read(stored: dict[str, Any]) -> dict[str, Any]:
    """Take variances and weights from the records of the cells."""
    state = dict(stored["state"])
    cells = state.pop("cells")
    return {**stored, "state": {**state, "variances": cells[:, :, 0], "values": cells[:, :, 1:]}}


def write(named: dict[str, Any]) -> dict[str, Any]:
    state = dict(named["state"])
    records = [state.pop("variances")[:, :, None], state.pop("values")]
    # Weights that change their outputs become float64 on the way.
    cells = np.concatenate(records, axis=2).astype(np.float32)
    return {**named, "state": {**state, "cells": cells}}


describe(
    "models.forest.ForestSpace",
    "arguments(d= dtype= n_outputs# n_labels= rule= noises= levels= n_trees= most_in_leaf= "
    "n_candidates= share= most_rows= memory= replays= seed=) "
    f"state(entered~ {KEPT} shares[expert] {SCALE} {NODES} variances~[node expert] "
    "values[node expert output] metric~[feature] importances~[feature] offset unit)",
    read=read,
    write=write,
    terms=terms_of_forest,
)
