"""Windowed and faded scores, kappas, baselines and drift detectors of prequential runs."""

import doctest

import numpy as np
import pytest
from oracles import scores as oracle
from sklearn.base import BaseEstimator, clone

from onlinekern import PAClassifier
from onlinekern.evaluate import errors, prequential
from onlinekern.evaluate import test_then_train as module
from onlinekern.evaluate.baselines import Majority, NoChange
from onlinekern.evaluate.errors import Metrics, gain
from onlinekern.evaluate.test_then_train import Run
from onlinekern.streams import SEA, ConceptDrift

LABELS = ["a", "b", "c"]


class Says:
    """Predicts what it was told to, and counts its calls."""

    def __init__(self, predicted):
        self.left, self.calls = list(predicted), []

    def partial_fit_predict(self, X, y, classes=None):
        self.calls.append(len(y))
        said, self.left = self.left[: len(y)], self.left[len(y) :]
        return np.array(said)


@pytest.fixture(params=["classification", "regression"])
def answers(request):
    """Return targets, predictions and classes."""
    rng = np.random.default_rng(3)
    if request.param == "regression":
        y = np.cumsum(rng.standard_normal(500))
        return y, y + rng.standard_normal(500), None
    y = np.array(LABELS)[np.cumsum(rng.random(500) < 0.3) % 3]
    return y, np.where(rng.random(500) < 0.7, y, "b"), LABELS


def run(answers, cut, **options):
    y, predicted, classes = answers
    X = np.zeros((len(y), 1))
    blocks = [(X[i : i + cut], y[i : i + cut]) for i in range(0, len(y), cut)]
    return prequential(Says(predicted), blocks, classes, **options)


def without_prefix(figures, prefix):
    return {
        name.removeprefix(prefix): value
        for name, value in figures.items()
        if name.startswith(prefix) and (prefix or name.split("_")[0] not in ("window", "faded"))
    }


@pytest.mark.parametrize("window", [1, 60, 500, 1000])
def test_figures_are_their_definitions(answers, window):
    y, predicted, classes = answers
    result = run(answers, 77, window=window, fading=0.98)
    ages = np.arange(len(y))[::-1]
    for prefix, weights in (
        ("", np.ones(len(y))), ("window_", ages < window), ("faded_", 0.98**ages)
    ):  # fmt: skip
        found = without_prefix(result.figures, prefix)
        with np.errstate(all="ignore"):
            if window == 1 and prefix == "window_":  # one sample has no chance to be beaten
                assert found["error"] == oracle_error(y[-1], predicted[-1], classes)
                continue
            expected = oracle.figures(y.tolist(), predicted.tolist(), weights.tolist(), classes)
        assert found == pytest.approx(expected, rel=1e-9)


def oracle_error(y, predicted, classes):
    return float(y != predicted) if classes else pytest.approx(abs(y - predicted))


@pytest.mark.parametrize("cut", [1, 7, 100, 500])
def test_every_cut_gives_the_same_bits(answers, cut):
    expected, found = (
        run(answers, size, window=50, fading=0.9, detector=Every(30)) for size in (64, cut)
    )
    assert found.figures == expected.figures
    assert found.drifts.tolist() == expected.drifts.tolist()
    assert found.curves.keys() == expected.curves.keys()
    for name, curve in expected.curves.items():
        np.testing.assert_array_equal(found.curves[name], curve)


def test_points_of_the_curves(answers):
    y, predicted, classes = answers
    result = run(answers, 33, window=60)
    assert result.curves["samples"].tolist() == [60, 120, 180, 240, 300, 360, 420, 480, 500]
    for k, n in enumerate(result.curves["samples"]):
        inside = np.arange(n) >= n - 60
        expected = oracle.figures(y[:n].tolist(), predicted[:n].tolist(), inside.tolist(), classes)
        for name in ("error", "no_change_error"):
            assert result.curves[f"window_{name}"][k] == pytest.approx(expected[name])
    assert run(answers, 33, window=None).curves == {}
    faded = run(answers, 33, window=None, fading=0.5)
    assert faded.curves["samples"].tolist() == [500]
    assert "window_error" not in faded.curves


def test_long_streams_have_as_many_points_as_short_ones(answers, monkeypatch):
    monkeypatch.setattr(errors, "MOST_POINTS", 8)
    for cut in (1, 90):
        result = run(answers, cut, window=10)
        assert result.curves["samples"].tolist() == [80, 160, 240, 320, 400, 480, 500]


def test_a_restored_run_goes_on_with_the_same_bits(answers):
    y, _, classes = answers
    X = np.zeros((len(y), 1))
    options = {"window": 40, "fading": 0.97}
    whole, first, second = (Run(NoChangeModel(), classes, 2.0, **options) for _ in range(3))
    whole.feed(X, y)
    first.feed(X[:123], y[:123])
    for name in ("seconds", "_marks", "_curve"):
        setattr(second, name, getattr(first, name))
    second._metrics.restore(first.state()["errors"])
    second.estimator = first.estimator
    second.feed(X[123:], y[123:])
    assert second.result().figures == whole.result().figures
    # Before the first sample, too.
    fresh = Run(NoChangeModel(), classes, 2.0, **options)
    fresh._metrics.restore(Run(NoChangeModel(), classes, 2.0, **options).state()["errors"])
    fresh.feed(X, y)
    assert fresh.result().figures == whole.result().figures


