"""Table A, table 1 of the SPA paper: mistakes of one pass, Gaussian kernel of gamma 0.4.

The files of w7a and KDD08 are not at hand. Nothing was chosen for them: their settings are a9a's.
Of covtype there are 24,722 of the 581,012 samples, class 2 against the others; the published
figures beside them are those of all samples, and `choose.py` chose the settings. The paper and the
independent implementation give accuracies; here they are errors, 100 minus the accuracy. SPA and
OSKL count the mistakes of their averaged models, as in the paper. Beside SPA's support vectors
stand their expected number and its bound.
"""

from protocols import online, online_by_theory

import onlinekern as ok

from .row import Row, described, mistakes

LEARNERS = {
    "Perceptron": ok.KernelPerceptronClassifier,
    "OGD": ok.KernelOGDClassifier,
    "PA-I": ok.KernelPAClassifier,
    "RBP": ok.RBPClassifier,
    "Forgetron": ok.ForgetronClassifier,
    "Projectron": ok.ProjectronClassifier,
    "Projectron++": ok.ProjectronClassifier,
    "BPA-S": ok.BPAClassifier,
    "BOGD": ok.BOGDClassifier,
    "OSKL": ok.OSKLClassifier,
    "SPA": ok.SPAClassifier,
}
FIXED = {
    "PA-I": {"average": False},
    "SPA": {"average": True, "max_support": None},
    "Projectron": {"plus_plus": False},
    "Projectron++": {"plus_plus": True},
}

# Set -> budget, and for each learner its setting, the published and the independent accuracy. The
# paper takes the best eta and C of a few values. Here they are those of the independent figures; on
# the mixture, the best on a mixture of another seed. The published figures of BPA-S belong to C =
# 1, which is not its best. The eta of the Projectrons is small enough to fill the budget; in the
# plane no eta is. OSKL's G makes it as large as the budget. Learners without a budget are slow, so
# they come last on the mixture.
SETS = {
    "a9a": (1350, [
        ("Perceptron", {}, 79.40, 79.4),
        ("OGD", {"eta": 0.1}, 83.41, 83.41),
        ("PA-I", {"C": 0.5}, 84.07, 84.20),
        ("RBP", {}, 78.83, 78.3),
        ("Forgetron", {}, 78.08, 78.3),
        ("Projectron", {}, 79.25, 79.7),
        ("Projectron++", {}, 79.35, 79.9),
        ("BPA-S", {"C": 1.0}, 80.44, 80.3),
        ("BPA-S", {"C": 0.5}, None, 83.4),
        ("BOGD", {"eta": 1.0}, 80.97, 82.7),
        ("OSKL", {"eta": 0.1, "G": 11.0}, 82.01, 81.8),
        ("SPA", {"eta": 0.1, "alpha": 1.0, "beta": 20.0}, 82.04, 82.06),
    ]),
    "cod-rna": (822, [
        ("Perceptron", {}, 90.79, 90.85),
        ("OGD", {"eta": 1.0}, 93.31, 93.3),
        ("PA-I", {"C": 0.5}, 93.65, 93.65),
        ("RBP", {}, 86.59, 86.3),
        ("Forgetron", {}, 86.62, 86.9),
        ("Projectron", {"eta": 0.01}, 83.35, 90.9),
        ("Projectron++", {"eta": 0.01}, 84.71, 93.2),
        ("BPA-S", {"C": 1.0}, 91.23, 91.4),
        ("BPA-S", {"C": 0.25}, None, 92.4),
        ("BOGD", {"eta": 1.0, "reg": 1e-4}, 85.62, 87.2),
        ("OSKL", {"eta": 1.0, "G": 10.0}, 92.07, 92.03),
        ("SPA", {"eta": 0.1, "alpha": 1.0, "beta": 20.0}, 91.59, 90.7),
    ]),
    "mixture": (1100, [
        ("RBP", {}, 72.87, None),
        ("Forgetron", {}, 72.94, None),
        ("BPA-S", {"C": 1.0}, 76.09, None),
        ("BPA-S", {"C": 0.25}, None, None),
        ("BOGD", {"eta": 0.1}, 79.21, None),
        ("OSKL", {"eta": 0.001, "G": 280.0}, 79.56, None),
        ("SPA", {"eta": 0.001, "alpha": 0.5, "beta": 200.0}, 79.82, 79.74),
        ("Projectron", {}, 61.24, None),
        ("Projectron++", {}, 60.03, None),
        ("Perceptron", {}, 73.22, None),
        ("OGD", {"eta": 0.1}, 80.36, None),
        ("PA-I", {"C": 0.25}, 78.95, None),
    ]),
    "w7a": (175, [
        ("Perceptron", {}, 97.64, None),
        ("OGD", {"eta": 0.1}, 98.06, None),
        ("PA-I", {"C": 0.5}, 98.16, None),
        ("RBP", {}, 96.78, None),
        ("Forgetron", {}, 96.36, None),
        ("Projectron", {}, 95.19, None),
        ("Projectron++", {}, 95.90, None),
        ("BPA-S", {"C": 1.0}, 96.83, None),
        ("BOGD", {"eta": 1.0}, 96.75, None),
        ("OSKL", {"eta": 0.1, "G": 11.0}, 96.98, None),
        ("SPA", {"eta": 0.1, "alpha": 1.0, "beta": 200.0}, 97.05, None),
    ]),
    "KDD08": (149, [
        ("Perceptron", {}, 99.04, None),
        ("OGD", {"eta": 0.1}, 99.44, None),
        ("PA-I", {"C": 0.5}, 99.45, None),
        ("RBP", {}, 98.96, None),
        ("Forgetron", {}, 98.93, None),
        ("Projectron", {}, 99.02, None),
        ("Projectron++", {}, 99.32, None),
        ("BPA-S", {"C": 1.0}, 99.41, None),
        ("BOGD", {"eta": 1.0}, 99.39, None),
        ("OSKL", {"eta": 0.1, "G": 11.0}, 99.41, None),
        ("SPA", {"eta": 0.1, "alpha": 1.0, "beta": 20.0}, 99.41, None),
    ]),
}  # fmt: skip

