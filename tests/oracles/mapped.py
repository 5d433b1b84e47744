"""FOGD and NOGD, one sample at a time, as their paper writes them.

J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large scale online kernel learning", JMLR 17,
2016: algorithm 2 (FOGD) with features divided by the root of their number, algorithm 3 (NOGD). Both
take the gradient step w <- (1 - eta_t reg) w - eta_t l'(w . z_t) z_t.

The averaged model is the sum of all models so far, added up in full. NOGD's models before the
switch to features enter it as the functions of features that they become.
"""

from dataclasses import dataclass, field

import numpy as np

from .dual_sgd import random_features
from .heads import HEADS
from .kernels import kernel_matrix
from .losses import LOSSES
from .rules import RULES


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

    predictions: np.ndarray
    model: Linear = None
    features: object = None
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


def gradient(loss, delta=1.0, epsilon=0.1, **step):
    """Return the rule of the gradient step."""
    return RULES["gradient"](LOSSES[loss](delta=delta, epsilon=epsilon), **step)


def predict_and_step(run, i, target, z, weight, rule, head, average, length):
    """Predict sample i with features z; return its steps and the shrink, None at weight 0.

    `length` is the squared length of the sample.
    """
    run.predictions[i] = head.predict(run.model.effective(average) @ z)
    if weight == 0:
        return None
    run.mistakes += int(run.predictions[i] != target)
    steps = np.zeros(head.n_outputs)
    for problem in head.problems(run.model.weights @ z, target):
        run.cumulative_loss += weight * rule.loss.value(problem.y, problem.f)
        q = np.dot(problem.direction, problem.direction) * length
        arguments = (problem.f, problem.y, q, run.model.t + 1, weight)
        steps += rule.weighted(*arguments) * problem.direction
    return steps, rule.shrink(run.model.t + 1)


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
    run = Run(np.zeros(len(X)), Linear.zero(head.n_outputs, z.shape[1]), features)
    for i in range(len(X)):
        weight = 1.0 if sample_weight is None else sample_weight[i]
        taken = predict_and_step(run, i, y[i], z[i], weight, rule, head, average, z[i] @ z[i])
        if taken is not None:
            run.model.update(taken[1], taken[0], z[i])
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

    run = Run(np.zeros(len(X)), Linear.zero(head.n_outputs, 0))
    run.features = lambda Z: kernel_values(Z, run.support)
    for i in range(len(X)):
        weight = 1.0 if sample_weight is None else sample_weight[i]
        z = run.features(X[i : i + 1])[0]
        length = kernel_values(X[i : i + 1], [i])[0, 0] if run.projection is None else z @ z
        taken = predict_and_step(run, i, y[i], z, weight, rule, head, average, length)
        if taken is None:
            continue
        steps, shrink = taken
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
