"""Choose the settings that the papers do not give, on a part of the data.

    python benchmarks/papers/choose.py TABLE --data DIR [--only TEXT]

Every combination in a row's `grid` learns the first 5,000 rows of a permutation of the set, in
three orders. If the set has a training part, only that is used. The criterion is the mistakes of
one pass where the table counts them, otherwise the error on a held-out fifth. The best settings
are printed, to be written into the row. The rows are permuted because the first rows of ijcnn1 are
a short piece of a time series.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

# With `python -P` the folder of the program is not on the path.
sys.path.insert(1, str(Path(__file__).parent))

import numpy as np
from datasets import Folder
from protocols import (
    divided,
    divided_sparse,
    divided_unscaled,
    online,
    online_by_theory,
    online_regression,
)
from rows import TABLES
from sklearn.utils import shuffle
from threadpoolctl import threadpool_limits

HEAD = 5000
HEAD_SEED = 12345
ORDERS = 3
# Of the others, the error on a held-out fifth of the rows as they are counts.
PROTOCOLS = {
    online_by_theory: online,
    **{own: own for own in (online, online_regression, divided, divided_sparse)},
}


def error(row, data):
    """Return the mean error of a row's learner on the first rows."""
    protocol = PROTOCOLS.get(row.protocol, divided_unscaled)
    head = shuffle(*data[:2], random_state=HEAD_SEED, n_samples=min(HEAD, len(data[1])))
    return np.mean([protocol(row.build, head, seed).error for seed in range(ORDERS)])


def main():
    """Print the best settings of each row with a grid, and the row's present setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=sorted(TABLES))
    parser.add_argument("--data", type=Path, required=True, help="folder of LIBSVM files")
    parser.add_argument("--only", default="", help="rows whose set or learner contains this")
    options = parser.parse_args()
    folder = Folder(options.data)
    for row in TABLES[options.table]:
        if not row.grid or options.only not in f"{row.data} {row.learner}":
            continue
        try:
            data = folder.get(row.data)
        except FileNotFoundError:
            print(f"{row.data}, {row.learner}: no data")
            continue
        tried = product(*row.grid.values())
        settings = [dict(zip(row.grid, values, strict=True)) for values in tried]
        with threadpool_limits(1):
            errors = [error(row.with_parameters(one), data) for one in settings]
        print(f"{row.data}, {row.learner}")
        own = {name: row.parameters[name] for name in row.grid}
        for place, i in enumerate(np.argsort(errors, kind="stable")):
            if place < 3 or settings[i] == own:
                mark = "<- the row's" if settings[i] == own else ""
                print(f"    {errors[i]:6.2f} {settings[i]} {mark}", flush=True)


if __name__ == "__main__":
    main()
