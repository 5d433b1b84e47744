"""Devices that learn in C, with unlike data, and are merged in rounds: the error before and after.

    python -P benchmarks/devices.py [--devices N] [--rounds R] [--samples S] [--only NAME,...]
                                    [--unlike NAME,...] [--mean] [--curve]
    python -P benchmarks/devices.py --sizes

All devices are models of one exported file, in one process: each is a structure of C, which learns
its own samples there. In a round every device learns S samples; then their states are read
(`read_device_state`), merged by eights (`onlinekern.merge`), and the merged state is written back
to all. The data are made; what makes them unlike is

    none    all devices see the same distribution;
    users   each device has its own place in space, and its own threshold;
    seasons the place moves along the rounds, for all devices, and comes back after four.

Errors are shares of held-out samples, in per cent: `own` are of the device's own distribution in
this round, the mean of the devices; `all` are those of all devices in all rounds. `alone` are
devices that are never merged, `stream` is one learner in Python of all samples of all devices.
With `--mean` a sample of one of n merged models counts 1 / n: precisions are averaged, not added.
With `--curve` the rounds are columns, and each cell has the errors before and after the merge.

The second form compiles with `-Os` for a Cortex-M4 (`arm-none-eabi-gcc`), or for this machine where
that is missing, and prints the bytes of flash, of one model, and of the stack, without the C
library.
"""

import ctypes
import re
import shutil
import subprocess
import tempfile
import time
from copy import deepcopy
from pathlib import Path

import numpy as np
from command import read_options
from sklearn.base import is_classifier

import onlinekern as ok

FEATURES, BEGUN, HELD, FAN_IN, SEASONS = 8, 500, 2000, 8, 4
KERNEL = {"gamma": 0.1, "random_state": 0}
LEARNERS = {
    "PA, linear": ok.PAClassifier(C=0.01, average=True),
    "AROW, linear": ok.AROWClassifier(covariance="diagonal"),
    "FOGD, 100 frequencies": ok.FOGDClassifier(n_components=100, average=True, **KERNEL),
    "BPA-S, 50 support vectors": ok.BPAClassifier(gamma=0.1, budget=50),
    "kernel RLS, 50 landmarks": ok.KernelRLSClassifier(
        gamma=0.1, n_components=50, gate="always", reg=1.0
    ),
    "kernel forest, 10 trees": ok.KernelForestClassifier(n_trees=10, random_state=0),
}
BUDGET = {"gamma": 0.1, "budget": 50}
# Of these, only the sizes are measured.
MORE = {
    "BSGD, merging, 50": ok.BSGDClassifier(reg=1e-3, **BUDGET),
    "BSGD, projection, 50": ok.BSGDClassifier(reg=1e-3, maintenance="project", **BUDGET),
    "DualSGD, 50, 100 frequencies": ok.DualSGDClassifier(reg=1e-3, n_components=100, **BUDGET),
    "Projectron, 50": ok.ProjectronClassifier(**BUDGET),
    "AROW, shared covariance": ok.AROWClassifier(covariance="shared"),
    "kernel AROW, 50 landmarks": ok.KernelAROWClassifier(gamma=0.1, n_components=50),
    "KRLS, 50": ok.KRLSRegressor(**BUDGET),
    "sliding-window KRLS, 50": ok.SlidingWindowKRLSRegressor(**BUDGET),
    "KRLS-T, 50": ok.KRLSTRegressor(**BUDGET),
    "mean detector, 50 frequencies": ok.KernelMeanDetector(gamma=0.1, n_components=100),
    "Forgetron, 50": ok.ForgetronClassifier(**BUDGET),
    "Ahpatron, 50": ok.AhpatronClassifier(**BUDGET),
    "BOLS-SVM, 50": ok.BOLSSVMClassifier(**BUDGET),
    "KAPA, 50, order 10": ok.KAPARegressor(**BUDGET),
    "kernel RLS, 50, reg='auto'": ok.KernelRLSRegressor(gamma=0.1, n_components=50),
    "kernel RLS, 50, forgetting": ok.KernelRLSClassifier(
        gamma=0.1, n_components=50, reg=1.0, forgetting=0.99
    ),
    "race, memory_budget=0.2": ok.StreamClassifier(time_budget=5, memory_budget=0.2),
}
UNLIKE = ("none", "users", "seasons")
DRIVER = """
#include "m.h"
int model_bytes(void);
int teach(m_t *models, const m_real *x, const int32_t *y, int devices, int samples);
void classes(m_t *model, const m_real *x, int32_t *found, int n);
int model_bytes(void) { return (int)sizeof(m_t); }
int teach(m_t *models, const m_real *x, const int32_t *y, int devices, int samples)
{
    int refused = 0;
    for (long i = 0; i < (long)devices * samples; i++)
        refused += m_learn_one_r(models + i / samples, x + i * M_N_FEATURES, y[i]) != M_OK;
    return refused;
}
void classes(m_t *model, const m_real *x, int32_t *found, int n)
{
    for (int i = 0; i < n; i++)
        found[i] = m_predict_r(model, x + (long)i * M_N_FEATURES);
}
"""
CORTEX = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]


