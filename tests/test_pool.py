"""Threads that stand ready, and rows that several of them score in place."""

import _thread
import os
import signal
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from interpreters import python
from scipy import sparse

import onlinekern as ok
from onlinekern.core.base import pool
from onlinekern.core.base.pool import run_together
from onlinekern.estimators import contract


@pytest.mark.parametrize("n_threads", [1, 2, 3, 10])
def test_results_are_in_order(n_threads):
    def slow_at_first(item):
        time.sleep(0.003 * (5 - item))
        return item * item

    assert run_together(slow_at_first, range(5), n_threads) == [0, 1, 4, 9, 16]
    assert run_together(slow_at_first, [], n_threads) == []


def test_items_run_at_once_in_threads_that_stay():
    barrier = threading.Barrier(3, timeout=20)

    def meet(_):
        barrier.wait()
        return threading.get_ident()

    threads = [set(run_together(meet, range(3), 3)) for _ in range(3)]
    assert all(len(found) == 3 and threading.get_ident() in found for found in threads)
    before = threading.active_count()
    run_together(meet, range(3), 3)
    assert threading.active_count() == before


def test_one_thread_is_the_callers():
    assert set(run_together(lambda _: threading.get_ident(), range(4), 1)) == {
        threading.get_ident()
    }


def test_the_first_error_lets_no_other_item_begin():
    begun, failed = [], threading.Event()

    def fail(item):
        begun.append(item)
        if item == 1:
            failed.set()
            raise KeyError(item)
        # The other thread has an item in hand until the error is known.
        assert failed.wait(20)
        time.sleep(0.05)

    with pytest.raises(KeyError, match="1"):
        run_together(fail, range(50), 2)
    assert sorted(begun) == [0, 1]


def test_a_call_within_a_call_does_not_wait_for_ever(monkeypatch):
    with ThreadPoolExecutor(1) as one:
        monkeypatch.setattr(pool, "_standing", one)

        def inner(item):
            return sum(run_together(lambda other: item * other, range(4), 4))

        assert run_together(inner, range(6), 4) == [0, 6, 12, 18, 24, 30]


def test_ctrl_c_waits_for_what_was_begun():
    done, begun = [], threading.Barrier(2, timeout=20)

    def interrupt(item):
        begun.wait()
        if threading.current_thread() is threading.main_thread():
            for _ in range(2000):
                time.sleep(0.01)
        _thread.interrupt_main()
        time.sleep(0.2)
        done.append(item)

    # Python does not heed the signal where the process began with it ignored, as in the background.
    heeded = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_together(interrupt, range(2), 2)
    finally:
        signal.signal(signal.SIGINT, heeded)
    assert len(done) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_child_of_a_fork_has_threads_of_its_own():
    run_together(time.sleep, [0.01] * 2, 2)
    child = os.fork()
    if child == 0:
        barrier = threading.Barrier(2, timeout=20)
        try:
            run_together(lambda _: barrier.wait(), range(2), 2)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


AT_THE_END = """
import atexit, threading
from onlinekern.core.base.pool import run_together
run_together(len, ["a", "b"], 2)
def last():
    print(run_together(len, ["a", "bc"], 2))
threading._register_atexit(last)
atexit.register(last)
"""


def test_when_the_interpreter_ends_the_callers_thread_is_enough():
    run = python(AT_THE_END)
    assert (run.stdout, run.stderr) == ("[1, 2]\n" * 2, "")


def fitted(name, X, y, **parameters):
    return getattr(ok, name)(random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("name", ["PAClassifier", "SPARegressor", "StreamClassifier"])
def test_rows_are_scored_in_place(name, layout, stream, as_layout, monkeypatch):
    monkeypatch.setattr(contract, "LITTLE_WORK", 0)
    X, y = stream("regression" if name == "SPARegressor" else "binary", n=400)
    rows = as_layout(X, layout)
    model = fitted(name, rows, y)
    core = model._model
    whole = np.empty((400, 1))
    core.scores(rows, whole)
    parts = np.full((400, 1), np.nan)
    for first, last in ((390, 400), (0, 7), (7, 7), (7, 390)):
        core.score_rows(rows, parts, first, last)
    np.testing.assert_array_equal(parts, whole)
    found = model.set_params(n_jobs=3)
    scores = found.predict(rows) if name == "SPARegressor" else found.decision_function(rows)
    np.testing.assert_array_equal(scores, whole[:, 0])


@pytest.mark.parametrize("name", ["PAClassifier", "StreamClassifier"])
def test_parts_that_are_not_there(name, stream):
    X, y = stream("binary")
    core = fitted(name, X, y)._model
    for first, last in ((0, len(X) + 1), (5, 4), (-1, 4)):
        with pytest.raises(ValueError, match="must be in"):
            core.score_rows(X, np.empty((len(X), 1)), first, last)
    with pytest.raises(ValueError, match="out must have shape"):
        core.score_rows(X, np.empty((len(X) - 1, 1)))


def test_little_work_is_done_by_one_thread(stream, monkeypatch):
    X, y = stream("binary", n=600)
    linear, race = (fitted(name, X, y, n_jobs=2) for name in ("PAClassifier", "StreamClassifier"))
    called = []
    monkeypatch.setattr(contract, "run_together", lambda *arguments: called.append(arguments))
    monkeypatch.setattr(contract, "check_results", lambda *_: None)
    linear.decision_function(X)
    assert not called
    for model, rows in ((race, X), (linear, np.tile(X, (1000, 1)))):
        model.decision_function(rows)
    assert [n_jobs for *_, n_jobs in called] == [2, 2]


def test_several_threads_copy_no_samples():
    X = sparse.random(20_000, 500, 0.1, format="csr", random_state=0, dtype=np.float32)
    y = (np.asarray(X[:, 0].todense()).ravel() > 0).astype(int)
    model = fitted("PAClassifier", X, y, n_jobs=2)
    model.decision_function(X[:50])
    tracemalloc.start()
    model.decision_function(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The matrix has 8 MB, the scores 160 kB.
    assert peak < 2_000_000
