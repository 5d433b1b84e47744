"""Learn a click log of up to a billion rows by two workers, one of which is killed, one slow.

    python benchmarks/real_run.py FOLDER [--rows pa=1e9,fogd=1e8,rls=1e7,vw=1e7] [--steps NAME,...]
        [--rounds N] [--part N] [--staleness S]

The rows are made where they are learnt (`click_rows.py`): 13 numbers and 26 categories, hashed into
313,694 features for PA, into 4,958 for FOGD and kernel least squares. The steps are processes of
their own, one after the other:

- `pa`, `fogd`, `rls`: `onlinekern.distributed.fit` on two worker processes. When 30 % of the parts
  are learnt a worker is killed; from 50 % to 75 % a worker is stopped half of the time.
- `pa-one`, `fogd-one`, `rls-one`: the same rows in one stream.
- `vw`: Vowpal Wabbit with the logistic loss, of text with the features of PA.
- `pa-at-vw`: PA in one stream, of as many rows.
- `costs`: what the cost model of docs/mixing.md wants to know.
- `slow-S`: PA, of `slow` rows, with staleness S and a slow worker all along; `calm-S`: with none.

A step that ended is in FOLDER/results.jsonl, and is not done again; one that was stopped goes on
from its last round, or its last million of rows. FOLDER/NAME.csv has the seconds at which each part
was learnt; of one stream the rows, the CPU seconds without those of judging, the error, the log
loss and the AUC, each time that the rows have doubled, and in the end. Errors and log losses are
those of 200,000 held-out rows. CPU seconds are those of all workers, the making of the rows
included.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
from click_rows import matrix, text, width

import onlinekern
from onlinekern import FOGDClassifier, KernelRLSClassifier, PAClassifier, distributed

KERNEL = {"gamma": 0.002, "random_state": 0}
# The learner, and the binary logarithm of the most slots of a category.
LEARNERS = {
    "pa": (lambda: PAClassifier(C=0.03, average=True, random_state=0), 15),
    "fogd": (lambda: FOGDClassifier(n_components=200, average=True, **KERNEL), 8),
    "rls": (lambda: KernelRLSClassifier(n_components=200, gate="always", **KERNEL), 8),
}
HELD, FIRST_HELD = 200_000, 10**10
KILLED, SLOW, FAST = 0.3, 0.5, 0.75
PAUSE = 0.1
STEPS = "costs,pa,pa-one,vw,pa-at-vw,fogd,fogd-one,rls,rls-one"


class Slow(threading.Thread):
    """Stops a process half of the time, until it is told to end."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.ended = pid, threading.Event()

    def run(self):
        while not self.ended.is_set():
            for what in (signal.SIGSTOP, signal.SIGCONT):
                os.kill(self.pid, what)
                time.sleep(PAUSE)

    def end(self):
        self.ended.set()
        self.join()


class Events:
    """A `progress` that kills a worker, slows one, and notes when each part was learnt.

    Parameters
    ----------
    cluster : LocalCluster
    trace : file
    part : int
        Rows of a part.
    killed, slow, fast : float
        Shares of the parts at which a worker is killed, and another is slowed and is no more; 2 is
        never.
    """

    def __init__(self, cluster, trace, part, killed=2.0, slow=2.0, fast=2.0):
        self.cluster, self.trace, self.part = cluster, trace, part
        self.killed, self.slow, self.fast = killed, slow, fast
        self.began = self.said = time.perf_counter()
        self.first, self.thread = None, None

    def __call__(self, done, total, text):
        now, share = time.perf_counter(), done / total if total else 0
        self.first = done if self.first is None else self.first
        print(f"{now - self.began:.3f},{done},{text}", file=self.trace, flush=True)
        if share >= self.killed > 0:
            # One that goes on after it does not kill again.
            self.killed = 2.0
            if share < self.slow:
                os.kill(self.pid(0), signal.SIGKILL)
                print(f"{now - self.began:.3f},{done},killed", file=self.trace, flush=True)
        if self.slow <= share < self.fast and self.thread is None:
            self.thread = Slow(self.pid(-1))
            self.thread.start()
        if share >= self.fast:
            self.end()
        if now - self.said > 15:
            rate = (done - self.first) * self.part / (now - self.began)
            print(f"  {text}: {done * self.part:,} rows reached, {rate:,.0f}/s", flush=True)
            self.said = now

    def pid(self, number):
        """Return the process of the first worker, or of the last."""
        return list(self.cluster.workers.values())[number].pid

    def end(self):
        if self.thread is not None and self.thread.is_alive():
            self.thread.end()


def quality(model, bits):
    """Return error and log loss of held-out rows, and those of the hidden model."""
    X, y = matrix(FIRST_HELD, HELD, bits)
    chances = model.predict_proba(X)[:, 1]
    return figures(chances, y) | {"auc-rank": auc(model.decision_function(X), y)}


