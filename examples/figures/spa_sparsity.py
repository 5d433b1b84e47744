"""SPA: accuracy and support vectors against alpha and beta
========================================================

This follows figure 1 of Lu, Zhao and Hoi (2016), on 50,000 samples of two Gaussians. beta sets how
many samples become support vectors. alpha is the loss above which all samples are kept with the
same probability. Each figure is the mean of three orders.

.. code-block:: sh

    python examples/figures/spa_sparsity.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from onlinekern import KernelPAClassifier, SPAClassifier
from onlinekern.streams import gaussian_mixture

ALPHAS = [0.5, 1.0, 2.0]
BETAS = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
SAMPLES = 50_000


def run(build):
    """Return the mean online accuracy in per cent, and the mean number of support vectors."""
    found = []
    for seed in range(3):
        X, y = gaussian_mixture(SAMPLES, random_state=seed)
        model = build(seed).partial_fit(X, y, classes=[-1, 1])
        found.append((100 * (1 - model.n_mistakes_ / model.n_seen_), model.n_support_))
    return np.mean(found, axis=0)


def main(picture=None):
    """Draw accuracy and support vectors against beta, a line for each alpha."""
    everything = run(lambda seed: KernelPAClassifier(gamma=0.4, C=0.25, random_state=seed))
    print(f"PA-I, all that suffer loss: {everything[0]:.2f} %, {everything[1]:,.0f} SVs")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for alpha in ALPHAS:
        points = []
        for beta in BETAS:
            parameters = {"gamma": 0.4, "eta": 0.01, "alpha": alpha, "beta": beta}
            points.append(run(lambda seed, p=parameters: SPAClassifier(random_state=seed, **p)))
            print(
                f"alpha {alpha:3.1f} beta {beta:5.0f}: {points[-1][0]:5.2f} %,"
                f" {points[-1][1]:6,.0f} SVs"
            )
        accuracies, sizes = np.transpose(points)
        left.plot(BETAS, accuracies, marker="o", label=rf"$\alpha$ = {alpha:g}")
        right.plot(BETAS, sizes, marker="o", label=rf"$\alpha$ = {alpha:g}")
    for panel, value, label in zip(
        (left, right), everything, ("online accuracy, %", "support vectors"), strict=True
    ):
        panel.axhline(value, color="0.5", ls="--", label="PA-I")
        panel.set(xlabel=r"$\beta$", xscale="log", ylabel=label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    right.set_yscale("log")
    if picture is None:
        plt.show()
    else:
        figure.savefig(picture, dpi=120)


# %%
# What it prints and draws:

if __name__ == "__main__":
    main(*sys.argv[1:])
