"""The learners that `peers.py` runs: a new one is a line of a table below."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import onlinekern
from benchmarks import common, streams

BATCH, COMPONENTS = 256, 1_600


@dataclass(frozen=True)
class Streamed:
    """A learner of the stream.

    Attributes
    ----------
    prepare : callable
        (X, y) -> a function without arguments that learns the stream and returns the mistakes;
        what it does before it returns that function is not timed.
    needs : tuple of str
        Modules.
    slow : bool
        Whether it sees the first samples only.
    peer : bool
        Whether it is another library's.
    """

    prepare: Callable
    needs: tuple = ()
    slow: bool = False
    peer: bool = True

    def absent(self):
        """Why it cannot run, though its modules are there; None if it can."""


@dataclass(frozen=True)
class Own:
    """A learner of this library.

    Attributes
    ----------
    estimator : str
    parameters : dict
        A `reg_per_stream` is divided by the number of samples.
    single : bool
        Whether the samples come one by one, as dense rows.
    """

    estimator: str
    parameters: dict = field(default_factory=dict)
    single: bool = False
    needs = ()
    slow = False
    peer = False

    def absent(self):
        """Say so if the library does not have it (yet)."""
        if getattr(onlinekern, self.estimator, None) is None:
            return f"onlinekern has no {self.estimator}"
        return None

    def make(self, samples):
        """Make the estimator."""
        parameters = {"random_state": 0, **self.parameters}
        if "reg_per_stream" in parameters:
            parameters["reg"] = parameters.pop("reg_per_stream") / samples
        return getattr(onlinekern, self.estimator)(**parameters)

    def rows(self, X):
        """The samples in the layout that it takes."""
        return streams.laid_out(X, "float32", "csr")

    def prepare(self, X, y):
        """See `Streamed`."""
        model = self.make(len(y))
        if not self.single:
            rows = self.rows(X)
            return lambda: common.learn(model, rows, y).n_mistakes_
        samples = list(zip(streams.laid_out(X, "float32", "dense"), y.tolist(), strict=True))

        def learn():
            model.learn_one(*samples[0], classes=[-1, 1])
            for x, label in samples[1:]:
                model.learn_one(x, label)
            return model.n_mistakes_

        return learn


def batches(steps, batch):
    """A learner of scikit-learn that predicts a batch, then learns it.

    `steps` makes (the transformer fitted to the first samples, or None; the classifier).
    """

    def prepare(X, y):
        rows = streams.laid_out(X, "float32", "csr")
        transformer, model = steps(rows)

        def learn():
            mistakes = 0
            for first in range(0, len(y), batch):
                part = rows[first : first + batch]
                if transformer is not None:
                    part = transformer.transform(part)
                labels = y[first : first + batch]
                if first:
                    mistakes += int(np.sum(model.predict(part) != labels))
                else:
                    mistakes += len(labels) // 2
                model.partial_fit(part, labels, classes=[-1, 1])
            return mistakes

        return learn

    return prepare


def sgd():
    """The linear classifier on explicit features."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", random_state=0)


def fourier(rows):
    """Random Fourier features and SGD."""
    from sklearn.kernel_approximation import RBFSampler

    sampler = RBFSampler(gamma=0.4, n_components=COMPONENTS, random_state=0)
    return sampler.fit(rows[:BATCH]), sgd()


def nystroem(rows):
    """Nystroem features of the first samples and SGD."""
    from sklearn.kernel_approximation import Nystroem

    return Nystroem(gamma=0.4, n_components=1_350, random_state=0).fit(rows[:1_350]), sgd()


def passive_aggressive(rows):
    """scikit-learn's linear PA."""
    from sklearn.linear_model import PassiveAggressiveClassifier

    return None, PassiveAggressiveClassifier(random_state=0)


def river(build):
    """A learner of river, its samples made dictionaries before."""

    def prepare(X, y):
        X = streams.laid_out(X, "float64", "csr")
        samples = [
            (dict(zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True)), bool(y[i] > 0))
            for i in range(len(y))
        ]
        model = build()

        def learn():
            mistakes = 0
            for x, label in samples:
                mistakes += bool(model.predict_one(x)) != label
                model.learn_one(x, label)
            return mistakes

        return learn

    return prepare


def river_pa():
    from river.linear_model import PAClassifier

    return PAClassifier()


def river_logistic():
    from river.linear_model import LogisticRegression

    return LogisticRegression()


def river_fourier():
    from river.feature_extraction import RBFSampler
    from river.linear_model import PAClassifier

    return RBFSampler(gamma=0.4, n_components=COMPONENTS, seed=0) | PAClassifier()


