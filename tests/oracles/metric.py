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

Which metric is learnt, and how wide its kernel is, may be chosen too (`form="auto"`, which begins
with a diagonal one). M' is then
width times (G d / tr G)^q, q being 0, p, or 2 p of a diagonal metric, or p of a full one; each form
is tried with the gradients of the time before. Kernel least squares with at most TRIED landmarks,
drawn from the first half of the last 2 HALF samples, learn this half; the form of the least mean
squared error at the other half takes the place of the present one if its error is lower by more
than LEAST_GAIN. In the same way half and twice the width are tried with this form.

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
STEP, ROUNDING = 1e-5, 1e-8
FORMS = ((False, 0), (False, 1), (False, 2), (True, 1))
TRIED, HALF, LEAST_GAIN, STEPS = 100, 1024, 0.02, (0.5, 2.0)


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
    form : {"diagonal", "full", "auto"}
    exponent : float
    seed : int
        Of the landmarks that are drawn.
    first_taught : int
        The metric is learnt from the outputs from this one on.
    place, width : int, float
        Of the form in FORMS, with "auto", and the factor of the metric.
    before : ndarray of shape (d, d)
        Mean outer product of the gradients at the last renewal.
    metric : ndarray of shape (d, d)
    kept : list of (int, ndarray, ndarray, float)
        Number, x, targets, and weight or 0, of the last samples.
    n_renewals : int
    """

    form: str = "diagonal"
    exponent: float = 0.5
    seed: int = 0
    first_taught: int = 0
    metric: np.ndarray = None
    kept: list = field(default_factory=list)
    n_kept: int = 0
    n_renewals: int = 0
    place: int = 1
    width: float = 1.0
    before: np.ndarray = None

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
        taught = slice(self.first_taught, None)
        found = [self.gradients(x)[taught] for _, x, _, _ in self.kept[-TAUGHT:]]
        G = np.mean([g.T @ g for g in found], axis=0)
        draws = np.random.RandomState(splitmix(self.seed, self.n_kept) >> 32)
        if self.form == "auto":
            if self.before is not None:
                self.choose(draws)
            self.before = G
            metric = self.metric_to_be(G, self.place, self.width)
        else:
            metric = metric_of(G if self.form == "full" else np.diag(np.diag(G)), self.exponent)
        forgets = self.forgetting == 1 and self.n_kept > KEPT
        least = LEAST_CHANGE_FORGETTING if forgets else LEAST_CHANGE
        if np.linalg.norm(self.metric - metric) > least * np.linalg.norm(metric):
            self.metric = metric
            self.n_renewals += 1
            self.learn_anew(draws)

    def metric_to_be(self, G, place, width):
        """Return the metric of a form and a width."""
        full, factor = FORMS[place]
        return width * metric_of(G if full else np.diag(np.diag(G)), factor * self.exponent)

    def choose(self, draws):
        """Choose the form, then the width."""
        half = min(len(self.kept) // 2, HALF)
        landmarks = sorted(draws.permutation(half)[:TRIED])
        last = self.kept[-2 * half :]

        def error(place, width):
            return self.error(last, landmarks, self.metric_to_be(self.before, place, width))

        errors = [error(place, self.width) for place in range(len(FORMS))]
        best = int(np.argmin(errors))
        if errors[best] < (1 - LEAST_GAIN) * errors[self.place]:
            self.place = best
        widths = [self.width, *(self.width * step for step in STEPS)]
        errors = [error(self.place, width) for width in widths]
        best = int(np.argmin(errors))
        if errors[best] < (1 - LEAST_GAIN) * errors[0]:
            self.width = widths[best]

    def error(self, last, landmarks, metric):
        """Return the error at the second half of samples, after the first, in a metric."""
        present, inner = self.map, self.map.inner
        if isinstance(inner, Landmarks):
            floor = inner.floor if inner.selection == "first" else ROUNDING
            inner = Landmarks(inner.kernel, TRIED, "first", floor, floor)
        self.map = Moved(inner, root_of(metric))
        if isinstance(inner, Landmarks):
            for place in landmarks:
                self.map.consider(place, last[place][1], True)
        phi = np.array([self.phi(x) for _, x, _, _ in last])
        self.map = present
        taught = slice(self.first_taught, None)
        y, half = np.array([targets[taught] for _, _, targets, _ in last]), len(last) // 2
        factors = (1, 10, 0.1) if self.due < np.inf else (1,)
        errors = []
        for reg in self.reg * np.array(factors):
            A = phi[:half].T @ phi[:half] + reg * np.eye(phi.shape[1])
            scores = phi[half:] @ np.linalg.solve(A, phi[:half].T @ y[:half])
            if set(np.unique(y)) == {-1, 1}:
                scores = np.clip(scores, -1, 1)
            unit = np.mean(y[half:] ** 2, axis=0)
            errors.append(np.mean(np.mean((scores - y[half:]) ** 2, axis=0) / unit))
        return min(errors)

    def learn_anew(self, draws):
        """Choose landmarks, and learn the samples kept that had entered."""
        inner = self.map.inner
        if isinstance(inner, Landmarks):
            rules = inner.selection, inner.floor, inner.rounding
            inner = Landmarks(inner.kernel, inner.n_components, *rules)
        self.map = Moved(inner, root_of(self.metric))
        places = np.arange(len(self.kept))
        if isinstance(inner, Landmarks) and inner.selection == "first":
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
