"""What packages that extend this one import: bases of estimators, tables of parts, constraints.

docs/extending.md explains them. They may change at minor versions, as the declarations (.pxd) of
the core may: a package that uses them names the minor version that it was written for.
"""

from onlinekern._constraints import AVERAGE, COUNT, KERNEL_WIDTH, NOT_NEGATIVE, POSITIVE
from onlinekern._gradient import LabelGradient, TargetGradient
from onlinekern._kernel import BudgetedEstimator, GrowingEstimator
from onlinekern._linear import LinearEstimator
from onlinekern._saving.foreign import register
from onlinekern._tasks import OnlineClassifier, OnlineRegressor
from onlinekern.core import GATES, KERNELS, LOSSES, POLICIES, RULES, SCHEDULES

__all__ = [
    "AVERAGE",
    "COUNT",
    "GATES",
    "KERNELS",
    "KERNEL_WIDTH",
    "LOSSES",
    "NOT_NEGATIVE",
    "POLICIES",
    "POSITIVE",
    "RULES",
    "SCHEDULES",
    "BudgetedEstimator",
    "GrowingEstimator",
    "LabelGradient",
    "LinearEstimator",
    "OnlineClassifier",
    "OnlineRegressor",
    "TargetGradient",
    "register",
]
