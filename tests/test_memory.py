"""A size that needs more memory than there is: an error with the figure, before the allocation."""

import numpy as np
import pytest
from learners import CLASSES
from sklearn.base import is_classifier

from onlinekern import FourierFeatures, _memory

resource = pytest.importorskip("resource")

X = np.random.default_rng(0).standard_normal((40, 3))
SIZES = ("budget", "n_components", "n_prototypes", "max_support", "batch_size", "window")
ALL = [
    (name, size) for name, cls in CLASSES.items() for size in SIZES if size in cls().get_params()
]
AT_ONCE = [
    ("FOGDClassifier", "n_components"), ("FOGDRegressor", "n_components"),
    ("DualSGDClassifier", "n_components"), ("DualSGDRegressor", "n_components"),
    ("DualSGDClassifier", "budget"), ("BSGDClassifier", "budget"), ("BSGDRegressor", "budget"),
    ("BOLSSVMClassifier", "budget"), ("LOLClassifier", "n_prototypes"),
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


def test_what_fits_depends_on_the_memory(monkeypatch):
    needed = 16 * 10**7
    monkeypatch.setattr(_memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=r"budget=10000000 needs at least 0\.16 gigabytes"):
        _memory.check_size("budget", 10**7, needed)
    monkeypatch.setattr(_memory, "available_memory", lambda: needed)
    _memory.check_size("budget", 10**7, needed)
