"""The twin of every estimator, the tests that compare the two, and their settings.

A new estimator is one line of `ESTIMATORS`, a new budget policy one line of `POLICIES`.
"""

from collections.abc import Callable
from typing import NamedTuple

from oracles import (
    algorithms,
    budgeted,
    dual_sgd,
    filters,
    kernel_forest,
    kernel_logistic,
    kernel_mean,
    kernel_rls,
    kernel_second_order,
    kernels,
    linear,
    lol,
    mapped,
    olla,
    projection,
    race,
    sdrogd,
    second_order,
)
from sklearn.utils._param_validation import StrOptions

import onlinekern


class Entry(NamedTuple):
    """The twin of an estimator, and the module of tests that compares the two.

    The homes that several estimators share (`SHARED`) compare them in the settings of `cases`.
    """

    twin: Callable
    home: str
    cases: list = []


SHARED = {"test_algorithms", "test_budgeted", "test_linear", "test_second_order"}

# The Gaussian kernel is the default.
OTHER_KERNELS = sorted(set(kernels.KERNELS) - {"gaussian"})


def choices(name, parameter):
    """Return the words that a parameter of an estimator may be, sorted."""
    known = getattr(onlinekern, name)._parameter_constraints[parameter]
    return sorted(*(kind.options for kind in known if isinstance(kind, StrOptions)))


LABEL_LOSSES, TARGET_LOSSES = choices("OGDClassifier", "loss"), choices("OGDRegressor", "loss")
# eta reg = 0.4: after 41 steps the scale is below 1e-9, so it is folded at least twice in a stream.
STEPS = [
    {"schedule": "invsqrt", "eta": 0.8, "reg": 0.01},
    {"schedule": "inverse", "eta": 2.0, "reg": 0.3},
    {"schedule": "power", "power": 0.3, "eta": 0.4},
    {"schedule": "constant", "eta": 0.4, "reg": 1.0},
]
FOLDING = {"eta": 0.4, "reg": 1.0}
# eta reg = 0.4: the scale is below 1e-3 after 14 steps, so it is folded six times in a stream.
LINEAR_STEPS = [
    {"schedule": "inverse", "eta": 0.5, "reg": 0.3},
    {"schedule": "power", "power": 0.3, "eta": 0.1},
    {"schedule": "constant", "eta": 0.2, "reg": 2.0},
]
VARIANTS = [{"variant": "pa"}, {"variant": "pa1", "C": 0.2}, {"variant": "pa2", "C": 0.2}]
REMOVALS = ["uniform", "nonuniform"]


def with_each(name, values, cases):
    """Return the cases with each value of a parameter."""
    return [{name: value, **case} for value in values for case in cases]


