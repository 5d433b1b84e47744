"""FOGD and NOGD, one sample at a time, as their paper writes them.

J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large scale online kernel learning", JMLR 17,
2016: algorithm 2 (FOGD) with features divided by the root of their number, algorithm 3 (NOGD). Both
take the gradient step w <- (1 - eta_t reg) w - eta_t l'(w . z_t) z_t.

The averaged model is the sum of all models so far, added up in full. NOGD's models before the
switch to features enter it as the functions of features that they become.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .dual_sgd import random_features
from .heads import HEADS
from .kernels import kernel_matrix
from .losses import LOSSES
from .rules import RULES
from .stream import step_of, tested


@dataclass
class Linear:
    """f = w . z for rows z that are given, with the sum of all w before the present one."""

    weights: np.ndarray
    past: np.ndarray
    t: int = 0

    @classmethod
    def zero(cls, n_outputs, length):
        """Return the model before the first sample."""
        return cls(np.zeros((n_outputs, length)), np.zeros((n_outputs, length)))

    def effective(self, averaged):
        """Return w_{t+1}, or the mean of w_1 ... w_{t+1}."""
        return (self.past + self.weights) / (self.t + 1) if averaged else self.weights

    def update(self, shrink, step, z):
        """Go to w <- shrink w + step z, a step for each output."""
        self.past = self.past + self.weights
        self.t += 1
        self.weights = shrink * self.weights + np.outer(step, z)

    def changed(self, matrix):
        """Return the same function of features z' with z = matrix' z': w z = (w matrix') z'."""
        return Linear(self.weights @ matrix.T, self.past @ matrix.T, self.t)


@dataclass
class Run:
    """Result of a run; K is the number of outputs.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Prediction of each sample before it was learnt, as class index or number.
    model : Linear
    features : callable
        Rows -> the features of `model`.
    support : list of int
        NOGD's support vectors.
    projection : ndarray of shape (rank, n_SV) or None
        NOGD's D_k^{-1/2} V_k', None before the switch.
    """

    model: Linear
    features: object = None
    predictions: np.ndarray = None
    mistakes: int = 0
    cumulative_loss: float = 0.0
    support: list = field(default_factory=list)
    projection: np.ndarray = None

    def scores(self, Z, averaged):
        """Return f of the rows of Z, (m, K)."""
        return self.features(Z) @ self.model.effective(averaged).T

    def dual_coef(self, averaged):
        """Return NOGD's coefficients of the kernel values of the support vectors, (K, n_SV)."""
        weights = self.model.effective(averaged)
        return weights if self.projection is None else weights @ self.projection


def prediction(run, head, X, average, i):
    """Return what the model, or the average of all so far, predicts of sample i."""
    return head.predict(run.scores(X[i : i + 1], average)[0])


def gradient(loss, delta=1.0, epsilon=0.1, **step):
    """Return the rule of the gradient step."""
    return RULES["gradient"](LOSSES[loss](delta=delta, epsilon=epsilon), **step)


def fogd(
    X,
    y,
    frequencies,
    *,
    fit_intercept=False,
    head="binary",
    n_classes=2,
    loss="hinge",
    average=False,
    sample_weight=None,
    **parameters,
):
    """Run over a stream; y are class indices, or numbers for regression."""
    head, rule = HEADS[head](n_classes), gradient(loss, **parameters)

    def features(Z):
        z = random_features(Z, frequencies)
        return np.hstack([z, np.ones((len(z), 1))]) if fit_intercept else z

    z = features(X)
    run = Run(Linear.zero(head.n_outputs, z.shape[1]), features)
    predict = partial(prediction, run, head, X, average)
    for i, weight in tested(run, y, sample_weight, predict):
        t, problems = run.model.t + 1, head.problems(run.model.weights @ z[i], y[i])
        steps = step_of(run, rule, problems, z[i] @ z[i], t, weight)
        run.model.update(rule.shrink(t), steps, z[i])
    return run


def eigenfeatures(gram, n_components):
    """Return (D_k^{-1/2} V_k', D_k^{1/2} V_k') of the k largest eigenvalues that count."""
    values, vectors = np.linalg.eigh(gram)
    kept = [j for j in np.argsort(-values)[:n_components] if values[j] >= 1e-10 * values.max()]
    roots = np.sqrt(values[kept])[:, None]
    return vectors[:, kept].T / roots, vectors[:, kept].T * roots


def nogd(
    X,
    y,
    *,
    budget,
    n_components=None,
    kernel="gaussian",
    gamma=1.0,
    degree=3,
    coef0=0.0,
    head="binary",
    n_classes=2,
    loss="hinge",
    average=False,
    sample_weight=None,
    **parameters,
):
    """Run over a stream; y are class indices, or numbers for regression."""
    head, rule = HEADS[head](n_classes), gradient(loss, **parameters)

    def kernel_values(Z, rows):
        return kernel_matrix(kernel, Z, X[rows], gamma, degree, coef0)

    run = Run(Linear.zero(head.n_outputs, 0))
    run.features = lambda Z: kernel_values(Z, run.support)
    predict = partial(prediction, run, head, X, average)
    for i, weight in tested(run, y, sample_weight, predict):
        z = run.features(X[i : i + 1])[0]
        length = kernel_values(X[i : i + 1], [i])[0, 0] if run.projection is None else z @ z
        t, problems = run.model.t + 1, head.problems(run.model.weights @ z, y[i])
        steps, shrink = step_of(run, rule, problems, length, t, weight), rule.shrink(t)
        if run.projection is not None:
            run.model.update(shrink, steps, z)
            continue
        if np.any(steps):
            run.support.append(i)
            run.model = run.model.changed(np.eye(len(z) + 1, len(z)))
            z = np.eye(len(run.support))[-1]
        run.model.update(shrink, steps, z)
        if len(run.support) == budget:
            gram = kernel_values(X[run.support], run.support)
            run.projection, expansion = eigenfeatures(gram, n_components or budget)
            run.model = run.model.changed(expansion)
            run.features = lambda Z: kernel_values(Z, run.support) @ run.projection.T
    return run
