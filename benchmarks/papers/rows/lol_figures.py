"""Figures 4 to 7 of the LOL paper: curves along a pass, the number of prototypes, lambda, k-means.

All have the paper's form of LOL. `along_a_pass` measures the test error at ten places of the
stream. For figure 7 k-means runs on all training rows before the stream, as nobody could on a real
one, and its centres are prototypes that do not move.
"""

from protocols import after_a_pass, after_k_means, along_a_pass

import onlinekern as ok

from .lol import BETTER, PAPER
from .row import Row

SETS = ("ijcnn1 standard, split", "usps unit, split", "mnist unit, split")
FORMS = {"LOL": {}, "I-LOL": {"joint": False}}
N_PROTOTYPES = (10, 20, 40, 60, 80, 100, 150, 200)
SHARING = (0.01, 0.1, 1.0, 10.0, 100.0)

# Learner -> class and setting on all sets, for the curves.
RIVALS = {
    "PA": (ok.PAClassifier, {"C": 0.01}),
    "FOGD D=2000": (
        ok.FOGDClassifier,
        {"n_components": 2000, "loss": "hinge", "schedule": "constant", "average": False,
         "eta": 2.0},
    ),
    "BSGD B=200": (ok.BSGDClassifier, {"budget": 200, "reg_per_stream": 1.0}),
}  # fmt: skip
# Table C has the widths that were chosen.
GAMMAS = {
    "ijcnn1 standard, split": {"FOGD D=2000": 0.03, "BSGD B=200": 0.03},
    "usps unit, split": {"FOGD D=2000": 2.0, "BSGD B=200": 4.0},
    "mnist unit, split": {"FOGD D=2000": 2.0, "BSGD B=200": 4.0},
}


def lol(data, learner, protocol, **setting):
    """Return a row of LOL in the paper's form, with other values of some parameters."""
    return Row(data, learner, ok.LOLClassifier, protocol, {**PAPER, **setting}, orders=10)


def rival(data, learner):
    """Return a row of a learner that LOL's curves are compared with."""
    estimator, setting = RIVALS[learner]
    gamma = GAMMAS[data].get(learner)
    width = {"gamma": gamma} if gamma else {}
    return Row(data, learner, estimator, along_a_pass, {**setting, **width}, orders=10)


def each(values, name, label):
    """Return the rows of LOL and I-LOL with each value of a parameter."""
    return [
        lol(data, f"{form} {label}={value:g}", after_a_pass, **{**setting, name: value})
        for data in SETS
        for form, setting in FORMS.items()
        for value in values
    ]


CURVES = [
    row
    for data in SETS
    for row in (
        *(lol(data, form, along_a_pass, **setting) for form, setting in FORMS.items()),
        lol(data, "LOL, better form", along_a_pass, **BETTER),
        *(rival(data, learner) for learner in RIVALS),
    )
]
PROTOTYPES = each(N_PROTOTYPES, "n_prototypes", "k")
LAMBDA = [row for row in each(SHARING, "sharing", "lambda") if not row.learner.startswith("I-LOL")]
K_MEANS = [
    lol(data, f"{form}, {words} k={k}", protocol, **{**setting, "n_prototypes": k})
    for data in SETS
    for form, setting in FORMS.items()
    for k in (20, 60, 100)
    for words, protocol in (("sequential", after_a_pass), ("k-means before", after_k_means))
]
