"""Count the instructions per sample of each learner, and name the functions that take most.

    python benchmarks/instructions.py [--data DIR] [--rows N] [--only TEXT] [--layouts csr,dense]
                                      [--functions N]

Runs the learners of `cases.py` under valgrind's callgrind, which counts the instructions of the
stream loop: the same number in every run, on a busy machine too. It takes minutes, because Python
starts some fifty times slower there. valgrind knows no AVX-512, so the counts are for x86-64-v3 at
most; it counts every byte that memset clears. "vector" is the share of the vector primitives
(products, exponentials, sines, dots); the rest is bookkeeping. Float32.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from command import read_options

LOOP = "__pyx_f_10onlinekern_4core_6stream_5Model_run"


def run_cases(options):
    """Learn each case, under valgrind, in its own process, which writes its own profile."""
    from cases import CASES, Streams

    import onlinekern
    from benchmarks import common, streams

    print("level", onlinekern.show_config("dicts")["instruction_set"], flush=True)
    drawn = Streams(options.data, options.rows)
    for case in CASES:
        if options.only not in case.estimator:
            continue
        X, y = drawn.get(case.stream)
        for layout in case.layouts:
            if layout not in options.layouts:
                continue
            rows = streams.laid_out(X, "float32", layout)
            child = os.fork()
            if child == 0:
                model = common.learn(case.new(len(y)), rows, y)
                size = model.budget if hasattr(model, "budget") else ""
                print(
                    f"case {os.getpid()} {len(y)} {case.estimator} {case.stream} {layout} {size}",
                    flush=True,
                )
                sys.exit()
            os.waitpid(child, 0)


def readable(symbol):
    """Return the name of a compiled function: last part of its module, class and method."""
    rest = symbol.removeprefix("__pyx_f_")
    parts = []
    while found := re.match(r"(\d+)", rest):
        start = found.end()
        parts.append(rest[start : start + int(found[1])])
        rest = rest[start + int(found[1]) + 1 :]
    return ".".join([*parts[2:], rest]) if parts else symbol


def profile(path):
    """Return the instructions by (function, library) in a callgrind file."""
    text = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pattern = r"^ *([\d,]+) \([^)]*\)\s+\S+?:(\S+?)(?:'\d+)? \[\S*?([^/\]]+)\]"
    counts = {}
    for count, function, library in re.findall(pattern, text, re.MULTILINE):
        key = (readable(function), library.split(".")[0])
        counts[key] = counts.get(key, 0) + int(count.replace(",", ""))
    return counts


def print_case(words, folder, functions):
    """Print a line of the table."""
    process, rows, estimator, stream, layout, *budget = words
    counts = profile(folder / f"profile.{process}")
    total = sum(counts.values())
    vector = sum(count for (_, library), count in counts.items() if library == "vector")
    most = sorted(counts.items(), key=lambda item: -item[1])[:functions]
    named = ", ".join(f"{name} {count / total:.0%}" for (name, _), count in most)
    print(
        f"{estimator:21}{stream:8}{layout:6}{''.join(budget):>6}{total / int(rows):12,.0f}"
        f"{vector / total:7.0%}  {named}",
        flush=True,
    )


def main():
    """Run this file under valgrind and print the counts."""
    options = read_options(
        __doc__, data=None, rows=48_842, only="", layouts=("csr", "dense"), functions=5, run=False
    )
    if options.run:
        run_cases(options)
        return
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finished = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--toggle-collect={LOOP}",
                f"--callgrind-out-file={folder}/profile.%p",
                *(sys.executable, __file__, *sys.argv[1:], "--run"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode:
            sys.exit(finished.stderr[-1000:])
        lines = [line.split() for line in finished.stdout.splitlines()]
        print("instruction set", *(words[1] for words in lines if words[0] == "level"))
        print(f"{'':21}{'stream':8}{'layout':6}{'budget':>6}{'instructions':>12}{'vector':>7}")
        for words in lines:
            if words[0] == "case":
                print_case(words[1:], folder, options.functions)


if __name__ == "__main__":
    main()
