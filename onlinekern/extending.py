"""What packages that extend this one import: bases of estimators, tables of parts, constraints.

docs/extending.md explains them. They may change at minor versions, as the declarations (.pxd) of
the core may: a package that uses them names the minor version that it was written for.
"""

from onlinekern.core import GATES, KERNELS, LOSSES, POLICIES, RULES, SCHEDULES
from onlinekern.estimators.constraints import AVERAGE, COUNT, KERNEL_WIDTH, NOT_NEGATIVE, POSITIVE
from onlinekern.estimators.gradient import LabelGradient, TargetGradient
from onlinekern.estimators.kernel import BudgetedEstimator, GrowingEstimator
from onlinekern.estimators.linear import LinearEstimator
from onlinekern.estimators.tasks import OnlineClassifier, OnlineRegressor
from onlinekern.fitted.save.foreign import register

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
