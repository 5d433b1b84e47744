"""Failing allocations: the n-th allocation of a call fails, for every n.

A library that is preloaded (failing_allocations.c) fails an allocation of the compiled core, of
NumPy, or of the interpreter. The call then succeeds as if nothing had happened, or raises
MemoryError and leaves the model as it was; the call after it works; and the core holds no more
memory than before.

Where an allocation of NumPy or of the interpreter fails, NumPy and pickle raise errors of their own
in places (`OTHER_ERRORS`), and CPython loses the arguments of a call that finds no frame: there the
model is compared, memory is not counted.
"""

import argparse
import ctypes
import faulthandler
import gc
import os
import pickle
import random
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.base import clone
from states import difference, flattened, state_of

from harness import subjects
from harness.reports import Report, conclude
from onlinekern.core import stream

SOURCE = Path(__file__).with_name("failing_allocations.c")
# Samples that have been learnt before, and those of a call. Where allocations of the core fail,
# each call that learns renews a forest, at sample 32 or 64. NumPy ends the process where it has no
# memory for arrays of two types that meet, as they do in renewals.
FIRST, MORE = 40, {"core": 36, "numpy": 20, "python": 20}
KINDS = {"core": b"c", "numpy": b"o", "python": b"p"}
OTHER_ERRORS = {"numpy": (SystemError,), "python": (SystemError, pickle.PicklingError)}


def calls_of(model, X, y):
    """Return {name: (model or bytes or None, function of it)}: the calls that are tried."""
    rest = subjects.targets(model, y)
    calls = {
        "fit": (clone(model), lambda m: m.fit(X, *rest)),
        "fit again": (model, lambda m: m.fit(X, *rest)),
        "scores": (model, lambda m: subjects.score(m, X)),
        "dump": (model, pickle.dumps),
        "load": (pickle.dumps(model), pickle.loads),
    }
    if subjects.is_online(model):
        one = [target[0] for target in rest]
        first = subjects.first_call(model)
        fresh = clone(model)
        # SciPy does not survive that it has no memory for a part of a matrix.
        row = subjects.row_of(X, 0)
        calls |= {
            "first partial_fit": (fresh, lambda m: m.partial_fit(X, *rest, **first)),
            "partial_fit": (model, lambda m: m.partial_fit(X, *rest)),
            "learn_one": (model, lambda m: m.learn_one(row, *one)),
            "score_one": (model, lambda m: m.score_one(row)),
        }
    if hasattr(model, "partial_fit_predict"):
        calls["partial_fit_predict"] = (model, lambda m: m.partial_fit_predict(X, *rest))
    return calls


class Trial:
    """One call of one estimator, which can be made again and again from the same state."""

    def __init__(self, shim, subject, call):
        self.shim, self.call = shim, call
        self.bytes = subject if isinstance(subject, bytes) else None
        self.pickled = pickle.dumps(subject)
        self.before = {} if self.bytes else state_of(subject)
        outcome, self.after = self.attempt(b"-", 0)
        # The second time: what is made once (imports, caches) is there.
        self.result, self.after = self.attempt(b"-", 0)
        if isinstance(outcome, BaseException):
            raise outcome

    def fresh(self):
        return self.bytes if self.bytes else pickle.loads(self.pickled)

    def attempt(self, kind, n, subject=None):
        """Make the call with the n-th allocation failing; return its result, and the state."""
        subject = self.fresh() if subject is None else subject
        self.shim.arm(kind, n)
        try:
            result = self.call(subject)
        except BaseException as error:
            result = error
        finally:
            self.failed = self.shim.disarm()
            # A failure at the end of scikit-learn's own context leaves its setting behind.
            sklearn.set_config(skip_parameter_validation=False)
        self.subject = subject
        return result, {} if self.bytes else state_of(subject)

    def allocations(self, kind):
        """Count the allocations of the call."""
        self.attempt(kind, 0)
        return self.shim.allocations()

    def fault(self, kind, n):
        """Return what is wrong when the n-th allocation fails, None if nothing is."""
        result, state = self.attempt(KINDS[kind], n)
        if not self.failed:
            return None
        expected = (MemoryError, *OTHER_ERRORS.get(kind, ()))
        if isinstance(result, BaseException) and not isinstance(result, expected):
            return f"{type(result).__name__}: {str(result)[:200]}"
        if not isinstance(result, BaseException):
            differs = difference(state, self.after) or self.unlike(result)
            return f"succeeded, but differs: {differs}" if differs else None
        differs = difference(state, self.before)
        if differs:
            return f"{type(result).__name__}, but the model changed: {differs}"
        result, state = self.attempt(b"-", 0, self.subject)
        if isinstance(result, BaseException):
            return f"the next call failed: {result!r}"
        differs = difference(state, self.after) or self.unlike(result)
        return f"the next call differs: {differs}" if differs else None

    def unlike(self, result):
        """Return where a result is not the one of a call without failure."""
        expected, result = self.result, self.comparable(result)
        return difference(result, self.comparable(expected))

    @staticmethod
    def comparable(result):
        return dict(flattened(np.asarray(result) if isinstance(result, list) else result, "result"))


