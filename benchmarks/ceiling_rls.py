"""Time kernel least squares beside matrix products, a NumPy version, and an SVC.

    python benchmarks/ceiling_rls.py [--data DIR] [--rows N] [--repeats N]

One process, one thread, all runs in turns; medians of CPU time. Own flops are those of the products
that each sample which enters needs: with D numbers in a row, 2 D^2 for q = N phi, 2 D^2 for the
downdate of N, D^2 in double for A, D^2 / 8 in double for N made anew every 8 D samples, and the
features. Their time at the rates of BLAS's matrix product, in each precision, is what "of it" says.
The peer is `peer_kernel_rls.py`, the same recursion with NumPy's and SciPy's BLAS and LAPACK. The
SVC learns the same samples; its parameters are those that validation chose for ijcnn1.
"""

import statistics
import time

import numpy as np
from cases import Streams
from command import read_options
from peer_kernel_rls import BlockRLS
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks import streams
from onlinekern import KernelRLSClassifier

GAMMA = 3 / 22
SVC_PARAMETERS = {"C": 10.0, "gamma": 1.0}


def rate(dtype, repeats=9, size=512):
    """Return the floating point operations of a matrix product in a microsecond."""
    A = np.random.default_rng(0).random((size, size)).astype(dtype)
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(4):
            A @ A
        times.append((time.process_time() - begun) / 4)
    return 2e-6 * size**3 / statistics.median(times)


def own_us(features, D, d, rates):
    """Return the time of a sample's own flops at these rates, single and double."""
    single = 4 * D**2 + 4 * 64 * D
    single += D * d if features == "fourier" else 2 * D * d + D**2
    return single / rates[0] + 1.125 * D**2 / rates[1]


def share_entered(model):
    """Return the share of the samples that entered."""
    return model.n_entered_ / model.n_seen_


class Run:
    """One of the library's models, or the peer's, and its times."""

    def __init__(self, make, X, y):
        self.make, self.X, self.y, self.times = make, X, y, []

    def learn(self):
        model = self.make()
        model.partial_fit(self.X[:4000], self.y[:4000], classes=[-1, 1])
        begun = time.process_time()
        model.partial_fit(self.X[4000:], self.y[4000:])
        self.times.append((time.process_time() - begun) * 1e6 / (len(self.y) - 4000))
        self.model = model

    @property
    def us(self):
        return statistics.median(self.times)


def ours(features, n, **gate):
    return lambda: KernelRLSClassifier(
        features=features, n_components=n, gamma=GAMMA, linear=True, random_state=0, **gate
    )


def peer(features, n, gate):
    return lambda: BlockRLS(GAMMA, features, n, gate=gate)


def quarter(features, n, X, y):
    """Return the margin with which about a quarter of the samples enter."""
    shares = {}
    for margin in (0.3, 0.5, 0.7, 0.85, 1.0):
        model = ours(features, n, margin=margin)()
        model.partial_fit(X[:12_000], y[:12_000], [-1, 1])
        shares[margin] = share_entered(model)
    return min(shares, key=lambda margin: abs(shares[margin] - 0.25))


def print_table(X, y, repeats):
    """Print every feature map and size."""
    print(
        f"{'features':10}{'D':>5}{'us, all':>9}{'of it':>7}{'quarter':>9}{'(share)':>9}{'times':>7}"
        f"{'NumPy, all':>12}{'times':>7}{'gated':>8}{'times':>7}"
    )
    for features in ("fourier", "nystroem"):
        for n in (256, 512):
            margin = quarter(features, n, X, y)
            makers = [
                ours(features, n, gate="always"), ours(features, n, margin=margin),
                peer(features, n, "always"), peer(features, n, "margin"), ours(features, n),
            ]  # fmt: skip
            runs = [Run(make, X, y) for make in makers]
            rates = []
            for _ in range(repeats):
                rates.append([rate("f4"), rate("f8")])
                for run in runs:
                    run.learn()
            everything, part, numpy_all, numpy_gated, gated = runs
            D = everything.model._model.space.block.used
            limit = own_us(features, D, X.shape[1], np.median(rates, axis=0))
            print(
                f"{features:10}{n:5}{everything.us:9.2f}{limit / everything.us:7.0%}{part.us:9.2f}"
                f"{share_entered(part.model):9.0%}{everything.us / part.us:7.1f}"
                f"{numpy_all.us:12.2f}{numpy_all.us / everything.us:7.1f}"
                f"{numpy_gated.us:8.2f}{numpy_gated.us / gated.us:7.1f}",
                flush=True,
            )


def print_svc(X, y):
    """Print the errors and seconds of one pass, and of an SVC."""
    X_test, y_test, X, y = X[-20_000:], y[-20_000:], X[:-20_000], y[:-20_000]
    print(f"\n{len(y)} samples, test error on {len(y_test)}")
    models = {
        f"KernelRLS {n}": KernelRLSClassifier(
            n_components=n, gamma=SVC_PARAMETERS["gamma"], random_state=0
        )
        for n in (400, 1_000, 2_000)
    }
    for name, model in {**models, "SVC": SVC(**SVC_PARAMETERS, cache_size=1_000)}.items():
        begun = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - begun
        print(f"{name:16}{100 * np.mean(model.predict(X_test) != y_test):7.2f} %{seconds:8.1f} s")


def main():
    """Print both tables."""
    options = read_options(__doc__, data=None, rows=20_000, repeats=5)
    X, y = Streams(options.data, None).get("ijcnn1")
    order = np.random.default_rng(0).permutation(len(y))
    X, y = streams.laid_out(X[order], "float32", "dense"), y[order]
    with threadpool_limits(1):
        print_table(X[: options.rows], y[: options.rows], options.repeats)
        print_svc(X[:70_000], y[:70_000])


if __name__ == "__main__":
    main()
