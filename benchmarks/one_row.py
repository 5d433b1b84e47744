"""Time a sample of a race in blocks of 1,000 rows, and one row at a time.

    python benchmarks/one_row.py [--data FOLDER] [--runs 3]

Processor time in microseconds of samples 4,001 to 8,000, medians of the runs, in which the calls
take turns. `StreamClassifier` learns elec2 (LIBSVM text, packed with xz) if FOLDER has it,
`StreamRegressor` eight normal features.
"""

import lzma
import time
from pathlib import Path

import numpy as np
from command import read_options
from latency import stream
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from onlinekern import StreamClassifier, StreamRegressor

ROWS, BLOCK = 4000, 1000


def in_blocks(model, X, y):
    for first in range(0, len(X), BLOCK):
        model.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK])


def one_by_one(model, X, y):
    for x, target in zip(list(X), y.tolist(), strict=True):
        model.learn_one(x, target)


def scored_first(model, X, y):
    for x, target in zip(list(X), y.tolist(), strict=True):
        model.score_one(x)
        model.learn_one(x, target)


def blocks_of_one(model, X, y):
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])


CALLS = {
    "partial_fit in blocks of 1,000": in_blocks,
    "learn_one": one_by_one,
    "score_one and learn_one": scored_first,
    "partial_fit of one row": blocks_of_one,
}


def cost(make, X, y, call):
    """Return the processor time of a sample behind the first ones, in microseconds."""
    model = make(random_state=0)
    given = {"classes": np.unique(y)} if make is StreamClassifier else {}
    model.partial_fit(X[:ROWS], y[:ROWS], **given)
    start = time.process_time()
    call(model, X[ROWS : 2 * ROWS], y[ROWS : 2 * ROWS])
    return 1e6 * (time.process_time() - start) / ROWS


def streams(folder):
    """Yield a race, the name of a stream, its rows and its targets."""
    if folder is not None:
        with lzma.open(Path(folder) / "elec2.libsvm.xz") as packed:
            X, y = load_svmlight_file(packed)
        yield StreamClassifier, "elec2", X.toarray(), y
    X, _, targets = stream(2 * ROWS)
    yield StreamRegressor, "8 normal features", X, targets


def main():
    """Print the table."""
    options = read_options(__doc__, data=None, runs=3)
    print("| race | stream | " + " | ".join(CALLS) + " |")
    with threadpool_limits(1):
        for make, name, X, y in streams(options.data):
            runs = [[cost(make, X, y, call) for call in CALLS.values()]
                    for _ in range(options.runs)]  # fmt: skip
            shown = " | ".join(f"{each:.0f}" for each in np.median(runs, axis=0))
            print(f"| {make.__name__} | {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
