"""Measure the cost model of the core: each way to compute the kernel values of a block.

    python benchmarks/cost_model.py [--repeats N] [--rows N]

Prints microseconds per sample of each way, forced in turn (`onlinekern.core.kernels.cost_model`),
and of the model's choice. The last column is how much slower the choice is than the fastest way.
Minima of CPU time over the repeats, one process, one thread. Differences below a tenth are noise.
"""

import numpy as np
from command import read_options
from ratio import cpu_us
from scipy import sparse
from threadpoolctl import threadpool_limits

from onlinekern import BOGDClassifier
from onlinekern.core.kernels.cost_model import WAYS, overridden

CLASSES = [-1, 1]


def drawn(rows, features, stored, *, as_sparse, skewed=False):
    """Generate samples with so many stored elements of so many features, as float32.

    The features of text are skewed: a few words occur in most rows, most words in few rows.
    """
    generator = np.random.default_rng(0)
    places = generator.random((rows, 2 * stored))
    columns = (features * places ** (4 if skewed else 1)).astype(np.int64)
    values = generator.random(columns.shape)
    matrix = sparse.csr_matrix(
        (values.ravel(), (np.repeat(np.arange(rows), 2 * stored), columns.ravel())),
        shape=(rows, features),
        dtype=np.float32,
    )
    for i in range(rows):  # half more than needed: duplicates are dropped
        row = slice(matrix.indptr[i] + stored, matrix.indptr[i + 1])
        matrix.data[row] = 0
    matrix.eliminate_zeros()
    return matrix if as_sparse else matrix.toarray()


def prepared(X, budget):
    """Return a learner whose budget is full, and random labels of X."""
    y = np.random.default_rng(1).choice(
        CLASSES, len(X) if isinstance(X, np.ndarray) else X.shape[0]
    )
    model = BOGDClassifier(gamma=1e-3, budget=budget, random_state=0)
    model.partial_fit(X[:budget], y[:budget], classes=CLASSES)
    return model, y


def learning_time(model, X, y, share):
    """Return microseconds per sample when `share` of the samples is learnt."""
    weight = (np.random.default_rng(2).random(len(y)) < share).astype(float)
    return cpu_us(lambda: model.partial_fit(X, y, sample_weight=weight), len(y))[0]


def timed(ways, X, budget, shares, options):
    """Time all ways and the model's choice, for each share of samples that are learnt.

    A sample of weight 0 is only predicted. Returns {share: [time of each way ..., of the choice]}.
    """
    best = {share: np.full(len(ways) + 1, np.inf) for share in shares}
    coming = slice(budget, budget + options.rows)
    for _ in range(options.repeats):
        for place, changes in enumerate([*ways.values(), {}]):
            with overridden(**changes):
                for share in shares:
                    model, y = prepared(X, budget)
                    took = learning_time(model, X[coming], y[coming], share)
                    best[share][place] = min(best[share][place], took)
    return best


def table(title, ways, cases, options, budgets=(1_000,), shares=(0.05, 1.0), **how):
    """Print a line per case, budget and share of the samples that are learnt."""
    print(f"\n{title}")
    names = "".join(f"{name:>13}" for name in [*ways, "the model"])
    print(f"{'features':>9}{'stored':>8}{'budget':>8}{'learnt':>8}{names}{'lost':>8}")
    for features, stored in cases:
        for budget in budgets:
            X = drawn(budget + options.rows, features, stored, **how)
            for share, took in timed(ways, X, budget, shares, options).items():
                lost = took[-1] / took[:-1].min() - 1
                times = "".join(f"{time:>13.2f}" for time in took)
                print(f"{features:>9}{stored:>8}{budget:>8}{share:>8.0%}{times}{lost:>8.0%}")


def main():
    """Time every way and print the tables."""
    options = read_options(__doc__, repeats=7, rows=2_000)
    with threadpool_limits(1):
        table(
            "Sparse samples: support rows in dense panels, or as they came",
            WAYS["support vectors"],
            [
                (128, 14),
                (500, 50),
                (1_000, 50),
                (1_000, 200),
                (2_000, 50),
                (2_000, 400),
                (16_000, 50),
            ],
            options,
            as_sparse=True,
            skewed=True,
        )
        table(
            "Dense samples with zeros: as they are, or taken for sparse ones",
            WAYS["samples"],
            [(8, 2), (16, 4), (32, 8), (128, 14), (128, 40), (128, 60), (784, 150), (784, 250)],
            options,
            budgets=(100, 1_000),
            as_sparse=False,
        )
        table(
            "Dense samples: products among a block's samples as they are learnt, or all at once",
            WAYS["pairs"],
            [(16, 16), (64, 64), (256, 256), (784, 784)],
            options,
            budgets=(100, 1_000),
            shares=(0.1, 0.2, 0.4, 0.6, 1.0),
            as_sparse=False,
        )
        table(
            "Sparse samples: panels of a block with all columns, or with those that occur",
            WAYS["columns"],
            [(128, 14), (500, 14), (1_000, 14), (1_000, 50)],
            options,
            budgets=(100, 1_000),
            as_sparse=True,
            skewed=True,
        )
        table(
            "Rows of kernel values: scored in strips of a panel, or whole",
            WAYS["strips"],
            [(8, 8), (128, 14)],
            options,
            budgets=(1_000, 5_000),
            as_sparse=True,
        )


if __name__ == "__main__":
    main()