def vowpal_wabbit(arguments):
    """A learner of Vowpal Wabbit, its samples made text before."""

    def prepare(X, y):
        from vowpalwabbit import Workspace

        X = streams.laid_out(X, "float64", "csr")
        lines = [
            f"{label} | " + " ".join(map("{}:{}".format, X[i].indices, X[i].data))
            for i, label in enumerate(y.tolist())
        ]
        model = Workspace(f"--quiet {arguments}")

        def learn():
            mistakes = 0
            for line, label in zip(lines, y.tolist(), strict=True):
                example = model.example(line)
                model.learn(example)
                mistakes += (example.get_simplelabel_prediction() > 0) != (label > 0)
                model.finish_example(example)
            return mistakes

        return learn

    return prepare


@dataclass(frozen=True)
class Batch:
    """A learner of another library that sees the training part at once.

    Attributes
    ----------
    build : callable
        The number of samples -> the estimator.
    needs : tuple of str
        Modules.
    """

    build: Callable
    needs: tuple
    peer = True

    def absent(self):
        """See `Streamed`."""

    def make(self, samples):
        """Make the estimator."""
        return self.build(samples)

    def rows(self, X):
        """The samples in the layout that it takes."""
        return X


def machine(samples):
    """A support vector machine, with one setting that is usual on a9a."""
    from sklearn.svm import SVC

    return SVC(C=1.0, gamma=0.05, cache_size=1_000)


def lightning_sgd(samples):
    """A pass of lightning's linear Pegasos."""
    from lightning.classification import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=1.0 / samples, max_iter=1, random_state=0)


KERNEL = {"gamma": 0.4}
SPA = {**KERNEL, "eta": 0.1, "alpha": 1.0, "beta": 20.0}
LEARNERS = {
    "onlinekern SPA": Own("SPAClassifier", SPA),
    "onlinekern SPA, gamma 0.05": Own("SPAClassifier", {**SPA, "gamma": 0.05, "beta": 5.0}),
    "onlinekern SPA, learn_one": Own("SPAClassifier", SPA, single=True),
    "onlinekern kernel PA-I": Own("KernelPAClassifier", {**KERNEL, "C": 0.5}),
    "onlinekern DualSGD": Own("DualSGDClassifier", {"gamma": 0.05, "reg_per_stream": 2.0}),
    "onlinekern LOL": Own("LOLClassifier"),
    "onlinekern SDROGD": Own("SDROGDClassifier"),
    "onlinekern BOGD": Own("BOGDClassifier", {**KERNEL, "eta": 1.0, "budget": 1_350}),
    "onlinekern BPA": Own("BPAClassifier", {**KERNEL, "C": 0.5, "budget": 1_350}),
    "onlinekern FOGD": Own("FOGDClassifier", {**KERNEL, "eta": 0.1, "n_components": COMPONENTS}),
    "onlinekern NOGD": Own("NOGDClassifier", {**KERNEL, "eta": 0.1, "budget": 500}),
    "onlinekern linear PA-I": Own("PAClassifier", {"C": 0.01}),
    "onlinekern linear PA-I, learn_one": Own("PAClassifier", {"C": 0.01}, single=True),
    "onlinekern AROW": Own("AROWClassifier"),
    "sklearn RBFSampler + SGD, one row": Streamed(batches(fourier, 1), ("sklearn",), slow=True),
    "sklearn RBFSampler + SGD, batches": Streamed(batches(fourier, BATCH), ("sklearn",)),
    "sklearn Nystroem + SGD, batches": Streamed(batches(nystroem, BATCH), ("sklearn",)),
    "sklearn PA, one row": Streamed(batches(passive_aggressive, 1), ("sklearn",), slow=True),
    "sklearn PA, batches": Streamed(batches(passive_aggressive, BATCH), ("sklearn",)),
    "river PA": Streamed(river(river_pa), ("river",)),
    "river logistic": Streamed(river(river_logistic), ("river",)),
    "river RBFSampler + PA": Streamed(river(river_fourier), ("river",), slow=True),
    "Vowpal Wabbit": Streamed(vowpal_wabbit("--loss_function hinge"), ("vowpalwabbit",)),
    "Vowpal Wabbit --ksvm": Streamed(
        vowpal_wabbit("--ksvm --kernel rbf --bandwidth 0.4"), ("vowpalwabbit",), slow=True
    ),
}
TUNED = {"gamma": 1 / 32}
SPLIT = {
    "onlinekern SPA": Own("SPAClassifier", {**TUNED, "eta": 0.1, "alpha": 1.0, "beta": 5.0}),
    "onlinekern DualSGD": Own("DualSGDClassifier", {**TUNED, "reg_per_stream": 2.0}),
    "onlinekern FOGD": Own("FOGDClassifier", {**TUNED, "n_components": COMPONENTS}),
    "lightning SGD": Batch(lightning_sgd, ("lightning",)),
    "sklearn SVC": Batch(machine, ("sklearn",)),
}
