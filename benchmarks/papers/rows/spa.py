"""Table A, table 1 of the SPA paper: mistakes of one pass, Gaussian kernel of gamma 0.4.

Three more sets of the paper are missing, because their files were not available: w7a, covtype with
all 581,012 samples, and KDD08. The paper and the independent implementation give accuracies; here
they are errors, 100 minus the accuracy. SPA and OSKL count the mistakes of their averaged models,
as in the paper.
"""

from protocols import online

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
}  # fmt: skip


def parameters(learner, budget, setting):
    """Return all parameters of a learner on a set."""
    bounded = {"budget": budget} if "budget" in LEARNERS[learner]._get_param_names() else {}
    return {"gamma": 0.4, **FIXED.get(learner, {}), **bounded, **setting}


ROWS = [
    Row(data, described(learner, setting), LEARNERS[learner], online,
        parameters(learner, budget, setting), mistakes(published), mistakes(checked))
    for data, (budget, learners) in SETS.items()
    for learner, setting, published, checked in learners
]  # fmt: skip
