"""What races that begin anew have for themselves; test_renewed_streams.py has the rest."""

import copy
import pickle
import threading
import time
from functools import partial

import numpy as np
import pytest
import renewals
import scipy.sparse as sp

from onlinekern import StreamClassifier, StreamRegressor, merge
from onlinekern.core.learning.rank_bets import RankBets
from onlinekern.core.learning.trials import Trials
from onlinekern.core.renewed_race import RenewedRace

stream = partial(renewals.stream, "race")


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


def test_bets_refuse():
    bets = RankBets(10.0)
    with pytest.raises(ValueError, match=r"losses must be in \[0, 1\]"):
        bets.see_many(np.array([1.5]))
    with pytest.raises(ValueError, match="run_length"):
        RankBets(0.0)
    counts, wealth, _ = bets.get_state()
    with pytest.raises(ValueError, match="counts must sum to at most n_seen"):
        bets.set_state(counts + 1, wealth, 255)


def test_equal_losses_raise_no_alarm():
    """Nothing but the draws of their ranks tells them apart, and these are those of all streams."""
    bets = Trials(False).bets
    assert bets.see_many(np.zeros(1_000_000)) is None


def test_targets_of_weight_0_do_not_count_beside_a_rival():
    X, y, _, learner = stream("regression", 1300)
    learner.partial_fit(X, y)
    assert learner._model.rival is not None
    seen = learner._model.vote.get_state()["range"]
    learner.partial_fit(X[:9], y[:9] + 100, sample_weight=np.zeros(9))
    np.testing.assert_array_equal(learner._model.vote.get_state()["range"], seen)


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
    rng = np.random.default_rng(1)
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