# Grids of the part of covtype, whose settings `choose.py` chose; then the chosen values and the
# published accuracies on all of covtype. G makes OSKL as large as SPA.
ETA = {"eta": (0.001, 0.01, 0.1, 1.0, 10.0)}
C = {"C": (0.25, 0.5, 1.0, 2.0)}
GRIDS = {"OGD": ETA, "PA-I": C, "BPA-S": C, "BOGD": ETA, "OSKL": ETA, "SPA": ETA}
PART = {"OSKL": {"G": 10.0}, "SPA": {"alpha": 1.0, "beta": 20.0}}
COVTYPE = {
    "Perceptron": ((), 73.08), "OGD": ((1.0,), 78.34), "PA-I": ((0.5,), 78.18),
    "RBP": ((), 65.63), "Forgetron": ((), 65.33), "Projectron": ((), 57.82),
    "Projectron++": ((), 59.33), "BPA-S": ((0.5,), 72.37), "BOGD": ((0.1,), 68.75),
    "OSKL": ((1.0,), 72.11), "SPA": ((0.1,), 71.34),
}  # fmt: skip

# Orders: those without a budget take minutes on the mixture.
UNBUDGETED = ("Perceptron", "OGD", "PA-I")
ORDERS = 20


def parameters(learner, budget, setting):
    """Return all parameters of a learner on a set."""
    bounded = {"budget": budget} if "budget" in LEARNERS[learner]._get_param_names() else {}
    return {"gamma": 0.4, **FIXED.get(learner, {}), **bounded, **setting}


def orders(data, learner):
    """Return the number of orders of a row."""
    if data != "mixture":
        return ORDERS
    return 1 if learner in UNBUDGETED else ORDERS


def counted(data, budget, learner, setting, published, checked=None):
    """Return the row of a learner on a set."""
    return Row(
        data, described(learner, setting), LEARNERS[learner],
        online_by_theory if learner == "SPA" and data != "mixture" else online,
        parameters(learner, budget, setting), mistakes(published), mistakes(checked),
        name=learner, orders=orders(data, learner),
    )  # fmt: skip


def of_covtype(learner, values, published):
    """Return the row of a learner on the part of covtype."""
    row = counted("covtype 25k", 1510, learner, PART.get(learner, {}), published)
    return row.choosing(GRIDS[learner], values) if learner in GRIDS else row


ROWS = [
    *(
        counted(data, budget, *figures)
        for data, (budget, learners) in SETS.items()
        for figures in learners
    ),
    *(of_covtype(learner, *figures) for learner, figures in COVTYPE.items()),
]
