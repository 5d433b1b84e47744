"""Rounds of many short parts: the merged model is not worse than a part, whatever is merged."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from scripts import scripts

import onlinekern as ok
from onlinekern import merge
from onlinekern.core.linalg.copies import unpacked

with scripts():
    import short_parts

# One of each rule by which models are merged; all of them are `long`.
QUICK = [
    "AROWClassifier, diagonal", "AROWClassifier, full", "AROWRegressor, diagonal",
    "CWClassifier, full", "KernelAROWClassifier, diagonal", "KernelAROWClassifier, sketched",
    "KernelSCWClassifier, diagonal", "LOLClassifier", "OGDClassifier", "SCWClassifier, full",
]  # fmt: skip
# A projection onto few support vectors at each merge costs these more than a part loses alone.
LOSES = {"SlidingWindowKRLSRegressor": 4.0}
BY_NAME = {name: (cls, how) for name, cls, how in short_parts.learners()}


def assert_holds(name, parts, rounds, samples, seeds, margin):
    cls, how = BY_NAME[name]
    model = short_parts.new(cls, how, 30)
    with warnings.catch_warnings():
        # CW degenerates on these labels, and some learners find the targets far from unit scale.
        warnings.simplefilter("ignore")
        each = [short_parts.scores(model, "none", parts, rounds, samples, seed) for seed in seeds]
    merged, part, stream, *_ = np.mean(each, axis=0)
    assert merged > min(part, stream) - LOSES.get(name, margin), (name, merged, part, stream)


@pytest.mark.parametrize("name", QUICK)
def test_rounds_of_short_parts_hold(name):
    assert_holds(name, 200, 3, 10, [0], 1.5)


def test_rounds_of_a_forest_hold():
    assert_holds("KernelForestClassifier", 60, 4, 10, [0], 1.5)


@pytest.mark.long
@pytest.mark.parametrize("name", list(BY_NAME))
def test_rounds_of_short_parts_hold_for_every_learner(name):
    assert_holds(name, 200, 3, 20, range(3), 1.0)


@pytest.mark.parametrize(("k", "most"), [(2, 1.6), (20, 2.6)])
def test_features_that_are_alike_correct_an_error_once(k, most):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(260, 1))
    X, y = np.repeat(x, k, axis=1), np.where(x[:, 0] > 0, 1, -1)
    moved = {}
    for covariance in ("full", "diagonal"):
        # The base is sure of the wrong sign of features that are all the same.
        base = ok.AROWClassifier(covariance=covariance, fit_intercept=False)
        base.partial_fit(X[:20], -y[:20], classes=[-1, 1])
        parts = [deepcopy(base).partial_fit(X[i : i + 1], y[i : i + 1]) for i in range(20, 260)]
        merged = merge(parts, base=base)
        moved[covariance] = (merged.coef_ - base.coef_).sum()
        nested = merge([merge(parts[:99], base=base), merge(parts[99:], base=base)], base=base)
        np.testing.assert_allclose(nested.coef_, merged.coef_, rtol=1e-9)
    # The sum of what variances alone say would go 2.3 and 24 times as far.
    assert moved["full"] / 2 < moved["diagonal"] < most * moved["full"]


def test_confidence_does_not_grow_with_the_number_of_parts():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, 1, -1)
    base = ok.SCWClassifier(covariance="diagonal").partial_fit(X[:100], y[:100], classes=[-1, 1])
    parts = [deepcopy(base).partial_fit(X[i : i + 10], y[i : i + 10]) for i in range(100, 400, 10)]
    found = merge(parts, base=base).covariance_
    each = np.array([part.covariance_ for part in parts])
    assert (found >= each.min(axis=0)).all()
    assert (found <= each.max(axis=0)).all()


def test_the_prior_is_given_back_in_every_round():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    y = np.sin(2 * X[:, 0])
    model = ok.KernelRLSRegressor(
        gamma=0.3, n_components=120, forgetting=0.98, reg=0.1, standardize_target=False
    )
    base = model.partial_fit(X[:200], y[:200])
    parts = [deepcopy(base).partial_fit(X[k : k + 20], y[k : k + 20]) for k in range(200, 400, 20)]
    state = merge(parts, base=base)._model.space.block.get_state()
    known = from_block(state) - 0.1 * np.eye(state["used"])
    # Of samples alone, no direction has less than nothing; rounds would add up what is missing.
    assert np.linalg.eigvalsh(known)[0] > -1e-6


def from_block(state):
    return unpacked("matrix", state["matrix"], state["used"], 1)


def test_targets_that_move_leave_evidence_that_is_not_negative():
    rng = np.random.default_rng(3)
    model = ok.KernelRLSRegressor(gamma=0.3, n_components=30, linear=False)
    X = rng.normal(size=(1500, 3))
    y = 5 + np.sin(2 * X[:, 0])
    base = model.partial_fit(X[:300], y[:300])
    for shift, first in ((-20, 300), (40, 700), (-80, 1100)):
        parts = [deepcopy(base).partial_fit(X[k : k + 10], y[k : k + 10] + shift)
                 for k in range(first, first + 400, 10)]  # fmt: skip
        base = merge(parts, base=base)
    assert np.isfinite(base.predict(X)).all()
