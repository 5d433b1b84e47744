"""Models in a learnt metric: cuts, files, merging, classes that come, exports, bad input."""

import pickle

import numpy as np
import pytest
from compiled import Program, load
from scipy import sparse
from test_metric import samples

import onlinekern
from onlinekern import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    make_stream_pipeline,
    merge,
)
from onlinekern.core.models import metric_choice

METRICS = ["diagonal", "full", "auto"]


def new_model(task="regression", **parameters):
    cls = KernelRLSRegressor if task == "regression" else KernelRLSClassifier
    return cls(**{"n_components": 40, "random_state": 1, **parameters})


def learnt(task="regression", n=700, dtype=np.float64, **parameters):
    X, y = samples(task, n)
    model = new_model(task, **parameters)
    known = {} if task == "regression" else {"classes": np.unique(y)}
    return model.partial_fit(X.astype(dtype), y, **known)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", [{}, {"forgetting": 0.98}, {"features": "fourier"}], ids=str)
@pytest.mark.parametrize("task", ["regression", "three"])
@pytest.mark.parametrize(("between", "taken_back"), [((1, 1), 5), ((90, 1), 40)])
def test_cuts_files_and_undo_change_nothing(
    between, taken_back, task, case, dtype, metric, same_state, tmp_path
):
    X, y = samples(task, 700)
    rows = X.astype(dtype)
    whole = learnt(task, dtype=dtype, metric=metric, **case)
    known = {} if task == "regression" else {"classes": np.unique(y)}
    model, first = new_model(task, metric=metric, **case), 0
    for length in (1, 199, 55, 1, 1, 59, 1, 194, *between):
        model.partial_fit(rows[first : first + length], y[first : first + length], **known)
        first += length
    before = pickle.dumps(model)
    # This call is a part of a renewal, or the rest of one, and is taken back.
    learner = pickle.loads(before)
    learner._model.learn(rows[first : first + taken_back], np.zeros(taken_back))
    learner._model.undo()
    same_state(learner, pickle.loads(before))
    model.save(tmp_path / "m")
    model = onlinekern.load(tmp_path / "m")
    for place in range(first, first + 5):
        model.learn_one(rows[place], y[place])
    model.partial_fit(rows[first + 5 :], y[first + 5 :])
    same_state(model, whole)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("task", ["regression", "three"])
def test_single_rows_are_scored_in_the_present_metric(task, metric):
    X, y = samples(task, 700)
    model = new_model(task, metric=metric)
    score = model.predict if task == "regression" else model.decision_function
    known = {} if task == "regression" else {"classes": np.unique(y)}
    model.partial_fit(X[:200], y[:200], **known)
    # The window of single rows is made here; the renewals come later.
    for last in (200, 256, 600):
        model.partial_fit(X[:last], y[:last]) if last > 200 else None
        singles = np.concatenate([score(X[k : k + 1]) for k in range(5)])
        np.testing.assert_allclose(singles, score(X[:5]), rtol=1e-9, atol=1e-9)
    model._model.undo()
    singles = np.concatenate([score(X[k : k + 1]) for k in range(5)])
    np.testing.assert_allclose(singles, score(X[:5]), rtol=1e-9, atol=1e-9)


def test_blas_has_one_thread_only_where_a_renewal_works():
    """Of 256 samples between 1,024 and 1,280 many have nothing to do; the last one ends it."""
    X, y = samples("regression", 1290)
    model = new_model(metric="diagonal").partial_fit(X[:1024], y[:1024])
    space, due = model._model.space, []
    for place in range(1024, 1282):
        due.append(space.is_due())
        model.learn_one(X[place], y[place])
    # Sample 1,025 has the plan made; behind 1,280 nothing is left.
    assert due[0]
    assert due[255]
    assert not any(due[256:])
    assert 0.1 < np.mean(due[:256]) < 0.6
    whole = new_model(metric="diagonal").partial_fit(X[:1282], y[:1282])
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("metric", METRICS)
def test_undo_beyond_a_renewal(metric, same_state):
    X, y = samples("regression", 700)
    model = new_model(metric=metric, standardize_target=False).partial_fit(X[:300], y[:300])
    before = pickle.loads(pickle.dumps(model))
    model._model.learn(X[300:600], y[300:600])
    assert not np.array_equal(model.metric_, before.metric_)
    model._model.undo()
    same_state(model, before)
    model.partial_fit(X[300:], y[300:])
    same_state(model, before.partial_fit(X[300:], y[300:]))


