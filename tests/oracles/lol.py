"""LOL and I-LOL [7]_, sample by sample, with the soft assignment, centring and diagonal AROW.

.. [7] Z. Zhou, W.-S. Zheng, J.-F. Hu, Y. Xu, J. You, "One-pass online learning: a local approach",
   Pattern Recognition 51, 2016.
.. [8] K. Crammer, A. Kulesza, M. Dredze, "Adaptive regularization of weight vectors", NIPS 2009.

The lifted sample [7]_ (12)-(14) is written out in full here: one vector of (k + 1) blocks, block 0
for the shared hyperplane. With W of shape (K, (k + 1) D) and the prior variances S0 (1 / lambda in
block 0, 1 elsewhere), score = W x~, squared length q = x~' S x~, step W += c S x~. The paper's
x~ = [x / sqrt(lambda), 0, ..., x, ..., 0] and sqrt(lambda) w are the same in other units.
"""

from dataclasses import dataclass

import numpy as np

from .averages import Average
from .heads import HEADS
from .losses import LOSSES
from .rules import RULES
from .stream import step_and_contraction, tested


@dataclass
class Result:
    """Result of a run.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Class index of each sample, predicted before it was learnt.
    scores : ndarray of shape (n, K)
        Of the model that predicts.
    cumulative_loss, mistakes, n_seen
        As in `algorithms.Result`.
    centers, counts : ndarray of shape (n_prototypes, d) and (n_prototypes,)
    weights : ndarray of shape (1 + n_prototypes, K, D)
        Of the model that predicts; block 0 is the shared hyperplane.
    variances : ndarray of the same shape, or None
    mean : ndarray of shape (d,)
    nearest : ndarray of shape (n,)
        Nearest prototype of each sample (-1: weight 0).
    """

    scores: np.ndarray
    nearest: np.ndarray
    predictions: np.ndarray | None = None
    cumulative_loss: float = 0.0
    mistakes: int = 0
    n_seen: int = 0
    centers: np.ndarray | None = None
    counts: np.ndarray | None = None
    weights: np.ndarray | None = None
    variances: np.ndarray | None = None
    mean: np.ndarray | None = None


class Model:
    """Prototypes, hyperplanes and running means."""

    def __init__(
        self, d, n_outputs, *, n_prototypes, n_assign, sharing, joint, center, fit_intercept,
        local_features, average, second_order, prototypes=None,
    ):  # fmt: skip
        self.k, self.m, self.d = n_prototypes, n_assign, d
        self.joint, self.center, self.average = joint, center, average
        self.fit_intercept, self.local_features = fit_intercept, local_features
        self.second_order = second_order
        self.width = d + fit_intercept
        self.fixed = prototypes is not None
        self.P = np.array(prototypes, float) if self.fixed else np.zeros((0, d))
        self.counts = np.zeros(len(self.P), dtype=int)
        self.W = np.zeros((n_outputs, (1 + self.k) * self.width))
        self.past = Average(average)
        self.S = np.ones_like(self.W)
        self.S[:, : self.width] = 1.0 / sharing
        self.samples = []
        self.gaps = []
        self.lengths = []

    def mean(self):
        """Return the mean of the samples so far."""
        return np.mean(self.samples, axis=0) if self.center and self.samples else np.zeros(self.d)

    def constant(self, x):
        """Append the constant, if there is one."""
        return np.append(x, 1.0) if self.fit_intercept else x

    def centred(self, x):
        """Return x - mu; before the first sample, mu is x."""
        if self.center and not self.samples:
            return np.zeros(self.d)
        return x - self.mean()

    def lift(self, x, P, own=None):
        """Return the lifted sample with the prototypes P; `own` comes first among them."""
        lifted = np.zeros((1 + self.k, self.width))
        shared = self.constant(self.centred(x))
        if self.joint:
            lifted[0] = shared
        if len(P):
            squared = ((x - P) ** 2).sum(axis=1)
            order = np.argsort(squared, kind="stable").tolist()
            if own is not None:
                order.remove(own)
                order.insert(0, own)
            chosen = order[: self.m]
            gains = np.zeros(len(chosen))
            gains[0] = 1.0
            if self.gaps:
                gains = np.exp(-(squared[chosen] - squared[chosen[0]]) / np.mean(self.gaps))
            gains /= np.linalg.norm(gains)
            for j, g in zip(chosen, gains, strict=True):
                local = self.constant(x - P[j]) if self.local_features == "offset" else shared
                lifted[1 + j] = g * local
        return lifted.ravel()

    def predicting(self):
        """Return the hyperplanes that predict: the last ones, or an average of all so far."""
        return self.past.including(self.W)

    def learn(self, x, lifted, coefficients, contractions):
        """Take the step, then move the prototype and the means. Returns the prototype."""
        self.past.add(self.W)
        for k, (c, beta) in enumerate(zip(coefficients, contractions, strict=True)):
            direction = self.S[k] * lifted
            self.W[k] += c * direction
            if self.second_order:
                self.S[k] -= beta * direction**2
        squared = ((x - self.P) ** 2).sum(axis=1)
        if np.any(squared > 0.0):
            self.gaps.append(squared[squared > 0.0].min())
        self.lengths.append(np.sum(self.centred(x) ** 2))
        self.samples.append(x)
        if len(self.P) < self.k:
            self.P = np.vstack([self.P, x])
            self.counts = np.append(self.counts, 1)
            return len(self.P) - 1
        i = int(np.argmin(squared))
        self.counts[i] += 1
        if self.fixed:
            return i
        self.P[i] += (x - self.P[i]) / self.counts[i]
        return i


