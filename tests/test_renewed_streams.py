"""Forests and races that begin anew when their losses grow: what both must do.

That is what the oracle does, in any order of calls.
"""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from grids import thinned
from oracles.race import renewed_stream
from renewals import new_learner, same_model, stream, with_weights
from sklearn.base import clone

import onlinekern
from onlinekern import merge
from onlinekern.estimators.blas_threads import ONE_THREAD

KINDS = ["forest", "race"]
TASKS = ["binary", "classes", "regression", "targets"]
# A race of two classes differs from one of three in nothing that calls could cut.
CASES = [*(("forest", task) for task in TASKS), ("race", "classes"), ("race", "regression")]
every_kind = pytest.mark.parametrize("kind", KINDS)
every_case = pytest.mark.parametrize("case", CASES, ids=" ".join)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", [*CASES, ("race", "binary")], ids=" ".join)
def test_against_the_oracle(case, weighted):
    X, y, known, model = stream(*case)
    weight = with_weights(len(y)) if weighted else None
    blank = copy.deepcopy(model).partial_fit(X[:1], y[:1], **known)._model.blank
    # Of the core alone, which leaves BLAS its threads; those of a call may round otherwise.
    with ONE_THREAD():
        answers, alarms, expected = renewed_stream(blank, X, y.astype(float), weight)
    told = model.partial_fit_predict(X, y, **known, sample_weight=weight)
    np.testing.assert_array_equal(told, answers)
    assert model.alarms_.tolist() == alarms
    assert len(alarms) > 0
    counted = np.ones(len(y)) if weight is None else weight
    assert model.n_seen_ == np.count_nonzero(counted)
    if known:
        assert model.n_mistakes_ == np.count_nonzero((told != y)[counted > 0])
    loss = (told != y) if known else ((told - y) ** 2).reshape(len(y), -1).sum(axis=1)
    if case[0] == "race":
        np.testing.assert_array_equal(model._model.learnt, expected.learnt)
        assert model.cumulative_loss_ == pytest.approx(np.sum(counted * loss), rel=1e-12)
    else:
        assert model._model.space.get_state()["entered"] == expected.n_seen
        if not known:
            assert model.cumulative_loss_ == pytest.approx(np.sum(counted * loss) / 2, rel=1e-12)


@pytest.mark.parametrize(("case", "sparse"), thinned(CASES, [False, True], 2), ids=str)
def test_any_calls_give_the_same(case, sparse):
    X, y, known, learner = stream(*case)
    X = sp.csr_matrix(X) if sparse else X
    weight = with_weights(len(y))
    results = []
    for most, reload in ((len(y), False), (300, False), (300, True)):
        model, told, first = copy.deepcopy(learner), [], 0
        rng = np.random.default_rng(1)
        while first < len(y):
            # Row by row where the trial begins and ends.
            n = int(rng.integers(1, most + 1)) if not 1200 < first < 1400 or most > 300 else 1
            part = slice(first, first + n)
            told.append(
                model.partial_fit_predict(X[part], y[part], **known, sample_weight=weight[part])
            )
            first += n
            model = pickle.loads(pickle.dumps(model)) if reload and n > 1 else model
        results.append((np.concatenate(told), model))
    for told, model in results[1:]:
        np.testing.assert_array_equal(told, results[0][0])
        same_model(model, results[0][1], X[:200])


@every_case
def test_rows_by_themselves_are_learnt_as_blocks(case):
    """A rival that lost a part of the trial has been given no answer of its own to count."""
    X, y, known, learner = stream(*case, 1400)
    learner.partial_fit(X[:1000], y[:1000], **known)
    whole = copy.deepcopy(learner).partial_fit(X[1000:], y[1000:])
    for x, target in zip(X[1000:], y[1000:], strict=True):
        learner.learn_one(x, target)
    assert learner._model.rival is not None
    same_model(learner, whole, X[:200])
    for model in (learner, whole):
        rival = model._model.rival
        assert (rival.n_mistakes, rival.cumulative_loss) == (0, 0.0)


@pytest.mark.parametrize(
    ("case", "first"), thinned(CASES, [1050, 1130, 1500, 2050], 2), ids=lambda part: str(part)
)
def test_a_call_that_fails_changes_nothing(case, first):
    """The calls begin a trial, go on with it, and end it."""
    X, y, known, learner = stream(*case)
    learner.partial_fit(X[:first], y[:first], **known)
    expected = copy.deepcopy(learner)
    loaded = pickle.loads(pickle.dumps(learner))
    for model in (learner, loaded):
        for n in (300, 400):
            model.partial_fit(X[first : first + n], y[first : first + n])
            model._model.undo()
        assert model.n_seen_ == first
        model.partial_fit(X[first:], y[first:])
    expected.partial_fit(X[first:], y[first:])
    for model in (learner, loaded):
        same_model(model, expected, X[:200])


