"""Displays of learners on streams
===============================

This draws six displays in one picture, in a few seconds.

They show the error along a stream that changes, with the drifts that a detector found; decision
regions with support vectors; what a budget costs in errors; whether probabilities come true;
support vectors as images; and which expert of a race led when.

.. code-block:: sh

    python examples/figures/displays.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from onlinekern import BPAClassifier, KernelPAClassifier, SPAClassifier, StreamClassifier
from onlinekern.plotting import (
    BudgetDisplay,
    DecisionRegionsDisplay,
    PrequentialCalibrationDisplay,
    PrequentialDisplay,
    RaceDisplay,
    SupportVectorsDisplay,
)
from onlinekern.streams import ConceptDrift, Sine, gaussian_mixture, two_spirals

CONCEPTS = [Sine(concept=concept, random_state=concept) for concept in (0, 2, 0)]
DRIFTING = ConceptDrift(CONCEPTS, position=[3000, 6000], width=0, random_state=0)


class TwoWindows:
    """A plain drift detector, which compares the last 500 losses with the 500 before them."""

    def __init__(self, size=500, threshold=0.1):
        self.size, self.threshold = size, threshold
        self.losses, self.drift_detected = [], False

    def update(self, loss):
        """Take up a loss; after a drift, begin anew."""
        self.losses.append(loss)
        old, new = self.losses[-2 * self.size : -self.size], self.losses[-self.size :]
        full = len(old) == self.size
        self.drift_detected = full and np.mean(new) - np.mean(old) > self.threshold
        if self.drift_detected:
            self.losses = []


def main(picture=None):
    """Draw the displays, and print a figure of each."""
    figure, axes = plt.subplots(3, 2, figsize=(11, 13), layout="constrained")
    (learning, regions), (budget, support), (calibration, race) = axes
    X, y = DRIFTING.take(9000)
    model = KernelPAClassifier(gamma=5.0, max_support=300, when_full="oldest")
    shown = PrequentialDisplay.from_stream(model, X, y, window=500, detector=TwoWindows(),
                                           ax=learning)  # fmt: skip
    learning.set_title("Sine, which changes after 3,000 and 6,000 samples")
    print(f"drifts found: {shown.result.drifts.tolist()}")

    X, y = two_spirals(4000, noise=0.02, random_state=0)
    model = SPAClassifier(gamma=20.0, random_state=0).partial_fit(X, y, classes=[-1, 1])
    DecisionRegionsDisplay.from_estimator(model, X[:500], y[:500], ax=regions)
    regions.set_title("SPA on two spirals")
    print(f"support vectors: {model.n_support_}")

    X, y = gaussian_mixture(8000, random_state=0)
    shown = BudgetDisplay.from_stream(BPAClassifier(gamma=0.4, random_state=0), X, y,
                                      budgets=[10, 30, 100, 300], ax=budget)  # fmt: skip
    budget.set_title("two gaussians")
    print(f"errors: {[round(result.error, 3) for result in shown.results]}")

    shown = PrequentialCalibrationDisplay.from_stream(
        BPAClassifier(gamma=0.4, random_state=0), X, y, ax=calibration
    )
    calibration.set_title("two gaussians")
    print(f"probabilities: {len(shown.y_prob)}")

    X, y = load_digits(return_X_y=True)
    model = SPAClassifier(gamma=0.001, random_state=0).partial_fit(X, y, classes=range(10))
    shown = SupportVectorsDisplay.from_estimator(model, shape=(8, 8), n=20, ax=support)
    support.set_title("digits, the largest coefficients of SPA")
    print(f"largest coefficient: {shown.coefficients[0]:.2f}")

    model = StreamClassifier(time_budget=30, random_state=0)
    shown = RaceDisplay.from_stream(model, *DRIFTING.take(6000), ax=race)
    race.legend(handles=shown.areas_[::-1], loc="upper center", bbox_to_anchor=(0.5, -0.15),
                ncols=2, fontsize=8, frameon=False)  # fmt: skip
    print(f"leader: {shown.report.leader.name}")
    plt.show() if picture is None else figure.savefig(picture, dpi=90)


# %%
# What it prints and draws:

if __name__ == "__main__":
    main(*sys.argv[1:])
