"""Rewards of a contextual bandit: upper confidence bounds by the leverage of kernel least squares.

    nice python benchmarks/bandit.py DIR [--rounds 3000] [--orders 3]

Sets of several classes become bandits: an action is a class, its reward is 1 if it is that of the
sample and else 0, and no other reward is seen. Each action has a `KernelRLSRegressor` of its own
rewards; that one is taken of the largest ``score + width * sqrt(leverage)``. Prints the share of
rounds without a reward in %, the mean of several random orders.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from onlinekern import KernelRLSClassifier, KernelRLSRegressor
from onlinekern.streams import open_source

SETS = ("segment", "satimage.train", "optdigits", "page-blocks", "shuttle.train")
WAYS = {
    "greedy": (0.0, 0.0),
    "one in ten by chance": (0.0, 0.1),
    "width 0.1": (0.1, 0.0),
    "width 0.3": (0.3, 0.0),
    "width 1": (1.0, 0.0),
    "width 3": (3.0, 0.0),
}


def bound(model, x, width):
    """Return how good an action may be; one that was never taken may be the best."""
    if not hasattr(model, "n_seen_"):
        return np.inf
    return model.score_one(x) + width * np.sqrt(model.leverage(x[None])[0])


def missed(X, y, width, chance):
    """Return the share of rounds without a reward."""
    rng = np.random.default_rng(0)
    actions = np.unique(y)
    models = [
        KernelRLSRegressor(n_components=100, standardize_target=False, random_state=0)
        for _ in actions
    ]
    wrong = 0
    for x, label in zip(X, y, strict=True):
        bounds = [bound(model, x, width) for model in models]
        taken = int(rng.integers(len(actions)) if rng.random() < chance else np.argmax(bounds))
        reward = float(actions[taken] == label)
        models[taken].partial_fit(x[None], [reward])
        wrong += 1 - reward
    return wrong / len(y)


def labelled(X, y):
    """Return the mistakes of a classifier that is told every label."""
    model = KernelRLSClassifier(n_components=100, random_state=0)
    return np.mean(model.partial_fit_predict(X, y, classes=np.unique(y)) != y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--orders", type=int, default=3)
    settings = parser.parse_args()
    print(f"| set | actions | {' | '.join(WAYS)} | all labels told |")
    print(f"|---|---:|{'---:|' * (len(WAYS) + 1)}")
    with threadpool_limits(1):
        for name in SETS:
            with open_source(settings.folder / f"{name}.libsvm.xz", dtype="float64") as source:
                rows, labels = source.head(10**5)
            rows = StandardScaler().fit_transform(rows)
            found = []
            for order in range(settings.orders):
                places = np.random.default_rng(order).permutation(len(labels))[: settings.rounds]
                X, y = rows[places], labels[places]
                found.append([missed(X, y, *way) for way in WAYS.values()] + [labelled(X, y)])
            means = 100 * np.mean(found, axis=0)
            cells = " | ".join(f"{mean:.1f}" for mean in means)
            print(f"| {name.partition('.')[0]} | {len(np.unique(labels))} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
