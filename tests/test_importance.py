"""Permutation importance along a stream: as the oracle says, whatever the calls and the learner."""

import copy
import pickle

import numpy as np
import pytest
from oracles.importance import importances
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor

import onlinekern
from onlinekern import (
    ConformalRegressor,
    KernelForestClassifier,
    KernelPAClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    StreamClassifier,
    make_stream_pipeline,
)
from onlinekern.evaluate import StreamImportance, prequential
from onlinekern.evaluate.exchanging import exchanged

N, D = 240, 6


def stream(task, n=N):
    """Return samples whose label depends on feature 0, from the middle on on feature 3."""
    X = np.random.default_rng(1).normal(size=(n, D))
    f = np.where(np.arange(n) < n // 2, X[:, 0], X[:, 3])
    return X, f if task == "regression" else np.where(f > 0, "yes", "no")


def explain(model, X, y, size=None, weights=None, **more):
    size = size or len(y)
    for i in range(0, len(y), size):
        own = {} if weights is None else {"sample_weight": weights[i : i + size]}
        rows = X.iloc[i : i + size] if hasattr(X, "iloc") else X[i : i + size]
        model.partial_fit(rows, y[i : i + size], **own, **more)
    return model


MODELS = {
    "kernel": (KernelPAClassifier(gamma=0.3, random_state=0), "classification"),
    "linear": (PARegressor(), "regression"),
    "warms up": (KernelRLSRegressor(n_components=20, random_state=0), "regression"),
    "race": (StreamClassifier(time_budget=5, random_state=0), "classification"),
    "pipeline": (
        make_stream_pipeline(OnlineStandardScaler(), PAClassifier(random_state=0)),
        "classification",
    ),
    "forest": (KernelForestClassifier(n_trees=3, random_state=0), "classification"),
    "wrapper": (ConformalRegressor(PARegressor()), "regression"),
    "scikit-learn": (SGDClassifier(random_state=0), "classification"),
    "scikit-learn, regression": (SGDRegressor(random_state=0), "regression"),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_features", [2, None])
def test_it_says_what_the_oracle_says(name, n_features):
    model, task = MODELS[name]
    X, y = stream(task)
    more = {"classes": np.unique(y)} if task == "classification" else {}
    settings = {"n_features": n_features, "fading": 0.98, "n_kept": 15}
    explained = StreamImportance(clone(model), **settings, random_state=3)
    explained.partial_fit_predict(X, y, **more)
    expected, errors, _ = importances(
        clone(model), X, y, np.ones(N), **settings, seed=explained._seed,
        counted=task == "classification", more=more,
    )  # fmt: skip
    # A race learns in float32.
    np.testing.assert_allclose(explained.feature_importances_, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(explained.standard_errors_, errors, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("size", [1, 7])
def test_calls_do_not_matter_nor_does_the_model_notice(name, size, equal):
    model, task = MODELS[name]
    X, y = stream(task)
    more = {"classes": np.unique(y)} if task == "classification" else {}
    weights = None if "wrapper" in name else np.arange(N) % 4 / 2.0
    whole = explain(StreamImportance(clone(model), random_state=0), X, y, None, weights, **more)
    cut = explain(StreamImportance(clone(model), random_state=0), X, y, size, weights, **more)
    equal(whole.feature_importances_, cut.feature_importances_)
    equal(whole.standard_errors_, cut.standard_errors_)
    assert whole.n_seen_ == cut.n_seen_ == (N if weights is None else np.count_nonzero(weights))
    own = clone(model)
    if "scikit" in name:  # they do not take samples of weight 0
        some = weights > 0
        explain(own, X[some], y[some], 1, weights[some], **more)
    else:
        explain(own, X, y, None, weights, **more)
    equal(whole.estimator.predict(X), own.predict(X))


def test_weights_count(equal):
    X, y = stream("classification")
    weights = np.random.default_rng(0).integers(0, 4, N).astype(float)
    settings = {"n_features": 3, "fading": 0.97, "n_kept": 10}
    model = PAClassifier(random_state=0).partial_fit(X, y, classes=["no", "yes"])
    explained = StreamImportance(model, **settings, random_state=0).update(X, y, weights)
    expected, errors, _ = importances(
        model, X, y, weights, **settings, seed=explained._seed, counted=True, learn=False
    )
    np.testing.assert_allclose(explained.feature_importances_, expected, atol=1e-12)
    np.testing.assert_allclose(explained.standard_errors_, errors, atol=1e-12)
    twin = StreamImportance(model, **settings, random_state=0)
    for i in range(0, N, 50):
        twin.update(X[i : i + 50], y[i : i + 50], weights[i : i + 50])
    equal(twin.feature_importances_, explained.feature_importances_)
    twin = StreamImportance(model, **settings, random_state=0)
    some = weights > 0
    twin.update(X[some], y[some], weights[some])
    equal(twin.feature_importances_, explained.feature_importances_)


@pytest.mark.parametrize("name", ["kernel", "warms up", "race", "pipeline", "scikit-learn"])
def test_importances_follow_a_change(name):
    model, task = MODELS[name]
    X, y = stream(task, 3000)
    more = {"classes": np.unique(y)} if task == "classification" else {}
    if name == "warms up":
        model = clone(model).set_params(forgetting=0.98)
    explained = StreamImportance(clone(model), fading=0.99, random_state=0)
    found = []
    for half in (slice(0, 1500), slice(1500, 3000)):
        explained.partial_fit(X[half], y[half], **more)
        found.append((explained.feature_importances_, explained.standard_errors_))
    for (rises, errors), right in zip(found, (0, 3), strict=True):
        others = np.delete(rises, right)
        assert rises.argmax() == right
        assert rises[right] > 5 * errors[right]
        assert rises[right] > 3 * np.abs(others).max()


def table(n=N):
    rng = np.random.default_rng(2)
    town = rng.choice(["Rome", "Oslo", "Lima"], n)
    size = rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    age = rng.integers(1, 90, n)
    y = np.where((town == "Oslo") ^ (np.arange(n) > n), "yes", "no")
    return {"town": town, "size": size, "age": age}, y


def test_columns_of_tables(equal):
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    columns, y = table()
    frame = pd.DataFrame(columns)
    frame.insert(1, "kind", pd.Categorical(frame["town"]))
    rows = frame.to_dict("records")
    kinds = {"pandas": frame, "arrow": pa.table(frame), "dictionaries": rows}
    for learner in (PAClassifier(random_state=0), StreamClassifier(time_budget=5, random_state=0)):
        found = {}
        for name, X in kinds.items():
            model = StreamImportance(clone(learner), random_state=0)
            explain(model, X, y, None, classes=["no", "yes"])
            cut = StreamImportance(clone(learner), random_state=0)
            explain(cut, X, y, 17, classes=["no", "yes"])
            equal(model.feature_importances_, cut.feature_importances_)
            plain = clone(learner).partial_fit(X, y, classes=["no", "yes"])
            equal(plain.predict(X), model.estimator.predict(X))
            assert model.feature_names_in_.tolist() == ["town", "kind", "size", "age"]
            found[name] = model.feature_importances_
            assert found[name][:2].sum() > 3 * np.abs(found[name][2:]).max()
        equal(found["pandas"], found["arrow"])


def test_columns_of_polars():
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    columns, y = table()
    frame = pl.DataFrame(columns)
    model = StreamImportance(PAClassifier(random_state=0), random_state=0)
    model.partial_fit(frame[:100], y[:100], classes=["no", "yes"])
    model.partial_fit(frame[100:], y[100:])
    assert model.feature_names_in_[model.feature_importances_.argmax()] == "town"


def test_a_forest_takes_categories_as_they_are(equal):
    pd = pytest.importorskip("pandas")
    columns, y = table()
    frame = pd.DataFrame(columns).astype({"town": "category"})
    found = []
    for size in (None, 40):
        model = StreamImportance(KernelForestClassifier(n_trees=3, random_state=0), random_state=0)
        explain(model, frame, y, size, classes=["no", "yes"])
        found.append(model.feature_importances_)
    equal(*found)
    assert found[0].argmax() == 0


def test_frames_of_numbers_are_learnt_in_one_call(equal):
    pd = pytest.importorskip("pandas")
    X, y = stream("classification")
    names = [f"x{k}" for k in range(D)]
    found = [
        StreamImportance(PAClassifier(random_state=0), random_state=0).partial_fit(
            rows, y, classes=["no", "yes"]
        )
        for rows in (X, pd.DataFrame(X, columns=names))
    ]
    equal(*(one.feature_importances_ for one in found))
    assert found[1].feature_names_in_.tolist() == names
    with pytest.raises(AttributeError, match="no names"):
        _ = found[0].feature_names_in_


@pytest.mark.parametrize("size", [1, 11])
def test_classes_that_come_later(size, equal):
    X, y = stream("classification")
    y = np.where(np.arange(N) < 100, y, np.where(X[:, 5] > 1, "perhaps", y))
    model = PAClassifier(random_state=0)
    found = []
    for cut in (None, size):
        one = StreamImportance(clone(model), random_state=0)
        one.partial_fit(X[:50], y[:50], classes=["no", "yes"])
        for i in range(50, N, cut or N):
            rows = slice(i, min(N, i + (cut or N)))
            more = {"classes": np.unique([*y[:i], *y[rows], "no", "yes"])}
            one.partial_fit(X[rows], y[rows], **more)
        found.append(one)
    assert found[0].estimator.classes_.tolist() == ["no", "perhaps", "yes"]
    equal(*(one.estimator.predict(X) for one in found))
    if size == 1:
        return
    assert np.abs(found[0].feature_importances_ - found[1].feature_importances_).max() < 0.1


def test_several_targets():
    X = np.random.default_rng(0).normal(size=(N, D))
    y = np.column_stack([X[:, 1], X[:, 1] - X[:, 2]])
    model = onlinekern.KernelForestRegressor(n_trees=3, random_state=0)
    explained = StreamImportance(clone(model), random_state=1, n_kept=20, fading=0.99)
    predicted = explained.partial_fit_predict(X, y)
    assert predicted.shape == (N, 2)
    expected, _, _ = importances(
        clone(model), X, y, np.ones(N), n_features=5, fading=0.99, n_kept=20,
        seed=explained._seed, counted=False,
    )  # fmt: skip
    np.testing.assert_allclose(explained.feature_importances_, expected, atol=1e-9)
    assert explained.feature_importances_.argmax() == 1


@pytest.mark.parametrize("kind", ["file", "pickle", "copy"])
def test_it_goes_on_where_it_was(kind, tmp_path, equal):
    X, y = stream("classification")
    model = StreamImportance(PAClassifier(random_state=0), n_kept=20, random_state=0)
    model.partial_fit(X[:100], y[:100], classes=["no", "yes"])
    if kind == "file":
        model.save(tmp_path / "m.okn")
        again = onlinekern.load(tmp_path / "m.okn")
    else:
        again = pickle.loads(pickle.dumps(model)) if kind == "pickle" else copy.deepcopy(model)
    for one in (model, again):
        one.partial_fit(X[100:], y[100:])
    equal(model.feature_importances_, again.feature_importances_)
    equal(model.estimator.predict(X), again.estimator.predict(X))


@pytest.mark.parametrize("name", ["linear", "scikit-learn, regression", "pipeline", "table"])
def test_a_call_that_fails_changes_nothing(name, equal):
    if name == "table":
        pd = pytest.importorskip("pandas")
        columns, y = table()
        X, model = pd.DataFrame(columns), PAClassifier(random_state=0)
        more = {"classes": ["no", "yes"]}
        bad = X.assign(size=np.where(np.arange(N) == 200, np.inf, 1.0))
    else:
        model, task = MODELS[name]
        X, y = stream(task)
        more = {"classes": ["no", "yes"]} if task == "classification" else {}
        bad = X.copy()
        bad[200, 2] = np.nan
    explained = StreamImportance(clone(model), random_state=0).partial_fit(X[:100], y[:100], **more)
    before = explained.feature_importances_, explained.estimator.predict(X), explained.n_seen_
    with pytest.raises(ValueError, match=r"NaN|infin"):
        explained.partial_fit(bad[100:], y[100:])
    equal(explained.feature_importances_, before[0])
    equal(explained.estimator.predict(X), before[1])
    assert explained.n_seen_ == before[2]
    twin = StreamImportance(clone(model), random_state=0).partial_fit(X[:100], y[:100], **more)
    for one in (explained, twin):
        one.partial_fit(X[100:], y[100:])
    equal(explained.feature_importances_, twin.feature_importances_)


def test_prequential_takes_it_for_its_estimator():
    X, y = stream("classification")
    results = [
        prequential(model, [(X[:70], y[:70]), (X[70:], y[70:])], ["no", "yes"])
        for model in (PAClassifier(random_state=0), StreamImportance(PAClassifier(random_state=0)))
    ]
    assert results[0].mistakes == results[1].mistakes


def test_it_is_drawn():
    pytest.importorskip("matplotlib")
    from onlinekern.plotting import ImportanceDisplay

    pd = pytest.importorskip("pandas")
    X, y = stream("regression")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = StreamImportance(PARegressor(), fading=0.99, random_state=0)
    with pytest.raises(NotFittedError):
        ImportanceDisplay.from_estimator(model)
    display = ImportanceDisplay.from_estimator(model.partial_fit(frame, y), n=2)
    assert display.ax_.get_yticklabels()[0].get_text() == "d"


@pytest.mark.parametrize("size", [1, 9, N])
@pytest.mark.parametrize(
    "model",
    [
        KernelPAClassifier(gamma=0.3, random_state=0),
        KernelRLSRegressor(n_components=20, gamma=0.2, random_state=0),
        # With an intercept, scikit-learn takes other steps for sparse rows.
        SGDClassifier(random_state=0, fit_intercept=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_rows_are_explained_as_dense_ones(model, size, tmp_path):
    task = "regression" if is_regressor(model) else "classification"
    X, y = stream(task)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0
    more = {"classes": np.unique(y)} if task == "classification" else {}
    settings = {"n_features": 3, "fading": 0.98, "n_kept": 15, "random_state": 3}
    dense = explain(StreamImportance(clone(model), **settings), X, y, size, **more)
    rows = sparse.csr_matrix(X)
    found = StreamImportance(clone(model), **settings)
    explain(found, rows[:100], y[:100], size, **more)
    found = pickle.loads(pickle.dumps(found))
    if hasattr(model, "save"):
        found.save(tmp_path / "model")
        found = onlinekern.load(tmp_path / "model")
    explain(found, rows[100:].tocsc().tocoo().tocsr(), y[100:], size, **more)
    expected = dense.feature_importances_
    np.testing.assert_allclose(found.feature_importances_, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.standard_errors_, dense.standard_errors_, rtol=1e-6, atol=1e-9)
    assert sparse.issparse(found._kept)
    # Dense rows may follow, and sparse ones again.
    for part in (X[:20], rows[20:40]):
        found.partial_fit(part, y[:20])
    assert found.n_seen_ == N + 40


def test_cells_of_sparse_rows_are_exchanged():
    pool = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3.0]])
    own, columns, donors = np.array([[0, 0, 1, 2, 1], [-1, 1, 0, 2, 2], [0, 2, 0, 0, 2]])
    found = exchanged(sparse.csr_matrix(pool), own, columns, donors)
    np.testing.assert_array_equal(found.toarray(), exchanged(pool, own, columns, donors))
    assert found.nnz == 3


def test_what_is_refused():
    X, y = stream("regression")
    model = StreamImportance(PARegressor(), random_state=0)
    with pytest.raises(NotFittedError):
        model.update(X, y)
    with pytest.raises(NotFittedError):
        _ = model.feature_importances_
    for name, value in {"n_features": 0, "fading": 1.0, "n_kept": 0, "estimator": 3}.items():
        bad = StreamImportance(PARegressor()).set_params(**{name: value})
        with pytest.raises(ValueError, match=f"'{name}'"):
            bad.partial_fit(X, y)
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match="5 features, not 6"):
        model.partial_fit(X[:, :5], y)
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="names of columns in all calls, or in none"):
        model.partial_fit(pd.DataFrame(X), y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.partial_fit(X, y[:-1])
