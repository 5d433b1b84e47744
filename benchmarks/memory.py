"""Measure memory over a long stream: it must not grow once the model is full.

    python benchmarks/memory.py [--samples N] [--max-support N] [--estimator NAME] [--tolerance MB]

Learns the gaussian mixture block by block and prints the resident memory every million samples
(Linux). Exits with code 1 if the memory grew after the first million.
"""

import os
import sys
import time
import warnings
from pathlib import Path

from command import read_options

import onlinekern
from onlinekern.streams import gaussian_mixture_blocks

MILLION = 1_000_000
BLOCK = 10_000


def resident_mb():
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main():
    """Learn, print, and compare the memory after the first million with the later maximum."""
    options = read_options(
        __doc__, samples=10 * MILLION, max_support=1_000, estimator="SPAClassifier", tolerance=4.0
    )
    estimator = dict(onlinekern.all_estimators("classifier"))[options.estimator]
    model = estimator(gamma=0.4, max_support=options.max_support, when_full="stop", random_state=0)
    warnings.filterwarnings("ignore", message="max_support")
    first, most, learning, seen = None, 0.0, 0.0, 0
    # The speed of the last million samples.
    print(f"{'samples':>12} {'SVs':>7} {'memory MB':>10} {'samples/s':>11}")
    for X, y in gaussian_mixture_blocks(random_state=0, block_size=BLOCK):
        start = time.perf_counter()
        model.partial_fit(X.astype("float32"), y, classes=[-1, 1])
        learning += time.perf_counter() - start
        seen += len(y)
        most = max(most, resident_mb()) if first is not None else 0.0
        if seen % MILLION == 0:
            memory = resident_mb()
            first = memory if first is None else first
            print(f"{seen:12,} {model.n_support_:7,} {memory:10.1f} {MILLION / learning:11,.0f}")
            learning = 0.0
        if seen >= options.samples:
            break
    growth = max(0.0, most - first) if first is not None else 0.0
    print(f"growth after the first million: {growth:.1f} MB (allowed: {options.tolerance:g})")
    return int(growth > options.tolerance)


if __name__ == "__main__":
    sys.exit(main())
