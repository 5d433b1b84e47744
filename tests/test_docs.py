"""The docstrings are true: examples run, and the documented parameters exist."""

import doctest
import importlib
import inspect
import re

import numpy as np
import pytest

import onlinekern
from onlinekern import all_estimators

LEARNERS = sorted({cls.__module__ for _, cls in all_estimators()})
PUBLIC = {
    getattr(module, name).__module__
    for module in (onlinekern, onlinekern.drift, onlinekern.streams, onlinekern.evaluate)
    for name in module.__all__
    if hasattr(getattr(module, name), "__module__")
}
MODULES = sorted({*LEARNERS, *PUBLIC})
PUBLIC_METHODS = ["fit", "partial_fit", "partial_fit_predict", "learn_one", "score_one", "predict"]


def section(docstring, title):
    """Return the lines of a numpydoc section."""
    text = inspect.cleandoc(docstring)
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", text, re.M | re.S)
    assert match, f"no section {title}"
    return match[1].splitlines()


def names_in(lines):
    """Return the names that a section describes, in order."""
    heads = [line for line in lines if line and not line[0].isspace()]
    return [name for head in heads for name in head.partition(" :")[0].split(", ")]


def entries_in(lines):
    """Return name -> description of a section."""
    entries = {}
    for line in lines:
        if line and not line[0].isspace():
            names = names_in([line])
        else:
            entries.update({name: entries.get(name, "") + line for name in names})
    return entries


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module, extraglobs={"__name__": "__main__"})
    assert failed == 0
    if name in LEARNERS:
        own = [cls for _, cls in all_estimators() if cls.__module__ == name]
        assert tried >= 3 * len(own)


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_estimator_docstring(name, cls):
    documented = names_in(section(cls.__doc__, "Parameters"))
    assert sorted(documented) == sorted(cls().get_params())
    for title in ("Attributes", "Notes", "References", "Examples"):
        assert section(cls.__doc__, title)


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_defaults_are_the_documented_ones(name, cls):
    defaults = cls().get_params()
    for line in section(cls.__doc__, "Parameters"):
        match = re.match(r"(\w+) : .*default=(\S+)", line)
        if match and "for regression" not in line:
            assert match[2] == repr(defaults[match[1]]) or float(match[2]) == defaults[match[1]]


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_documented_attributes_exist(name, cls):
    y = ["a", "b", "a"] if name.endswith("Classifier") else [0.5, 1.0, 2.0]
    for attribute, text in entries_in(section(cls.__doc__, "Attributes")).items():
        needed = dict(re.findall(r"With (features|metric)='(\w+)'", text))
        model = cls(**needed).fit([[0.0], [1.0], [2.0]], y)
        assert hasattr(model, attribute), attribute


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_documented_dtypes_are_true(name, cls, dtype):
    y = ["a", "b", "a"] if name.endswith("Classifier") else [0.5, 1.0, 2.0]
    model = cls().fit(np.array([[0.0], [1.0], [2.0]], dtype), y)
    for line in section(cls.__doc__, "Attributes"):
        match = re.fullmatch(r"(\w+) : .*ndarray.*, (float64|int64)", line)
        if match and hasattr(model, match[1]):
            assert getattr(model, match[1]).dtype == match[2], line
    if hasattr(model, "support_vectors_"):
        assert model.support_vectors_.dtype == dtype


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_method_docstrings(name, cls):
    for method in PUBLIC_METHODS:
        function = getattr(cls, method, None)
        if function is None:
            assert not hasattr(cls, "partial_fit"), "only batch learners lack a method"
            continue
        documented = names_in(section(function.__doc__, "Parameters"))
        assert documented == list(inspect.signature(function).parameters)[1:], method


def test_public_functions_are_documented():
    for name in onlinekern.__all__:
        assert inspect.getdoc(getattr(onlinekern, name)), name
