"""Measure what a model takes: in a pickle, and in memory while it learns.

    python benchmarks/model_bytes.py [--rows N]

Each learner learns so many samples of 8 normal features in a process of its own, in float32 and in
float64. The table has kilobytes: of its pickle, and by how much the process has grown.
"""

import multiprocessing
import os
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from command import read_options

import onlinekern

LEARNERS = {
    "PA": ("PAClassifier", {}),
    "AROW": ("AROWClassifier", {}),
    "SPA": ("SPAClassifier", {"random_state": 0}),
    "kernel PA of the last 500": ("KernelPAClassifier", {"max_support": 500}),
    "BOGD, budget 500": ("BOGDClassifier", {"budget": 500}),
    "Projectron, budget 500": ("ProjectronClassifier", {"budget": 500}),
    "FOGD, 400 frequencies": ("FOGDClassifier", {"n_components": 400, "random_state": 0}),
    "NOGD, budget 500": ("NOGDClassifier", {"budget": 500}),
    "KernelRLS, defaults": ("KernelRLSClassifier", {"random_state": 0}),
    "StreamClassifier": ("StreamClassifier", {"random_state": 0}),
}
ROWS_OF_A_CALL = 1_000


def samples(n, dtype, seed=0):
    """Generate n samples whose labels are noisy."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 8)).astype(dtype)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.standard_normal(n) > 0).astype(int)


def resident():
    """Return the resident kilobytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def learn(learner, n, dtype):
    """Return the kilobytes of the pickle of a model, and those that learning it took."""
    warnings.simplefilter("ignore")
    name, parameters = LEARNERS[learner]
    X, y = samples(n, dtype)
    kind = getattr(onlinekern, name)
    # Another model first: what is imported, and what the libraries keep, is no part of this one.
    kind(**parameters).partial_fit(X[:300], y[:300], classes=[0, 1])
    before = resident()
    model = kind(**parameters)
    for first in range(0, n, ROWS_OF_A_CALL):
        part = slice(first, first + ROWS_OF_A_CALL)
        model.partial_fit(X[part], y[part], classes=[0, 1])
    grown = resident() - before
    return len(pickle.dumps(model)) / 1024, grown


def main():
    """Measure and print."""
    options = read_options(__doc__, rows=20_000)
    heads = f"{'pickle, float32':>16}{'float64':>9}{'memory, float32':>18}{'float64':>9}"
    print(f"{'kilobytes':28}{heads}")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for learner in LEARNERS:
            one, two = (
                pool.submit(learn, learner, options.rows, dtype).result()
                for dtype in (np.float32, np.float64)
            )
            kilobytes = f"{one[0]:>16,.0f}{two[0]:>9,.0f}{one[1]:>18,.0f}{two[1]:>9,.0f}"
            print(f"{learner:28}{kilobytes}", flush=True)


if __name__ == "__main__":
    main()