def figures(chances, y):
    """Return error and log loss of probabilities."""
    chances = np.clip(chances, 1e-7, 1 - 1e-7)
    loss = -np.mean(np.where(y == 1, np.log(chances), np.log(1 - chances)))
    return {"error": float(np.mean((chances > 0.5) != (y == 1))), "log loss": float(loss)}


def auc(scores, y):
    """Return the share of pairs of a click and none that the scores put in order."""
    ranks = np.empty(len(y))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(y) + 1)
    n_clicks = int(np.sum(y == 1))
    wins = ranks[y == 1].sum() - n_clicks * (n_clicks + 1) / 2
    return float(wins / (n_clicks * (len(y) - n_clicks)))


def usage():
    """Return CPU seconds and MB of this process, and CPU seconds of those that it began."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                       resource.RUSAGE_CHILDREN))  # fmt: skip
    return {
        "cpu": own.ru_utime + own.ru_stime, "cpu of workers": others.ru_utime + others.ru_stime,
        "peak MB": own.ru_maxrss / 1024, "peak MB of a worker": others.ru_maxrss / 1024,
    }  # fmt: skip


def spread(name, n, options, step, events, **more):
    """Learn n rows by two workers."""
    import dask
    from distributed import Client, LocalCluster

    dask.config.set({
        # A busy machine takes longer than 15 s to begin a worker anew.
        "distributed.deploy.lost-worker-timeout": "5 minutes",
        # Else a worker gives the memory of each part back, and gets it anew page by page.
        "distributed.nanny.pre-spawn-environ": {
            "MALLOC_TRIM_THRESHOLD_": str(2**34), "MALLOC_MMAP_MAX_": "0", "MALLOC_ARENA_MAX": "1",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        },
    })  # fmt: skip

    make, bits = LEARNERS[name]
    size = min(options.part, n // (4 * options.rounds) or 1)
    parts = [partial(matrix, first, size, bits) for first in range(0, n, size)]
    given = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        open(options.folder / f"{step}.csv", "a") as trace,
        LocalCluster(n_workers=2, **given) as cluster,
        Client(cluster) as client,
    ):
        # Imports and compilation are not what is measured.
        client.run(matrix, 0, 1000, bits)
        progress = Events(cluster, trace, size, **events)
        began = time.perf_counter()
        try:
            fitted = distributed.fit(
                make(), parts, classes=[0, 1], rounds=options.rounds, n_learners=2, client=client,
                checkpoint=options.folder / f"{step}.okn", resume=True, progress=progress, **more,
            )  # fmt: skip
        finally:
            progress.end()
        seconds = time.perf_counter() - began
    learnt = fitted.samples - (progress.first or 0) * size
    return {
        "rows": fitted.samples, "rows of this run": learnt, "seconds": seconds,
        "rows/s": learnt / seconds, "MB moved": fitted.bytes_moved / 1e6,
        "rounds": len(fitted.rounds) - 1, "part": size, "mistakes, %": 100 * fitted.error,
        **quality(fitted.model, bits), **usage(),
    }  # fmt: skip


def single(name, n, options, step):
    """Learn n rows in one stream."""
    make, bits = LEARNERS[name]
    size, path = min(options.part, n), options.folder / f"{step}.okn"
    model = onlinekern.load(path) if path.exists() else make()
    first = getattr(model, "n_seen_", 0)
    began = said = kept = time.perf_counter()
    judged = 0.0
    for row in range(first, n, size):
        X, y = matrix(row, min(size, n - row), bits)
        model.partial_fit_predict(X, y, classes=[0, 1])
        blocks = row // size + 1
        if blocks & (blocks - 1) == 0 or row + size >= n:
            judged += note(options.folder / f"{step}.csv", row + size, model, bits, judged)
        now = time.perf_counter()
        if now - said > 15:
            print(f"  {step}: {row + size:,} rows reached", flush=True)
            said = now
        if now - kept > 60:
            model.save(path)
            kept = now
    seconds = time.perf_counter() - began
    model.save(path)
    return {
        "rows": n, "rows of this run": n - first, "seconds": seconds,
        "rows/s": (n - first) / seconds, **quality(model, bits), **usage(),
    }  # fmt: skip


def note(path, rows, model, bits, judged):
    """Write how good a model is after so many rows; return the CPU seconds that it takes."""
    spent = time.process_time()
    with path.open("a") as lines:
        found = quality(model, bits).values()
        cells = [rows, f"{spent - judged:.1f}", *(f"{one:.5f}" for one in found)]
        print(*cells, sep=",", file=lines)
    return time.process_time() - spent


def vowpal(n, options):
    """Let Vowpal Wabbit learn n rows of text, which is written before its clock starts."""
    import vowpalwabbit

    files = {"learnt": (0, n), "held": (FIRST_HELD, HELD)}
    for called, (first, count) in files.items():
        with open(options.folder / f"{called}.vw", "wb") as lines:
            for row in range(first, first + count, options.part):
                found = min(options.part, first + count - row)
                lines.write(text(row, found, LEARNERS["pa"][1]))
    folder, bits = options.folder, int(width(LEARNERS["pa"][1])).bit_length()
    before = usage()
    began = time.perf_counter()
    common = "--loss_function logistic --quiet"
    vowpalwabbit.Workspace(
        f"-d {folder / 'learnt.vw'} -b {bits} -f {folder / 'vw.model'} {common}"
    ).finish()
    seconds = time.perf_counter() - began
    spent = usage()
    spent["cpu"] -= before["cpu"]
    vowpalwabbit.Workspace(
        f"-d {folder / 'held.vw'} -t -i {folder / 'vw.model'} -p {folder / 'vw.txt'} "
        "--link logistic --quiet"
    ).finish()
    y = matrix(FIRST_HELD, HELD, 15)[1]
    chances = np.loadtxt(folder / "vw.txt")
    (folder / "learnt.vw").unlink()
    return {
        "rows": n, "rows of this run": n, "seconds": seconds, "rows/s": n / seconds,
        **figures(chances, y), "auc-rank": auc(chances, y), **spent,
    }  # fmt: skip


def cpu_of(function, repeats=5):
    """Return the median CPU seconds of a call."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        found.append(time.process_time() - began)
    return float(np.median(found))


