"""How estimators are composed: few base classes, and parameters in order that have types."""

import inspect
import sys
import types
import typing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import onlinekern
from onlinekern import KernelOGDClassifier, SPAClassifier, all_estimators
from onlinekern.estimators import contract
from onlinekern.estimators.parameters import SHARED, annotations_of
from onlinekern.extending import KernelEstimator, OnlineClassifier, Positive, estimator

EVERY = pytest.mark.parametrize(("name", "cls"), all_estimators())
# scikit-learn's BaseEstimator brings five of them with `object`, its task one.
DEEPEST = 13
# In the order in which `partial_fit` of a stream that goes on first enters them.
FILES_OF_PARTIAL_FIT = [
    "atomic",
    "parameters",
    "contract",
    "classification",
    "validation",
    "kernel",
]


@EVERY
def test_few_bases(name, cls):
    assert len(cls.__bases__) <= 3
    assert len(cls.__mro__) <= DEEPEST
    ours = [base for base in cls.__mro__ if base.__module__.startswith("onlinekern.")]
    assert len(ours) <= 7, ours


@EVERY
def test_its_own_parameters_come_first(name, cls):
    """Then come those of its bases; last, in one order, those that many learners share."""
    names = list(inspect.signature(cls).parameters)
    assert sorted(names) == sorted(cls().get_params())
    shared = [one for one in names if one in SHARED]
    own = names[: len(names) - len(shared)]
    assert names == own + shared
    assert shared == sorted(shared, key=SHARED.index)
    declared = [[n for n in annotations_of(base) if n in own] for base in cls.__mro__]
    # A parameter stands where the most basic of the classes that declare it has it.
    places = [max(i for i, group in enumerate(declared) if one in group) for one in own]
    assert places == sorted(places)
    for i, group in enumerate(declared):
        here = [one for one, place in zip(own, places, strict=True) if place == i]
        assert here == [one for one in group if one in here]


@EVERY
def test_types_of_parameters(name, cls):
    hints = typing.get_type_hints(cls.__init__)
    parameters = inspect.signature(cls).parameters
    assert hints.keys() == {*parameters, "return"}
    assert typing.Any not in hints.values()
    assert object not in hints.values()
    for parameter in parameters.values():
        assert hints[parameter.name] == parameter.annotation
        assert "Annotated" not in str(parameter.annotation)


@pytest.mark.parametrize("name", sorted(onlinekern._registry.public_classes()))
def test_every_parameter_is_checked(name):
    cls = getattr(onlinekern, name)
    if name == "StreamPipeline":
        pytest.skip("its parameters are scikit-learn's")
    for parameter in cls().get_params():
        model = cls(**{parameter: Wrong()})
        with pytest.raises((TypeError, ValueError), match=f"'{parameter}' parameter"):
            model.fit(np.eye(4), np.array([0.0, 1.0, 0.0, 1.0]))


class Wrong:
    """What no parameter may be."""


def test_a_type_is_a_check():
    @estimator
    class Mine(OnlineClassifier, KernelEstimator):
        softness: Positive = 1.0
        shape: typing.Literal["round", "square"] = "round"
        budget: int = 5

    known = Mine._parameter_constraints
    assert str(known["softness"][0]) == "a float in the range (0.0, inf)"
    assert known["shape"][0].options == {"round", "square"}
    assert list(inspect.signature(Mine).parameters)[:2] == ["softness", "shape"]
    with pytest.raises(ValueError, match="'shape' parameter of Mine must be a str among"):
        Mine(shape="flat").fit([[0.0], [1.0]], [0, 1])
    assert repr(clone(Mine(softness=2.0))) == "Mine(softness=2.0)"


def test_another_default_is_checked_as_before():
    @dataclass(kw_only=True, eq=False, repr=False)
    class Faster(KernelOGDClassifier):
        eta: float = 2.0
        max_support: int | None = 7

    assert Faster._parameter_constraints["eta"] == KernelOGDClassifier._parameter_constraints["eta"]
    with pytest.raises(ValueError, match=r"'eta' parameter of Faster must be .* \(0.0, inf\)"):
        Faster(eta=-1.0).fit([[0.0], [1.0]], [0, 1])


LATER = """
from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from onlinekern import KernelOGDClassifier
from onlinekern.extending import Positive

if TYPE_CHECKING:
    from elsewhere import Shape

@dataclass(kw_only=True, eq=False, repr=False)
class Later(KernelOGDClassifier):
    softness: Positive = 1.0
    shape: Shape | None = None
    delta: ClassVar[float] = 2.0
"""


def test_types_that_are_text(monkeypatch):
    module = types.ModuleType("of_a_user")
    monkeypatch.setitem(sys.modules, "of_a_user", module)
    exec(LATER, vars(module))
    later = module.Later
    assert str(later._parameter_constraints["softness"][0]) == "a float in the range (0.0, inf)"
    assert "shape" not in later._parameter_constraints
    assert "delta" not in later._parameter_constraints
    assert later(shape=3).fit([[0.0], [1.0]], [0, 1]).delta == 2.0


def test_what_a_subclass_must_say():
    @estimator
    class Nothing(OnlineClassifier):
        """Neither a rule nor a space."""

    for method in ("_rule", "_space", "_n_bytes"):
        with pytest.raises(NotImplementedError, match=rf"Nothing\.{method}"):
            getattr(Nothing(), method)(*[None] * {"_rule": 0, "_n_bytes": 1}.get(method, 4))


def test_few_files_of_a_call():
    X = np.random.default_rng(0).standard_normal((1100, 3))
    y = X[:, 0] > 0
    # Its width is settled after 1,000 samples.
    model = SPAClassifier(random_state=0).partial_fit(X[:1050], y[:1050], classes=[False, True])
    entered = {}

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.parent == Path(contract.__file__).parent:
            entered.setdefault(path.stem)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.partial_fit(X[1050:], y[1050:])
    finally:
        sys.setprofile(before)
    assert list(entered) == FILES_OF_PARTIAL_FIT
