"""Measure mistakes, speed and memory beside other libraries, on the same stream.

    python benchmarks/peers.py [--data DIR] [--rows N] [--one-row N] [--only TEXT] [--plot FILE]
                               [--json FILE] [--runs N] [--split] [--program COMMAND]
                               [--mistakes REGEX]

Every learner runs in a process of its own, on one thread, test-then-train over a9a (without
``--data`` a synthetic stream of the same size). Times are CPU time of the loop that learns and
predicts, after a short rehearsal. Memory is the peak resident memory during the loop (Linux), and
how much it grew. Learners that take a millisecond per sample see only the first `--one-row`
samples. Peers that are not installed are skipped. ``--runs`` repeats each learner; the run with the
median time counts. ``--split`` trains a support vector machine on
the training part, scores it on the test part, and compares it with learners of one pass.
``--program`` adds any program that reads LIBSVM text and prints its mistakes. `peers_tune.py` chose
the settings of all learners in the same way.
"""

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from peer_binary import NUMBER, run_program
from peer_learners import LEARNERS, SPLIT
from peer_picture import draw

from benchmarks import streams

THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")}
TRAINING_ROWS = 32_561
REHEARSAL = 300
SLOW = "sklearn RBFSampler + SGD, one row"
BATCHES = "sklearn RBFSampler + SGD, batches"
WIDE = "sklearn RBFSampler + SGD, gamma 0.05"
RIVER = "river PA"


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="DIR", help="folder with a9a.{train,test}.libsvm.xz")
    parser.add_argument("--rows", type=int, default=48_842)
    parser.add_argument("--one-row", type=int, default=2_000)
    parser.add_argument("--only", default="", help="learners whose name contains this")
    parser.add_argument("--plot", metavar="FILE", help="draw time and mistakes")
    parser.add_argument("--json", metavar="FILE", help="write the figures, for peer_picture.py")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="repeat each learner")
    parser.add_argument("--split", action="store_true", help="training part and test part")
    parser.add_argument(
        "--program", metavar="COMMAND", help="another peer; {file} stands for the stream's path"
    )
    parser.add_argument(
        "--mistakes",
        metavar="REGEX",
        default=rf"(?i)mistakes\D*?({NUMBER})",
        help="finds the number or the percentage of mistakes in the output of COMMAND",
    )
    parser.add_argument("--run", help=argparse.SUPPRESS)
    return parser.parse_args()


def read(options, shuffled):
    """Return the shuffled stream, or the training part followed by the test part."""
    if not options.data:
        return streams.sparse_binary(48_842)[:2]
    if shuffled:
        return streams.a9a(options.data)[:2]
    return streams.libsvm(options.data, "a9a", ("train", "test"), streams.N_FEATURES)


class Meter:
    """Measure CPU time and memory of the block inside."""

    def __enter__(self):
        # Reset the peak of the resident memory.
        Path("/proc/self/clear_refs").write_text("5")
        self.before = self.resident("VmRSS")
        self.start = time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self.start
        self.most = self.resident("VmHWM")

    @staticmethod
    def resident(name):
        """Return an entry of this process's status in MB."""
        status = Path("/proc/self/status").read_text()
        return int(re.search(rf"^{name}:\s*(\d+) kB", status, re.MULTILINE)[1]) / 1024


def run_one(options):
    """Learn, in the child process, and print the figures as JSON."""
    warnings.simplefilter("ignore")
    X, y = read(options, shuffled=not options.split)
    if options.split:
        figures = run_split(SPLIT[options.run], X, y)
    else:
        learner = LEARNERS[options.run]
        n = min(options.one_row if learner.slow else options.rows, X.shape[0])
        learner.prepare(X[:REHEARSAL], y[:REHEARSAL])()
        figures = run_loop(learner.prepare(X[:n], y[:n]), n)
    print(json.dumps(figures))


def run_loop(loop, n):
    """Learn the stream; return the figures."""
    with Meter() as meter:
        mistakes = loop()
    return {
        "error": 100 * mistakes / n,
        "rows": n,
        "us": 1e6 * meter.seconds / n,
        "memory": meter.most,
        "grown": meter.most - meter.before,
    }


def run_split(learner, X, y):
    """Learn the training part, predict the test part."""
    rows, train, test = learner.rows(X), slice(TRAINING_ROWS), slice(TRAINING_ROWS, None)
    learner.make(TRAINING_ROWS).fit(rows[:REHEARSAL], y[:REHEARSAL])
    with Meter() as meter:
        model = learner.make(TRAINING_ROWS).fit(rows[train], y[train])
    error = 100 * float(np.mean(model.predict(rows[test]) != y[test]))
    return {"error": error, "seconds": meter.seconds, "memory": meter.most}


