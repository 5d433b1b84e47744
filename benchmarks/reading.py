"""Measure how fast text becomes samples: our reader of LIBSVM, scikit-learn's, pyarrow's of CSV.

    python benchmarks/reading.py FILE [FILE ...]

Each FILE is LIBSVM text, packed with xz or plain. The last two rows are 20 Gaussian features with
six digits, and with all of them. Figures are MB/s of text, the best of three, one thread; CSV is of
the same numbers, as a dense table, where that has at most 100 million.
"""

import argparse
import io
import lzma
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv
from sklearn.datasets import load_svmlight_file

from onlinekern.core.samples.text import parse_libsvm

MOST_NUMBERS = 100_000_000


def rate(call, size):
    """Return MB/s, the best of three."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return size / 1e6 / min(seconds)


def as_csv(X, form):
    """Return the rows as CSV."""
    out = io.StringIO()
    np.savetxt(out, X, fmt=form, delimiter=",")
    return out.getvalue().encode()


def measure(name, text, form="%.9g"):
    """Print a row of the table."""
    labels, values, columns, starts = parse_libsvm(text)
    ours = rate(lambda: parse_libsvm(text), len(text))
    theirs = rate(lambda: load_svmlight_file(io.BytesIO(text), zero_based=True), len(text))
    table = "-"
    width = int(columns.max()) + 1
    if len(labels) * width <= MOST_NUMBERS:
        X = np.zeros((len(labels), width))
        X[np.repeat(np.arange(len(labels)), np.diff(starts)), columns] = values
        rows = as_csv(X, form)
        options = csv.ReadOptions(use_threads=False, autogenerate_column_names=True)
        table = f"{rate(lambda: csv.read_csv(pa.BufferReader(rows), options), len(rows)):.0f}"
    print(f"| {name} | {len(text) / 1e6:.1f} | {ours:.0f} | {theirs:.0f} | {table} |", flush=True)


def gaussian(form, n=20_000, d=20):
    """Return LIBSVM text of Gaussian features."""
    X = np.random.default_rng(0).standard_normal((n, d))
    rows = (" ".join(f"{j + 1}:{form % v}" for j, v in enumerate(row)) for row in X.tolist())
    return "".join(f"1 {row}\n" for row in rows).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    print("| text | MB | onlinekern | scikit-learn | pyarrow, CSV |\n|---|---:|---:|---:|---:|")
    for path in parser.parse_args().files:
        with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
            measure(path.name.partition(".libsvm")[0], file.read())
    measure("six digits", gaussian("%.6g"), "%.6g")
    measure("all digits", gaussian("%.17g"), "%.17g")


if __name__ == "__main__":
    main()
