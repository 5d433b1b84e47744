"""Time and size of the C library beside Python's single rows and exported C.

    python -P benchmarks/native.py [--waiting DIR]

Binary models of 2,000 rows of 16 features score the next 2,000 rows and learn them, one by one, on
one thread: by `score_one` and `learn_one` of Python, by the library, called from a loop in C, and
by the C that is exported of the model (gcc -O2 both). Processor time, medians of rounds that take
turns; each round begins with the model as it was.

With --waiting, forests that have learnt 1,000 rows of LIBSVM files learn more in the library, up to
80 % of all (of 10,000 at most, in random order), and their renewals wait for Python, which learns
the last of these rows. What they predict wrong of the others stands beside what a forest does that
Python alone has taught.
"""

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from command import read_options

import onlinekern as ok
from onlinekern.streams import open_source

HOME = Path(__file__).parents[1] / "src" / "native"
ROWS, FEATURES, ROUNDS = 2000, 16, 7
SETS = ("covtype.sample10k", "eeg-eye-state", "satimage.train", "waveform5000")
FLAGS = ["-std=c11", "-O2", "-ffp-contract=off"]
MODELS = {
    "PA, linear": lambda: ok.PAClassifier(),
    "AROW, linear": lambda: ok.AROWClassifier(),
    "BPA-S, 100 support vectors": lambda: ok.BPAClassifier(gamma=0.05, budget=100),
    "KernelPA, 1,000 support vectors": lambda: ok.KernelPAClassifier(
        gamma=0.05, max_support=1000, average=False
    ),
    "FOGD, 100 frequencies": lambda: ok.FOGDClassifier(
        gamma=0.05, n_components=100, average=False, random_state=0
    ),
    "KernelRLS, 100 landmarks": lambda: ok.KernelRLSClassifier(gamma=0.05, n_components=100),
    "KernelRLS, 400 landmarks": lambda: ok.KernelRLSClassifier(gamma=0.05),
    # After 6,000 samples no renewal is due before 8,192.
    "KernelForest, 20 trees": lambda: ok.KernelForestClassifier(
        n_trees=20, n_epochs=3, random_state=0
    ),
}
LOOPS = """
#include <okn.h>
#include "model.h"
void library(okn_t *model, const double *x, const int32_t *y, double *scores, int n, int learn)
{
    for (int i = 0; i < n; i++)
        if (learn)
            okn_learn(model, x + i * 16, y[i]);
        else
            okn_score(model, x + i * 16, scores + i);
}
void exported(model_t *model, const double *x, const int32_t *y, double *scores, int n, int learn)
{
    for (int i = 0; i < n; i++)
        if (learn)
            model_learn_one_r(model, x + i * 16, y[i]);
        else
            model_score_r(model, x + i * 16, scores + i);
}
int bytes_of_model(void) { return (int)sizeof(model_t); }
"""


