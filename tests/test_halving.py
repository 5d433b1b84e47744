"""Successive halving: the best one wins, for three runs at most, whatever is known already."""

import itertools
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

import onlinekern
from onlinekern.evaluate import compare, search
from onlinekern.evaluate.halving import LEAST_SAMPLES, cost, halve, plan_rungs
from onlinekern.evaluate.methods import METHODS, Method
from onlinekern.evaluate.search import (
    ORDERS,
    Candidate,
    Problem,
    choose_parameters,
    count_samples,
)
from onlinekern.streams import Source, gaussian_mixture

N_HEAD = 5000


def ran(errors, n_samples=N_HEAD):
    """Halve candidates 0, 1, ... whose errors are given; return the winner and who learnt how much.

    An error is a number, an exception, or a function of the samples.
    """
    learnt, ticks = {}, []

    def start(value):
        def error(stop, orders):
            learnt[value] = stop * orders
            found = errors[value](stop) if callable(errors[value]) else errors[value]
            if isinstance(found, Exception):
                raise found
            return found

        return error

    rungs = plan_rungs(len(errors), n_samples, ORDERS)
    winner = halve(range(len(errors)), start, rungs, ticks.append)
    assert sum(ticks) == cost(rungs)
    return winner, learnt


@pytest.mark.parametrize("n_candidates", range(1, 13))
def test_the_best_wins_wherever_it_stands(n_candidates):
    errors = np.linspace(0.2, 0.3, n_candidates).tolist()
    for shift in range(n_candidates):
        winner, _ = ran(np.roll(errors, shift).tolist())
        assert winner == shift


@pytest.mark.parametrize("n_candidates", range(1, 13))
@pytest.mark.parametrize("n_samples", [N_HEAD, 4999, 20_000, 4000])
def test_twelve_cost_no_more_than_three(n_candidates, n_samples):
    rungs = plan_rungs(n_candidates, n_samples, ORDERS)
    _, learnt = ran(np.arange(float(n_candidates)).tolist(), n_samples)
    one = ORDERS * n_samples
    assert sum(learnt.values()) == cost(rungs) <= 2.01 * one
    assert rungs[0].n_candidates == n_candidates
    assert rungs[0].stop >= LEAST_SAMPLES
    assert rungs[-1].stop == n_samples
    for before, after in itertools.pairwise(rungs):
        assert after.stop // 2 == before.stop  # what is measured was not learnt before
        assert after.n_candidates < before.n_candidates


def test_rungs():
    def plain(*arguments):
        return [(rung.n_candidates, rung.stop, rung.orders) for rung in plan_rungs(*arguments)]

    assert plain(12, N_HEAD, 3) == [(12, 625, 1), (6, 1250, 1), (3, 2500, 1), (2, 5000, 2)]
    assert plain(7, N_HEAD, 1) == [(7, 1250, 1), (4, 2500, 1), (2, 5000, 1)]
    assert plain(2, N_HEAD, 3) == [(2, 5000, 3)]
    assert plain(12, 999, 3) == [(12, 999, 3)]
    assert plain(12, 1999, 3) == [(12, 999, 1), (6, 1999, 2)]
    for n_samples in range(LEAST_SAMPLES, 9000, 7):
        assert plan_rungs(24, n_samples, 3)[0].stop >= LEAST_SAMPLES


def test_in_a_tie_the_value_named_first_wins():
    assert ran([0.3] * 12)[0] == 0
    assert ran([0.3, *[0.2] * 11])[0] == 1


def test_who_diverges_drops_out():
    failure = FloatingPointError("diverged")
    assert ran([failure, np.inf, 0.5, 0.5])[0] == 2
    winner, learnt = ran([failure] * 11 + [0.5])
    assert winner == 11
    assert learnt[0] == 625
    assert ran([np.inf] * 4)[0] == 0


@pytest.mark.parametrize("when", [1000, 2000, 4000])
def test_who_comes_next_takes_the_place_of_leaders_that_diverge(when):
    def leader(stop):
        return 0.1 if stop < when else FloatingPointError("diverged")

    winner, _ = ran([leader, *[0.5] * 5, 0.4, *[0.5] * 4, leader])
    assert winner == 6


def test_if_all_fail_the_last_failure_is_raised():
    failures = [FloatingPointError(str(i)) for i in range(12)]
    with pytest.raises(FloatingPointError, match="11"):
        ran(failures)
    with pytest.raises(ValueError, match="no candidates"):
        halve([], lambda value: lambda stop, orders: 0.0, [], lambda samples: None)
    with pytest.raises(ZeroDivisionError):
        ran([ZeroDivisionError()])
    with pytest.raises(KeyError):  # an error of the program
        ran([0.5, 0.5, KeyError("x")])


class Counts(BaseEstimator):
    """Is wrong in one sample of `every`, and counts what all of its kind have learnt."""

    learnt = 0

    def __init__(self, every=10, random_state=None):
        self.every, self.random_state = every, random_state

    def partial_fit_predict(self, X, y, classes=None):
        Counts.learnt += len(y)
        return np.where(X[:, 0] % self.every == 0, -y, y)