ESTIMATORS = {
    "AhpatronClassifier": Entry(
        budgeted.ahpatron,
        "test_ahpatron",
        [{}, {"eta": 1.0, "epsilon": 0.0}, {"eta": 0.5, "max_norm": 1.2}],
    ),
    "AROWClassifier": Entry(second_order.arow, "test_second_order", [{"r": 0.5}]),
    "AROWRegressor": Entry(
        second_order.arow, "test_second_order", [{"r": 0.5}, {"r": 2.0, "epsilon": 0.3}]
    ),
    "BOGDClassifier": Entry(
        budgeted.bogd,
        "test_budgeted",
        with_each(
            "removal", REMOVALS, [{}, {"loss": "logistic", "cap": None}, {"cap": 0.8, **FOLDING}]
        ),
    ),
    "BOGDRegressor": Entry(
        budgeted.bogd,
        "test_budgeted",
        with_each(
            "removal",
            REMOVALS,
            [{"cap": 0.7}, {"loss": "huber", "schedule": "invsqrt", "cap": None}],
        ),
    ),
    "BOLSSVMClassifier": Entry(projection.bolssvm, "test_bolssvm"),
    "BPAClassifier": Entry(budgeted.bpa, "test_budgeted", [{"C": 1.0}, {"C": 0.2}]),
    "BPARegressor": Entry(budgeted.bpa, "test_budgeted", [{"C": 0.3, "epsilon": 0.2}, {"C": 10.0}]),
    "BSGDClassifier": Entry(projection.bsgd, "test_bsgd"),
    "BSGDRegressor": Entry(projection.bsgd, "test_bsgd"),
    "CWClassifier": Entry(
        second_order.cw, "test_second_order", [{"confidence": 0.7}, {"constraint": "variance"}]
    ),
    "DualSGDClassifier": Entry(dual_sgd.dual_sgd, "test_dual_sgd"),
    "DualSGDRegressor": Entry(dual_sgd.dual_sgd, "test_dual_sgd"),
    "FOGDClassifier": Entry(mapped.fogd, "test_mapped"),
    "FOGDRegressor": Entry(mapped.fogd, "test_mapped"),
    "ForgetronClassifier": Entry(budgeted.forgetron, "test_budgeted", [{}]),
    "FixedBudgetKRLSRegressor": Entry(filters.fixed_budget_krls, "test_filters"),
    "KAPARegressor": Entry(filters.kapa, "test_filters"),
    "KRLSRegressor": Entry(filters.krls, "test_filters"),
    "KRLSTRegressor": Entry(filters.krlst, "test_filters"),
    "KLMSRegressor": Entry(algorithms.kernel_ogd, "test_algorithms", [{"eta": 0.3}, {"eta": 1.0}]),
    "KernelAROWClassifier": Entry(kernel_second_order.kernel_arow, "test_kernel_second_order"),
    "KernelForestClassifier": Entry(kernel_forest.kernel_forest, "test_kernel_forest"),
    "KernelForestRegressor": Entry(kernel_forest.kernel_forest, "test_kernel_forest"),
    "KernelLogisticClassifier": Entry(kernel_logistic.kernel_logistic, "test_kernel_second_order"),
    "KernelMeanDetector": Entry(kernel_mean.kernel_mean, "test_kernel_mean"),
    "KernelRLSClassifier": Entry(kernel_rls.kernel_rls, "test_kernel_rls"),
    "KernelRLSRegressor": Entry(kernel_rls.kernel_rls, "test_kernel_rls"),
    "KernelOGDClassifier": Entry(
        algorithms.kernel_ogd,
        "test_algorithms",
        [*with_each("loss", LABEL_LOSSES, [{"eta": 0.2, "delta": 0.5}]), *STEPS],
    ),
    "KernelOGDRegressor": Entry(
        algorithms.kernel_ogd,
        "test_algorithms",
        [*with_each("loss", TARGET_LOSSES, [{"eta": 0.3, "delta": 0.5, "epsilon": 0.2}]), *STEPS],
    ),
    "KernelPAClassifier": Entry(algorithms.kernel_pa, "test_algorithms", VARIANTS),
    "KernelPARegressor": Entry(
        algorithms.kernel_pa, "test_algorithms", [{**case, "epsilon": 0.2} for case in VARIANTS]
    ),
    "KernelPegasosClassifier": Entry(algorithms.kernel_pegasos, "test_algorithms", [{"reg": 1e-2}]),
    "KernelPerceptronClassifier": Entry(algorithms.kernel_perceptron, "test_algorithms", [{}]),
    "KernelSCWClassifier": Entry(kernel_second_order.kernel_scw, "test_kernel_second_order"),
    "LOLClassifier": Entry(lol.lol, "test_lol"),
    "NOGDClassifier": Entry(mapped.nogd, "test_mapped"),
    "NOGDRegressor": Entry(mapped.nogd, "test_mapped"),
    "OGDClassifier": Entry(
        linear.ogd,
        "test_linear",
        [*with_each("loss", LABEL_LOSSES, [{"eta": 0.05, "delta": 0.5}]), *LINEAR_STEPS],
    ),
    "OGDRegressor": Entry(
        linear.ogd,
        "test_linear",
        [
            *with_each("loss", TARGET_LOSSES, [{"eta": 0.05, "delta": 0.5, "epsilon": 0.2}]),
            *LINEAR_STEPS,
        ],
    ),
    "OLLAClassifier": Entry(olla.olla, "test_olla"),
    "OLLARegressor": Entry(olla.olla, "test_olla"),
    "OSKLClassifier": Entry(
        algorithms.oskl,
        "test_algorithms",
        [
            {"G": 2.0},
            {"loss": "smooth_hinge", "eta": 0.2, "G": 1.5, "delta": 0.5, **STEPS[0]},
            {"loss": "squared_hinge", "eta": 0.2, "G": 1.5, "delta": 0.5, **STEPS[1]},
            {"loss": "exponential", "eta": 0.2, "G": 1.5, "delta": 0.5, **STEPS[2]},
            {"loss": "logistic", "eta": 0.2, "G": 1.5, "delta": 0.5, **STEPS[3]},
        ],
    ),
    "PAClassifier": Entry(linear.pa, "test_linear_pa"),
    "PARegressor": Entry(linear.pa, "test_linear_pa"),
    "PegasosClassifier": Entry(
        linear.pegasos,
        "test_linear",
        [
            {"reg": 1e-2},
            {"reg": 0.1, "batch_size": 7},
            {"reg": 0.5, "batch_size": 2, "projection": True, "fit_intercept": False},
        ],
    ),
    "PerceptronClassifier": Entry(linear.perceptron, "test_linear", [{}, {"fit_intercept": False}]),
    "ProjectronClassifier": Entry(projection.projectron, "test_projection"),
    "QKLMSRegressor": Entry(filters.qklms, "test_filters"),
    "RBPClassifier": Entry(budgeted.rbp, "test_budgeted", [{}]),
    "SCWClassifier": Entry(
        second_order.scw,
        "test_second_order",
        [{"C": 0.3}, {"variant": "scw2", "C": 0.3, "confidence": 0.9}],
    ),
    "SDROGDClassifier": Entry(sdrogd.sdrogd, "test_sdrogd"),
    "SlidingWindowKRLSRegressor": Entry(filters.sliding_window_krls, "test_filters"),
    "SPAClassifier": Entry(
        algorithms.spa, "test_algorithms", [{"eta": 0.3}, {"alpha": 0.5, "beta": 1.0}]
    ),
    "SPAOneClass": Entry(algorithms.spa_one_class, "test_one_class"),
    "SPARegressor": Entry(
        algorithms.spa,
        "test_algorithms",
        [{"eta": 0.3, "beta": 2.0}, {"alpha": 0.7, "beta": 0.8, "epsilon": 0.05}],
    ),
    "StreamClassifier": Entry(race.stream_learner, "test_race"),
    "StreamRegressor": Entry(race.stream_learner, "test_race"),
}

