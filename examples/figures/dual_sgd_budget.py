"""DualSGD: mistakes and time against the budget
=============================================

This follows figures 1 and 2 of Le, Nguyen, Nguyen and Phung (2016): one pass, test-then-train. B is
the budget, D the number of random frequencies. FILE is LIBSVM text (also .xz); features are scaled
to [-1, 1], and the first ROWS samples of a random order are learnt. The paper uses all rows of
cod-rna. Without FILE the samples are those of a chess board.

.. code-block:: sh

    python examples/figures/dual_sgd_budget.py [--picture P] [--data FILE] [--rows N] [--gamma G]
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np

from onlinekern import DualSGDClassifier
from onlinekern.streams import chess_board, open_source

BUDGETS = [10, 25, 50, 100, 200, 400]
FREQUENCIES = [10, 25, 50, 100, 200, 400, 800]


def load(path, rows):
    """Return the first rows of a random order, features in [-1, 1]."""
    if path is None:
        return chess_board(rows, size=6, random_state=0)
    with open_source(path, scale="minmax") as source:
        return source.head(rows, random_state=0)


def run(X, y, gamma, **parameters):
    """Return the mistake rate in per cent and the microseconds per sample."""
    model = DualSGDClassifier(gamma=gamma, reg=2 / len(y), random_state=0, **parameters)
    start = time.process_time()
    model.partial_fit(X, y, classes=np.unique(y))
    seconds = time.process_time() - start
    return 100 * model.n_mistakes_ / len(y), 1e6 * seconds / len(y)


def main():
    """Draw mistakes and time, against B on the left and against D on the right."""
    parser = argparse.ArgumentParser(description="DualSGD against its budget.")
    parser.add_argument("--picture", help="a file; default: a window")
    parser.add_argument("--data", help="a LIBSVM file of two classes")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--gamma", type=float, default=None, help="default: 1, chess board 50")
    options = parser.parse_args()
    gamma = options.gamma or (1.0 if options.data else 50.0)
    X, y = load(options.data, options.rows)
    figure, panels = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
    sweeps = {
        "B": (BUDGETS, "budget B (D = 200)", {"n_components": 200}, "budget"),
        "D": (FREQUENCIES, "random frequencies D (B = 100)", {"budget": 100}, "n_components"),
    }
    for panel, (letter, (values, label, fixed, name)) in zip(panels, sweeps.items(), strict=True):
        clock = panel.twinx()
        for loss in ("hinge", "logistic"):
            found = []
            for value in values:
                smaller = min(20, value) if letter == "B" else 20
                own = {**fixed, name: value, "merge_size": smaller, "loss": loss}
                found.append(run(X, y, gamma, **own))
                print(
                    f"{loss:8s} {letter} = {value:4d}: {found[-1][0]:6.2f} % mistakes,"
                    f" {found[-1][1]:6.2f} us per sample"
                )
            mistakes, times = np.transpose(found)
            (line,) = panel.plot(values, mistakes, marker="o", label=f"{loss}, mistakes")
            clock.plot(values, times, ls=":", marker=".", color=line.get_color())
        panel.set(xlabel=label, xscale="log")
        panel.grid(alpha=0.3)
        clock.set_ylabel("us per sample (dotted)")
        clock.set_ylim(bottom=0)
    panels[0].set_ylabel("mistakes, %")
    panels[0].legend(fontsize="small")
    if options.picture is None:
        plt.show()
    else:
        figure.savefig(options.picture, dpi=120)


# %%
# What it prints and draws:

if __name__ == "__main__":
    main()
