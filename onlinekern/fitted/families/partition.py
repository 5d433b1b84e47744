"""Partitions whose cells are features: trees, and the samples that the next ones grow from."""

from __future__ import annotations

from onlinekern.fitted.state import describe

SCALES = "centers[forest feature] factors[forest feature] directions[forest feature direction]"
NODES = "cuts[node] features[node] left[node] first[end]"

describe(
    "features.partition.Partition",
    "arguments(d= dtype= at= trees= most_in_leaf= n_candidates= share= kind= seed=) "
    f"state(entered rows[sample feature] targets[sample] shares[feature] {SCALES} {NODES})",
)
