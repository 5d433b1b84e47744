"""The detectors of change as detectors of river."""

import doctest
import importlib

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip("river", reason="river is not installed")
from river import base, checks, linear_model, preprocessing
from river.drift import ADWIN, DriftRetrainingClassifier

from onlinekern.compat.river import RiverDriftDetector
from onlinekern.drift import LossDetector, MMDDetector


def test_the_example_runs():
    module = importlib.import_module("onlinekern.compat._drift")
    assert doctest.testmod(module) == (0, 8)


def passes(check, model):
    try:
        check(model)
    except AttributeError:
        return False
    return True


def test_river_s_own_checks():
    """Those that river's own detectors pass, too: some are for models only."""
    model = RiverDriftDetector(LossDetector(random_state=0))
    assert isinstance(model, base.DriftDetector)
    known = [check for check in checks.yield_checks(ADWIN()) if passes(check, ADWIN())]
    assert len(known) >= 3
    for check in known:
        check(model)


def test_a_clone_begins_anew():
    losses = np.random.default_rng(0).random(500) < 0.2
    model = RiverDriftDetector(LossDetector(random_state=0))
    for loss in losses:
        model.update(bool(loss))
    twin = model.clone()
    assert (model.detector_.n_seen_, twin.detector_.n_seen_) == (500, 0)
    assert twin.detector_.get_params() == model.detector_.get_params()


def test_samples_may_be_dictionaries():
    X = np.random.default_rng(0).normal(size=(900, 2))
    X[600:] += 2
    model = RiverDriftDetector(MMDDetector(n_reference=60, random_state=0))
    plain, found = clone(model.detector), []
    for number, (a, b) in enumerate(X.tolist(), 1):
        model.update({"a": a, "b": b} if number % 2 else {"b": b, "a": a})
        if model.drift_detected:
            found.append(number)
    assert found == plain.update_many(X).alarms_.tolist()
    assert found[-1] > 600
    seen = model.detector_.n_seen_
    with pytest.raises(ValueError, match="x has the features"):
        model.update({"a": 1.0})
    assert model.detector_.n_seen_ == seen


def test_a_wrapper_of_river_retrains_when_it_is_told():
    rng = np.random.default_rng(0)
    inner = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    alarm = RiverDriftDetector(LossDetector(random_state=0))
    model = DriftRetrainingClassifier(model=inner, drift_detector=alarm)
    right = []
    for n in range(3000):
        x = {"a": rng.normal(), "b": rng.normal()}
        y = (x["a"] > 0) != (n >= 1500)
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    alarms = model.drift_detector.detector_.alarms_
    assert any(1500 < alarm < 1600 for alarm in alarms)
    assert np.mean(right[-1000:]) > 0.9
