"""Table E, of the OLLA paper: errors beside those of a solver of the dual.

The paper has five-fold cross-validation, the L1 machine with bias and no regulariser, and SMO,
whose published errors are worse than LIBSVM's. Its vote, cancer and prototask are not at hand.
Drawn votes, the breast cancer data of Wisconsin (another set than the paper's, which is harder) and
cpusmall, the small form of prototask, above its median, stand in for them. `choose.py` chose the
settings of the files for each learner; those of the drawn sets are `olla_table.py`'s.

Table E2 has the paper's kernel multi-logit, for which it gives equations and no figures: one loss
of all classes, beside one logistic loss for each class against the rest.
"""

from dataclasses import replace

from protocols import after_a_pass, cross_validated
from sklearn.svm import SVC

import onlinekern as ok

from .row import Row

# Learner -> class and fixed parameters.
LEARNERS = {
    "OLLA, published form": (ok.OLLAClassifier, {"penalty": "none"}),
    "OLLA": (ok.OLLAClassifier, {}),
    "OLLA, logistic": (ok.OLLAClassifier, {"loss": "logistic"}),
    "OLLA, smo": (ok.OLLAClassifier, {"solver": "smo"}),
    "LIBSVM": (SVC, {}),
}
GRID = {"gamma": (0.004, 0.016, 0.0625, 0.25, 1.0), "C": (0.1, 1.0, 10.0, 100.0)}
FORM, SMO = "OLLA, published form", "LIBSVM"

# Set -> protocol, published errors, and for each learner the chosen gamma and C.
FILES = {
    "sonar": (cross_validated, {FORM: 24.35, SMO: 34.70}, {
        "OLLA, published form": (0.25, 10.0),
        "OLLA": (0.0625, 10.0),
        "OLLA, logistic": (0.0625, 10.0),
        "OLLA, smo": (0.0625, 100.0),
        "LIBSVM": (0.0625, 100.0),
    }),
    "vote drawn": (cross_validated, {FORM: 8.09, SMO: 22.68}, {
        "OLLA, published form": (0.004, 10.0),
        "OLLA": (0.0625, 1.0),
        "OLLA, logistic": (0.016, 10.0),
        "OLLA, smo": (0.0625, 1.0),
        "LIBSVM": (0.0625, 1.0),
    }),
    "cancer Wisconsin": (cross_validated, {FORM: 25.62, SMO: 24.00}, {
        "OLLA, published form": (0.25, 100.0),
        "OLLA": (0.004, 100.0),
        "OLLA, logistic": (0.25, 10.0),
        "OLLA, smo": (0.016, 100.0),
        "LIBSVM": (0.004, 100.0),
    }),
    "prototask cpusmall": (cross_validated, {FORM: 11.28, SMO: 33.57}, {
        "OLLA, published form": (1.0, 10.0),
        "OLLA": (1.0, 10.0),
        "OLLA, logistic": (1.0, 10.0),
        "OLLA, smo": (1.0, 10.0),
        "LIBSVM": (1.0, 10.0),
    }),
    "reuters, split": (after_a_pass, {}, {
        "OLLA, published form": (0.25, 10.0),
        "OLLA": (0.25, 10.0),
        "OLLA, smo": (0.016, 100.0),
        "LIBSVM": (0.016, 100.0),
    }),
}  # fmt: skip

# Set -> gamma and C of all learners, published errors. One division of each.
DRAWN = {
    "chess board": (8.0, 100.0, {FORM: 4.27, SMO: 13.62}),
    "two normals": (0.5, 1.0, {FORM: 7.82, SMO: 28.25}),
    "two spirals": (16.0, 100.0, {}),
}

# E6, the grid of figures 6 to 10: loss, regulariser, bias and selection on noisy spirals; then
# Newton steps, which the logistic loss, the l2 regulariser and no bias allow.
LOSSES = ("hinge", "squared_hinge", "smooth_hinge", "logistic", "squared", "exponential")
PENALTIES = ("l2", "l1", "none")
SELECTIONS = ("cyclic", "shuffled", "max_violator")
SPIRALS = {"gamma": 16.0, "C": 10.0}


# E2: classes, gammas, and for each learner the chosen gamma and C.
MULTI_LOGIT = {
    "OLLA, multi-logit": (ok.OLLAClassifier, {"loss": "logistic", "multi_class": "softmax"}),
    "OLLA, one against the rest": (ok.OLLAClassifier, {"loss": "logistic"}),
    "LIBSVM": (SVC, {}),
}
CLASSES = {
    "usps unit, split": ((1.0, 4.0, 8.0), ((4.0, 100.0), (4.0, 100.0), (1.0, 10.0))),
    "satimage standard, split": (
        (0.0625, 0.25, 0.5), ((0.25, 10.0), (0.25, 100.0), (0.25, 10.0)),
    ),
}  # fmt: skip


def beside(data, protocol, published, learner):
    """Return the row of a learner on a set, without gamma and C."""
    estimator, fixed = LEARNERS[learner]
    return Row(data, learner, estimator, protocol, fixed, published.get(learner))


def of_the_grid(learner, **setting):
    """Return a row of OLLA on the noisy spirals; one order, as the five parts are of one draw."""
    parameters = {**SPIRALS, **setting}
    return Row("noisy spirals", learner, ok.OLLAClassifier, cross_validated, parameters, orders=1)


def words(loss, penalty, bias, selection):
    """Return the name of a place in the grid."""
    return f"{loss}, {penalty}, {'bias' if bias else 'no bias'}, {selection}"


GRID_OF_FIGURES = [
    *(
        of_the_grid(words(loss, penalty, bias, selection), loss=loss, penalty=penalty,
                    fit_intercept=bias, selection=selection)
        for loss in LOSSES
        for penalty in PENALTIES
        for bias in (True, False)
        for selection in SELECTIONS
    ),
    *(
        of_the_grid(f"Newton, relaxation {relaxation:g}", loss="logistic", solver="newton",
                    fit_intercept=False, relaxation=relaxation)
        for relaxation in (0.5, 1.0, 1.5)
    ),
    of_the_grid("smo", solver="smo"),
    Row("noisy spirals", "LIBSVM", SVC, cross_validated, SPIRALS, orders=1),
]  # fmt: skip

MULTI_LOGIT_ROWS = [
    Row(data, learner, estimator, after_a_pass, fixed, orders=3 if fixed else 1).choosing(
        {"gamma": gammas, "C": (10.0, 100.0, 1000.0)}, values
    )
    for data, (gammas, chosen) in CLASSES.items()
    for (learner, (estimator, fixed)), values in zip(MULTI_LOGIT.items(), chosen, strict=True)
]

ROWS = [
    *(
        beside(data, protocol, published, learner).choosing(GRID, values)
        for data, (protocol, published, chosen) in FILES.items()
        for learner, values in chosen.items()
    ),
    *(
        replace(
            beside(data, cross_validated, published, learner),
            parameters={**LEARNERS[learner][1], "gamma": gamma, "C": C},
            orders=1,
        )
        for data, (gamma, C, published) in DRAWN.items()
        for learner in LEARNERS
    ),
]
