"""Learn a long stream by kernel least squares: does it stay finite, exact, in fixed memory?

    python benchmarks/long_least_squares.py [--samples N] [--forgetting LAMBDA ...]

A float32 stream of 8 features with a target that changes slowly, in pieces of a million samples.
Every piece prints the mean square error before learning, the memory of the process, and how far the
model is from one that learns the same samples in float64, on fresh samples; the float64 model
replays the last piece, from a copy of the float32 one at its beginning. The eigenvalues of the sums
A tell that nothing blows up.
"""

import resource
import time

import numpy as np
from command import read_options
from threadpoolctl import threadpool_limits

from onlinekern import KernelRLSRegressor

FEATURES, PIECE = 8, 1_000_000


def stream(random, n, t):
    """Return n samples and targets of a function that changes over 10^8 samples."""
    X = random.standard_normal((n, FEATURES), dtype=np.float32)
    turn = 2 * np.pi * t / 1e8
    y = np.sin(X[:, 0] * np.cos(turn) + X[:, 1] * np.sin(turn)) + X[:, 2] * X[:, 3]
    return X, y + 0.3 * random.standard_normal(n, dtype=np.float32)


def new_model(forgetting, X):
    """Return a model whose kernel width does not depend on the first batch."""
    model = KernelRLSRegressor(
        standardize_target=False,
        features="fourier",
        n_components=64,
        gamma=0.1,
        forgetting=forgetting,
        random_state=0,
    )
    return model.partial_fit(X[:1], np.zeros(1))


def replayed(model, X, y):
    """Return a float64 model that starts at the sums of a model, and learns the samples."""
    other = new_model(model.forgetting, X.astype(np.float64))
    state = model._model.space.block.get_state()
    other._model.space.block.set_state(state)
    return other.partial_fit(X.astype(np.float64), y)


def run(forgetting, samples, replay):
    random = np.random.default_rng(0)
    fresh, _ = stream(np.random.default_rng(1), 10_000, 0)
    model = new_model(forgetting, fresh)
    for piece in range(samples // PIECE):
        X, y = stream(random, PIECE, piece * PIECE)
        told = (piece + 1) % (samples // PIECE // 10 or 1) == 0
        begun = time.process_time()
        if told:
            other = replayed(model, X[:replay], y[:replay])
            model.partial_fit(X[:replay], y[:replay])
            found, wanted = model.predict(fresh), other.predict(fresh.astype(np.float64))
            apart = np.abs(found - wanted).max() / np.std(wanted)
            X, y = X[replay:], y[replay:]
        errors = model.partial_fit_predict(X, y) - y
        if told:
            matrix = model._model.space.block.get_state()["matrix"]
            values = np.linalg.eigvalsh(matrix)
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            us = (time.process_time() - begun) / PIECE * 1e6
            print(
                f"lambda {forgetting}  {(piece + 1) * PIECE:11,d} samples  mse "
                f"{np.mean(errors**2):.4f}  float64 differs by {apart:.1e}  eigenvalues "
                f"{values[0]:.2e} ... {values[-1]:.2e}  memory {megabytes:.0f} MB  {us:.2f} us",
                flush=True,
            )


def main():
    options = read_options(__doc__, samples=100_000_000, forgetting=[1.0, 0.999], replay=100_000)
    with threadpool_limits(1):
        for forgetting in options.forgetting:
            run(forgetting, options.samples, options.replay)


if __name__ == "__main__":
    main()
