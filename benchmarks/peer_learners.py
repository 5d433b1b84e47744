"""List the learners that `peers.py` runs: a new learner is a line of a table below.

Kernels and sizes (components, budgets) are given. `peers_tune.py` chose the step size and the
regularisation of all learners, ours and the others: the fewest online mistakes on the first 5,000
samples of the shuffled a9a, over the grid beside each learner.
"""

from peer_kinds import Batch, Own, Streamed, batches, pytorch, river, vowpal_wabbit

BATCH, COMPONENTS, LANDMARKS = 256, 1_600, 1_350
STEPS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
REGULARISERS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]


def sgd(**setting):
    """Return scikit-learn's linear classifier, for explicit features."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", random_state=0, **setting)


def fourier(rows, gamma=0.4):
    """Return scikit-learn's random Fourier features."""
    from sklearn.kernel_approximation import RBFSampler

    return RBFSampler(gamma=gamma, n_components=COMPONENTS, random_state=0).fit(rows[:BATCH])


def wide_fourier(rows):
    """Return random Fourier features of a wider kernel, which suits a9a better."""
    return fourier(rows, gamma=0.05)


def nystroem(rows):
    """Return scikit-learn's Nystroem features of the first samples."""
    from sklearn.kernel_approximation import Nystroem

    landmarks = rows[:LANDMARKS]
    return Nystroem(gamma=0.4, n_components=LANDMARKS, random_state=0).fit(landmarks)


def passive_aggressive(**setting):
    """Return scikit-learn's linear PA."""
    from sklearn.linear_model import PassiveAggressiveClassifier

    return PassiveAggressiveClassifier(random_state=0, **setting)


def river_pa(**setting):
    from river.linear_model import PAClassifier

    return PAClassifier(**setting)


def river_logistic(lr=0.01, l2=0.0):
    from river.linear_model import LogisticRegression
    from river.optim import SGD

    return LogisticRegression(optimizer=SGD(lr), l2=l2)


def river_fourier(**setting):
    from river.feature_extraction import RBFSampler

    return RBFSampler(gamma=0.4, n_components=COMPONENTS, seed=0) | river_pa(**setting)


def machine(samples):
    """Return a support vector machine with a setting that is common for a9a."""
    from sklearn.svm import SVC

    return SVC(C=1.0, gamma=0.05, cache_size=1_000)


def lightning_sgd(samples):
    """Return lightning's linear Pegasos for one pass."""
    from lightning.classification import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=1.0 / samples, max_iter=1, random_state=0)


