"""Measure how far the inverse Gram matrix of the budgeted learners drifts in a million updates.

Rows are added and removed at random; half of them are near-duplicates of others. From time to time
the error of the inverse H is measured, max |(K + ridge I) H - I|, and the error of an inverse by
LAPACK. Prints a line per ridge; takes minutes.

    python benchmarks/drift.py [updates] [budget]
"""

import sys

import numpy as np

from onlinekern.core.linalg.inverse_gram import InverseGram

RIDGES = (1.0, 0.1, 1e-3, 1e-5)


def drift(gram, inverse):
    """Return the largest element of |gram inverse - I|."""
    return np.abs(gram @ inverse - np.eye(len(gram))).max(initial=0)


def walk(ridge, updates, budget):
    """Return the worst and the median drift, and the worst of a fresh inverse."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2 * budget, 3))
    rows[budget:] = rows[:budget] + 1e-9 * rng.standard_normal((budget, 3))
    K = np.exp(-0.4 * ((rows[:, None] - rows) ** 2).sum(-1))
    inverse, places = InverseGram(budget), np.full(budget, -1)
    drifts, fresh = [], []
    for i in range(updates):
        place = int(rng.integers(budget))
        if places[place] >= 0:
            inverse.remove_row(place)
            places[place] = -1
        else:
            row = int(rng.integers(len(rows)))
            inverse.add_row(place, np.where(places >= 0, K[row, places], 0), K[row, row], ridge)
            places[place] = row
        if i % (updates // 1000) == 0:
            present = np.flatnonzero(places >= 0)
            gram = K[np.ix_(places[present], places[present])] + ridge * np.eye(len(present))
            drifts.append(drift(gram, inverse.matrix()[np.ix_(present, present)]))
            fresh.append(drift(gram, np.linalg.inv(gram)))
        if inverse.is_stale():
            there = places >= 0
            inverse.refresh(np.where(there[:, None] & there, K[np.ix_(places, places)], 0))
    return max(drifts), np.median(drifts), max(fresh)


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    budget = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for ridge in RIDGES:
        worst, median, fresh = walk(ridge, updates, budget)
        line = f"worst {worst:.1e}, median {median:.1e}, a fresh one {fresh:.1e}"
        print(f"ridge {ridge:7.0e}: {line}", flush=True)


if __name__ == "__main__":
    main()
