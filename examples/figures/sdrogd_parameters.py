"""SDROGD on the digits
====================

This draws accuracy against the size of the sketch, the within-class weight and lambda.

It follows figure 4 of Xue and Ren (2020), with the published objective beside the convex one. Each
learner makes one pass over 80 % of scikit-learn's digits, standardised, and is tested on the rest;
accuracies are means over ten random splits.

.. code-block:: sh

    python examples/figures/sdrogd_parameters.py [picture.png]
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from onlinekern import SDROGDClassifier

FORMS = {
    "linear, centred (default)": {"batch_size": 20},
    "quadratic, raw, safe step (published)": {
        "batch_size": 20, "between": "quadratic", "sketch": "raw", "reg": 0.0,
        "within_weight": 0.9,
    },
}  # fmt: skip
SWEEPS = {
    "sketch_size": ([1, 2, 4, 8, 16, 32, 64], "directions l", "log"),
    "within_weight": ([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0], r"within-class weight $\eta$", "linear"),
    "reg": ([1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0], r"$\lambda$", "log"),
}


def accuracy(parameters, repeats=10):
    """Return the mean accuracy on held-out digits, in per cent."""
    X, y = load_digits(return_X_y=True)
    scores = []
    for seed in range(repeats):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
        scaler = StandardScaler().fit(X_train)
        model = SDROGDClassifier(random_state=seed, **parameters)
        model.fit(scaler.transform(X_train), y_train)
        scores.append(model.score(scaler.transform(X_test), y_test))
    return 100 * np.mean(scores)


def main(picture=None):
    """Draw a panel for each parameter."""
    # The published form diverges on these data, as the picture shows.
    warnings.simplefilter("ignore", ConvergenceWarning)
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
    for panel, (name, (values, label, scale)) in zip(panels, SWEEPS.items(), strict=True):
        for form, parameters in FORMS.items():
            heights = [accuracy({**parameters, name: value}) for value in values]
            panel.plot(values, heights, marker="o", label=form)
            print(f"{name:14s} {form:38s}", " ".join(f"{height:5.1f}" for height in heights))
        panel.set(xlabel=label, xscale=scale)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy, %")
    panels[2].legend(fontsize="small", loc="center left")
    if picture is None:
        plt.show()
    else:
        figure.savefig(picture, dpi=120)


# %%
# What it prints and draws:

if __name__ == "__main__":
    main(*sys.argv[1:])
