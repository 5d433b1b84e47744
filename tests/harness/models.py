"""Model files, fuzzed: bytes, headers, trees and arrays, most of them with a checksum that agrees.

Whatever a file says, `onlinekern.load` gives a model or raises ValueError with the file's name, or
MemoryError; a model that it gives predicts, learns and is saved again, or refuses with ValueError,
FloatingPointError or MemoryError. Children work under a bound of memory and of time: one that dies
is a finding, and the next one goes on.
"""

import copy
import functools
import hashlib
import inspect
import io
import json
import math
import mmap
import os
import pickle
import random
import signal
import struct
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import numpy as np

from harness.readers import limit_memory, mutate
from harness.reports import Report, run
from harness.subjects import (
    CLASSES,
    FRAMES,
    LAYOUTS,
    build,
    first_call,
    hasten,
    is_online,
    n_seen,
    row_of,
    samples,
    takes,
    targets,
)
from harness.subjects import NAMES as LEARNERS
from onlinekern import (
    FourierFeatures,
    FrequentDirections,
    LearntMetric,
    NystroemFeatures,
    OnlineStandardScaler,
    PartitionFeatures,
    TableEncoder,
)
from onlinekern.drift import ClassifierDetector, LossDetector, MMDDetector
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.fitted.save.registered import parts
from onlinekern.fitted.state import restorers

MOST_SECONDS = 20
# Tries of one child.
BATCH = 100
TRANSFORMERS = {
    "FourierFeatures": lambda: FourierFeatures(n_components=4, random_state=0),
    "FrequentDirections": lambda: FrequentDirections(sketch_size=3),
    "LearntMetric": lambda: LearntMetric(random_state=0),
    "LearntMetric, full": lambda: LearntMetric(metric="full", random_state=0),
    "NystroemFeatures": lambda: NystroemFeatures(n_components=4, random_state=0),
    "OnlineStandardScaler": lambda: OnlineStandardScaler(forgetting=0.9),
    "PartitionFeatures": lambda: PartitionFeatures(n_trees=3, random_state=0),
}
TABLES = {"TableEncoder": TableEncoder, "TableEncoder, sparse": lambda: TableEncoder(sparse=True)}
DETECTORS = {
    "ClassifierDetector": lambda: ClassifierDetector(n_reference=9),
    "LossDetector": lambda: LossDetector(random_state=0),
    "MMDDetector": lambda: MMDDetector(n_reference=9, n_components=4, random_state=0),
}
OTHERS = {**TRANSFORMERS, **TABLES, **DETECTORS}
NAMES = [*LEARNERS, *OTHERS]
NUMBERS = [
    *(0, 1, -1, 2, 3, 7, 127, 2**31 - 1, 2**31, 2**32 + 1, 2**53, 2**63 - 1, 2**63, -(2**63)),
    *(2**64, 10**12, 10**30, -(10**400), True, False, None, 0.0, -0.0, 0.5, -1.5, 1e-320, 1e308),
    *(-1e308, "", "nan", "linear", [], [0], [-1], [[0]], {}, {"kind": "tuple", "items": []}),
]
DTYPES = ["F64", "F32", "I64", "U64", "I32", "U32", "U8", "BOOL", "F16", "C64"]
NUMPY_DTYPES = ["<f8", "<f4", "<i8", "<u8", "<i4", ">f8", "|b1", "<U1", "<U0", "|S8", "<M8[s]", "O"]
BITS = struct.pack("<6Q", 0, 1, 2**63, 2**64 - 1, 2**63 - 1, 2**31)
WORDS = [*struct.unpack("<6d", BITS), math.nan, math.inf, -math.inf, 1e308, -1.0, 5e-324, 1e30]


