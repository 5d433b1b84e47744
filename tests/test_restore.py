"""What a pickle holds is checked before it is used: a model is consistent, or it is refused."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from harness import damage
from interpreters import python
from test_harnesses import run

from onlinekern import (
    AROWClassifier,
    BPAClassifier,
    BSGDClassifier,
    ForgetronClassifier,
    KernelForestClassifier,
    KernelPAClassifier,
    LOLClassifier,
    PAClassifier,
    RBPClassifier,
    StreamClassifier,
)
from onlinekern.core.base.random import Generator
from onlinekern.core.budgets.policy import RefuseWhenFull
from onlinekern.core.budgets.removal_projection import Removal
from onlinekern.core.kernels.kernels import Cosine, Gaussian
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.learning.heads import OneVsRest, Weighted
from onlinekern.core.learning.losses import Hinge
from onlinekern.core.learning.rules import BatchPegasos, Gradient, Perceptron
from onlinekern.core.learning.sampling import Sampler
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.stream import Model


@pytest.fixture(scope="module")
def tree_of():
    """Make a fitted model, and return its state as a tree that can be changed."""

    def make(cls, layout="dense", **parameters):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((60, 4)), rng.integers(3, size=60)
        known = cls().get_params()
        given = {**{key: 8 for key in ("budget", "n_prototypes") if key in known}, **parameters}
        estimator = cls(**given).fit(sp.csr_matrix(X) if layout == "csr" else X, y)
        return damage.taken_apart(estimator._model)

    return make


def state_of(tree):
    """Return the state of the space: of the support set, or of the weights."""
    return next(item for item in tree.arguments[0][0].arguments if isinstance(item, dict))


def longer(array, by=1):
    return np.concatenate([array, array[:by]])


def with_value(array, place, value):
    changed = array.copy()
    changed.flat[place] = value
    return changed


def test_the_tree_is_the_model(tree_of):
    tree = tree_of(KernelPAClassifier)
    model = damage.put_together(tree)
    assert pickle.dumps(damage.put_together(damage.taken_apart(model))) == pickle.dumps(model)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("values", lambda a: longer(a.T, 5).T.copy(), "coefficients"),
        ("values", lambda a: longer(a), "coefficients"),
        ("values", lambda a: with_value(a, 3, np.nan), "coefficients must be finite, got nan"),
        ("companions", lambda a: a[:, :-1].copy(), "companions of the coefficients must have"),
        ("ages", longer, "as many ages"),
        ("ages", lambda a: with_value(a, 0, 2**62), r"ages must be in \[-1, \d+\], got"),
        ("ages", lambda a: with_value(a, 0, a[1]), "ages must differ"),
        ("ages", lambda a: a.astype(float), "ages must be of i8, got float64"),
        ("free", lambda a: np.array([10**9]), r"free must have shape \(0,\)"),
        ("added", lambda n: n - 1, "ages must be in"),
        ("added", lambda n: 2**70, r"added must be in \[0, "),
        ("terms", lambda a: a + 1, "norm terms of the support vectors must be those of their rows"),
        ("terms", longer, "norm terms of .* support vectors must be"),
        ("rows", lambda rows: rows[:-1], "need as many ages and coefficients"),
        ("rows", lambda rows: rows[:, :-1], r"must have shape \(n, 4\)"),
        ("scale", lambda scale: 0.0, "scale of the coefficients must be > 0, got 0.0"),
        ("scale", lambda scale: "1", "scale of the coefficients must be a number, got '1'"),
        ("steps", lambda steps: -1, "steps of the coefficients must be in"),
        ("total", lambda total: np.inf, "total of the scales must be finite, got inf"),
    ],
)
def test_a_wrong_field_of_a_support_set_is_named(tree_of, layout, field, change, message):
    tree = tree_of(KernelPAClassifier, layout)
    state = state_of(tree)
    state[field] = change(state[field])
    with pytest.raises((ValueError, TypeError), match=message):
        damage.put_together(tree)


def test_a_field_too_few_or_too_many_is_named(tree_of):
    tree = tree_of(KernelPAClassifier)
    state = state_of(tree)
    state["more"] = 1
    with pytest.raises(ValueError, match=r"a support set must have the fields .*; it has .*more"):
        damage.put_together(tree)
    del state["more"], state["ages"]
    with pytest.raises(ValueError, match="a support set must have the fields added, ages"):
        damage.put_together(tree)


def test_free_slots_are_listed_once_and_have_no_coefficients(tree_of):
    tree = tree_of(BSGDClassifier, maintenance="remove")
    state = state_of(tree)
    assert len(state["free"]) == 1
    for wild in (-1, 10**9, (state["free"][0] + 1) % 8):
        changed = copy.deepcopy(tree)
        state_of(changed)["free"] = np.array([wild])
        with pytest.raises(ValueError, match="free must"):
            damage.put_together(changed)
    state["values"][:, state["free"]] = 1
    with pytest.raises(ValueError, match=r"values of the free slots .* must be 0"):
        damage.put_together(tree)


def test_more_outputs_than_coefficients_are_refused(tree_of):
    for outputs in (2, 4, 10**9, 2**40):
        tree = tree_of(KernelPAClassifier)
        arguments = list(tree.arguments[0][0].arguments)
        place = next(i for i, item in enumerate(arguments) if isinstance(item, tuple))
        arguments[place] = (*arguments[place][:3], outputs, *arguments[place][4:])
        tree.arguments[0][0].arguments = tuple(arguments)
        with pytest.raises(ValueError, match=f"coefficients of {outputs} outputs must have"):
            damage.put_together(tree)


def test_the_head_the_space_and_the_samples_belong_together(tree_of):
    model = damage.put_together(tree_of(KernelPAClassifier))
    space, head, d, dtype = model.space, model.head, model.d, model.dtype
    others = model.rule, model.sampler, model.rng
    with pytest.raises(ValueError, match="the head has 5 outputs and the space has 3"):
        Model(space, OneVsRest(5), *others, d, dtype)
    with pytest.raises(ValueError, match="d=7 features of 8 bytes, got one for 4 features"):
        Model(space, head, *others, 7, dtype)
    with pytest.raises(ValueError, match="of 4 bytes, got one for 4 features of 8 bytes"):
        Model(space, head, *others, d, np.float32)


@pytest.mark.parametrize(
    ("cls", "field", "change", "message"),
    [
        (BPAClassifier, "lengths", longer, r"lengths must have shape \(8,\), got \(9,\)"),
        (ForgetronClassifier, "values", lambda a: a[:, :3].copy(), "companions"),
        (ForgetronClassifier, "damage", lambda _: np.nan, "damage must be finite"),
    ],
)
def test_what_a_policy_learnt_belongs_to_its_support_set(tree_of, cls, field, change, message):
    tree = tree_of(cls)
    policy = next(item for item in tree.arguments[0][0].arguments if isinstance(item, damage.Made))
    learnt = policy.arguments[2]["learnt"]
    learnt[field] = change(learnt[field])
    with pytest.raises(ValueError, match=message):
        damage.put_together(tree)


def test_a_new_policy_cannot_take_over_support_vectors(tree_of):
    full = damage.put_together(tree_of(BPAClassifier)).space.support
    with pytest.raises(ValueError, match=r"Removal\(20\) has no state"):
        KernelSpace(full, Removal(20))
    with pytest.raises(ValueError, match="8 support vectors in 8 slots are too many"):
        KernelSpace(full, RefuseWhenFull(7))
    assert KernelSpace(full, RefuseWhenFull(8)).support is full


def test_weights_agree_with_their_space(tree_of):
    tree = tree_of(PAClassifier)
    state = state_of(tree)
    state["blocks"] = longer(state["blocks"])
    with pytest.raises(ValueError, match="linear weights must have shape"):
        damage.put_together(tree)
    tree = tree_of(AROWClassifier, covariance="full")
    state = state_of(tree)
    state["covariance"][0, 0, 1] += 1
    with pytest.raises(ValueError, match="covariances must be symmetric"):
        damage.put_together(tree)


@pytest.mark.parametrize("wild", [-1, 9, 2**40])
def test_prototypes_are_within_their_number(tree_of, wild):
    tree = tree_of(LOLClassifier)
    options, (_, *rest), *others = tree.arguments[0][0].arguments
    tree.arguments[0][0].arguments = (options, (wild, *rest), *others)
    with pytest.raises(ValueError, match=r"the number of prototypes so far must be in \[0, 8\]"):
        damage.put_together(tree)


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (0, lambda _: -1, "n_seen must be in"),
        (3, lambda _: 0, "stride must be a multiple of 256, got 0"),
        (4, longer, "voting must be .* flags"),
        (4, np.zeros_like, "one at least is set"),
        (4, lambda flags: flags.astype(np.int64), "dtype mismatch"),
        (5, longer, "learnt must have shape"),
        (6, lambda _: [(256, np.ones(2))], "weights must have shape"),
        (7, lambda _: 10**6, "began must be in"),
    ],
)
def test_the_progress_of_a_race_is_that_of_its_experts(tree_of, place, change, message):
    tree = tree_of(StreamClassifier, time_budget=5.0)
    race = tree.arguments[0]
    progress = list(race.arguments[1])
    progress[place] = change(progress[place])
    race.arguments = (race.arguments[0], tuple(progress), *race.arguments[2:])
    with pytest.raises(ValueError, match=message):
        damage.put_together(tree)


def test_a_forest_of_as_many_samples_as_can_be_goes_on(tree_of):
    """When it is renewed next was looked for without end."""
    tree = tree_of(KernelForestClassifier)
    (path,) = [path for path, value in damage.places(tree)
               if (path[-1], str(value)) == ("entered", "60")]  # fmt: skip
    model = damage.put_together(damage.replaced(tree, path, 2**62))
    model.learn(np.ones((9, 4)), np.arange(9.0) % 3)
    assert model.n_seen == 69


@pytest.mark.parametrize("state", [(), (1, 2, 3), (0, 0, 0, 0), (1, 2, 3, 2**64), [1.0] * 4, None])
def test_a_wrong_state_of_the_generator_is_refused(state):
    generator = Generator(3)
    with pytest.raises((ValueError, TypeError), match="state of a generator must"):
        generator.set_state(state)
    assert generator == Generator(3)


def test_parts_of_another_kind_are_refused(tree_of):
    for place in range(5):
        for other in (None, Hinge(), Gaussian(1.0), "text"):
            tree = tree_of(RBPClassifier)
            arguments, *counters = tree.arguments
            tree.arguments = ([*arguments[:place], other, *arguments[place + 1 :]], *counters)
            with pytest.raises(TypeError):
                damage.put_together(tree)


def test_an_estimator_and_its_model_belong_together():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.integers(3, size=30)
    state = KernelPAClassifier().fit(X, y).__getstate__()
    for changed in (
        {"_model": None},
        {"_model": Gaussian(1.0)},
        {"n_features_in_": 7},
        {"classes_": np.arange(5)},
    ):
        with pytest.raises(ValueError, match="KernelPAClassifier does not fit together"):
            KernelPAClassifier().__setstate__({**state, **changed})
    restored = KernelPAClassifier()
    restored.__setstate__(state)
    assert restored.predict(X).shape == (30,)


@pytest.mark.parametrize("cls", [Hinge, Cosine, Sampler, Perceptron])
def test_a_part_without_parameters_takes_no_arguments(cls):
    assert cls() == cls()
    with pytest.raises(TypeError, match="argument"):
        cls(3)
    with pytest.raises(TypeError, match="argument"):
        cls(gamma=3)


def test_parts_need_their_own_parts():
    for make in (
        lambda: Gradient(None, None),
        lambda: SupportSet(None, 3, np.float64, 1, False, False),
        lambda: Weighted(None, (1.0, 1.0)),
        lambda: KernelSpace(None, None),
    ):
        with pytest.raises(TypeError, match="None"):
            make()


def test_numbers_that_a_part_divides_by_or_indexes_with():
    with pytest.raises(ValueError, match=r"batch_size must be in \[1, "):
        BatchPegasos(Hinge(), 0.1, 0)
    with pytest.raises(ValueError, match="weights must be 3 numbers, one for each class, got 2"):
        Weighted(OneVsRest(3), (1.0, 1.0))
    with pytest.raises(ValueError, match=r"max_support must be in \[1, "):
        Removal(0)


BARE = """
import importlib, pickle, pkgutil
import onlinekern.core

