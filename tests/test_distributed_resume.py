"""A run on a cluster whose client is killed: what is left is learnt, each part once."""

import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from spread import noted_part_of

from onlinekern import KernelRLSClassifier, PAClassifier, distributed

pytest.importorskip("distributed", reason="distributed is not installed")
from distributed import Client

N, CHUNK = 2400, 150
KILLED = """
import sys
sys.path[:0] = {paths!r}
import test_distributed_resume as tests
tests.killed({folder!r})
"""


def learnt(client, folder, learner=None, **options):
    """Four rounds over sixteen parts, each of which is noted when it is read."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
    parts = [partial(noted_part_of, X, y, k, CHUNK, folder) for k in range(0, N, CHUNK)]
    options = {
        "rounds": 4, "n_learners": 2, "classes": ["no", "yes"], "progress": False,
        "checkpoint": os.path.join(folder, "model.okn"), **options,
    }  # fmt: skip
    learner = learner or KernelRLSClassifier(n_components=20, random_state=0)
    return distributed.fit(learner, parts, client=client, **options), X


def read_of(folder):
    """The parts that were read."""
    with open(os.path.join(folder, "read"), encoding="utf-8") as file:
        return [int(line) // CHUNK for line in file]


def killed(folder):
    """Learn until a part of round 3 is learnt; then the process is killed, with its workers."""

    def kill(done, total, text):
        if text == "round 3" and done == 9:
            os.kill(os.getpid(), signal.SIGKILL)

    with Client(processes=False, n_workers=2, dashboard_address=":0") as client:
        learnt(client, folder, progress=kill)


def test_resume_in_mid_pass(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir()
    cut.mkdir()
    code = KILLED.format(paths=sys.path, folder=str(cut))
    done = subprocess.run([sys.executable, "-c", code], check=False, stderr=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGKILL
    assert set(range(9)) <= set(read_of(cut))
    os.remove(cut / "read")
    with Client(processes=False, n_workers=2, dashboard_address=":0") as client:
        wanted, X = learnt(client, str(whole), resume=True)  # no file yet: it begins
        seen = []
        fitted, _ = learnt(
            client, str(cut), resume=True, n_learners=None, progress=lambda *now: seen.append(now)
        )
        # What rounds 1 and 2 have learnt is not read again; what is left is learnt once.
        assert sorted(read_of(cut)) == list(range(9, 16))
        assert (seen[0][0], seen[-1][0]) == (9, 16)
        scores = wanted.model.decision_function(X)
        np.testing.assert_array_equal(fitted.model.decision_function(X), scores)
        assert fitted.model.n_seen_ == fitted.samples == wanted.samples == N
        figures = [[(one.number, one.samples, one.mistakes, one.by_learner) for one in run.rounds]
                   for run in (fitted, wanted)]  # fmt: skip
        assert figures[0] == figures[1]
        os.remove(cut / "read")
        again, _ = learnt(client, str(cut), resume=True)  # all is learnt
        assert not (cut / "read").exists()
        np.testing.assert_array_equal(again.model.decision_function(X), scores)
        refused(client, str(cut), tmp_path / "plain.okn", fitted.model)


def refused(client, folder, plain, model):
    """Other runs are not mixed with that of the checkpoint."""
    with pytest.raises(ValueError, match="a run with rounds 4, this one has 2"):
        learnt(client, folder, resume=True, rounds=2)
    with pytest.raises(ValueError, match="a run with estimator 'KernelRLSClassifier', this one"):
        learnt(client, folder, PAClassifier(), resume=True)
    model.save(plain)
    with pytest.raises(ValueError, match="not of a run on a cluster"):
        learnt(client, folder, resume=True, checkpoint=plain)
    with pytest.raises(ValueError, match="checkpoint must be given where resume is True"):
        learnt(client, folder, resume=True, checkpoint=None)
