"""Helpers of the tests: tolerances, small seeded streams, model states, the real data's folder."""

import gc
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import consumers
import native_library
import numpy as np
import pytest
import states
from consumers.samples import fields_of
from harness import subjects

with suppress(ImportError):  # test_minimal.py runs on wheels, where only pytest is installed.
    from hypothesis import settings

    # An example has no time limit: the machine is shared, and the benchmarks measure speed.
    settings.register_profile("onlinekern", deadline=None, derandomize=True, max_examples=25)
    settings.load_profile("onlinekern")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Find the tests without looking for garbage among them: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def same_draws():
    """Seed the generator that `random_state=None` draws from: a test ends alike each time."""
    np.random.seed(0)  # noqa: NPY002, it is scikit-learn's


@pytest.fixture
def close_figures():
    """Close what matplotlib has open when a test ends."""
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="module")
def client():
    """A client of Dask with two workers of one thread each, in this process."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    options = {"processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def session():
    """A session of Spark; skipped where it cannot be had."""
    import sparks

    return sparks.session()


class Tolerance(NamedTuple):
    """Largest difference between a result and the float64 twin."""

    relative: float
    absolute: float


# Kernel values have the dtype of the samples, everything after them is double. A float32 value is
# off by a few 2^-24 = 6e-8, and by gamma ||x||^2 times that where distances are expanded; a stream
# of a hundred steps adds up some ten such errors. The same count of 2^-53 for float64.
TOLERANCES = {
    np.dtype(np.float32): Tolerance(relative=2e-5, absolute=2e-5),
    np.dtype(np.float64): Tolerance(relative=1e-11, absolute=1e-12),
}


@pytest.fixture(scope="session")
def close():
    """Assert that a result equals the twin's, up to the tolerance of a dtype."""

    def check(actual, expected, dtype, what=""):
        relative, absolute = TOLERANCES[np.dtype(dtype)]
        np.testing.assert_allclose(actual, expected, rtol=relative, atol=absolute, err_msg=what)

    return check


@pytest.fixture(scope="session")
def equal():
    """Assert that two arrays are the same bit for bit."""

    def check(actual, expected, what=""):
        np.testing.assert_array_equal(actual, expected, err_msg=what, strict=True)

    return check


def targets(X, task, rng):
    """Return noisy labels or targets of the rows of X."""
    hidden = X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] ** 2 + 0.3 * rng.standard_normal(len(X))
    if task == "regression":
        return hidden
    if task == "binary":
        return np.where(hidden > 0, "yes", "no")
    return np.digitize(hidden, [-1.0, 0.5]) * 10 + 5


@pytest.fixture(scope="session")
def stream():
    """Make a small continuous stream; its numbers are float32 numbers, so that both dtypes agree.

    A third of the entries are 0, and so is row 3.
    """

    def make(task="binary", n=90, d=6, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)).astype(np.float32).astype(np.float64)
        X[rng.random((n, d)) < 1 / 3] = 0
        X[3] = 0
        return X, targets(X, task, rng)

    return make


@pytest.fixture(scope="session")
def many_classes():
    """Make a stream of so many classes, each of which is a cluster, in numbers of float32."""

    def make(count=24, n=400, d=6, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(n) % count)
        X = 2 * rng.standard_normal((count, d))[y] + rng.standard_normal((n, d))
        return X.astype(np.float32).astype(np.float64), y

    return make


@pytest.fixture(scope="session")
def integer_stream():
    """Make a stream of small integers: a polynomial kernel of it is exact in both dtypes."""

    def make(task="binary", n=300, d=6, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.integers(-1, 2, size=(n, d)).astype(np.float64)
        y = targets(X, task, rng)
        return X, np.round(y) if task == "regression" else y

    return make


@pytest.fixture(scope="session")
def as_layout():
    """Put dense rows in a layout: 'dense', 'csr' or 'wide'.

    'wide' is CSR with so many features that support vectors are stored sparse. Its kernel values
    are the same."""

    def convert(X, layout, dtype=np.float64):
        return subjects.as_layout(np.ascontiguousarray(X, dtype=dtype), layout)

    return convert


@pytest.fixture(scope="session")
def state_of():
    """Return the function that collects the state of an estimator."""
    return states.state_of


@pytest.fixture(scope="session")
def same_state(state_of):
    """Assert that an estimator is in a state (or in that of another estimator)."""

    def check(estimator, expected):
        if not isinstance(expected, dict):
            expected = state_of(expected)
        assert states.difference(state_of(estimator), expected) is None

    return check


@pytest.fixture(scope="session")
def data_directory():
    """Return the folder of real data sets: ONLINEKERN_DATA, or shared/data beside the clone."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("ONLINEKERN_DATA", default))
    if not folder.is_dir():
        pytest.skip("no real data: set ONLINEKERN_DATA to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Return the C library, compiled once for all that call it."""
    return native_library.load(tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="session")
def verbs(tmp_path_factory):
    """Return a compiled package that calls the C interface."""
    return consumers.build_extension("verbs", tmp_path_factory.mktemp("verbs"))


@pytest.fixture(scope="session")
def as_matrix(verbs):
    """Return samples for the C interface, some fields changed; the arrays must outlive them."""

    def convert(X, **changes):
        return verbs.Matrix(**{**fields_of(X), **changes})

    return convert