def unit_of(model, x, r):
    """Return the unit of squared length: with r = "scale" the mean of ||x - mu||^2, x included."""
    if r != "scale":
        return 1.0
    unit = np.mean([*model.lengths, np.sum(model.centred(x) ** 2)])
    return unit if unit > 0.0 else 1.0


def lol(
    X,
    y,
    *,
    n_classes=2,
    multi_class="ovr",
    step="pa",
    variant="pa1",
    C=1.0,
    r="scale",
    n_prototypes=60,
    prototypes=None,
    n_assign=1,
    sharing=1.0,
    joint=True,
    center=False,
    fit_intercept=False,
    local_features="sample",
    average=False,
    sample_weight=None,
):
    """Run over a stream of dense samples with class indices y; parameters as LOLClassifier's."""
    X = np.asarray(X, dtype=np.float64)
    n_prototypes = n_prototypes if prototypes is None else len(prototypes)
    head = HEADS["binary" if n_classes == 2 else multi_class](n_classes)
    hinge = LOSSES["hinge"]()
    if step == "arow":
        rule = RULES["arow"](hinge, r=0.01 if r == "scale" else r)
    else:
        rule = RULES[variant](hinge, C=C)
    model = Model(
        X.shape[1], head.n_outputs, n_prototypes=n_prototypes, n_assign=n_assign, sharing=sharing,
        joint=joint, center=center, fit_intercept=fit_intercept, local_features=local_features,
        average=average, second_order=step == "arow", prototypes=prototypes,
    )  # fmt: skip
    result = Result(np.zeros((len(X), head.n_outputs)), np.full(len(X), -1))

    def predict(i):
        result.scores[i] = model.predicting() @ model.lift(X[i], model.P)
        return head.predict(result.scores[i])

    for i, weight in tested(result, y, sample_weight, predict):
        x, t = X[i], len(model.samples) + 1
        # One of the first k samples is learnt as its own nearest prototype.
        if len(model.P) < n_prototypes:
            lifted = model.lift(x, np.vstack([model.P, x]), own=len(model.P))
        else:
            lifted = model.lift(x, model.P)
        unit = unit_of(model, x, r if step == "arow" else None)
        lengths = (model.S * lifted**2).sum(axis=1) / unit
        model.past.compare(head, model.W @ lifted, result.scores[i], y[i])
        problems = head.problems(model.W @ lifted, y[i])
        steps, contractions = step_and_contraction(result, rule, problems, lengths, t, weight)
        result.nearest[i] = model.learn(x, lifted, steps / unit, contractions / unit)
    result.n_seen = len(model.samples)
    result.centers, result.counts, result.mean = model.P, model.counts, model.mean()
    shape = (head.n_outputs, 1 + n_prototypes, model.width)
    result.weights = model.predicting().reshape(shape).transpose(1, 0, 2)
    if model.second_order:
        result.variances = model.S.reshape(shape).transpose(1, 0, 2)
    return result
