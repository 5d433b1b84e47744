"""Least squares whose reg is chosen beside the samples: another one comes behind sample 512.

It is searched for beside samples 449 to 512, by those before, and N is made anew with it beside the
next 48. Whoever goes on in between, in Python or C, makes the same choice.
"""

from functools import partial

import numpy as np
import pytest
from compiled import Program
from compiled import load as compiled_library
from native_library import Native
from native_library import load as native_library
from oracles.kernel_rls import kernel_rls
from test_device_state import Device
from test_export_learning import teach

from onlinekern import KernelRLSRegressor, load, read_device_state
from onlinekern.fitted.save import from_bytes, to_bytes

N = 700
PLACES = [447, 448, 449, 470, 511, 512, 513, 540, 559, 560, 561]


def noisier(seed=0):
    """Targets with little noise, and with much of it from sample 300 on; a row a time is new."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((60, 3))[random.integers(0, np.minimum(8 + np.arange(N) // 10, 60))]
    return X, np.sin(X[:, 0]) + np.where(np.arange(N) < 300, 0.05, 3.0) * random.standard_normal(N)


new = partial(
    KernelRLSRegressor, n_components=60, gamma=0.5, standardize_target=False, random_state=0
)


def until(place):
    """Return the stream, and a model that has learnt so many of its samples."""
    X, y = noisier()
    return X, y, new().partial_fit(X[:place], y[:place])


def taught(model, X, y):
    """Return the model after samples that it learns one by one."""
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
    return model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_that_of_the_twin(dtype):
    (X, y), model = noisier(), new()
    found, regs = [], []
    for x, target in zip(X.astype(dtype), y, strict=True):
        found.append(model.predict(x[None])[0] if regs else 0.0)
        model.learn_one(x, target)
        regs.append(model.reg_)
    run = kernel_rls(
        X, y, n_components=60, gamma=0.5, reg="auto", task="regression", dtype=dtype,
        block=model._model.space.block.epoch_length,
    )  # fmt: skip
    assert regs[448] == regs[510] != regs[511] == regs[-1]
    assert model._model.space.block.get_state()["since"] == N - 512
    np.testing.assert_allclose(found, run.predictions, atol=1e-8 if dtype == np.float64 else 1e-3)


@pytest.mark.parametrize("place", PLACES)
def test_files_and_undo_go_on_alike(place):
    X, y, model = until(place)
    expected = new().partial_fit(X, y)._model.space.block.get_state()
    other = from_bytes(to_bytes(model), "a file")
    model.partial_fit(X[place : place + 130], y[place : place + 130])
    model._model.undo()
    for each in (taught(other, X[place:], y[place:]), model.partial_fit(X[place:], y[place:])):
        state = each._model.space.block.get_state()
        for name in expected:
            np.testing.assert_array_equal(state[name], expected[name], err_msg=name)


@pytest.mark.parametrize("place", PLACES)
def test_models_in_c_go_on_alike(place, tmp_path):
    X, y, model = until(place)
    made = model.export_c(tmp_path / "model.c")
    program = Program(compiled_library(tmp_path, [made.code]), "model", "float64", 1)
    teach(program, model, X[place:], y[place:])
    np.testing.assert_allclose(program.scores(X)[:, 0], model.predict(X), atol=1e-9)


@pytest.mark.parametrize("place", PLACES)
def test_models_that_come_back_from_c_go_on_alike(place, tmp_path):
    X, y, model = until(420)
    device = Device(tmp_path, model)
    memory = device.new()
    device.teach(memory, X[420:place], y[420:place])
    back = read_device_state(model, device.save(memory))
    expected = new().partial_fit(X, y)
    taught(back, X[place:], y[place:])
    assert back.reg_ == expected.reg_
    np.testing.assert_allclose(back.predict(X), expected.predict(X), atol=1e-9)
    # What was chosen in C is in files of this model, and in C that is exported from it.
    again = from_bytes(to_bytes(read_device_state(model, device.save(memory))), "a file")
    np.testing.assert_array_equal(taught(again, X[place:], y[place:]).predict(X), back.predict(X))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return native_library(tmp_path_factory.mktemp("native"))


@pytest.mark.parametrize("place", PLACES)
def test_the_c_library_goes_on_alike(place, library, tmp_path):
    X, y, model = until(430)
    path = tmp_path / "model.okn"
    model.save(path)
    native = Native(library, path)
    native.learn(X[430:place], y[430:place])
    native.save(path)
    loaded, again = load(path), Native(library, path)
    again.learn(X[place:], y[place:])
    expected = new().partial_fit(X, y).predict(X)
    np.testing.assert_allclose(again.scores(X)[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(taught(loaded, X[place:], y[place:]).predict(X), expected, atol=1e-9)
