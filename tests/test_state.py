"""The kinds of fitted models: complete, true, and known to whatever merges, grows and exports."""

import ast
import copy
import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from exported import CLASSES, Case, fitted, settings, tasks_of
from sklearn.base import is_classifier

import onlinekern.core
from onlinekern.core.base.part import Component, Part
from onlinekern.core.models.space import Space
from onlinekern.fitted.export.c.generate import generate
from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.learning import describe_learning
from onlinekern.fitted.grow import Growth, grown
from onlinekern.fitted.merge.mix import Mix
from onlinekern.fitted.save import to_bytes
from onlinekern.fitted.state import (
    Field,
    State,
    closed,
    kind_of,
    kinds,
    opened,
    restorers,
)

CORE = Path(__file__).parents[1] / "src" / "onlinekern" / "core"
TABLES = [getattr(onlinekern.core, name) for name in onlinekern.core.__all__]
FORMS = {str(setting): setting for setting in settings()}
# Classes that others derive from, and the one that holds a function.
BASES = {"Bounded", "InverseGramPolicy", "Part", "PythonKernel", "Component"}
# What has an axis of its own for each way to keep it.
SHARED = {("SecondOrderSpace", "shared")}


def derived(cls):
    """Return the classes of the core that derive from one; tests make others."""
    found = {sub for own in cls.__subclasses__() for sub in (own, *derived(own))}
    return {sub for sub in found if sub.__module__.startswith("onlinekern.core.")}


