"""Kernel forests against their NumPy twin, and what they claim."""

import copy
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from exported import where_hardly_any_errs
from grids import grid
from oracles.kernel_forest import kernel_forest
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier

from onlinekern import KernelForestClassifier, KernelForestRegressor, StreamRegressor, merge
from onlinekern.compat import c_interface
from onlinekern.core.models import forest_look
from onlinekern.core.partitions.renewal import without_outliers
from onlinekern.evaluate import prequential
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.learners import kernel_forest as learners

# 170 samples, some of weight 0: renewals at 32, 64 and 128, and growth where fewer are kept.
SMALL = {"n_trees": 5, "memory": 512}
SETTINGS = {
    "default": {},
    "grows": {"memory": 100},
    "leaf": {"levels": "leaf", "noise": 0.5},
    "upper": {"levels": "upper", "memory": 64},
    "first cuts": {"n_candidates": 1, "max_leaf": 1, "max_samples": 1.0},
    "at once": {"renewal_spread": 0.0, "memory": 100},
    "slow": {"renewal_spread": 1.0, "memory": 64},
    "anew": {"when_full": "renew", "memory": 64},
    "anew at the memory": {"when_full": "renew", "memory": 100},
    "light": {"teacher": "light"},
    "shallow": {"max_leaf": 30, "max_rows": 40, "n_replays": 1},
    "table": {"categorical_features": [1, 6], "n_trees": 3},
    "table that grows": {"categorical_features": [1], "memory": 100},
}
TWINS = inspect.signature(kernel_forest).parameters

# Classes; 0 of a regression, and -3 of one of three targets.
CLASSES = {"binary": 2, "three": 3, "ten": 10, "regression": 0, "targets": -3, "ten targets": -10}
ROWS = [list(CLASSES), ["float64", "float32"], ["dense", "csr"]]
# Settings and tasks of which each is learnt in another way.
UNLIKE = [
    ["default", "grows", "anew", "light", "table"],
    ["binary", "ten", "regression", "targets"],
    *ROWS[1:],
]


@pytest.fixture(autouse=True)
def _renewals_of_short_streams_are_spread(monkeypatch):
    """Short streams are renewed like long ones."""
    monkeypatch.setattr(learners, "EARLY", 32)


def samples(n_classes, n=170, d=9, seed=0, coded=()):
    """Return a function of few features, labels or targets of it, and weights, some of them 0.

    With `coded` features, which hold the numbers of categories, some values are missing.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[np.abs(X) < 0.3] = 0
    X = X * np.geomspace(0.1, 100, d) + np.where(np.arange(d) % 3 == 1, 5, 0)
    Z = X / np.geomspace(0.1, 100, d)
    f = np.sin(2 * Z[:, 0]) + Z[:, 3] * Z[:, 2] + 0.2 * rng.normal(size=n)
    for j in coded:
        X[:, j] = rng.integers(0, 7, size=n)
        f = f + (X[:, j] % 3 == 1) * (1 + Z[:, 3])
    if coded:
        X[:, 4] = np.where(rng.random(n) < 0.3, np.nan, X[:, 4])
        X[:, 1] = np.where(rng.random(n) < 0.1, np.nan, X[:, 1])
    weight = rng.integers(0, 5, size=n) / 2
    if n_classes == 0:
        return X, 30 + 7 * f, weight
    if n_classes < 0:
        others = [np.sin(f + k * Z[:, k % d]) * 10.0**k - 5 * k for k in range(1, -n_classes)]
        return X, np.column_stack([30 + 7 * f, *others]), weight
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes)), weight


def learnt(X, y, weight, n_classes, **parameters):
    """Return a model that has learnt, and its predictions before that."""
    cls = KernelForestClassifier if n_classes > 0 else KernelForestRegressor
    model = cls(random_state=3, **{**SMALL, **parameters})
    known = {"classes": np.arange(n_classes)} if n_classes > 0 else {}
    return model, model.partial_fit_predict(X, y, sample_weight=weight, **known)


def run(X, y, weight, n_classes, **parameters):
    """Return a model that has learnt, its predictions before that, and its twin's result."""
    model, predictions = learnt(X, y, weight, n_classes, **parameters)
    given = {key: value for key, value in model.get_params().items() if key in TWINS}
    dense = X.toarray() if sp.issparse(X) else X
    space = model._model.space
    *_, early, _, seed = space.settings
    names = ["n_exact", "exact_from", "is_light", "cut_weights", "exact_share", "n_seen"]
    names += ["exact_variances", "hold_outliers"]
    given |= dict(zip(names, space.arguments()[-8:], strict=True))
    del given["is_light"]
    twin = kernel_forest(dense, y, max(n_classes, 0), seed, weight, early=early, **given)
    return model, predictions, twin


def assert_alike(model, predictions, twin, X, y):
    """Assert that predictions on the way, and models, are those of the twin."""
    unit = 1 if hasattr(model, "classes_") else np.abs(y).max(axis=0)
    np.testing.assert_allclose(predictions / unit, twin.predictions / unit, rtol=1e-6, atol=1e-6)
    assert_twins(model, twin, X)


