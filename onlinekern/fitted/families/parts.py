"""The immutable parts of a model by the names of their arguments, and its random numbers.

Parts that have a section in the C of `export/c` can learn there; others are refused by their name.
"""

from __future__ import annotations

from onlinekern.fitted.state import describe

# Module of the core -> classes -> names of their arguments.
IN_C = {
    "learning.losses": {
        "PerceptronLoss Hinge SquaredHinge Logistic Exponential Squared Absolute": "",
        "SmoothHinge Huber": "delta=",
        "EpsilonInsensitive": "epsilon=",
    },
    "learning.schedules": {
        "Schedule InverseSquareRoot Inverse": "eta=",
        "Power": "eta= power=",
    },
    "learning.rules": {
        "Perceptron": "",
        "Gradient Pegasos": "loss= schedule= regularisation=",
        "BatchPegasos": "loss= regularisation= batch_size=",
        "PassiveAggressive": "loss=",
        "PassiveAggressive1 PassiveAggressive2": "loss= C=",
        "ScaledPassiveAggressive1 ScaledPassiveAggressive2": "loss= C=",
    },
    "learning.second_order_rules": {
        "LeastSquares": "loss=",
        "AROW": "loss= r=",
        "ConfidenceWeighted": "loss= confidence=",
        "SoftConfidenceWeighted1 SoftConfidenceWeighted2": "loss= confidence= C=",
    },
    "learning.sampling": {
        "Gate": "",
        "WithinMargin": "margin=",
        "LossProportional": "alpha= beta= weighted=",
        "SlopeProportional": "G=",
    },
    "learning.heads": {
        "Head Binary": "",
        "Standardized": "forgetting=",
        "OneVsRest Margin Joint JointOneVsRest": "n_classes=",
    },
}
OTHERS = {
    "learning.heads": {"OneVsOne": "n_classes=", "Weighted": "inner= weights="},
    "learning.rules": {"InverseTime": "loss= regularisation= max_step=", "EverySample": "loss="},
    "learning.point_rules": {
        "PointGradient ImplicitGradient": "loss= schedule= C= penalised=",
        "StoppedGradient CappedGradient": "loss= schedule= C= penalised=",
        "PointNewton": "loss= C= relaxation=",
        "Penalty SquaredNorm AbsoluteNorm AbsoluteNormGradient": "",
    },
    "budgets.projectron": {"MarginPerceptron": "margins="},
    "models.sdrogd": {
        "LinearBetween QuadraticBetween": "within_weight= weight= regularisation=",
        "StepSize SafeStepSize": "",
        "RootStepSize": "eta0=",
    },
}
# Class of a kernel -> its name, and its arguments.
KERNELS = {
    "Gaussian": ("gaussian", "gamma="),
    "Laplacian": ("laplacian", "gamma="),
    "Polynomial": ("polynomial", "gamma= degree= coef0="),
    "Kernel": ("linear", ""),
    "Sigmoid": ("sigmoid", "gamma= coef0="),
    "Cosine": ("cosine", ""),
}

for table in (IN_C, OTHERS):
    for module, classes in table.items():
        for names, arguments in classes.items():
            for name in names.split():
                options = {"in_c": table is IN_C}
                describe(f"{module}.{name}", arguments, by_function=False, options=options)
for name, (kernel, arguments) in KERNELS.items():
    options = {"kernel": kernel}
    describe(f"kernels.kernels.{name}", arguments, by_function=False, options=options)
describe("base.random.Generator", "state")