# Each budget policy stands with an estimator that uses it.
POLICIES = {
    "random": ("RBPClassifier", {"budget": 12}),
    "uniform": ("BOGDClassifier", {"budget": 12}),
    "nonuniform": ("BOGDClassifier", {"budget": 12, "removal": "nonuniform"}),
    "grow": ("KernelPerceptronClassifier", {}),
    "oldest": ("KernelPerceptronClassifier", {"max_support": 12, "when_full": "oldest"}),
    "nearest": ("KernelPerceptronClassifier", {"max_support": 12}),
    "refuse": ("KernelPerceptronClassifier", {"max_support": 12, "when_full": "stop"}),
    "bpa_s": ("BPAClassifier", {"budget": 12}),
    "forgetron": ("ForgetronClassifier", {"budget": 12}),
    "halve": ("AhpatronClassifier", {"budget": 12}),
    "remove": ("BSGDClassifier", {"budget": 12, "maintenance": "remove"}),
    "project": ("BSGDClassifier", {"budget": 12, "maintenance": "project"}),
    "merge": ("BSGDClassifier", {"budget": 12, "maintenance": "merge"}),
    "projectron": ("ProjectronClassifier", {"budget": 12}),
    "bolssvm": ("BOLSSVMClassifier", {"budget": 12}),
    "quantise": ("QKLMSRegressor", {"budget": 12, "epsilon": 1.5}),
    "affine_projection": ("KAPARegressor", {"budget": 12, "order": 5}),
    "linear_dependence": ("KRLSRegressor", {"budget": 12}),
    "sliding_window": ("SlidingWindowKRLSRegressor", {"budget": 12}),
    "fixed_budget": ("FixedBudgetKRLSRegressor", {"budget": 12, "eta": 0.1}),
    "tracker": ("KRLSTRegressor", {"budget": 12}),
    "merge_into_features": ("DualSGDClassifier", {"budget": 12, "merge_size": 3}),
}


def cases_of(home):
    """Return the cases of every estimator that a shared module of tests compares."""
    return {name: entry.cases for name, entry in ESTIMATORS.items() if entry.home == home}