def samples(task, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    f = X[:, 0] + X[:, 1] * X[:, 2]
    y = {"regression": f, "binary": f > 0, "ovr": np.digitize(f, [-0.5, 0.5])}[task]
    return X, y.astype(float) if task == "regression" else y.astype(int)


def models(which):
    """Yield the models of a setting, of every task."""
    name, parameters = FORMS[which]
    for task in tasks_of(name):
        yield fitted(Case(name, parameters, task), *samples(task))


def parts_of(value, path=()):
    """Yield (path, state) for each state in an opened value."""
    if isinstance(value, State):
        yield path, value
        for name, item in vars(value).items():
            yield from parts_of(item, (*path, name))
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from parts_of(item, (*path, place))


def faults(state):
    """Return what is wrong with the description of an object and of the records in it."""
    found, lengths = [], {}
    inside = [state]
    for own in inside:
        known = own.kind_.fields
        for name, value in vars(own).items():
            field = known[name]
            if isinstance(value, State):
                inside += [value] if field.record is not None else []
            elif isinstance(value, np.ndarray) and field.learnt:
                axes = field.axes[:-1] if field.axes[-1:] == ("...",) else field.axes
                whole = len(axes) == value.ndim or (axes != field.axes and len(axes) <= value.ndim)
                if not axes or not whole:
                    found.append(f"{name} has the shape {value.shape}, and the axes {field.axes}")
                for axis, length in zip(axes, value.shape, strict=False):
                    if lengths.setdefault(axis, length) != length:
                        found.append(f"{name} has {length} of {axis}, others {lengths[axis]}")
            elif field.axes and not sp.issparse(value):
                found.append(f"{name} is no array, and has axes")
            elif field.counts:
                lengths.setdefault("output", value)
                lengths.setdefault("class", value)
                if lengths["output"] != value:
                    found.append(f"{name} is {value}, not {lengths['output']}")
    return found


@pytest.mark.parametrize("cls", sorted(derived(Component), key=lambda cls: cls.__name__))
def test_every_part_of_the_core_is_described(cls):
    # Within support sets; a kind of `Vote`.
    outside = {"ByteStore", "PanelStore", "SparseStore", "MeanVote"}
    if "abstract" not in vars(cls) and cls.__name__ not in BASES | outside:
        assert kind_of(cls) is not None


def test_the_tables_of_the_core_are_described():
    listed = [cls for table in TABLES for cls in table.values() if isinstance(cls, type)]
    assert len(listed) > 70
    assert all(kind_of(cls) for cls in listed)


@pytest.mark.parametrize("kind", restorers().values(), ids=lambda kind: kind.name)
def test_fields_are_what_the_core_restores_from(kind):
    assert list(kind.fields) == list(inspect.signature(kind.restorer).parameters)


def signatures():
    """Return class -> names of the arguments, of the stubs of the core."""
    found = {}
    for stub in sorted(CORE.rglob("*.pyi")):
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                makers = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                makers = [each for each in makers if each.name in ("__init__", "__new__")]
                bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
                names = [each.arg for each in makers[0].args.args[1:]] if makers else None
                found[node.name] = bases, names
    return found


SIGNATURES = signatures()


def arguments_of(name):
    bases, names = SIGNATURES.get(name, ([], []))
    return arguments_of(bases[0]) if names is None and bases else names or []


@pytest.mark.parametrize("cls", sorted(derived(Part), key=lambda cls: cls.__name__))
def test_arguments_are_those_of_the_constructor(cls):
    kind = kind_of(cls)
    if kind is not None and cls.__name__ in SIGNATURES:
        assert list(kind.fields) == arguments_of(cls.__name__)


@pytest.mark.filterwarnings("ignore:max_support=12 support vectors are stored")
@pytest.mark.parametrize("which", FORMS)
def test_fields_are_what_models_hold(which):
    for model in models(which):
        whole = opened(model._model)
        for path, state in parts_of(whole):
            if "blank" in path:
                continue  # it has learnt nothing, so there is None where arrays will be
            if (path and isinstance(path[-1], int)) or state.kind_.name != "a record":
                arguments = getattr(state, "arguments", None)
                if (state.kind_.name, getattr(arguments, "kind", "")) not in SHARED:
                    assert faults(state) == [], path
        again = copy.copy(model)
        again._model = closed(whole)
        assert to_bytes(again) == to_bytes(model)


def test_a_field_without_axes_is_a_fault():
    model = fitted(Case("FOGDClassifier", {}, "ovr"), *samples("ovr"))._model
    space = opened(model).arguments.space
    assert faults(space) == []
    known = space.state.kind_.fields
    for field in (Field(), Field(("output",)), Field(("feature", "output"))):
        space.state.kind_.fields["values"], before = field, known["values"]
        try:
            assert faults(space)
        finally:
            known["values"] = before


@pytest.fixture
def novel():
    """Give the record of a state a field that no rule knows."""
    described = []

    def add(state, value, field):
        state.kind_.fields["novel"] = field
        described.append(state.kind_)
        state.novel = value

    yield add
    for kind in described:
        kind.fields.pop("novel", None)


def learnt_parts(space):
    """Return the paths of the parts of a space that learning changes."""
    parts = dict(parts_of(space))
    whole = {path: part for path, part in parts.items() if not set(path) & {"map", "learnt"}}
    return [path for path, part in whole.items() if part_is_learnt(part)]


def part_is_learnt(part):
    return any(field.learnt for field in part.kind_.fields.values())


def at(state, path):
    for name in path:
        state = getattr(state, name)
    return state


def answering(model):
    """Return the state of the model that answers, of one that begins anew at alarms too."""
    return getattr(model, "model", model)


SPACES = {kind.name for kind in kinds().values() if kind.merge} - {
    "Model", "RenewedModel", "Race", "RenewedRace",
}  # fmt: skip
# A setting for each kind of space.
MERGED = {
    "LinearSpace": ("PAClassifier", {}),
    "SecondOrderSpace": ("AROWClassifier", {}),
    "BatchSpace": ("PegasosClassifier", {"batch_size": 7}),
    "KernelSpace": ("KernelPAClassifier", {}),
    "InverseTimeSpace": ("BSGDClassifier", {}),
    "DualSpace": ("DualSGDClassifier", {}),
    "NystroemSpace": ("NOGDClassifier", {"budget": 200}),
    "MappedSpace": ("FOGDClassifier", {}),
    "MappedSecondOrderSpace": ("KernelAROWClassifier", {}),
    "MeanSpace": ("KernelMeanDetector", {}),
    "LeastSquaresSpace": ("KernelRLSRegressor", {}),
    "MetricLeastSquares": ("KernelRLSRegressor", {"metric": "diagonal"}),
    "LeverageSpace": ("KernelMeanDetector", {"statistic": "leverage", "n_components": 12}),
    "LocalSpace": ("LOLClassifier", {}),
    "OLLASpace": ("OLLAClassifier", {}),
    "SketchedSpace": ("SDROGDClassifier", {}),
    "ForestSpace": ("KernelForestClassifier", {}),
}


def test_every_space_is_merged_here():
    concrete = {cls.__name__ for cls in derived(Space) if "abstract" not in vars(cls)}
    assert concrete == SPACES
    # Its two subclasses are spaces while they learn; the result is the plain one.
    assert MERGED.keys() == SPACES - {"AllOutputs", "SupportOutputs"}


@pytest.mark.parametrize("kind", MERGED)
def test_a_field_that_merging_does_not_know_fails(kind, novel):
    name, parameters = MERGED[kind]
    model = fitted(Case(name, parameters, tasks_of(name)[-1]), *samples(tasks_of(name)[-1]))
    mix = Mix((1.0, 1.0), (60, 60), (1.0,) * 3, (0.0,) * 3)
    spaces = [answering(opened(model._model)).arguments.space for _ in range(2)]
    assert spaces[0].kind_.name == kind
    spaces[0].kind_.merge(mix, spaces, None)
    paths = learnt_parts(spaces[0])
    assert paths
    for path in paths:
        for space in spaces:
            novel(at(space, path), 1.0, Field())
        with pytest.raises(TypeError, match="novel"):
            spaces[0].kind_.merge(mix, spaces, None)
        for space in spaces:
            del at(space, path).novel


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_field_of_outputs_grows_by_itself(name, novel):
    if not is_classifier(CLASSES[name]()) or not hasattr(CLASSES[name], "_take_up"):
        pytest.skip("it takes up no classes")
    model = fitted(Case(name, {}, "ovr"), *samples("ovr"))._model
    space = getattr(model, "space", None)
    if space is None or kind_of(type(space)).begin is None:
        pytest.skip("its space does not grow")
    head = type(model.head)(5) if model.head.arguments else model.head
    growth = Growth.of(np.arange(3), np.arange(5), head)
    state = opened(space)
    novel(state, np.arange(6.0).reshape(3, 2), Field(("output", "any")))
    found = grown(state, growth).novel
    np.testing.assert_array_equal(found, [[0, 1], [2, 3], [4, 5], [0, 0], [0, 0]])


def text_of(model):
    """Return the C of a model, which learns if that is known."""
    scoring = describe(model)
    try:
        learning = describe_learning(model)
    except TypeError:
        learning = None
    return generate(scoring, np.dtype("float64"), "m", "m.h", learning, 200).code


def changed(value):
    """Return other values of a field, as near as its checks may want them."""
    if isinstance(value, bool | np.bool_):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 1.25 + 0.25]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        return [value * 1.25, value + 0.25]
    return []


