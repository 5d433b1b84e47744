"""Measure what a shared covariance should take of the curvature of a softmax, and how to step.

    python benchmarks/softmax_curvature.py FOLDER [--rows 2000]

FOLDER holds the sets (LIBSVM text, packed with xz). A slow learner in NumPy makes one pass over
70 % of a random order, on 100 Nystroem features, standardised ones and a constant; a cell is the
log loss on the rest, by the softmax of its scores.

The curvature of the loss is the matrix diag(p) - p p'. 'largest': a shared S^-1 gets the largest
entry of its diagonal (the library's). 'own': the entry of the sample's class. 'twice': twice the
largest, which bounds the matrix. 'Boehning': 1/2, which bounds it for every p. 'each': a matrix for
each class gets its own entry (`covariance="full"`). These take the exact minimum for all classes
together. 'apart': as 'largest', but each class as if the others stood still. 'gradient': the step
from the gradient and the curvature at the old scores.
"""

import numpy as np
from command import read_options
from defaults import read
from probabilities import SETS, SHARE
from scipy.special import expit, log_softmax, softmax

from onlinekern import NystroemFeatures

CURVATURES = {
    "largest": lambda p, label: (p * (1 - p)).max(),
    "own": lambda p, label: p[label] * (1 - p[label]),
    "twice": lambda p, label: 2 * (p * (1 - p)).max(),
    "Boehning": lambda p, label: 0.5,
}
VARIANTS = (*CURVATURES, "each", "apart", "gradient")
RIDGES = (0.03, 0.1)
N_COMPONENTS = 100


def together(scores, q, label, r):
    """Return the a with a = (1[k = label] - p) / r, p the softmax of scores + q a; and p."""
    truth = np.arange(len(scores)) == label
    a = np.zeros(len(scores))
    p = softmax(scores)

    def value(a):
        moved = scores + q * a
        return r * (q * a * a).sum() / 2 - log_softmax(moved)[label]

    for _ in range(50):
        curvature = np.eye(len(a)) + (np.diag(p) - np.outer(p, p)) * q / r
        step = np.linalg.solve(curvature, a - (truth - p) / r)
        while value(a - step) > value(a) + 1e-12:
            step = step / 2
        a = a - step
        p = softmax(scores + q * a)
        if np.abs(step).max() < 1e-10:
            break
    return a, p


def apart(scores, q, label, r):
    """Return the steps of the classes, each solved by bisection as if the others stood still."""
    truth = np.arange(len(scores)) == label
    others = [np.logaddexp.reduce(np.delete(scores, k)) for k in range(len(scores))]
    low, high = np.full(len(scores), -1 / r), np.full(len(scores), 1 / r)
    for _ in range(60):
        a = (low + high) / 2
        p = expit(scores + q * a - others)
        rises = a < (truth - p) / r
        low, high = np.where(rises, a, low), np.where(rises, high, a)
    return a, p


def gradient(scores, q, label, r):
    """Return the Newton step from the old scores."""
    p = softmax(scores)
    return ((np.arange(len(p)) == label) - p) / (r + (p * (1 - p)).max() * q), p


SOLVERS = {"apart": apart, "gradient": gradient}


def log_loss_of(Z, labels, cut, r, variant):
    """Learn the first rows; return the log loss on the rest."""
    n_classes, length = labels.max() + 1, Z.shape[1]
    weights = np.zeros((n_classes, length))
    matrices = np.tile(np.eye(length), (n_classes if variant == "each" else 1, 1, 1))
    solve = SOLVERS.get(variant, together)
    for z, label in zip(Z[:cut], labels[:cut], strict=True):
        along = matrices @ z
        q = np.broadcast_to(along @ z, n_classes)
        a, p = solve(weights @ z, q, label, r)
        weights += a[:, None] * along
        if variant == "each":
            h = p * (1 - p)
        else:
            h = np.array([CURVATURES.get(variant, CURVATURES["largest"])(p, label)])
        shares = h / (r + h * q[: len(h)])
        matrices -= shares[:, None, None] * along[:, :, None] * along[:, None, :]
    scores = log_softmax(Z[cut:] @ weights.T, axis=1)
    return -scores[np.arange(len(scores)), labels[cut:]].mean()


def main():
    options = read_options(__doc__, "folder", rows=2000)
    print(f"| set | r | {' | '.join(VARIANTS)} |\n|---|---|{'---:|' * len(VARIANTS)}")
    for name in list(SETS)[5:]:
        X, y = read(options.folder, name, SETS[name], options.rows, 0)
        labels, cut = np.unique(y, return_inverse=True)[1], int(SHARE * len(y))
        features = NystroemFeatures(n_components=N_COMPONENTS, random_state=0).fit(X[:cut])
        beside = [X / np.sqrt(X.shape[1]), np.ones(len(X))]
        Z = np.column_stack([*beside, features.transform(X)])
        for r in RIDGES:
            losses = [log_loss_of(Z, labels, cut, r, variant) for variant in VARIANTS]
            cells = " | ".join(f"{loss:.3f}" for loss in losses)
            print(f"| {name.partition('.')[0]} | {r} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
