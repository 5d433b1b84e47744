"""Features that are learnt from targets: cells of trees, and a metric; and the samples kept."""

from __future__ import annotations

from onlinekern.fitted.state import describe

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
