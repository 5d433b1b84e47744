"""Compare the covariances of kernel AROW: error and time, on Nystroem and Fourier features.

    python benchmarks/covariances.py --data DIR [--sets NAME ...] [--orders N] [--json FILE]

One pass over at most 8,000 rows, standardised by what has been seen; gamma is chosen by a learner's
own mistakes on the first order. For each learner: the test error in per cent, mistakes on the way,
and microseconds of CPU time a sample. The second table is of gates: `r` and `gate` of the shared
covariance. DIR holds the sets as NAME.libsvm.xz.
"""

import sys
import warnings
from functools import partial
from pathlib import Path
from statistics import mean as average

from command import read_options
from threadpoolctl import threadpool_limits

sys.path.insert(1, str(Path(__file__).parent / "second_order"))

from figures import Kept, markdown, mean
from methods import drawn, library, over_orders
from sets import load

SETS = ("ijcnn1", "satimage", "usps", "spambase", "eeg-eye-state")
MOST_ROWS = 8_000
LOT = {"gate": "loss_proportional"}


def arow(**parameters):
    """Return kernel AROW."""
    return library("KernelAROWClassifier", **parameters)


def covariances():
    """Return the learners of the first table, by the names of its columns."""
    return {
        "diagonal": arow(covariance="diagonal"),
        "sketched, 20": arow(covariance="sketched", sketch_size=20),
        "sketched, 50": arow(covariance="sketched"),
        "shared": arow(),
        "full": arow(covariance="full"),
        "shared, by margin": arow(multi_class="margin"),
        "SCW-I, shared": library("KernelSCWClassifier"),
        "Fourier, diagonal": arow(features="fourier", covariance="diagonal"),
        "Fourier, sketched, 50": arow(features="fourier", covariance="sketched"),
        "Fourier, shared": arow(features="fourier"),
    }


def gates():
    """Return the learners of the second table."""
    return {
        "r 0.03": arow(r=0.03),
        "r 0.1": arow(),
        "r 0.3": arow(r=0.3),
        "r 1": arow(r=1.0),
        "lot": arow(**LOT),
        "lot, weight 1/p": arow(weighted=True, **LOT),
        "lot, beta 2": arow(beta=2.0, **LOT),
        "lot, diagonal": arow(covariance="diagonal", **LOT),
    }


def shown(figures, n):
    """Return the figures of a learner, as a cell."""
    micro = 1e6 * average(figures["seconds"]) / n
    return f"{mean(figures['error'])} ({mean(figures['mistakes'])}; {micro:.0f} µs)"


def rows_of(options, kept, learners, most=MOST_ROWS):
    """Return set -> the cells of its learners, of at most so many rows."""
    rows = {}
    for name in options.sets:
        draw = drawn(options.data, name, most)
        n = min(most, 3 * len(load(options.data, name)[1]) // 4)
        cells = []
        for label, learner in learners.items():
            key = f"{name} {label} {options.orders}" + f" {most}" * (most != MOST_ROWS)
            found = kept.get(key, partial(over_orders, learner, draw, options.orders))
            cells.append(shown(found, n))
            print(name, label, cells[-1], file=sys.stderr, flush=True)
        rows[name] = cells
    return rows


def print_tables(text, names, tables, most):
    """Print tables of learners on these sets; `text` says in its first line what is compared."""
    options = read_options(
        text,
        data={"type": Path, "required": True},
        sets={"nargs": "+", "default": names},
        orders=3,
        json=None,
    )
    warnings.simplefilter("ignore")
    kept = Kept(options.json)
    with threadpool_limits(1):
        for learners in tables:
            rows = rows_of(options, kept, learners, most)
            print(f"\n{markdown(list(learners), rows)}", flush=True)


if __name__ == "__main__":
    print_tables(__doc__, SETS, (covariances(), gates()), MOST_ROWS)
