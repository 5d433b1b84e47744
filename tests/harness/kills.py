"""SIGKILL at random moments of a comparison that writes checkpoints; each time it is resumed.

At the end of every comparison, the models and the results must be those of a comparison that was
never stopped, bit for bit, but for the times.

    python -P -m harness.kills --kills 200
"""

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

from sklearn.datasets import dump_svmlight_file

from onlinekern.cli import main as command_line
from onlinekern.evaluate.checkpoint import Snapshot
from onlinekern.streams import two_spirals

# One of each kind of model: sums of kernels, budgets of all kinds, explicit features, weights with
# and without covariances, prototypes, sketches, and one that is refitted.
METHODS = ("spa", "bogd", "bsgd-merge", "projectron++", "fogd", "nogd", "dualsgd", "linear-pa1",
           "arow", "lol", "sdrogd", "olla")  # fmt: skip
CHECKPOINT, RESULTS = "run.checkpoint", "run.json"


def arguments(methods, every):
    """Return the command that is run, in the folder of the data."""
    return [
        "compare", "train.txt", "--test", "test.txt", "--repeats", "2", "--gamma", "16",
        "--methods", ",".join(methods), "--set", "budget=60", "--json", RESULTS,
        "--checkpoint", CHECKPOINT, "--checkpoint-every", every, "--resume",
    ]  # fmt: skip


def write_data(folder, n_samples):
    """Write the files of samples."""
    for seed, (name, number) in enumerate({"train.txt": n_samples, "test.txt": 200}.items()):
        X, y = two_spirals(number, noise=0.05, random_state=seed)
        dump_svmlight_file(X, y, str(folder / name), zero_based=False)


def start(folder, command, largest_file=None):
    """Run the command line in a child of its own; return the child's number."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.chdir(folder)
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
            with open("output", "w") as sys.stdout:
                sys.stderr = sys.stdout
                command_line(command)
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            os._exit(code)
    return child


def finish(child, folder):
    """Wait for a child; raise if it failed."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise AssertionError(f"exit code {code}: {(folder / 'output').read_text()}")


def kill(child, folder, moment, in_writing):
    """Kill a child after some seconds, or then when it writes; return how it was, None if late."""
    until = time.monotonic() + moment
    while True:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return None
        writing = any(folder.glob(".*.tmp"))
        if time.monotonic() >= until and (writing or not in_writing):
            break
        time.sleep(0 if in_writing else 0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "writing" if any(folder.glob(".*.tmp")) else "running"


def without_times(value):
    """Return results without what differs from run to run."""
    if isinstance(value, dict):
        times = ("seconds", "microseconds_per_sample")
        return {key: without_times(item) for key, item in value.items() if key not in times}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def outcome(folder):
    """Return what must be equal: the results written, the state and the bytes of the models."""
    snapshot = Snapshot.read(str(folder / CHECKPOINT))
    results = json.loads((folder / RESULTS).read_text())
    return without_times(results), without_times(snapshot.state), snapshot.models


def clear(folder):
    """Remove what a run wrote."""
    for path in folder.glob("run.*"):
        path.unlink()


def compare(found, expected):
    """Raise AssertionError that names what differs."""
    for name, a, b in zip(("results", "state"), found[:2], expected[:2], strict=True):
        assert a == b, f"the {name} differ"
    assert found[2].keys() == expected[2].keys()
    for method, data in expected[2].items():
        assert found[2][method] == data, f"the model of {method} differs"


def torment(folder, command, kills, seed):
    """Kill and resume until so many kills are done; return how many hit what."""
    random_moments = random.Random(seed)
    began = time.monotonic()
    finish(start(folder, command), folder)
    whole = time.monotonic() - began
    expected = outcome(folder)
    assert len(expected[2]) > 0
    clear(folder)
    counts = {"writing": 0, "running": 0, "before the first": 0, "comparisons": 0}
    while counts["writing"] + counts["running"] < kills:
        child = start(folder, command)
        in_writing = random_moments.random() < 0.5
        hit = kill(child, folder, random_moments.uniform(0, 0.5 * whole), in_writing)
        if hit is not None:
            counts[hit] += 1
            counts["before the first"] += not (folder / CHECKPOINT).exists()
            continue
        finish(child, folder)
        compare(outcome(folder), expected)
        counts["comparisons"] += 1
        clear(folder)
    finish(start(folder, command), folder)
    compare(outcome(folder), expected)
    counts["comparisons"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--every", default="300")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, options.samples)
        command = arguments(options.methods.split(","), options.every)
        counts = torment(folder, command, options.kills, options.seed)
    print(
        f"kills: {options.kills} kills ({counts['writing']} while a checkpoint was written, "
        f"{counts['before the first']} before the first one), {counts['comparisons']} comparisons "
        "ended, each with the models and results of one that was never stopped"
    )


if __name__ == "__main__":
    sys.exit(main())