def assert_twins(model, twin, X):
    state, twin = model._model.space.get_state(), twin.model
    assert state["entered"] == twin.entered
    sizes = [len(tree.left) for tree in twin.trees]
    np.testing.assert_array_equal(state["first"], np.cumsum([0, *sizes]))
    for name in ("features", "left"):
        own = np.concatenate([getattr(tree, name) for tree in twin.trees])
        np.testing.assert_array_equal(state[name], own)
    cuts = np.concatenate([tree.cuts for tree in twin.trees])
    np.testing.assert_allclose(state["cuts"], cuts, rtol=1e-5, atol=1e-5)
    cells = twin.numbers()
    np.testing.assert_allclose(state["cells"], cells, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(state["errors"], np.tril(twin.errors), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(model.expert_weights_.ravel(), twin.weights(), rtol=1e-4, atol=1e-4)
    for name in ("met", "metric", "importances", "offset", "unit"):
        np.testing.assert_allclose(state[name], getattr(twin, name), rtol=1e-5)
    held = np.reshape([own.numbers() for own in twin.held], (-1, 5))
    np.testing.assert_allclose(state["held"], held, rtol=1e-5, atol=1e-9)
    gaps = twin.scale.gaps
    assert len(state["gap_sources"]) == (len(gaps.sources) if gaps else 0)
    for name in ("sources", "givers", "guesses", "places", "weights", "means") if gaps else ():
        np.testing.assert_allclose(state[f"gap_{name}"], getattr(gaps, name), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("setting", "task", "dtype", "layout"),
    grid(list(SETTINGS), list(CLASSES), ["float64", "float32"], ["dense", "csr"]),
)
def test_twin(setting, task, dtype, layout):
    coded = SETTINGS[setting].get("categorical_features", ())
    X, y, weight = samples(CLASSES[task], coded=coded)
    X = X.astype(dtype)
    given = sp.csr_matrix(X) if layout == "csr" else X
    model, predictions, twin = run(given, y, weight, CLASSES[task], **SETTINGS[setting])
    if CLASSES[task] > 0:
        np.testing.assert_array_equal(predictions, twin.predictions)
        assert model.n_mistakes_ == twin.mistakes
    else:
        unit = np.abs(y).max(axis=0)
        np.testing.assert_allclose(
            predictions / unit, twin.predictions / unit, rtol=1e-6, atol=1e-6
        )
    assert model.cumulative_loss_ == pytest.approx(twin.cumulative_loss, rel=1e-6)
    assert_twins(model, twin, X)


def with_outliers(n_classes, is_told, n=420):
    """Return samples of a line, of which some late ones have targets far off.

    A feature may tell of these.
    """
    X, y, weight = samples(n_classes, n)
    y = (30 + 70 * X[:, :1] if y.ndim == 1 else y - y + 30 + 70 * X[:, :1]).reshape(y.shape)
    far = slice(100, None, 8) if is_told else slice(200, None, 30)
    off = np.resize([900.0, -900, 900], len(y[far]))
    y[far] += off.reshape(-1, *[1] * (y.ndim - 1))
    if is_told:
        X[far, 2] = off / 30
    return X, y, weight


@pytest.mark.parametrize("task", ["regression", "targets"])
@pytest.mark.parametrize(
    ("is_told", "setting"),
    [(False, "default"), (False, "grows"), (False, "anew"), (True, "default"), (True, "leaf")],
)
def test_twin_of_targets_that_are_held(is_told, task, setting):
    X, y, weight = with_outliers(CLASSES[task], is_told)
    model, predictions, twin = run(X, y, weight, CLASSES[task], **SETTINGS[setting], n_trees=20)
    assert_alike(model, predictions, twin, X, y)
    kept = state(model)["targets"].reshape(-1, len(twin.model.held))[:, 0]
    given = y.reshape(len(y), -1)[weight > 0][-len(kept) :, 0]
    held = kept != given
    # Once the answers tell of them, they are learnt as they are.
    assert held[np.abs(given - 30) > 300].all() != is_told


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("task", ["regression", "targets"])
@pytest.mark.parametrize("setting", ["default", "grows", "anew"])
def test_twin_of_a_target_that_lies_apart(task, setting, hold):
    X, y, weight = samples(CLASSES[task], 420)
    usual = y[4:].reshape(416, -1).std(axis=0)
    y[3] += 1e6
    given = {**SETTINGS[setting], "n_trees": 20, "hold_outliers": hold}
    model, predictions, twin = run(X, y, weight, CLASSES[task], **given)
    assert_alike(model, predictions, twin, X, y)
    assert (state(model)["unit"] < 2 * usual).all()


@pytest.mark.parametrize(
    ("count", "off", "is_outlier"),
    [(1, 1e9, True), (4, -1e3, True), (5, 1e3, False), (2, 20.0, False), (1, 0.0, False)],
)
def test_a_few_targets_that_lie_apart_are_as_far_as_others(count, off, is_outlier):
    y = np.random.default_rng(0).normal(size=900) + 5
    usual = y[count:]
    y[:count] += off
    found = without_outliers(y)
    np.testing.assert_array_equal(found[count:], usual)
    expected = usual.max() if off > 0 else usual.min()
    np.testing.assert_array_equal(found[:count], expected if is_outlier else y[:count])


@pytest.mark.parametrize("kind", ["heavy", "rare", "counts", "equal"])
def test_targets_of_heavy_tails_and_rare_events_have_no_outliers(kind):
    rng = np.random.default_rng(0)
    y = {
        "heavy": np.exp(2 * rng.normal(size=900)),
        "rare": 7.0 * (np.arange(900) == 5),
        "counts": rng.poisson(0.3, 900) ** 5.0,
        "equal": np.full(900, 3.0),
    }[kind]
    np.testing.assert_array_equal(without_outliers(y), y)


def test_one_target_of_a_hundred_that_is_far_off_costs_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + 0.1 * rng.normal(size=3000)
    off = rng.random(3000) < 0.01
    errors = []
    for given in (y, np.where(off, y + 40 * rng.normal(size=3000), y)):
        model = KernelForestRegressor(random_state=0).fit(X[:2000], given[:2000])
        errors.append(np.sqrt(np.mean((model.predict(X[2000:]) - f[2000:]) ** 2)) / f.std())
    assert errors[1] < 2.5 * errors[0]


def test_targets_of_rare_events_are_learnt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = np.where((X[:, 0] > 1.6) & (X[:, 1] > 0.5), 1.0, 0.0)
    model = KernelForestRegressor(random_state=0).fit(X[:3000], y[:3000])
    assert r2_score(y[3000:], model.predict(X[3000:])) > 0.8


def test_a_state_of_before_targets_were_held_goes_on():
    space = taught(0, 0, 200)._model.space
    restore, (arguments, told) = space.__reduce__()
    before = {name: value for name, value in told.items() if name != "held"}
    assert not restore(arguments, before).get_state()["held"].any()
    with pytest.raises(TypeError, match="dictionary"):
        restore(arguments, None)


@pytest.mark.parametrize("setting", ["default", "grows", "anew", "light", "table"])
def test_twin_of_cuts_by_a_sum_of_targets(setting, monkeypatch):
    monkeypatch.setattr(KernelForestRegressor, "_cut_weights", (0.5, 0.0, 2.0))
    coded = SETTINGS[setting].get("categorical_features", ())
    X, y, weight = samples(-3, coded=coded)
    model, predictions, twin = run(X, y, weight, -3, **SETTINGS[setting])
    assert_alike(model, predictions, twin, X, y)
    # What is left out tells nothing of cuts.
    y[:, 1] = y[::-1, 1]
    other, _ = learnt(X, y, weight, -3, **SETTINGS[setting])
    for name in ("features", "cuts", "metric"):
        np.testing.assert_array_equal(state(other)[name], state(model)[name])
    assert (state(other)["cells"] != state(model)["cells"]).any()
    monkeypatch.undo()
    other = KernelForestRegressor(random_state=3, **{**SMALL, **SETTINGS[setting]}).fit(X, y)
    assert not np.array_equal(state(other)["features"], state(model)["features"])


def test_cuts_by_one_of_the_targets_are_those_of_a_forest_of_it(monkeypatch):
    X, y, _ = samples(-3)
    one = KernelForestRegressor(random_state=3, **SMALL).partial_fit(X, y[:, 1])
    monkeypatch.setattr(KernelForestRegressor, "_cut_weights", (0.0, 1.0, 0.0))
    model = KernelForestRegressor(random_state=3, **SMALL).partial_fit(X, y)
    for name in ("features", "cuts", "left", "metric"):
        np.testing.assert_array_equal(state(model)[name], state(one)[name])
    np.testing.assert_allclose(model.predict(X)[:, 1], one.predict(X), rtol=0.1, atol=5)


@pytest.mark.parametrize("weights", [(1.0,), (0.0, 0.0, 0.0), (np.nan, 1.0, 1.0), (1.0, -1.0, 0.0)])
def test_weights_of_cuts_must_be_those_of_targets(weights, monkeypatch):
    monkeypatch.setattr(KernelForestRegressor, "_cut_weights", weights)
    X, y, _ = samples(-3)
    with pytest.raises(ValueError, match="cut_weights must be"):
        KernelForestRegressor(**SMALL).fit(X, y)


MISSING = ["default", "grows", "anew", "slow", "first cuts"]


@pytest.mark.parametrize(
    ("setting", "task", "dtype", "layout"),
    grid(MISSING, *ROWS, few=[MISSING, *UNLIKE[1:]]),
)
def test_twin_of_missing_values(setting, task, dtype, layout):
    """Guesses, both sides, and what missing values tell, which are more where y is large."""
    X, y, weight = samples(CLASSES[task])
    first = y.reshape(len(y), -1)[:, :1]
    share = np.where(first > np.median(first), 0.5, 0.05)
    missing = np.random.default_rng(1).random(X.shape) < share * (np.arange(9) % 4 != 3)
    X = np.where(missing, np.nan, X).astype(dtype)
    given = sp.csr_matrix(X) if layout == "csr" else X
    model, predictions, twin = run(given, y, weight, CLASSES[task], **SETTINGS[setting])
    assert_alike(model, predictions, twin, X, y)
    found = state(model)
    assert found["gap_sources"].tolist() == [0, 1, 2, 4, 5, 6, 8]
    assert (np.abs(found["gap_weights"]).max(axis=0) > 0).all()
    n_drawn = 9 + 2 + 8
    assert (found["features"] >= n_drawn).any()
    assert found["features"].max() < n_drawn + 2 * 7


@pytest.mark.parametrize(
    ("setting", "task", "dtype", "layout"),
    grid([*UNLIKE[0], "at once"], *ROWS, few=UNLIKE),
)  # fmt: skip
def test_twin_of_one_hot_columns(setting, task, dtype, layout):
    """Two groups, one of them shuffled among numbers, beside categories and missing values.

    The renewal that begins behind 256 samples ends behind 320.
    """
    X, y, weight = samples(CLASSES[task], n=336, coded=[1, 6])
    rng = np.random.default_rng(2)
    for j, size in ((1, 7), (7, 8)):
        code = X[:, j] if j == 1 else rng.integers(0, size, len(X))
        hot = (code[:, None] == np.arange(size)).astype(float)
        X = np.hstack([X, hot[:, : size - 1]])
    # One more that is never on with the others: a category in one setting.
    X[:, 6] = X[:, 1] == 6
    X[:, 1] = rng.integers(0, 3, len(X))
    X = X[:, [*range(7), 9, 10, 11, 12, 13, 14, 15, 7, 16, 17, 8, 18, 19, 20, 21]]
    X = X.astype(dtype)
    # Rows in which several are on come after they are found.
    X[326:, 7:10] = 2
    given = sp.csr_matrix(X) if layout == "csr" else X
    parameters = dict(SETTINGS[setting])
    if "memory" in parameters:
        parameters["memory"] = 256
    model, predictions, twin = run(given, y, weight, CLASSES[task], **parameters)
    assert_alike(model, predictions, twin, X, y)
    own, groups = state(model), twin.model.scale.groups
    assert len(groups.groups) == 2
    assert own["group_members"].tolist() == groups.members()
    np.testing.assert_array_equal(own["group_starts"], np.cumsum([0, *map(len, groups.groups)]))
    # Of several outputs there are further orders.
    assert (own["group_bases"].shape[1] > 3) == (task not in ("binary", "regression"))
    np.testing.assert_array_equal(own["group_bases"], groups.bases)
    np.testing.assert_array_equal(own["group_steps"], np.concatenate(groups.steps))


@pytest.mark.parametrize(
    ("setting", "task", "dtype", "layout"),
    grid([*UNLIKE[0], "at once"], *ROWS, few=UNLIKE),
)  # fmt: skip
def test_twin_of_heavy_tails(setting, task, dtype, layout):
    """Features whose logarithm tells of the target, beside categories and missing values."""
    X, y, weight = samples(CLASSES[task], n=400, coded=[1, 6])
    heavy = [0, 2, 3, 4, 5]
    told = y.reshape(len(y), -1)[:, 0]
    X[:, 0] = told / told.std() + 0.3 * X[:, 0] / X[:, 0].std()
    X[:, heavy] = np.exp(8 * X[:, heavy] / X[:, heavy].std(axis=0))
    if setting == "table":
        X[np.random.default_rng(0).random(len(X)) < 0.1, 3] = np.nan
    X = X.astype(dtype)
    given = sp.csr_matrix(X) if layout == "csr" else X
    parameters = dict(SETTINGS[setting])
    model, predictions, twin = run(given, y, weight, CLASSES[task], **parameters)
    assert_alike(model, predictions, twin, X, y)
    own, bends = state(model), twin.model.scale.bends.units
    # The first of ten targets has a tenth of their variance: what is told of it is too little.
    assert len(bends) > 0 or task == "ten targets"
    assert own["bend_features"].tolist() == list(bends)
    units = list(zip(own["bend_centers"], own["bend_factors"], strict=True))
    assert units == list(bends.values())


RULES = ["least_squares", "scw1", "scw2", "pa1", "pa2", "logistic"]


@pytest.mark.parametrize("task", CLASSES)
@pytest.mark.parametrize("rule", RULES)
def test_twin_of_rules(rule, task):
    if CLASSES[task] <= 0 and rule not in ("pa1", "pa2"):
        with pytest.raises(ValueError, match="'rule' parameter"):
            KernelForestRegressor(rule=rule).fit(*samples(CLASSES[task])[:2])
        return
    X, y, weight = samples(CLASSES[task])
    model, predictions, twin = run(X, y, weight, CLASSES[task], rule=rule)
    assert_alike(model, predictions, twin, X, y)
    other, _ = learnt(X, y, weight, CLASSES[task])
    assert not np.array_equal(state(other)["cells"], state(model)["cells"])
    variances = state(model)["cells"][..., 0]
    assert (variances == 1).all() == (rule in ("pa1", "pa2", "logistic"))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("memory", [64, 512])
def test_rules_are_resumed_and_taken_back_to_the_bit(memory, rule):
    whole = taught(3, 0, 140, memory=memory, rule=rule)
    for cut in (33, 100, 128):
        part = taught(3, 0, cut, memory=memory, rule=rule)
        again = from_bytes(to_bytes(pickle.loads(pickle.dumps(part))), "a file")
        again.partial_fit(*samples(3, n=20, seed=1)[:2])
        again._model.undo()
        assert to_bytes(taught(3, cut, 140, again)) == to_bytes(whole), cut


@pytest.mark.parametrize("rule", ["pa1", "logistic"])
def test_weights_of_first_order_are_merged_as_means(rule):
    base = taught(3, 0, 85, rule=rule)
    models = [taught(3, *ends, base) for ends in ((85, 95), (95, 115))]
    found, *parts = [state(each)["cells"] for each in (merge(models, base=base), *models)]
    np.testing.assert_array_equal(found[..., 0], 1)
    mean = (parts[0][..., 1:] + 2 * parts[1][..., 1:]) / 3
    np.testing.assert_allclose(found[..., 1:], mean, atol=1e-6)


@pytest.mark.parametrize("task", ["binary", "ten", "regression"])
def test_twin_of_large_nodes(task):
    """Some rows of a node tell what its cuts gain."""
    X, y, weight = samples(CLASSES[task], n=660)
    large = {"n_trees": 2, "max_samples": 1.0, "memory": 1024, "max_leaf": 60}
    model, predictions, twin = run(X, y, weight, CLASSES[task], **large)
    np.testing.assert_allclose(predictions, twin.predictions, rtol=1e-6)
    assert_twins(model, twin, X)


@pytest.fixture
def exact(monkeypatch):
    """Two of five trees are cut exactly, from 64 samples on."""
    monkeypatch.setattr(learners, "TREES_OF_EXACT", 2)
    monkeypatch.setattr(learners, "EXACT_FROM", 64)


@pytest.mark.parametrize("task", ["binary", "three", "ten"])
@pytest.mark.parametrize("memory", [100, 512])
@pytest.mark.parametrize("d", [9, 20])
def test_twin_of_exact_trees(task, memory, d, exact):
    """More than 16 features: cuts are sought along the steepest ones."""
    X, y, weight = samples(CLASSES[task], d=d)
    model, predictions, twin = run(X, y, weight, CLASSES[task], memory=memory)
    np.testing.assert_array_equal(predictions, twin.predictions)
    assert_twins(model, twin, X)
    learners.TREES_OF_EXACT = 10
    other, _ = learnt(X, y, weight, CLASSES[task], memory=memory)
    assert not np.array_equal(state(other)["cuts"], state(model)["cuts"])


@pytest.mark.parametrize("task", ["binary", "ten"])
def test_twin_of_large_nodes_that_are_cut_exactly(task, exact):
    """Nodes of more than 512 rows are counted in bins."""
    X, y, weight = samples(CLASSES[task], n=1300, coded=[1])
    large = {"memory": 1024, "max_samples": 1.0, "categorical_features": [1]}
    model, predictions, twin = run(X, y, weight, CLASSES[task], **large)
    np.testing.assert_array_equal(predictions, twin.predictions)
    assert_twins(model, twin, X)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_exact_cuts_do_not_look_like_steps_that_failed(n_classes, exact, monkeypatch):
    """What divides by zero makes the model check a copy of itself after each call."""
    X, y, _ = samples(n_classes, n=1300)
    parameters = {"n_trees": 5, "memory": 1024, "max_samples": 1.0, "random_state": 0}
    model = KernelForestClassifier(**parameters)
    model.partial_fit(X[:1000], y[:1000], classes=np.arange(n_classes))
    monkeypatch.setattr(copy, "deepcopy", None)
    for x, label in zip(X[1000:], y[1000:], strict=True):
        model.learn_one(x, label)


@pytest.mark.parametrize(("n_classes", "share"), [(3, "auto"), (0, 0.4)])
@pytest.mark.parametrize("memory", [64, 512])
def test_exact_trees_are_resumed_and_taken_back_to_the_bit(
    memory, n_classes, share, exact, monkeypatch
):
    monkeypatch.setattr(learners, "ASKED_FROM", 64)
    given = {"memory": memory, "exact": share}
    whole = taught(n_classes, 0, 140, **given)
    for cut in (64, 65, 70, 75, 79, 100, 128, 131, 139):
        part = taught(n_classes, 0, cut, **given)
        again = from_bytes(to_bytes(pickle.loads(pickle.dumps(part))), "a file")
        again.partial_fit(*samples(n_classes, n=20, seed=1)[:2])
        again._model.undo()
        assert to_bytes(taught(n_classes, cut, 140, again)) == to_bytes(whole), cut


@pytest.mark.parametrize("rule", ["arow", "pa1"])
def test_merged_experts_see_no_more_trees(rule):
    base = taught(0, 0, 70, exact=0.4, rule=rule)
    models = [taught(0, 70, 90, base), taught(0, 90, 110, base)]
    merged, parts = state(merge(models, base=base)), [state(each) for each in models]
    unseen = parts[0]["cells"][:, :, 0] == 0
    assert unseen.any()
    assert not merged["cells"][unseen].any()
    assert merged["cells"][~unseen].any()
    assert not np.array_equal(merged["cells"], parts[0]["cells"])


def test_merged_cells_that_heavy_samples_made_certain_keep_their_weights():
    """Their variance rounds to 0, as that of cells which an expert does not see is."""
    base = taught(0, 0, 70, n_trees=1)
    X, y, _ = samples(0)
    models = [copy.deepcopy(base), copy.deepcopy(base)]
    for k, model in enumerate(models):
        rows = slice(70 + 10 * k, 80 + 10 * k)
        model.partial_fit(X[rows], y[rows], sample_weight=np.full(10, 1e12))
    found, part = state(merge(models, base=base))["cells"], state(models[0])["cells"]
    certain = part[..., 0] == 0
    assert certain.any()
    assert part[certain][:, 1].all()
    assert found[certain].all()


def test_merged_forests_without_trees_do_not_weigh_experts_of_targets():
    """They have no unit to be weighed in."""
    base = taught(0, 0, 5)
    merged = merge([taught(0, 5, 12, base), taught(0, 12, 20, base)], base=base)
    assert state(merged)["renewed"] == 0
    assert state(taught(0, 20, 30, merged))["met"] == 0
    grown = merge([taught(0, 5, 20, base), taught(0, 20, 40, base)], base=base)
    assert state(grown)["renewed"] == 40
    assert len(state(grown)["left"]) > SMALL["n_trees"]


@pytest.mark.parametrize("when_full", ["grow", "renew"])
@pytest.mark.parametrize("cut", [600, 639, 640, 641, 767, 2047, 2048])
def test_a_renewal_that_is_lost_before_the_next_one_is_done_first(cut, when_full):
    """A renewal that is spread over as many samples ends where the next one begins."""
    settings = {"memory": 64 if when_full == "renew" else 1024, "renewal_spread": 1.0}
    made = KernelForestRegressor(n_trees=3, random_state=0, when_full=when_full, **settings)
    X = np.random.default_rng(0).normal(size=(2100, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    whole = copy.deepcopy(made).partial_fit(X, y)
    part = from_bytes(to_bytes(made.partial_fit(X[:cut], y[:cut])), "a file")
    assert to_bytes(part.partial_fit(X[cut:], y[cut:])) == to_bytes(whole)


@pytest.mark.parametrize("cut", [65, 90, 99, 100, 101, 102, 127, 128, 129, 160])
def test_a_renewal_that_goes_on_where_the_next_one_is_due_is_resumed_to_the_bit(cut):
    """The one that began at the 64th sample ends at the 128th, the next is due at the 100th."""
    settings = {"memory": 100, "when_full": "renew", "renewal_spread": 1.0}
    begun = KernelForestRegressor(n_trees=3, random_state=0, **settings)
    begun._early = 16
    X, y, _ = samples(0, n=260)
    whole = copy.deepcopy(begun).partial_fit(X, y)
    part = begun.partial_fit(X[:cut], y[:cut])
    again = from_bytes(to_bytes(part), "a file").partial_fit(X[cut:], y[cut:])
    for name, value in state(whole).items():
        np.testing.assert_array_equal(state(again)[name], value, err_msg=name)
    more = part.partial_fit(X[cut : cut + 1], y[cut : cut + 1])
    more._model.undo()
    more.partial_fit(X[cut:], y[cut:])
    np.testing.assert_array_equal(more.predict(X), whole.predict(X))


def test_random_cuts_and_single_experts_of_numbers_have_no_exact_trees(exact):
    one = {"levels": "leaf", "noise": 1.0}
    for n_classes, parameters, n in (
        (3, {}, 2), (3, one, 2), (3, {"n_candidates": 1}, 0),
        (0, {"n_trees": 29}, 2), (0, {"n_trees": 29, **one}, 0), (0, {"n_candidates": 1}, 0),
    ):  # fmt: skip
        model = taught(n_classes, 0, 10, **parameters)
        assert model._model.space.arguments()[-8] == n


@pytest.mark.parametrize(
    ("parameters", "n_seen"),
    [
        ({}, (24, 30, 30, 24)),
        ({"levels": "leaf"}, (24, 30)),
        ({"noise": 1.0}, (24, 30)),
        ({"exact": 1.0}, ()),
        ({"exact": 0.0}, ()),
        ({"levels": "upper", "noise": 1.0}, ()),
    ],
)
def test_half_of_the_experts_of_numbers_do_not_see_exact_trees(parameters, n_seen):
    model = taught(0, 0, 40, **{"n_trees": 30, "exact": 0.2, **parameters})
    space = model._model.space
    assert space.n_seen == n_seen
    assert space.arguments()[-4] == (0.5 if n_seen else 1.0)
    ends, cells = state(model)["first"], state(model)["cells"]
    for e, seen in enumerate(n_seen):
        inside, outside = cells[: ends[seen], e], cells[ends[seen] :, e]
        assert np.abs(inside[:, 1:]).max() > 0
        assert not outside[:, 1:].any()
        assert seen == 30 or (outside[:, 0] == 0).any()
    assert taught(3, 0, 40, n_trees=30)._model.space.n_seen == ()


@pytest.mark.parametrize(
    ("parameters", "variances"),
    [
        ({}, (0.1, 2.0, 2.0, 0.1)),
        ({"levels": "leaf"}, (0.1, 2.0)),
        ({"noise": 1.0}, (0.1, 2.0)),
        ({"levels": "upper", "noise": 1.0}, ()),
        ({"exact": 1.0}, ()),
        ({"exact": 0.0}, ()),
    ],
)
def test_half_of_the_experts_of_classes_lean_on_exact_trees(parameters, variances, exact):
    model = taught(3, 0, 100, **parameters)
    assert model._model.space.exact_variances == variances
    if not variances:
        return
    found = state(model)
    leaves = found["left"] == np.arange(len(found["left"])) - np.repeat(
        found["first"][:-1], np.diff(found["first"])
    )
    # The renewal at 64 has one tree that is exact, the last one.
    is_exact = np.arange(len(leaves)) >= found["first"][-2]
    for e, variance in enumerate(variances):
        own = found["cells"][:, e, 0]
        assert 0.1 < own[leaves & ~is_exact].max() <= 1
        assert own[leaves & is_exact].max() <= np.float32(variance)
        assert own[leaves & is_exact].max() > variance / 4
        assert found["cells"][leaves & is_exact, e, 1:].any()
    assert taught(0, 0, 100, n_trees=30, exact=0.2)._model.space.exact_variances == ()


@pytest.mark.parametrize("rule", ["arow", "pa1"])
def test_cells_of_exact_trees_are_merged_by_what_they_began_with(rule, exact):
    base = taught(3, 0, 85, memory=64, rule=rule)
    models = [taught(3, 85, 100, base), taught(3, 100, 120, base)]
    found, *parts = [state(each) for each in (merge(models), *models)]
    one, two = (part["cells"][..., 0].astype(float) for part in parts)
    if rule == "pa1":
        np.testing.assert_array_equal(found["cells"][..., 0], parts[0]["cells"][..., 0])
        return
    # Without their base, all that they know is what they have learnt.
    begun = np.ones_like(one)
    begun[found["first"][-2] :] = np.float32((0.1, 2.0, 2.0, 0.1))
    leaves = found["left"] == np.arange(len(begun)) - np.repeat(
        found["first"][:-1], np.diff(found["first"])
    )
    expected = 1 / (1 / one + 1 / two - 1 / begun)
    np.testing.assert_allclose(found["cells"][leaves, :, 0], expected[leaves], rtol=1e-5)
    assert (found["cells"][..., 0] <= np.minimum(one, two) * (1 + 1e-6)).all()


def test_forests_that_were_saved_without_it_see_all_trees():
    space = taught(0, 0, 100, exact=0.4)._model.space
    former = type(space)(*space.arguments()[:-4])
    assert former.n_seen == former.exact_variances == ()
    assert former.arguments()[-4] == 1.0


def test_a_share_of_exact_trees_is_rounded():
    X, y, _ = samples(0, n=10)
    model = KernelForestRegressor(n_trees=100, exact=0.29).fit(X, y)  # 0.29 * 100 is below 29
    assert model._model.space.arguments()[-8] == 29


@pytest.mark.parametrize(("exact", "n_exact"), [(0.01, 1), (0.1, 1), (0.0, 0)])
def test_a_share_of_exact_trees_is_one_tree_at_least(exact, n_exact):
    """A share that is asked for does something, however few trees there are."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    for make, y in ((KernelForestRegressor, X[:, 0]), (KernelForestClassifier, X[:, 0] > 0)):
        space = make(n_trees=4, exact=exact, random_state=0).fit(X, y)._model.space
        assert space.exact_trees(2048) == n_exact
        assert space.exact_trees(255) == 0


@pytest.mark.parametrize("n_classes", [0, -2, 3])
@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("memory", [100, 512])
def test_twin_of_a_share_of_exact_trees(n_classes, light, memory, monkeypatch):
    monkeypatch.setattr(learners, "ASKED_FROM", 64)
    X, y, weight = samples(n_classes, coded=[1])
    more = {"teacher": "light" if light else "full", "categorical_features": [1], "memory": memory}
    model, predictions, twin = run(X, y, weight, n_classes, exact=0.5, **more)
    assert model._model.space.arguments()[-8] == model.n_trees // 2
    if n_classes == 3:
        np.testing.assert_array_equal(predictions, twin.predictions)
    assert_twins(model, twin, X)
    other, _ = learnt(X, y, weight, n_classes, exact=0.0, **more)
    assert not np.array_equal(state(other)["cuts"], state(model)["cuts"])


def test_how_many_trees_are_exact():
    """Models that were saved with exact trees from 8,192 samples on have the same ones."""
    space = taught(3, 0, 40)._model.space
    *begin, _, _, is_light, weights, _, _, _, _ = space.arguments()
    for exact_from, numbers in ((2048, (2, 2, 2, 5)), (8192, (0, 0, 2, 5)), (64, (5, 5, 5, 5))):
        made = type(space)(*begin, 5, exact_from, is_light, weights)
        assert tuple(made.exact_trees(n) for n in (2048, 8191, 8192, 16384)) == numbers


def test_exact_trees_find_steps(monkeypatch):
    """A tree of a hundred leaves: with exact trees a forest errs less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10000, 6))
    made = DecisionTreeClassifier(splitter="random", max_leaf_nodes=100, random_state=1)
    y = made.fit(X[:2000], rng.integers(0, 2, 2000)).predict(X)
    monkeypatch.setattr(learners, "EXACT_FROM", 4096)
    errors = []
    for share in (1000, 4):
        monkeypatch.setattr(learners, "TREES_OF_EXACT", share)
        model = KernelForestClassifier(n_trees=30, memory=4096, random_state=0)
        model.partial_fit(X[:7500], y[:7500], classes=[0, 1])
        errors.append(1 - model.score(X[7500:], y[7500:]))
    assert errors[1] < 0.8 * errors[0]


@pytest.mark.parametrize(
    ("forest", "most"), [(KernelForestClassifier, 0.1), (KernelForestRegressor, 0.5)]
)
def test_interactions_alone_are_found(forest, most):
    """A product of three signs: no feature tells anything alone, nor do two.

    A forest that draws axes by slopes errs by 0.15 (of numbers .62), with gains by .05 (.37).
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 16))
    y = np.sign(X[:, 3] * X[:, 7] * X[:, 11])
    model = forest(n_trees=60, random_state=0).fit(X[:4500], y[:4500])
    missed = model.predict(X[4500:]) - y[4500:]
    error = np.sqrt(np.mean(missed**2)) if most == 0.5 else np.mean(missed != 0)
    assert error < most


def taught(n_classes, first, last, model=None, **parameters):
    """Return a model that has learnt some of the samples, or a copy of one that has gone on."""
    X, y, _ = samples(n_classes)
    cls = KernelForestClassifier if n_classes > 0 else KernelForestRegressor
    model = copy.deepcopy(model) if model else cls(random_state=3, **{**SMALL, **parameters})
    known = {"classes": np.arange(n_classes)} if n_classes > 0 else {}
    return model.partial_fit(X[first:last], y[first:last], **known)


def state(model):
    return model._model.space.get_state()


@pytest.mark.parametrize("n_classes", [0, 3, -3])
@pytest.mark.parametrize("memory", [64, 512])
def test_any_cut_beside_a_renewal_is_resumed_to_the_bit(memory, n_classes):
    whole = taught(n_classes, 0, 140, memory=memory)
    for cut in (31, 32, 33, 64, 100, 127, 128, 129):
        part = taught(n_classes, 0, cut, memory=memory)
        again = from_bytes(to_bytes(pickle.loads(pickle.dumps(part))), "a file")
        assert to_bytes(taught(n_classes, cut, 140, again)) == to_bytes(whole), cut


@pytest.mark.parametrize("n_classes", [0, 2, 3, -3])
def test_common_trees_are_merged_as_gaussians(n_classes):
    base = taught(n_classes, 0, 85)
    models = [taught(n_classes, *ends, base) for ends in ((85, 100), (100, 120))]
    merged = merge(models, base=base)
    found, old, parts = state(merged), state(base), list(map(state, models))
    np.testing.assert_array_equal(found["cuts"], old["cuts"])
    first = 1 / old["cells"][..., :1].astype(float)
    added = [1 / part["cells"][..., :1] - first for part in parts]
    np.testing.assert_allclose(found["cells"][..., :1], 1 / (first + sum(added)), rtol=1e-5)
    # A leaf of each tree may correct the same error.
    k = SMALL["n_trees"]
    moved = [part["cells"][..., 1:] - old["cells"][..., 1:] for part in parts]
    mean = old["cells"][..., 1:] + sum(
        (first + k * more) * shift for more, shift in zip(added, moved, strict=True)
    ) / (first + k * sum(added))
    np.testing.assert_allclose(found["cells"][..., 1:], mean, rtol=1e-4, atol=1e-5)
    # It keeps what the base kept, and the later samples of both in turn.
    assert found["entered"] == 120
    X, y, _ = samples(n_classes)
    np.testing.assert_array_equal(found["targets"][:85], y[:85])
    np.testing.assert_array_equal(np.sort(found["targets"], axis=0), np.sort(y[:120], axis=0))
    np.testing.assert_array_equal(found["rows"][85:88], X[[100, 85, 101]])


@pytest.mark.parametrize("n_classes", [0, 2, 3, -3])
def test_a_base_in_a_renewal_is_not_counted_twice(n_classes):
    """Both models end the renewal that began at the 64th sample, 16 samples later."""
    base = taught(n_classes, 0, 70)
    models = [taught(n_classes, *ends, base) for ends in ((70, 90), (90, 110))]
    merged, whole = merge(models, base=base), taught(n_classes, 0, 110)
    found, parts = state(merged), list(map(state, models))
    np.testing.assert_array_equal(found["cuts"], parts[0]["cuts"])
    np.testing.assert_array_equal(found["cuts"], parts[1]["cuts"])
    # As many samples have taken their part of the variances as in one stream.
    together = [np.log(each["cells"][..., 0]).mean() for each in (found, state(whole))]
    assert together[0] == pytest.approx(together[1], rel=0.05)


def test_samples_count_as_much_as_the_weight_of_their_model():
    models = [taught(3, 0, 20), taught(3, 20, 40)]
    kept = {w: state(merge(models, weights=[1.0, w])) for w in (1.0, 3.0)}
    np.testing.assert_array_equal(kept[3.0]["weights"], np.tile([1.0, 3.0], 20))
    assert not np.array_equal(kept[3.0]["cells"], kept[1.0]["cells"])


def test_short_parts_grow_the_forest_that_their_stream_would_have():
    """20 samples grow no tree, and 20 more of each part are too few for a new one."""
    X, y, _ = samples(3)
    ends = [(k, k + 20) for k in range(0, 160, 20)]
    models = [taught(3, *each) for each in ends]
    merged, whole = merge(models), taught(3, 0, 160)
    assert len(state(merged)["cuts"]) > len(state(models[0])["cuts"])
    assert merged.score(X, y) > whole.score(X, y) - 0.1
    base = taught(3, 0, 40)
    models = [taught(3, *each, base) for each in ends[2:]]
    merged = merge(models, base=base)
    assert not np.array_equal(state(merged)["cuts"], state(base)["cuts"])
    assert merged.score(X, y) > np.mean([model.score(X, y) for model in models])


def test_one_model_and_its_base_give_the_model():
    for first, last in ((70, 90), (50, 140)):
        base = taught(3, 0, first)
        model = taught(3, first, last, base)
        found, own = state(merge([model], base=base)), state(model)
        assert found.keys() == own.keys()
        for name, value in own.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("n_classes", [0, 3, -3])
def test_other_trees_grow_anew_from_the_samples_of_all(n_classes):
    models = [taught(n_classes, *ends, memory=100) for ends in ((0, 60), (60, 160))]
    merged = merge(models)
    X, y, _ = samples(n_classes)
    found = state(merged)
    assert found["entered"] == 160
    assert len(found["targets"]) == 100
    kept = {row.tobytes() for row in found["rows"]}
    # In shares of 60 and 100 samples, 37 and 63 of the last.
    assert kept == {row.tobytes() for row in (*X[60 - 37 : 60], *X[160 - 63 : 160])}
    assert merged.score(X, y) > min(model.score(X, y) for model in models)


def test_two_classes_become_three():
    """The one output w becomes -w and w, and the kept samples have new numbers."""
    old = taught(2, 0, 100)
    X, y, _ = samples(2)
    new = copy.deepcopy(old)
    new._take_up(np.array([-1, 0, 1]))
    scores = old.decision_function(X)
    expected = np.column_stack([0 * scores, -scores, scores])
    np.testing.assert_allclose(new.decision_function(X), expected, atol=1e-6)
    np.testing.assert_array_equal(state(new)["targets"], y[:100] + 1)
    new.partial_fit(X[100:], y[100:])
    assert new.score(X, y) > 0.5


@pytest.mark.parametrize("n_numbers", [0, 1, 3])
def test_directions_mix_features_of_many_values(n_numbers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    X[:, n_numbers:] = np.sign(X[:, n_numbers:])
    X[::2, 5] = 0
    y = (X.sum(axis=1) > 0).astype(int)
    model = KernelForestClassifier(n_trees=3, random_state=0).fit(X, y)
    directions = state(model)["directions"]
    if n_numbers < 2:
        assert directions is None or not directions.size
        return
    assert directions[:n_numbers].any(axis=1).all()
    assert not directions[n_numbers:].any()


def test_directions_mix_a_few_others_of_many_rows():
    rng = np.random.default_rng(0)
    X = np.sign(rng.normal(size=(700, 6)))
    y = (X.sum(axis=1) > 0).astype(int)
    model = KernelForestClassifier(n_trees=3, random_state=0).fit(X, y)
    assert state(model)["directions"].any(axis=1).all()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("targets", lambda a: a + 2),
        ("targets", lambda a: a + 0.5),
        ("weights", lambda a: -a),
        ("errors", lambda a: -a),
        ("met", lambda n: -n),
        ("held", lambda _: -np.ones((3, 5))),
        ("factor", lambda a: -a),
        ("cells", lambda a: -a - 1),
        ("left", lambda a: np.maximum(a - 3, 0)),
        ("features", lambda a: a + 99),
        ("first", lambda a: a[:-1]),
        ("metric", lambda a: 0 * a),
        ("directions", lambda a: a[:, :-1]),
        ("rows", lambda a: a[:-1]),
        ("entered", lambda n: n - 1),
        ("unit", lambda _: 0.0),
    ],
)
def test_a_damaged_state_is_refused(name, change):
    space = taught(3, 0, 70)._model.space
    good = space.get_state()
    with pytest.raises((ValueError, TypeError), match=r"\w"):
        space.set_state({**good, name: change(good[name])})
    space.set_state(good)
    with pytest.raises(ValueError, match="fields"):
        space.set_state({key: value for key, value in good.items() if key != name})


def test_the_first_renewals_take_fewer_samples(monkeypatch):
    """They are spread over a 64th of the samples before them, not over a quarter; two not."""
    monkeypatch.setattr(learners, "EARLY", 512)
    X, y, weight = samples(0)
    over = KernelForestRegressor().fit(X, y)._model.space.samples_of_renewal
    found = [over(n) for n in (32, 64, 128, 256, 512, 1024)]
    assert found == [0, 0, 2, 4, 8, 256]
    model, predictions, twin = run(X, y, weight, 0)
    assert_alike(model, predictions, twin, X, y)
    # Those behind the 128th sample are inside of a renewal.
    again = KernelForestRegressor(random_state=3, **SMALL)
    for i in range(len(X)):
        part = slice(i, i + 1)
        again.partial_fit(X[part], y[part], sample_weight=weight[part])
        if 126 <= i <= 131:
            again = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("when_full", ["grow", "renew"])
def test_a_renewal_without_its_samples_is_refused(when_full):
    """It grows from the samples before it began, of which one at least must be kept."""
    X, y, _ = samples(3, n=1100)
    model = KernelForestClassifier(
        n_trees=4, memory=1024, when_full=when_full, renewal_spread=0.25, random_state=0
    )
    space = model.partial_fit(X[:1050], y[:1050], classes=np.unique(y))._model.space
    good = space.get_state()
    assert good["renewed"] == 512
    kept = ("rows", "targets", "weights")
    for n in (0, 1, 26):
        few = {name: good[name][len(good[name]) - n :] for name in kept}
        with pytest.raises(ValueError, match="rows must reach back to sample 1024"):
            space.set_state({**good, **few})
        # A renewal that is done needs none.
        done = pickle.loads(pickle.dumps(space))
        done.set_state({**good, **few, "renewed": 1024})
    few = {name: good[name][-27:] for name in kept}
    space.set_state({**good, **few})
    model.partial_fit(X[1050:], y[1050:])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_outputs", 1),
        ("n_labels", 1),
        ("noises", ()),
        ("levels", ()),
        ("n_trees", 0),
        ("n_trees", 2**21),
        ("most_in_leaf", -1),
        ("n_candidates", 2**40),
        ("share", 0.0),
        ("most_rows", -(2**62)),
        ("memory", 0),
        ("replays", 2**40),
        ("spread", 1.5),
        ("n_exact", 6),
        ("exact_from", 0),
        ("cut_weights", (1.0, 1.0, 1.0)),
        ("exact_share", 0.0),
        ("n_seen", (5,)),
        ("n_seen", (0, 5, 5, 5)),
        ("exact_variances", (0.1,)),
        ("exact_variances", (1.0, 0.0, 1.0, 1.0)),
        ("exact_variances", (1.0, 200.0, 1.0, 1.0)),
    ],
)
def test_damaged_arguments_are_refused(argument, value):
    space = taught(3, 0, 40)._model.space
    names = "d dtype n_outputs n_labels rule noises levels n_trees most_in_leaf n_candidates share"
    names += " most_rows memory replays spread early anew seed categories n_exact exact_from"
    names += " is_light cut_weights exact_share n_seen exact_variances holds"
    names = names.split()
    arguments = list(space.arguments())
    assert len(arguments) == len(names)
    arguments[names.index(argument)] = value
    with pytest.raises(ValueError, match=r"must be in|outputs|cut_weights"):
        type(space)(*arguments)


def test_cells_of_trees_that_are_not_seen_are_refused(exact):
    space = taught(0, 0, 100, exact=0.4)._model.space
    before = space.get_state()
    assert space.n_seen == (3, 5, 5, 3)
    for expert, tree in ((0, 3), (3, 4)):
        cells = before["cells"].copy()
        cells[before["first"][tree] :, expert] = 0.5
        with pytest.raises(ValueError, match="do not see their tree"):
            space.set_state({**before, "cells": cells})
    np.testing.assert_array_equal(space.get_state()["cells"], before["cells"])
    for seen in ((3.5, 5, 5, 3), ("3", 5, 5, 3)):
        with pytest.raises(TypeError, match="integer"):
            type(space)(*space.arguments()[:-3], seen)
    for variance in ("1", None):
        with pytest.raises(TypeError, match="a variance"):
            type(space)(*space.arguments()[:-2], (variance, 1.0, 1.0, 1.0))


TARGETS = "y must have 3 targets a sample"


def test_several_targets_are_learnt_side_by_side():
    X, Y, weight = samples(-3, n=400)
    model = KernelForestRegressor(random_state=3, **SMALL).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.n_outputs_ == 3
    np.testing.assert_array_equal(model.score_one(X[7]), model.predict(X[7:8])[0])
    assert r2_score(Y, model.predict(X), multioutput="raw_values").min() > 0.5
    one = KernelForestRegressor(random_state=3, **SMALL)
    # Fitted anew, it may have another number of them; a single column is one target.
    np.testing.assert_array_equal(
        model.fit(X, Y[:, :1], weight).predict(X), one.fit(X, Y[:, 0], weight).predict(X)
    )
    assert model.predict(X).shape == (400,)


@pytest.mark.parametrize("way", ["learn_one", "partial_fit", "lists", "columns"])
def test_several_targets_come_in_any_form(way):
    X, Y, _ = (part[:140] for part in samples(-3))
    whole, part = taught(-3, 0, 140), taught(-3, 0, 60)
    if way == "learn_one":
        for x, y in zip(X[60:], Y[60:], strict=True):
            part.learn_one(x, y.tolist())
    elif way == "partial_fit":
        for i in range(60, 140):
            part.partial_fit(X[i : i + 1], Y[i : i + 1])
    elif way == "lists":
        part.partial_fit(X[60:].tolist(), Y[60:].tolist())
    else:
        part.partial_fit(np.asfortranarray(X[60:]), np.asfortranarray(Y[60:]))
    assert to_bytes(part) == to_bytes(whole)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros((2, 2)), TARGETS),
        (np.zeros(2), TARGETS),
        (np.zeros((2, 0)), "y must hold"),
        (np.zeros((1, 3)), "inconsistent"),
        (np.zeros((2, 3, 1)), "shape"),
        (np.array([[0, 1, 2], [0, np.nan, 1]]), "NaN"),
        (np.array([[0, 1, 2], [0, np.inf, 1]]), "infinity"),
        (np.array([["a", 1, 2], [0, 1, 2]]), "numbers"),
        (sp.csr_matrix(np.ones((2, 3))), "sparse"),
    ],
)
def test_targets_that_do_not_fit_change_nothing(y, message):
    X, _, _ = samples(-3)
    model = taught(-3, 0, 40)
    before = to_bytes(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X[:2], y)
    assert to_bytes(model) == before
    for one in (1.0, [1.0, 2.0], [1.0, np.nan, 2.0], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ValueError, match=r"^y must"):
            model.learn_one(X[0], one)
    with pytest.raises(ValueError, match="sample_weight"):
        model.learn_one(X[0], [1.0, 2.0, 3.0], -1.0)
    assert to_bytes(model) == before


def test_the_stream_is_tested_on_one_target():
    X, Y, _ = samples(-3)
    model = KernelForestRegressor(random_state=3, **SMALL)
    with pytest.raises(ValueError, match="y must be one label or target"):
        prequential(model, [(X, Y)])


def test_a_step_that_is_not_finite_takes_all_targets_back():
    X, Y, _ = samples(-3)
    model = taught(-3, 0, 90)
    before = to_bytes(model)
    Y = Y[90:140].copy()
    Y[45, 2] = 1e308
    with pytest.raises(FloatingPointError):
        model.partial_fit(X[90:140], Y)
    assert to_bytes(model) == before


@pytest.mark.parametrize("n_labels", [0, 3])
def test_a_head_of_other_targets_is_refused(n_labels):
    """A file may say anything: a class number is no array of targets."""
    model = taught(3 if n_labels == 0 else -3, 0, 40)._model
    space = taught(-3 if n_labels == 0 else 3, 0, 40)._model.space
    with pytest.raises(ValueError, match="targets"):
        type(model)(space, model.head, model.rule, model.sampler, model.rng, model.d, model.dtype)


@pytest.mark.parametrize("change", [lambda a: a[:, :2], lambda a: a[:, 0], lambda a: a * np.nan])
def test_damaged_targets_are_refused(change):
    space = taught(-3, 0, 70)._model.space
    good = space.get_state()
    with pytest.raises(ValueError, match="targets"):
        space.set_state({**good, "targets": change(good["targets"])})
    for name, value in (("unit", np.zeros(3)), ("unit", np.ones(2)), ("offset", 1.0)):
        with pytest.raises((ValueError, TypeError), match=name):
            space.set_state({**good, name: value})
    space.set_state(good)


def test_the_c_interface_scores_several_targets():
    X, Y, _ = samples(-3)
    model = taught(-3, 0, 100)
    scores, before = np.zeros(12), to_bytes(model)
    c_interface.scores(model, X[:4], scores)
    np.testing.assert_array_equal(scores.reshape(4, 3), model.predict(X[:4]))
    with pytest.raises(ValueError, match="a prediction is 3 targets"):
        c_interface.predict(model, X[:4], np.zeros(4))
    with pytest.raises(ValueError, match=TARGETS):
        c_interface.learn(model, X[:4], Y[:4, 0], None, None)
    assert to_bytes(model) == before


def test_trees_of_a_failed_call_go_back_where_they_were(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    model = KernelForestRegressor(n_trees=5, memory=64, random_state=0)
    before = to_bytes(model.partial_fit(X[:40], y[:40]))
    find, found = forest_look.metric_of, []

    def fail_at_last(teacher):
        found.append(find(teacher))
        if len(found) == 3:
            raise MemoryError("no memory")
        return found[-1]

    # One call replaces the forest at sample 64, cuts its trees further at 128, and fails at 256.
    monkeypatch.setattr(forest_look, "metric_of", fail_at_last)
    with pytest.raises(MemoryError, match="no memory"):
        model.partial_fit(X[40:], y[40:])
    assert to_bytes(model) == before


def test_weights_stay_near_equal_where_hardly_any_errs():
    model, X, y = where_hardly_any_errs()
    assert model.partial_fit(X, y).score(X, y) == 1
    np.testing.assert_allclose(model.expert_weights_, 0.25, atol=0.02)


def test_outliers_are_held_unless_they_are_to_be_learnt():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 4))
    f = 2 * X[:, 0] + np.sin(2 * X[:, 1])
    y = np.where(rng.random(2000) < 0.01, f + 100 * rng.standard_normal(2000), f)
    held, learnt = (
        KernelForestRegressor(hold_outliers=hold, n_trees=30, random_state=0).partial_fit(X, y)
        for hold in (True, False)
    )
    errors = [np.std(model.predict(X) - f) for model in (held, learnt)]
    assert errors[0] < 0.5 * errors[1]
    far = np.abs(y - f) > 50
    kept = [model._model.space.get_state()["targets"][far] for model in (held, learnt)]
    np.testing.assert_array_equal(kept[1], y[far])
    assert np.median(np.abs(kept[0])) < 0.5 * np.median(np.abs(kept[1]))
    # A race has forests that learn them.
    race = StreamRegressor(random_state=0).partial_fit(X[:100], y[:100])._model
    assert all(
        len(one.space.experts.held) == 0 for one in race.experts if hasattr(one.space, "n_exact")
    )


def test_bounded_steps_bear_many_outliers_of_targets():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 4))
    f = 2 * X[:, 0] + np.sin(2 * X[:, 1])
    y = np.where(rng.random(2000) < 0.03, f + 100 * rng.standard_normal(2000), f)
    errors = [
        np.std(
            KernelForestRegressor(rule=rule, n_trees=30, random_state=0).fit(X, y).predict(X) - f
        )
        for rule in ("arow", "pa1")
    ]
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 0.35 * np.std(f)
