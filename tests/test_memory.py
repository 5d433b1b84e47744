"""A size that needs more memory than there is: an error with the figure, before the allocation."""

import ctypes
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from learners import CLASSES, TRANSFORMERS
from scipy import sparse
from sklearn.base import clone, is_classifier

from onlinekern import (
    FourierFeatures,
    FrequentDirections,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelRLSClassifier,
    OLLAClassifier,
    PAClassifier,
    StreamClassifier,
    all_estimators,
)
from onlinekern.estimators import memory as _memory
from onlinekern.estimators.memory import Form
from onlinekern.learners.race.kinds import bytes_of_moments

resource = pytest.importorskip("resource")

X = np.random.default_rng(0).standard_normal((40, 3))
SIZES = ("budget", "n_components", "n_prototypes", "max_support", "batch_size", "window")
ALL = [
    (name, size) for name, cls in CLASSES.items() for size in SIZES if size in cls().get_params()
]
EVERY = dict(all_estimators()) | TRANSFORMERS
# Parameters that are whole numbers, or may be, but for those that say how long to go on.
OPTIONAL = ("n_components", "n_landmarks", "max_support", "window", "n_jobs", "cache_size",
            "random_state", "average", "cap", "early_stopping")  # fmt: skip
WHOLE_NUMBERS = [
    (name, parameter)
    for name, cls in EVERY.items()
    for parameter, value in cls().get_params().items()
    if (type(value) is int or parameter in OPTIONAL)
    and parameter not in ("n_epochs", "max_iter", "n_iter_no_change", "verbose")
]
AT_ONCE = [
    ("FOGDClassifier", "n_components"), ("FOGDRegressor", "n_components"),
    ("DualSGDClassifier", "n_components"), ("DualSGDRegressor", "n_components"),
    ("DualSGDClassifier", "budget"), ("BSGDClassifier", "budget"), ("BSGDRegressor", "budget"),
    ("BOLSSVMClassifier", "budget"), ("KRLSRegressor", "budget"), ("KRLSTRegressor", "budget"),
    ("SlidingWindowKRLSRegressor", "budget"), ("FixedBudgetKRLSRegressor", "budget"),
    ("LOLClassifier", "n_prototypes"),
]  # fmt: skip


def fit(name, **parameters):
    model = CLASSES[name](**parameters)
    return model.fit(X, (X[:, 0] > 0).astype(int) if is_classifier(model) else X[:, 0])


@pytest.mark.parametrize(("name", "size"), AT_ONCE)
@pytest.mark.parametrize("value", [10**12, 2**48])
def test_what_is_allocated_at_once_is_refused_with_the_figure(name, size, value):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MemoryError, match=rf"{size}={value} needs at least .* gigabytes"):
        fit(name, **{size: value})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_transformers_too():
    with pytest.raises(MemoryError, match=r"n_components=1000000000000 needs at least 4.8e\+04"):
        FourierFeatures(n_components=10**12).fit(X)


@pytest.mark.parametrize(("name", "size"), ALL)
def test_sizes_beyond_machine_words_are_named(name, size):
    with pytest.raises(ValueError, match=size):
        fit(name, **{size: 2**70})


@pytest.mark.parametrize(("name", "parameter"), WHOLE_NUMBERS)
def test_a_number_far_too_large_is_an_error_or_does_no_harm(name, parameter):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    y = X[:, 0] if "Regressor" in name else np.arange(len(X)) % 3
    failure = None
    try:
        EVERY[name](**{parameter: 10**12}).fit(X, y)
    except (ValueError, MemoryError) as error:
        failure = str(error)
    assert failure is None or parameter in failure
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


WIDE = 10**5


def wide(layout):
    """Two samples of many features, and their labels."""
    rows = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [WIDE - 1, 5])), shape=(2, WIDE))
    return (rows if layout == "sparse" else rows.toarray()), [0, 1]


SMALLEST = {
    "n_components": 2, "budget": 4, "n_prototypes": 2, "sketch_size": 2, "merge_size": 1,
}  # fmt: skip


def smallest(name):
    """An estimator with the least values of its sizes."""
    known = EVERY[name]().get_params()
    return EVERY[name](**{key: value for key, value in SMALLEST.items() if key in known})


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("name", sorted(dict(all_estimators())))
def test_the_width_of_the_samples_is_compared_with_the_memory(name, layout, monkeypatch):
    rows, labels = wide(layout)
    model = smallest(name)
    parameter = model._size or "n_features"
    monkeypatch.setattr(_memory, "SMALL", 0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=rf"^{parameter}=\d+ needs at least .* gigabytes"):
        model.fit(rows, labels)
    assert not hasattr(model, "n_features_in_")


