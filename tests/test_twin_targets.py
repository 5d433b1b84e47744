"""Targets and their twins on a logarithmic scale, as one expert of a race learns them."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from compiled import Program, load
from described import scores_of_model
from exported import scores_of
from oracles import race as twins
from twins_of_targets import without_twins

import onlinekern
from onlinekern import StreamRegressor, merge
from onlinekern.core.learning.twin import TwinTarget, restore
from onlinekern.core.learning.vote import MeanVote
from onlinekern.fitted.export.describe import describe
from onlinekern.learners.race import experts

FIELDS = "scale", "errors", "met"


def products(n=1500, seed=0):
    """Return rows in units of their own, and counts whose effects multiply."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    mean = np.exp(2 + X[:, 0] + 0.8 * np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3])
    return X * [1e-3, 1, 1e3, 1, 10], rng.poisson(mean).astype(float)


def opinions(n=600, seed=0):
    """Return targets of both signs, weights, and what may be said of both outputs."""
    rng = np.random.default_rng(seed)
    y = np.sinh(2 * rng.normal(size=n)) * (rng.random(n) < 0.8)
    z = np.arcsinh(y) + 0.3 * rng.normal(size=n)
    z[::97] = 1e4  # far beyond all targets
    return y, rng.integers(0, 3, n) / 2, np.stack([y + rng.normal(size=n), z], axis=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_twin_is_its_own_twin(weighted):
    y, weight, both = opinions()
    weight = weight if weighted else np.ones(len(y))
    twin, oracle = TwinTarget(), twins.TwinTarget()
    goals, scales = twin.goals(y, weight)
    got = np.empty((len(y), 1))
    twin.learn(both, goals, scales, weight, got)
    expected, known = [], []
    for said, target, own in zip(both, y, weight, strict=True):
        expected.append(oracle.answer(said))
        known.append(oracle.learn(said, target, own))
    np.testing.assert_allclose(got, expected, rtol=1e-9)
    np.testing.assert_allclose(goals, known, rtol=1e-12)
    np.testing.assert_allclose([getattr(twin, f) for f in FIELDS],
                               [getattr(oracle, f) for f in FIELDS])  # fmt: skip
    told = np.empty((len(y), 1))
    twin.combine(both, told)
    np.testing.assert_allclose(told, [oracle.answer(said) for said in both], rtol=1e-9)


def test_a_twin_goes_on_from_its_state():
    y, weight, both = opinions()
    whole, first = TwinTarget(), TwinTarget()
    answers = np.empty((2, len(y), 1))
    for twin, parts in ((whole, [slice(None)]), (first, [slice(0, 100), slice(100, None)])):
        for part in parts:
            twin = pickle.loads(pickle.dumps(twin))
            goals, scales = twin.goals(y[part], weight[part])
            out = answers[len(parts) - 1, part]
            twin.learn(both[part], goals, scales, weight[part], out)
    np.testing.assert_array_equal(*answers)


def test_a_twin_refuses():
    twin = TwinTarget()
    with pytest.raises(ValueError, match="fit together"):
        twin.learn(np.zeros((3, 2)), np.zeros((3, 2)), np.ones(2), None, np.zeros((3, 1)))
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        twin.combine(np.zeros((3, 1)), np.zeros((3, 1)))
    vote = MeanVote((0.0, 0.0), 1)
    for sizes in (np.array([2.0, 1.0]), np.array([0.0])):
        with pytest.raises(ValueError, match="ascending"):
            restore(vote, sizes, 0.0, 0.0)
    with pytest.raises(ValueError, match="vote of two"):
        restore(MeanVote((0.0,), 1), np.ones(1), 0.0, 0.0)
    with pytest.raises(TypeError, match="vote of a twin"):
        restore(None, np.ones(1), 0.0, 0.0)


def error_of(predicted, y):
    return np.sqrt(np.mean((predicted[300:] - y[300:]) ** 2)) / y.std()


def test_effects_that_multiply(monkeypatch):
    """A fifth of the error goes, and nothing is lost where effects add."""
    X, y = products(3000)
    bent = 5 + np.sin(2 * X[:, 1]) + X[:, 3]
    now = [error_of(StreamRegressor(random_state=0).partial_fit_predict(X, t), t)
           for t in (y, bent)]  # fmt: skip
    without_twins(monkeypatch)
    before = [error_of(StreamRegressor(random_state=0).partial_fit_predict(X, t), t)
              for t in (y, bent)]  # fmt: skip
    assert now[0] < 0.85 * before[0]
    assert now[1] < 1.05 * before[1]


def test_steps_that_multiply(monkeypatch):
    """Forests that know the twin cut where steps of small targets are."""
    # Exact trees find them too.
    random_cuts = tuple(
        replace(kind, parameters={**kind.parameters, "exact": 0.0})
        for kind in experts.FORESTS["regression"]
    )
    monkeypatch.setitem(experts.FORESTS, "regression", random_cuts)
    errors = np.empty((2, 3))
    for learns in (1, 0):
        if not learns:
            without_twins(monkeypatch, of_kernels=False)
        for seed in range(3):
            X = np.random.default_rng(seed).normal(size=(3000, 5))
            steps = X[:, :3] > [0, 0.5, -0.3]
            y = np.exp(steps @ [1.5, 1.0, 1.6] + 0.1 * X[:, 3])
            model = StreamRegressor(random_state=0)
            errors[learns, seed] = error_of(model.partial_fit_predict(X, y), y)
            twins_of = [one is not None for one in model._model.twins]
            assert [own for own, raw in zip(twins_of, model._model.raw, strict=True) if raw] == [
                bool(learns), False]  # fmt: skip
    assert (errors[1] < errors[0]).all()


@pytest.mark.parametrize("n_features", [128, 129])
def test_forests_of_many_features_have_no_twin(n_features):
    found = experts.ladder("regression", n_features, 1, False, 100.0, 2.0**26)
    assert any(one.twin for one in found) == (n_features <= 128)
    twins_of = [one.twin for one in found if one.is_raw]
    assert twins_of[0] == (n_features <= 128)
    assert not any(twins_of[1:])


def test_a_report_names_all_that_learn_logarithms(monkeypatch):
    X, y = products(300)
    for _ in range(2):
        model = StreamRegressor(random_state=0).partial_fit(X, y)
        twins_of = [one is not None for one in model._model.twins]
        monkeypatch.undo()
        # The ladder of today does not tell what a race that began with another one learns.
        named = ["of logarithms too" in one.name for one in model.report().experts]
        assert named == twins_of
        without_twins(monkeypatch)
    assert not any(twins_of)


def test_units_of_targets_do_not_matter():
    X, y = products(700)
    found = [StreamRegressor(random_state=0).partial_fit_predict(X, unit * y) / unit
             for unit in (1.0, 2.0**-30)]  # fmt: skip
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "kind", ["constant", "zero", "negative", "outliers", "tiny", "tiny at first"]
)
def test_targets_of_other_kinds(kind):
    X, y = products(600)
    y = {
        "constant": np.full(600, 7.0), "zero": np.zeros(600), "negative": -y,
        "outliers": np.where(np.arange(600) % 150 == 149, -1e12, y), "tiny": y * 5e-324,
        "tiny at first": np.where(np.arange(600) < 300, 5e-324, y),
    }[kind]  # fmt: skip
    model = StreamRegressor(random_state=0)
    found = model.partial_fit_predict(X, y)
    assert np.isfinite(found).all()
    assert np.isfinite(model.predict(X)).all()
    if kind in ("constant", "zero"):
        np.testing.assert_allclose(model.predict(X[:50]), y[:50], atol=1e-6)