class World:
    """Samples of each device and round."""

    def __init__(self, unlike, devices, rounds):
        rng = np.random.default_rng(1)
        self.unlike, self.devices, self.rounds = unlike, devices, rounds
        self.places = rng.normal(size=(devices, FEATURES)) * (unlike == "users")
        self.thresholds = 0.5 * rng.normal(size=devices) * (unlike == "users")
        self.seasons = rng.normal(size=(SEASONS, FEATURES)) * (unlike == "seasons")
        self.rng = np.random.default_rng(2)

    def of(self, device, season, n):
        """Return rows and classes; `device` and `season` may be arrays of n."""
        X = self.rng.normal(size=(n, FEATURES))
        X += self.places[device] + self.seasons[season % SEASONS]
        f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + X[:, 3] / 2 - self.thresholds[device]
        return X, (f + 0.3 * self.rng.normal(size=n) > 0).astype(np.int32)

    def anywhere(self, n):
        devices, rounds = (self.rng.integers(k, size=n) for k in (self.devices, self.rounds))
        return self.of(devices, rounds, n)


class Fleet:
    """Models of one exported file, in memory of C."""

    def __init__(self, model, folder, devices):
        made = model.export_c(Path(folder) / "m.c", learn=True)
        driver = made.code.with_name("driver.c")
        driver.write_text(DRIVER)
        library = made.code.with_suffix(".so")
        run("cc", "-O2", "-fPIC", "-shared", "-std=c99", made.code, driver, "-o", library, "-lm")
        self.c, self.devices = ctypes.CDLL(str(library)), devices
        self.width = self.c.model_bytes()
        self.memory = ctypes.create_string_buffer(self.width * devices)
        self.state = len(ok.write_device_state(model))
        for device in range(devices):
            self.c.m_init(self.at(device))

    def at(self, device):
        return ctypes.c_void_p(ctypes.addressof(self.memory) + self.width * device)

    def teach(self, X, y):
        """Let all devices learn their samples; X is (devices, samples, features)."""
        refused = self.c.teach(self.memory, pointer(X), pointer(y), len(X), X.shape[1])
        assert refused == 0, f"{refused} samples were refused"

    def saved(self, device):
        bytes_ = ctypes.create_string_buffer(self.state)
        assert self.c.m_save(self.at(device), bytes_, ctypes.c_size_t(self.state)) == 0
        return bytes_.raw

    def load(self, data):
        for device in range(self.devices):
            assert self.c.m_load(self.at(device), data, ctypes.c_size_t(len(data))) == 0

    def error(self, device, X, y):
        found = np.zeros(len(y), np.int32)
        self.c.classes(self.at(device), pointer(X), pointer(found), len(y))
        return 100 * np.mean(found != y)