@pytest.mark.parametrize(("kind", "most"), [("forest", 0.04), ("race", 0.03)])
def test_what_passes_soon_leaves_the_old_one(kind, most):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4500, 4))
    y = (X[:, 0] > 0).astype(int)
    y[2000:2150] = rng.integers(0, 2, 150)
    model = new_learner(kind, "binary")
    told = model.partial_fit_predict(X, y, classes=[0, 1])
    assert len(model.alarms_) == 1
    assert model._model.began == 0
    assert np.mean(told[2300:] != y[2300:]) < most


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(("kind", "last"), [("forest", 1540), ("race", 1520)])
def test_units_and_offsets_of_targets_raise_no_alarm(kind, last, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    f = np.where(np.arange(2000) < 1500, X[:, 0], X[:, 1])
    y = scale * (f + 1e4)
    model = new_learner(kind, "regression").partial_fit(X[:1500], y[:1500])
    assert model.alarms_.tolist() == []
    model.partial_fit(X[1500:], y[1500:])
    assert 1500 < model.alarms_[0] < last


@every_kind
def test_later_passes_raise_no_alarm(kind):
    X, y, _, learner = stream(kind, "classes")
    once = clone(learner).set_params(shuffle=False)
    twice = clone(once).set_params(n_epochs=2)
    assert twice.fit(X, y).alarms_.tolist() == once.fit(X, y).alarms_.tolist() != []
    assert twice._model.rival is None


@every_kind
def test_classes_that_come_during_a_trial(kind):
    X, y, _, learner = stream(kind, "classes", 2000)
    y = np.where((y == 2) & (np.arange(2000) < 1300), 1, y)
    # A race takes them up as they come.
    first, every = ({}, {}) if kind == "race" else ({"classes": [0, 1]}, {"classes": [0, 1, 2]})
    learner.partial_fit(X[:1300], y[:1300], **first)
    assert learner._model.rival is not None
    whole = copy.deepcopy(learner).partial_fit(X[1300:], y[1300:], **every)
    for part in (slice(1300, 1301), slice(1301, 1500), slice(1500, 2000)):
        learner.partial_fit(X[part], y[part], **every)
    assert learner.classes_.tolist() == [0, 1, 2]
    same_model(learner, whole, X[:200])
    assert learner._model.blank.head.n_outputs == 3


@pytest.mark.parametrize("n_anew", [0, 1, 2, 3])
@pytest.mark.parametrize(("kind", "least"), [("forest", 0.8), ("race", 0.85)])
def test_merged_ones_have_no_rival(kind, least, n_anew):
    """Those that have begun anew are merged without their base, if they are most."""
    X, y, known, learner = stream(kind, "classes", 3400)
    base = learner.partial_fit(X[:1000], y[:1000], **known)
    changed, same = slice(1000, 3400), slice(0, 400)
    parts = [
        copy.deepcopy(base).partial_fit(X[part], y[part])
        for part in [changed] * n_anew + [same] * (3 - n_anew)
    ]
    assert [part._model.began > 0 for part in parts] == [True] * n_anew + [False] * (3 - n_anew)
    merged = merge(parts, base=base)
    assert merged._model.rival is None
    assert merged.alarms_.tolist() == []
    assert merged.n_seen_ == 1000 + 2400 * n_anew + 400 * (3 - n_anew)
    assert merged.n_mistakes_ == base.n_mistakes_ + sum(
        part.n_mistakes_ - base.n_mistakes_ for part in parts
    )
    late = slice(3000, 3400) if n_anew > 1 else slice(0, 400)
    assert merged.score(X[late], y[late]) > least
    assert np.isfinite(merged.partial_fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("case", [("forest", "targets"), ("race", "regression")], ids=" ".join)
def test_saved_during_a_trial(case, tmp_path):
    X, y, _, learner = stream(*case, 1600)
    learner.partial_fit(X[:1300], y[:1300])
    assert learner._model.rival is not None
    learner.save(tmp_path / "model.okm")
    again = onlinekern.load(tmp_path / "model.okm")
    same_model(again.partial_fit(X[1300:], y[1300:]), learner.partial_fit(X[1300:], y[1300:]), X)