def test_any_batches_and_rows_give_the_same():
    X, y = products(700)
    weight = np.arange(700) % 3 / 2
    results = []
    for cuts in ([700], [1, 63, 300], [257]):
        model, first, found = StreamRegressor(random_state=0), 0, []
        while first < len(y):
            part = slice(first, first + cuts[len(found) % len(cuts)])
            found.append(model.partial_fit_predict(X[part], y[part], sample_weight=weight[part]))
            first = part.stop
        results.append((np.concatenate(found), model))
    for found, model in results[1:]:
        np.testing.assert_array_equal(found, results[0][0])
        np.testing.assert_array_equal(model.predict(X), results[0][1].predict(X))
    np.testing.assert_array_equal([model.score_one(X[5]) for _, model in results],
                                  results[0][1].predict(X)[5])  # fmt: skip


def test_a_model_goes_on_from_files_and_back(tmp_path):
    X, y = products(500)
    model = StreamRegressor(random_state=0).partial_fit(X[:300], y[:300])
    model.save(tmp_path / "model.okn")
    expected = copy.deepcopy(model).partial_fit(X[300:], y[300:]).predict(X)
    for other in (onlinekern.load(tmp_path / "model.okn"), pickle.loads(pickle.dumps(model))):
        other.partial_fit(X[300:], y[300:])
        np.testing.assert_array_equal(other.predict(X), expected)
    race = model._model
    for taught in (lambda: race.learn(X[300:], y[300:]), lambda: race.learn_one(X[300], y[300])):
        taught()
        race.undo()
        twin = next(one for one in race.twins if one is not None)
        assert twin.met > 0
        other = copy.deepcopy(model).partial_fit(X[300:], y[300:])
        np.testing.assert_array_equal(other.predict(X), expected)