@pytest.fixture
def counted(monkeypatch):
    """A method whose sixth setting of twelve is the best."""
    monkeypatch.setattr(onlinekern, "CountsClassifier", Counts, raising=False)
    monkeypatch.setattr(onlinekern, "__all__", [*onlinekern.__all__, "CountsClassifier"])
    monkeypatch.setattr(Counts, "learnt", 0)
    every = (2, 3, 4, 5, 6, 13, 12, 11, 10, 9, 8, 7)
    return Method("counts", "Counts", "Counts", grid={"every": every})


def numbered(n_samples):
    y = np.where(np.arange(n_samples) % 3 == 0, 1, -1)
    return Problem(np.arange(float(n_samples))[:, None], y, np.array([-1, 1]), 9999, "linear", 0)


def test_a_search_over_twelve_settings_learns_what_three_runs_learn(counted):
    problem, given, ticks = numbered(N_HEAD), {"counts": {}}, []
    chosen = choose_parameters([counted], problem, given, 1.0, ticks.append)
    assert chosen["counts"]["every"].value == 13
    one = ORDERS * N_HEAD
    assert 1.9 * one < Counts.learnt <= 3 * one
    assert sum(ticks) == Counts.learnt
    assert Counts.learnt == count_samples(
        [counted], "classification", given, None, "linear", N_HEAD
    )


@pytest.mark.parametrize(("keep", "length"), [(True, 2000), (True, 30_000), (False, 2000)])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
def test_errors_are_those_to_be_expected_of_the_stream(keep, length, as_rows):
    """The first half of what was learnt is told, and the second half tells all others."""
    X, y = gaussian_mixture(2000, random_state=0)
    problem = Problem(as_rows(X), y, np.unique(y), length, "gaussian", 3)
    candidate = Candidate(problem, METHODS["ogd"], {"gamma": 0.4, "eta": 0.1}, keep)
    for stop, orders in ((500, 1), (1000, 1), (2000, 3)):
        expected = []
        for k in range(orders):
            order = np.random.default_rng([3, k]).permutation(2000) if k else np.arange(2000)
            model = METHODS["ogd"].build("classification", {"gamma": 0.4, "eta": 0.1})
            rows = order[:stop]
            wrong = model.partial_fit_predict(as_rows(X)[rows], y[rows], classes=[-1, 1]) != y[rows]
            half = stop // 2
            mistakes = wrong[:half].sum() + wrong[half:].mean() * (length - half)
            expected.append(mistakes / length)
        assert candidate.error(stop, orders) == pytest.approx(np.mean(expected), abs=1e-15)


def test_who_diverges_and_comes_back_is_out():
    """Whether it was watched from the start, or its earlier errors were known."""
    y = np.r_[1e15, np.ones(1999)]
    problem = Problem(np.zeros((2000, 1)), y, None, 2000, "linear", 0, shuffle=False)
    method, given = METHODS["linear-ogd"], {"eta": 1e-9}
    candidate = Candidate(problem, method, given)
    assert [candidate.error(stop, 1) for stop in (1000, 2000)] == [np.inf, np.inf]
    problem.trials.popitem()
    assert Candidate(problem, method, given).error(2000, 1) == np.inf
    problem.y[0] = 1.0
    problem.trials.clear()
    assert Candidate(problem, method, given).error(2000, 1) < 2


def test_models_that_have_no_room_together_learn_anew(monkeypatch):
    problem = Problem(*gaussian_mixture(3000, random_state=0), np.array([-1, 1]), 3000, "linear", 0)
    method, given = METHODS["linear-ogd"], {"linear-ogd": {}}
    learnt = []
    feed = search.Run.feed
    monkeypatch.setattr(
        search.Run, "feed", lambda run, X, y: (learnt.append(len(y)), feed(run, X, y))[1]
    )
    kept = choose_parameters([method], problem, given)
    samples = sum(learnt)
    assert samples == count_samples([method], "classification", given, None, "linear", 3000)
    monkeypatch.setattr(search, "KEPT_BYTES", 1)
    errors = dict(problem.trials)
    problem.trials.clear()
    assert choose_parameters([method], problem, given) == kept
    assert problem.trials == errors
    assert samples < sum(learnt) - samples < 2 * samples


def test_the_same_seed_chooses_the_same_with_any_errors_known():
    X, y = gaussian_mixture(2000, random_state=0)
    source = Source.from_arrays(X, y)
    told = []
    first, again = (
        compare("ogd", source, repeats=1, seed=4, progress=lambda *done: told.append(done[:2]))
        for _ in range(2)
    )
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)
    assert first.methods[0].parameters == again.methods[0].parameters
    head, targets = source.head(search.HEAD_SAMPLES, [4, 0])
    problem = Problem(head, targets, source.classes, 2000, "gaussian", 4)
    chosen = choose_parameters([METHODS["ogd"]], problem, {"ogd": {}})
    assert chosen["ogd"] == first.methods[0].parameters
    errors = dict(problem.trials)
    assert {tuple(json.loads(trial)[-2:]) for trial in errors} == {
        (1, 500), (1, 1000), (1, 2000), (2, 2000),
    }  # fmt: skip
    for forgotten in range(5):
        problem.trials.clear()
        problem.trials.update(list(errors.items())[forgotten % 2 :: forgotten // 2 + 1])
        assert choose_parameters([METHODS["ogd"]], problem, {"ogd": {}}) == chosen
        assert problem.trials == errors