def build(folder):
    """Return the shared library of an exported model, the loops and the library."""
    subprocess.run([sys.executable, "-P", HOME / "loops.py", folder / "loops.inc"], check=True)
    (folder / "calls.c").write_text(LOOPS)
    include = [f"-I{part}" for part in (folder, HOME, HOME.parent / "include")]
    sources = [*HOME.glob("*.c"), folder / "calls.c", folder / "exported.c"]
    command = ["cc", *FLAGS, "-fPIC", "-shared", *include, *sources, "-lm", "-o"]
    subprocess.run([*command, folder / "all.so"], check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def timed(work, *given):
    """Return the microseconds a row that a call takes."""
    begin = time.process_time()
    work(*given)
    return (time.process_time() - begin) / ROWS * 1e6


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def rounds_of(name, folder, X, y):
    """Return microseconds a row of (who, what) by rounds, and the largest difference of scores."""
    model = MODELS[name]().fit(X[:ROWS], y[:ROWS])
    model.save(folder / "model.okn")
    made = model.export_c(folder / "exported.c", prefix="model", learn=True)
    made.header.rename(folder / "model.h")
    text = made.code.read_text().replace('"exported.h"', '"model.h"')
    made.code.write_text(text)
    library = build(folder)
    rows, labels = np.ascontiguousarray(X[ROWS:]), y[ROWS:].astype(np.int32)
    found, differences = {}, []
    for _ in range(ROUNDS):
        rounded, difference = one_round(library, folder / "model.okn", rows, labels)
        differences.append(difference)
        for key, microseconds in rounded.items():
            found.setdefault(key, []).append(microseconds)
    return found, max(differences)


def one_round(library, path, rows, labels):
    """Return microseconds a row of (who, whether it learns), and the difference of scores then."""
    python, handle = ok.load(path), ctypes.c_void_p()
    assert library.okn_open(bytes(path), ctypes.byref(handle)) == 0
    own = ctypes.create_string_buffer(library.bytes_of_model())
    library.model_init(own)
    score, learn = python.score_one, python.learn_one
    scores, found = np.zeros(ROWS), {}
    given = address(rows), address(labels), address(scores), ROWS
    found["Python", False] = timed(lambda: [score(x) for x in rows])
    found["Python", True] = timed(lambda: [learn(x, t) for x, t in zip(rows, labels, strict=True)])
    for learns in (False, True):
        found["library", learns] = timed(library.library, handle, *given, learns)
        found["exported", learns] = timed(library.exported, own, *given, learns)
    expected = python.decision_function(rows)
    library.library(handle, *given, False)
    library.okn_close(handle)
    return found, np.abs(scores - expected).max() / np.abs(expected).max()


def alone(folder, level):
    """Build the library as own.so, and return its path."""
    subprocess.run([sys.executable, "-P", HOME / "loops.py", folder / "loops.inc"], check=True)
    include = [f"-I{part}" for part in (folder, HOME, HOME.parent / "include")]
    made, sources = folder / "own.so", sorted(HOME.glob("*.c"))
    options = ["-std=c11", level, "-ffp-contract=off", "-fPIC", "-shared", *include]
    subprocess.run(["cc", *options, *sources, "-lm", "-o", made], check=True)
    return made


def sizes(folder):
    """Print lines of code and bytes of the library."""
    sources = sorted(HOME.glob("*.c"))
    lines = sum(len(path.read_text().splitlines()) for path in sources)
    for level in ("-O2", "-Os"):
        alone(folder, level)
        loops = len((folder / "loops.inc").read_text().splitlines())
        subprocess.run(["strip", folder / "own.so"], check=True)
        bytes_ = (folder / "own.so").stat().st_size
        print(f"{lines:,} lines of C, {loops:,} of loops; {level}, stripped: {bytes_:,} bytes")


def waiting(data):
    """Print what renewals that wait change of a forest's errors, in per cent."""
    print("| set | rows | Python | library | with Python's next row |")
    with tempfile.TemporaryDirectory() as path:
        library = ctypes.CDLL(str(alone(Path(path), "-O2")))
        for name in SETS:
            with open_source(Path(data) / f"{name}.libsvm.xz", dtype="float64") as source:
                X, y = source.head(1 << 17)
            order = np.random.default_rng(0).permutation(X.shape[0])[:10_000]
            X, y = (X if isinstance(X, np.ndarray) else X.toarray())[order], y[order]
            print(f"| {name} | {errors_of(library, Path(path) / 'model.okn', X, y)} |", flush=True)


def errors_of(library, path, X, y):
    """Return the row of a table: of Python alone, of the library, and of Python after it."""
    n, handle = len(X) * 8 // 10, ctypes.c_void_p()
    model = ok.KernelForestClassifier(random_state=0)
    model.partial_fit(X[:1000], y[:1000], classes=np.unique(y)).save(path)
    assert library.okn_open(bytes(path), ctypes.byref(handle)) == 0
    for x, number in zip(X[1000 : n - 1], np.searchsorted(model.classes_, y[1000:]), strict=False):
        assert library.okn_learn(handle, address(np.array(x)), ctypes.c_double(number)) == 0
    found = [library.okn_predict(handle, address(np.array(x))) for x in X[n:]]
    assert library.okn_save(handle, bytes(path)) == 0
    library.okn_close(handle)
    late = ok.load(path).partial_fit(X[n - 1 : n], y[n - 1 : n])
    model.partial_fit(X[1000:n], y[1000:n])
    told = model.predict(X[n:]), model.classes_[found], late.predict(X[n:])
    return " | ".join([f"{n:,}", *(f"{100 * np.mean(own != y[n:]):.1f}" for own in told)])


def main():
    """Print the tables of docs/native.md."""
    data = read_options(__doc__, waiting=None).waiting
    if data is not None:
        waiting(data)
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * ROWS, FEATURES))
    y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    print("| model | score: Python | library | exported | learn: Python | library | exported |")
    for name in MODELS:
        with tempfile.TemporaryDirectory() as path:
            found, difference = rounds_of(name, Path(path), X, y)
            times = [
                f"{statistics.median(found[who, learns]):.2f}"
                for learns in (False, True)
                for who in ("Python", "library", "exported")
            ]
            print(f"| {name} | {' | '.join(times)} | {difference:.0e} |", flush=True)
            if name == list(MODELS)[-1]:
                sizes(Path(path))


if __name__ == "__main__":
    main()