MEASURED = ("PAClassifier", "AROWClassifier", "KernelPAClassifier", "SDROGDClassifier",
            "LOLClassifier", "FOGDClassifier")  # fmt: skip
# The bytes that malloc has given out: the size of the process tells less, as what was freed
# before is given out again.
MEASUREMENT = """
import ctypes
import gc
import test_memory as tests
from onlinekern.estimators.memory import Form
from onlinekern.learners.race.kinds import bytes_of_moments
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]
mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Info
def size():
    gc.collect()
    info = mallinfo2()
    return info.uordblks + info.hblkhd
for layout in ("sparse", "dense"):
    rows, labels = tests.wide(layout)
    for name in tests.MEASURED:
        model, before = tests.smallest(name), size()
        model.fit(rows, labels)
        form = Form(tests.WIDE, 1, 8, layout == "sparse")
        print(name, layout, size() - before, model._n_bytes(form))
        del model
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc tells it")
def test_models_take_at_least_what_is_estimated():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASUREMENT], cwd=Path(__file__).parent,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 2 * len(MEASURED)
    for name, layout, taken, estimate in lines:
        assert 0.05 * int(taken) < int(estimate) <= int(taken), (name, layout)


def peak_of(model, X, y):
    """Return the bytes of Python's and NumPy's allocations at the peak of learning a stream."""
    more = {"classes": np.unique(y)} if is_classifier(model) else {}
    tracemalloc.start()
    try:
        for first in range(0, len(y), 256):
            model.partial_fit(X[first : first + 256], y[first : first + 256], **more)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
@pytest.mark.parametrize("task", ["two classes", "five classes", "targets"])
@pytest.mark.parametrize(
    ("d", "teacher"), [(8, "full"), (100, "full"), (300, "full"), (300, "light"), (800, "light")]
)
def test_a_forest_takes_at_most_what_is_estimated_while_a_teacher_learns(d, teacher, task, layout):
    memory = 512
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3 * memory // 2, d))
    y = rows[:, 0] + rows[:, 1] * rows[:, 2]
    n_classes = {"two classes": 2, "five classes": 5, "targets": 0}[task]
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    make = KernelForestClassifier if n_classes else KernelForestRegressor
    model = make(n_trees=10, memory=memory, teacher=teacher, random_state=0)
    taken = peak_of(model, layout(rows), y)
    form = Form(d, n_classes if n_classes > 2 else 1, 8, layout is not np.asarray)
    assert 0.35 * model._n_bytes(form) < taken <= model._n_bytes(form)


def test_a_light_teacher_takes_hardly_more_of_many_labels():
    """It seeks no directions, so that no gradients of the outputs are kept."""
    rows = np.random.default_rng(0).standard_normal((768, 300))
    hidden = rows[:, 0] + rows[:, 1] * rows[:, 2]
    taken = []
    for n_classes in (2, 9):
        model = KernelForestClassifier(n_trees=10, memory=512, teacher="light", random_state=0)
        taken.append(peak_of(model, rows, np.digitize(hidden, np.linspace(-1, 1, n_classes - 1))))
    assert taken[1] < 1.4 * taken[0]


def test_a_race_counts_the_teachers_of_its_forests():
    race, form = StreamClassifier(), Form(300, 1, 8, False)
    experts = race._experts(300, 1, False)
    kept = sum(expert.n_bytes(300, 1, False) for expert in experts)
    teacher = next(one for one in experts if one.is_raw).estimator._teacher_bytes(form)
    assert kept <= 64 * 2**20
    assert race._n_bytes(form) >= kept + teacher > kept + 10**7
    rows = np.random.default_rng(0).standard_normal((20, 300))
    report = race.partial_fit(rows, np.arange(20) % 2).report()
    figures, moments = [report.memory, report.most_memory], bytes_of_moments(300, False)
    told = np.array([kept + moments, race._n_bytes(form)])
    np.testing.assert_allclose(figures, told / 2**20)
    assert "MB at most, " in str(report)


def test_sketches_and_caches_too(monkeypatch):
    rows, _ = wide("sparse")
    monkeypatch.setattr(_memory, "SMALL", 0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 10**7)
    with pytest.raises(MemoryError, match=r"sketch_size=5 needs at least 0\.02 .* 100000 features"):
        FrequentDirections(5).fit(rows)
    points = np.random.default_rng(0).standard_normal((4000, 2))
    model = OLLAClassifier(cache_size=1e12, outputs="all")
    with pytest.raises(MemoryError, match=r"cache_size=1e\+12|cache_size=1000000000000\.0"):
        model.fit(points, points[:, 0] > 0)


@pytest.mark.parametrize("n_jobs", [10**12, 2**70, -(2**70)])
def test_more_jobs_than_there_is_work(n_jobs):
    y = np.arange(len(X)) % 3
    model = PAClassifier(n_jobs=n_jobs, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, PAClassifier(random_state=0).fit(X, y).coef_)


GIGABYTE = 10**9


def groups(root, lines, files):
    """Write what /proc and /sys/fs/cgroup hold."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   50000000 kB\n")
    (root / "proc/self/cgroup").write_text(lines)
    for name, text in files.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")


