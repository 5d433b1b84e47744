"""What packages that extend this one import: bases of estimators, tables of parts, types.

docs/extending.md explains them. They may change at minor versions, as the declarations (.pxd) of
the core may: a package that uses them names the minor version that it was written for.
"""

from onlinekern.core import KERNELS, LOSSES, POLICIES, RULES, SAMPLERS, SCHEDULES
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.gradient import GradientStep, LabelLoss, TargetLoss
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.linear import LinearEstimator
from onlinekern.estimators.parameters import (
    Average,
    Count,
    KernelWidth,
    NotNegative,
    Positive,
    TriedWidth,
    estimator,
)
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.fitted.save.foreign import register

__all__ = [
    "KERNELS",
    "LOSSES",
    "POLICIES",
    "RULES",
    "SAMPLERS",
    "SCHEDULES",
    "Average",
    "Count",
    "GradientStep",
    "KernelEstimator",
    "KernelWidth",
    "LabelLoss",
    "LinearEstimator",
    "NotNegative",
    "OnlineClassifier",
    "OnlineRegressor",
    "Positive",
    "TargetLoss",
    "TriedWidth",
    "estimator",
    "register",
]