def pointer(array):
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)


def merged(models, base, mean):
    """Merge models by eights; for their mean, all at once."""
    if mean:
        return ok.merge(models, [1 / len(models)] * len(models), base=base)
    while len(models) > 1:
        parts = [models[i : i + FAN_IN] for i in range(0, len(models), FAN_IN)]
        models = [ok.merge(part, base=base) for part in parts]
    return models[0]


def rounds_of(learner, world, samples, mean, folder):
    """Yield for each round the errors, and the CPU seconds of reading and merging."""
    X, y = world.anywhere(BEGUN)
    base = deepcopy(learner).partial_fit(X, y, classes=[0, 1])
    stream, devices = deepcopy(base), world.devices
    fleet, alone = Fleet(base, folder, devices), Fleet(base, folder, devices)
    far_X, far_y = world.anywhere(HELD)
    for season in range(world.rounds):
        drawn = [world.of(d, season, samples) for d in range(devices)]
        X, y = (np.ascontiguousarray(np.stack(part)) for part in zip(*drawn, strict=True))
        near = [world.of(d, season, 200) for d in range(devices)]
        fleet.teach(X, y)
        alone.teach(X, y)
        turns = np.arange(devices * samples).reshape(devices, samples).T.ravel()
        stream.partial_fit(X.reshape(-1, FEATURES)[turns], y.ravel()[turns])
        before = errors(fleet, near, far_X, far_y)
        begun = time.process_time()
        parts = [ok.read_device_state(base, fleet.saved(d)) for d in range(devices)]
        read = time.process_time()
        base = merged(parts, base, mean)
        took = read - begun, time.process_time() - read
        fleet.load(ok.write_device_state(base))
        after = errors(fleet, near, far_X, far_y, same=True)
        one = 100 * np.mean(stream.predict(far_X) != far_y)
        yield (*before, *after, *errors(alone, near, far_X, far_y), one), took, fleet.state


