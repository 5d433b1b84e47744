"""Run any program as a peer: it reads the stream as LIBSVM text and prints its mistakes."""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import dump_svmlight_file

# The peak memory of a process includes that of its parent at the start: this parent is small.
LAUNCH = """
import os, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print()
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"


def run_program(command, pattern, X, y):
    """Run a program over the stream.

    Parameters
    ----------
    command : str
        ``{file}`` stands for the path of the stream; without it, the path comes last.
    pattern : str
        Regular expression; its first group is the number of mistakes, or their rate in per cent if
        a per cent sign follows. The last match in the output counts.
    X, y : CSR matrix, ndarray

    Returns
    -------
    dict
        As `peers.run_loop`. The time is the CPU time of the whole process, reading included. The
        memory before it learnt is unknown.

    Raises
    ------
    ValueError
        If the program fails, or its output does not match.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.libsvm"
        dump_svmlight_file(X, y, str(path), zero_based=False)
        named = command if "{file}" in command else command + " {file}"
        arguments = shlex.split(named.replace("{file}", str(path)))
        finished = subprocess.run(
            [sys.executable, "-S", "-c", LAUNCH, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            check=False,
        )
    output, _, usage = finished.stdout.rstrip().rpartition("\n")
    if finished.returncode:
        raise ValueError(f"{command!r} failed: {finished.stdout[-200:]}")
    seconds, kilobytes = map(float, usage.split())
    n = len(y)
    return {
        "error": error_rate(output, pattern, n),
        "rows": n,
        "us": 1e6 * seconds / n,
        "memory": kilobytes / 1024,
        "grown": float("nan"),
    }


def error_rate(output, pattern, n):
    """Return the mistakes in per cent that a program printed."""
    found = list(re.finditer(pattern, output))
    if not found or not re.fullmatch(NUMBER, found[-1][1] or ""):
        raise ValueError(f"no number of mistakes for {pattern!r} in: {output[-200:]!r}")
    number = float(found[-1][1])
    return number if output[found[-1].end(1) :].lstrip().startswith("%") else 100 * number / n
