"""Races and landmarks of models that learn in C, on devices."""

import ctypes
from copy import deepcopy

import numpy as np
import pytest
from compiled import load
from exported import scores_of
from sklearn.base import is_classifier
from test_device_state import Device

from onlinekern import (
    KernelRLSRegressor,
    OnlineStandardScaler,
    StreamClassifier,
    StreamRegressor,
    make_stream_pipeline,
    merge,
    read_device_state,
    write_device_state,
)

RACES = {
    "binary": lambda **more: StreamClassifier(time_budget=5.0, memory_budget=0.2, **more),
    "ovr": lambda **more: StreamClassifier(time_budget=5.0, memory_budget=0.3, **more),
    "regression": lambda **more: StreamRegressor(time_budget=5.0, memory_budget=0.2, **more),
}


def begun(task, X, y, weight=None, **more):
    model = RACES[task](**more)
    classes = {"classes": np.unique(y)} if is_classifier(model) else {}
    return model.partial_fit(X, y, sample_weight=weight, **classes)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("task", RACES)
def test_a_race_learns_as_in_python(task, dtype, stream, tmp_path):
    """All experts, their vote, and who sleeps after the first 1,024 samples."""
    n = 1400 if dtype == "float64" else 300
    X, y = stream(task, n=n)
    X = 100 * X + 7
    X[150:400:100, 1] += 1e7  # The moments hold these near.
    model = begun(task, X[:100], y[:100])
    assert len(model._model.experts) > 2
    device = Device(tmp_path, model, dtype=dtype)
    memory = device.new()
    for end in range(200, n + 1, 300):
        device.teach(memory, X[model.n_seen_ : end], y[model.n_seen_ : end])
        model.partial_fit(X[model.n_seen_ : end], y[model.n_seen_ : end])
        expected = scores_of(model, X)
        error = np.abs(device.scored(memory, X) - expected).max() / max(1, np.abs(expected).max())
        # Experts are models of float32.
        assert error < (1e-3 if dtype == "float64" else 3e-2), (end, error)
    if dtype == "float64":
        read = read_device_state(device.model, device.save(memory))
        found, told = read._model, model._model
        assert found.n_seen == told.n_seen
        np.testing.assert_array_equal(found.voting, told.voting)
        assert not found.voting.all(), "nobody sleeps"
        np.testing.assert_allclose(
            found.vote.mean_losses(), told.vote.mean_losses(), rtol=0, atol=5e-3
        )


def test_a_race_of_many_classes(many_classes, tmp_path):
    """One expert has one loss for all of them, which has no C; a small budget is without it."""
    X, y = many_classes(n=900)
    known = {"classes": np.unique(y)}
    refused = StreamClassifier(time_budget=20.0).partial_fit(X[:300], y[:300], **known)
    with pytest.raises(TypeError, match="the rule LogisticNewton has no C"):
        refused.export_c(tmp_path / "refused.c", learn=True)
    model = StreamClassifier(time_budget=5.0, memory_budget=0.5)
    model.partial_fit(X[:300], y[:300], **known)
    device = Device(tmp_path, model)
    memory = device.new()
    device.teach(memory, X[300:], y[300:])
    model.partial_fit(X[300:], y[300:])
    np.testing.assert_allclose(device.scored(memory, X), scores_of(model, X), rtol=0, atol=1e-3)


def test_an_early_target_that_is_far_off_is_forgotten(stream, tmp_path):
    X, y = stream("regression", n=60)
    y[25] = 1e7
    model = begun("regression", X[:20], y[:20])
    device = Device(tmp_path, model, dtype="float64")
    memory = device.new()
    for end in (26, 27, 60):
        device.teach(memory, X[model.n_seen_ : end], y[model.n_seen_ : end])
        model.partial_fit(X[model.n_seen_ : end], y[model.n_seen_ : end])
        found = read_device_state(device.model, device.save(memory))._model.vote.get_state()
        told = model._model.vote.get_state()
        # All counts are those of the samples behind it.
        assert (told["counts"][0] == 1) == (end == 27)
        np.testing.assert_allclose(found["counts"], told["counts"], rtol=1e-6)
        np.testing.assert_allclose(found["losses"], told["losses"], rtol=1e-2)


@pytest.mark.parametrize("light", [1e-3, 6e-3, 2e-2])
@pytest.mark.parametrize("task", RACES)
def test_a_sample_that_is_heavy_beside_those_before(light, task, stream, tmp_path):
    """A device teaches with weight 1: what it knows may be of samples that weigh less."""
    X, y = stream(task, n=150)
    model = begun(task, X[:100], y[:100], np.full(100, light))
    device = Device(tmp_path, model, dtype="float64")
    memory = device.new()
    for i in range(100, 103):
        device.teach(memory, X[i : i + 1], y[i : i + 1])
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        found = read_device_state(device.model, device.save(memory))._model.vote.get_state()
        told = model._model.vote.get_state()
        for name in ("losses", "counts", "errors", "met", "combined"):
            most = max(1e-3, np.abs(told[name]).max())
            np.testing.assert_allclose(found[name], told[name], rtol=0, atol=1e-3 * most)