def errors(fleet, near, far_X, far_y, same=False):
    """Return the mean error of the devices on their own samples, and on those of all."""
    own = np.mean([fleet.error(d, *part) for d, part in enumerate(near)])
    known = [0] if same else range(0, fleet.devices, max(1, fleet.devices // 50))
    return own, np.mean([fleet.error(d, far_X, far_y) for d in known])


def told(name, unlike, found):
    """Print a line for each round."""
    for number, (e, took, size) in enumerate(found, 1):
        print(
            f"| {name} | {unlike} | {number} | {e[0]:.1f} / {e[1]:.1f} "
            f"| {e[2]:.1f} / {e[3]:.1f} | {e[4]:.1f} / {e[5]:.1f} | {e[6]:.1f} "
            f"| {took[0]:.1f}, {took[1]:.1f} | {size:,} |",
            flush=True,
        )


def curve(name, unlike, found):
    """Print a line for each kind of error, with the rounds side by side."""
    rounds = [e for e, _, _ in found]
    for kind, own in (("own", 0), ("all", 1)):
        cells = [f"{e[own]:.1f} → {e[own + 2]:.1f} ({e[own + 4]:.1f})" for e in rounds]
        print(f"| {name} | {unlike} | {kind} | {' | '.join(cells)} |", flush=True)


def curves(arguments):
    """Print the errors of each learner and each kind of data."""
    if arguments.curve:
        numbers = " | ".join(map(str, range(1, arguments.rounds + 1)))
        print(f"| learner | unlike | samples | {numbers} |")
        print("|---" * (3 + arguments.rounds) + "|")
    else:
        print(
            "| learner | unlike | round | before: own / all | merged: own / all "
            "| alone: own / all | stream: all | read, merge: CPU s | bytes |"
        )
        print("|---" * 9 + "|")
    for name, learner in LEARNERS.items():
        if arguments.only and name.split(",")[0] not in arguments.only.split(";"):
            continue
        for unlike in arguments.unlike:
            world = World(unlike, arguments.devices, arguments.rounds)
            with tempfile.TemporaryDirectory() as folder:
                found = rounds_of(learner, world, arguments.samples, arguments.mean, folder)
                (curve if arguments.curve else told)(name, unlike, found)


def stack_of(graph):
    """Return the bytes of the deepest chain of calls of each function, from gcc's call graph."""
    text = graph.read_text()
    nodes = dict(re.findall(r'node: { title: "([^"]+)" label: "[^"]*?(\d+) bytes', text))
    edges = {}
    for source, target in re.findall(r'sourcename: "([^"]+)" targetname: "([^"]+)"', text):
        edges.setdefault(source, set()).add(target)

    def deepest(name):
        inner = max(map(deepest, edges.get(name, ())), default=0)
        return int(nodes.get(name, 0)) + inner

    return {name.rpartition(":")[2]: deepest(name) for name in nodes}


def sizes():
    """Print flash, RAM and stack of each learner."""
    world = World("none", 10, 1)
    X, y = world.anywhere(2000)
    print(f"{tools()[0]} -Os")
    print(
        "| learner | type | flash | of that, code of the state | RAM of a model | state, bytes "
        "| stack: learn / predict / load |"
    )
    print("|---" * 7 + "|")
    for name, learner in (LEARNERS | MORE).items():
        more = {"classes": [0, 1]} if is_classifier(learner) else {}
        model = deepcopy(learner).partial_fit(X, y, **more)
        for dtype in ("float64", "float32"):
            with tempfile.TemporaryDirectory() as folder:
                print(f"| {name} | {dtype} | {size_of(model, dtype, Path(folder))} |")


def tools():
    """Return the names of the compiler and of what tells the size of its files."""
    if shutil.which("arm-none-eabi-gcc") is not None:
        return ["arm-none-eabi-gcc", "arm-none-eabi-size"]
    return ["gcc", "size"]


def size_of(model, dtype, folder):
    """Return flash, code of the state, RAM, bytes of a state, and stack, as cells of a table."""
    compiler, measure = tools()
    made = model.export_c(folder / "m.c", dtype=dtype, learn=True)
    cross = CORTEX if compiler.startswith("arm") else []
    options = [*cross, "-Os", "-std=c99", "-DM_NO_SHARED_MODEL"]
    target = folder / "m.o"
    flags = ["-fcallgraph-info=su", "-ffunction-sections", "-c", made.code, "-o", target]
    run(compiler, *options, *flags)
    text, data, bss = map(int, run(measure, target).stdout.splitlines()[1].split()[:3])
    assert data + bss == 0, "models are the caller's"
    code = code_of_state(run(measure, "-A", target).stdout)
    probe = folder / "probe.c"
    probe.write_text('#include "m.h"\nconst char probe[sizeof(m_t)] = {1};\n')
    run(compiler, *options, "-c", probe, "-o", target)
    ram = int(run(measure, target).stdout.split()[6])
    deep = stack_of(next(folder.glob("*.ci")))
    size = len(ok.write_device_state(model, dtype=dtype))
    ends = " / ".join(str(deep[f"m_{end}"]) for end in ("learn_one_r", "predict_r", "load"))
    return f"{text:,} | {code:,} | {ram:,} | {size:,} | {ends}"


def code_of_state(sections):
    """Return the bytes of the functions that save and load, from what `size -A` prints."""
    return sum(
        int(size)
        for section, size in re.findall(r"^\.text\.(\S+)\s+(\d+)", sections, re.M)
        if re.search(r"save|load|bytes|word|checksum|newest|sound|wrong_with", section)
    )


def main():
    arguments = read_options(
        __doc__,
        devices=200,
        rounds=8,
        samples=100,
        only=None,
        unlike=tuple(UNLIKE),
        mean=False,
        curve=False,
        sizes=False,
    )
    sizes() if arguments.sizes else curves(arguments)


if __name__ == "__main__":
    main()