def test_a_call_that_fails_beyond_a_renewal(same_state):
    X, y = samples("regression", 700)
    model = new_model(metric="full").partial_fit(X[:300], y[:300])
    before = pickle.loads(pickle.dumps(model))
    wild = y[300:600].copy()
    wild[250:] = 1e300
    with pytest.raises(FloatingPointError):
        model.partial_fit(X[300:600], wild)
    same_state(model, before)


@pytest.mark.parametrize("metric", METRICS)
def test_sparse_rows_have_the_same_scores(metric):
    X, y = samples("regression", 600)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0
    dense = new_model(metric=metric).partial_fit(X, y)
    model = new_model(metric=metric).partial_fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(X)), dense.predict(X))
    np.testing.assert_array_equal(model.metric_, dense.metric_)
    assert sparse.issparse(model.landmarks_)


@pytest.mark.parametrize("metric", METRICS)
def test_it_finds_what_matters(metric):
    X, y = samples("regression", 2000, d=10)
    model = new_model(metric=metric, gamma=0.1, n_components=100).fit(X, y)
    plain = new_model(gamma=0.1, n_components=100).fit(X, y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[:2].min() > 3 * importances[2:].max()
    assert np.trace(np.atleast_2d(model.metric_)) or model.metric_.sum() == pytest.approx(10)
    Z, v = samples("regression", 1000, d=10, seed=1)
    assert model.score(Z, v) > plain.score(Z, v) + 0.05


def test_before_the_first_renewal_is_whole_all_features_are_alike():
    model = learnt(n=255, metric="diagonal")
    np.testing.assert_array_equal(model.feature_importances_, np.full(4, 0.25))
    np.testing.assert_array_equal(learnt(n=287, metric="diagonal").feature_importances_, 0.25)
    assert learnt(n=288, metric="diagonal").feature_importances_[0] > 0.3


def test_attributes_without_a_metric():
    model = learnt(n=50)
    for name in ("metric_", "feature_importances_"):
        with pytest.raises(AttributeError, match=f"{name} is there with metric="):
            getattr(model, name)


@pytest.mark.filterwarnings("ignore:metric of KernelRLSRegressor will take effect")
@pytest.mark.parametrize(("before", "after"), [("none", "full"), ("full", "none")])
def test_a_metric_that_is_set_in_mid_stream_waits_for_a_new_fit(before, after):
    X, y = samples("regression", 257)
    model = new_model(metric=before).partial_fit(X[:255], y[:255])
    model.set_params(metric=after)
    for place in (255, 256):
        model.learn_one(X[place], y[place])
    assert hasattr(model, "metric_") == (before == "full")
    assert hasattr(model.fit(X, y), "metric_") == (after == "full")


# Many features, bad input


def test_many_features():
    X = np.random.default_rng(0).standard_normal((30, 1001))
    with pytest.raises(ValueError, match="metric='full' takes at most 1000 features, got 1001"):
        new_model(metric="full").fit(X, X[:, 0])
    assert new_model(metric="diagonal", gamma=1e-3).fit(X, X[:, 0]).metric_.shape == (1001,)


@pytest.mark.parametrize("d", [256, 257])
def test_full_metrics_of_many_features_are_not_tried(d):
    X = np.random.default_rng(0).standard_normal((520, d))
    y = np.sin(X[:, :8].sum(axis=1) / 2)
    model = new_model(metric="auto", gamma=1 / d).partial_fit(X, y)
    choice = model._model.space.choice
    assert (len(choice.forms()), choice.gradients.ndim) == ((4, 2) if d == 256 else (3, 1))


def test_a_rotation_is_found():
    random = np.random.default_rng(0)
    X = random.standard_normal((2560, 8))
    y = np.sin(2 * X.sum(axis=1) / np.sqrt(8))
    model = new_model(metric="auto").partial_fit(X, y)
    assert model._model.space.choice.form == 3
    values, vectors = np.linalg.eigh(model.metric_)
    assert values[-1] > 5 * values[-2]
    np.testing.assert_allclose(np.abs(vectors[:, -1]), 1 / np.sqrt(8), atol=0.05)


def test_memory_is_asked_for_first(monkeypatch):
    X = sparse.csr_matrix((np.ones(3), ([0, 1, 2], [5, 6, 10**7])), shape=(3, 10**7 + 1))
    monkeypatch.setattr("onlinekern.estimators.memory.available_memory", lambda: 1e9)
    with pytest.raises(MemoryError, match="gigabytes"):
        new_model(metric="diagonal", gamma=1.0).fit(X, [1.0, 2.0, 3.0])
    new_model(gamma=1.0).fit(X, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_and_constant_features(dtype, metric):
    X, y = samples("regression", 700)
    X = np.c_[X, np.full(700, 3.0), np.zeros(700)]
    X[100, 0], X[300, 1] = 1e19, -1e19
    model = new_model(metric=metric, linear=False, gamma=0.3).partial_fit(X.astype(dtype), y)
    importances = model.feature_importances_
    assert np.isfinite(importances).all()
    assert importances[4:].max() < importances[:2].min()
    assert np.isfinite(model.predict(X[:50].astype(dtype))).all()


@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows(metric):
    X, y = samples("regression", 5)
    model = new_model(metric=metric, gamma=0.3).partial_fit(np.tile(X, (120, 1)), np.tile(y, 120))
    assert model.landmarks_.shape == (5, 4)
    np.testing.assert_allclose(model.predict(X), y, atol=0.05)
    alike = new_model(metric=metric).partial_fit(np.ones((300, 3)), np.ones(300))
    np.testing.assert_array_equal(alike.feature_importances_, np.full(3, 1 / 3))


# Later classes, merging


@pytest.mark.parametrize("n_before", [100, 300, 400])
def test_classes_that_come_later(n_before):
    X, y = samples("three", 700)
    seen = np.where(np.arange(700) < n_before, np.minimum(y, 1), y)
    parameters = {"metric": "diagonal", "gamma": 0.3, "gate": "always", "n_components": 30}
    growing, whole = new_model("three", **parameters), new_model("three", **parameters)
    growing.partial_fit(X[:n_before], seen[:n_before], classes=[0, 1])
    growing.partial_fit(X[n_before:], seen[n_before:], classes=[0, 1, 2])
    whole.partial_fit(X, seen, classes=[0, 1, 2])
    assert growing._model.space.recent.count == 700
    if n_before < 256:
        np.testing.assert_allclose(growing.metric_, whole.metric_, rtol=1e-6)
        found, expected = growing.decision_function(X), whole.decision_function(X)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert growing.score(X[n_before:], y[n_before:]) > 0.6


def test_models_in_one_metric_are_merged_exactly():
    X, y = samples("regression", 700)
    fixed = {"standardize_target": False, "reg": 0.1, "gamma": 0.3, "metric": "full"}
    base = new_model(**fixed).partial_fit(X[:300], y[:300])
    parts = [pickle.loads(pickle.dumps(base)) for _ in range(2)]
    parts[0].partial_fit(X[300:400], y[300:400])
    parts[1].partial_fit(X[400:500], y[400:500])
    merged = merge(parts, base=base)
    one = base.partial_fit(X[300:500], y[300:500])
    np.testing.assert_array_equal(merged.metric_, one.metric_)
    np.testing.assert_allclose(merged.predict(X), one.predict(X), atol=1e-7)
    kept, expected = (model._model.space.recent.arrays() for model in (merged, one))
    assert (merged.n_seen_, len(kept[1])) == (500, 500)
    np.testing.assert_array_equal(np.sort(kept[1]), np.sort(expected[1]))
    # It goes on where one stream would.
    assert merged.partial_fit(X[500:], y[500:]).score(X, y) > 0.5


@pytest.mark.parametrize("metric", METRICS)
def test_models_in_other_metrics_are_learnt_anew(metric):
    X, y = samples("regression", 1800)
    parts = [new_model(metric=metric, gamma=0.3).partial_fit(X[k::3], y[k::3]) for k in range(3)]
    merged = merge(parts)
    assert (merged.n_seen_, merged.n_entered_) == (1800, 1800)
    assert merged._model.space.recent.count == 1800
    Z, v = samples("regression", 500, seed=1)
    assert merged.score(Z, v) > min(part.score(Z, v) for part in parts)
    one = new_model(metric=metric, gamma=0.3).partial_fit(X, y)
    gap = np.abs(merged.feature_importances_ - one.feature_importances_)
    assert gap.max() < 0.1
    merged.partial_fit(X[:300], y[:300])


# Exports


EXPORTED = [
    {"metric": "diagonal"},
    {"metric": "full"},
    {"metric": "full", "kernel": "polynomial", "coef0": 1.0, "degree": 2},
    {"metric": "diagonal", "features": "fourier"},
    {"metric": "full", "kernel": "laplacian", "linear": False},
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", EXPORTED, ids=str)
def test_c(case, dtype, tmp_path):
    X, y = samples("regression", 600)
    model = make_stream_pipeline(OnlineStandardScaler(), new_model(gamma=0.3, **case)).fit(X, y)
    made = model.export_c(tmp_path / "m.c", dtype=dtype)
    assert not made.learns
    more = ["-Wdouble-promotion"] if dtype == "float32" else []
    program = Program(load(tmp_path, [made.code], more=more), "m", dtype, 1)
    expected, tolerance = model.predict(X[:50]), {"float64": 1e-9, "float32": 1e-3}[dtype]
    np.testing.assert_allclose(program.scores(X[:50])[:, 0], expected, atol=tolerance)
    found = program.scores(X[:50], sparse_rows=True)[:, 0]
    np.testing.assert_allclose(found, expected, atol=tolerance)


@pytest.mark.parametrize("case", EXPORTED, ids=str)
def test_onnx(case, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    X, _ = samples("three", 600)
    model = learnt("three", gamma=0.3, **case)
    made = model.export_onnx(tmp_path / "m.onnx", dtype="float64")
    (found,) = runtime.InferenceSession(made.path).run(["scores"], {"X": X[:50]})
    np.testing.assert_allclose(found, model.decision_function(X[:50]), atol=1e-8)


# A renewal that has begun


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [(0, 255, "begun must be"), (0, 260, "no renewal that began at sample 260"),
     (1, np.full((1, 3), np.nan), "weights"), (2, -1.0, "reg must be"), (3, 2, "wide must be")],
)  # fmt: skip
def test_a_renewal_that_cannot_have_begun(place, value, message):
    space = learnt(n=270, metric="full")._model.space
    begun = space.begun
    assert begun[0] == 256
    wrong = [*begun[:place], value, *begun[place + 1 :]]
    with pytest.raises((TypeError, ValueError), match=message):
        space.resume(tuple(wrong))
    assert space.begun is begun
    whole = learnt(n=300, metric="full")._model.space
    assert whole.begun is None
    with pytest.raises(ValueError, match="no renewal that began at sample 256 goes on after 300"):
        whole.resume(begun)


@pytest.mark.parametrize("last", [560, 576])
@pytest.mark.parametrize("call", [1, 4])
def test_a_renewal_that_is_interrupted_is_done_again(last, call, monkeypatch, same_state):
    """Ctrl-C arrives in a part of it, or where it ends; what is half done counts for nothing."""
    X, y = samples("regression", 700)
    model = new_model(metric="auto").partial_fit(X[:512], y[:512])
    model = pickle.loads(pickle.dumps(model))
    before = pickle.dumps(model)
    calls, find = [], metric_choice.root_of

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            raise KeyboardInterrupt
        return find(*arguments)

    monkeypatch.setattr(metric_choice, "root_of", interrupted)
    for _ in range(6):
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[512:last], y[512:last])
        same_state(model, pickle.loads(before))
        calls.clear()
    monkeypatch.undo()
    same_state(model.partial_fit(X[512:], y[512:]), learnt(metric="auto"))
