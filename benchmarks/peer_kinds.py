"""Run the learners of each library over a stream; `peer_learners.py` lists them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

import onlinekern
from benchmarks import common, streams


@dataclass(frozen=True)
class Streamed:
    """A learner of the stream, of another library.

    Attributes
    ----------
    begin : callable
        (X, y, setting) -> a function without arguments that learns the stream and returns the
        mistakes. Only that function is timed.
    needs : tuple of str
        Modules that must be installed.
    setting : dict
        Step size and regularisation, the best of `grid`; {}: the library's defaults.
    grid : list of dict
        The values that `peers_tune.py` tries, as in scikit-learn's `ParameterGrid`.
    slow : bool
        Whether it sees the first samples only.
    """

    begin: Callable
    needs: tuple
    setting: dict = field(default_factory=dict)
    grid: list = field(default_factory=list)
    slow: bool = False
    peer = True

    def absent(self):
        """Return why it cannot run although its modules are installed; None if it can."""

    def prepare(self, X, y):
        """Return a function that learns the stream and returns the mistakes."""
        return self.begin(X, y, self.setting)

    def with_setting(self, setting):
        """Return it with another setting."""
        return replace(self, setting=setting)


@dataclass(frozen=True)
class Own:
    """A learner of this library.

    Attributes
    ----------
    estimator : str
    parameters : dict
        Parameters that are not tuned: kernel and size.
    setting, grid : dict, list of dict
        See `Streamed`. A `reg_per_stream` is divided by the number of samples.
    single : bool
        Whether it learns the samples one by one, as dense rows.
    """

    estimator: str
    parameters: dict = field(default_factory=dict)
    setting: dict = field(default_factory=dict)
    grid: list = field(default_factory=list)
    single: bool = False
    needs = ()
    slow = False
    peer = False

    def absent(self):
        """Return a message if the library lacks the estimator."""
        if getattr(onlinekern, self.estimator, None) is None:
            return f"onlinekern has no {self.estimator}"
        return None

    def with_setting(self, setting):
        """Return it with another setting."""
        return replace(self, setting=setting)

    def make(self, samples):
        """Make the estimator."""
        parameters = {"random_state": 0, **self.parameters, **self.setting}
        if "reg_per_stream" in parameters:
            parameters["reg"] = parameters.pop("reg_per_stream") / samples
        return getattr(onlinekern, self.estimator)(**parameters)

    def rows(self, X):
        """Return the samples in the layout that it takes."""
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


@dataclass(frozen=True)
class Batch:
    """A batch learner of another library.

    Attributes
    ----------
    build : callable
        The number of samples -> the estimator.
    needs : tuple of str
        Modules.
    """

    build: Callable
    needs: tuple
    grid = ()
    peer = True

    def absent(self):
        """See `Streamed`."""

    def make(self, samples):
        """Make the estimator."""
        return self.build(samples)

    def rows(self, X):
        """Return the samples in the layout that it takes."""
        return X


def batches(batch, classify, features=None):
    """Run a learner of scikit-learn that predicts a batch, then learns it.

    `classify` makes the classifier of a setting; `features`, the transformer fitted to the first
    samples of the stream.
    """

    def begin(X, y, setting):
        rows = streams.laid_out(X, "float32", "csr")
        transformer = None if features is None else features(rows)
        model = classify(**setting)

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

    return begin


def pytorch(batch, components, gamma, with_sines):
    """Run gradient descent on the hinge over random Fourier features, by hand, on one thread.

    A batch is predicted, then learnt; `eta` of a setting is the step of the mean gradient. The
    features are cosines with random phases, or, `with_sines`, cosines and sines.
    """

    def begin(X, y, setting):
        import torch

        torch.set_num_threads(1)
        rows = np.ascontiguousarray(streams.laid_out(X, "float32", "dense"))
        # From the buffer: any version of PyTorch reads it, beside any version of NumPy.
        samples = torch.frombuffer(rows, dtype=torch.float32).reshape(rows.shape)
        labels = torch.tensor(y.tolist(), dtype=torch.float32)
        random = torch.Generator().manual_seed(0)
        shape = rows.shape[1], components
        frequencies = (2 * gamma) ** 0.5 * torch.randn(shape, generator=random)
        phases = 2 * np.pi * torch.rand(components, generator=random)
        weights = torch.zeros((1 + with_sines) * components)
        scale = (1 / components if with_sines else 2 / components) ** 0.5

        def features(part):
            projected = part @ frequencies
            if with_sines:
                return torch.cat([projected.cos(), projected.sin()], dim=1).mul_(scale)
            return projected.add_(phases).cos_().mul_(scale)

        def learn():
            mistakes = 0
            for first in range(0, len(labels), batch):
                mapped = features(samples[first : first + batch])
                target = labels[first : first + batch]
                margins = target * (mapped @ weights)
                mistakes += int((margins <= 0).sum())
                slopes = target * (margins < 1)
                weights.add_(mapped.T @ slopes, alpha=setting.get("eta", 1.0) / len(target))
            return mistakes

        return learn

    return begin


def river(build):
    """Run a learner of river on dictionaries made before; `build` makes it from a setting."""

    def begin(X, y, setting):
        X = streams.laid_out(X, "float64", "csr")
        samples = [
            (dict(zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True)), bool(y[i] > 0))
            for i in range(len(y))
        ]
        model = build(**setting)

        def learn():
            mistakes = 0
            for x, label in samples:
                mistakes += bool(model.predict_one(x)) != label
                model.learn_one(x, label)
            return mistakes

        return learn

    return begin


def vowpal_wabbit(arguments):
    """Run Vowpal Wabbit on text made before; a setting is a set of further arguments."""

    def begin(X, y, setting):
        from vowpalwabbit import Workspace

        X = streams.laid_out(X, "float64", "csr")
        lines = [
            f"{label} | " + " ".join(map("{}:{}".format, X[i].indices, X[i].data))
            for i, label in enumerate(y.tolist())
        ]
        chosen = " ".join(f"--{name} {value}" for name, value in setting.items())
        model = Workspace(f"--quiet {arguments} {chosen}")

        def learn():
            mistakes = 0
            for line, label in zip(lines, y.tolist(), strict=True):
                example = model.example(line)
                model.learn(example)
                mistakes += (example.get_simplelabel_prediction() > 0) != (label > 0)
                model.finish_example(example)
            return mistakes

        return learn

    return begin