def try_call(shim, where, trial, kinds, options, report, log):
    """Fail the allocations of one call, of each kind, and collect what is wrong."""
    for kind in kinds:
        count = trial.allocations(KINDS[kind])
        chosen = range(1, count + 1)
        if options.most and count > options.most:
            draw = random.Random(f"{options.seed} {where} {kind}")
            chosen = sorted(draw.sample(chosen, options.most))
        report.count("calls with failing allocations of a kind")
        trial.subject = None
        gc.collect()
        held = shim.core_holds()
        for n in chosen:
            os.pwrite(log, f"{where}, {kind} allocation {n}".ljust(120).encode(), 0)
            fault = trial.fault(kind, n)
            report.count("failed allocations")
            if fault:
                report.find(f"{where}, {kind} allocation {n} of {count}: {fault}")
        trial.subject = None
        gc.collect()
        if kind not in OTHER_ERRORS and shim.core_holds() > held:
            report.find(f"{where}, {kind}: {shim.core_holds() - held} allocations were not freed")


def try_estimator(shim, name, layout, kinds, options, log):
    """Return the report of one estimator."""
    report = Report()
    model = subjects.build(name)
    X, y = subjects.samples(model, FIRST + MORE[kinds[0]], layout=layout)
    rest = subjects.targets(model, y)
    if subjects.is_online(model):
        first = [target[:FIRST] for target in rest]
        model.partial_fit(X[:FIRST], *first, **subjects.first_call(model))
    else:
        model.fit(X[:FIRST], *[target[:FIRST] for target in rest])
    calls = calls_of(model, X[FIRST:], y[FIRST:])
    chosen = [call for call in calls if call in (options.calls or calls)]
    if options.some:
        chosen = random.Random(f"{options.seed} {name} {layout}").sample(chosen, options.some)
    for call in chosen:
        where = f"{name}.{call} ({layout})"
        try_call(shim, where, Trial(shim, *calls[call]), kinds, options, report, log)
    return report


def inside(options, log):
    """Run in the process into which the library has been loaded."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    # A generator that is closed without memory says so, and nothing else happens.
    sys.unraisablehook = lambda _: None
    shim = ctypes.PyDLL(os.environ["FAILING_ALLOCATIONS"])
    shim.allocations.restype = shim.core_holds.restype = ctypes.c_long
    shim.arm.argtypes = (ctypes.c_char, ctypes.c_long)
    # An editable build has the modules in its own folder.
    core = f"{os.path.dirname(stream.__file__)}/"
    shim.begin(core.encode(), b"/numpy/")
    if not shim.core_parts():
        raise SystemExit("the compiled core was not found among the libraries of the process")
    began, report = time.monotonic(), Report()
    rest = [kind for kind in options.kinds if kind != "core"]
    groups = [kinds for kinds in (["core"] if "core" in options.kinds else [], rest) if kinds]
    subjects.hasten()
    gc.freeze()
    for name in options.names or subjects.NAMES:
        draw = random.Random(f"{options.seed} {name}")
        layouts = [layout for layout in options.layouts if subjects.takes(name, layout)]
        for layout in draw.sample(layouts, 1) if options.some and layouts else layouts:
            # pyarrow frees twice where the names of columns find no memory.
            for kinds in [each for each in groups if each == ["core"] or "tables" not in name]:
                report.add(try_estimator(shim, name, layout, kinds, options, log))
    return conclude(report, began)


def build_library(folder, compiler=("cc",)):
    """Compile the library that is preloaded; return its path."""
    library = Path(folder) / "failing_allocations.so"
    flags = ["-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl", "-lpthread"]
    subprocess.run([*compiler, *flags], check=True)
    return library


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", help="the compiled failing_allocations.c")
    parser.add_argument("--names", nargs="*", help="estimators, default all")
    parser.add_argument("--layouts", nargs="*", default=["dense"], choices=subjects.LAYOUTS)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--calls", nargs="*", help="methods, default all")
    parser.add_argument("--some", type=int, default=0, help="so many, drawn, in one layout; 0: all")
    parser.add_argument("--most", type=int, default=0, help="allocations of each call; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if "FAILING_ALLOCATIONS" in os.environ:
        return inside(options, int(os.environ["FAILING_LOG"]))
    library = str(Path(options.library).resolve())
    with open(f"{library}.log", "w+b") as log:
        command = [sys.executable, "-P", "-m", "harness.allocations", *sys.argv[1:]]
        environment = {"LD_PRELOAD": library, "FAILING_ALLOCATIONS": library,
                       "FAILING_LOG": str(log.fileno())}  # fmt: skip
        code = subprocess.run(
            command, env={**os.environ, **environment}, pass_fds=[log.fileno()], check=False
        ).returncode
        if code < 0:
            log.seek(0)
            print(f"crashed by signal {-code}: {log.read().decode()}", file=sys.stderr)
        return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
