"""Errors of learners that begin anew at alarms, beside those that go on.

    nice python benchmarks/renewed.py DIR [--rows N] [--recent N] [--trials N ...]
        [--models NAME ...] [--streams NAME ...]

DIR holds streams as NAME.libsvm.xz. Streams in their order, each sample predicted before it is
learnt; of classes the share of mistakes in %, of targets the root mean squared error in % of their
deviation, with the number of alarms. `--trials`: so many samples two learners learn after one. A
race and a forest begin anew by themselves, so what goes on is one that cannot, and the last figure
is of them as they are; of a race there is none with trials of another length.
Features of least squares and linear learners are standardised as they come.
"""

import argparse

import numpy as np
import streams_leaderboard as leaderboard
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    KernelRLSClassifier,
    KernelRLSRegressor,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
)
from onlinekern.drift import RenewedLearner
from onlinekern.streams import ConceptDrift, RandomRBF

CALL = 1_000
STEP = 2_500
CLASSES = {
    "Stream": StreamClassifier(random_state=0),
    "forest": KernelForestClassifier(random_state=0),
    "KernelRLS": KernelRLSClassifier(random_state=0),
    "KernelRLS .998": KernelRLSClassifier(forgetting=0.998, random_state=0),
    "KernelRLS, metric": KernelRLSClassifier(metric="diagonal", random_state=0),
    "linear PA": PAClassifier(random_state=0),
}
TARGETS = {
    "Stream": StreamRegressor(random_state=0),
    "forest": KernelForestRegressor(random_state=0),
    "KernelRLS": KernelRLSRegressor(random_state=0),
}
RAW = ("Stream", "forest")


def clusters_that_jump(rows):
    """Return clusters of four classes, all of which are others after each 2,500 samples."""
    kinds = [RandomRBF(n_classes=4, random_state=k, model_state=k) for k in range(rows // STEP)]
    return ConceptDrift(kinds, range(STEP, rows, STEP), 0, random_state=0).take(rows)


def labels_that_fail(rows):
    """Return samples of one function, and labels of which 600 tell nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 6))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)
    y[4000:4600] = rng.integers(0, 2, 600)
    return X, y


def made(f, rows, noise=0.1):
    """Return normal samples and their targets f(X, k, rng), of another k each 2,500 samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 8))
    y = [f(X[i : i + STEP], i // STEP, rng) for i in range(0, rows, STEP)]
    return X, np.concatenate(y) + noise * rng.normal(size=rows)


def friedman(X, _, rng):
    """Return Friedman's function of features in places that are drawn."""
    Z = 1 / (1 + np.exp(-1.7 * X[:, rng.permutation(8)]))
    f = 10 * np.sin(np.pi * Z[:, 0] * Z[:, 1]) + 20 * (Z[:, 2] - 0.5) ** 2
    return (f + 10 * Z[:, 3] + 5 * Z[:, 4]) / 5


def product(X):
    """Return a product and a wave."""
    return X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])


def targets_that_fail(X, k, rng):
    """Return targets of one function, of which 500 tell nothing."""
    y = product(X)
    if k == 1:
        y[1500:2000] = 2 * rng.normal(size=len(y[1500:2000]))
    return y


MADE = {"clusters that jump": clusters_that_jump, "labels that fail": labels_that_fail}
OF_TARGETS = {
    "features change places": friedman,
    "a direction jumps": lambda X, _, rng: np.sin(X @ rng.normal(size=8)),
    "a scale jumps": lambda X, k, _: (1, 3, -1, 0.5)[k % 4] * product(X),
    "an offset jumps": lambda X, k, _: product(X) + 3 * (k > 1),
    "targets that fail": targets_that_fail,
}
STREAMS = (*leaderboard.STREAMS, *MADE, *OF_TARGETS)


def load(folder, name, rows):
    """Return samples and labels or targets of a stream."""
    if name in MADE:
        return MADE[name](rows)
    if name in OF_TARGETS:
        return made(OF_TARGETS[name], rows)
    return leaderboard.load(folder, name, rows)


def error_of(model, X, y):
    """Return the error before learning, in %."""
    classes = {"classes": np.unique(y)} if y.dtype.kind == "i" else {}
    answers = np.concatenate(
        [
            model.partial_fit_predict(X[i : i + CALL], y[i : i + CALL], **classes)
            for i in range(0, len(y), CALL)
        ]
    )
    if classes:
        return 100 * np.mean(answers != y)
    return 100 * np.sqrt(np.mean((answers - y) ** 2)) / np.std(y)


def goes_on(model, X, y):
    """Return a learner that does not begin anew by itself."""
    if isinstance(model, KernelForestClassifier | KernelForestRegressor):
        model.set_params(begin_anew=False)
    if isinstance(model, StreamClassifier | StreamRegressor):
        classes = {"classes": np.unique(y)} if y.dtype.kind == "i" else {}
        model.partial_fit(X[:1], y[:1], **classes)
        model._model = model._model.blank
    return model


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--recent", type=int, default=20)
    parser.add_argument("--trials", type=int, nargs="+", default=[0, 1000])
    parser.add_argument("--models", nargs="+", choices=CLASSES, default=[*CLASSES])
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS)
    settings = parser.parse_args()
    kinds = " | ".join(f"renewed, {trial}" for trial in settings.trials)
    print(
        f"| stream | learner | goes on | {kinds} |\n|---|---|---:|{'---:|' * len(settings.trials)}"
    )
    for name in settings.streams:
        X, y = load(settings.folder, name, settings.rows)
        scaled = leaderboard.running_standard(X)
        models = TARGETS if name in OF_TARGETS else CLASSES
        for label in settings.models:
            if label not in models:
                continue
            rows = X if label in RAW else scaled
            cells = [f"{error_of(goes_on(clone(models[label]), rows, y), rows, y):.1f}"]
            for trial in settings.trials:
                renewed = clone(models[label])
                if label not in RAW or (label == "forest" and trial != settings.trials[-1]):
                    renewed = goes_on(renewed, rows, y) if label == "forest" else renewed
                    renewed = RenewedLearner(renewed, n_recent=settings.recent, n_trial=trial)
                elif trial != settings.trials[-1]:
                    cells.append("")
                    continue
                cells.append(f"{error_of(renewed, rows, y):.1f} ({len(renewed.alarms_)})")
            print(f"| {name} | {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
