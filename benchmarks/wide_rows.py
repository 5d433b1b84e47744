"""Measure what the samples beside the kernel's features bring kernel least squares, and cost.

    python benchmarks/wide_rows.py DIR [--rows 2000]

DIR holds LIBSVM files (.xz). One pass over rows in a random order: mistakes in %, each row
predicted before it is learnt, and microseconds a row, with `linear=True` and `linear=False`.
"""

import argparse
import lzma
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MaxAbsScaler

from onlinekern import KernelRLSClassifier

SETS = ("a9a.train", "dna.train", "usps.train", "spamcorpus", "reuters-moneyfx.train")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--most", type=int, default=4000, help="features up to which linear=True")
    options = parser.parse_args()
    for name in SETS:
        with lzma.open(options.folder / f"{name}.libsvm.xz") as file:
            X, y = load_svmlight_file(file)
        rows = np.random.default_rng(0).permutation(len(y))[: options.rows]
        X, y = MaxAbsScaler().fit_transform(X[rows]), y[rows]
        report = [f"{name:22s} {X.shape[1]:6d} features"]
        for linear in (True, False) if X.shape[1] <= options.most else (False,):
            model, start = KernelRLSClassifier(linear=linear, random_state=0), time.process_time()
            model.partial_fit(X, y, classes=np.unique(y))
            cost = 1e6 * (time.process_time() - start) / len(y)
            mistakes = 100 * model.n_mistakes_ / len(y)
            report.append(f"linear={linear}: {mistakes:5.2f} %, {cost:6.0f} us")
        print("  ".join(report), flush=True)


if __name__ == "__main__":
    main()
