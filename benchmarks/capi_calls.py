"""Time one sample a call: the C interface beside Python's `learn_one` and `score_one`.

    OMP_NUM_THREADS=1 python benchmarks/capi_calls.py [--rows N] [--repeats N] [--markdown FILE]

Microseconds per call, medians of CPU times measured in turns on equal models, one thread. Two
models whose own work is small: linear PA-I, and SPA with 64 support vectors; rows of 10 features,
or of 123 of which 10 are stored. Every row and Python object exists before the clock starts, and
the C loop makes its `ok_matrix` inside: both sides do what a caller in that language does.

The C loop runs in a thread that Python knows (it has called `PyEval_SaveThread`), and in a thread
of its own (`pthread_create`), as it is and within `PyGILState_Ensure`, see docs/c_api.md. The
scores of all ways must be the same bits.
"""

import pickle
import statistics
import time
import warnings
from pathlib import Path

import capi_loop
import numpy as np
from command import read_options
from scipy import sparse

from onlinekern import PAClassifier, SPAClassifier

STORED, WIDE = 10, 123
N_SUPPORT = 64
MODELS = {
    "linear PA-I": lambda: PAClassifier(),
    "SPA, 64": lambda: SPAClassifier(
        gamma=0.4, beta=5.0, max_support=N_SUPPORT, when_full="stop", random_state=0
    ),
}
WAYS = ("Python", "C", "C, own thread", "C, attached")


def rows_of(layout, dtype, n):
    """Return rows of ten numbers, dense or as stored elements of wider rows, and their labels."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n, STORED)).astype(dtype)
    y = np.where(values[:, 0] * values[:, 1] > 0, 1.0, -1.0)
    if layout == "dense":
        return values, y
    columns = np.sort(rng.permuted(np.tile(np.arange(WIDE), (n, 1)), axis=1)[:, :STORED], axis=1)
    starts = np.arange(0, n * STORED + 1, STORED, dtype=np.int32)
    columns = columns.ravel().astype(np.int32)
    return sparse.csr_matrix((values.ravel(), columns, starts), shape=(n, WIDE)), y


def learnt(name, X, y):
    """Return a model that has learnt rows, and has all the support vectors it may have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="max_support")
        return MODELS[name]().partial_fit(X, y, classes=[-1, 1])


def in_python(estimator, samples, out):
    """Learn pairs (x, y), or write the scores of the samples to `out`."""
    if out is None:
        for x, y in samples:
            estimator.learn_one(x, y)
    else:
        for i, (x, _) in enumerate(samples):
            out[i] = estimator.score_one(x)


def in_c(way, model, X, y, out):
    """Do the same with the C loop."""
    if way == "C":
        model.each(X, y, out)
    else:
        model.each_in_thread(X, y, out, attached=way == "C, attached")


def measure(kept, X, y, scores, repeats):
    """Return the median of each way, in microseconds per call."""
    samples = list(zip(X, y.tolist(), strict=True))
    times = {way: [] for way in WAYS}
    for _ in range(repeats):
        answers = []
        for way in WAYS:
            estimator = pickle.loads(kept)
            model = capi_loop.Model(estimator)
            out = np.zeros(len(y)) if scores else None
            start = time.process_time()
            if way == "Python":
                in_python(estimator, samples, out)
            else:
                in_c(way, model, X, y, out)
            times[way].append(1e6 * (time.process_time() - start) / len(y))
            answers.append(out)
        for other in answers[1:] if scores else ():
            np.testing.assert_array_equal(other, answers[0])
    return [statistics.median(times[way]) for way in WAYS]


def table(n, repeats):
    """Yield the lines of the table."""
    yield f"| model, rows | call | {' | '.join(WAYS)} |"
    yield "|---|---|" + "---|" * len(WAYS)
    for name in MODELS:
        for layout in ("dense", "CSR"):
            for dtype in ("float32", "float64"):
                X, y = rows_of(layout, dtype, n)
                kept = pickle.dumps(learnt(name, X, y))
                for call in ("learn_one", "score_one"):
                    figures = measure(kept, X, y, call == "score_one", repeats)
                    shown = " | ".join(f"{figure:.2f}" for figure in figures)
                    yield f"| {name}, {layout} {dtype} | `{call}` | {shown} |"


def main():
    """Print the table."""
    arguments = read_options(__doc__, rows=20_000, repeats=9, markdown=Path)
    lines = []
    for line in table(arguments.rows, arguments.repeats):
        print(line, flush=True)
        lines.append(line)
    if arguments.markdown:
        arguments.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
