"""The race of experts against its twin: votes, sleep and waking, and what a stream may bring."""

import copy
import itertools
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from commands import run
from oracles import race as twins
from oracles.race import stream_learner
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score, recall_score

from onlinekern import (
    OnlineStandardScaler,
    StreamClassifier,
    StreamRegressor,
    load,
    make_stream_pipeline,
    merge,
)
from onlinekern.core import experts as core_experts
from onlinekern.core.learning.vote import MeanVote, Vote
from onlinekern.core.models.forest import ForestSpace
from onlinekern.core.models.least_squares import LeastSquaresSpace
from onlinekern.drift import RenewedLearner
from onlinekern.learners.race import stream
from onlinekern.learners.race.experts import FORESTS, former_versions, ladder
from onlinekern.learners.race.growing import form_of, megabytes
from onlinekern.reports.model import report_html
from onlinekern.streams import Hyperplane

LINKS = (0.0, 1.0, 2.0, 0.0)
YES = np.ones(len(LINKS), dtype=np.uint8)


def opinions(n_outputs, n=400, seed=0):
    """Scores of four experts, of different worth, and the targets."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((len(LINKS), n, n_outputs)) * [[[0.3]], [[0.6]], [[1.0]], [[2.0]]]
    if n_outputs == 1:
        y = rng.integers(0, 2, n).astype(float)
        return noise + (2 * y - 1)[:, None], y
    y = rng.integers(0, n_outputs, n).astype(float)
    return noise + 2 * np.eye(n_outputs)[y.astype(int)] - 1, y


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_vote(n_outputs, weighted):
    scores, y = opinions(n_outputs)
    weight = np.random.default_rng(1).integers(0, 3, len(y)) / 2 if weighted else None
    vote, twin = Vote(LINKS, n_outputs), twins.Vote(LINKS)
    voting, fed = np.array([1, 0, 1, 1], np.uint8), np.array([1, 1, 1, 0], np.uint8)
    out = np.empty((len(y), n_outputs))
    vote.learn(scores, y, weight, voting, fed, out)
    expected = [
        twin.learn(scores[:, i], y[i], 1 if weight is None else weight[i], voting > 0, fed)
        for i in range(len(y))
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(vote.mean_losses(), twin.mean_losses(), rtol=1e-12)
    np.testing.assert_allclose(vote.weights(voting), twin.weights(voting > 0), rtol=1e-11)
    np.testing.assert_allclose(vote.factors(voting), twin.factors(voting > 0), atol=1e-9)
    assert vote.factors(voting).sum() == pytest.approx(1)
    assert vote.factors(voting)[1] == 0
    again = np.empty_like(out)
    vote.combine(scores, voting, again)
    expected = [twin.answer(scores[:, i], voting > 0) for i in range(len(y))]
    np.testing.assert_allclose(again, expected, rtol=1e-11, atol=1e-12)


def test_vote_on_targets():
    scores, y = opinions(1)
    y = 3 * y + np.random.default_rng(2).standard_normal(len(y))
    vote, twin = MeanVote(LINKS, 1), twins.MeanVote(LINKS)
    out = np.empty((len(y), 1))
    scores[3] *= 50  # beyond the bound
    vote.learn(scores, y, None, YES, YES, out)
    expected = [twin.learn(scores[:, i], y[i], 1, YES > 0, YES) for i in range(len(y))]
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(vote.weights(YES), twin.weights(YES > 0), rtol=1e-9)
    np.testing.assert_allclose(vote.factors(YES), twin.factors(YES > 0), atol=1e-9)


def test_a_combination_is_ahead_of_experts_whose_errors_differ():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(3000)
    common, own = rng.standard_normal((2, 3000))
    # The second expert makes the first one's error three times over; the third knows nothing else.
    scores = np.stack([y + common, y + 3 * common, y + 2 * own, 0 * y])[:, :, None]
    vote, out = MeanVote(LINKS, 1), np.empty((3000, 1))
    vote.learn(scores, y, None, YES, YES, out)
    best = np.mean((scores[:, 1000:, 0] - y[1000:]) ** 2, axis=1).min()
    assert np.mean((out[1000:, 0] - y[1000:]) ** 2) < 0.1 * best
    assert vote.factors(YES)[1] < -0.3
    # Without the second one, nothing is as good.
    few = np.array([1, 0, 1, 1], np.uint8)
    assert vote.factors(few)[1] == 0
    assert (vote.factors(few) > -0.1).all()


def test_a_combination_is_the_same_whatever_unit_weights_have():
    scores, y = opinions(1)
    factors = []
    for unit in (1e100, 1e200):
        vote = MeanVote(LINKS, 1)
        vote.learn(scores, y, np.full(len(y), unit), YES, YES, np.empty((len(y), 1)))
        factors.append(vote.factors(YES))
    np.testing.assert_allclose(*factors, rtol=1e-9)
    assert np.abs(vote.factors(YES) - vote.weights(YES)).max() > 0.01


def test_votes_of_former_versions_counted_each_pair():
    scores, y = opinions(1)
    vote, other = MeanVote(LINKS, 1), MeanVote(LINKS, 1)
    vote.learn(scores, y, None, YES, YES, np.empty((len(y), 1)))
    state = vote.get_state()
    pairs = np.tile(state["met"], (len(LINKS), 1))
    other.set_state({**state, "met": pairs})
    np.testing.assert_array_equal(other.factors(YES), vote.factors(YES))
    for damaged in (pairs[:, :-1], np.pad(pairs, ((0, 0), (0, 2))), np.full_like(pairs, np.nan)):
        with pytest.raises(ValueError, match="met"):
            other.set_state({**state, "met": damaged})


@pytest.mark.parametrize("row", [0, 1, 20])
def test_an_early_target_that_is_far_off_does_not_decide_who_leads(row):
    rng = np.random.default_rng(0)
    n = 200
    y = rng.standard_normal(n)
    # The third expert knows most, but lost most at the outlier.
    scores = y + np.array([1.0, 0.5, 0.1, 2.0])[:, None] * rng.standard_normal((len(LINKS), n))
    scores[:, row] = rng.standard_normal(len(LINKS))
    y[row], scores[2, row] = 1e6, -1e4
    if row == 0:
        scores[:, 1] = 1e6 * (1 + np.array([1e-3, 2e-3, 5e-3, 1e-3]))
    scores = scores[:, :, None]
    vote, twin, out = MeanVote(LINKS, 1), twins.MeanVote(LINKS), np.empty((n, 1))
    vote.learn(scores, y, None, YES, YES, out)
    expected = [twin.learn(scores[:, i], y[i], 1, YES > 0, YES) for i in range(n)]
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)
    assert vote.weights(YES).argmax() == 2
    assert np.mean((out[100:, 0] - y[100:]) ** 2) < 0.05


def test_sums_of_errors_are_those_of_squares_whoever_slept():
    rng = np.random.default_rng(0)
    vote, twin, n = MeanVote(LINKS, 1), twins.MeanVote(LINKS), 256
    for block in range(12):
        # All err alike, the fourth less and less; two of them sleep now and then.
        y, scale = rng.standard_normal(n), 0.5**block
        errors = 3 * rng.standard_normal(n) + 0.1 * rng.standard_normal((len(LINKS), n))
        errors[3] *= scale
        scores = (y + errors)[:, :, None]
        fed = np.array([block % 3 != 1, block % 4 != 2, 1, 1], dtype=np.uint8)
        vote.learn(scores, y, None, fed, fed, np.empty((n, 1)))
        for i in range(n):
            twin.learn(scores[:, i], y[i], 1, fed > 0, fed)
        state = vote.get_state()
        sums = np.tril(state["errors"]) + np.tril(state["errors"], -1).T
        np.testing.assert_allclose(sums, twin.errors, rtol=1e-9)
        assert np.linalg.eigvalsh(sums)[0] > -1e-12 * np.trace(sums)
        assert np.abs(vote.factors(YES)).sum() < 10


def test_a_heavy_sample_does_not_wipe_out_what_the_vote_knows():
    scores, y = opinions(3)
    vote, out = Vote(LINKS, 3), np.empty((len(y), 3))
    vote.learn(scores, y, None, YES, YES, out)
    before = vote.weights(YES)
    # All experts are right about it: who erred more before has still erred more.
    alike, weight = np.full((len(LINKS), 1, 3), -1.0), np.array([1e4])
    alike[:, :, 0] = 1
    vote.learn(alike, np.zeros(1), weight, YES, YES, np.empty((1, 3)))
    assert np.array_equal(np.argsort(before), np.argsort(vote.weights(YES)))
    assert np.ptp(np.sort(vote.weights(YES))) > 0


def test_states_of_older_votes_have_no_combination():
    scores, y = opinions(3)
    vote, out = Vote(LINKS, 3), np.empty((len(y), 3))
    vote.learn(scores, y, None, YES, YES, out)
    state = vote.get_state()
    older = {name: state[name] for name in ("losses", "counts", "n_mistakes", "total")}
    again = Vote(LINKS, 3)
    again.set_state(older)
    np.testing.assert_array_equal(again.weights(YES), vote.weights(YES))
    np.testing.assert_allclose(again.factors(YES), again.weights(YES), rtol=1e-12)
    with pytest.raises(ValueError, match="met"):
        again.set_state({**state, "met": np.zeros((3, 3))})
    with pytest.raises(ValueError, match=">= 0"):
        again.set_state({**state, "combined": np.array([-1.0, 1.0])})


def test_vote_is_split_anyhow_and_goes_on_from_its_state():
    scores, y = opinions(3)
    whole, parts = Vote(LINKS, 3), Vote(LINKS, 3)
    expected, out = np.empty((2, len(y), 3))
    whole.learn(scores, y, None, YES, YES, expected)
    for part in (slice(0, 1), slice(1, 70), slice(70, None)):
        values = np.empty((len(y[part]), 3))
        parts.learn(np.ascontiguousarray(scores[:, part]), y[part], None, YES, YES, values)
        out[part] = values
        state = parts.get_state()
        parts = Vote(LINKS, 3)
        parts.set_state(state)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), 1), "number of experts"),
        (((-1.0,), 1), "link"),
        (((0.0,), 0), "n_outputs"),
        (((0.0,), 1, 1.0), "decay"),
        (((0.0,), 1, 0.9, 0.0), "sharpness"),
    ],
)
def test_vote_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        Vote(*arguments)


def test_vote_refuses_scores_of_another_shape():
    scores, y = opinions(2)
    with pytest.raises(ValueError, match="scores must have the shape"):
        Vote(LINKS, 3).learn(scores, y, None, YES, YES, np.empty((len(y), 3)))
    with pytest.raises(ValueError, match="must vote"):
        Vote(LINKS, 2).combine(scores, 0 * YES, np.empty((len(y), 2)))


class OneByOne:
    """A model of the core that learns samples one by one, and perhaps the twin of their target."""

    def __init__(self, model, raw, twin=None):
        self.model, self.raw = model, raw
        self.twin = None if twin is None else twins.TwinTarget()

    def score(self, x):
        out = np.empty((1, self.model.head.n_outputs))
        self.model.scores(x[None], out)
        self.said = out[0]
        return out[0] if self.twin is None else self.twin.answer(out[0])

    def learn(self, x, y, weight):
        goals = np.array([y]) if self.twin is None else self.twin.learn(self.said, y, weight)
        self.model.learn(x[None], goals, np.array([float(weight)]))


def drifting(n=4000, seed=0, classes=3, turn=None):
    """Samples in wild units, whose concept turns over half-way, or at `turn`."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    bent = X[:, 0] + np.abs(X[:, 1])
    straight = X[:, 2] - X[:, 3]
    f = np.where(np.arange(n) < (turn or n // 2), bent, straight)
    y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
    return X * [1e-6, 1.0, 1e3, 1e6] + [0, 5, 1e4, -1e6], y, f


def scaled_rows(race_of_start, X):
    """The rows as a race scales them."""
    values = np.empty_like(X)
    moments = race_of_start.moments
    moments.learn(X, None, race_of_start.forgetting, out=values, limit=race_of_start.limit)
    return values.astype(np.float32)


@pytest.mark.parametrize("task", ["binary", "classes", "regression"])
def test_race(task):
    X, y, f = drifting(2000, classes=2 if task == "binary" else 3, turn=1200)
    model = StreamRegressor if task == "regression" else StreamClassifier
    target = f if task == "regression" else y.astype(float)
    known = {} if task == "regression" else {"classes": np.unique(y)}
    begun = model(time_budget=20.0, random_state=0).partial_fit(X[:1], target[:1], **known)
    # One that does not begin anew: it is asked what it does when all others would.
    start, race = (begun._new_model(X, np.random.RandomState(0)).blank for _ in range(2))
    vote = (twins.MeanVote if task == "regression" else twins.Vote)(start.vote.links)
    # The forest gets the rows as they come.
    experts = [OneByOne(*one) for one in zip(start.experts, start.raw, start.twins, strict=True)]
    assert [expert.twin is not None for expert in experts].count(True) == (
        2 if task == "regression" else 0
    )
    assert [expert.raw for expert in experts].count(True) == 1
    answers, learnt, voting = stream_learner(
        scaled_rows(start, X), target, experts, start.costs, vote, start.budget, rows=X,
        patience=start.patience,
    )  # fmt: skip
    got = np.empty((len(X), race.head.n_outputs))
    race.learn(X, target, None, None, 0, got)
    np.testing.assert_allclose(got, answers, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(race.learnt, learnt)
    np.testing.assert_array_equal(race.voting, voting[-1])
    # Somebody slept before the concept changed, was woken when it did, and sleeps again.
    asleep = [len(experts) - sum(v) for v in voting]
    assert asleep[4] > 0
    assert asleep[5:7] == [0, 0]
    assert asleep[7] > 0


def test_many_classes(many_classes):
    """An expert has one loss for all of them, and does not sleep before it knows each."""
    X, y = many_classes(n=1600)
    target = y.astype(float)
    begun = StreamClassifier(time_budget=30.0, random_state=0)
    begun.partial_fit(X[:1], target[:1], classes=np.unique(y))
    start, race = (begun._new_model(X, np.random.RandomState(0)).blank for _ in range(2))
    place = int(np.argmin(start.vote.links))
    assert start.vote.links[place] < 0
    assert start.patience[place] == 20 * 24
    experts = [OneByOne(*one) for one in zip(start.experts, start.raw, start.twins, strict=True)]
    answers, learnt, _ = stream_learner(
        scaled_rows(start, X), target, experts, start.costs, twins.Vote(start.vote.links),
        start.budget, rows=X, patience=start.patience,
    )  # fmt: skip
    got = np.empty((len(X), 24))
    race.learn(X, target, None, None, 0, got)
    np.testing.assert_allclose(got, answers, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(race.learnt, learnt)


def test_who_races_for_many_classes():
    """More than twenty have one loss for all, and no expert of few rows without a forest."""
    few, many, most = (
        [one.name for one in ladder("classification", 20, count, False, 100.0, 64 * 2**20)]
        for count in (20, 21, 500)
    )
    assert many == [*few, "linear logistic regression"]
    assert not any("forgetting" in name or "budgeted" in name for name in most)


def test_words_of_many_classes_have_linear_weights():
    """Where memory has no room for them, they are the only expert, and a warning says so."""
    rng = np.random.default_rng(0)
    X = sp.random(400, 30_000, density=1e-3, format="csr", random_state=rng)
    model = StreamClassifier(memory_budget=8, random_state=0)
    with pytest.warns(UserWarning, match="only expert takes some 15 megabytes"):
        model.partial_fit(X, np.arange(400) % 30, classes=np.arange(30))
    assert [type(one.rule).__name__ for one in model._model.experts] == ["ScaledPassiveAggressive1"]
    # Of classes that come late, those with landmarks make room.
    late = StreamClassifier(memory_budget=15, random_state=0)
    with pytest.warns(UserWarning, match="left the race|only expert takes"):
        late.partial_fit(X, np.arange(400) % 30)
    assert [type(one.rule).__name__ for one in late._model.experts] == ["ScaledPassiveAggressive1"]


def test_a_softmax_needs_an_output_for_each_class():
    with pytest.raises(ValueError, match="a link below 0"):
        Vote((1.0, -1.0), 1)


def same_model(one, other, X):
    """Raise unless two learners are in the same state."""
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one._model.learnt, other._model.learnt)
    states = [learner._model.vote.get_state() for learner in (one, other)]
    for name, values in states[0].items():
        np.testing.assert_array_equal(values, states[1][name])


CUTS = [[4000], [1, 7, 64, 300], [256], [255, 257]]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", [StreamClassifier, StreamRegressor])
def test_any_batches_give_the_same(model, sparse):
    X, y, f = drifting(1500)
    X, target = (sp.csr_matrix(X) if sparse else X), (f if model is StreamRegressor else y)
    known = {"classes": np.unique(y)} if model is StreamClassifier else {}
    results = []
    for cuts in CUTS:
        learner, predicted, first = model(time_budget=20.0, random_state=0), [], 0
        while first < len(target):
            part = slice(first, first + cuts[len(predicted) % len(cuts)])
            predicted.append(learner.partial_fit_predict(X[part], target[part], **known))
            first = part.stop
        results.append((np.concatenate(predicted), learner))
    for predicted, learner in results[1:]:
        np.testing.assert_array_equal(predicted, results[0][0])
        same_model(learner, results[0][1], X)


def test_a_loaded_race_is_undone_across_a_renewal_of_its_metric():
    """Its first blocks are small, so that a call makes windows for larger ones."""
    X = np.random.default_rng(0).normal(size=(1300, 8))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    race = StreamRegressor(random_state=0).partial_fit(X[:1], y[:1])._model.blank
    race.learn(X[:1000], y[:1000])
    expected, race = race, pickle.loads(pickle.dumps(race))
    race.learn(X[1000:] + 0.1, y[1000:])
    race.undo()
    np.testing.assert_array_equal(
        race.learn(X[1000:], y[1000:]), expected.learn(X[1000:], y[1000:])
    )


def test_threads_do_not_change_a_result():
    X, y, _ = drifting(1500)
    one, two = (StreamClassifier(time_budget=20.0, n_jobs=n, random_state=0) for n in (1, 2))
    np.testing.assert_array_equal(
        *(m.partial_fit_predict(X, y, classes=np.unique(y)) for m in (one, two))
    )
    same_model(one, two, X)


def test_units_do_not_matter():
    X, y, _ = drifting(1500)
    units = 2.0 ** np.arange(-40, 40, 20)
    one, other = (StreamClassifier(time_budget=20.0, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(
        one.partial_fit_predict(X, y, classes=np.unique(y)),
        other.partial_fit_predict(X * units, y, classes=np.unique(y)),
    )


def test_rows_beyond_float32_are_scaled_without_a_warning():
    X, y, _ = drifting(300)
    learner = StreamClassifier(random_state=0).partial_fit(X, y)
    far = StreamClassifier(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far.partial_fit(1e100 * X, y)
    assert np.mean(far.predict(1e100 * X) == learner.predict(X)) > 0.98


def test_a_call_that_fails_changes_nothing(monkeypatch):
    # Values that are far off are learnt as less far ones, and do no harm: here they are not.
    monkeypatch.setattr(core_experts, "REACH", np.inf)
    X, y, _ = drifting(1500)
    learner = StreamClassifier(time_budget=20.0, random_state=0)
    learner.partial_fit(X[:700], y[:700], classes=np.unique(y))
    before = learner.decision_function(X)
    race, state = learner._model, learner._model.vote.get_state()
    race.learn(X[700:], y[700:].astype(float))
    race.undo()
    np.testing.assert_array_equal(learner.decision_function(X), before)
    assert race.n_seen == 700
    np.testing.assert_array_equal(race.vote.get_state()["losses"], state["losses"])
    # Half of the experts have learnt a segment when the moments overflow.
    wrong = X[700:].copy()
    wrong[600:602, 0] = 1e200, -1e200
    with pytest.raises(FloatingPointError):
        learner.partial_fit(wrong, y[700:])
    np.testing.assert_array_equal(learner.decision_function(X), before)


def test_budgets_choose_the_experts():
    X, y, _ = drifting(300)

    def experts(**budgets):
        learner = StreamClassifier(random_state=0, **budgets)
        learner.partial_fit(X, y, classes=np.unique(y))
        return learner.report().experts

    landmarks = [
        experts(**budget)[0].estimator.n_components
        for budget in ({"time_budget": 20}, {}, {"time_budget": 1000, "memory_budget": 4000})
    ]
    assert landmarks == sorted(set(landmarks))
    small = experts(memory_budget=2.0)
    assert small[0].estimator.n_components < landmarks[1]
    assert [one.name for one in experts(memory_budget=1e-4)] == ["linear PA-I"]


def test_budgets_have_room_for_a_forest():
    def trees(n_features, n_outputs=1, time=100.0, memory=64.0):
        learner = StreamClassifier(time_budget=time, memory_budget=memory)
        experts = learner._experts(n_features, n_outputs, False)
        assert sum(one.n_bytes(n_features, n_outputs, False) for one in experts) <= memory * 2**20
        found = [one.estimator.n_trees for one in experts if one.name == "kernel forest"]
        # Without one, there are kernels of all widths.
        assert any("0.3/d" in one.name for one in experts) != bool(found)
        return sum(found)

    assert trees(10) == 80
    assert trees(10, time=50.0) == 40
    assert trees(10, time=10.0) == 0
    assert 10 < trees(10, n_outputs=50) < 80
    assert trees(10, n_outputs=1000, memory=256.0) == 0
    # A light teacher has room where features are hundreds, and none takes less than the time then.
    assert trees(256, n_outputs=10) == 78
    assert trees(2000, memory=1000.0) == 0
    # A forest that fills its share of the memory leaves what the others lack for.
    wide = [trees(width, n_outputs) for width in range(540, 640, 20) for n_outputs in (1, 4)]
    assert min(wide) > 10


def test_trees_of_classes_have_half_of_what_a_forest_keeps():
    def forest(n_outputs, memory):
        experts = StreamClassifier(memory_budget=memory)._experts(10, n_outputs, False)
        return next(one.estimator for one in experts if one.name == "kernel forest")

    for n_outputs, memory, kept in ((1, 64.0, 16_384), (7, 64.0, 8_192), (7, 8.0, 2_048)):
        found = forest(n_outputs, memory)
        assert (found.memory, found.max_rows) == (kept, kept // 2)
        # As long as rows are few, they have more of them.
        assert found.max_samples > 0.5


def test_few_features_of_targets_leave_room_for_trees():
    def experts(n_features):
        found = StreamRegressor()._experts(n_features, 1, False)
        trees = {one.name: one.estimator.n_trees for one in found if one.is_raw}
        return trees["kernel forest"], found[0].estimator.n_components, [one.name for one in found]

    (few, least, names), (many, most, others) = experts(8), experts(32)
    assert few > many > 50
    assert (least, most) == (200, 300)
    # The linear features are among those of the metric's kernel, as long as they are few.
    assert "linear least squares" in others
    assert "linear least squares" not in names
    # With many features a tree costs much: there are as many as before there was room for more.
    assert experts(120)[0] == 55


def test_kernels_of_targets_learn_metrics_beside_a_forest():
    def metrics(n_features, **budgets):
        learner = StreamRegressor(**budgets)
        experts = learner._experts(n_features, 1, False)
        names = [one.name for one in experts]
        assert any("metric" in name for name in names) <= ("kernel forest" in names)
        return [getattr(one.estimator, "metric", "none") for one in experts[:2]]

    assert metrics(8) == ["auto", "none"]
    # Samples that a metric is learnt from are kept: not of so many features.
    assert metrics(129) == ["none", "none"]
    assert metrics(8, time_budget=10.0) == ["none", "none"]


def test_features_of_no_use_cost_little():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 20))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    model = StreamRegressor(random_state=0)
    predicted = model.partial_fit_predict(X, y)
    assert "learnt metric" in model.report().leader.name
    assert np.std(predicted[4000:] - y[4000:]) < 0.15 * np.std(y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(-importances)[:2]) == {0, 1}
    few = StreamRegressor(time_budget=10.0).partial_fit(X[:100], y[:100])
    with pytest.raises(AttributeError, match="kernel forest, and this race has none"):
        few.feature_importances_  # noqa: B018


def test_classes_may_become_too_many_for_a_forest():
    X, y, _ = drifting(400, classes=40)
    learner = StreamClassifier(time_budget=20.0, memory_budget=6.0, random_state=0)
    learner.partial_fit(X[y < 2], y[y < 2])
    n_experts = len(learner.report().experts)
    assert n_experts == 9
    learner.partial_fit(X, y)
    # Others have begun, for which there is room.
    assert len(learner.report().experts) != n_experts
    race = learner._model
    assert megabytes(learner._ladder(race), form_of(race, 40)) <= 6.0
    assert len(learner.classes_) == 40


def test_a_leading_forest_is_a_learner_of_the_rows_as_they_come():
    X = np.random.default_rng(0).normal(size=(900, 5))
    size = np.abs(X[:, 0])
    y = (size > np.median(size)).astype(int)
    X[:, 0] = np.sign(X[:, 0]) * np.exp(3 * size)  # a scaler would clip most of what tells
    learner = StreamClassifier(time_budget=60.0, random_state=0)
    raced = learner.partial_fit_predict(X, y)
    report = learner.report()
    assert report.leader.name.startswith("kernel forest")
    plain = report.estimator()
    assert [type(step).__name__ for _, step in plain.steps] == ["KernelForestClassifier"]
    alone = plain.partial_fit_predict(X, y, classes=[0, 1])
    errors = [np.mean(found[300:] != y[300:]) for found in (alone, raced)]
    assert max(errors) < 0.1
    assert abs(errors[0] - errors[1]) < 0.03
    assert "make_stream_pipeline(KernelForestClassifier(" in str(report)


def test_report_tells_who_led():
    X, y, _ = drifting()
    learner = StreamClassifier(time_budget=50.0, random_state=0)
    learner.partial_fit(X, y, classes=np.unique(y))
    report = learner.report()
    assert report.n_seen == len(y)
    assert report.leader.weight == max(one.weight for one in report.experts)
    assert sum(one.led for one in report.experts) == pytest.approx(1)
    early, late = report.leaders[0], report.leaders[-1]
    assert early[2].startswith(("kernel forest", "kernel least squares"))
    assert len({name for *_, name in report.leaders}) > 1
    assert early[0] == 1
    assert len(y) - 256 < late[1] <= len(y)
    text = str(report)
    assert all(one.name in text for one in report.experts)
    # A forest needs no scaler.
    first = "KernelForest" if "forest" in report.leader.name else "OnlineStandardScaler("
    assert f"make_stream_pipeline({first}" in text


def test_a_small_forest_follows_a_stream_that_changes():
    X, y, _ = drifting(6000)
    learner = StreamClassifier(random_state=0).partial_fit(X[:1], y[:1], classes=np.unique(y))
    # One that does not begin anew.
    race = learner._model.blank
    race.learn(X, y.astype(float))
    names = [one.name for one in learner._ladder(race)]
    weights = dict(zip(names, race.vote.weights(race.voting | 1), strict=True))
    assert weights["kernel forest of the last 512"] > weights["kernel forest"]


def test_plain_estimator_does_the_same():
    X, y, _ = drifting(2000)
    learner = StreamClassifier(random_state=0)
    raced = learner.partial_fit_predict(X, y, classes=np.unique(y))
    plain = RenewedLearner(learner.report().estimator())
    alone = plain.partial_fit_predict(X, y, classes=np.unique(y))
    assert np.mean(alone[1000:] != y[1000:]) < np.mean(raced[1000:] != y[1000:]) + 0.02


def coming(n=600):
    """Samples whose classes come one after the other, as text."""
    X, y, _ = drifting(n, classes=4)
    first = np.maximum.accumulate(np.where(np.arange(n) % 150 == 0, np.arange(n) // 150, 0))
    return X, np.array(["d", "b", "a", "c"])[np.minimum(y, first)]


def test_classes_are_taken_up_as_they_come():
    X, y = coming()
    results = []
    for cuts in ([600], [1, 1, 40, 200], [150]):
        learner, predicted, first = StreamClassifier(time_budget=12.0, random_state=0), [], 0
        while first < len(y):
            part = slice(first, first + cuts[len(predicted) % len(cuts)])
            predicted.append(learner.partial_fit_predict(X[part], y[part]))
            first = part.stop
        results.append((np.concatenate(predicted), learner))
    np.testing.assert_array_equal(learner.classes_, ["a", "b", "c", "d"])
    for predicted, learner in results[1:]:
        np.testing.assert_array_equal(predicted, results[0][0])
        same_model(learner, results[0][1], X)
    known = StreamClassifier(time_budget=12.0, random_state=0)
    known.partial_fit(X, y, classes=["a", "b", "c", "d"])
    assert abs(known.score(X, y) - learner.score(X, y)) < 0.1


def test_classes_may_be_given_to_each_call_while_others_come():
    X, y = coming(400)
    given, free = (StreamClassifier(time_budget=12.0, random_state=0) for _ in range(2))
    for part in (slice(0, 300), slice(300, 350), slice(350, 400)):
        given.partial_fit(X[part], y[part], classes=["b", "d"])
        free.partial_fit(X[part], y[part], classes=["b", "d"] if part.start == 0 else None)
    same_model(given, free, X)
    assert given.classes_.tolist() == ["a", "b", "d"]
    with pytest.raises(ValueError, match="not the same as on last call"):
        given.partial_fit(X, y, classes=["b", "z"])


@pytest.mark.parametrize("weights", ["balanced", {"c": 5.0, "b": 0.5}])
def test_class_weights_while_classes_come(weights):
    X, y = coming()
    results = []
    for cuts in ([600], [1, 1, 40, 200], [150]):
        learner, first, parts = StreamClassifier(time_budget=12.0, random_state=0), 0, 0
        learner.set_params(class_weight=weights)
        while first < len(y):
            part = slice(first, first + cuts[parts % len(cuts)])
            learner.partial_fit(X[part], y[part])
            first, parts = part.stop, parts + 1
        results.append(learner)
    single = StreamClassifier(time_budget=12.0, random_state=0, class_weight=weights)
    for row, label in zip(X, y.tolist(), strict=True):
        single.learn_one(row, label)
    for learner in (*results[1:], single):
        same_model(learner, results[0], X)
    if weights == "balanced":
        np.testing.assert_array_equal(learner._class_counts, np.unique(y, return_counts=True)[1])


def by_hand(y, weights):
    """Return the weights of samples whose labels come one after the other, running."""
    if weights != "balanced":
        return np.array([weights.get(label, 1.0) for label in y.tolist()])
    seen = [y[: i + 1] for i in range(len(y))]
    return np.array([len(s) / (len(np.unique(s)) * np.sum(s == s[-1])) for s in seen])


@pytest.mark.parametrize("weights", ["balanced", {"c": 5.0, "b": 0.5}])
def test_class_weights_are_weights_of_samples(weights):
    X, y = coming()
    own = np.random.default_rng(1).choice([1.0, 3.0], len(y))
    # The class that is alone at first is counted when the second one has come.
    alone = np.flatnonzero(y != y[0])[0]
    factors = by_hand(y, weights)
    if weights == "balanced":
        factors[:alone] = 0.5
    one, other = (StreamClassifier(time_budget=12.0, random_state=0) for _ in range(2))
    one.set_params(class_weight=weights).partial_fit(X, y, sample_weight=own)
    other.partial_fit(X, y, sample_weight=own * factors)
    assert one.cumulative_loss_ == other.cumulative_loss_
    same_model(one, other, X)


def test_class_weights_of_labels_that_are_none():
    X, y = coming()
    learner = StreamClassifier(time_budget=12.0, random_state=0, class_weight={"z": 2.0})
    learner.partial_fit(X, y)
    plain = StreamClassifier(time_budget=12.0, random_state=0).partial_fit(X, y)
    same_model(learner, plain, X)
    with pytest.raises(ValueError, match="class_weight has 'z', which is none of the classes"):
        learner.fit(X, y)
    with pytest.raises(ValueError, match="must be a number >= 0"):
        learner.set_params(class_weight={"z": -2.0}).partial_fit(X, y)
    same_model(learner, plain, X)


def test_balanced_finds_a_rare_class():
    rng = np.random.default_rng(0)
    y = (rng.random(6000) < 0.05).astype(int)
    X = rng.standard_normal((6000, 4)) + 0.8 * y[:, None]
    plain, balanced = (
        StreamClassifier(time_budget=12.0, class_weight=weights, random_state=0)
        for weights in (None, "balanced")
    )
    recalls, scores = [], []
    for learner in (plain, balanced):
        learner.partial_fit(X[:4000], y[:4000])
        found = learner.predict(X[4000:])
        recalls.append(recall_score(y[4000:], found))
        scores.append(balanced_accuracy_score(y[4000:], found))
    assert recalls[1] > recalls[0] + 0.4
    assert scores[1] > scores[0] + 0.15
    # Their mistakes rise along the stream, and raise no alarm: they count with their weights.
    assert balanced.alarms_.tolist() == plain.alarms_.tolist() == []
    # So does the leader alone.
    assert clone(balanced).class_weight == "balanced"
    assert balanced.report().estimator()[-1].class_weight == "balanced"
    assert "class_weight='balanced'" in str(balanced.report())
    assert "class_weight" not in str(plain.report())


def test_what_was_learnt_is_kept():
    X, y, _ = drifting(400, classes=3)
    learner = StreamClassifier(time_budget=12.0, random_state=0)
    learner.partial_fit(X, y)
    before = learner.predict(X)
    learner.partial_fit(X[:1], [3])
    after = learner.predict(X)
    known = after != 3
    assert known.mean() > 0.8
    assert np.mean(after[known] != before[known]) < 0.05


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("_stayed", ("a",), "experts that stayed"),
        ("_stayed", (2, 1), "experts that stayed"),
        ("_outputs_at_first", "many", "outputs and features"),
        ("_empty_at_first", -1, "outputs and features"),
        ("_budgets_at_first", (1.0,), "budgets that it began with"),
        ("_budgets_at_first", (5.0, np.nan), "budgets that it began with"),
        ("_budgets_at_first", 5.0, "budgets that it began with"),
        ("_waiting", 5, "wait for a second class"),
        ("_waiting", (np.ones((2, 2)), np.ones(2)), "wait for a second class"),
        ("_waiting", (np.ones((2, 2)), np.ones(2), np.ones(3)), "wait for a second class"),
        ("_waiting", (np.ones((0, 2)), np.ones(0), np.ones(0)), "wait for a second class"),
    ],
)
def test_what_a_race_began_with_is_checked(name, value, message, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = StreamClassifier(time_budget=5.0).partial_fit(X, np.arange(40) % 2)
    setattr(model, name, value)
    model.save(tmp_path / "model.okn")
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "model.okn")


@pytest.mark.parametrize("labels", [[], [1, 1], [1, 2]])
def test_a_call_without_rows_is_refused_by_name(labels, state_of, same_state):
    model, rows = StreamClassifier(time_budget=5.0), np.ones((2, 3))
    if labels:
        model.partial_fit(rows, labels)
    before = state_of(model)
    with pytest.raises(ValueError, match=r"0 sample\(s\) .* by StreamClassifier"):
        model.partial_fit(rows[:0], [])
    same_state(model, before)


def test_one_class_may_come_alone():
    X, y, _ = drifting(400, classes=2)
    text = np.array(["no", "yes"])[y]
    ones = np.flatnonzero(y)[:30]
    learner = StreamClassifier(time_budget=12.0, random_state=0)
    for row in ones:
        np.testing.assert_array_equal(learner.partial_fit_predict(X[[row]], text[[row]]), "yes")
    np.testing.assert_array_equal(learner.predict(X[:3]), "yes")
    for ask in (learner.decision_function, learner.predict_proba):
        with pytest.raises(NotFittedError, match="has seen samples of one class only"):
            ask(X)
    for use in (learner.report, lambda: merge([learner, learner])):
        with pytest.raises(NotFittedError, match="has seen samples of one class only"):
            use()
    pipeline = make_stream_pipeline(OnlineStandardScaler(), StreamClassifier(time_budget=12.0))
    pipeline.partial_fit(X[ones], text[ones]).learn_one(X[ones[0]], "yes")
    np.testing.assert_array_equal(pipeline.predict(X[:3]), "yes")
    with pytest.raises(NotFittedError) as caught:
        pipeline.predict_proba(X)
    # The pipeline of scikit-learn before 1.8 says that it is not fitted, and what that comes from.
    told = str(caught.value.__cause__ or caught.value)
    assert "has seen samples of one class only" in told
    np.testing.assert_array_equal(pipeline.partial_fit(X, text)[-1].classes_, ["no", "yes"])
    learner = pickle.loads(pickle.dumps(learner))
    with pytest.raises(ValueError, match="features"):
        learner.partial_fit(X[:2, :2], text[:2])
    learner.learn_one(X[0], text[0]) if y[0] == 0 else learner.partial_fit(X, text)
    learner.partial_fit(X, text)
    np.testing.assert_array_equal(learner.classes_, ["no", "yes"])
    assert learner.n_seen_ > 400
    assert learner.score(X[200:], text[200:]) > 0.8


def test_fit_forgets_samples_that_wait_for_a_second_class():
    X, y, _ = drifting(100, classes=2)
    learner = StreamClassifier(time_budget=5.0, random_state=0).partial_fit(X[:1], [7])
    fresh = clone(learner).fit(X, y)
    np.testing.assert_array_equal(learner.fit(X, y).predict(X), fresh.predict(X))
    assert vars(learner).keys() == vars(fresh).keys()


def test_a_new_label_comes_alone_or_not_at_all(monkeypatch):
    # Values that are far off are learnt as less far ones, and do no harm: here they are not.
    monkeypatch.setattr(core_experts, "REACH", np.inf)
    X, y, _ = drifting(400, classes=3)
    learner = StreamClassifier(time_budget=12.0, random_state=0)
    learner.partial_fit(X[y < 2], y[y < 2])
    before, model = learner.decision_function(X), learner._model
    with pytest.raises(FloatingPointError):
        learner.partial_fit(np.array([[1e200] * 4, [-1e200] * 4]), [2, 1])
    np.testing.assert_array_equal(learner.classes_, [0, 1])
    np.testing.assert_array_equal(learner.decision_function(X), before)
    assert learner._model is model
    learner.learn_one(X[y == 2][0], 2)
    np.testing.assert_array_equal(learner.classes_, [0, 1, 2])
    assert learner.decision_function(X).shape == (400, 3)


def test_names_of_features_stay_with_a_stream_that_begins_with_one_class():
    pd = pytest.importorskip("pandas")
    X, y, _ = drifting(300, classes=3)
    X, labels = pd.DataFrame(X, columns=list("wxyz")), np.array(["a", "b", "c"])[y]
    learner = StreamClassifier(time_budget=12.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for first in range(0, 300, 10):
            learner.partial_fit(X[first : first + 10], labels[first : first + 10])
        learner.predict(X)
        learner.learn_one(X.to_numpy()[0], "d")  # one sample has no names
        learner.learn_one(X.to_numpy()[1], "a")
    np.testing.assert_array_equal(learner.feature_names_in_, list("wxyz"))
    with pytest.raises(ValueError, match="feature names"):
        learner.predict(X[list("xwyz")])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("task", ["binary", "classes", "regression"])
def test_rows_one_by_one_give_what_blocks_give(task, dtype, sparse):
    X, y, f = drifting(1400)
    X = (sp.csr_matrix(X) if sparse else X).astype(dtype)
    target = {"binary": (y > 0).astype(int), "classes": y, "regression": f}[task]
    model = StreamRegressor if task == "regression" else StreamClassifier
    known = {} if task == "regression" else {"classes": np.unique(target)}
    weight = np.random.default_rng(0).integers(0, 3, 1400) / 2
    block = model(time_budget=20.0, random_state=0)
    block.partial_fit(X[:900], target[:900], sample_weight=weight[:900], **known)
    single = copy.deepcopy(block)
    block.partial_fit(X[900:], target[900:], sample_weight=weight[900:])
    rows = list(X) if not sparse else [X[i] for i in range(1400)]
    for i in range(900, 1400):
        if i % 3:
            single.learn_one(rows[i], target[i], sample_weight=weight[i])
        else:
            single.partial_fit(X[i : i + 1], target[i : i + 1], sample_weight=weight[i : i + 1])
    same_model(single, block, X)
    if known:
        assert single.n_mistakes_ == block.n_mistakes_
    score = single.predict if task == "regression" else single.decision_function
    expected = score(X[:50])
    for i in range(50):
        np.testing.assert_array_equal(single.score_one(rows[i]), expected[i])
        np.testing.assert_array_equal(score(X[i : i + 1])[0], expected[i])


@pytest.mark.parametrize("model", [StreamClassifier, StreamRegressor])
def test_a_row_that_fails_changes_nothing(model):
    X, y, f = drifting(1200)
    target = f if model is StreamRegressor else y
    learner = model(time_budget=20.0, random_state=0).partial_fit(X, target)
    before = pickle.dumps(learner)
    for x, label in ((np.full(X.shape[1], np.nan), target[0]), (np.full(X.shape[1], 1e308), 1)):
        with pytest.raises((ValueError, FloatingPointError)):
            learner.learn_one(x, label)
    with pytest.raises(ValueError, match="sample_weight"):
        learner.learn_one(X[0], target[0], sample_weight=-1.0)
    assert pickle.dumps(learner) == before
    learner._model.learn_one(X[3], float(np.searchsorted(np.unique(target), target[3])))
    learner._model.undo()
    assert learner.n_seen_ == 1200
    same_model(learner, pickle.loads(before), X)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_of_hundreds_of_features_have_a_forest(task):
    def forests(d, is_sparse=False):
        experts = ladder(task, d, 1, is_sparse, 100.0, 64e6)
        assert sum(one.n_bytes(d, 1, is_sparse) for one in experts) <= 64e6
        return [one for one in experts if one.is_raw]

    for d in (200, 500, 1000):
        found = forests(d)
        assert {one.estimator.teacher for one in found} == {"light"}
        assert found[0].estimator.n_trees >= 10
        assert found[0].cost <= 85
        # A second forest has a teacher of its own.
        assert len(found) == (2 if d == 200 else 1)
        assert sum(one.cost for one in found) <= 100
    assert {one.estimator.teacher for one in forests(128)} == {"full"}
    assert forests(3000) == forests(1000, is_sparse=True) == []


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_race_knows_which_experts_call_blas(task):
    """`next_calls_blas` asks forests and least squares alone."""
    # No metric is made anew after sample 1,280.
    X, y, f = drifting(1300)
    learner = (StreamRegressor if task == "regression" else StreamClassifier)(random_state=0)
    learner.partial_fit(X, f if task == "regression" else y)
    options = itertools.product((5.0, 20.0, 100.0), (1e6, 64e6), (2, 200))
    experts = [ladder(task, d, 2, False, time, memory) for time, memory, d in options]
    asked = {
        type(one.estimator).__name__
        for one in itertools.chain(*experts)
        if one.estimator._calls_blas
    }
    ends = "Regressor" if task == "regression" else "Classifier"
    assert asked == {f"KernelRLS{ends}", f"KernelForest{ends}"}
    found = []
    for i in range(300):
        races = [learner._model, learner._model.rival]
        spaces = [expert.space for race in races if race for expert in race.experts]
        blocks = [space.block for space in spaces if isinstance(space, LeastSquaresSpace)]
        squares = any(block.count + 1 >= block.block_length for block in blocks)
        squares |= any(space.is_due() for space in spaces if hasattr(space, "is_due"))
        forests = any(space.is_looking() for space in spaces if isinstance(space, ForestSpace))
        assert learner._next_calls_blas() == (squares or forests)
        found.append(squares)
        learner.learn_one(X[i], f[i] if task == "regression" else y[i])
    assert 0 < np.mean(found) < 0.5


@pytest.mark.parametrize("leader", ["kernel least squares, gamma 1/d", "kernel forest"])
def test_a_forest_of_wide_rows_leaves_room_for_a_kernel(leader):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1024, 256)), rng.integers(10, size=1024)
    model = StreamClassifier().partial_fit(X, y, classes=np.arange(10))
    race, both = model._model, ("kernel least squares, gamma 1/d", "kernel forest")
    state, names = race.vote.get_state(), [one.name for one in model.report().experts]
    for k, name in enumerate(names):
        # The better one comes first, and all others are far behind.
        state["losses"][k] = 40 + 2 * (name != leader) if name in both else 600
    race.vote.set_state(state)
    race._choose()
    assert set(both) <= {one.name for one in model.report().experts if one.awake}


@pytest.mark.parametrize(
    ("d", "n_outputs", "landmarks", "n_trees"),
    [
        (150, 30, 100, 77),
        (200, 1, 300, 80),
        (256, 10, 200, 78),
        (500, 1, 100, 76),
        # Where no kernel leaves the forest nine tenths of its trees, one of both has to sleep.
        (400, 20, 200, 56),
        (1000, 1, 100, 24),
    ],
)
def test_landmarks_give_way_to_trees_of_wide_rows(d, n_outputs, landmarks, n_trees):
    kernel, *_, forest = [
        one
        for one in ladder("classification", d, n_outputs, False, 100.0, 64 * 2**20)
        if one.name in ("kernel least squares, gamma 1/d", "kernel forest")
    ]
    assert kernel.estimator.n_components == landmarks
    assert forest.estimator.n_trees == n_trees


def test_wide_targets_have_linear_least_squares():
    def linear(d):
        found = ladder("regression", d, 1, False, 100.0, 64 * 2**20)
        return [one.cost for one in found if one.name == "linear least squares"]

    assert linear(500) < linear(700) != []
    assert linear(700)[0] < 65
    assert linear(1000) == []
    X = np.random.default_rng(0).standard_normal((1200, 600))
    y = X[:, :30].sum(axis=1)
    model = StreamRegressor().partial_fit(X[:1000], y[:1000])
    assert np.std(model.predict(X[1000:]) - y[1000:]) < 0.25 * np.std(y)


@pytest.mark.parametrize("d", [300, 2**18])
def test_targets_of_sparse_rows_have_passive_aggressive_steps(d, tmp_path):
    rng = np.random.default_rng(0)
    # Few columns are frequent: their variances shrink before the others have been seen.
    places = rng.zipf(1.3, (3000, 20)) % 250
    start = np.arange(0, places.size + 1, 20)
    X = sp.csr_matrix((np.ones(places.size), places.ravel(), start), shape=(3000, d))
    X.sum_duplicates()
    y = X[:, :250] @ rng.standard_normal(250)
    model = StreamRegressor().partial_fit(X[:1500], y[:1500])
    names = [one.name for one in model.report().experts]
    assert "linear PA-I" in names
    model.save(tmp_path / "race.okn")
    loaded = load(tmp_path / "race.okn").partial_fit(X[1500:2500], y[1500:2500])
    model.partial_fit(X[1500:1800], y[1500:1800]).partial_fit(X[1800:2500], y[1800:2500])
    told = model.predict(X[2500:])
    np.testing.assert_array_equal(loaded.predict(X[2500:]), told)
    assert np.std(told - y[2500:]) < 0.3 * np.std(y)


@pytest.mark.parametrize(
    ("race", "version", "later"),
    [
        (StreamRegressor, 3, ["linear PA-I"]),
        (StreamClassifier, 1, ["linear logistic regression"]),
        (StreamClassifier, 2, ["linear AROW"]),
        (StreamClassifier, 3, ["linear AROW", "linear gradient descent"]),
    ],
)
def test_races_of_former_versions_have_their_report(
    race, version, later, monkeypatch, tmp_path, capsys
):
    known = {}
    X = sp.random(200, 300, 0.05, format="csr", random_state=0)
    y = np.asarray(X.sum(axis=1)).ravel()
    if race is StreamClassifier:
        X, y, _ = drifting(400, classes=24 if version == 1 else 2)
        known = {"classes": np.unique(y)}
    time = 15.0 if race is StreamRegressor else 100.0
    with monkeypatch.context() as former:
        former.setattr(stream, "ladder", lambda *given: [*former_versions(ladder(*given))][version])
        model = race(time_budget=time).partial_fit(X, y, **known)
        names = [one.name for one in model.report().experts]
    again = race(time_budget=time).partial_fit(X, y, **known)
    today = [one.name for one in again.report().experts]
    assert sorted(today) == sorted([*names, *later])
    assert [one.name for one in model.report().experts] == names
    # Of other experts, though as many, nothing tells which they are.
    monkeypatch.setattr(stream, "ladder", lambda *given: ladder(*given)[: len(names)][::-1])
    with pytest.raises(ValueError, match="but has no report"):
        model.report()
    model.save(tmp_path / "race.okn")
    assert "but has no report" in run(capsys, "info", tmp_path / "race.okn")[1]
    assert "Experts of the race" not in report_html(model)


def leave_out(monkeypatch, name):
    """Let races that begin have no expert of this name."""

    def without(*given):
        return [one for one in ladder(*given) if one.name != name]

    monkeypatch.setattr(stream, "ladder", without)


def test_linear_arow_knows_classes_between_others(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    scores = 2 * X @ rng.normal(size=(20, 10)) + rng.gumbel(size=(3000, 10))
    y = scores.argmax(axis=1)

    def mistakes():
        told = StreamClassifier(random_state=0).partial_fit_predict(X, y, classes=range(10))
        return np.mean(told[1000:] != y[1000:])

    now = mistakes()
    leave_out(monkeypatch, "linear AROW")
    assert now < 0.95 * mistakes()


@pytest.mark.parametrize("race", [StreamRegressor, StreamClassifier])
def test_linear_descent_follows_a_plane_that_moves(race, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    weights = rng.normal(size=10) + np.cumsum(rng.normal(size=X.shape) * 0.03, axis=0)
    y = (X * weights).sum(axis=1) + rng.normal(size=len(X))
    if race is StreamClassifier:
        X, y = Hyperplane(n_drift_features=2, speed=0.01, random_state=0).take(3000)

    def error():
        told = race(random_state=0).partial_fit_predict(X, y)
        return np.mean((told - y)[1000:] ** 2)

    now = error()
    leave_out(monkeypatch, "linear gradient descent")
    assert now < 0.95 * error()


def test_exact_trees_find_where_targets_jump(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    places = np.searchsorted(np.sort(rng.normal(size=30)), X[:, 0])
    y = rng.normal(size=31)[places] + 0.1 * rng.normal(size=len(X))

    def error():
        found = StreamRegressor(random_state=0).partial_fit_predict(X, y)
        return np.mean((found - y)[2000:] ** 2)

    # Random cuts follow the feature that gains, so that they err less than they did, too.
    now = error()
    main, *others = FORESTS["regression"]
    random_cuts = replace(main, parameters={**main.parameters, "exact": 0.0})
    monkeypatch.setitem(FORESTS, "regression", (random_cuts, *others))
    assert now < 0.7 * error()


def test_memory_chooses_the_linear_experts_of_slots():
    def names(megabytes):
        found = ladder("regression", 2**20 + 2, 1, True, 100.0, megabytes * 2**20)
        return [one.name for one in found]

    assert names(40) == ["linear AROW, noisy"]
    assert names(64) == ["linear AROW, noisy", "linear PA-I"]
    assert names(100) == ["linear AROW, noisy", "linear PA-I", "linear AROW"]


def test_targets_may_be_linear_far_out():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(3000, 4)))
    y = X @ [1.0, 2.0, 3.0, -1.0] + 0.5 * rng.normal(size=3000)
    race = StreamRegressor(time_budget=10, random_state=0).fit(X[:2000], y[:2000])
    error = np.std(race.predict(X[2000:]) - y[2000:]) / np.std(y[2000:])
    assert error < 0.25
    assert race.report().clip == 20.0
    plain = race.report().estimator()
    assert plain.steps[0][1].clip == 20.0
    rows = sp.csr_matrix(X[:200])
    assert StreamRegressor(random_state=0).fit(rows, y[:200]).report().clip == 5.0
    assert StreamClassifier(random_state=0).fit(X[:200], y[:200] > 9).report().clip == 5.0
