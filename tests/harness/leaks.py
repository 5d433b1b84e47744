"""Leaks: estimators are made, fitted, asked, copied and dropped thousands of times.

What the C library has handed out (mallinfo2) and the blocks of the interpreter are counted before
and after some windows of cycles. What leaks grows in every window by as much; caches and tables
that are enlarged at times do not. Models are part of a reference cycle, which the garbage collector
ends in another order.
"""

import contextlib
import ctypes
import gc
import os
import pickle
import random
import sys
import warnings

import numpy as np

from harness import subjects
from harness.reports import Report, run

# So much a cycle is a leak, beyond so much a window: what is lost in every cycle is at least one
# block of 16 bytes; the interpreter's own tables grow a little in each window, less and less.
MOST = {"bytes of the C library": (8.0, 100), "blocks of the interpreter": (0.5, 60)}
WINDOWS = 5


class Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                     "uordblks", "fordblks", "keepcost")
    ]  # fmt: skip


LIBC = ctypes.CDLL(None)
LIBC.mallinfo2.restype = Mallinfo


def held(out):
    """Count what is in use: bytes of the C library, blocks of the interpreter."""
    gc.collect()
    info = LIBC.mallinfo2()
    out[0], out[1] = info.uordblks + info.hblkhd, sys.getallocatedblocks()


def cycle(name, X, y, single):
    """Make, use and drop one estimator, with calls that fail."""
    model = subjects.build(name)
    rest = subjects.targets(model, y)
    if subjects.is_online(model):
        model.partial_fit(X, *rest, **subjects.first_call(model))
        getattr(model, "partial_fit_predict", model.partial_fit)(X, *rest)
        model.learn_one(single, *[target[0] for target in rest])
        model.score_one(single)
    else:
        model.fit(X, *rest)
    subjects.score(model, X)
    twin = pickle.loads(pickle.dumps(model))
    for call in (lambda: twin.predict(subjects.narrower(X)), lambda: twin.fit(X, np.ones((2, 2)))):
        with contextlib.suppress(ValueError):
            call()
    # Only the garbage collector frees it.
    model.itself = model


def measure(function, cycles):
    """Return by how much a window of so many cycles grows, in the middle of all: bytes, blocks."""
    # The counts take no memory.
    counts = np.zeros((WINDOWS + 1, len(MOST)), np.int64)
    for window in range(WINDOWS + 1):
        for _ in range(cycles):
            function()
        held(counts[window])
    return np.median(np.diff(counts, axis=0), axis=0)


def fault_of(function, cycles):
    """Return what leaks, None if nothing does."""
    grows = [
        f"{each:.0f} {unit}"
        for each, (unit, (most, spare)) in zip(measure(function, cycles), MOST.items(), strict=True)
        if each > most * cycles + spare
    ]
    return f"{cycles} cycles leave {', '.join(grows)}" if grows else None


def try_estimator(job):
    """Measure one estimator in a layout: job is (name, layout, cycles)."""
    name, layout, cycles = job
    warnings.simplefilter("ignore")
    subjects.hasten()
    report = Report()
    X, y = subjects.samples(subjects.build(name), 36, layout=layout)
    single = subjects.row_of(X, 0)

    def function():
        cycle(name, X, y, single)

    function()
    gc.collect()
    gc.freeze()
    # A leak shows the second time too.
    fault = fault_of(function, cycles) and fault_of(function, 2 * cycles)
    report.count("cycles", cycles * (WINDOWS + 1))
    if fault:
        report.find(f"{name} ({layout}): {fault}")
    return report


def try_deliberate():
    """Return the report of leaks that are made on purpose: both must be found."""
    LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    kept, report = [None], Report()

    def chain():
        kept[0] = [kept[0]]

    for what, leak in (("64 bytes of the C library", lambda: LIBC.malloc(64)), ("a list", chain)):
        report.count("deliberate leaks")
        if fault_of(leak, 200) is None:
            report.find(f"a deliberate leak of {what} a cycle was not found")
    if fault_of(lambda: [None], 200):
        report.find("a leak was found where there is none")
    return report


def without_thread_cache():
    """Start this process anew without the thread cache, whose free pieces count as in use."""
    tunable = "glibc.malloc.tcache_count=0"
    if os.environ.get("GLIBC_TUNABLES") != tunable:
        command = [sys.executable, "-P", "-m", "harness.leaks", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "GLIBC_TUNABLES": tunable})


def jobs(options):
    names = options.names
    if options.some:
        names = random.Random(options.seed).sample(names, options.some)
    return [(*case, options.cycles) for case in subjects.cases(names, options.layouts)]


def main():
    """Try `some` estimators, 0 for all, for `cycles` in each of the windows of one."""
    without_thread_cache()
    return run(try_estimator, jobs, last=try_deliberate, cycles=10, some=0)


if __name__ == "__main__":
    sys.exit(main())
