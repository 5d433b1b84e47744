"""Learn a stream by the workers of a cluster: measure speed, accuracy and bytes moved.

    python benchmarks/cluster.py [--learners pa fogd ...] [--samples N] [--rows N] [--rounds N]
        [--workers 1 2] [--a9a FOLDER] [--kill] [--markdown FILE]

Each worker is a process with one thread, which makes its parts of the stream itself: two Gaussians
of 20 features, or with `--a9a` rows of a9a drawn from FOLDER/a9a.train.libsvm.xz. The single stream
is plain `partial_fit` of the same parts in this process. Scores are compared on a test set: the
largest difference, in units of the largest score. CPU seconds are those of all workers, the making
of the samples included; they tell the overhead where the machine is busy otherwise. With `--kill` a
worker is killed in the middle of the run, and the scores are compared with those of the run before.
"""

import os
import signal
import time
from pathlib import Path

import numpy as np
from command import read_options
from distributed import Client, LocalCluster
from spread_streams import a9a_parts, gaussian_parts

from onlinekern import (
    AROWClassifier,
    DualSGDClassifier,
    FOGDClassifier,
    KernelRLSClassifier,
    PAClassifier,
    SPAClassifier,
    distributed,
)

LEARNERS = {
    "pa": lambda: PAClassifier(C=0.01),
    "arow": lambda: AROWClassifier(),
    "spa": lambda: SPAClassifier(max_support=2000, when_full="stop", random_state=0),
    "fogd": lambda: FOGDClassifier(n_components=200, average=False, random_state=0),
    "dualsgd": lambda: DualSGDClassifier(n_components=100, budget=50, random_state=0),
    "rls": lambda: KernelRLSClassifier(n_components=100, random_state=0),
    "rls-always": lambda: KernelRLSClassifier(n_components=100, gate="always", random_state=0),
}


class Killer:
    """A `progress` that kills a worker once, when half of the parts are learnt."""

    def __init__(self, pids):
        self.pids = pids

    def __call__(self, done, total, text):
        if self.pids and total and done >= total // 2:
            os.kill(self.pids.pop(), signal.SIGKILL)
            self.pids = []


def single(make, parts, classes):
    """Return the model of the single stream, and the seconds and CPU seconds that it took."""
    model, began, busy = make(), time.perf_counter(), time.process_time()
    for part in parts:
        X, y = part()
        model.partial_fit(X, y, classes)
    return model, time.perf_counter() - began, time.process_time() - busy


def busy_seconds(client):
    """Return the CPU seconds of the workers so far."""
    return sum(client.run(time.process_time).values())


def spread(make, parts, classes, n_workers, rounds, kill):
    """Return what the workers make of the stream, and the seconds and CPU seconds it took."""
    options = {"processes": True, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        # Imports are not what is measured.
        client.run(make)
        pids = list(client.run(os.getpid).values()) if kill else []
        began, busy = time.perf_counter(), busy_seconds(client)
        fitted = distributed.fit(
            make(), parts, classes=classes, rounds=rounds, client=client, progress=Killer(pids)
        )
        seconds = time.perf_counter() - began
        return fitted, seconds, float("nan") if kill else busy_seconds(client) - busy


def rows_of_table(name, parts, test, options):
    """Yield the lines of the table for one learner."""
    make, (X, y) = LEARNERS[name], test
    classes = np.unique(y)
    n_samples = sum(len(part()[1]) for part in parts[:1]) * len(parts)
    alone, seconds, busy = single(make, parts, classes)
    wanted = alone.decision_function(X)
    accuracy = 100 * alone.score(X, y)
    yield f"| {name} | single | {n_samples / seconds:,.0f} | {busy:.1f} | | {accuracy:.2f} | | | |"
    rates, scores = [], wanted
    runs = [(count, False) for count in options.workers]
    if options.kill:
        runs.append((options.workers[-1], True))
    for count, kill in runs:
        fitted, seconds, busy = spread(make, parts, classes, count, options.rounds, kill)
        assert fitted.samples == n_samples
        rates.append(n_samples / seconds)
        before, scores = scores, fitted.model.decision_function(X)
        difference = np.abs(scores - wanted).max() / np.abs(wanted).max()
        found = 100 * fitted.model.score(X, y)
        what = f"{count}, one killed" if kill else f"{count}"
        same = f"{np.array_equal(scores, before)}" if kill else ""
        yield (f"| {name} | {what} | {rates[-1]:,.0f} | {busy:.1f} | {rates[-1] / rates[0]:.2f} | "
               f"{found:.2f} | {difference:.1e} | {fitted.bytes_moved / 1e6:.2f} | {same} |"
               )  # fmt: skip


def main():
    options = read_options(
        __doc__,
        learners={"nargs": "+", "choices": LEARNERS, "default": list(LEARNERS)},
        samples=5_000_000,
        rows=50_000,
        rounds=4,
        workers=[1, 2],
        a9a=Path,
        kill=False,
        markdown=Path,
    )
    if options.a9a is None:
        parts, test = gaussian_parts(options.samples, options.rows)
    else:
        parts, test = a9a_parts(options.a9a, options.samples, options.rows)
    lines = ["| learner | workers | samples/s | CPU s | speed-up | test accuracy, % "
             "| difference of scores | MB of models | same bits |", "|---" * 9 + "|"]  # fmt: skip
    print("\n".join(lines), flush=True)
    for name in options.learners:
        for line in rows_of_table(name, parts, test(), options):
            print(line, flush=True)
            lines.append(line)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