@pytest.mark.parametrize("task", RACES)
def test_a_state_of_a_race(task, stream, tmp_path):
    """Written, read and taught is what was taught without that, to float32."""
    X, y = stream(task, n=240)
    base = begun(task, X[:80], y[:80])
    device = Device(tmp_path, base)
    data = write_device_state(base)
    alone, saved, fresh = device.new(), device.new(), device.new()
    assert device.save(alone) == data
    device.teach(alone, X[80:], y[80:])
    device.teach(saved, X[80:120], y[80:120])
    assert device.load(fresh, device.save(saved)) == 0
    device.teach(fresh, X[120:], y[120:])
    assert device.save(fresh) == device.save(alone)
    model = deepcopy(base).partial_fit(X[80:160], y[80:160])
    read = read_device_state(base, write_device_state(model, like=data))
    assert read.n_seen_ == model.n_seen_
    np.testing.assert_allclose(scores_of(read, X), scores_of(model, X), rtol=0, atol=1e-6)
    for one in (read, model):
        one.partial_fit(X[160:], y[160:])
    scale = max(1, np.abs(scores_of(model, X)).max())
    np.testing.assert_allclose(scores_of(read, X), scores_of(model, X), rtol=0, atol=1e-4 * scale)
    merged = merge([read, model], base=base)
    assert device.load(fresh, write_device_state(merged, like=data)) == 0
    np.testing.assert_allclose(
        device.scored(fresh, X), scores_of(merged, X), rtol=0, atol=1e-3 * scale
    )


def test_a_device_ends_a_trial(tmp_path):
    """What answers goes on there, and in Python, alone: a rival has not learnt the samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 3))
    y = np.where(np.arange(1600) < 1100, X[:, 0], X[:, 1])
    model = begun("regression", X[:1300], y[:1300])
    assert model._model.rival is not None
    device = Device(tmp_path, model)
    memory = device.new()
    device.teach(memory, X[1300:1400], y[1300:1400])
    read = read_device_state(model, device.save(memory))
    assert (read._model.rival, read._model.trials.left) == (None, 0)
    assert read.n_seen_ == 1400
    began = read._model.began
    assert read.partial_fit(X[1400:], y[1400:]).n_seen_ == 1600
    assert read._model.began == began


def test_a_sample_that_one_expert_refuses_changes_none(stream, tmp_path):
    X, y = stream("regression", n=120)
    model = begun("regression", X, y)
    device = Device(tmp_path, model)
    memory, largest = device.new(), np.finfo(np.float64).max
    before = device.save(memory)
    for target in (largest, -largest / 2, 1e200, np.inf, np.nan):
        for ending, arguments, _alive in device.forms(X[7]):
            code = device.call(f"learn_one{ending}_r", memory, *arguments, ctypes.c_double(target))
            assert code == -1, target
            assert device.save(memory) == before


def test_what_races_refuse(stream, tmp_path):
    X, y = stream("regression", n=120)
    path = tmp_path / "m.c"
    race = begun("regression", X, y)
    assert not race.export_c(path).learns
    assert race.export_c(path, learn=True).learns
    behind = make_stream_pipeline(OnlineStandardScaler(), RACES["regression"]()).fit(X, y)
    with pytest.raises(TypeError, match="the race scales its rows itself, behind the step"):
        behind.export_c(path, learn=True)
    with pytest.raises(TypeError, match=r"forests.*time_budget=10 or a smaller memory_budget"):
        StreamRegressor().fit(X, y).export_c(path, learn=True)
    weighed = StreamClassifier(time_budget=5.0, class_weight={0: 2.0}).fit(X, (y > 0).astype(int))
    with pytest.raises(TypeError, match="class_weight counts in the numbers that scale the rows"):
        weighed.export_c(path, learn=True)
    for settings in ({"time_budget": 10.0}, {"memory_budget": 0.5}):
        assert StreamRegressor(**settings).fit(X, y).export_c(path, learn=True).learns
    with pytest.raises(ValueError, match="capacity=9 has no effect"):
        race.export_c(path, capacity=9)


def test_steep_landmarks_are_not_taken(tmp_path):
    """A row whose coordinate would be rounding stays outside, as in Python."""
    X = np.random.default_rng(1).normal(size=(300, 2)).astype(np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    settings = {"selection": "ald", "novelty": 1e-6, "linear": False, "n_components": 200}
    model = KernelRLSRegressor(gamma=0.02, reg=0.1, **settings).fit(X[:8], y[:8])
    device = Device(tmp_path, model)
    code = (tmp_path / "m.c").read_text()
    assert code.count("!(SQRT(steepness) <= ") == 1
    (tmp_path / "old").mkdir()
    (tmp_path / "m.c").write_text(
        code.replace("!(SQRT(steepness) <= ", "0 && !(SQRT(steepness) <= ")
    )
    files = [tmp_path / "m.c", tmp_path / "m_size.c"]
    steepest = []
    for library in (device.library, load(tmp_path / "old", files)):
        device.library = library
        memory = device.new()
        device.teach(memory, X[8:], y[8:])
        learnt = read_device_state(model, device.save(memory))._model.space.map.whitening()
        steepest.append(np.sqrt(np.square(learnt).sum(axis=1)).max())
    most = 0.001 / np.finfo(np.float32).eps
    assert steepest[0] <= most < steepest[1]
