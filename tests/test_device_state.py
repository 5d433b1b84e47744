"""States of models that learn in C: saved, loaded, read into estimators and written from them."""

import ctypes
import shutil
import struct
import subprocess
import zlib
from copy import deepcopy

import numpy as np
import pytest
from compiled import FLAGS, Program, address, compiler, load
from exported import Case, fitted, scores_of
from grids import marked
from sklearn.base import is_classifier, is_regressor
from test_export_learning import LEARNS, can_learn, chosen, target_of

from onlinekern import (
    AhpatronClassifier,
    AROWClassifier,
    BOLSSVMClassifier,
    BPAClassifier,
    BSGDClassifier,
    DualSGDClassifier,
    ForgetronClassifier,
    FourierFeatures,
    KAPARegressor,
    KernelAROWClassifier,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelMeanDetector,
    KernelPAClassifier,
    KernelPARegressor,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PegasosClassifier,
    ProjectronClassifier,
    SPAClassifier,
    SPAOneClass,
    make_stream_pipeline,
    merge,
    read_device_state,
    write_device_state,
)
from onlinekern.fitted.export.learning import describe_learning

ROOM = 200
INVERSE = {"SlidingWindowKRLSRegressor", "FixedBudgetKRLSRegressor", "KRLSTRegressor"}
INVERSE |= {"BOLSSVMClassifier"}
SIZE = """
#include "{name}.h"
int {name}_bytes(void);
int {name}_bytes(void) {{ return (int)sizeof({name}_t); }}
"""


class Device(Program):
    """Models of one exported file, each in memory of its own."""

    def __init__(self, folder, model, prefix="m", dtype="float64", capacity=None):
        made = model.export_c(folder / f"{prefix}.c", dtype=dtype, learn=True, capacity=capacity)
        size = folder / f"{prefix}_size.c"
        size.write_text(SIZE.format(name=prefix))
        super().__init__(load(folder, [made.code, size]), prefix, dtype, outputs_of(model))
        self.model = model
        self.capacity = capacity

    def new(self):
        """Return a model as it was exported."""
        memory = ctypes.create_string_buffer(self.call("bytes"))
        self.call("init", memory)
        return memory

    def teach(self, memory, X, y):
        """Let a model learn samples, by turns dense and sparse."""
        for number, (x, target) in enumerate(zip(X, y, strict=True)):
            ending, arguments, _alive = self.forms(x)[number % 2]
            given = target_of(self.model, target, self.dtype)
            assert self.call(f"learn_one{ending}_r", memory, *arguments, *given) == 0

    def scored(self, memory, X):
        found = np.zeros((len(X), self.n_outputs), self.dtype)
        for x, out in zip(X, found, strict=True):
            (arguments, _alive) = self.dense(x)
            assert self.call("score_r", memory, *arguments, address(out)) == 0
        return found

    def save(self, memory):
        """Return the state of a model as bytes."""
        size = len(self.written(self.model))
        found = ctypes.create_string_buffer(size + 3)
        assert self.call("save", memory, found, ctypes.c_size_t(size - 1)) == -5
        assert found.raw == bytes(size + 3)
        assert self.call("save", memory, found, ctypes.c_size_t(size)) == 0
        assert found.raw[size:] == bytes(3)
        return found.raw[:size]

    def load(self, memory, data):
        return self.call("load", memory, data, ctypes.c_size_t(len(data)))

    def written(self, model, number=0):
        return write_device_state(model, dtype=self.dtype, capacity=self.capacity, number=number)


def outputs_of(model):
    return scores_of(model, np.zeros((1, model.n_features_in_))).shape[1]


def labels_of(model, y):
    return (y > 0).astype(int) if is_classifier(model) else y


def written(model):
    try:
        return write_device_state(model, capacity=ROOM)
    except ValueError:  # it has a budget
        return write_device_state(model)


def cases():
    """Return a setting of each learner, and some more."""
    kept, seen = [], set()
    for number, case in enumerate(chosen()):
        if case.name not in seen or number % 6 == 0:
            kept.append(case)
            seen.add(case.name)
    return kept


