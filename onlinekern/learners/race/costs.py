"""What a sample costs the experts of a race.

In microseconds, on one core of 2024 with AVX2, rounded (benchmarks/race.py). They are part of the
definition of a race. Nothing is measured at run time: two runs are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

# A sample of kernel least squares costs so much: always, for each pair of its features, and for
# each product of a kernel value. Without a gate all samples enter, which costs this factor.
FIXED = 2.0
PER_PAIR = 1.6e-4
PER_PRODUCT = 1e-4
UNGATED = 1.5
# With a metric it costs this factor: the renewals of a stream of ten thousand.
RENEWED = 1.4
# What linear least squares of wide rows cost, which have no landmarks: each feature, and each pair.
PER_WIDE = 0.025
PER_WIDE_PAIR = 6.5e-5
# The cost of each class, where one loss is for all classes.
PER_CLASS = 0.05
# If there are more outputs than this, they are replaced by this many (`features.gradients`).
MOST_SLOPES = 8


@dataclass(frozen=True)
class ForestCost:
    """What a sample costs a forest, with all that renewals take of a stream of some thousands.

    For its teacher: always, for each feature, and for each of its slopes, by features and outputs;
    and each tree: always, by the root of the number of features, among which cuts are sought, and
    for each output.
    """

    teacher: float
    feature: float
    slope: float
    tree: float
    root: float
    cell: float

    def always(self, width: int, n_outputs: int) -> float:
        """Return the cost of its teacher."""
        each = self.feature + self.slope * min(n_outputs, MOST_SLOPES)
        return self.teacher + width * each

    def each(self, width: int, n_outputs: int) -> float:
        """Return the cost of a tree."""
        return self.tree + self.root * sqrt(width) + self.cell * n_outputs


# Those of classes have the form of measured times, in units in which all experts that are awake
# cost together what the race takes (docs/race.md).
FOREST_COSTS = {
    "classification": ForestCost(8.0, 0.1, 0.016, tree=0.16, root=0.01, cell=0.015),
    "regression": ForestCost(5.0, 0.0, 0.05, tree=0.09, root=0.044, cell=0.01),
}
# With a light teacher.
LIGHT_COST = ForestCost(8.0, 0.06, 0.005, tree=0.16, root=0.01, cell=0.015)


def squares_cost(task: str, length: int, width: int) -> float:
    """Return the cost of least squares of so many features of a kernel."""
    entering = 1.0 if task == "classification" else UNGATED
    return FIXED + entering * PER_PAIR * length**2 + PER_PRODUCT * length * width


def linear_cost(task: str, n_features: int, is_wide: bool) -> float:
    """Return the cost of linear least squares, of rows that are wide as it was measured."""
    if is_wide:
        return FIXED + PER_WIDE * n_features + PER_WIDE_PAIR * n_features**2
    return squares_cost(task, n_features + 1, 1)
