"""Cells of trees as features, against their NumPy twin, and what their page claims."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from grids import grid
from oracles.partition import Partition
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import onlinekern.core.features.partition as core
from onlinekern import (
    AROWClassifier,
    AROWRegressor,
    PAClassifier,
    PartitionFeatures,
    make_stream_pipeline,
    merge,
)
from onlinekern.fitted.save import from_bytes, to_bytes

KINDS = {"none": None, "binary": 2, "three": 3, "ten": 10, "regression": 0}
SETTINGS = {
    "default": {},
    "half": {"max_samples": 0.5},
    "first cuts": {"n_candidates": 1, "max_leaf": 1},
    "shallow": {"max_leaf": 30, "n_trees": 15},
}
SMALL = {"n_trees": 10, "memory": 256, "random_state": 3}


def samples(n_classes, n=300, d=9, seed=0):
    """Return rows, and labels or targets of a function of few of their features."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    Z[np.abs(Z) < 0.3] = 0
    X = Z * np.geomspace(0.1, 100, d) + np.where(np.arange(d) % 3 == 1, 5, 0)
    f = np.sin(2 * Z[:, 0]) + Z[:, 3] * Z[:, 2] + 0.2 * rng.normal(size=n)
    if n_classes is None:
        return X, None
    if n_classes == 0:
        return X, 30 + 7 * f
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))


