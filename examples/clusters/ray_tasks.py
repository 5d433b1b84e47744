"""
Learn a stream with Ray
=======================

A learner for each core goes on from one model, and the models are merged, round by round. A task
takes a model's bytes and gives a model's bytes: Ray does it again if its worker dies.

    pip install onlinekern ray
    python examples/clusters/ray_tasks.py
"""

import pickle

import numpy as np
import ray

from onlinekern import KernelRLSClassifier, merge

CLASSES, ROUNDS, LEARNERS, PARTS, ROWS = [0, 1], 2, 2, 16, 5000


def read(part):
    """Return one part of the stream; in earnest it would be a file."""
    rng = np.random.default_rng(part)
    X = rng.normal(size=(ROWS, 5))
    return X, (X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=ROWS) > 0).astype(int)


@ray.remote(num_cpus=1)
def learn(model, parts):
    """Return the bytes of the model that has learnt these parts, and the mistakes so far."""
    model, mistakes = pickle.loads(model), 0
    for part in parts:
        X, y = read(part)
        mistakes += np.sum(model.partial_fit_predict(X, y) != y)
    return pickle.dumps(model), int(mistakes)


@ray.remote(num_cpus=1)
def combine(base, *learnt):
    """Return the bytes of the merged model, and all mistakes."""
    models, mistakes = zip(*learnt, strict=True)
    merged = merge([pickle.loads(model) for model in models], base=pickle.loads(base))
    return pickle.dumps(merged), sum(mistakes)


def main():
    ray.init(num_cpus=LEARNERS, include_dashboard=False, log_to_driver=False)
    # The width of the kernel and the landmarks are settled by the first part: all share them.
    first = KernelRLSClassifier(n_components=100, gate="always", random_state=0)
    base = pickle.dumps(first.partial_fit(*read(0), classes=CLASSES))
    for number, parts in enumerate(np.array_split(np.arange(1, PARTS), ROUNDS), start=1):
        sent = ray.put(base)  # once to each machine
        learnt = [learn.remote(sent, parts[k::LEARNERS].tolist()) for k in range(LEARNERS)]
        base, mistakes = ray.get(combine.remote(sent, *learnt))
        print(f"round {number}: {mistakes / (ROWS * len(parts)):.2%} mistakes")
    merged, alone = pickle.loads(base), first
    for part in range(1, PARTS):
        alone.partial_fit(*read(part))
    X, y = read(PARTS)
    difference = np.abs(merged.decision_function(X) - alone.decision_function(X)).max()
    print(f"{merged.n_seen_:,} samples, accuracy {merged.score(X, y):.4f}, "
          f"one learner {alone.score(X, y):.4f}; scores differ by {difference:.0e}")  # fmt: skip
    ray.shutdown()


if __name__ == "__main__":
    main()
