"""OLLA's solver 'smo' in several threads: no bit changes, memory is shared, failures end it."""

import signal
import threading

import numpy as np
import pytest

from onlinekern import OLLAClassifier
from onlinekern.core.base.pool import run_together
from onlinekern.core.kernels.kernels import Gaussian
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.active_rows import ActiveRows
from onlinekern.core.models.smo import DualMinimiser
from onlinekern.estimators import duals

LEARNT = ("support_", "dual_coef_", "intercept_", "dual_objective_")


def build(**parameters):
    return OLLAClassifier(**{"gamma": 0.4, "C": 2.0, "solver": "smo", **parameters})


@pytest.mark.parametrize("layout", ["dense", "wide"])
@pytest.mark.parametrize("cache_size", [1e-9, 200.0])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_no_bit_depends_on_the_threads(multi_class, cache_size, layout, stream, as_layout, equal):
    X, y = stream("ovr", n=200)
    X = as_layout(X, layout)
    weight = np.random.default_rng(0).uniform(0, 2, 200)
    models = [
        build(
            multi_class=multi_class,
            n_jobs=n_jobs,
            cache_size=cache_size,
            probability=True,
            warm_start=True,
        )
        for n_jobs in (1, 2, 5)
    ]
    for C in (2.0, 3.0):
        for model in models:
            model.set_params(C=C).fit(X, y, sample_weight=weight)
        for model in models[1:]:
            for name in LEARNT:
                equal(getattr(model, name), getattr(models[0], name))
            assert model.n_iter_ == models[0].n_iter_
            equal(model.predict_proba(X), models[0].predict_proba(X))


@pytest.mark.parametrize(("n_jobs", "share"), [(None, 1), (2, 2), (7, 3)])
def test_threads_share_the_memory_for_kernel_rows(n_jobs, share, stream, monkeypatch):
    X, y = stream("ovr", n=90)
    given = []

    def noted(form, rows, cache_bytes):
        given.append(cache_bytes)
        return ActiveRows(form, rows, cache_bytes)

    monkeypatch.setattr(duals, "ActiveRows", noted)
    build(multi_class="ovo", n_jobs=n_jobs, cache_size=30.0).fit(X, y)
    assert given == [30e6 / share] * 3


def test_a_failure_in_a_thread_leaves_the_model(stream, monkeypatch, equal):
    X, y = stream("ovr", n=90)
    model = build(multi_class="ovo", n_jobs=2).fit(X, y)
    before, numbers = model.decision_function(X), threading.Lock()
    made = iter(range(9))

    def fail(form, rows, cache_bytes):
        with numbers:
            if next(made) == 1:
                raise MemoryError("no memory for kernel rows")
        return ActiveRows(form, rows, cache_bytes)

    monkeypatch.setattr(duals, "ActiveRows", fail)
    with pytest.raises(MemoryError, match="for kernel rows"):
        model.fit(X[::-1], y)
    equal(model.decision_function(X), before)
    assert model.n_seen_ == 90


def endless(n=1500):
    """Return a dual that takes hours."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 2)).astype(np.float32), rng.choice([-1.0, 1.0], n)
    rows = ActiveRows(SupportSet(Gaussian(8.0), 2, X.dtype, 1, False, False), X, 1e8)
    bounds = np.where(y > 0, 0, -1e9), np.where(y > 0, 1e9, 0)
    return DualMinimiser(rows, y, *bounds, np.zeros(n), 0.0, True, 1e-13, False)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("fails_in_the_callers", [False, True])
def test_a_failure_ends_what_the_other_threads_do(fails_in_the_callers, nested):
    begun = threading.Barrier(2, timeout=20)

    def solve(_):
        endless().minimise(10**12)

    def work(_):
        begun.wait()
        if (threading.current_thread() is threading.main_thread()) == fails_in_the_callers:
            raise KeyError("the first")
        if nested:
            run_together(solve, range(2), 2)
        else:
            solve(None)

    with pytest.raises(KeyError, match="the first"):
        run_together(work, range(2), 2)
    # What comes later in these threads is not stopped.
    for minimiser in run_together(lambda _: endless(60), range(2), 2):
        assert minimiser.minimise(20) in (False, True)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_ctrl_c_ends_all_threads(equal):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2400, 2)), np.arange(2400) % 3
    model = build(gamma=8.0, multi_class="ovo", n_jobs=3).fit(X[:90], y[:90])
    before = model.decision_function(X[:9])

    def interrupt(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.set_params(C=1e9, tol=1e-13).fit(X, y)  # for hours
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    equal(model.decision_function(X[:9]), before)
