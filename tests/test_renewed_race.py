"""Races that begin anew when their losses grow, against the oracle and in any order of calls."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from oracles.race import renewed_stream
from test_race import drifting, same_model

import onlinekern
from onlinekern import StreamClassifier, StreamRegressor, merge
from onlinekern.core.learning.rank_bets import RankBets
from onlinekern.core.learning.trials import Trials
from onlinekern.core.renewed_race import RenewedRace
from onlinekern.estimators.blas_threads import ONE_THREAD

TASKS = ["binary", "classes", "regression"]


def stream(task, n=2600):
    """Samples whose concept changes, and their targets, known classes and the learner."""
    X, y, f = drifting(n, classes=2 if task == "binary" else 3, turn=1100)
    if task == "regression":
        return X, f, {}, StreamRegressor(time_budget=15.0, random_state=0)
    return X, y, {"classes": np.unique(y)}, StreamClassifier(time_budget=15.0, random_state=0)


def with_weights(n):
    return np.random.default_rng(3).integers(0, 3, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_against_the_oracle(task, weighted):
    X, y, known, learner = stream(task)
    weight = with_weights(len(y)) if weighted else None
    blank = copy.deepcopy(learner).partial_fit(X[:1], y[:1], **known)._model.blank
    # Of the core alone, which leaves BLAS its threads; those of a call may round otherwise.
    with ONE_THREAD():
        answers, alarms, expected = renewed_stream(blank, X, y.astype(float), weight)
    told = learner.partial_fit_predict(X, y, **known, sample_weight=weight)
    np.testing.assert_array_equal(told, answers)
    assert learner.alarms_.tolist() == alarms
    assert len(alarms) > 0
    np.testing.assert_array_equal(learner._model.learnt, expected.learnt)
    counted = np.ones(len(y)) if weight is None else weight
    loss = (told != y) if known else (told - y) ** 2
    assert learner.cumulative_loss_ == pytest.approx(np.sum(counted * loss), rel=1e-12)
    assert learner.n_seen_ == np.count_nonzero(counted)
    if known:
        assert learner.n_mistakes_ == np.count_nonzero(loss[counted > 0])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("task", TASKS[1:])
def test_any_calls_give_the_same(task, sparse):
    X, y, known, learner = stream(task)
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
        assert model.alarms_.tolist() == results[0][1].alarms_.tolist()
        assert model.cumulative_loss_ == results[0][1].cumulative_loss_


@pytest.mark.parametrize("task", TASKS[1:])
def test_rows_by_themselves_are_learnt_as_blocks(task):
    X, y, known, learner = stream(task, 1400)
    learner.partial_fit(X[:1000], y[:1000], **known)
    whole = copy.deepcopy(learner).partial_fit(X[1000:], y[1000:])
    for x, target in zip(X[1000:], y[1000:], strict=True):
        learner.learn_one(x, target)
    assert learner._model.rival is not None
    same_model(learner, whole, X[:200])
    assert learner._model.trials.left == whole._model.trials.left


@pytest.mark.parametrize("task", TASKS[1:])
@pytest.mark.parametrize("first", [1050, 1130, 1500, 2050])
def test_a_call_that_fails_changes_nothing(task, first):
    """The calls begin a trial, go on with it, and end it."""
    X, y, known, learner = stream(task)
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
        assert model.alarms_.tolist() == expected.alarms_.tolist()


def test_what_passes_soon_leaves_the_old_race():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4500, 4))
    y = (X[:, 0] > 0).astype(int)
    y[2000:2150] = rng.integers(0, 2, 150)
    model = StreamClassifier(time_budget=15.0, random_state=0)
    told = model.partial_fit_predict(X, y)
    assert len(model.alarms_) == 1
    assert model._model.began == 0
    assert np.mean(told[2300:] != y[2300:]) < 0.03


def test_a_change_that_stays_leaves_the_new_race():
    X, y, known, learner = stream("classes")
    told = learner.partial_fit_predict(X, y, **known)
    assert learner._model.began == learner.alarms_[0]
    assert 1100 < learner.alarms_[0] < 1200
    # A plain race, as files of former versions hold, goes on as it is.
    plain = copy.deepcopy(learner).partial_fit(X[:1], y[:1])
    race = copy.deepcopy(learner._model.blank)
    plain.__dict__["_model"] = race
    scores = np.empty((len(y), 3))
    race.learn(X, y.astype(float), None, None, 0, scores)
    assert np.mean(told[1200:] != y[1200:]) < 0.8 * np.mean(scores.argmax(1)[1200:] != y[1200:])
    assert not isinstance(pickle.loads(pickle.dumps(plain))._model, RenewedRace)
    assert plain.alarms_.tolist() == []
    assert "begun anew" not in str(plain.report())
    assert f"begun anew beside itself after {learner.alarms_[0]}" in str(learner.report())
    assert "RenewedLearner(make_stream_pipeline(" in str(learner.report())


def test_labels_that_tell_nothing_raise_no_alarm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    model = StreamClassifier(time_budget=10.0, random_state=0)
    model.partial_fit(X, rng.integers(0, 2, 6000))
    assert model.alarms_.tolist() == []


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_units_and_offsets_of_targets_raise_no_alarm(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    f = np.where(np.arange(3000) < 1500, X[:, 0], X[:, 1])
    y = scale * (f + 1e4)
    model = StreamRegressor(time_budget=10.0, random_state=0).partial_fit(X[:1500], y[:1500])
    assert model.alarms_.tolist() == []
    model.partial_fit(X[1500:], y[1500:])
    assert 1500 < model.alarms_[0] < 1520


def test_later_passes_raise_no_alarm():
    X, y, _, _ = stream("classes")
    once = StreamClassifier(time_budget=15.0, shuffle=False, random_state=0).fit(X, y)
    twice = StreamClassifier(time_budget=15.0, shuffle=False, n_epochs=2, random_state=0)
    assert twice.fit(X, y).alarms_.tolist() == once.alarms_.tolist() != []
    assert twice._model.rival is None


def test_classes_that_come_during_a_trial():
    X, y, _, learner = stream("classes", 2000)
    y = np.where((y == 2) & (np.arange(2000) < 1300), 1, y)
    learner.partial_fit(X[:1300], y[:1300])
    assert learner._model.rival is not None
    whole = copy.deepcopy(learner).partial_fit(X[1300:], y[1300:])
    for part in (slice(1300, 1301), slice(1301, 1500), slice(1500, 2000)):
        learner.partial_fit(X[part], y[part])
    assert learner.classes_.tolist() == [0, 1, 2]
    same_model(learner, whole, X[:200])
    assert learner._model.blank.head.n_outputs == 3


@pytest.mark.parametrize("n_anew", [0, 1, 2, 3])
def test_merged_races_have_no_rival(n_anew):
    """Those that have begun anew are merged without their base, if they are most."""
    X, y, known, learner = stream("classes", 3400)
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
    assert merged.score(X[late], y[late]) > 0.85
    assert np.isfinite(merged.partial_fit(X, y).decision_function(X)).all()


def test_saved_during_a_trial(tmp_path):
    X, y, _, learner = stream("regression", 1600)
    learner.partial_fit(X[:1300], y[:1300])
    assert learner._model.rival is not None
    learner.save(tmp_path / "race.okm")
    again = onlinekern.load(tmp_path / "race.okm")
    same_model(again.partial_fit(X[1300:], y[1300:]), learner.partial_fit(X[1300:], y[1300:]), X)


def test_bets_refuse():
    bets = RankBets(10.0)
    with pytest.raises(ValueError, match=r"losses must be in \[0, 1\]"):
        bets.see_many(np.array([1.5]))
    with pytest.raises(ValueError, match="run_length"):
        RankBets(0.0)
    counts, wealth, _ = bets.get_state()
    with pytest.raises(ValueError, match="must have been seen"):
        bets.set_state(counts + 1, wealth, 255)


def test_equal_losses_raise_no_alarm():
    """Nothing but the draws of their ranks tells them apart, and these are those of all streams."""
    bets = Trials(False).bets
    assert bets.see_many(np.zeros(1_000_000)) is None


def test_counts_of_a_rival_do_not_depend_on_calls():
    """A rival that lost a part of the trial has been given no answer of its own to count."""
    X, y, known, learner = stream("classes", 1400)
    learner.partial_fit(X[:1100], y[:1100], **known)
    rows = copy.deepcopy(learner)
    learner.partial_fit(X[1100:], y[1100:])
    for x, label in zip(X[1100:], y[1100:], strict=True):
        rows.learn_one(x, label)
    assert learner._model.rival is not None
    for model in (learner, rows):
        rival = model._model.rival
        assert (rival.n_mistakes, rival.cumulative_loss) == (0, 0.0)


def test_a_rival_that_has_seen_other_samples_is_refused():
    X, y, known, learner = stream("classes", 1300)
    learner.partial_fit(X, y, **known)
    make, arguments = learner._model.__reduce__()
    race, blank, rival, trials = pickle.loads(pickle.dumps(arguments))
    assert make(race, blank, rival, trials).rival is not None
    rival.learn(X[:1], y[:1].astype(float))
    with pytest.raises(ValueError, match="has seen 1301 samples, the race 1300"):
        make(race, blank, rival, trials)
    sparse = stream("classes")[3].partial_fit(sp.csr_matrix(X[:9]), y[:9], **known)._model.blank
    with pytest.raises(ValueError, match="the blank of a race must have"):
        make(race, sparse, None, trials)


def test_races_of_different_versions_are_not_merged():
    X, y, known, learner = stream("classes", 300)
    learner.partial_fit(X, y, **known)
    plain = copy.deepcopy(learner)
    plain.__dict__["_model"] = copy.deepcopy(learner._model.blank)
    plain._model.learn(X, y.astype(float))
    assert merge([plain, plain]).n_seen_ == 600
    for models in ([learner, plain], [plain, learner]):
        with pytest.raises(ValueError, match=r"of different kinds or versions: .*Race, .*Race"):
            merge(models)


def test_merged_races_have_learnt_what_both_have():
    """The samples of a race are those since it began, also where each began at another one."""
    X, y, known, learner = stream("classes", 2600)
    parts = [copy.deepcopy(learner).partial_fit(X[:n], y[:n], **known) for n in (2600, 2300)]
    assert min(part._model.began for part in parts) > 0
    merged = merge(parts)
    ages = [part.n_seen_ - part._model.began for part in parts]
    assert merged.n_seen_ - merged._model.began == sum(ages)
    assert max(expert.learnt for expert in merged.report().experts) == 1.0


def test_marks_of_a_long_history_do_not_depend_on_calls():
    """An alarm comes right before the sample with which every second one goes, the 131,328th."""
    n, turn = 132_000, 131_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(np.arange(n) < turn, X[:, 0], -X[:, 0]) + 0.1 * rng.normal(size=n)
    whole = StreamRegressor(time_budget=2.0).partial_fit(X[:turn], y[:turn])
    parts = copy.deepcopy(whole)
    whole.partial_fit(X[turn:], y[turn:])
    for first in range(turn, n, 100):
        parts.partial_fit(X[first : first + 100], y[first : first + 100])
    assert turn < whole.alarms_[-1] < 131_328
    assert whole._model.began == whole.alarms_[-1]
    for model in (whole, parts):
        assert whole._model.stride == model._model.stride == 512
        assert [mark for mark, _ in whole._model.history] == [m for m, _ in model._model.history]


def test_who_waits_for_an_exchange_is_answered_by_one_race():
    """Not by the experts of one, and the moments of the other."""
    X, y, _, learner = stream("regression", 1400)
    learner.partial_fit(X[:1100], y[:1100])
    race, answers = learner._model, []
    expected = race.score_one(X[0])
    race.learn(X[1100:], y[1100:])
    assert race.began > 0
    other = threading.Thread(target=lambda: answers.append(race.score_one(X[0])))
    with race.writing():
        other.start()
        time.sleep(0.2)
        race._rollback()
    other.join()
    assert race.began == 0
    assert answers == [expected] == [race.score_one(X[0])]


def test_alarms_that_bring_nothing_become_rare():
    """Behind outliers errors are large for a while, so that they are not exchangeable."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16_000, 3))
    y = X[:, 0] + rng.standard_cauchy(16_000)
    model = StreamRegressor(time_budget=10.0, random_state=0).partial_fit(X, y)
    gaps = np.diff(model.alarms_)
    assert len(gaps) > 1
    # A trial each, and behind the second one a pause.
    assert (gaps >= 1000).all()
    assert gaps[-1] > 2000


def test_changes_that_stay_are_followed_by_no_pause():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9600, 3))
    concept = np.arange(9600) // 1600
    y = np.where(concept % 2, X[:, 0], X[:, 1]) + 0.1 * rng.normal(size=9600)
    model = StreamRegressor(time_budget=10.0, random_state=0).partial_fit(X, y)
    assert (model.alarms_ // 1600).tolist() == [1, 2, 3, 4, 5]
    assert (model.alarms_ % 1600 < 100).all()
