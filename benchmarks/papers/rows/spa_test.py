"""Table A3, table 3 of the SPA paper: test errors after one pass, alpha 1 and beta 5.

The paper tunes gamma and the other settings; `choose.py` chose them here, for each learner, on
5,000 training rows, also for SPA with its last model. Budgets are the paper's numbers of SPA's
support vectors. OSKL's G is an estimate that should make it as large; it keeps a third to a quarter
fewer. The paper and the independent implementation give accuracies; here they are errors.
"""

from dataclasses import replace

from protocols import after_a_pass
from sklearn.svm import SVC

import onlinekern as ok

from .row import Row, mistakes

GAMMA = {"gamma": (0.03125, 0.125, 0.5, 2.0, 8.0)}
ETA = {**GAMMA, "eta": (0.01, 0.1, 1.0, 10.0)}
C = {**GAMMA, "C": (0.25, 0.5, 1.0, 2.0)}
SPA = {"alpha": 1.0, "beta": 5.0, "max_support": None}

# Learner -> class, fixed parameters, grid.
LEARNERS = {
    "SPA, averaged": (ok.SPAClassifier, {**SPA, "average": True}, ETA),
    "SPA, last": (ok.SPAClassifier, {**SPA, "average": False}, ETA),
    "BOGD": (ok.BOGDClassifier, {}, ETA),
    "BPA-S": (ok.BPAClassifier, {}, C),
    "OSKL": (ok.OSKLClassifier, {}, ETA),
    "Pegasos": (
        ok.KernelPegasosClassifier, {}, {**GAMMA, "reg_per_stream": (0.1, 1.0, 10.0, 100.0)},
    ),
    "LIBSVM": (SVC, {}, {**GAMMA, "C": (0.1, 1.0, 10.0, 100.0)}),
}  # fmt: skip

# Set -> parameters that some learners have, and for each learner the chosen values in the order of
# its grid, the published and the independent accuracy. w7a is not at hand, so nothing was chosen
# for it: its values are a9a's.
SETS = {
    "a9a, split": ({"budget": 2079, "G": 5.0}, {
        "SPA, averaged": ((0.03125, 1.0), 84.88, 84.88),
        "SPA, last": ((0.03125, 0.1), 82.97, None),
        "BOGD": ((0.125, 0.1), None, None),
        "BPA-S": ((0.125, 0.25), None, None),
        "OSKL": ((0.03125, 1.0), None, None),
        "Pegasos": ((0.125, 10.0), 84.66, None),
        "LIBSVM": ((0.03125, 1.0), 85.04, None),
    }),
    "cod-rna cube, split": ({"budget": 2386, "G": 3.5}, {
        "SPA, averaged": ((0.5, 1.0), 96.05, 95.6),
        "SPA, last": ((0.5, 1.0), 91.23, None),
        "BOGD": ((2.0, 1.0), None, None),
        "BPA-S": ((0.5, 0.5), None, None),
        "OSKL": ((0.5, 10.0), None, None),
        "Pegasos": ((0.5, 1.0), 95.63, None),
        "LIBSVM": ((0.125, 100.0), 96.67, None),
    }),
    "w7a, split": ({"budget": 3710, "G": 5.0}, {
        "SPA, averaged": ((0.03125, 1.0), 97.97, None),
        "SPA, last": ((0.03125, 0.1), 97.49, None),
        "BOGD": ((0.125, 0.1), None, None),
        "BPA-S": ((0.125, 0.25), None, None),
        "OSKL": ((0.03125, 1.0), None, None),
        "Pegasos": ((0.125, 10.0), 97.56, None),
        "LIBSVM": ((0.03125, 1.0), 98.31, None),
    }),
}  # fmt: skip


def tested(data, sizes, learner, values, published, bar):
    """Return the row of a learner on a set."""
    estimator, fixed, grid = LEARNERS[learner]
    own = {name: size for name, size in sizes.items() if name in estimator().get_params()}
    row = Row(
        data, learner, estimator, after_a_pass, {**fixed, **own}, mistakes(published), mistakes(bar)
    )  # fmt: skip
    # A batch solver takes minutes, and no order changes its answer.
    return replace(row.choosing(grid, values), orders=1 if estimator is SVC else 20)


ROWS = [
    tested(data, sizes, learner, *figures)
    for data, (sizes, learners) in SETS.items()
    for learner, figures in learners.items()
]
