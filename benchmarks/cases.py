"""List the learners of the speed tables, their streams and goals: a new one is a line of `CASES`.

Learners that the installed library lacks are skipped.
"""

from dataclasses import dataclass, field

import numpy as np

import onlinekern
from benchmarks import streams

SPA = {"eta": 0.1}
GRADIENT = {"gamma": 0.4, "eta": 0.1}
HINGE = {"loss": "hinge", "schedule": "constant", "average": False}
PAPERS_LOL = {
    "step": "pa", "center": False, "fit_intercept": False, "n_prototypes": 60, "n_assign": 1,
    "average": False,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A learner on a stream.

    Attributes
    ----------
    estimator : str
        Name of the class in `onlinekern`.
    stream : str
        A name of `Streams`.
    parameters : dict
    layouts, dtypes : tuple of str
    goals : dict
        (layout, dtype) -> microseconds per sample on x86-64-v4, or a dictionary by instruction set.
    ratios : dict
        (layout, dtype) -> how many times faster than the naive loop on x86-64-v4, or by
        instruction set.
    parts : tuple of str
        Parts of the limit: "kernel", "frequencies", "prototypes", "linear".
    """

    estimator: str
    stream: str
    parameters: dict
    layouts: tuple = ("csr", "dense")
    dtypes: tuple = ("float32", "float64")
    goals: dict = field(default_factory=dict)
    ratios: dict = field(default_factory=dict)
    parts: tuple = ("kernel",)

    def new(self, samples):
        """Make the estimator; divide `reg_per_stream` by the length of the stream."""
        parameters = {"random_state": 0, **self.parameters}
        if "reg_per_stream" in parameters:
            parameters["reg"] = parameters.pop("reg_per_stream") / samples
        return getattr(onlinekern, self.estimator)(**parameters)

    @property
    def available(self):
        """Return whether the library has the estimator and its parameters."""
        estimator = getattr(onlinekern, self.estimator, None)
        if estimator is None:
            return False
        wanted = {"reg" if name == "reg_per_stream" else name for name in self.parameters}
        unknown = wanted - set(estimator._get_param_names())
        if unknown:
            raise TypeError(f"{self.estimator} has no {', '.join(sorted(unknown))}")
        return True


def levels(v4, v3, baseline):
    """Return a goal for each instruction set."""
    return {"x86-64-v4": v4, "x86-64-v3": v3, "baseline": baseline}


def goal_at(goals, key, level):
    """Return (goal, its instruction set), or None."""
    goal = goals.get(key)
    if isinstance(goal, dict):
        return (goal[level], level) if level in goal else None
    return None if goal is None else (goal, "x86-64-v4")


F32, F64 = "float32", "float64"
A9A_SPA = {"gamma": 0.4, "alpha": 1.0, "beta": 20.0, "average": True, **SPA}
CASES = [
    Case("SPAClassifier", "a9a", A9A_SPA,
         goals={("csr", F32): levels(0.8, 1.5, 3.7),
                ("csr", F64): {"x86-64-v4": 2.3, "x86-64-v3": 3.9},
                ("dense", F32): 2.9, ("dense", F64): 6.6},
         ratios={("csr", F32): levels(150, 85, 35),
                 ("csr", F64): {"x86-64-v4": 55, "x86-64-v3": 33},
                 ("dense", F32): 45, ("dense", F64): 20}),
    Case("SPAClassifier", "mixture",
         {"gamma": 0.4, "alpha": 0.5, "beta": 200.0, "average": True, **SPA},
         layouts=("dense",), goals={("dense", F32): 0.6, ("dense", F64): 1.5},
         ratios={("dense", F32): 25, ("dense", F64): 10}),
    Case("KernelPAClassifier", "a9a",
         {"gamma": 0.4, "C": 0.5, "max_support": 1_000, "when_full": "stop", "average": False}),
    Case("BOGDClassifier", "a9a", {**GRADIENT, "budget": 1_000},
         goals={("csr", F32): 6.0, ("csr", F64): 12.0, ("dense", F32): 6.0, ("dense", F64): 12.0}),
    Case("BOGDClassifier", "a9a", {**GRADIENT, "budget": 100},
         goals={("csr", F32): 2.5, ("dense", F32): 2.5}),
    Case("RBPClassifier", "a9a", {"gamma": 0.4, "budget": 1_000}),
    Case("ForgetronClassifier", "a9a", {"gamma": 0.4, "budget": 1_000}),
    Case("BPAClassifier", "a9a", {"gamma": 0.4, "budget": 1_000}),
    Case("BSGDClassifier", "a9a", {"gamma": 0.4, "budget": 1_000}),
    Case("OSKLClassifier", "a9a", {**GRADIENT}),
    Case("ProjectronClassifier", "a9a", {"gamma": 0.4, "budget": 500}, dtypes=(F32,)),
    Case("FOGDClassifier", "a9a", {**GRADIENT, **HINGE, "n_components": 1_600},
         goals={("csr", F32): 5.0, ("csr", F64): 11.0}, parts=("frequencies",)),
    Case("FOGDClassifier", "ijcnn1",
         {**HINGE, "gamma": 2.0, "eta": 1.0, "n_components": 1_600},
         layouts=("dense",), parts=("frequencies",)),
    Case("NOGDClassifier", "a9a", {**GRADIENT, "budget": 500, "n_components": 100}),
    Case("DualSGDClassifier", "ijcnn1", {"gamma": 1.0, "reg_per_stream": 2.0},
         layouts=("dense",), goals={("dense", F32): 1.4}, parts=("kernel", "frequencies")),
    Case("DualSGDClassifier", "a9a", {"gamma": 0.4, "reg_per_stream": 2.0},
         goals={("csr", F32): 4.3, ("dense", F32): 4.3}, parts=("kernel", "frequencies")),
    Case("PAClassifier", "a9a", {"C": 0.1},
         goals={("csr", F32): 0.075, ("csr", F64): 0.075, ("dense", F32): 0.13},
         parts=("linear",)),
    Case("OGDClassifier", "a9a", {"eta": 0.1}, parts=("linear",)),
    Case("AROWClassifier", "a9a", {"covariance": "diagonal"}, parts=("linear",)),
    Case("KernelLogisticClassifier", "a9a", {"gamma": 0.05}, parts=()),
    Case("SDROGDClassifier", "a9a", {}, parts=()),
    Case("LOLClassifier", "a9a", PAPERS_LOL, parts=("prototypes",)),
]  # fmt: skip


class Streams:
    """The streams by name, generated or read once.

    Parameters
    ----------
    folder : path or None
        Holds a9a and ijcnn1; None: synthetic streams of the same sizes.
    rows : int or None
        Most samples of a stream.
    """

    def __init__(self, folder, rows):
        self.folder = folder
        self.rows = rows
        self.drawn = {}

    def get(self, name):
        """Return (X, y) in float64; X of a9a is CSR."""
        if name not in self.drawn:
            X, y = getattr(self, f"_{name}")()
            self.drawn[name] = X[: self.rows], y[: self.rows]
        return self.drawn[name]

    def _a9a(self):
        return (streams.a9a(self.folder) if self.folder else streams.sparse_binary(48_842))[:2]

    def _mixture(self):
        return streams.gaussian_mixture(self.rows or 1_000_000)[:2]

    def _ijcnn1(self):
        if self.folder:
            return streams.libsvm(self.folder, "ijcnn1", ("train", "test"), 22)
        random = np.random.default_rng(0)
        X = random.uniform(-1, 1, (50_000, 22))
        return X, np.where((X[:, 0] * X[:, 1] > 0.25) ^ (random.random(50_000) < 0.05), 1, -1)