CONTAINERS = {
    "version 2": (
        "0::/user/job\n",
        {
            "user/job/memory.max": "max",
            "user/job/memory.current": 5,
            "user/memory.max": 3 * GIGABYTE,
            "user/memory.current": 2 * GIGABYTE,
            "user/memory.stat": "anon 7\nactive_file 9\ninactive_file 500000000",
        },
        1.5 * GIGABYTE,
    ),
    "version 2, seen from inside": (
        "0::/host/path\n",
        {"memory.max": 4 * GIGABYTE, "memory.current": GIGABYTE},
        3 * GIGABYTE,
    ),
    "version 1": (
        "7:pids:/x\n4:cpu,memory:/job\n0::/\n",
        {
            "memory/job/memory.limit_in_bytes": 2 * GIGABYTE,
            "memory/job/memory.usage_in_bytes": GIGABYTE,
            "memory/job/memory.stat": "inactive_file 7\ntotal_inactive_file 250000000",
            "memory/memory.limit_in_bytes": 9223372036854771712,
            "memory/memory.usage_in_bytes": 30 * GIGABYTE,
        },
        1.25 * GIGABYTE,
    ),
    "full": (
        "0::/\n", {"memory.max": GIGABYTE, "memory.current": 2 * GIGABYTE}, 0
    ),
    "no limit": ("0::/\n", {"memory.max": "max", "memory.current": GIGABYTE}, 51.2 * GIGABYTE),
    "no groups": ("", {}, 51.2 * GIGABYTE),
    "nonsense": ("x\n::\n0::/a:b\n", {"memory.max": "", "a:b/memory.max": "q"}, 51.2 * GIGABYTE),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTAINERS)
def test_the_limit_of_a_container_counts(name, tmp_path, monkeypatch):
    lines, files, left = CONTAINERS[name]
    groups(tmp_path, lines, files)
    monkeypatch.setattr(_memory, "ROOT", tmp_path)
    assert _memory.available_memory() == left


@pytest.mark.parametrize(("limit", "field"), [("RLIMIT_AS", 0), ("RLIMIT_DATA", 5)])
def test_the_limits_of_the_process_count(limit, field, tmp_path, monkeypatch):
    groups(tmp_path, "", {})
    sizes = ["0"] * 7
    sizes[field] = "1000"
    (tmp_path / "proc/self/statm").write_text(" ".join(sizes))
    monkeypatch.setattr(_memory, "ROOT", tmp_path)
    chosen = getattr(resource, limit)
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (GIGABYTE if kind == chosen else -1, -1)
    )
    assert _memory.available_memory() == GIGABYTE - 1000 * resource.getpagesize()


def test_what_fits_depends_on_the_memory(monkeypatch):
    needed = 16 * 10**7
    monkeypatch.setattr(_memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=r"budget=10000000 needs at least 0\.16 gigabytes"):
        _memory.check_size("budget", 10**7, needed)
    monkeypatch.setattr(_memory, "available_memory", lambda: needed)
    _memory.check_size("budget", 10**7, needed)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what is in use from /proc")
def test_room_that_is_not_used_takes_no_memory():
    """A model has room at once for all that it may learn: thousands of them are short streams."""

    def in_use():
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * resource.getpagesize()

    learner = KernelRLSClassifier(gamma=1.0)
    y = (X[:, 0] > 0).astype(int)
    learner.fit(X, y)
    told = learner._n_bytes(_memory.Form(X.shape[1], 1, 8, is_sparse=False))
    before = in_use()
    models = [clone(learner).fit(X, y) for _ in range(20)]
    # It took 1.7 times what is told, copies for undo among it, when all of it was written at first.
    assert in_use() - before < 0.8 * told * len(models)