def leaves(space):
    """Yield (kind of the part, path, name, value) of what a space has learnt."""
    for path, part in parts_of(space):
        for name, value in vars(part).items():
            field = part.kind_.fields[name]
            if field.learnt and not field.follows and not isinstance(value, State):
                yield path, name, value


def with_field(model, path, name, value):
    """Return a copy of a model with another value of a field of its space."""
    whole = opened(model._model)
    space = answering(whole).arguments.space
    setattr(at(space, path), name, value)
    if name == "added" and hasattr(space, "budget"):
        space.budget.state.set.added = value  # the policy counts them too
    again = copy.copy(model)
    again._model = closed(whole)
    return again


def seen_fields(name, parameters, known=frozenset()):
    """Return the fields of which exported code knows, and those that could be changed.

    A field is one of a record of some name, or of a kind of objects. Those that are `known` from
    other models are not tried again.
    """
    known, tried = set(known), set()
    for task in tasks_of(name):
        model = fitted(Case(name, parameters, task), *samples(task))
        space, before = answering(opened(model._model)).arguments.space, None
        for path, field, value in leaves(space):
            part = at(space, path)
            place = part.kind_.name if part.kind_.module else path[-1], field
            if place in known:
                continue
            before = before or text_of(with_field(model, path, field, value))
            for other in changed(value):
                try:
                    after = text_of(with_field(model, path, field, other))
                except (ValueError, TypeError, FloatingPointError):
                    continue
                tried.add(place)
                if after != before:
                    known.add(place)
                    break
    return known, tried


# What changes the form of a state, for some of the spaces.
EXPORTED = [
    *[setting for kind, setting in MERGED.items() if kinds()[kind].terms],
    ("NOGDClassifier", {"average": True}),
    *[("PAClassifier", {"average": True}), ("FOGDClassifier", {"average": True})],
    ("KernelPAClassifier", {"average": True}),
    *[("BPAClassifier", {}), ("RBPClassifier", {}), ("KernelOGDClassifier", {"budget": None})],
    *[("LOLClassifier", {"average": True}), ("BOLSSVMClassifier", {}), ("KernelRLSClassifier", {})],
    *[
        ("OLLAClassifier", {"loss": "logistic"}),
        ("KernelPerceptronClassifier", {"max_support": 9, "when_full": "oldest"}),
        ("KernelPerceptronClassifier", {"max_support": 9}),
    ],
    ("KernelMeanDetector", {"statistic": "leverage", "n_components": 12, "forgetting": 0.9}),
    ("KernelForestClassifier", {"n_trees": 3}),
]


@pytest.fixture(scope="module")
def exported():
    """Return the fields that exported code knows of, and those that could be changed."""
    known, tried = set(), set()
    for name, parameters in EXPORTED:
        known, changeable = seen_fields(name, parameters, known)
        tried |= changeable
    return known, tried


def test_exported_code_knows_every_field(exported):
    known, tried = exported
    assert len(tried) > 30
    assert sorted(tried - known) == []


def test_a_field_that_exported_code_does_not_know_fails(monkeypatch):
    """Offsets beside the support vectors: terms without them are found out."""
    kind = kinds()["OLLASpace"]
    known, tried = seen_fields("OLLAClassifier", {})
    assert ("OLLASpace", "offset") in known
    forgetful = lambda space: kind.terms(space)[:1]  # noqa: E731
    monkeypatch.setitem(kinds(), kind.name, dataclasses.replace(kind, terms=forgetful))
    known, tried = seen_fields("OLLAClassifier", {})
    assert ("OLLASpace", "offset") in tried - known