@pytest.mark.filterwarnings("ignore:the covariance has degenerated")
def test_a_state_that_was_written_is_read(stream):
    """The model that is read scores and learns as the one that was written, to the bit."""
    names = set()
    for case in cases():
        X, y = stream(case.task, n=160)
        base = fitted(case, X[:60], y[:60])
        if not can_learn(base):
            continue
        names.add(case.name)
        model = deepcopy(base).partial_fit(X[60:110], y[60:110])
        # Landmarks may be all there by now, and grow in what was exported.
        data = write_device_state(model, like=written(base))
        read = read_device_state(base, data)
        assert read.n_seen_ == model.n_seen_
        # The matrix A of least squares is computed from its inverse; the last terms of an inverse
        # that the core keeps beside it are in it.
        leverage = case.parameters.get("statistic") == "leverage"
        inverse = case.name in INVERSE or case.parameters.get("maintenance") == "project"
        # The factor that all coefficients of a Forgetron have together is multiplied out there.
        forgets = case.name == "ForgetronClassifier"
        exact = not (case.name.startswith("KernelRLS") or leverage or inverse or forgets)
        bound = {"rtol": 0, "atol": 1e-12 * leverage, "err_msg": str(case)}
        np.testing.assert_allclose(scores_of(read, X), scores_of(model, X), **bound)
        if exact or forgets:
            assert write_device_state(read, like=data) == data, case
        for one in (read, model):
            one.partial_fit(X[110:], y[110:])
        error = np.abs(scores_of(read, X) - scores_of(model, X)).max()
        assert error <= (0 if exact else 1e-14 if forgets else 1e-7 if inverse else 1e-10), case
    assert names == LEARNS


def forests():
    X = np.random.default_rng(5).normal(size=(300, 5))
    f = X[:, 0] + X[:, 1] * X[:, 2]
    several = np.column_stack([f, f * f, 3 - f])
    for target, model in (
        (f > 0, KernelForestClassifier(n_trees=6, random_state=0)),
        (3 * f, KernelForestRegressor(n_trees=6, random_state=0, levels="leaf")),
        (several, KernelForestRegressor(n_trees=4, random_state=0)),
        (f > 0, make_stream_pipeline(OnlineStandardScaler(), AROWClassifier())),
        (f > 0, make_stream_pipeline(OnlineStandardScaler(with_mean=False), PAClassifier())),
        (
            f > 0,
            make_stream_pipeline(
                FourierFeatures(n_components=9, gamma=0.3, random_state=0), PAClassifier()
            ),
        ),
    ):
        # The forests have renewed their trees, and will not before 256 samples.
        y = target.astype(int) if target.dtype == bool else target
        yield model.fit(X[:100], y[:100]), X, y


def test_forests_and_pipelines():
    """Forests that do not renew their trees meanwhile, and pipelines whose scaler learns."""
    for base, X, y in forests():
        one, other = (deepcopy(base).partial_fit(X[a : a + 9], y[a : a + 9]) for a in (100, 109))
        data = [write_device_state(model) for model in (one, other)]
        read = [read_device_state(base, each) for each in data]
        for model, again in zip((one, other), read, strict=True):
            assert (scores_of(model, X) != scores_of(base, X)).any()
            np.testing.assert_array_equal(scores_of(again, X), scores_of(model, X))
        assert [write_device_state(model) for model in read] == data
        found, expected = merge(read, base=base), merge([one, other], base=base)
        np.testing.assert_allclose(scores_of(found, X), scores_of(expected, X), atol=1e-12)
        # The devices go on from the merged model.
        back = read_device_state(base, write_device_state(found))
        np.testing.assert_array_equal(scores_of(back, X), scores_of(found, X))


