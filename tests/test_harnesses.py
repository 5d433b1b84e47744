"""The harnesses in their short form; `.ci/long` runs the long one."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import consumers
import pytest
from harness import allocations, queues, subjects

from onlinekern.learners import kernel_forest

TESTS = Path(__file__).parent
needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's allocator")


def run(module, *arguments):
    """Run a harness in a process of its own; return what it prints."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", f"harness.{module}", *map(str, arguments)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "n_exact"),
    [
        ("KernelForestClassifier of exact trees", [2]),
        ("KernelForestRegressor of exact trees", [1]),
        ("StreamRegressor with forests", [6, 0]),
    ],
)
def test_short_streams_have_exact_cuts(name, n_exact, monkeypatch):
    for constant in ("EARLY", "EXACT_FROM", "ASKED_FROM"):
        monkeypatch.setattr(kernel_forest, constant, getattr(kernel_forest, constant))
    subjects.hasten()
    model = subjects.build(name)
    X, y = subjects.samples(model, 40)
    model.partial_fit(X, *subjects.targets(model, y), **subjects.first_call(model))
    models = getattr(model._model, "experts", [model._model])
    forests = [each.space for each in models if hasattr(each.space, "exact_trees")]
    assert [forest.exact_trees(40) for forest in forests] == n_exact


@needs_glibc
def test_failing_allocations(tmp_path):
    library = allocations.build_library(tmp_path, consumers.compiler())
    printed = run(
        "allocations", library, "--layouts", "dense", "csr", "wide", "--some", 1, "--most", 3
    )
    assert int(printed.split(" failed allocations")[0].split()[-1]) > 200


def test_sequences_of_calls():
    printed = run("calls", "--sequences", 1, "--calls", 12)
    assert int(printed.split(" calls")[0].split()[-1]) > 150


def test_fuzzed_readers():
    pytest.importorskip("pyarrow")
    printed = run("readers", "--number", 500)
    assert int(printed.split(" mutations")[0].split()[-1]) == 500


def test_fuzzed_model_files():
    pytest.importorskip("resource")
    printed = run("models", "--number", 200)
    assert int(printed.split(" mutations")[0].split()[-1]) == 200


def test_interrupts():
    pytest.importorskip("resource")
    printed = run("interrupts", "--tries", 1)
    assert int(printed.split(" interrupted")[0].split()[-1]) > 50


@needs_glibc
def test_leaks():
    printed = run("leaks", "--some", 3)
    assert int(printed.split(" cycles")[0].split()[-1]) == 180


def test_data_races():
    printed = run("data_races", "--seconds", 0.03)
    assert int(printed.split(" models")[0].split()[-1]) == len(subjects.NAMES)


def test_servers():
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    printed = run("servers", "--rounds", 1, "--seconds", 1, "--clients", 4, "--models", "tables")
    assert int(printed.split(" answers to who learns")[0].split()[-1]) > 10


@pytest.mark.long
@pytest.mark.parametrize("broker", queues.BROKERS)
def test_killed_consumers(broker):
    if reason := queues.absent(broker):
        pytest.skip(reason)
    printed = run("queues", broker, "--kills", 2)
    assert printed.count("byte for byte") == 2


@pytest.mark.long
def test_killed_consumers_of_a_group():
    if reason := queues.absent("kafka"):
        pytest.skip(reason)
    printed = run("queues", "kafka", "--kills", 2, "--workers", 3)
    assert printed.count("byte for byte") == 2
    assert "the merged model of 2 partitions" in printed
