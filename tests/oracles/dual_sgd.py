"""DualSGD, one sample at a time, as its paper writes it.

T. Le, T. D. Nguyen, V. Nguyen, D. Phung, "Dual space gradient descent for online learning", NIPS
2016: algorithm 1 (learning), algorithm 2 with k-merging (budget maintenance), equations in its
section 3. Every coefficient is kept as -l' / reg, to be divided by t.

The averaged model is an average of f_1 ... f_t, in full. Samples merged so far enter it
through their random features.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from .averages import Average
from .heads import HEADS
from .kernels import kernel_matrix
from .losses import LOSSES
from .rules import InverseTime
from .stream import step_of, tested


def random_features(X, frequencies):
    """Return z(x) = [cos(omega_j . x), sin(omega_j . x)] / sqrt(D) of each row."""
    angles = np.asarray(X, dtype=np.float64) @ np.asarray(frequencies, dtype=np.float64).T
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(frequencies))


@dataclass
class DualSGD:
    """Result of a run; K is the number of outputs.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Prediction of each sample before it was learnt, as class index or number.
    raw : ndarray of shape (K, n)
        -l' / reg of every sample, 0 for samples without a step.
    support : list of int
        Samples in the support set, the oldest first.
    merged : list of list of int
        Samples merged together, in the order of merging.
    t, mistakes, cumulative_loss
        Samples of positive weight, their mistakes and their losses.
    """

    n_outputs: int
    X: np.ndarray
    gamma: float
    kernel: str
    frequencies: np.ndarray
    fit_intercept: bool = False
    average: bool | str | float = False
    predictions: np.ndarray = None
    support: list = field(default_factory=list)
    merged: list = field(default_factory=list)
    t: int = 0
    mistakes: int = 0
    cumulative_loss: float = 0.0

    def __post_init__(self):
        self.raw = np.zeros((self.n_outputs, len(self.X)))
        # This averages the coefficients of f_u over the past steps u.
        self.past = Average(self.average or True)
        self.features = random_features(self.X, self.frequencies)

    def coefficients(self, averaged):
        """Return those of f_{t+1} or of the average of f_1 ... f_{t+1} for all samples, (K, n)."""
        current = self.raw / max(self.t, 1)
        return self.past.including(current) if averaged else current

    def provision(self, averaged):
        """Return w, the merged samples as weights of the features, (K, 2 D)."""
        rows = [i for group in self.merged for i in group]
        return self.coefficients(averaged)[:, rows] @ self.features[rows]

    def intercept(self, averaged):
        """Return the offsets, (K,): every step changes them too."""
        return self.coefficients(averaged).sum(axis=1) * self.fit_intercept

    def scores(self, Z, averaged):
        """Return f of the rows of Z, (m, K)."""
        block = kernel_matrix(self.kernel, Z, self.X[self.support], self.gamma)
        near = block @ self.coefficients(averaged)[:, self.support].T
        far = random_features(Z, self.frequencies) @ self.provision(averaged).T
        return near + far + self.intercept(averaged)

    def learn(self, i, raw, budget, merge_size):
        """Take step t at sample i; merge if there is one support vector too many."""
        self.past.add(self.raw / max(self.t, 1))
        self.t += 1
        if not np.any(raw):
            return
        self.raw[:, i] = raw
        self.support.append(i)
        if len(self.support) > budget:
            # A stable sort: the samples are in the order in which they were added.
            sizes = np.linalg.norm(self.raw[:, self.support], axis=0)
            first = np.argsort(sizes, kind="stable")[:merge_size]
            leaving = [self.support[j] for j in first]
            self.merged.append(leaving)
            self.support = [j for j in self.support if j not in leaving]


def dual_sgd(
    X,
    y,
    frequencies,
    *,
    reg,
    gamma,
    budget,
    merge_size,
    kernel="gaussian",
    loss="hinge",
    head="binary",
    n_classes=2,
    fit_intercept=False,
    max_step=None,
    average=False,
    sample_weight=None,
    **own,
):
    """Run over a stream; y are class indices, or numbers for regression."""
    head = HEADS[head](n_classes)
    rule = InverseTime(LOSSES[loss](**own), reg=reg, max_step=max_step or math.inf)
    model = DualSGD(head.n_outputs, X, gamma, kernel, frequencies, fit_intercept, average)

    def scores(i, averaged):
        return model.scores(X[i : i + 1], averaged)[0]

    def predict(i):
        return head.predict(scores(i, bool(average)))

    for i, weight in tested(model, y, sample_weight, predict):
        averaged, current = scores(i, True), scores(i, False)
        # kappa(x, x) = 1
        raw = step_of(model, rule, head.problems(current, y[i]), 1.0, model.t + 1, weight)
        model.past.compare(head, current, averaged, y[i])
        model.learn(i, raw, budget, merge_size)
    return model
