"""Exported kernel forests end in the leaves of the model, in C and in ONNX."""

import ctypes

import numpy as np
import pytest
from compiled import Program, address, load
from described import scores_of_model
from exported import scores_of, where_hardly_any_errs
from grids import grid
from sklearn.base import clone, is_regressor

from onlinekern import (
    AROWClassifier,
    AROWRegressor,
    FrequentDirections,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelPAClassifier,
    PAClassifier,
    PartitionFeatures,
    make_stream_pipeline,
)
from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.terms import Constant, Trees
from onlinekern.preprocessing.scaler import OnlineStandardScaler

DTYPES = {"float64": 1e-12, "float32": 2e-6}


def samples(n, d=6, far=0.0):
    """Return rows of float32 numbers, and what a function is of them."""
    X = np.random.default_rng(n + d).normal(size=(n, d))
    f = X[:, 0] + X[:, -1] * X[:, d // 2]
    return (X + far).astype(np.float32).astype(np.float64), f


def table(X, n_codes, missing, seed, n_hot=(), n_heavy=0):
    """Return rows with numbers of categories in column 1, of which some values are missing.

    The last features have heavy tails, if any. One-hot columns follow, each time of one more
    category.
    """
    rng = np.random.default_rng(seed)
    if n_codes:
        X[:, 1] = rng.integers(0, n_codes, size=len(X))
    if n_heavy:
        X[:, -n_heavy:] = np.exp(3 * X[:, -n_heavy:])
    X[rng.random(X.shape) < missing] = np.nan
    for size in n_hot:
        hot = rng.integers(0, size + 1, size=(len(X), 1)) == np.arange(size)
        X = np.hstack([X, 3.0 * hot])
    return X


def fitted(task="binary", n=300, d=6, far=0.0, n_codes=0, missing=0.0, n_hot=(), n_heavy=0,
           **parameters):  # fmt: skip
    """Return a forest of a few trees, and other rows, with categories that it has not seen.

    In some of these several columns are on that were one-hot.
    """
    X, f = samples(n, d, far)
    coded = {"categorical_features": [1]} if n_codes else {}
    given = {"n_trees": 8, "random_state": 0, **coded, **parameters}
    rows = table(samples(150, d, far)[0], 3 * n_codes // 2, missing, 1, n_hot, n_heavy)
    X = table(X, n_codes, missing, 0, n_hot, n_heavy)
    if n_codes:
        f = f + 2 * (np.nan_to_num(X[:, 1]) % 3 == 1)
    if n_hot:
        f = f + X[:, d] - X[:, d + 1 :: 2].sum(axis=1)
        rows[:9, -2:] = 2
    if task == "regression":
        return KernelForestRegressor(**given).fit(X, 5 + 3 * f), rows
    if task == "targets":
        return KernelForestRegressor(**given).fit(X, targets_of(f)), rows
    classes = f > 0 if task == "binary" else np.digitize(f, [-0.5, 0.5])
    return KernelForestClassifier(**given).fit(X, classes), rows


def targets_of(f):
    """Return three targets of other units."""
    return np.column_stack([5 + 3 * f, np.sin(f), 100 - f * f])


def in_c(model, X, folder, dtype):
    """Return the scores of rows in C; sparse rows have the same."""
    made = model.export_c(folder / f"{dtype}.c", dtype=dtype)
    more = ["-Wdouble-promotion"] if dtype == "float32" else []
    library = load(folder, [made.code], more=more)
    program = Program(library, dtype, dtype, scores_of(model, X[:1]).shape[1])
    found = program.scores(X)
    np.testing.assert_array_equal(program.scores(X[:20], sparse_rows=True), found[:20])
    return found


def in_onnx(model, X, folder, dtype):
    """Return the scores of rows in onnxruntime."""
    onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    made = model.export_onnx(folder / "model.onnx", dtype=dtype)
    onnx.checker.check_model(onnx.load(made.path), full_check=True)
    assert {own.domain: own.version for own in onnx.load(made.path).opset_import} in VERSIONS
    name = "variable" if is_regressor(model) else "scores"
    return runtime.InferenceSession(made.path).run([name], {"X": X.astype(dtype)})[0]


# Without trees there are standard operators only.
VERSIONS = [{"": 17, "ai.onnx.ml": 1}, {"": 17}]
WAYS = {"c": in_c, "onnx": in_onnx}
MODELS = {
    "binary": {},
    "classes": {"task": "classes"},
    "regression": {"task": "regression"},
    "targets": {"task": "targets"},
    "two kinds of trees": {"task": "regression", "exact": 0.4},
    "targets without trees": {"task": "targets", "n": 20},
    "leaves alone": {"levels": "leaf"},
    "upper cells": {"levels": "upper", "noise": 1.0},
    "one feature": {"d": 1},
    "far from 0": {"far": 1e5},
    "grown": {"memory": 64},
    "no trees yet": {"n": 20},
    "missing values": {"missing": 0.2},
    "categories": {"n_codes": 9, "task": "classes"},
    "a table": {"n_codes": 300, "missing": 0.1, "task": "regression"},
    "a table of one": {"n_codes": 5, "missing": 0.1, "d": 2},
    "one-hot columns": {"n_hot": [7]},
    "one-hot columns and gaps": {"n_hot": [3], "missing": 0.1, "task": "classes"},
    "one-hot columns of a table": {"n_hot": [9], "n_codes": 5, "missing": 0.1, "task": "targets"},
    "groups of several sizes": {"n_hot": [4, 12, 3], "task": "classes", "n": 600},
    "heavy tails": {"n_heavy": 6, "task": "regression"},
    "heavy tails and gaps": {"n_heavy": 6, "missing": 0.1, "task": "classes"},
}


@pytest.mark.parametrize(("model", "dtype", "way"), grid(list(MODELS), list(DTYPES), list(WAYS)))
def test_scores(model, dtype, way, tmp_path):
    given = MODELS[model]
    model, X = fitted(**given)
    state = model._model.space.get_state()
    assert len(state["group_members"]) == sum(given.get("n_hot", []))
    assert (len(state["bend_features"]) > 0) == ("n_heavy" in given)
    expected = scores_of(model, X)
    found = WAYS[way](model, X, tmp_path, dtype)
    bound = DTYPES[dtype] * max(1, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_on_a_cut_go_left(dtype, way, tmp_path):
    """Every number of the rows is a cut, or the next number beyond."""
    model, _ = fitted()
    space = model._model.space
    state, directions = space.get_state(), np.zeros((6, 8), np.float32)
    directions[np.arange(6), np.arange(6)] = 1
    state |= {"center": np.zeros(6), "factor": np.ones(6), "directions": directions}
    space.set_state(state)
    cuts = state["cuts"][np.isfinite(state["cuts"])]
    rng = np.random.default_rng(0)
    X = rng.choice(np.append(cuts, np.nextafter(cuts, np.float32(np.inf))), (400, 6))
    expected = scores_of(model, X)
    found = WAYS[way](model, X, tmp_path, dtype)
    np.testing.assert_allclose(found, expected, rtol=0, atol=DTYPES[dtype])
    # Were they to go right, the scores would be others.
    beyond = scores_of_model(describe(model), np.nextafter(X, np.inf).astype(np.float64))
    assert np.abs(beyond - expected).max() > 1e-3


@pytest.mark.parametrize("way", WAYS)
def test_values_far_outside_are_cut_off(way, tmp_path):
    model, X = fitted()
    X[::2] *= 1e30
    found = WAYS[way](model, X, tmp_path, "float32")
    np.testing.assert_allclose(found, scores_of(model, X), rtol=0, atol=1e-5)


def test_a_leaf_holds_what_all_experts_say():
    model, _ = fitted("classes")
    (trees,) = describe(model).body.terms
    assert isinstance(trees, Trees)
    inner = np.isfinite(model._model.space.get_state()["cuts"]).sum()
    assert trees.weights.shape == (inner + 8, 3)
    assert len(trees.cuts) == inner
    before, _ = fitted(n=20)
    (constant,) = describe(before).body.terms
    assert isinstance(constant, Constant)


@pytest.mark.parametrize(("dtype", "itemsize"), [("float32", 4), ("float64", 8)])
def test_bytes_of_the_tables(dtype, itemsize, tmp_path):
    """A node takes 8 bytes, a leaf a number for each output, a feature its scale and directions."""
    model, _ = fitted("classes")
    made = model.export_c(tmp_path / "m.c", dtype=dtype)
    (trees,) = describe(model).body.terms
    tables = 8 * len(trees.cuts) + 2 * 8 + 6 * (16 + 4 * 8)
    assert made.flash == tables + trees.weights.size * itemsize + 3 * 4  # 3 labels
    assert made.ram == 6 * itemsize + 4 * (6 + 8)


@pytest.mark.parametrize("way", WAYS)
def test_values_are_missing_that_never_were(way, tmp_path):
    """They have the mean of their feature."""
    model, X = fitted()
    mean = model._model.space.get_state()["center"]
    X[3], X[4] = mean, np.nan
    X[5, 2] = np.nan
    found = WAYS[way](model, X, tmp_path, "float64")
    np.testing.assert_allclose(found, scores_of(model, X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[3], found[4])


def test_rows_of_infinite_values_have_scores_of_nan(tmp_path):
    model, X = fitted()
    X[1, 2], X[2, 2] = np.nan, np.inf
    scores = in_onnx(model, X[:4], tmp_path, "float32")[:, 0]
    assert np.isnan(scores).tolist() == [False, False, True, False]


RULES = ("least_squares", "scw1", "scw2", "pa1", "pa2", "logistic")
LEARNING = {
    "binary": {},
    "classes": {"task": "classes"},
    "regression": {"task": "regression"},
    "targets": {"task": "targets"},
    "a table of targets": {"task": "targets", "n_codes": 9, "missing": 0.1},
    "leaves alone": {"levels": "leaf", "task": "classes"},
    "upper cells": {"levels": "upper", "noise": 1.0, "task": "regression"},
    "one expert": {"levels": "leaf", "noise": 1.0},
    "two kinds of trees": {"task": "regression", "exact": 0.4},
    "two kinds of trees of targets": {"task": "targets", "exact": 0.4, "noise": 1.0},
    "one feature": {"d": 1},
    "grown": {"memory": 64},
    "a table": {"n_codes": 9, "missing": 0.1},
    "weighted": {"class_weight": {False: 0.3, True: 2.0}},
    "some of weight 0": {"class_weight": {False: 0.0}},
    **{rule: {"rule": rule, "task": "classes"} for rule in RULES},
    "pa1 of targets": {"rule": "pa1", "task": "targets"},
    "pa2 of a target": {"rule": "pa2", "task": "regression"},
    "one-hot columns": {"n_hot": [4, 7], "missing": 0.1, "task": "classes"},
    "heavy tails": {"n_heavy": 6, "missing": 0.1, "task": "classes"},
    "outliers": {"task": "regression", "n_trees": 30},
    "outliers of targets": {"task": "targets", "n_trees": 30},
}


def learning_program(model, folder, dtype="float64"):
    made = model.export_c(folder / f"{dtype}.c", dtype=dtype, learn=True)
    assert made.learns
    more = ["-Wdouble-promotion"] if dtype == "float32" else []
    n_outputs = scores_of(model, np.zeros((1, model.n_features_in_))).shape[1]
    return Program(load(folder, [made.code], more=more), dtype, dtype, n_outputs)


def teach(program, model, X, y):
    """Teach both the same samples, in turn as dense and as sparse rows."""
    kind, given = ctypes.c_int32, y
    if is_regressor(model):
        kind = ctypes.c_double if program.dtype == np.float64 else ctypes.c_float
    else:
        given = np.searchsorted(model.classes_, y)
    for number, (x, target) in enumerate(zip(X, y, strict=True)):
        model.learn_one(x, target)
        ending, arguments, _alive = program.forms(x)[number % 2]
        several = np.ascontiguousarray(given[number], program.dtype)
        told = kind(given[number]) if np.ndim(y) == 1 else address(several)
        assert program.call(f"learn_one{ending}", *arguments, told) == 0


def more_of(model, n=150):
    """Return samples with which no renewal is due, of a function that has turned."""
    d = model.n_features_in_
    X, f = samples(n, d)
    if model.is_categorical_.any():
        X = table(X, 12, 0.1, 2)
    if is_regressor(model):
        return X, 5 - 3 * f if model.n_outputs_ == 1 else targets_of(-f)
    return X, f < 0 if len(model.classes_) == 2 else np.digitize(-f, [-0.5, 0.5])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LEARNING)
def test_learning_on_the_trees_as_they_are(name, dtype, tmp_path):
    # In C it does not begin anew, though the function has turned.
    model, X = fitted(**LEARNING[name], begin_anew=False)
    program = learning_program(model, tmp_path, dtype)
    before = scores_of(model, X)
    trees = model._model.space.now.forest
    more, y = more_of(model)
    if "outliers" in name:
        f = samples(150)[1]
        y = 5 + 3 * f if y.ndim == 1 else targets_of(f)
        y[::20] += 500
    teach(program, model, more, y)
    if "outliers" in name:
        # Some are held, and some are not.
        assert np.any(model._model.space.get_state()["targets"][-len(y) :][::20] < 200)
    assert model._model.space.now.forest.n_nodes == trees.n_nodes
    expected = scores_of(model, X)
    assert np.abs(expected - before).max() > 0.1
    found = program.scores(X)
    if dtype == "float64":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(program.scores(X, sparse_rows=True), found)


def test_weights_stay_near_equal_where_hardly_any_errs(tmp_path):
    model, X, y = where_hardly_any_errs()
    program = learning_program(model, tmp_path)
    teach(program, model, X, y)
    np.testing.assert_allclose(model.expert_weights_, 0.25, atol=0.02)
    np.testing.assert_array_equal(program.scores(X), scores_of(model, X))


@pytest.mark.parametrize(
    ("task", "bad"), [("classes", [-1, 3]), ("regression", [np.nan, np.inf, 1e300])]
)
def test_samples_that_are_refused_teach_nothing(task, bad, tmp_path):
    model, X = fitted(task)
    program = learning_program(model, tmp_path)
    before = program.scores(X)
    kind = ctypes.c_double if task == "regression" else ctypes.c_int32
    for x, targets in ((X[0], bad), (np.append(X[0, :5], np.inf), [1])):
        for target in targets:
            for ending, arguments, _alive in program.forms(x):
                assert program.call(f"learn_one{ending}", *arguments, kind(target)) < 0
    np.testing.assert_array_equal(program.scores(X), before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("place", [0, 2])
def test_targets_that_are_refused_teach_nothing(place, bad, tmp_path):
    model, X = fitted("targets")
    program = learning_program(model, tmp_path)
    before = program.scores(X)
    targets = np.ones(3)
    targets[place] = bad
    for ending, arguments, _alive in program.forms(X[0]):
        assert program.call(f"learn_one{ending}", *arguments, address(targets)) < 0
    np.testing.assert_array_equal(program.scores(X), before)


@pytest.mark.parametrize("task", ["classes", "regression", "targets"])
def test_a_scaler_learns_in_front(task, tmp_path):
    forest, _ = fitted(task)
    X, f = samples(300)
    model = make_stream_pipeline(OnlineStandardScaler(), clone(forest).set_params(begin_anew=False))
    told = {"classes": np.digitize(f, [-0.5, 0.5]), "regression": 5 + 3 * f}
    model.fit(X * 100 + 7, told.get(task, targets_of(f)))
    program = learning_program(model, tmp_path)
    Z, y = more_of(model[-1])
    teach(program, model, Z * 90 + 3, y)
    rows = samples(200)[0] * 100
    np.testing.assert_allclose(program.scores(rows), scores_of(model, rows), rtol=0, atol=1e-9)


def test_a_forest_learns_if_asked(tmp_path):
    model, _ = fitted("classes", n=100)
    made = model.export_c(tmp_path / "m.c", learn=True)
    state, settings = model._model.space.get_state(), model._model.space.settings
    inner = int(np.isfinite(state["cuts"]).sum())
    cells, experts, outputs = inner + 8, 4, 3
    floats = cells * experts * (1 + outputs) + 8 * 16 * 2 * (1 + outputs)
    # Scores, steps, variances, falls; weights, and the errors that they come from.
    numbers = 8 * (experts * (2 + 2 * outputs) + experts * (1 + experts) + 1)
    assert settings[2] == 8
    assert made.ram == 4 * floats + numbers + 8 + 2 * 4 * 8 + 8 * 6 + 4 * (6 + 8)
    tables = 8 * inner + 2 * 8 + 6 * (16 + 4 * 8) + 8 * (experts * (1 + experts) + 1)
    noises_and_shares = 8 * 2 * experts
    assert made.flash == tables + noises_and_shares + 4 * floats + 3 * 4 + 8
    assert not model.export_c(tmp_path / "m.c").learns
    young, _ = fitted("classes", n=20)
    with pytest.raises(TypeError, match="cannot be exported to learn: its trees have not grown"):
        young.export_c(tmp_path / "m.c", learn=True)


@pytest.mark.parametrize("way", WAYS)
def test_a_scaler_in_front(way, tmp_path):
    X, f = samples(600)
    model = make_stream_pipeline(
        OnlineStandardScaler(), KernelForestClassifier(n_trees=12, random_state=0)
    ).fit(X * 100 + 7, f > 0)
    rows = samples(400)[0] * 100 + 7
    found = WAYS[way](model, rows, tmp_path, "float64")
    np.testing.assert_allclose(found, scores_of(model, rows), rtol=0, atol=1e-9)


CELLS = {
    "binary": (AROWClassifier(random_state=0), {}),
    "classes": (PAClassifier(C=0.1, random_state=0, average=True), {"memory": 1024}),
    "regression": (AROWRegressor(random_state=0), {"memory": 256, "max_samples": 0.5}),
    "no trees yet": (AROWClassifier(random_state=0), {"memory": 16384}),
}


def on_cells(name, dtype="float64"):
    """Return a pipeline of cells and a linear learner, and other rows."""
    learner, given = CELLS[name]
    X, f = samples(400)
    y = 5 + 3 * f if name == "regression" else f > 0
    if name == "classes":
        y = np.digitize(f, [-0.5, 0.5])
    model = make_stream_pipeline(
        PartitionFeatures(n_trees=12, random_state=0, **given), clone(learner)
    )
    classes = {} if name == "regression" else {"classes": np.unique(y)}
    n = 200 if name == "no trees yet" else 400
    model.partial_fit(X[:n].astype(dtype), y[:n], **classes)
    return model, samples(300)[0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CELLS)
def test_a_linear_learner_of_cells(name, dtype, way, tmp_path):
    model, X = on_cells(name, dtype)
    expected = scores_of(model, X)
    found = WAYS[way](model, X, tmp_path, dtype)
    bound = DTYPES[dtype] * max(1, np.abs(expected).max()) * (5 if dtype == "float32" else 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound)


def test_cells_behind_a_scaler_and_in_front_of_others(tmp_path):
    X, f = samples(400)
    given = PartitionFeatures(n_trees=5, memory=64, random_state=0)
    model = make_stream_pipeline(OnlineStandardScaler(), given, PAClassifier())
    model.partial_fit(X * 100 + 7, f > 0, classes=[False, True])
    rows = samples(300)[0] * 100 + 7
    found = in_c(model, rows, tmp_path, "float64")
    np.testing.assert_allclose(found, scores_of(model, rows), rtol=0, atol=1e-9)
    other = make_stream_pipeline(given, KernelPAClassifier(gamma=0.5))
    other.partial_fit(X, f > 0, classes=[False, True])
    message = r"the step 'partitionfeatures' \(PartitionFeatures\) can be exported in front of"
    with pytest.raises(TypeError, match=message):
        other.export_c(tmp_path / "m.c")
    turned = make_stream_pipeline(given, FrequentDirections(2), PAClassifier())
    turned.partial_fit(X, f > 0, classes=[False, True])
    with pytest.raises(TypeError, match="cannot be exported; steps that can"):
        turned.export_c(tmp_path / "m.c")
