"""Costs of the experts of a race per sample.

They are microseconds on one core of 2024 with AVX2, rounded (benchmarks/race.py). They are part of
the definition of a race. Nothing is measured at run time, so two runs are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

# Kernel least squares: fixed cost, cost per pair of kernel features, and per product of two
# elements in kernel values. Pairs cost `UNGATED` times as much if all samples enter the model.
FIXED = 2.0
PER_PAIR = 1.6e-4
PER_PRODUCT = 1e-4
UNGATED = 1.5
# Factor with a metric, for its renewals in a stream of ten thousand samples.
RENEWED = 1.4
# Linear least squares of wide rows, without landmarks: cost per feature, and per pair of them.
PER_WIDE = 0.025
PER_WIDE_PAIR = 6.5e-5
# Cost per class of a learner with one loss for all classes.
PER_CLASS = 0.05
# If there are more outputs than this, they are replaced by this many (`features.gradients`).
MOST_SLOPES = 8


@dataclass(frozen=True)
class ForestCost:
    """Cost of a forest per sample, including its renewals, for a stream of some thousand samples.

    Attributes
    ----------
    teacher, feature, slope : float
        Kernel machine: fixed cost, per feature, and per feature and output for its gradients.
    tree, root, cell : float
        Each tree: fixed cost, per square root of the number of features (candidates for splits),
        and per output.
    """

    teacher: float
    feature: float
    slope: float
    tree: float
    root: float
    cell: float

    def always(self, width: int, n_outputs: int) -> float:
        """Return the cost of its kernel machine, the teacher."""
        each = self.feature + self.slope * min(n_outputs, MOST_SLOPES)
        return self.teacher + width * each

    def each(self, width: int, n_outputs: int) -> float:
        """Return the cost of a tree."""
        return self.tree + self.root * sqrt(width) + self.cell * n_outputs


# For classes, fitted to measured times, and scaled so that the costs of all experts that are awake
# sum to the time of the race (docs/race.md).
FOREST_COSTS = {
    "classification": ForestCost(8.0, 0.1, 0.016, tree=0.16, root=0.01, cell=0.015),
    "regression": ForestCost(5.0, 0.0, 0.05, tree=0.09, root=0.044, cell=0.01),
}
# With a light teacher.
LIGHT_COST = ForestCost(8.0, 0.06, 0.005, tree=0.16, root=0.01, cell=0.015)


def squares_cost(task: str, length: int, width: int) -> float:
    """Return the cost of kernel least squares with `length` features, of rows of `width`."""
    entering = 1.0 if task == "classification" else UNGATED
    return FIXED + entering * PER_PAIR * length**2 + PER_PRODUCT * length * width


def linear_cost(task: str, n_features: int, is_wide: bool) -> float:
    """Return the cost of linear least squares; for wide rows, by its own measured figures."""
    if is_wide:
        return FIXED + PER_WIDE * n_features + PER_WIDE_PAIR * n_features**2
    return squares_cost(task, n_features + 1, 1)
