"""Every registered part has its slow twin, so no part stays untested."""

import inspect
import re
from pathlib import Path

import pytest
from oracles import (
    algorithms,
    budgeted,
    dual_sgd,
    heads,
    kernels,
    linear,
    lol,
    losses,
    mapped,
    olla,
    projection,
    rules,
    schedules,
    sdrogd,
    second_order,
)

import onlinekern
from onlinekern import core

# Twins that are not in a table of the same name.
TWINS = {
    "LOSSES": {**losses.LOSSES, "perceptron": losses.PerceptronLoss},
    "KERNELS": kernels.KERNELS,
    "RULES": {
        **rules.RULES,
        **second_order.RULES,
        "batch_pegasos": rules.BatchPegasos,
        "inverse_time": rules.InverseTime,
        "pegasos": rules.Pegasos,
    },
    "HEADS": heads.HEADS,
    "SCHEDULES": schedules.SCHEDULES,
    # `run` of the twins has no gate object: `gate=None` is the open gate.
    "GATES": {
        "always": algorithms.run,
        "loss_proportional": algorithms.acceptance_probability,
        "slope_proportional": algorithms.acceptance_probability,
    },
    "POLICIES": {
        "random": budgeted.RBP,
        "uniform": budgeted.BOGD,
        "nonuniform": budgeted.BOGD,
        # `max_support` of its model is the only bound; None lets it grow.
        "grow": algorithms.Model.update,
        "refuse": algorithms.Model.update,
        "bpa_s": budgeted.bpa,
        "forgetron": budgeted.forgetron,
        "remove": projection.bsgd,
        "project": projection.bsgd,
        "merge": projection.bsgd,
        "projectron": projection.projectron,
        "bolssvm": projection.bolssvm,
        "merge_into_features": dual_sgd.dual_sgd,
    },
    "KERNEL_ALIASES": kernels.ALIASES,
    "COVARIANCES": dict.fromkeys(("diagonal", "full"), second_order.learn),
    # The twin takes them by name: `between` and `schedule`.
    "DISCRIMINANTS": dict.fromkeys(("linear", "quadratic"), sdrogd.sdrogd),
    "PENALTIES": olla.PENALTIES,
    "POINT_RULES": olla.POINT_RULES,
    "STEPS": dict.fromkeys(("sqrt", "safe", "paper"), sdrogd.step_size),
}


# Estimators whose twin is a separate module.
OTHER_TWINS = {
    "arow": second_order.arow,
    "bogd": budgeted.bogd,
    "bolssvm": projection.bolssvm,
    "bpa": budgeted.bpa,
    "bsgd": projection.bsgd,
    "cw": second_order.cw,
    "dual_sgd": dual_sgd.dual_sgd,
    "fogd": mapped.fogd,
    "forgetron": budgeted.forgetron,
    "lol": lol.lol,
    "nogd": mapped.nogd,
    "ogd": linear.ogd,
    "olla": olla.olla,
    "pa": linear.pa,
    "pegasos": linear.pegasos,
    "perceptron": linear.perceptron,
    "projectron": projection.projectron,
    "rbp": budgeted.rbp,
    "scw": second_order.scw,
    "sdrogd": sdrogd.sdrogd,
    "spaone_class": algorithms.spa_one_class,
}
REGISTERED = [(table, name) for table in core.__all__ for name in getattr(core, table)]


def test_every_table_is_held_to_its_twins():
    assert set(core.__all__) == set(TWINS)


@pytest.mark.parametrize(("table", "name"), REGISTERED)
def test_part_has_a_twin(table, name):
    assert name in TWINS[table], f"{name!r} of {table} has no twin in tests/oracles"
    assert TWINS[table][name] is not None


@pytest.mark.parametrize(("name", "cls"), onlinekern.all_estimators())
def test_estimator_has_a_twin(name, cls):
    family = re.sub("(Classifier|Regressor)$", "", name)
    twin = re.sub("(?<=[a-z])(?=[A-Z])", "_", family).lower()
    function = getattr(algorithms, twin, OTHER_TWINS.get(twin))
    assert callable(function), f"no {twin} in tests/oracles/algorithms.py"
    own = set(inspect.signature(function).parameters)
    everything = own | set(inspect.signature(algorithms.run).parameters) | {
        *("fit_intercept", "class_weight"),  # of the linear twins' learner
        *("max_iter", "tol", "n_iter_no_change"),  # linear.passes
        *("early_stopping", "validation_fraction", "verbose", "warm_start"),  # in which passes
        *("C", "eta", "schedule", "power", "reg", "delta", "epsilon"),  # rules and losses
        *("multi_class",),  # classify
        *("contamination",),  # how the scores are used
        *("n_components",),  # the twin takes the frequencies themselves
        *("n_epochs", "shuffle", "random_state", "window", "n_jobs"),  # not the algorithm's
        *("cache_size",),
    }  # fmt: skip
    assert set(cls().get_params()) <= everything


def test_every_estimator_is_public():
    for name, cls in onlinekern.all_estimators():
        assert getattr(onlinekern, name) is cls
        assert name in onlinekern.__all__


def test_every_subclass_is_registered():
    def below(cls):
        return {cls}.union(*map(below, cls.__subclasses__()))

    tasks = onlinekern._tasks
    bases = (
        *(tasks.Classifier, tasks.Regressor, tasks.OnlineClassifier, tasks.OnlineRegressor),
        onlinekern._outliers.OnlineOutlierDetector,
    )
    found = {cls for base in bases for cls in below(base) if cls not in bases}
    public = {cls for cls in found if cls.__module__.startswith("onlinekern.")}
    assert public == set(dict(onlinekern.all_estimators()).values())


def test_type_filter():
    kinds = ("classifier", "regressor", "outlier_detector")
    parts = [onlinekern.all_estimators(kind) for kind in kinds]
    assert all(parts)
    assert sorted(item for part in parts for item in part) == onlinekern.all_estimators()
    with pytest.raises(ValueError, match="type_filter"):
        onlinekern.all_estimators("clusterer")


def test_twins_import_nothing_of_ours():
    for path in (Path(__file__).parent / "oracles").glob("*.py"):
        assert not re.search(r"^\s*(import|from) +onlinekern", path.read_text(), re.M), path.name
