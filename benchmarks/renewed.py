"""Errors of learners that begin anew at alarms, beside those that go on.

    nice python benchmarks/renewed.py DIR [--rows N] [--recent N ...] [--models NAME ...]

DIR holds streams as NAME.libsvm.xz. Streams in their order, each sample predicted before it is
learnt; features are standardised as they come, but for StreamClassifier. Errors in %, with the
number of alarms; `--recent`: with how many of the last samples a new learner begins.
"""

import argparse

import numpy as np
import streams_leaderboard as leaderboard
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from onlinekern import KernelRLSClassifier, PAClassifier, StreamClassifier
from onlinekern.drift import RenewedLearner

STREAMS = (
    "Elec2", "weather", "SEA", "outdoor", "covtype", "poker", "RBF drift", "hyperplane", "Agrawal",
    "LED",
)  # fmt: skip
CALL = 1_000
MODELS = {
    "Stream": StreamClassifier(time_budget=30, random_state=0),
    "KernelRLS": KernelRLSClassifier(random_state=0),
    "KernelRLS .998": KernelRLSClassifier(forgetting=0.998, random_state=0),
    "KernelRLS, metric": KernelRLSClassifier(metric="diagonal", random_state=0),
    "linear PA": PAClassifier(random_state=0),
}


def error_of(model, X, y):
    """Return the share of mistakes before learning, in %."""
    wrong = 0
    for first in range(0, len(y), CALL):
        rows = slice(first, first + CALL)
        wrong += np.sum(model.partial_fit_predict(X[rows], y[rows], np.unique(y)) != y[rows])
    return 100 * wrong / len(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--recent", type=int, nargs="+", default=[100])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    settings = parser.parse_args()
    kinds = " | ".join(f"renewed, {recent}" for recent in settings.recent)
    print(
        f"| stream | learner | goes on | {kinds} |\n|---|---|---:|{'---:|' * len(settings.recent)}"
    )
    for name in STREAMS:
        X, y = leaderboard.load(settings.folder, name, settings.rows)
        scaled = leaderboard.running_standard(X)
        for label in settings.models:
            model = MODELS[label]
            rows = X if label == "Stream" else scaled
            cells = [f"{error_of(clone(model), rows, y):.1f}"]
            for recent in settings.recent:
                renewed = RenewedLearner(clone(model), n_recent=recent)
                cells.append(f"{error_of(renewed, rows, y):.1f} ({len(renewed.alarms_)})")
            print(f"| {name} | {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
