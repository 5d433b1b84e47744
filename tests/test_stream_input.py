"""Inputs of a stream learner: what is accepted, and that it is neither changed nor kept."""

import numpy as np
import pytest
from grids import grid
from learners import NAMES, build, data, learn

from onlinekern import KernelOGDRegressor

LAYOUTS = ["dense", "csr", "wide"]
every_estimator = pytest.mark.parametrize("name", NAMES)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def buffers_of(X):
    return [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]


@pytest.mark.parametrize(("name", "layout", "window"), grid(NAMES, LAYOUTS, [1, 64]))
def test_input_is_neither_changed_nor_kept(name, layout, window, stream, as_layout, same_state):
    X, y = data(name, stream)
    whole = build(name, window=window)
    learn(whole, as_layout(X, layout), y, [30, 60])
    model = build(name, window=window)
    for part in np.split(np.arange(90), [30, 60]):
        rows, targets = as_layout(X[part], layout), y[part].copy()
        arrays = [*buffers_of(rows), targets]
        copies = [array.copy() for array in arrays]
        learn(model, rows, targets)
        for array, expected in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, expected)
            array[:] = 0
    same_state(model, whole)


@every_layout
@every_estimator
def test_read_only_and_memory_mapped_input(name, layout, stream, as_layout, same_state, tmp_path):
    X, y = data(name, stream)
    expected = build(name)
    learn(expected, as_layout(X, layout), y)
    rows = as_layout(X, layout)
    for array in buffers_of(rows):
        array.flags.writeable = False
    model = build(name)
    learn(model, rows, y)
    same_state(model, expected)
    if layout == "dense":
        np.save(tmp_path / "X.npy", X)
        model = build(name)
        learn(model, np.load(tmp_path / "X.npy", mmap_mode="r"), y)
        same_state(model, expected)


def test_layouts_and_dtypes_mix(stream, as_layout, close):
    X, y = stream("regression")
    whole = KernelOGDRegressor(gamma=0.4).partial_fit(X, y)
    for layout in LAYOUTS:
        for first, second in ([layout, "dense"], ["dense", layout], [layout, layout]):
            if layout == "wide" and "dense" in (first, second):
                continue
            model = KernelOGDRegressor(gamma=0.4)
            model.partial_fit(as_layout(X[:40], first), y[:40])
            model.partial_fit(as_layout(X[40:], second), y[40:])
            close(model.dual_coef_, whole.dual_coef_, np.float64)


def test_dense_rows_meet_sparse_support(stream, as_layout, close):
    X, y = stream("regression")
    wide = as_layout(X, "wide")
    whole = KernelOGDRegressor(gamma=0.4).partial_fit(wide, y)
    model = KernelOGDRegressor(gamma=0.4).partial_fit(wide[:40], y[:40])
    model.partial_fit(wide[40:].toarray(), y[40:])
    close(model.dual_coef_, whole.dual_coef_, np.float64)
    close(model.predict(wide.toarray()), whole.predict(wide), np.float64)
    dense = KernelOGDRegressor(gamma=0.4).partial_fit(wide[:40].toarray(), y[:40])
    dense.partial_fit(wide[40:], y[40:])
    close(dense.dual_coef_, whole.dual_coef_, np.float64)


def test_the_first_batch_decides_the_dtype(stream, same_state):
    X, y = stream("regression")
    X = X / 3
    single = KernelOGDRegressor(gamma=0.4, random_state=0).partial_fit(X.astype(np.float32), y)
    mixed = KernelOGDRegressor(gamma=0.4, random_state=0)
    mixed.partial_fit(X[:40].astype(np.float32), y[:40])
    mixed.partial_fit(X[40:], y[40:])
    assert mixed.support_vectors_.dtype == np.float32
    same_state(mixed, single)
    double = KernelOGDRegressor(gamma=0.4).partial_fit(X[:40], y[:40])
    double.partial_fit(X[40:].astype(np.float32), y[40:])
    assert double.support_vectors_.dtype == np.float64


def test_unsorted_and_repeated_columns(stream, as_layout, close):
    X, y = stream("regression")
    rows = as_layout(X, "csr")
    starts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    halves = [part for a, b in starts for part in (np.arange(a, b)[::-1], np.arange(a, b))]
    order = np.concatenate(halves)
    arrays = (rows.data[order] / 2, rows.indices[order], rows.indptr * 2)
    twice = type(rows)(arrays, shape=rows.shape)
    model = KernelOGDRegressor(gamma=0.4).partial_fit(twice, y)
    expected = KernelOGDRegressor(gamma=0.4).partial_fit(rows, y)
    close(model.dual_coef_, expected.dual_coef_, np.float64)
    np.testing.assert_array_equal(twice.indices, arrays[1])