def costs(options):
    """Measure what a row costs to make, to learn, and to learn in a task; and a model to send."""
    from onlinekern.distributed import tasks
    from onlinekern.distributed.engines import dumps, loads
    from onlinekern.distributed.parts import Chunks, Part
    from onlinekern.distributed.rows import Rows

    told = {}
    for name, (make, bits) in LEARNERS.items():
        n = {"pa": 250_000, "fogd": 50_000, "rls": 25_000}[name]
        model = make().partial_fit(*matrix(0, n, bits), classes=[0, 1])
        X, y = matrix(n, n, bits)
        data = dumps(model)
        part = Rows(Part(Chunks(partial(matrix, n, n, bits)), "a part"))
        state = tasks.State(data)
        learn = partial(tasks.learn, tasks.Learning(), 0, part, state)
        merge = partial(tasks.merge, state, state._replace(data=learn().data), learn())
        told[name] = {
            "make, us/row": 1e6 * cpu_of(partial(matrix, n, n, bits)) / n,
            "learn, us/row": 1e6 * cpu_of(partial(loads(data).partial_fit_predict, X, y)) / n,
            "dump, s": cpu_of(partial(dumps, model)), "load, s": cpu_of(partial(loads, data)),
            "merge of two, s": cpu_of(merge), "model, bytes": len(data), "rows": n,
            "task, us/row": 1e6 * cpu_of(learn) / n,
        }  # fmt: skip
    return told


def run(step, options):
    """Do a step, and return its figures."""
    name, _, what = step.partition("-")
    if step == "costs":
        return costs(options)
    if step == "vw":
        return vowpal(options.rows["vw"], options)
    if step == "pa-at-vw":
        return single("pa", options.rows["vw"], options, step)
    if what == "one":
        return single(name, options.rows[name], options, step)
    if name in ("slow", "calm"):
        events = {"slow": 0.0, "fast": 1.0} if name == "slow" else {}
        return spread("pa", options.rows["slow"], options, step, events, staleness=int(what))
    events = {"killed": KILLED, "slow": SLOW, "fast": FAST}
    stale = {"staleness": options.staleness}
    return spread(name, options.rows[name], options, step, events, **stale)


def counts(text):
    return {name: int(float(n)) for name, n in (one.split("=") for one in text.split(","))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=counts, default={})
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--part", type=int, default=1_000_000)
    parser.add_argument("--staleness", type=int, default=1)
    parser.add_argument("--steps", default=STEPS)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    given = {"pa": 10**9, "fogd": 10**8, "rls": 10**7, "vw": 10**7, "slow": 10**8}
    told = ",".join(f"{name}={n}" for name, n in (given | options.rows).items())
    options.rows = given | options.rows
    options.folder.mkdir(parents=True, exist_ok=True)
    results = options.folder / "results.jsonl"
    if options.step:
        found = run(options.step, options)
        with results.open("a") as lines:
            print(json.dumps({"step": options.step, **found}), file=lines)
        return
    ended = {json.loads(line)["step"] for line in results.open()} if results.exists() else set()
    for step in options.steps.split(","):
        if step in ended:
            continue
        print(step, time.strftime("%H:%M:%S"), flush=True)
        command = [sys.executable, "-W", "ignore", __file__, str(options.folder), "--step", step]
        more = ["--rows", told, "--rounds", str(options.rounds), "--part", str(options.part),
                "--staleness", str(options.staleness)]  # fmt: skip
        subprocess.run([*command, *more], check=False)
    print(results.read_text())


if __name__ == "__main__":
    main()
