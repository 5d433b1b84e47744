"""Decision regions of linear PA, LOL and SPA
==========================================

This draws the decision regions of linear PA, LOL and SPA on two spirals and on a chess board.

Each learner makes one pass over 5,000 samples. Linear PA separates neither. LOL as in its paper,
with 60 local hyperplanes, separates the spirals, and not the chess board. By default it has 100
hyperplanes, eight of them for each score, and the step of AROW: it separates both. The picture
marks the support vectors of SPA.

.. code-block:: sh

    python examples/figures/decision_regions.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from onlinekern import LOLClassifier, PAClassifier, SPAClassifier
from onlinekern.streams import chess_board, two_spirals

STREAMS = {
    "two spirals": two_spirals(10_000, noise=0.02, random_state=0),
    "chess board": chess_board(10_000, random_state=0),
}
PAPER = {
    "step": "pa", "n_prototypes": 60, "n_assign": 1, "center": True, "fit_intercept": True,
    "average": False,
}  # fmt: skip
LEARNERS = {
    "PA (linear)": lambda width: PAClassifier(max_iter=1, tol=None, random_state=0),
    "LOL, paper": lambda width: LOLClassifier(**PAPER, random_state=0),
    "LOL": lambda width: LOLClassifier(random_state=0),
    "SPA": lambda width: SPAClassifier(gamma=width, beta=2.0, random_state=0),
}
WIDTHS = {"two spirals": 20.0, "chess board": 4.0}


def draw(panel, model, X, y):
    """Colour the plane by the decision of the model, and draw some samples."""
    low, high = X.min(axis=0), X.max(axis=0)
    across, up = (np.linspace(low[j], high[j], 300) for j in range(2))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    decision = model.decision_function(grid).reshape(300, 300)
    panel.contourf(across, up, decision > 0, levels=[-0.5, 0.5, 1.5], colors=["#9ecae1", "#fdae6b"])
    panel.scatter(*X[:600].T, c=np.where(y[:600] > 0, "#d94801", "#08519c"), s=3)
    if hasattr(model, "support_vectors_"):
        panel.scatter(*model.support_vectors_.T, s=14, facecolors="none", edgecolors="k", lw=0.6)
    panel.set(xticks=[], yticks=[])


def main(picture=None):
    """Draw a row for each stream and a column for each learner."""
    figure, panels = plt.subplots(2, 4, figsize=(14, 7.2), layout="constrained")
    for row, (stream, (X, y)) in zip(panels, STREAMS.items(), strict=True):
        row[0].set_ylabel(stream)
        for panel, (name, build) in zip(row, LEARNERS.items(), strict=True):
            model = build(WIDTHS[stream]).fit(X[:5000], y[:5000])
            error = 100 * (1 - model.score(X[5000:], y[5000:]))
            draw(panel, model, X[5000:], y[5000:])
            kept = f", {model.n_support_} support vectors" if hasattr(model, "n_support_") else ""
            panel.set_title(f"{name}: {error:.1f} % error{kept}", fontsize="medium")
            print(f"{stream:12s} {name:16s} error {error:5.2f} %{kept}")
    if picture is None:
        plt.show()
    else:
        figure.savefig(picture, dpi=120)


# %%
# What it prints and draws:

if __name__ == "__main__":
    main(*sys.argv[1:])
