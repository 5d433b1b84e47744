"""Every estimator and every part of the core is compared with its slow twin by a test."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
import test_features
import test_kernel_second_order
import test_kernels
import test_losses
import test_olla
import test_policies
import test_rules
import test_sdrogd
from oracles import algorithms, kernel_second_order
from registry import ESTIMATORS, POLICIES, SHARED

import onlinekern
from onlinekern import core

# Table of the core -> the test that compares its entries with their twins, and the argument which
# that test takes them from: names of entries, or parts.
COMPARISONS = {
    "COVARIANCES": (test_kernel_second_order.test_twin, "covariance"),
    "DISCRIMINANTS": (test_sdrogd.test_every_form_is_the_oracle_s, "between"),
    "FEATURE_MAPS": (test_features.test_map, "name"),
    "SAMPLERS": (test_rules.test_every_rule_behind_every_gate_under_every_head, "gate"),
    "HEADS": (test_rules.test_every_rule_behind_every_gate_under_every_head, "head"),
    "KERNELS": (test_kernels.test_decision_function, "kernel"),
    "KERNEL_ALIASES": (test_kernels.test_decision_function, "kernel"),
    "LOSSES": (test_losses.test_twin, "name"),
    "PENALTIES": (test_olla.test_penalties, "name"),
    "POINT_RULES": (test_olla.test_rules, "name"),
    "POLICIES": (test_policies.test_twin, "name"),
    "RULES": (test_rules.test_rule, "rule"),
    "SCHEDULES": (test_rules.test_schedule, "name"),
    "STEP_SIZES": (test_sdrogd.test_every_step_is_the_oracle_s, "schedule"),
}
REGISTERED = [(table, name) for table in core.__all__ for name in getattr(core, table)]


def values_of(test, argument):
    """Return the values that a test is parametrised with."""
    for mark in test.pytestmark:
        names, cases = mark.args[:2] if mark.name == "parametrize" else ((), ())
        if argument == names:
            return list(cases)
        if argument in names and not isinstance(names, str):
            position = names.index(argument)
            return [getattr(case, "values", case)[position] for case in cases]
    raise LookupError(f"{test.__name__} is not parametrised with {argument}")


def test_every_table_is_compared():
    assert set(core.__all__) == set(COMPARISONS)


@pytest.mark.parametrize(("table", "name"), REGISTERED)
def test_part_is_compared_with_its_twin(table, name):
    values = values_of(*COMPARISONS[table])
    if not isinstance(values[0], str):
        values, name = [type(value) for value in values], getattr(core, table)[name]
    assert name in values, f"no test compares {name!r} of {table} with a twin"


def test_registry_holds_what_there_is():
    assert set(ESTIMATORS) == set(dict(onlinekern.all_estimators()))
    assert set(POLICIES) == set(core.POLICIES)


@pytest.mark.parametrize(("name", "cls"), onlinekern.all_estimators())
def test_estimator_is_compared_with_its_twin(name, cls):
    home = importlib.import_module(ESTIMATORS[name].home)
    if home.__name__ in SHARED:
        compared = {value.partition("-")[0] for value in values_of(home.test_twin, "name")}
        assert name in compared, f"no settings of {name} in tests/registry.py"
        return
    assert getattr(home, name) is cls
    # The twin, or the module of the oracles that has it.
    twin = ESTIMATORS[name].twin
    used = vars(home).values()
    assert twin in used or inspect.getmodule(twin) in used


@pytest.mark.parametrize(("name", "cls"), onlinekern.all_estimators())
def test_twin_has_the_parameters(name, cls):
    own = set(inspect.signature(ESTIMATORS[name].twin).parameters)
    everything = own | set(inspect.signature(algorithms.run).parameters) | {
        *("fit_intercept", "class_weight"),  # of the linear twins' learner
        *inspect.signature(kernel_second_order.learn).parameters,
        *("max_iter", "tol", "n_iter_no_change"),  # linear.passes
        *("early_stopping", "validation_fraction", "warm_start"),  # in which passes
        *("C", "eta", "schedule", "power", "reg", "delta", "epsilon"),  # rules and losses
        *("multi_class",),  # classify
        *("contamination",),  # how the scores are used
        *("n_components",),  # the twin takes the frequencies themselves
        *("standardize_target",),  # oracles.targets
        *("encode",),  # what the samples are made of
        *("begin_anew",),  # oracles.race.renewed_stream
        *("n_epochs", "shuffle", "random_state", "window", "n_jobs"),  # not the algorithm's
        *("verbose",),
        *("cache_size",),
        *("shrinking", "probability", "decision_function_shape"),  # of OLLA's solver 'smo'
    }  # fmt: skip
    assert set(cls().get_params()) <= everything


def test_every_estimator_is_public():
    for name, cls in onlinekern.all_estimators():
        assert getattr(onlinekern, name) is cls
        assert name in onlinekern.__all__


def test_every_subclass_is_registered():
    def below(cls):
        return {cls}.union(*map(below, cls.__subclasses__()))

    classification = onlinekern.estimators.classification
    regression = onlinekern.estimators.regression
    bases = (
        *(classification.Classifier, classification.OnlineClassifier),
        *(regression.Regressor, regression.OnlineRegressor),
        onlinekern.estimators.outliers.OnlineOutlierDetector,
        onlinekern.estimators.one_vs_one.PairwiseClassifier,
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