IN_C = {
    "linear": (lambda: PAClassifier(average="decay"), None),
    "second order": (lambda: AROWClassifier(average=True), None),
    "scaler": (lambda: make_stream_pipeline(OnlineStandardScaler(), PAClassifier()), None),
    "budget": (lambda: BPAClassifier(gamma=0.4, budget=20), None),
    "drawing": (lambda: SPAClassifier(gamma=0.4, random_state=0), 150),
    "merging": (lambda: BSGDClassifier(gamma=0.4, budget=9, reg=0.01), None),
    "features": (lambda: DualSGDClassifier(gamma=0.4, budget=9, merge_size=4), None),
    "detector": (lambda: SPAOneClass(gamma=0.4, random_state=0), 150),
    "mean": (lambda: KernelMeanDetector(gamma=0.4, n_components=12, forgetting=0.9), None),
    "leverage": (lambda: KernelMeanDetector(gamma=0.4, statistic="leverage"), None),
    "confidence": (lambda: KernelAROWClassifier(gamma=0.4, n_components=30), None),
    "inverse": (lambda: BSGDClassifier(gamma=0.4, budget=9, maintenance="project"), None),
    "projection": (lambda: ProjectronClassifier(gamma=0.4, budget=20), None),
    "oldest": (lambda: KernelPAClassifier(gamma=0.4, max_support=20, when_full="oldest"), None),
    "least squares": (lambda: KernelRLSClassifier(gamma=0.4, n_components=40, reg=0.1), None),
    "landmarks": (lambda: KernelRLSClassifier(gamma=0.4, n_components=8, reg=0.1), None),
    "evidence": (lambda: KernelRLSRegressor(gamma=0.4, n_components=30), None),
    "forgetting": (lambda: KernelRLSClassifier(gamma=0.4, forgetting=0.9, n_components=30), None),
    "metric": (lambda: KernelRLSRegressor(gamma=0.4, metric="full", n_components=30), None),
    "shrinking": (lambda: ForgetronClassifier(gamma=0.4, budget=9), None),
    "halving": (lambda: AhpatronClassifier(gamma=0.4, budget=9), None),
    "machines": (lambda: BOLSSVMClassifier(gamma=0.4, budget=9), None),
    "last samples": (lambda: KAPARegressor(gamma=0.4, budget=15, order=5), None),
    "forest": (lambda: KernelForestClassifier(n_trees=4, random_state=0), None),
}


def begun(make, X, y):
    model = make()
    more = {"classes": ["no", "yes"]} if is_classifier(model) else {}
    return model.partial_fit(X, y, **more)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, "float64") for name in IN_C),
        *(marked((name, "float32"), number % 3 > 0) for number, name in enumerate(IN_C)),
    ],
)
def test_saved_in_c(name, dtype, stream, tmp_path):
    """A model that was saved and loaded is the same to the bit, and agrees with what is read."""
    make, capacity = IN_C[name]
    X, y = stream("regression" if is_regressor(make()) else "binary", n=120)
    model = begun(make, X[:40], y[:40])
    device = Device(tmp_path, model, dtype=dtype, capacity=capacity)
    alone, saved = device.new(), device.new()
    assert device.save(alone) == device.written(model)
    device.teach(alone, X[40:], y[40:])
    device.teach(saved, X[40:60], y[40:60])
    data, fresh = device.save(saved), device.new()
    assert data != device.save(fresh)
    assert device.load(fresh, data) == 0
    device.teach(fresh, X[60:], y[60:])
    assert device.save(fresh) == device.save(alone)
    # Meanwhile the other model has stayed as it was.
    assert device.save(saved) == data
    read = read_device_state(model, data)
    bound = 1e-12 if dtype == "float64" else 1e-4
    scores = scores_of(read, X)
    bound *= max(1, np.abs(scores).max())
    np.testing.assert_allclose(device.scored(saved, X), scores, rtol=0, atol=bound)
    if dtype == "float64":
        expected = deepcopy(model)
        for x, label in zip(X[40:60], y[40:60], strict=True):
            expected.learn_one(x, label)
        np.testing.assert_allclose(scores, scores_of(expected, X), rtol=0, atol=1e-9)


def test_the_functions_without_a_model_share_one(stream, tmp_path):
    X, y = stream("binary", n=80)
    model = PAClassifier().fit(X[:40], y[:40])
    device = Device(tmp_path, model)
    own, first = device.new(), device.scores(X)
    device.teach(own, X[40:], y[40:])
    np.testing.assert_array_equal(device.scores(X), first)
    assert (device.scored(own, X) != first).any()


def test_no_memory_of_its_own(stream, tmp_path):
    """Compiled without the shared model, the code has constants only."""
    size = shutil.which("size")
    if size is None:
        pytest.skip("size is not installed")
    streams = {task: stream(task, n=80) for task in ("binary", "regression")}
    for number, (make, capacity) in enumerate(IN_C.values()):
        model = begun(make, *streams["regression" if is_regressor(make()) else "binary"])
        made = model.export_c(tmp_path / f"m{number}.c", learn=True, capacity=capacity)
        target = made.code.with_suffix(".o")
        flags = [f"-DM{number}_NO_SHARED_MODEL", "-fno-pie", "-c", "-o", str(target)]
        subprocess.run([compiler(), *FLAGS, *flags, str(made.code)], check=True)
        told = subprocess.run([size, str(target)], check=True, capture_output=True, text=True)
        _, data, bss = map(int, told.stdout.splitlines()[1].split()[:3])
        assert data == bss == 0, made.code.read_text()


