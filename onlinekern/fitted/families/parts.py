"""Immutable parts of a model, with the names of their arguments, and its random numbers.

Parts with a section in the C of `export/c` can learn there. Others are refused with an error that
names them.
"""

from __future__ import annotations

from typing import Any

from onlinekern.core import KERNELS, LOSSES, SCHEDULES
from onlinekern.fitted.export.terms import FORMULAS
from onlinekern.fitted.state import describe

SOFT = "SoftConfidenceWeighted1 SoftConfidenceWeighted2"
# These classes name their arguments themselves.
NAMED_IN_C = (
    *("PerceptronLoss", "Hinge", "SquaredHinge", "SmoothHinge", "Logistic", "Exponential"),
    *("Squared", "EpsilonInsensitive", "Absolute", "Huber"),
    *("Schedule", "InverseSquareRoot", "Inverse", "Power"),
)
# Each row has a module of the core, classes, and the names of their arguments.
IN_C = (
    ("rules", "Perceptron", ""),
    ("rules", "Gradient Pegasos", "loss= schedule= regularisation="),
    ("rules", "EverySample", "loss="),
    ("rules", "InverseTime", "loss= regularisation= max_step="),
    ("rules", "BatchPegasos", "loss= regularisation= batch_size="),
    ("rules", "PassiveAggressive", "loss="),
    ("rules", "PassiveAggressive1 PassiveAggressive2", "loss= C="),
    ("rules", "ScaledPassiveAggressive1 ScaledPassiveAggressive2", "loss= C="),
    ("second_order_rules", "LeastSquares", "loss="),
    ("second_order_rules", "AROW", "loss= r="),
    ("second_order_rules", "ConfidenceWeighted VarianceConfidenceWeighted", "loss= confidence="),
    ("second_order_rules", SOFT, "loss= confidence= C="),
    ("sampling", "Sampler", ""),
    ("sampling", "WithinMargin", "margin="),
    ("sampling", "LossProportional", "alpha= beta= weighted="),
    ("sampling", "SlopeProportional", "G="),
    ("heads", "Head Binary", ""),
    ("heads", "Standardized", "forgetting="),
    ("heads", "SeveralTargets", "n_targets="),
    ("heads", "StandardizedTargets", "n_targets= forgetting="),
    ("heads", "OneVsRest Margin Joint JointOneVsRest", "n_classes="),
)
POINT = "PointGradient ImplicitGradient StoppedGradient CappedGradient"
OTHERS = (
    ("learning.heads", "OneVsOne", "n_classes="),
    ("learning.softmax_head", "Softmax", "n_classes="),
    ("learning.logistic_rules", "LogisticNewton", "loss= r="),
    ("learning.heads", "Weighted", "inner= weights="),
    ("learning.point_rules", POINT, "loss= schedule= C= penalised="),
    ("learning.point_rules", "PointNewton", "loss= C= relaxation="),
    ("learning.point_rules", "Penalty SquaredNorm AbsoluteNorm AbsoluteNormGradient", ""),
    ("models.sdrogd", "LinearBetween QuadraticBetween", "within_weight= weight= regularisation="),
    ("models.sdrogd", "StepSize SafeStepSize", ""),
    ("models.sdrogd", "RootStepSize", "eta0="),
)


def describe_parts(module: str, names: str, arguments: str, **options: Any) -> None:
    """Describe classes that have the same arguments."""
    for name in names.split():
        describe(f"{module}.{name}", arguments, by_function=False, options=options)


def arguments_of(cls: Any) -> str:
    """Return the arguments of a class that names them itself."""
    return " ".join(f"{name}=" for name in cls.parameters)


for module, names, arguments in IN_C:
    describe_parts(f"learning.{module}", names, arguments, in_c=True)
describe_parts("budgets.projectron", "MarginPerceptron", "margins=", in_c=True)
for module, names, arguments in OTHERS:
    describe_parts(module, names, arguments)
NAMED: dict[str, dict[str, Any]] = {"losses": LOSSES, "schedules": SCHEDULES}
for module, table in NAMED.items():
    for cls in table.values():
        in_c = cls.__name__ in NAMED_IN_C
        describe_parts(f"learning.{module}", cls.__name__, arguments_of(cls), in_c=in_c)
for name, kernel in KERNELS.items():
    formula = name if name in FORMULAS else None
    describe_parts("kernels.kernels", kernel.__name__, arguments_of(kernel), kernel=formula)
describe("base.random.Generator", "state")
