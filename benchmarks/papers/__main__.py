"""Print the papers' tables on their data: our figures beside the published ones.

    python benchmarks/papers TABLE --data DIR [--repeats N] [--only TEXT]

TABLE is A (SPA, mistakes of one pass), A3 (SPA, test errors), B (DualSGD), C (LOL), D (SDROGD) or
E (OLLA). A set whose file is not in DIR has the line "no data". Errors are in per cent, mean and
standard deviation over random orders; times are CPU time in the learner, one thread. The bar is the
figure of an independent implementation, if there is one. `choose.py` chooses the settings that the
papers do not give.
"""

import argparse
from pathlib import Path

import numpy as np
from datasets import Folder
from rows import TABLES
from threadpoolctl import threadpool_limits


def main():
    """Print a table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=sorted(TABLES))
    parser.add_argument("--data", type=Path, required=True, help="folder of LIBSVM files")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose set or learner contains this")
    options = parser.parse_args()
    folder = Folder(options.data)
    print(
        f"{'set':26s} {'learner':44s} {'error %':>15s} {'bar':>7s} {'published':>10s}"
        f" {'us':>8s} {'SVs':>8s}"
    )
    for row in TABLES[options.table]:
        if options.only not in f"{row.data} {row.learner}":
            continue
        try:
            data = folder.get(row.data)
        except FileNotFoundError:
            print(f"{row.data:26s} {row.learner:44s} no data")
            continue
        with threadpool_limits(1):
            runs = [row.protocol(row.build, data, seed) for seed in range(options.repeats)]
        errors, times, sizes = zip(*runs, strict=True)
        kept = "" if sizes[0] is None else f"{np.mean(sizes):,.0f}"
        print(
            f"{row.data:26s} {row.learner:44s} {np.mean(errors):7.2f} +- {np.std(errors):4.2f}"
            f" {row.bar or '':>7} {row.published or '':>10} {np.median(times):8.2f} {kept:>8s}",
            flush=True,
        )


if __name__ == "__main__":
    main()