def measure(name, learner):
    """Run a learner in its own process; return its figures, or print why not and return None."""
    missing = [module for module in learner.needs if importlib.util.find_spec(module) is None]
    absent = learner.absent()
    if missing or absent:
        reason = f"{', '.join(missing)} is not installed" if missing else absent
        print(f"{name:38} skipped: {reason}", flush=True)
        return None
    child = subprocess.run(
        [sys.executable, __file__, *sys.argv[1:], "--run", name],
        env={**os.environ, **THREADS},
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        last = (child.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{name:38} failed: {last}", flush=True)
        return None
    return json.loads(child.stdout.splitlines()[-1])


def median_of(name, learner, n_runs):
    """Return the figures of the run with the median time; None if the learner cannot run."""
    runs = []
    while len(runs) < n_runs:
        figures = measure(name, learner)
        if figures is None:
            return None
        runs.append(figures)
    return sorted(runs, key=lambda figures: figures["us"])[n_runs // 2]


def run_all(options):
    """Print the table of the stream; return the figures by name."""
    found = {}
    print(f"{'':38}{'error %':>9}{'us':>11}{'peak MB':>9}{'grown':>7}{'rows':>8}")
    for name, learner in LEARNERS.items():
        if options.only in name and (figures := median_of(name, learner, options.runs)):
            found[name] = figures
            print_figures(name, figures)
    if options.program:
        X, y = read(options, shuffled=True)
        X, y = X[: options.rows], y[: options.rows]
        try:
            figures = run_program(options.program, options.mistakes, X, y)
        except ValueError as error:
            sys.exit(f"--program: {error}")
        found[options.program] = figures
        print_figures(options.program, figures)
    return found


def print_figures(name, figures):
    """Print a line of the table."""
    print(
        f"{name[:37]:38}{figures['error']:9.2f}{figures['us']:11.2f}{figures['memory']:9.0f}"
        f"{figures['grown']:7.1f}{figures['rows']:8,}",
        flush=True,
    )


def print_ratios(found):
    """Print how many times faster than a peer each learner is that makes no more mistakes.

    A peer that learns one row at a time is compared by the mistakes it makes in batches.
    """
    programs = [(name, name, 1) for name in found if name not in LEARNERS]
    for peer, error_of, goal in (
        (SLOW, BATCHES, 100),
        (BATCHES, BATCHES, 8),
        (WIDE, WIDE, 8),
        (RIVER, RIVER, 10),
        *programs,
    ):
        if peer not in found or error_of not in found:
            continue
        print(f"\ntimes faster than {peer}, with at most its {found[error_of]['error']:.2f} %")
        for name, learner in LEARNERS.items():
            if name in found and not learner.peer:
                ratio = found[peer]["us"] / found[name]["us"]
                if found[name]["error"] <= found[error_of]["error"]:
                    met = "met" if ratio >= goal else "no"
                    print(f"  {name:38}{ratio:9.1f}  goal {goal}: {met}")


def print_matches(found):
    """Print, for each peer that saw the whole stream, our fastest learner with no more mistakes."""
    rows = max(figures["rows"] for figures in found.values())
    ours = [name for name in found if name in LEARNERS and not LEARNERS[name].peer]
    print("\nno more mistakes than, and the fastest of them")
    for peer in (name for name in found if name not in ours and found[name]["rows"] == rows):
        able = [name for name in ours if found[name]["error"] <= found[peer]["error"]]
        best = min(able, key=lambda name: found[name]["us"], default="none")
        print(f"  {peer[:37]:38}{best}")


def compare_split(options):
    """Print the table of training part and test part."""
    found = {}
    print(f"{'':38}{'test error %':>13}{'training s':>12}{'peak MB':>11}")
    for name, learner in SPLIT.items():
        if options.only in name and (figures := measure(name, learner)):
            found[name] = figures
            print(
                f"{name:38}{figures['error']:13.2f}{figures['seconds']:12.3f}"
                f"{figures['memory']:11.0f}",
                flush=True,
            )
    slow = found.get("sklearn SVC")
    for name, figures in found.items():
        if slow and not SPLIT[name].peer:
            times, worse = slow["seconds"] / figures["seconds"], figures["error"] - slow["error"]
            met = "met" if times >= 300 and worse <= 0.5 else "no"
            print(f"  {name}: {worse:+.2f} points, {times:,.0f} times faster; goal 0.5, 300: {met}")


def main():
    """Print the tables, and draw."""
    options = arguments()
    if options.run:
        run_one(options)
    elif options.split:
        compare_split(options)
    elif found := run_all(options):
        print_ratios(found)
        print_matches(found)
        if options.plot:
            draw(found, options.plot)
        if options.json:
            Path(options.json).write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