@functools.cache
def case(name, layout):
    """Return the file of a model in mid-stream, as bytes, and samples for it."""
    if name in OTHERS:
        model = OTHERS[name]()
        X, y = samples(CLASSES["PARegressor"](), 30, layout=layout)
        if name not in DETECTORS:
            return to_bytes(model.fit(X, y)), X, None
        X = abs(y) / (1 + abs(y)) if name == "LossDetector" else X
        return to_bytes(model.update_many(X)), X, None
    # Forests in the middle of a renewal.
    hasten()
    model = build(name)
    X, y = samples(model, 66, layout=layout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_online(model):
            model.partial_fit(X[:36], *targets(model, y[:36]), **first_call(model))
        else:
            model.fit(X[:36], y[:36])
    return to_bytes(model), X[36:], y[36:]


class File:
    """The parts of a model file: header, nodes of the tree, data."""

    def __init__(self, data):
        length = int.from_bytes(data[:8], "little")
        self.header = json.loads(data[8 : 8 + length])
        self.texts = self.header.pop("__metadata__")
        self.nodes = json.loads(self.texts["tree"])
        self.data = bytearray(data[8 + length :])

    def to_bytes(self):
        """Return the file, its checksum made to agree."""
        with suppress(TypeError, ValueError):
            self.texts["tree"] = json.dumps(self.nodes)
        with suppress(TypeError, KeyError, ValueError):
            self.texts["sha256"] = self.checksum()
        text = json.dumps({"__metadata__": self.texts, **self.header}).encode()
        return len(text).to_bytes(8, "little") + text + bytes(self.data)

    def checksum(self):
        digest = hashlib.sha256()
        for key in ("format_version", "library_version", "class", "tree"):
            digest.update(f"{self.texts[key]}\n".encode())
        for name in sorted(self.header):
            entry = self.header[name]
            shape = ",".join(map(str, entry["shape"]))
            digest.update(f"{name} {entry['dtype']} {shape}\n".encode())
            digest.update(self.data[slice(*entry["data_offsets"])])
        return digest.hexdigest()


def places_of(value):
    """Return (container, key) for everything that a JSON value holds, at any depth."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        found.append((value, key))
        if isinstance(item, dict | list):
            found += places_of(item)
    return found


def change_node(file, draw):
    """Put another number, text or reference somewhere in the tree."""
    container, key = draw.choice(places_of(file.nodes))
    old = container[key]
    choices = [draw.choice(NUMBERS), [draw.randrange(len(file.nodes))]]
    if type(old) in (int, float):
        choices += [old + 1, old - 1, -old, old * 2, old * 10**9]
    container[key] = draw.choice(choices)


def change_class(file, draw):
    """Name another class, restorer or kind."""
    restored = [kind.name for kind in restorers().values()]
    names = {"class": [*CLASSES, *OTHERS, *parts(), "Pipeline"], "object": [*restored, "os.system"]}
    names["kind"] = [node["kind"] for node in file.nodes]
    names["dtype"] = NUMPY_DTYPES
    places = [(node, key) for node in file.nodes if isinstance(node, dict) for key in names]
    node, key = draw.choice([(node, key) for node, key in places if key in node])
    node[key] = draw.choice(names[key])


def swap_nodes(file, draw):
    """Exchange two nodes or fields, drop one, or take one twice."""
    change = draw.randrange(4)
    one, other = (draw.choice(places_of(file.nodes)) for _ in range(2))
    if change == 0:
        i, j = (draw.randrange(len(file.nodes)) for _ in range(2))
        file.nodes[i], file.nodes[j] = file.nodes[j], file.nodes[i]
    elif change == 1:
        one[0][one[1]] = copy.deepcopy(other[0][other[1]])
    elif change == 2:
        del one[0][one[1]]
    elif isinstance(one[0], list):
        one[0].insert(one[1], copy.deepcopy(one[0][one[1]]))
    else:
        one[0][str(draw.choice(["alpha", "_model", "predict", "__class__", "x"]))] = 1


def nest(file, draw):
    """Nest deep: in the tree's JSON, or in references."""
    if draw.random() < 0.2:
        file.texts["tree"] = "[" * draw.choice([100, 5000, 10**6])
        file.nodes = object()  # json.dumps refuses it, so that the text stays
        return
    first = len(file.nodes)
    count = draw.choice([50, 99, 150, 5000])
    kind = draw.choice(["tuple", "list"])
    chain = [{"kind": kind, "items": [[first - 2 + i]]} for i in range(count)]
    file.nodes[-1:-1] = chain
    container, key = draw.choice(places_of(file.nodes[-1]))
    container[key] = [len(file.nodes) - 2]


def change_elements(file, draw):
    """Put other numbers into an array, or flip bits."""
    name = draw.choice(sorted(file.header))
    start, stop = file.header[name]["data_offsets"]
    width = 8 if file.header[name]["dtype"] in ("F64", "I64", "U64") else 4
    for _ in range(draw.choice([1, 1, 3])):
        if stop - start < width:
            return
        at = start + width * draw.randrange((stop - start) // width)
        if draw.random() < 0.4:
            file.data[at + draw.randrange(width)] ^= 1 << draw.randrange(8)
            continue
        integer = draw.choice([0, 1, -1, 2, 5, 2**31 - 1, -(2**31)]) % 2 ** (8 * width)
        word = draw.choice(WORDS)
        if width == 8:
            real = struct.pack("<d", word)
        else:  # what a float32 cannot hold is an infinity
            real = np.asarray(word).astype("<f4").tobytes()
        file.data[at : at + width] = draw.choice([integer.to_bytes(width, "little"), real])


def change_shape(file, draw):
    """Give an array another shape or dtype, its bytes cut or doubled to fit."""
    name = draw.choice(sorted(file.header))
    entry = file.header[name]
    shape = list(entry["shape"])
    for _ in range(draw.choice([1, 1, 2])):
        change = draw.randrange(5)
        if change == 0:
            entry["dtype"] = draw.choice(DTYPES)
        elif change == 1:
            shape = shape[::-1]
        elif change == 2 and shape:
            i = draw.randrange(len(shape))
            shape[i] = max(0, shape[i] + draw.choice([-1, 1, 2, 8]))
        elif change == 3:
            shape = draw.choice([[1, *shape], [*shape, 1], shape[1:], [math.prod(shape)], []])
        elif shape:
            shape[draw.randrange(len(shape))] = draw.choice([0, -1, 2**31, 2**62, 10**30])
    entry["shape"] = shape
    fit_data(file, name)


def fit_data(file, changed):
    """Lay the arrays one after another again, the changed one with as many bytes as it needs."""
    widths = {"F64": 8, "I64": 8, "U64": 8, "C64": 8, "F16": 2, "U8": 1, "BOOL": 1}
    data, entry = bytearray(), file.header[changed]
    if not all(type(size) is int for size in entry["shape"]):  # damaged before, to text for one
        return
    needed = math.prod(entry["shape"]) * widths.get(entry["dtype"], 4)
    if not 0 <= needed < 1 << 20:
        return
    for name in sorted(file.header, key=lambda name: file.header[name]["data_offsets"]):
        start, stop = file.header[name]["data_offsets"]
        content = file.data[start:stop]
        if name == changed:
            content = (content * (needed // max(1, len(content)) + 1) or bytes(needed))[:needed]
        file.header[name]["data_offsets"] = [len(data), len(data) + len(content)]
        data += content
    file.data = data


def change_header(file, draw):
    """Change what the header says, or its texts."""
    everything = {"header": file.header, "texts": file.texts}
    container, key = draw.choice(places_of(everything)[2:])
    container[key] = draw.choice([*NUMBERS, "2", "0", "1.0", [0, 8], [8, 0], [3, 2**62]])


CHANGES = [
    *(change_node, change_node, change_node, change_class, swap_nodes, nest),
    *(change_elements, change_elements, change_elements, change_shape, change_shape),
    change_header,
]


def layouts_of(name):
    """Return the layouts of the samples of a model."""
    if name in LEARNERS:
        return [layout for layout in LAYOUTS if takes(name, layout)]
    if name in TABLES:
        return ["dense", *FRAMES]
    # A full metric of 3,000 features is a large matrix.
    return ["dense"] if name in DETECTORS or "full" in name else ["dense", "csr", "wide"]


def damaged(seed):
    """Return the name of a model, its damaged file and samples; the seed decides all."""
    draw = random.Random(seed)
    name = draw.choice(NAMES)
    data, X, y = case(name, draw.choice(layouts_of(name)))
    if draw.random() < 0.15:
        return name, mutate(data, draw), X, y
    file = File(data)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        change = draw.choice(CHANGES)
        with suppress(TypeError, KeyError, ValueError, IndexError, AttributeError, OverflowError):
            change(file, draw)
    return name, file.to_bytes(), X, y


def use(model, X, y):
    """Predict, learn and save with a model that was loaded; a refused call ends nothing."""
    calls = [lambda: repr(model), lambda: pickle.dumps(model)]
    if hasattr(model, "update_many"):
        calls += [lambda: model.update_many(X), lambda: model.alarms_, lambda: model.statistic_]
    elif y is None:
        numbers = np.arange(X.shape[0], dtype=float)
        calls += [lambda: model.transform(X), lambda: model.partial_fit(X, numbers)]
    else:
        more, one = targets(model, y), targets(model, y[0].tolist())
        calls += [lambda: model.predict(X), lambda: model.score_one(row_of(X, 0))]
        if is_online(model):
            calls += [
                lambda: model.learn_one(row_of(X, 0), *one),
                lambda: model.partial_fit(X, *more),
            ]
        calls += [lambda: n_seen(model), lambda: model.predict(X)]
    for call in [*calls, lambda: to_bytes(model)]:
        with suppress(ValueError, FloatingPointError, MemoryError):
            call()


def has_valid_parameters(model):
    """Return whether scikit-learn accepts the parameters; wrong ones raise TypeError at times."""
    try:
        model._validate_params()
    except ValueError:
        return False
    return True


def attempt(seed):
    """Return what became of a damaged file: 'loaded', 'refused', or what is wrong."""
    name, data, X, y = damaged(seed)
    try:
        model = from_bytes(data, "it")
    except (ValueError, MemoryError) as error:
        named = isinstance(error, MemoryError) or str(error).startswith("it ")
        return "refused" if named else f"loading {name}: no file named: {error}"
    except Exception as error:
        return f"loading {name}: {type(error).__name__}: {error}"
    try:
        use(model, X, y)
    except Exception as error:
        if not has_valid_parameters(model):
            return "loaded"
        frames = inspect.getinnerframes(error.__traceback__)
        where = " < ".join(
            f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[::-1][:3]
        )
        return f"using {name}: {type(error).__name__}: {error} ({where})"
    return "loaded"


def child(seed, first, number, place, pipe):
    """Try a batch in a process of its own, and write its report to a pipe."""
    warnings.simplefilter("ignore")
    limit_memory()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # loops without the GIL end, too
    report = Report()
    for i in range(first, first + number):
        place[:8] = i.to_bytes(8, "little")
        signal.alarm(MOST_SECONDS)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            outcome = attempt(f"{seed} {i}")
        report.count("mutations")
        report.count(outcome if outcome in ("loaded", "refused") else "faults")
        if outcome not in ("loaded", "refused"):
            report.find(f"seed {seed}, number {i}: {outcome[:300]}")
    with os.fdopen(pipe, "wb") as stream:
        pickle.dump(report, stream)


def forked(seed, first, number):
    """Return the report of a batch, and the number after the last one tried."""
    place = mmap.mmap(-1, 8)
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(source)
        try:
            child(seed, first, number, place, sink)
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        sent = stream.read()
    status = os.waitpid(pid, 0)[1]
    if sent:
        return pickle.loads(sent), first + number
    reached = int.from_bytes(place[:8], "little")
    report = Report()
    report.count("mutations", reached + 1 - first)
    report.count("deaths")
    name = damaged(f"{seed} {reached}")[0]
    end = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"code {status}"
    report.find(f"seed {seed}, number {reached}: {name} ends the process: {end}")
    return report, reached + 1


def try_files(job):
    """Return the report of so many mutations; job is (seed, number)."""
    seed, number = job
    report, done = Report(), 0
    while done < number:
        part, done = forked(seed, done, min(BATCH, number - done))
        report.add(part)
    return report


def jobs(options):
    share = -(-options.number // options.processes)
    return [(options.seed + k, share) for k in range(options.processes)]


def main():
    """Try a `number` of mutations."""
    return run(try_files, jobs, names=False, number=300)


if __name__ == "__main__":
    sys.exit(main())
