"""Time of a sample with a kernel that is a function, beside the compiled one (docs/extending.md).

python -P benchmarks/function_kernel.py
"""

from statistics import median
from time import perf_counter

import numpy as np
from scipy.spatial.distance import cdist

from onlinekern import KernelPAClassifier
from onlinekern.core.kernels.kernels import Gaussian

REPEATS = 3
WIDTHS = (2, 20, 100)


def with_matrices(gamma):
    """Return the Gaussian kernel of two matrices, with SciPy's distances."""
    return lambda X, Z: np.exp(-gamma * cdist(X, Z, "sqeuclidean"))


def in_a_loop(gamma):
    """Return the Gaussian kernel of two matrices, pair by pair in Python."""
    return lambda X, Z: [[np.exp(-gamma * ((x - z) ** 2).sum()) for z in Z] for x in X]


def microseconds(kernel, n_features, n_samples):
    """Return the median time of a sample, with at most 500 support vectors."""
    X = np.random.default_rng(0).standard_normal((n_samples, n_features))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    times = []
    for _ in range(REPEATS):
        model = KernelPAClassifier(
            kernel=kernel, max_support=500, when_full="oldest", random_state=0
        )
        start = perf_counter()
        model.fit(X, y)
        times.append(perf_counter() - start)
    return 1e6 * median(times) / n_samples


if __name__ == "__main__":
    for n_features in WIDTHS:
        gamma = 1 / n_features
        for name, kernel, n_samples in (
            ("compiled", Gaussian(gamma), 5000),
            ("matrices", with_matrices(gamma), 5000),
            ("loop", in_a_loop(gamma), 200),
        ):
            time = microseconds(kernel, n_features, n_samples)
            print(f"{n_features:4} features  {name:8}  {time:7.1f} microseconds a sample")