def test_landmarks_that_are_all_there(stream, tmp_path):
    """They stay in flash; in C that was exported before, they go on growing."""
    X, y = stream("binary", n=120)
    model = KernelRLSClassifier(gamma=0.4, n_components=30, reg=0.1)
    model.partial_fit(X[:20], y[:20], classes=["no", "yes"])
    full = deepcopy(model).partial_fit(X[20:], y[20:])
    assert [describe_learning(own).state.map.fixed for own in (model, full)] == [False, True]
    device = Device(tmp_path, model)
    memory, data = device.new(), write_device_state(model)
    ram = [own.export_c(tmp_path / "ram.c").ram for own in (model, full)]
    assert ram[0] - ram[1] == 8 * 30 * (30 + X.shape[1])
    assert device.load(memory, write_device_state(full)) == -7
    given = write_device_state(full, like=data)
    assert len(given) == len(data)
    assert device.load(memory, given) == 0
    np.testing.assert_allclose(device.scored(memory, X), scores_of(full, X), atol=1e-12)
    read = read_device_state(model, device.save(memory))
    np.testing.assert_array_equal(scores_of(read, X), scores_of(full, X))
    assert write_device_state(model, like=write_device_state(model, dtype="float32"))[6] == 4
    for wrong, message in (
        (data[:-1], "like must be"),
        (write_device_state(PAClassifier().fit(X, y)), "like are the state of another model"),
    ):
        with pytest.raises(ValueError, match=message):
            write_device_state(full, like=wrong)
    with pytest.raises(TypeError, match="like must be bytes"):
        write_device_state(full, like=3.5)


def test_prefixes(stream, tmp_path):
    """Names of the header are none of the file's own."""
    X, y = stream("regression", n=80)
    model = KernelPARegressor(gamma=0.4, max_support=30, when_full="nearest").fit(X, y)
    names = ("first", "check", "write", "shared", "state", "target", "model", "exported", "t")
    for name in names:
        Device(tmp_path, model, name, capacity=None)


def signed(body):
    """Return bytes with their checksum."""
    return bytes(body) + struct.pack("<I", zlib.crc32(bytes(body)))


def test_damaged_states_are_refused(stream, tmp_path):
    """Whatever byte is another one: the load fails, and nothing has changed."""
    X, y = stream("binary", n=60)
    model = BPAClassifier(gamma=0.4, budget=4).fit(X, y)
    device = Device(tmp_path, model)
    memory, data = device.new(), device.written(model)
    device.teach(memory, X[:5], y[:5])
    before = memory.raw
    for place in range(len(data)):
        wrong = bytearray(data)
        wrong[place] ^= 1 << place % 8
        assert device.load(memory, bytes(wrong)) in (-5, -6), place
        with pytest.raises(ValueError, match="data "):
            read_device_state(model, wrong)
    for end in range(len(data)):
        assert device.load(memory, data[:end]) == -5
        with pytest.raises(ValueError, match="data "):
            read_device_state(model, data[:end])
    assert memory.raw == before
    assert device.load(memory, data) == 0
    assert memory.raw != before


def test_wrong_states_are_refused(stream, tmp_path):
    """States that are whole, of another version, another model or with impossible numbers."""
    X, y = stream("binary", n=60)
    model = BPAClassifier(gamma=0.4, budget=4).fit(X, y)
    device = Device(tmp_path, model)
    memory, data = device.new(), device.written(model)
    before, body = memory.raw, data[:-4]
    later = signed(body[:4] + b"\x02" + body[5:])
    more_of_it = body[:24] + body[24:].replace(struct.pack("<i", 4), struct.pack("<i", 5), 1)
    nan = body[:24] + struct.pack("<d", np.nan) + body[32:]
    others = [
        (-6, later, "version 2"),
        (-7, write_device_state(BPAClassifier(gamma=0.41, budget=4).fit(X, y)), "another model"),
        (-7, write_device_state(PAClassifier().fit(X, y)), "another model"),
        (-7, write_device_state(model, dtype="float32"), None),
        (-5, signed(nan), "not finite"),
        (-5, signed(more_of_it), "n_support=5"),
    ]
    for code, wrong, message in others:
        assert device.load(memory, wrong) == code
        assert memory.raw == before
        if message:
            with pytest.raises(ValueError, match=message):
                read_device_state(model, wrong)
    with pytest.raises(TypeError, match="data must be bytes"):
        read_device_state(model, "text")
    with pytest.raises(TypeError, match="cannot be exported to learn"):
        write_device_state(PegasosClassifier(batch_size=5).fit(X, y))
    for arguments, message in (
        ({"dtype": "int8"}, "dtype must be"),
        ({"capacity": 3}, "capacity=3 has no effect"),
        ({"number": -1}, "number must be"),
        ({"number": 0.5}, "number must be"),
    ):
        with pytest.raises(ValueError, match=message):
            write_device_state(model, **arguments)


