"""What forests that begin anew have for themselves; test_renewed_streams.py has the rest."""

import copy
import gc
import pickle
import threading
from functools import partial

import numpy as np
import pytest
import renewals
from renewals import FOREST, same_model, with_weights
from sklearn.base import clone

from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    StreamClassifier,
    merge,
)
from onlinekern.core.models.composed import Composed
from onlinekern.core.renewed_model import RenewedModel, renewed
from onlinekern.core.stream import Model

TASKS = ["binary", "classes", "regression", "targets"]
stream = partial(renewals.stream, "forest")


@pytest.mark.parametrize("task", ["classes", "targets"])
def test_scores_are_those_of_whoever_answers(task):
    """They come with the predictions, also while the rival is the one that answers."""
    X, y, known, learner = stream(task)
    learner.partial_fit(X[:9], y[:9], **known)
    blank = copy.deepcopy(learner)
    rows, goals = np.ascontiguousarray(X[9:]), np.ascontiguousarray(y[9:].ravel(), dtype=float)
    scores = np.empty((len(rows), learner._model.head.n_outputs))
    told = learner._model.learn(rows, goals, None, None, 0, scores)
    alone = blank._model.learn(rows, goals)
    np.testing.assert_array_equal(told, alone)
    np.testing.assert_array_equal(told, scores.argmax(axis=1) if known else scores)
    assert learner._model.began > 0


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_what_the_call_before_had_stays_in_any_order_of_rows(task):
    X, y, known, learner = stream(task)
    order = np.arange(len(y))[::-1].copy()
    given, backwards = copy.deepcopy(learner), copy.deepcopy(learner)
    weight = with_weights(len(y))
    for model in (given, backwards):
        model.partial_fit(X[-1:], y[-1:], **known)
    rows, goals = np.ascontiguousarray(X), y.astype(float)
    told = given._model.learn(rows, goals, weight, order)
    expected = backwards._model.learn(rows[order].copy(), goals[order].copy(), weight[order].copy())
    np.testing.assert_array_equal(told[order], expected)
    same_model(given, backwards, X[:200])
    assert len(given.alarms_) > 0


def test_a_row_that_cannot_be_learnt_undoes_its_call():
    """It stands behind an alarm and an exchange, in the same call."""
    X, y, known, learner = stream("regression")
    learner.partial_fit(X[:1000], y[:1000], **known)
    expected = copy.deepcopy(learner)
    y = y.copy()
    y[1700] = 1e308
    with pytest.raises(FloatingPointError):
        learner.partial_fit(X[1000:2100] * np.float64(1), np.append(y[1000:2099], -1e308))
    same_model(learner, expected, X[:200])
    learner.partial_fit(X[1000:1600], y[1000:1600])
    expected.partial_fit(X[1000:1600], y[1000:1600])
    same_model(learner, expected, X[:200])


def test_a_change_that_stays_leaves_the_new_forest():
    X, y, known, learner = stream("classes")
    plain = clone(learner).set_params(begin_anew=False)
    told = learner.partial_fit_predict(X, y, **known)
    assert learner._model.began == learner.alarms_[0]
    assert 1100 < learner.alarms_[0] < 1300
    alone = plain.partial_fit_predict(X, y, **known)
    assert np.mean(told[1200:] != y[1200:]) < 0.8 * np.mean(alone[1200:] != y[1200:])
    assert type(pickle.loads(pickle.dumps(plain))._model) is Model
    assert plain.alarms_.tolist() == []


@pytest.mark.parametrize("task", TASKS)
def test_without_an_alarm_nothing_is_different(task):
    """Neither answers nor what has been learnt; in random order there is no alarm."""
    X, y, known, learner = stream(task)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    plain = clone(learner).set_params(begin_anew=False)
    told = learner.partial_fit_predict(X, y, **known)
    assert learner.alarms_.tolist() == []
    np.testing.assert_array_equal(told, plain.partial_fit_predict(X, y, **known))
    assert learner.cumulative_loss_ == plain.cumulative_loss_
    assert pickle.dumps(learner._model.alone()) == pickle.dumps(plain._model)


def test_class_weights_count_as_weights():
    X, y, known, learner = stream("binary")
    weighted = clone(learner).set_params(class_weight={0: 2.0, 1: 0.5})
    told = weighted.partial_fit_predict(X, y, **known)
    other = learner.partial_fit_predict(X, y, **known, sample_weight=np.where(y == 0, 2.0, 0.5))
    np.testing.assert_array_equal(told, other)
    same_model(weighted, learner, X[:200])
    assert len(learner.alarms_) > 0


def test_merged_forests_that_went_over_to_the_rival_of_their_base():
    """It is what they have in common, and its samples count once."""
    rng = np.random.default_rng(0)
    X = rng.random((7300, 5))
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    turned = y.copy()
    turned[2000:2400] = 1 - y[2000:2400]
    base = KernelForestClassifier(**FOREST).partial_fit(X[:2150], turned[:2150], classes=[0, 1])
    assert base._model.rival is not None
    assert base._model.began == base.alarms_[-1]
    parts = [
        copy.deepcopy(base).partial_fit(X[part], y[part])
        for part in (slice(4000, 5200), slice(6000, 7300))
    ]
    assert [part._model.began for part in parts] == [0, 0]
    merged = merge(parts, base=base)
    assert merged.n_seen_ == 2150 + 1200 + 1300
    assert merged._model.began == 0
    assert merged.score(X[2500:4000], y[2500:4000]) > 0.95


