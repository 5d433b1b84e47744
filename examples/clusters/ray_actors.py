"""
Learn a stream with Ray
=======================

Learners are actors of Ray. Each goes on from one model through its parts of the stream, which it
reads itself, and the models are merged on the actors, round by round. An actor that dies is begun
anew, and the model is the same.

    pip install 'onlinekern[ray]'
    python examples/clusters/ray_actors.py
"""

from functools import partial

import numpy as np

from onlinekern import KernelRLSClassifier
from onlinekern.distributed import ray

PARTS, ROWS = 16, 5000


def read(part):
    """Return one part of the stream; in earnest it would be a file."""
    rng = np.random.default_rng(part)
    X = rng.normal(size=(ROWS, 5))
    return X, (X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=ROWS) > 0).astype(int)


def main():
    learner = KernelRLSClassifier(n_components=100, gate="always", random_state=0)
    parts = [partial(read, part) for part in range(PARTS)]
    fitted = ray.fit(learner, parts, classes=[0, 1], rounds=2, n_learners=2)
    for one in fitted.rounds:
        share = one.mistakes / one.samples
        print(f"round {one.number}: {one.samples:,} samples, {share:.2%} mistakes")
    for part in parts:
        learner.partial_fit(*part(), classes=[0, 1])
    X, y = read(PARTS)
    difference = np.abs(fitted.model.decision_function(X) - learner.decision_function(X)).max()
    print(f"accuracy {fitted.model.score(X, y):.4f}, one learner {learner.score(X, y):.4f}; "
          f"scores differ by {difference:.0e}")  # fmt: skip


if __name__ == "__main__":
    main()