SGD = [
    {"learning_rate": ["optimal"], "alpha": REGULARISERS},
    {"learning_rate": ["constant"], "eta0": STEPS, "alpha": [1e-6, 1e-4]},
    {"learning_rate": ["invscaling"], "eta0": [*STEPS, 30.0, 100.0], "alpha": [1e-6, 1e-4]},
]
AGGRESSIVENESS = [{"C": STEPS}]
STEP = [{"eta": STEPS}]
TORCH_STEP = [{"eta": [*STEPS, 30.0, 100.0, 300.0, 1000.0]}]  # of the mean over a batch
DECAYING_STEP = [{"eta": STEPS, "reg": [0.0, 1e-4, 1e-3]}]
PER_STREAM = [{"reg_per_stream": [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]}]
CONFIDENCE = [{"r": [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]}]
LOGISTIC = [{"lr": STEPS, "l2": [0.0, *REGULARISERS]}]
VOWPAL = [
    {
        "learning_rate": [0.03, 0.1, 0.3, 0.5, 1.0, 3.0],
        "power_t": [0.0, 0.25, 0.5],
        "l2": [0, 1e-6],
    }
]
KSVM = [{"l2": [0.001, 0.01, 0.1, 1, 10]}]
# The gate's beta sets the number of support vectors.
SMALL = {"gamma": 0.4, "beta": 20.0, "average": True}
LARGE, WIDE = {**SMALL, "beta": 5.0}, {**SMALL, "gamma": 0.05, "beta": 5.0}
BUDGETED = {"gamma": 0.4, "budget": LANDMARKS}
PAPERS_LOL = {
    "step": "pa", "center": False, "fit_intercept": False, "n_prototypes": 60, "n_assign": 1,
    "average": False,
}  # fmt: skip
HINGE = {"loss": "hinge", "schedule": "constant", "average": False}
MAPPED = {"gamma": 0.4, "n_components": COMPONENTS}
SAMPLED = {"gamma": 0.4, "budget": 500}
# Also for one row at a time, and for river: they learn the same, but would take hours to tune.
MAPPED_SGD = {"learning_rate": "invscaling", "eta0": 10.0, "alpha": 1e-4}
MAPPED_PA = {"C": 0.3}
LEARNERS = {
    "onlinekern SPA": Own("SPAClassifier", SMALL, {"eta": 0.1}, STEP),
    "onlinekern SPA, beta 5": Own("SPAClassifier", LARGE, {"eta": 0.3}, STEP),
    "onlinekern SPA, gamma 0.05": Own("SPAClassifier", WIDE, {"eta": 1.0}, STEP),
    "onlinekern SPA, learn_one": Own("SPAClassifier", SMALL, {"eta": 0.1}, STEP, single=True),
    "onlinekern kernel PA-I": Own(
        "KernelPAClassifier", {"gamma": 0.4, "average": False}, {"C": 1.0}, AGGRESSIVENESS
    ),
    "onlinekern DualSGD": Own(
        "DualSGDClassifier", {"gamma": 0.05}, {"reg_per_stream": 8.0}, PER_STREAM
    ),
    "onlinekern LOL": Own("LOLClassifier", PAPERS_LOL, {"C": 0.01}, AGGRESSIVENESS),
    "onlinekern SDROGD": Own("SDROGDClassifier", {}, {"reg": 1e-4}, [{"reg": REGULARISERS}]),
    "onlinekern BOGD": Own("BOGDClassifier", BUDGETED, {"eta": 1.0, "reg": 1e-4}, DECAYING_STEP),
    "onlinekern BPA": Own("BPAClassifier", BUDGETED, {"C": 0.3}, AGGRESSIVENESS),
    "onlinekern FOGD": Own("FOGDClassifier", {**MAPPED, **HINGE}, {"eta": 0.3}, STEP),
    "onlinekern FOGD, gamma 0.05": Own(
        "FOGDClassifier", {**MAPPED, **HINGE, "gamma": 0.05}, {"eta": 0.3}, STEP
    ),
    "onlinekern NOGD": Own("NOGDClassifier", SAMPLED, {"eta": 3.0}, STEP),
    "onlinekern linear PA-I": Own("PAClassifier", {}, {"C": 0.01}, AGGRESSIVENESS),
    "onlinekern linear PA-I, learn_one": Own(
        "PAClassifier", {}, {"C": 0.03}, AGGRESSIVENESS, single=True
    ),
    "onlinekern AROW": Own("AROWClassifier", {}, {"r": 30.0}, CONFIDENCE),
    "onlinekern kernel logistic": Own("KernelLogisticClassifier", {}, {"r": 0.3}, CONFIDENCE),
    # Those to begin with: defaults, nothing tuned.
    "onlinekern StreamClassifier": Own("StreamClassifier"),
    "onlinekern kernel forest": Own("KernelForestClassifier"),
    "onlinekern kernel RLS": Own("KernelRLSClassifier"),
    "sklearn RBFSampler + SGD, one row": Streamed(
        batches(1, sgd, fourier), ("sklearn",), MAPPED_SGD, slow=True
    ),
    "sklearn RBFSampler + SGD, batches": Streamed(
        batches(BATCH, sgd, fourier), ("sklearn",), MAPPED_SGD, SGD
    ),
    "sklearn RBFSampler + SGD, gamma 0.05": Streamed(
        batches(BATCH, sgd, wide_fourier),
        ("sklearn",),
        {"learning_rate": "invscaling", "eta0": 10.0, "alpha": 1e-6},
        SGD,
    ),
    "sklearn RBFSampler + PA, batches": Streamed(
        batches(BATCH, passive_aggressive, fourier), ("sklearn",), MAPPED_PA, AGGRESSIVENESS
    ),
    "sklearn Nystroem + SGD, batches": Streamed(
        batches(BATCH, sgd, nystroem),
        ("sklearn",),
        {"learning_rate": "invscaling", "eta0": 30.0, "alpha": 1e-6},
        SGD,
    ),
    "sklearn PA, one row": Streamed(
        batches(1, passive_aggressive), ("sklearn",), {"C": 0.01}, AGGRESSIVENESS, slow=True
    ),
    "sklearn PA, batches": Streamed(
        batches(BATCH, passive_aggressive), ("sklearn",), {"C": 0.01}, AGGRESSIVENESS
    ),
    "PyTorch cosines + SGD, batches": Streamed(
        pytorch(BATCH, COMPONENTS, 0.4, with_sines=False), ("torch",), {"eta": 100.0}, TORCH_STEP
    ),
    "PyTorch cosines and sines, batches": Streamed(
        pytorch(BATCH, COMPONENTS, 0.4, with_sines=True), ("torch",), {"eta": 100.0}, TORCH_STEP
    ),
    "river PA": Streamed(river(river_pa), ("river",), {"C": 0.03}, AGGRESSIVENESS),
    "river logistic": Streamed(
        river(river_logistic), ("river",), {"lr": 0.03, "l2": 0.0}, LOGISTIC
    ),
    "river RBFSampler + PA": Streamed(river(river_fourier), ("river",), MAPPED_PA, slow=True),
    "Vowpal Wabbit": Streamed(
        vowpal_wabbit("--loss_function hinge"),
        ("vowpalwabbit",),
        {"learning_rate": 0.5, "power_t": 0.5, "l2": 0},
        VOWPAL,
    ),
    "Vowpal Wabbit --ksvm": Streamed(
        vowpal_wabbit("--ksvm --kernel rbf --bandwidth 0.4"),
        ("vowpalwabbit",),
        {"l2": 1},
        KSVM,
        slow=True,
    ),
}
# For the comparison with the support vector machine: a kernel that suits the training part.
TUNED = {"gamma": 1 / 32}
SPLIT = {
    "onlinekern SPA": Own(
        "SPAClassifier", {**TUNED, "beta": 5.0, "average": True}, {"eta": 1.0}, STEP
    ),
    "onlinekern DualSGD": Own("DualSGDClassifier", TUNED, {"reg_per_stream": 8.0}, PER_STREAM),
    "onlinekern FOGD": Own(
        "FOGDClassifier", {**TUNED, **HINGE, "n_components": COMPONENTS}, {"eta": 0.3}, STEP
    ),
    # The machine of scikit-learn's SVC below.
    "onlinekern OLLA, smo": Own("OLLAClassifier", {"solver": "smo"}, {"gamma": 0.05, "C": 1.0}),
    "lightning SGD": Batch(lightning_sgd, ("lightning",)),
    "sklearn SVC": Batch(machine, ("sklearn",)),
}