def rings(n, seed=0):
    """Return rows of two features, and whether they are far from 0: no line tells."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where(np.hypot(*X.T) > 1.2, "far", "near")


def again(model):
    """Return a model that has been saved and loaded."""
    return from_bytes(to_bytes(model), "a file")


def columns_of(features):
    return [row.indices.tolist() for row in sp.csr_matrix(features)]


def twin_of(model, n_classes):
    at, trees, max_leaf, n_candidates, share, _, seed = model._partition.settings
    labels = None if n_classes is None else n_classes > 0
    return Partition(at, trees, max_leaf=max_leaf, n_candidates=n_candidates, share=share,
                     labels=labels, seed=seed)  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "kind", "dtype", "layout"),
    grid(list(SETTINGS), list(KINDS), ["float64", "float32"], ["dense", "csr"]),
)
def test_twin(setting, kind, dtype, layout):
    X, y = samples(KINDS[kind])
    X = X.astype(dtype)
    rows = sp.csr_matrix(X) if layout == "csr" else X
    model = PartitionFeatures(**{**SMALL, **SETTINGS[setting]})
    features = model.learn_transform(rows, y)
    assert features.dtype == dtype
    assert np.all(features.data == np.array(1 / np.sqrt(model.n_trees), dtype=dtype))
    twin = twin_of(model, KINDS[kind])
    found = []
    for x, target in zip(X, np.zeros(len(X)) if y is None else y, strict=True):
        found.append(twin.columns(x))
        twin.learn(x, target)
    assert columns_of(features) == found
    assert columns_of(model.transform(rows)) == [twin.columns(x) for x in X]
    assert model.n_trees_ == sum(len(group.trees) for group in twin.groups) == model.n_trees


@parametrize_with_checks(
    [
        PartitionFeatures(n_trees=5, random_state=0),
        PartitionFeatures(n_trees=5, n_candidates=1, max_samples=0.5, memory=64, random_state=0),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_every_parameter_is_constrained():
    constrained = set(PartitionFeatures._parameter_constraints)
    assert set(PartitionFeatures().get_params()) == constrained


def test_a_product_is_the_share_of_common_cells():
    X, y = samples(2)
    model = PartitionFeatures(n_trees=7, random_state=0).fit(X, y)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.multiply(Z).sum(axis=1), 1)
    cells = Z.indices.reshape(len(X), 7)
    shares = (cells[:, None, :] == cells).mean(axis=2)
    np.testing.assert_allclose((Z @ Z.T).toarray(), shares, atol=1e-12)


@pytest.mark.parametrize("with_y", [False, True])
def test_fit_has_as_many_columns_as_cells(with_y):
    X, y = samples(3)
    model = PartitionFeatures(n_trees=11, random_state=0)
    Z = model.fit_transform(X, y if with_y else None)
    assert Z.shape == (len(X), model.n_features_out_)
    assert np.all(np.diff(Z.indptr) == 11)
    # Each cell holds a sample that its tree has grown from, and at most `max_leaf`, but where three
    # pairs that were drawn had nothing to tell them apart.
    counts = np.bincount(Z.indices, minlength=Z.shape[1])
    assert counts.min() == 1
    assert np.mean(counts <= 4) > 0.98
    names = model.get_feature_names_out()
    assert len(names) == Z.shape[1]
    assert names[3] == "partitionfeatures3"
    before = pickle.dumps(model._partition.get_state())
    model.partial_fit(X[:50] + 1)
    assert pickle.dumps(model._partition.get_state()) == before


def test_fit_takes_samples_from_everywhere():
    X = np.arange(1000.0)[:, None]
    model = PartitionFeatures(n_trees=9, memory=100, random_state=0).fit(X)
    assert len(np.unique(model.transform(X[900:]).indices)) > 10
    assert len(np.unique(model.transform(X[:100]).indices)) > 10


@pytest.mark.parametrize("kind", list(KINDS))
def test_calls_may_be_cut_anywhere(kind, same_state):
    X, y = samples(KINDS[kind])
    y = np.array([f"class {label}" for label in y]) if kind == "ten" else y

    def part(rows):
        return X[rows], None if y is None else y[rows]

    whole = PartitionFeatures(**SMALL)
    features = whole.learn_transform(X, y)
    for length in (1, 7, 100):
        model, found = PartitionFeatures(**SMALL), []
        for start in range(0, len(X), length):
            found.append(model.learn_transform(*part(slice(start, start + length))))
            if start % 3 == 0:
                model = again(model)
            if start % 3 == 1:
                model = pickle.loads(pickle.dumps(model))
        assert (sp.vstack(found) != features).nnz == 0
        same_state(model, whole)


def test_a_column_keeps_its_cell():
    X, y = samples(3)
    model = PartitionFeatures(**SMALL)
    before, trees = sp.csr_matrix((len(X), 0)), []
    for start in range(0, 300, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])
        after = model.transform(X)
        assert after.shape[1] == model.n_features_out_ == PartitionFeatures(**SMALL).partial_fit(
            X[:1], y[:1]).n_features_out_  # fmt: skip
        if before.shape[1]:
            # What was there is there; new columns come behind.
            assert (before > after).nnz == 0
        before = after
        trees.append(model.n_trees_)
    # Two of ten trees grow at 256 / 8 samples, the others at 256.
    assert trees == [0] * 3 + [2] * 22 + [10] * 5


def test_a_row_is_transformed_before_its_target_is_known():
    X, y = samples(2)
    model, other = PartitionFeatures(**SMALL), PartitionFeatures(**SMALL)
    turned = y.copy()
    turned[31] = 1 - y[31]
    one, two = model.learn_transform(X, y), other.learn_transform(X, turned)
    assert (one[:32] != two[:32]).nnz == 0
    assert one[:32].nnz == 0
    assert (one[32:] != two[32:]).nnz > 0


def test_labels_and_numbers(same_state):
    X, y = samples(3)
    text = np.array(["red", "green", "blue"])[y]

    def cells(y, **parameters):
        return PartitionFeatures(**SMALL, **parameters).fit_transform(X, y)

    def differ(one, other):
        return one.shape != other.shape or (one != other).nnz > 0

    for labels in (text.tolist(), text.astype(object), y.astype(float), y == 1, y.astype(np.int8)):
        assert differ(cells(labels), cells(None))
    assert not differ(cells(y), cells(y * 7 - 3))
    assert not differ(cells(y), cells(y, target="labels"))
    assert differ(cells(y), cells(y, target="numbers"))
    assert not differ(cells(y / 2), cells(y, target="numbers"))
    # Whole numbers of many values are numbers.
    many = np.arange(len(X)) // 3
    assert not differ(cells(many), cells(many, target="numbers"))
    assert differ(cells(many), cells(many, target="labels"))


def test_more_labels_than_are_told_apart():
    X, _ = samples(2, n=600)
    y = np.append(np.arange(500), np.zeros(100))
    labels, _, n_classes = core.goals_of(y, "labels")
    assert n_classes == 256
    assert set(labels) == set(range(256))
    assert np.bincount(labels)[0] == 101  # the most frequent one has a number of its own
    PartitionFeatures(**{**SMALL, "memory": 600}, target="labels").fit(X, y)


@pytest.mark.parametrize("y", [[0.5] * 300, [1] * 300, ["a"] * 300, [1e308, -1e308] * 150])
def test_targets_that_tell_little(y):
    X, _ = samples(2)
    X = X * 1e300
    model = PartitionFeatures(**SMALL).fit(X, y)
    assert np.isfinite(model.feature_importances_).all()
    assert np.diff(model.transform(X).indptr).tolist() == [10] * 300


@pytest.mark.parametrize("n", [1, 2, 31, 33])
def test_few_samples(n):
    X, y = samples(0)
    model = PartitionFeatures(**SMALL).fit(X[:n], y[:n])
    assert model.transform(X).shape == (len(X), model.n_features_out_)
    constant = PartitionFeatures(**SMALL).fit(np.ones((n, 3)))
    assert constant.n_features_out_ == 10


def test_importances():
    X, y = samples(2)
    assert not PartitionFeatures(**SMALL).fit(X).feature_importances_.any()
    shares = PartitionFeatures(**SMALL).fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert set(np.argsort(shares)[-3:]) == {0, 2, 3}


REFUSED = {
    "other kind": ({"y": np.array(["a"] * 10)}, "did not hold such labels"),
    "no y": ({"y": None}, "y is None, but was in the first call|y is None, but"),
    "nan": ({"y": np.full(10, np.nan)}, r"y\[\d+\] is missing or NaN"),
    "length": ({"y": np.zeros(9)}, "inconsistent numbers of samples"),
    "features": ({"X": np.zeros((10, 3))}, "features"),
    "infinite": ({"X": np.full((10, 9), np.inf)}, "infinity"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_changes_nothing(case, same_state):
    X, y = samples(2)
    model = PartitionFeatures(**SMALL).partial_fit(X[:50], y[:50])
    before = again(model)
    given, message = REFUSED[case]
    given = {"X": X[50:60], "y": y[50:60], **given}
    for method in (model.partial_fit, model.learn_transform):
        with pytest.raises(ValueError, match=message):
            method(**given)
    same_state(model, before)
    untaught = PartitionFeatures(**SMALL).partial_fit(X[:50])
    with pytest.raises(ValueError, match="y is given, but was not in the first call"):
        untaught.partial_fit(X[50:], y[50:])


@pytest.mark.parametrize("method", ["fit", "partial_fit", "learn_transform"])
def test_a_call_that_fails_while_trees_grow_changes_nothing(method, monkeypatch, same_state):
    X, y = samples(2)
    model = PartitionFeatures(**SMALL).partial_fit(X[:50], y[:50])
    before = again(model)

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(core, "look", fail)
        with pytest.raises(KeyboardInterrupt):
            getattr(model, method)(X[50:], y[50:])
    same_state(model, before)
    for one in (model, before):
        one.partial_fit(X[50:], y[50:])
    same_state(model, before)


def test_parameters_are_checked():
    X, y = samples(2)
    for bad in ({"memory": 63}, {"memory": 16385}, {"max_samples": 0.0}, {"target": "classes"},
                {"n_trees": 0}, {"max_leaf": 0}, {"n_candidates": 1001}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(bad))):
            PartitionFeatures(**bad).fit(X, y)
    with pytest.raises(MemoryError, match="n_trees=10000000000 needs at least"):
        PartitionFeatures(n_trees=10**10).partial_fit(X, y)
    with pytest.raises(ValueError, match="at most 65527 features"):
        PartitionFeatures(memory=64).fit(sp.csr_matrix((3, 65528)))
    with pytest.raises(ValueError, match="more cells than there are numbers of columns"):
        core.Partition(9, np.float64, (16384,), (200_000,), 4, 10, 1.0, "auto", 1)


def test_a_linear_learner_of_cells_learns_what_no_line_tells():
    X, y = rings(3000)
    raw = AROWClassifier(random_state=0)
    cells = make_stream_pipeline(PartitionFeatures(random_state=0), AROWClassifier(random_state=0))
    mistakes = [np.mean(model.partial_fit_predict(X, y, classes=["far", "near"]) != y)
                for model in (raw, cells)]  # fmt: skip
    assert mistakes[0] > 0.35
    assert mistakes[1] < 0.07
    tested, labels = rings(1000, seed=1)
    assert cells.score(tested, labels) > 0.96
    batch = make_pipeline(PartitionFeatures(random_state=0), AROWClassifier(random_state=0))
    assert batch.fit(X, y).score(tested, labels) > 0.96


def test_cuts_look_where_the_function_changes():
    X, y = samples(0, n=4000)
    X, Z, y, v = X[:3000], X[3000:], y[:3000], y[3000:]
    scores = [
        make_pipeline(transformer, AROWRegressor(random_state=0)).fit(X, y).score(Z, v)
        for transformer in (
            RandomTreesEmbedding(max_depth=8, random_state=0),
            PartitionFeatures(max_samples=0.5, random_state=0),
        )
    ]
    assert scores[1] > 0.8
    assert scores[1] > scores[0] + 0.1


def test_a_pipeline_learns_the_same_whatever_the_calls():
    X, y = rings(400)
    classes = ["far", "near"]

    def learner():
        return make_stream_pipeline(PartitionFeatures(**SMALL), PAClassifier())

    whole, cut, single = learner(), learner(), learner()
    predicted = whole.partial_fit_predict(X, y, classes=classes)
    parts = [cut.partial_fit_predict(X[k : k + 37], y[k : k + 37], classes=classes)
             for k in range(0, 400, 37)]  # fmt: skip
    np.testing.assert_array_equal(np.concatenate(parts), predicted)
    single.partial_fit(X[:1], y[:1], classes=classes)
    for x, label in zip(X[1:], y[1:], strict=True):
        single.learn_one(x, label)
    for model in (cut, single):
        np.testing.assert_array_equal(model[-1].coef_, whole[-1].coef_)
    assert whole.score_one(X[3]) == whole.decision_function(X[3:4])[0]


def test_a_pipeline_whose_learner_fails_is_as_it_was(same_state):
    X, y = rings(300)
    model = make_stream_pipeline(PartitionFeatures(**SMALL), PAClassifier())
    model.partial_fit(X[:50], y[:50], classes=["far", "near"])
    before = again(model)
    with pytest.raises(ValueError, match="unknown"):
        model.partial_fit(X[50:], ["unknown"] * 250)
    same_state(model[0], before[0])
    assert model[0]._labels == before[0]._labels


def test_rows_are_read_while_trees_grow():
    X, y = rings(300)
    model = PartitionFeatures(**SMALL).partial_fit(X[:1], y[:1])

    def teach(start):
        for k in range(start, 300, 10):
            model.partial_fit(X[k : k + 5], y[k : k + 5])
        return set()

    def read(_):
        return {length for _ in range(100) for length in np.diff(model.transform(X[:70]).indptr)}

    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(teach, 1), pool.submit(teach, 6), *[pool.submit(read, 0)] * 2]
        lengths = set().union(*[done.result() for done in work])
    assert lengths <= {0, 2, 10}
    assert (model.n_trees_, model._partition.entered) == (10, 256)


def test_merging():
    X, y = rings(900)
    base = make_stream_pipeline(PartitionFeatures(**SMALL), AROWClassifier())
    base.partial_fit(X[:300], y[:300], classes=["far", "near"])
    parts = [again(base).partial_fit(X[k : k + 300], y[k : k + 300])
             for k in (300, 600)]  # fmt: skip
    merged = merge(parts, base=base)
    tested, labels = rings(1000, seed=1)
    assert merged.score(tested, labels) >= base.score(tested, labels) > 0.9
    others = [PartitionFeatures(**SMALL).partial_fit(rows) for rows in (X[:100], X[100:200])]
    with pytest.raises(ValueError, match="different partitions"):
        merge(others)


def test_states_that_are_none():
    X, y = samples(2)
    for n in (100, 300):
        part = PartitionFeatures(**SMALL).partial_fit(X[:n], y[:n])._partition
        good = part.get_state()
        for name, bad in [
            ("entered", -1), ("entered", 257), ("entered", 20), ("entered", 200),
            ("rows", good["rows"][:, 1:]), ("rows", X[:3]), ("shares", np.zeros(3)),
            ("targets", np.full(len(good["targets"]) + 1, 0.5)), ("factors", None),
            ("centers", good["centers"][:, 1:]),
            ("directions", good["directions"][:0]), ("cuts", good["cuts"][1:]),
            ("features", good["features"] + 100), ("left", good["left"] * 0),
            ("first", good["first"][:-1]), ("first", good["first"].astype(float)),
        ]:  # fmt: skip
            with pytest.raises((ValueError, TypeError)):
                part.set_state({**good, name: bad})
        assert pickle.dumps(part.get_state()) == pickle.dumps(good)
        part.set_state(good)
    with pytest.raises(ValueError, match="do not have"):
        core.Partition(9, np.float64, (32, 256), (2, 8), 4, 10, 0.01, "auto", 1).set_state(good)
    for arguments in (((3, 2), (1, 1)), ((), ()), ((32,), (1, 2)), ((0,), (1,)), ((32,), (0,))):
        with pytest.raises(ValueError, match=r"trees|at"):
            core.Partition(9, np.float64, *arguments, 4, 10, 1.0, "auto", 1)
    for bad in ((0, 10, 1.0, "auto"), (4, 0, 1.0, "auto"), (4, 10, 0.0, "auto"), (4, 10, 1.0, "?")):
        with pytest.raises(ValueError, match=r"most_in_leaf|n_candidates|share|kind"):
            core.Partition(9, np.float64, (32,), (1,), *bad, 1)