class NoChangeModel(NoChange, BaseEstimator):
    pass


def test_kappas_of_the_baselines_are_0():
    y = np.random.default_rng(0).integers(0, 3, 400)
    for model, name in ((NoChange(), "kappa_temporal"), (Majority(), "kappa_m")):
        result = prequential(model, [(np.zeros((400, 1)), y)], [0, 1, 2])
        assert result.figures[name] == 0
        assert result.figures["kappa"] == pytest.approx(0, abs=0.1)


def test_baselines_are_their_definitions(answers):
    y, _, classes = answers
    for cut in (1, 9, 500):
        for model, expected in zip(
            (NoChange(), Majority()), oracle.baselines(y.tolist(), classes), strict=True
        ):
            parts = [y[i : i + cut] for i in range(0, len(y), cut)]
            found = np.concatenate([model.partial_fit_predict(None, p, classes) for p in parts])
            if classes is None:
                np.testing.assert_allclose(found, expected, atol=1e-12)
            else:
                assert found.tolist() == expected
    X = np.zeros((2, 1))
    y = np.array([2, 2, 1])
    no_change, majority, mean = NoChange(), Majority(), Majority()
    for model, labels in ((no_change, [1, 2]), (majority, [1, 2]), (mean, None)):
        model.partial_fit_predict(X, y, labels)
    assert no_change.predict(X).tolist() == [1, 1]
    assert majority.predict(X).tolist() == [2, 2]
    np.testing.assert_allclose(mean.predict(X), 5 / 3)


def test_gains():
    assert gain(0.1, 0.4) == pytest.approx(0.75)
    assert gain(0.4, 0.4) == gain(0.0, 0.0) == 0
    assert gain(0.1, 0.0) == -np.inf


def test_a_label_that_is_none_of_the_classes_is_a_mistake():
    metrics = Metrics([0, 1], 1.0, None, None)
    assert metrics.add(np.array([0, 1, 1]), np.array([0, 5, -1])).tolist() == [0, 1, 1]
    assert metrics.figures()["kappa"] == pytest.approx((1 / 3 - 1 / 9) / (1 - 1 / 9))


class Every:
    """Finds drift at every n-th value, and keeps the values."""

    def __init__(self, n):
        self.n, self.values = n, []

    @property
    def drift_detected(self):
        return len(self.values) % self.n == 0

    def update(self, value):
        self.values.append(value)


def test_a_detector_sees_every_mistake(answers):
    y, predicted, classes = answers
    detector = Every(150)
    result = run(answers, 70, detector=detector)
    assert result.drifts.tolist() == [150, 300, 450]
    expected = y != predicted if classes else np.abs(y - predicted)
    np.testing.assert_allclose(detector.values, expected)
    assert run(answers, 70).drifts.tolist() == []


def test_on_drift_comes_before_the_next_sample(answers):
    y, predicted, classes = answers
    first, second, seen = Says(predicted), Says(predicted[150:]), []

    def on_drift(estimator, n):
        seen.append((estimator, n))
        return second if n == 150 else None

    X = np.zeros((len(y), 1))
    result = prequential(first, [(X, y)], classes, detector=Every(150), on_drift=on_drift)
    assert seen == [(first, 150), (second, 300), (second, 450)]
    assert sum(first.calls) == 150
    assert sum(second.calls) == 350
    assert result.figures == run(answers, 500).figures


def test_on_drift_of_a_batch_estimator_gets_the_estimator():
    class Last(BaseEstimator):
        def fit(self, X, y):
            self.last_ = y[-1]
            return self

        def predict(self, X):
            return np.full(X.shape[0], self.last_)

    seen = []
    y = np.tile([0, 1], 100)
    prequential(Last(), [(np.zeros((200, 1)), y)], [0, 1], detector=Every(100),
                on_drift=lambda model, n: seen.append(model) or clone(model))  # fmt: skip
    assert [type(model) for model in seen] == [Last, Last]
    assert seen[0] is not seen[1]


def test_rivers_detectors_find_the_drift():
    drift = pytest.importorskip("river.drift", reason="river is not installed")
    # The labels turn round: nothing of what was learnt is of use.
    both = [SEA(random_state=0), SEA(noise=1.0, random_state=1)]
    X, y = ConceptDrift(both, 3000, 0, random_state=0).take(6000)
    X = X / 10 - 0.5
    for detector in (drift.ADWIN(), drift.PageHinkley()):
        result, anew = (
            prequential(PAClassifier(), [(X, y)], [0, 1], detector=detector.clone(), on_drift=act)
            for act in (None, lambda model, n: clone(model))
        )
        assert ((result.drifts > 3000) & (result.drifts < 3600)).any()
        assert ((anew.drifts > 3000) & (anew.drifts < 3600)).any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"window": 0}, ValueError, "window must be an integer of at least 1"),
        ({"fading": 1.0}, ValueError, "fading must be a number between 0 and 1, got 1.0"),
        ({"fading": "0.9"}, ValueError, "fading must be a number between 0 and 1"),
        ({"detector": object()}, TypeError, "must have update and drift_detected, got object"),
        ({"on_drift": print}, ValueError, "on_drift needs a detector"),
    ],
)
def test_bad_arguments_are_named(answers, options, error, message):
    with pytest.raises(error, match=message):
        run(answers, 100, **options)


def test_examples():
    assert doctest.testmod(module).failed == 0
