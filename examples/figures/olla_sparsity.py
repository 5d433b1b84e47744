"""OLLA and SVC: errors and support vectors
========================================

This compares OLLA with scikit-learn's SVC on spirals, a chess board and two normals.

It follows figures 4 to 10 of Kecman (2016), and draws the decision regions and support vectors of
three learners on each set. Each learns 5,000 samples and is tested on 5,000 others.

.. code-block:: sh

    python examples/figures/olla_sparsity.py [picture.png]
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from onlinekern import OLLAClassifier
from onlinekern.streams import chess_board, two_normals, two_spirals

N_SAMPLES = 5000
SETS = {
    "two noisy spirals": (
        lambda seed: two_spirals(N_SAMPLES, noise=0.04, random_state=seed), 16.0, 100.0
    ),
    "chess board": (lambda seed: chess_board(N_SAMPLES, random_state=seed), 8.0, 100.0),
    "two normal classes": (
        lambda seed: two_normals(N_SAMPLES, distance=2.8, random_state=seed), 0.5, 10.0
    ),
}  # fmt: skip
MACHINES = {
    "SVC": SVC,
    "OLLA, L1": lambda **shared: OLLAClassifier(**shared, random_state=0),
    "OLLA, logistic, |w|₁": lambda **shared: OLLAClassifier(
        **shared, loss="logistic", penalty="l1", random_state=0
    ),
}


def draw(panel, model, X, y):
    """Draw the decision regions, the samples, and the support vectors in black."""
    low, high = X.min(axis=0), X.max(axis=0)
    across, up = np.meshgrid(*np.linspace(low, high, 150).T)
    scores = model.decision_function(np.c_[across.ravel(), up.ravel()].astype(np.float32))
    panel.contourf(across, up, scores.reshape(across.shape) > 0, levels=1, alpha=0.25,
                   colors=["tab:blue", "tab:orange"])  # fmt: skip
    panel.scatter(*X.T, c=np.where(y > 0, "tab:orange", "tab:blue"), s=1, linewidths=0)
    panel.scatter(*X[model.support_].T, s=5, linewidths=0, color="black")
    panel.set(xticks=[], yticks=[])


def main(picture=None):
    """Draw a row of panels for each set."""
    figure, rows = plt.subplots(
        len(SETS), len(MACHINES), figsize=(10.5, 10.5), layout="constrained"
    )
    for panels, (name, (sample, gamma, C)) in zip(rows, SETS.items(), strict=True):
        (X, y), (X_test, y_test) = sample(0), sample(1)
        X, X_test = X.astype(np.float32), X_test.astype(np.float32)
        for panel, (machine, build) in zip(panels, MACHINES.items(), strict=True):
            start = time.perf_counter()
            model = build(gamma=gamma, C=C).fit(X, y)
            seconds = time.perf_counter() - start
            error, support = 100 - 100 * model.score(X_test, y_test), len(model.support_)
            draw(panel, model, X, y)
            panel.set_title(f"{machine}: {error:.2f} % wrong, {support} SVs", fontsize="medium")
            print(f"{name:18s} {machine:21s} {error:5.2f} % {support:5d} SVs {seconds:6.2f} s")
        panels[0].set_ylabel(name)
    if picture is None:
        plt.show()
    else:
        figure.savefig(picture, dpi=110)


# %%
# What it prints and draws:

if __name__ == "__main__":
    main(*sys.argv[1:])
