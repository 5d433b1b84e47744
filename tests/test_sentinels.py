"""Numbers that stand for missing values: who finds them, and what races make of them."""

from copy import deepcopy

import numpy as np
import pytest
from compiled import Program, load
from exported import scores_of
from oracles.sentinels import Sentinels
from scipy import sparse
from test_device_race import begun
from test_device_state import Device

import onlinekern.core.experts as core_experts
from onlinekern import StreamClassifier, StreamRegressor, merge, read_device_state
from onlinekern.core.linalg.running_moments import RunningMoments
from onlinekern.core.linalg.sentinels import ENDS
from onlinekern.core.models.forest import ForestSpace
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.learners.race import kinds


def column(kind, rng, n):
    """Return values, in which a number may stand for missing ones."""
    x = rng.normal(size=n)
    hidden = rng.uniform(size=n) < 0.15
    if kind == "late":
        hidden[: n // 2] = False
    if kind == "one row":
        hidden = np.arange(n) == 40
    if kind == "half and more":
        hidden = rng.uniform(size=n) < 0.8
    if kind == "whole numbers":
        x = rng.randint(0, 30, n).astype(float)
    if kind == "few values":
        x = rng.randint(0, 4, n).astype(float)
    if kind == "two":
        return np.where(hidden, -999.0, np.where(rng.uniform(size=n) < 0.1, 999.0, x))
    if kind == "close":
        return np.where(hidden, -9.0, x)
    if kind == "a far value":
        x[2 * n // 3] = 1e4
    if kind == "a farther one":
        x[2 * n // 3] = -2000.0
    if kind == "inflated":
        return np.where(rng.uniform(size=n) < 0.4, 0.0, np.abs(x))
    return np.where(hidden, 1e6 if kind == "highest" else -999.0, x)


KINDS = ["lowest", "highest", "late", "one row", "half and more", "whole numbers", "few values",
         "two", "close", "a far value", "a farther one", "inflated"]  # fmt: skip
FOUND = {"lowest", "highest", "late", "whole numbers", "a far value", "a farther one"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forgetting", [1.0, 0.99])
def test_found_as_by_the_definition(dtype, forgetting):
    rng, n = np.random.RandomState(0), 300
    X = np.column_stack([column(kind, rng, n) for kind in KINDS]).astype(dtype)
    weight = rng.uniform(0.5, 2, n)
    weight[::17] = 0
    moments, twins = RunningMoments(len(KINDS), True, True), [Sentinels(forgetting) for _ in KINDS]
    ever = set()
    for i in range(n):
        known = X[i : i + 1].copy()
        out = np.empty_like(known)
        moments.learn(X[i : i + 1], weight[i : i + 1], forgetting, out, known=known)
        for j, twin in enumerate(twins):
            if weight[i] > 0:
                twin.learn(float(X[i, j]), weight[i])
            if twin.side:
                ever.add(KINDS[j])
        numbers = [twin.number for twin in twins]
        np.testing.assert_array_equal(moments.missing_values(), numbers)
        missing = X[i] == numbers
        np.testing.assert_array_equal(np.isnan(known[0]), missing)
        np.testing.assert_array_equal(known[0][~missing], X[i][~missing])
        assert (out[0][missing] == 0).all()
        if i > 0:
            np.testing.assert_allclose(
                moments.mean(), [t.mean for t in twins], rtol=1e-9, atol=1e-9
            )
            np.testing.assert_allclose(moments.variance(), [t.variance for t in twins], rtol=1e-7)
    assert ever == FOUND
    # A far value makes the gap a small one, and a farther one is an end itself.
    assert {k for k, t in zip(KINDS, twins, strict=True) if t.side} == FOUND - {
        "a far value", "a farther one"
    }  # fmt: skip


def test_rows_without_such_numbers_have_the_same_bits():
    X = np.random.RandomState(1).normal(3, 2, size=(200, 5))
    X[:, 4] = np.arange(200) % 3
    plain, other = RunningMoments(5, True), RunningMoments(5, True, True)
    one, two = np.empty_like(X), np.empty_like(X)
    plain.learn(X, None, 0.999, one, 5.0, reach=30.0)
    other.learn(X, None, 0.999, two, 5.0, reach=30.0)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(plain.get_state()["moments"], other.get_state()["moments"])


def test_values_that_overflow_are_looked_at_no_more():
    X = np.random.RandomState(1).normal(size=(200, 1))
    X[60::5] = -999
    X[50], X[51] = 1e290, 1e300
    moments = RunningMoments(1, True, True)
    moments.learn(X[:50], reach=30.0)
    moments.learn(X[50:], reach=30.0)
    assert np.isnan(moments.missing_values()).all()
    assert np.isfinite(moments.variance()).all()
    assert moments.get_state()["ends"][0, ENDS.index("n_values")] == -1


def hidden(X, share=0.2, number=-999.0, seed=3):
    """Return rows in whose first half of the columns a number stands for missing values."""
    X = X.copy()
    first = X[:, : X.shape[1] // 2]
    first[np.random.RandomState(seed).uniform(size=first.shape) < share] = number
    return X


def rows(task, n=900):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n, 6))
    f = np.sin(1.5 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 3] - 0.4 * X[:, 4] * X[:, 5]
    if task == "regression":
        return hidden(X), f
    return hidden(X), np.digitize(f, [0.0] if task == "binary" else [-0.4, 0.4])


def race(task, X, y, cuts=(), **more):
    model = (StreamRegressor if task == "regression" else StreamClassifier)(random_state=0, **more)
    known = {} if task == "regression" else {"classes": np.unique(y)}
    for part in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[part], y[part], **known)
    return model


def forest_of(model):
    return next(one.space for one in model._model.experts if isinstance(one.space, ForestSpace))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("task", ["ovr", "regression"])
def test_a_race_knows_them_whatever_calls_they_come_in(task, dtype):
    X, y = rows(task)
    X = X.astype(dtype)
    whole = race(task, X, y)
    np.testing.assert_array_equal(whole._model.moments.missing_values(), [-999] * 3 + [np.nan] * 3)
    kept = forest_of(whole).get_state()["rows"]
    given = X[len(X) - len(kept) :]
    # Those before it was found are as they came.
    np.testing.assert_array_equal(np.isnan(kept[100:]), given[100:] == -999)
    assert (kept[:30] == given[:30]).all()
    assert forest_of(whole).get_state()["gap_sources"].tolist() == [0, 1, 2]
    parts = race(task, X[:700], y[:700], (20, 21, 333))
    for i in range(700, 703):
        parts.learn_one(X[i], y[i])
    parts.partial_fit(X[703:], y[703:])
    assert to_bytes(parts) == to_bytes(whole)
    # Single rows and those behind each other have the same answers, and files know all of it.
    other = from_bytes(to_bytes(whole), "whole")
    expected = scores_of(whole, X)
    np.testing.assert_array_equal(scores_of(other, X), expected)
    for i in range(880, 900):
        np.testing.assert_array_equal(scores_of(whole, X[i : i + 1])[0], expected[i])
    scaled, known = whole._model.seen(X)
    np.testing.assert_array_equal(known, np.where(X == -999, np.nan, X))
    assert (scaled[X == -999] == 0).all()
    assert (np.abs(scaled[X != -999]) < 6).all()


@pytest.mark.parametrize("time_budget", [10, 100])
def test_a_race_errs_less(time_budget, monkeypatch):
    X, y = rows("binary", 1500)
    found = race("binary", X[:1000], y[:1000], time_budget=time_budget)
    monkeypatch.setattr(kinds, "MOST_LOOKED_AT", 5)
    plain = race("binary", X[:1000], y[:1000], time_budget=time_budget)
    assert plain._model.moments.sentinels is None
    errors = [np.mean(model.predict(X[1000:]) != y[1000:]) for model in (found, plain)]
    assert errors[0] < 0.9 * errors[1]


def test_a_call_that_fails_leaves_all_as_it_was(monkeypatch):
    X, y = rows("regression", 300)
    model = race("regression", X[:36], y[:36])
    before = to_bytes(model)
    assert model._model.moments.sentinels.n == 0
    monkeypatch.setattr(core_experts, "REACH", np.inf)
    wrong = np.vstack([X[36:], np.full((2, 6), 1e300)])
    with pytest.raises(FloatingPointError):
        model.partial_fit(wrong, np.r_[y[36:], y[:2]])
    assert to_bytes(model) == before
    moments = model._model.moments
    moments.learn(X[36:], None, 0.9999)
    assert moments.sentinels.n == 3
    moments.undo()
    assert moments.sentinels.n == 0
    assert to_bytes(model) == before


def test_older_files_know_none():
    X, y = rows("binary", 200)
    moments = race("binary", X, y)._model.moments
    restore, (d, centred, state) = moments.__reduce__()
    del state["ends"]
    older = restore(d, centred, state)
    assert older.sentinels is None
    assert np.isnan(older.missing_values()).all()
    out = np.empty_like(X)
    older.learn(X, None, 0.9999, out)
    assert not (out[X == -999] == 0).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [("low", 1e9), ("high_next", -1e9), ("low_count", -1.0), ("weight", -1.0), ("side", 3.0),
     ("mean", np.nan)],
)  # fmt: skip
def test_wrong_states_are_refused(name, value):
    moments = RunningMoments(2, True, True)
    moments.learn(np.random.RandomState(0).normal(size=(50, 2)))
    restore, (d, centred, state) = moments.__reduce__()
    state["ends"][1, ENDS.index(name)] = value
    with pytest.raises(ValueError, match="ends"):
        restore(d, centred, state)
    with pytest.raises(ValueError, match="centred"):
        RunningMoments(2, False, True)
    with pytest.raises(ValueError, match="looked for"):
        RunningMoments(2, True).learn(np.ones((3, 2)), known=np.ones((3, 2)))


@pytest.mark.parametrize("with_base", [False, True])
def test_merged_as_learnt_together(with_base):
    X, y = rows("binary", 600)
    X[:, 5] = 2.0
    X[450, 0] = -5000.0  # Lower than what the others know.
    X[350:500:40, 2] = 3e5
    base = race("binary", X[:60], y[:60], time_budget=10)
    cuts = (slice(60, 300), slice(300, 600))
    whole = deepcopy(base).partial_fit(X[60:], y[60:])
    models = [deepcopy(base).partial_fit(X[cut], y[cut]) for cut in cuts]
    if not with_base:
        models = [deepcopy(base).partial_fit(X[60:300], y[60:300]),
                  race("binary", X[300:], y[300:], time_budget=10)]  # fmt: skip
    found = merge(models, base=base if with_base else None)._model.moments
    told = whole._model.moments
    np.testing.assert_array_equal(found.missing_values(), told.missing_values())
    own, expected = found.get_state(), told.get_state()
    for k, name in enumerate(ENDS):
        a, b = own["ends"][:, k], expected["ends"][:, k]
        if name in ("low_weight", "high_weight", "weight"):
            b = b / expected["unit"]
            np.testing.assert_allclose(a, b, rtol=0.1)  # forgotten in another order
        elif name in ("mean", "variance"):
            np.testing.assert_allclose(a, b, rtol=0.02, atol=0.02)
        elif name != "n_values":
            np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(found.mean()[1], told.mean()[1], atol=0.02)
    np.testing.assert_allclose(found.variance()[1], told.variance()[1], rtol=0.05)


def test_moments_that_are_merged_know_what_only_one_knew():
    X = hidden(np.random.RandomState(0).normal(size=(400, 2)))
    model = race("binary", X[:30], np.arange(30) % 2, time_budget=10)
    other = race("binary", X[30:], np.arange(370) % 2, time_budget=10)
    assert model._model.moments.sentinels.n == 0
    assert other._model.moments.sentinels.n == 1
    merged = merge([model, other])._model.moments
    own = X[X[:, 0] != -999, 0]
    assert merged.missing_values()[0] == -999
    np.testing.assert_allclose(merged.mean()[0], own.mean(), atol=0.01)
    np.testing.assert_allclose(merged.variance()[0], own.var(), rtol=0.02)


@pytest.mark.parametrize(("number", "other"), [(1e200, 1e250), (1e300, -1e300), (1e160, 1e155)])
@pytest.mark.parametrize("with_base", [False, True])
def test_merged_numbers_whose_squares_overflow(number, other, with_base):
    X = np.random.RandomState(0).normal(size=(600, 3))
    X[100, 0], X[400, 0] = number, other
    X[60:300:9, 2], X[300::8, 2] = number, other
    y = np.arange(600) % 2
    base = race("binary", X[:50], y[:50], time_budget=10)
    models = [deepcopy(base).partial_fit(X[50:300], y[50:300]),
              deepcopy(base).partial_fit(X[300:], y[300:])]  # fmt: skip
    assert all(model._model.moments.sentinels.n == 1 for model in models)
    merged = merge(models, base=base if with_base else None)
    moments = merged._model.moments
    assert np.isnan(moments.missing_values()).all()
    # Moments go on as those of the parts.
    assert (moments.variance() > 0.5).all()
    assert np.isfinite(moments.get_state()["ends"]).all()
    assert to_bytes(from_bytes(to_bytes(merged), "merged")) == to_bytes(merged)
    assert np.isfinite(scores_of(merged.partial_fit(X, y), X)).all()


def test_merged_numbers_that_are_none_any_more():
    """One end of a model is an ordinary value beside that of the other."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(600, 2)) * 1e-3
    missing = rng.uniform(size=600) < 0.2
    X[missing, 0] = np.where(np.arange(600) < 300, -1.0, -1000.0)[missing]
    y = np.arange(600) % 2
    models = [race("binary", X[part], y[part], time_budget=10)
              for part in (slice(300), slice(300, 600))]  # fmt: skip
    assert [m._model.moments.missing_values()[0] for m in models] == [-1, -1000]
    moments = merge(models)._model.moments
    assert moments.missing_values()[0] == -1000
    own = X[X[:, 0] != -1000, 0]
    np.testing.assert_allclose(moments.mean()[0], own.mean(), rtol=0.05)
    np.testing.assert_allclose(moments.variance()[0], own.var(), rtol=0.05)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("task", ["binary", "ovr", "regression"])
def test_exported_c_knows_them(task, dtype, tmp_path):
    X, y = rows(task, 500)
    X = X.astype(np.float32).astype(np.float64)
    models = {"whole": race(task, X, y, time_budget=40), "small": race(task, X, y, time_budget=5)}
    assert any(models["whole"]._model.raw)
    assert not any(models["small"]._model.raw)
    for name, model in models.items():
        model.export_c(tmp_path / f"{name}.c", dtype=dtype)
    library = load(tmp_path, [tmp_path / f"{name}.c" for name in models])
    n_outputs = 3 if task == "ovr" else 1
    tolerance = 1e-4 if dtype == "float64" else 2e-3
    for name, model in models.items():
        for sparse_rows in (False, True):
            program = Program(library, name, np.dtype(dtype).type, n_outputs)
            found = program.scores(X, sparse_rows)
            np.testing.assert_allclose(found, scores_of(model, X), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_onnx_knows_them(task, tmp_path):
    pytest.importorskip("onnxruntime")
    from test_onnx import answers, session

    X, y = rows(task, 500)
    for budget in (5, 40):
        model = race(task, X, y, time_budget=budget)
        model.export_onnx(tmp_path / "model.onnx", dtype="float64")
        found = answers(session(tmp_path / "model.onnx"), X)
        told, expected = np.ravel(list(found.values())[-1]), np.ravel(scores_of(model, X))
        assert np.abs(told - expected).max() < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_device_finds_them_as_python_does(task, dtype, tmp_path):
    X, y = rows(task, 400)
    X[300, 1] = -5000.0  # One that is farther: the other number is one no more.
    X[320:, 4][::6] = 1e5
    X = X.astype(np.float32).astype(np.float64)
    model = begun(task, X[:20], y[:20])
    assert model._model.moments.sentinels.n == 0
    device = Device(tmp_path, model, dtype=dtype)
    memory, known = device.new(), []
    for end in (60, 200, 299, 305, 400):
        part = slice(model.n_seen_, end)
        device.teach(memory, X[part], y[part])
        model.partial_fit(X[part], y[part])
        moments = model._model.moments
        known.append(moments.sentinels.n)
        read = read_moments(device, memory)
        np.testing.assert_array_equal(read.missing_values(), moments.missing_values())
        tolerance = 1e-6 if dtype == "float64" else 1e-3
        np.testing.assert_allclose(read.mean(), moments.mean(), rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(read.variance(), moments.variance(), rtol=10 * tolerance)
        expected = scores_of(model, X[:end])
        error = np.abs(device.scored(memory, X[:end]) - expected).max()
        assert error < (1e-3 if dtype == "float64" else 3e-2) * max(1, np.abs(expected).max())
    assert max(known) == 3
    assert known[3] == 2
    assert known[4] == 3


def read_moments(device, memory):
    return read_device_state(device.model, device.save(memory))._model.moments


def test_more_classes_come():
    """Where a race begins again in the place of another, it learns the rows that came."""
    X, y = rows("ovr", 700)
    early = y[:500] % 2
    model = StreamClassifier(memory_budget=8, random_state=0).partial_fit(X[:500], early)
    assert model._model.moments.sentinels.n == 3
    model.partial_fit(X[500:], y[500:])
    assert model._model.moments.sentinels.n == 3
    assert np.isfinite(scores_of(model, X)).all()


def test_wide_and_sparse_rows_are_not_looked_at():
    y = np.arange(40) % 2
    for X, looks in ((np.ones((40, 256)), True), (np.ones((40, 257)), False),
                     (sparse.csr_matrix(np.ones((40, 5))), False)):  # fmt: skip
        model = StreamClassifier(time_budget=10).partial_fit(X, y)
        assert (model._model.moments.sentinels is not None) == looks


@pytest.mark.parametrize("names", [None, ["age", "income", "size"]])
def test_the_report_names_the_numbers_found(names):
    pd = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(int)
    X[rng.uniform(size=400) < 0.2, 1] = -999
    rows = X if names is None else pd.DataFrame(X, columns=names)
    model = StreamClassifier(random_state=0)
    model.partial_fit(rows[:20], y[:20])
    assert model.report().missing_numbers == {}
    assert "missing" not in str(model.report())
    report = model.partial_fit(rows[20:], y[20:]).report()
    assert report.missing_numbers == {1 if names is None else "income": -999.0}
    said = "-999 in feature 1" if names is None else "-999 in income"
    assert f"taken for missing values: {said}\n" in str(report)
