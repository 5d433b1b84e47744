"""Measure balanced accuracy on streams of unequal classes, without class weights and "balanced".

    python benchmarks/class_weights.py --data DIR [--rows N]

DIR holds the sets as NAME.libsvm.xz. Features are standardised; each sample is predicted before it
is learnt, in one random order. Prints a line of a Markdown table for each set and learner.
"""

import lzma
from pathlib import Path

import numpy as np
from command import read_options
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from onlinekern import FOGDClassifier, KernelRLSClassifier, OGDClassifier, SPAClassifier

SETS = ("ijcnn1.train", "satimage.train", "page-blocks", "htru2")
LEARNERS = {
    "OGD": lambda **more: OGDClassifier(loss="logistic", **more),
    "FOGD": lambda **more: FOGDClassifier(
        loss="logistic", gamma=0.05, average=False, random_state=0, **more
    ),
    "SPA": lambda **more: SPAClassifier(gamma=0.05, eta=0.3, beta=1.0, random_state=0, **more),
    "kernel RLS": lambda **more: KernelRLSClassifier(gamma=0.05, random_state=0, **more),
}


def load(folder, name, rows):
    """Return standardised rows in a random order, and their labels."""
    with lzma.open(Path(folder) / f"{name}.libsvm.xz") as packed:
        X, y = load_svmlight_file(packed)
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    return StandardScaler().fit_transform(X[chosen].toarray()), y[chosen]


def main():
    arguments = read_options(__doc__, data={"required": True}, rows=10_000)
    for name in SETS:
        X, y = load(arguments.data, name, arguments.rows)
        for learner, make in LEARNERS.items():
            cells = [name.split(".")[0], learner]
            for weights in (None, "balanced"):
                model = make(class_weight=weights)
                found = model.partial_fit_predict(X, y, classes=np.unique(y))
                balanced, plain = balanced_accuracy_score(y, found), accuracy_score(y, found)
                cells += [f"{100 * balanced:.1f}", f"{100 * plain:.1f}"]
            print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