def test_a_power_cut_loses_nothing(stream, tmp_path):
    """Wherever the writing of a slot ends, the newest whole state is loaded."""
    X, y = stream("binary", n=60)
    model = PAClassifier().fit(X[:40], y[:40])
    device = Device(tmp_path, model)
    size = len(device.written(model))
    slots = [bytes(size), b"\xff" * size]
    memory, bytes_ = device.new(), ctypes.create_string_buffer(size)
    length = ctypes.c_size_t(size)
    assert device.call("load_newest", memory, *slots, length) == -5
    saved: list[bytes] = []
    for step in range(5):
        device.teach(memory, X[40 + step :][:1], y[40 + step :][:1])
        slot = device.call("save_next", memory, *slots, bytes_, length)
        assert slot == (step % 2 if saved else 0)
        for cut in range(size):
            torn = list(slots)
            torn[slot] = bytes_.raw[:cut] + slots[slot][cut:]
            if torn[slot] in (slots[slot], bytes_.raw):
                continue
            fresh = device.new()
            code = device.call("load_newest", fresh, *torn, length)
            assert code == 0 if saved else code in (-5, -6)
            assert not saved or device.save(fresh) == saved[-1]
        slots[slot] = bytes_.raw
        saved.append(device.save(memory))
        fresh = device.new()
        assert device.call("load_newest", fresh, *slots, length) == 0
        assert device.save(fresh) == saved[-1]
    # What Python writes may follow, and the count of savings may wrap around.
    slots = [device.written(model, 2**32 - 1), saved[0]]
    slots[1] = signed(slots[1][:16] + struct.pack("<I", 0) + slots[1][20:-4])
    assert device.call("load_newest", memory, *slots, length) == 0
    assert device.save(memory) == saved[0]
    assert device.call("save_next", memory, *slots, bytes_, length) == 0


def test_devices_are_merged_and_go_on(stream, tmp_path):
    """Rounds of devices in C give the model that rounds of learners in Python give."""
    X, y = stream("binary", n=160)
    model = PAClassifier(average=True).fit(X[:40], y[:40])
    device = Device(tmp_path, model)
    base, memories = model, [device.new() for _ in range(4)]
    for begin in (40, 100):
        parts, twins = [], []
        for number, memory in enumerate(memories):
            own = slice(begin + 15 * number, begin + 15 * (number + 1))
            assert device.load(memory, device.written(base)) == 0
            device.teach(memory, X[own], y[own])
            parts.append(read_device_state(base, device.save(memory)))
            twins.append(deepcopy(base).partial_fit(X[own], y[own]))
        base, expected = merge(parts, base=base), merge(twins, base=base)
        assert base.n_seen_ == model.n_seen_ + begin - 40 + 60
        np.testing.assert_allclose(scores_of(base, X), scores_of(expected, X), atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_ages_of_support_vectors(dtype, stream):
    """Those that stayed keep their age; those that a device took up are younger."""
    case = Case("RBPClassifier", {"budget": 10}, "binary")
    X, y = stream("binary", n=160)
    base = fitted(case, X[:60], y[:60])
    model = deepcopy(base).partial_fit(X[60:70], y[60:70])
    read = read_device_state(base, write_device_state(model, dtype=dtype))
    old, new = (own._model.space.support.get_state() for own in (base, read))
    kept = (old["rows"] == new["rows"]).all(axis=1)
    assert 0 < kept.sum() < 10
    np.testing.assert_array_equal(new["ages"][kept], old["ages"][kept])
    assert (new["ages"][~kept] >= old["added"]).all()