def attempt(what, *arguments):
    try:
        what(*arguments)
    except Exception:
        pass

ENDINGS = (), (1,), (1.0, 2.0), ({},), ([0.0],), (None, None)
for info in pkgutil.walk_packages(onlinekern.core.__path__, "onlinekern.core."):
    module = importlib.import_module(info.name)
    for cls in list(vars(module).values()):
        if not isinstance(cls, type) or cls.__module__ != module.__name__:
            continue
        print(cls, flush=True)
        try:
            bare = cls.__new__(cls)
        except TypeError:
            continue
        for name in set(dir(cls)) - {"__class__", "__init__", "__new__", "__init_subclass__"}:
            print(cls, name, flush=True)
            found = []
            attempt(lambda: found.append(getattr(bare, name)))
            for method in filter(callable, found):
                for ending in (*ENDINGS, (bare,)):
                    attempt(method, *ending)
        for act in (repr, hash, pickle.dumps, lambda x: x == x, lambda x: x == cls.__new__(cls)):
            print(cls, act, flush=True)
            attempt(act, bare)
print("all")
"""


def test_objects_made_without_their_constructor_never_crash():
    done = python(BARE)
    assert done.returncode == 0, (done.returncode, done.stdout.splitlines()[-1:], done.stderr)
    assert done.stdout.endswith("all\n")
    with pytest.raises(TypeError):
        Model.__new__(Model)


def test_damaged_states_are_refused_or_safe():
    printed = run("damage", "--cases", 2)
    assert int(printed.split(" damaged states")[0].split()[-1]) > 250