def test_a_long_call_keeps_no_forest_that_has_gone():
    """Undo needs none of those that began in the call."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4))
    y = np.where(np.arange(9000) // 1500 % 2, X[:, 0], -X[:, 0]) * 3
    model = KernelForestRegressor(**FOREST)
    before = sum(isinstance(one, Model) for one in gc.get_objects())
    model.partial_fit(X, y)
    assert len(model.alarms_) >= 4
    gc.collect()
    assert sum(isinstance(one, Model) for one in gc.get_objects()) - before <= 5


def test_merged_without_an_alarm_is_as_it_was():
    X, y, known, learner = stream("classes", 1000)
    plain = clone(learner).set_params(begin_anew=False)
    both = []
    for one in (learner, plain):
        base = one.partial_fit(X[:500], y[:500], **known)
        parts = [copy.deepcopy(base).partial_fit(X[k::2], y[k::2]) for k in range(2)]
        both.append(merge(parts, base=base))
    np.testing.assert_array_equal(both[0].decision_function(X), both[1].decision_function(X))
    assert both[0].cumulative_loss_ == both[1].cumulative_loss_
    with pytest.raises(ValueError, match="the same parameters, got begin_anew=True and"):
        merge([learner, plain])


def test_a_rival_that_does_not_fit_is_refused():
    X, y, known, learner = stream("classes", 1300)
    learner.partial_fit(X, y, **known)
    make, arguments = learner._model.__reduce__()
    model, blank, rival, trials, began = pickle.loads(pickle.dumps(arguments))
    assert make(model, blank, rival, trials, began).rival is not None
    with pytest.raises(ValueError, match="last as long"):
        make(model, blank, None, trials, began)
    older = copy.deepcopy(rival)
    older.resume_counts(1301, 0, 0.0)
    with pytest.raises(ValueError, match="the rival has seen 1301 samples, all are 1300"):
        make(model, blank, older, trials, began)
    other = KernelForestRegressor(**FOREST).partial_fit(X, y)._model.blank
    with pytest.raises(ValueError, match="the blank must have the head"):
        make(model, other, rival, trials, began)
    with pytest.raises(TypeError, match="model"):
        renewed(trials)


def test_forests_of_a_race_have_no_alarms():
    X, y, _, _ = stream("classes", 300)
    race = StreamClassifier(random_state=0).partial_fit(X, y)._model
    assert {type(expert) for expert in race.experts} == {Model}
    assert any(race.raw)


def test_who_waits_for_an_exchange_is_answered_by_one_forest():
    X, y, _, learner = stream("regression", 1400)
    learner.partial_fit(X[:1100], y[:1100])
    model, answers = learner._model, []
    expected = model.score_one(X[0])
    model.learn(np.ascontiguousarray(X[1100:]), y[1100:])
    assert model.began > 0
    other = threading.Thread(target=lambda: answers.append(model.score_one(X[0])))
    other.start()
    other.join()
    assert answers == [model.score_one(X[0])]
    model.undo()
    assert model.began == 0
    assert model.score_one(X[0]) == expected


def test_a_trial_does_not_take_a_rule_that_has_gone():
    """A rule that was set in mid-stream is that of the rival too."""
    X, y, _, learner = stream("regression", 1400)
    learner.partial_fit(X[:1300], y[:1300])
    model = learner._model
    assert isinstance(model, RenewedModel)
    assert isinstance(model, Composed)
    rule = copy.deepcopy(model.rule)
    model.rule = rule
    assert model.rival.rule is not rule
    model.learn(np.ascontiguousarray(X[1300:]), y[1300:])
    assert model.rival.rule is rule


def test_memory_is_that_of_two():
    """The estimate has the forest of a trial; a forest in a race has none."""
    X, y, _, learner = stream("regression", 1400)
    learner.partial_fit(X[:1], y[:1])
    plain = clone(learner).set_params(begin_anew=False).partial_fit(X[:1], y[:1])
    from onlinekern.estimators.memory import Form

    form = Form(4, 1, 8, False)
    assert plain._n_bytes(form) < learner._n_bytes(form) <= 2 * plain._n_bytes(form)


def test_the_parameter_takes_effect_in_the_next_fit():
    X, y, _, learner = stream("regression", 300)
    learner.partial_fit(X, y)
    with pytest.warns(UserWarning, match="begin_anew"):
        learner.set_params(begin_anew=False).partial_fit(X, y)
    assert type(learner.fit(X, y)._model) is Model


def test_what_leaves_a_forest_needs_no_memory(monkeypatch):
    """Trees that were replaced are freed some at a time; where that takes memory, at once."""
    api = pytest.importorskip("_testcapi")
    X, y, _, _ = stream("regression", 700)
    ignored = []
    monkeypatch.setattr("sys.unraisablehook", lambda found: ignored.append(found.exc_value))
    for failing in range(120):
        learner = KernelForestRegressor(n_trees=30, memory=256, random_state=0)
        learner.partial_fit(X[:600], y[:600])
        api.set_nomemory(failing, failing + 1)
        try:
            learner.partial_fit(X[600:601], y[600:601])
        except MemoryError:
            pass
        finally:
            api.remove_mem_hooks()
    assert ignored == []