def test_merged_races():
    X, y = products(2000)
    base = StreamRegressor(random_state=0).partial_fit(X[:600], y[:600])
    parts = [copy.deepcopy(base).partial_fit(X[k : k + 700], y[k : k + 700]) for k in (600, 1300)]
    apart = [StreamRegressor(random_state=0).partial_fit(X[k : k + 1000], y[k : k + 1000])
             for k in (0, 1000)]  # fmt: skip
    whole = StreamRegressor(random_state=0).partial_fit(X, y)
    new, wanted = products(1000, seed=1)
    errors = [error_of(model.predict(new), wanted)
              for model in (whole, merge(parts, base=base), merge(apart))]  # fmt: skip
    assert max(errors) < 1.3 * errors[0]
    scales = [next(one.scale for one in model._model.twins if one is not None)
              for model in (base, merge(parts, base=base))]  # fmt: skip
    assert scales[0] == scales[1]


def test_a_twin_is_exported(tmp_path):
    X, y = products(700)
    model = StreamRegressor(random_state=0).partial_fit(X, y)
    twin = next(one for one in model._model.twins if one is not None)
    assert twin.formula()[1] > 0.1
    # The kernel machine has one, and the forest.
    assert sum(one is not None for one in model._model.twins) == 2
    expected = scores_of(model, X)
    np.testing.assert_allclose(scores_of_model(describe(model), X), expected, rtol=1e-4, atol=1e-3)
    model.export_c(tmp_path / "model.c")
    program = Program(load(tmp_path, [tmp_path / "model.c"]), "model", float, 1)
    np.testing.assert_allclose(program.scores(X, False), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_twin_in_onnx(dtype, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="needs the extra onnx")
    X, y = products(700)
    X = X.astype(np.float32).astype(float)
    model = StreamRegressor(random_state=0).partial_fit(X, y)
    made = model.export_onnx(tmp_path / "model.onnx", dtype=dtype)
    opened = runtime.InferenceSession(str(made.path), providers=["CPUExecutionProvider"])
    found = opened.run(None, {"X": X.astype(dtype)})[0].ravel()
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-3, atol=1e-2)
