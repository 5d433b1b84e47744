"""Rounds of bounded staleness: which model a round begins with, and what does not wait for what."""

import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from oracles.stale_rounds import stale_rounds
from spread import killing, part_of, part_that_waits, part_to_die_for, read_of

from onlinekern import (
    FOGDClassifier,
    KernelRLSClassifier,
    KernelRLSRegressor,
    PAClassifier,
    SPAClassifier,
    distributed,
    merge,
)
from onlinekern.distributed.mixing import rounds
from onlinekern.distributed.tasks import State

pytest.importorskip("distributed", reason="distributed is not installed")
from distributed import Client, LocalCluster

N, CHUNK, ROUNDS = 2400, 100, 6
FIRSTS = range(0, N, CHUNK)
KILLED = """
import sys
sys.path[:0] = {paths!r}
import test_distributed_staleness as tests
tests.killed({file!r})
"""


@pytest.fixture(scope="module")
def samples():
    X = np.random.default_rng(0).normal(size=(N, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, 0)


def least_squares():
    return KernelRLSClassifier(n_components=20, gate="always", random_state=0)


def learnt(client, samples, learner=None, read=part_of, **options):
    """Six rounds of four parts."""
    X, y = samples
    options = {"rounds": ROUNDS, "n_learners": 2, "staleness": 1, "progress": False, **options}
    parts = [partial(read, X, y, first, CHUNK) for first in FIRSTS]
    if hasattr(learner or least_squares(), "predict_proba"):
        options.setdefault("classes", [0, 1])
    return distributed.fit(learner or least_squares(), parts, client=client, **options)


def same(fitted, wanted, X):
    """Assert that two runs have made the same model, bit for bit, and the same record."""
    scores = wanted.model.decision_function(X)
    np.testing.assert_array_equal(fitted.model.decision_function(X), scores)
    found, known = ([(one.number, one.samples, one.mistakes, one.by_learner) for one in run.rounds]
                    for run in (fitted, wanted))  # fmt: skip
    assert found == known


@pytest.mark.parametrize("staleness", [0, 1, 2, 9])
def test_the_model_with_which_a_round_begins(staleness):
    """A model is named after its round; what is sent and merged is noted."""
    noted, n_rounds = [], 5

    def send(number, learner, shares):
        noted.append(("send", number, learner.data))
        return shares

    def merge(number, sent, known):
        noted.append(("merge", number, known and (known.data, known.known)))
        assert sent == f"shares {number}"
        return State(f"model {number}".encode())

    parts = [(number, f"shares {number}") for number in range(1, n_rounds + 1)]
    begun = [State(b"model 0")] * (staleness + 1)
    found = list(rounds(parts, begun, send, merge))
    assert [number for number, _ in found] == [1, 2, 3, 4, 5]
    for number in range(1, n_rounds + 1):
        base = max(0, number - 1 - staleness)
        assert ("send", number, f"model {base}".encode()) in noted
        known = (f"model {number - 1}".encode(), True) if base < number - 1 else None
        place = noted.index(("merge", number, known))
        sent = [kind for kind, *_ in noted[:place]].count("send")
        # So many rounds are on their way when the oldest is merged.
        assert sent == min(n_rounds, number + staleness)


@pytest.mark.parametrize("staleness", [0, 1, 3])
@pytest.mark.parametrize(
    "learner",
    [
        PAClassifier(C=0.1, average=True),
        FOGDClassifier(n_components=20, gamma=0.3, random_state=0),
        SPAClassifier(max_support=50, gamma=0.3, random_state=0),
        least_squares(),
        KernelRLSRegressor(n_components=20, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_the_twin(client, samples, learner, staleness):
    X, y = samples
    y = y.astype(float) if isinstance(learner, KernelRLSRegressor) else y
    classes = [] if isinstance(learner, KernelRLSRegressor) else [[0, 1]]
    begun = learner.__class__(**learner.get_params()).partial_fit(X[:500], y[:500], *classes)
    parts = [(X[first : first + CHUNK], y[first : first + CHUNK]) for first in FIRSTS]
    wanted = stale_rounds(begun, parts, 2, ROUNDS, staleness, merge)[-1]
    fitted = learnt(client, (X, y), begun, warm_start=True, staleness=staleness, classes=None)
    method = "decision_function" if classes else "predict"
    np.testing.assert_array_equal(getattr(fitted.model, method)(X), getattr(wanted, method)(X))
    assert fitted.model.n_seen_ == N + 500
    assert fitted.samples == N
    assert [one.samples for one in fitted.rounds] == [400] * ROUNDS
    assert all(len(one.by_learner) == 2 for one in fitted.rounds)


@pytest.mark.parametrize("n_learners", [1, 2, 3])
def test_least_squares_are_those_of_one_learner(client, samples, n_learners):
    X, _ = samples
    one = learnt(client, samples, staleness=0, n_learners=1, rounds=1).model
    for staleness in (1, 4):
        model = learnt(client, samples, staleness=staleness, n_learners=n_learners).model
        scores = model.decision_function(X)
        np.testing.assert_allclose(scores, one.decision_function(X), atol=1e-9)


def test_more_passes(client, samples):
    fitted = learnt(client, samples, passes=2, staleness=2)
    assert fitted.samples == fitted.model.n_seen_ == 2 * N
    assert [one.number for one in fitted.rounds] == list(range(2 * ROUNDS + 1))


@pytest.mark.parametrize("staleness", [1, 2])
def test_a_slow_part_holds_nobody_until_the_bound(client, samples, tmp_path, staleness):
    """The first part of the second learner waits until all rounds that may begin are read."""
    last = 4 * (1 + staleness)  # of the parts of these rounds
    of_slow = {1, 3}  # what its learner learns in the first round
    awaited = [CHUNK * k for k in range(last) if k not in of_slow]
    read = partial(part_that_waits, slow=CHUNK, awaited=awaited, folder=tmp_path)
    begun = least_squares().partial_fit(*samples, classes=[0, 1])
    options = {"staleness": staleness, "warm_start": True, "classes": None}
    fitted = learnt(client, samples, begun, read, **options)
    then = {first // CHUNK for first in map(int, (tmp_path / "then").read_text().split())}
    # No round has begun whose model is not there.
    assert then == set(range(last)) - {3}
    assert sorted(set(read_of(tmp_path))) == list(FIRSTS)
    same(fitted, learnt(client, samples, begun, **options), samples[0])


def test_a_worker_that_is_killed(client, samples, tmp_path):
    read = partial(part_to_die_for, victim=9 * CHUNK, marks=tmp_path)
    options = {"processes": True, "dashboard_address": ":0"}
    with (
        killing(tmp_path),
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as own,
    ):
        fitted = learnt(own, samples, PAClassifier(C=0.1), read)
    same(fitted, learnt(client, samples, PAClassifier(C=0.1)), samples[0])


def test_an_error_in_a_later_round(client, samples):
    X, y = samples
    bad = X.copy()
    bad[9 * CHUNK, 1] = np.nan  # of round 3
    with pytest.raises(ValueError, match="reader 9 of X, row 0: column 1 is missing or NaN"):
        learnt(client, (bad, y), staleness=2)
    fitted = learnt(client, (bad, y), staleness=2, on_error="skip")
    assert fitted.skipped == {"reader 9 of X": 1}
    assert fitted.samples == N - 1


def killed(file):
    """Learn until round 4 has begun and round 2 is merged; then the process is killed."""

    def kill(done, total, text):
        if done == 15:
            os.kill(os.getpid(), signal.SIGKILL)

    X = np.random.default_rng(0).normal(size=(N, 3))
    samples = X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, 0)
    with Client(processes=False, n_workers=2, dashboard_address=":0") as client:
        learnt(client, samples, PAClassifier(C=0.1), checkpoint=file, progress=kill, staleness=2)


def test_resume(client, samples, tmp_path):
    file, begun = tmp_path / "model.okn", []
    code = KILLED.format(paths=sys.path, file=str(file))
    done = subprocess.run([sys.executable, "-c", code], check=False, stderr=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGKILL
    options = {"learner": PAClassifier(C=0.1), "staleness": 2}
    wanted = learnt(client, samples, **options)
    again = {**options, "checkpoint": file, "resume": True}
    fitted = learnt(client, samples, progress=lambda *said: begun.append(said), **again)
    assert begun[0][0] >= 4  # parts that were learnt before
    same(fitted, wanted, samples[0])
    same(learnt(client, samples, **again), wanted, samples[0])  # all is learnt
    with pytest.raises(ValueError, match="a run with staleness 2, this one has 0"):
        learnt(client, samples, **{**again, "staleness": 0})


@pytest.mark.parametrize("staleness", [-1, 0.5, True, None, "1"])
def test_bad_staleness(client, samples, staleness):
    with pytest.raises(ValueError, match="staleness must be an integer of at least 0, got"):
        learnt(client, samples, staleness=staleness)
