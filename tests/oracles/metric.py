"""Kernel least squares in a metric that is learnt on the stream, step by step.

The features of the kernel are those of z = M^(1/2) x, the linear ones those of x. M is the unit
matrix at first. After samples FIRST, 2 FIRST, 4 FIRST, ... the gradients of the scores at the last
TAUGHT samples, here by central differences, have the mean outer product G, summed over the outputs.
These scores have the prior precision reg, or SHARP_REG if it is less: under a strong prior, what is
not linear may hide behind what is. The metric to be is M' = (G d / tr G)^p, whose eigenvalues are
at least LEAST, and then scaled to a trace of d; of a diagonal metric, G is the diagonal of the mean
outer product. If it differs from the present one, |M - M'| > LEAST_CHANGE |M'|, or
LEAST_CHANGE_FORGETTING if samples have left the memory of KEPT, M' takes its place; landmarks are
chosen anew among the samples kept, and

    A = reg I + sum forgetting^(age) w phi phi',    b = sum forgetting^(age) w phi y'

over those of them that had entered. With forgetting, intervals stop to grow at a power of two that
is at least HORIZONS / (1 - forgetting), and no more than KEPT; so many samples are kept.

A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in neural
networks and backpropagation-free machine learning models", Science 383, 2024.
"""

from dataclasses import dataclass, field

import numpy as np

from .fourier import splitmix
from .kernel_rls import FIRST as FIRST_CHOICE
from .kernel_rls import Landmarks, Run

FIRST, KEPT, TAUGHT = 256, 4096, 2048
LEAST, LEAST_CHANGE, LEAST_CHANGE_FORGETTING = 1e-3, 0.1, 0.4
HORIZONS, SHARP_REG = 4, 0.1
STEP = 1e-5


class Moved:
    """Features of root x.

    Parameters
    ----------
    inner : Landmarks or Fourier
    root : ndarray of shape (d, d)
    """

    def __init__(self, inner, root):
        self.inner, self.root = inner, root

    def features(self, x):
        """Return the features of a sample."""
        return self.inner.features(self.root @ x)

    def consider(self, i, x, entered):
        """Return whether the sample adds a coordinate."""
        return self.inner.consider(i, self.root @ x, entered)


def metric_of(G, exponent):
    """Return M, of trace d."""
    values, vectors = np.linalg.eigh(G)
    values = np.maximum((np.maximum(values, 0) / values.mean()) ** exponent, LEAST)
    return (vectors * (values / values.mean())) @ vectors.T


def root_of(M):
    """Return M^(1/2)."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(values)) @ vectors.T


@dataclass
class InMetric(Run):
    """The learner, and the result of a run.

    Attributes
    ----------
    full : bool
    exponent : float
    seed : int
        Of the landmarks that are drawn.
    metric : ndarray of shape (d, d)
    kept : list of (int, ndarray, ndarray, float)
        Number, x, targets, and weight or 0, of the last samples.
    n_renewals : int
    """

    full: bool = False
    exponent: float = 0.5
    seed: int = 0
    metric: np.ndarray = None
    kept: list = field(default_factory=list)
    n_kept: int = 0
    n_renewals: int = 0

    def __post_init__(self):
        self.metric = np.eye(self.n_features)
        self.map = Moved(self.map, self.metric)
        super().__post_init__()
        self.interval = FIRST
        while self.interval < KEPT and (1 - self.forgetting) * self.interval < HORIZONS:
            self.interval *= 2

    def learn(self, i, x, targets, importance):
        """Learn sample i, and renew the metric if it is time."""
        super().learn(i, x, targets, importance)
        self.kept = [*self.kept, (i, x, targets, importance)][-self.interval :]
        self.n_kept += 1
        if self.is_time():
            self.renew()

    def is_time(self):
        """Return whether the metric is looked at after so many samples."""
        if self.forgetting < 1 and self.n_kept >= self.interval:
            return self.n_kept % self.interval == 0
        doublings = np.log2(self.n_kept / FIRST)
        return doublings >= 0 and doublings == int(doublings)

    def gradients(self, x):
        """Return the gradients of the scores, with little prior, (K, d)."""
        steps = STEP * np.eye(self.n_features)
        extra = self.forgetting**self.since * (min(self.reg, SHARP_REG) - self.reg)
        weights = np.linalg.solve(self.A + extra * np.eye(len(self.A)), self.b).T
        ahead = np.array([weights @ self.phi(x + step) for step in steps])
        behind = np.array([weights @ self.phi(x - step) for step in steps])
        return (ahead - behind).T / (2 * STEP)

    def renew(self):
        """Learn a metric, and, if it has changed, the model anew in it."""
        found = [self.gradients(x) for _, x, _, _ in self.kept[-TAUGHT:]]
        G = np.mean([g.T @ g for g in found], axis=0)
        metric = metric_of(G if self.full else np.diag(np.diag(G)), self.exponent)
        forgets = self.forgetting == 1 and self.n_kept > KEPT
        least = LEAST_CHANGE_FORGETTING if forgets else LEAST_CHANGE
        if np.linalg.norm(self.metric - metric) > least * np.linalg.norm(metric):
            self.metric = metric
            self.n_renewals += 1
            self.learn_anew()

    def learn_anew(self):
        """Choose landmarks, and learn the samples kept that had entered."""
        inner = self.map.inner
        if isinstance(inner, Landmarks):
            floor = inner.floor
            inner = Landmarks(inner.kernel, inner.n_components, inner.selection, floor, floor)
        self.map = Moved(inner, root_of(self.metric))
        places = np.arange(len(self.kept))
        if isinstance(inner, Landmarks) and inner.selection == "first":
            draws = np.random.RandomState(splitmix(self.seed, self.n_kept) >> 32)
            places = np.sort(draws.permutation(len(self.kept))[: inner.n_components])
        for place in places:
            i, x, _, weight = self.kept[place]
            self.map.consider(i, x, weight > 0)
        entered = [(self.phi(x), weight, y) for _, x, y, weight in self.kept if weight > 0]
        self.A = self.reg * np.eye(len(self.phi(self.kept[0][1])))
        self.b = np.zeros((len(self.A), self.n_outputs))
        for age, (phi, weight, y) in enumerate(reversed(entered)):
            self.A += self.forgetting**age * weight * np.outer(phi, phi)
            self.b += self.forgetting**age * weight * np.outer(phi, y)
        self.features = [phi for phi, _, _ in entered]
        self.terms = [(weight, y) for _, weight, y in entered]
        self.since, self.at_once = 0, len(entered)
        if self.due < np.inf:
            self.due = FIRST_CHOICE
            self.choose_reg()
