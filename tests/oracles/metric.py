"""Kernel least squares in a metric that is learnt on the stream, step by step.

The features of the kernel are those of z = M^(1/2) x, the linear ones those of x. M is the unit
matrix at first. After samples FIRST, 2 FIRST, 4 FIRST, ... the gradients of the scores at the last
TAUGHT samples, here by central differences, have the mean outer product G, summed over the outputs.
These scores have the prior precision reg, or SHARP_REG if it is less: under a strong prior, what is
not linear may hide behind what is. The metric to be is M' = (G d / tr G)^p, whose eigenvalues are
at least LEAST, and then scaled to a trace of d; of a diagonal metric, G is the diagonal of the mean
outer product. If it differs from the present one, |M - M'| > LEAST_CHANGE |M'|, or
LEAST_CHANGE_FORGETTING if samples have left the memory of KEPT, landmarks are chosen anew among the
samples kept. After another quarter as many samples (up to sample EARLY an eighth, and MOST_LAG at
most), M' takes the place of M; until then the old model answers, and learns. Then

    A = reg I + sum forgetting^(age) w phi phi',    b = sum forgetting^(age) w phi y'

over those of the samples kept, and of the first three quarters of those that have come since, that
had entered; the last ones, at most BLOCK, are learnt as usual. With forgetting, intervals stop to
grow at a power of two that is at least HORIZONS / (1 - forgetting), and no more than KEPT; so many
samples before a renewal are learnt again.

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
MOST_LAG, EARLY, BLOCK = 512, 512, 64
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
    pending : tuple
        The sample after which a renewal is whole; the metric it has found; the choice; the features
        of new landmarks, and the samples kept when it began.
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
    pending: tuple = None

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
        self.kept = [*self.kept, (i, x, targets, importance)][-self.interval - MOST_LAG :]
        self.n_kept += 1
        if self.is_time():
            self.begin_renewal()
        elif self.pending is not None and self.n_kept == self.pending[0]:
            self.finish_renewal()

    def is_time(self):
        """Return whether the metric is looked at after so many samples."""
        if self.forgetting < 1 and self.n_kept >= self.interval:
            return self.n_kept % self.interval == 0
        doublings = np.log2(self.n_kept / FIRST)
        return doublings >= 0 and doublings == int(doublings)

    def sharp_weights(self):
        """Return the weights with little prior, (K, D)."""
        extra = self.forgetting**self.since * (min(self.reg, SHARP_REG) - self.reg)
        return np.linalg.solve(self.A + extra * np.eye(len(self.A)), self.b).T

    def gradients(self, x, weights):
        """Return the gradients of the scores, (K, d)."""
        steps = STEP * np.eye(self.n_features)
        ahead = np.array([self.phi(x + step) for step in steps])
        behind = np.array([self.phi(x - step) for step in steps])
        return weights @ (ahead - behind).T / (2 * STEP)

    def begin_renewal(self):
        """Learn a metric, and choose landmarks in it."""
        kept, weights = self.kept[-self.interval :], self.sharp_weights()[self.first_taught :]
        found = [self.gradients(x, weights) for _, x, _, _ in kept[-TAUGHT:]]
        G = np.mean([g.T @ g for g in found], axis=0)
        draws = np.random.RandomState(splitmix(self.seed, self.n_kept) >> 32)
        place, width = self.place, self.width
        if self.form == "auto":
            if self.before is not None:
                place, width = self.choose(kept, draws)
            metric = self.metric_to_be(G, place, width)
        else:
            metric = metric_of(G if self.form == "full" else np.diag(np.diag(G)), self.exponent)
        interval = self.interval if self.forgetting < 1 else np.inf
        n = min(self.n_kept, interval)
        end = self.n_kept + (n // 8 if n <= EARLY else min(n // 4, MOST_LAG))
        self.pending = end, metric, (place, width, G), self.landmarks(kept, metric, draws), kept

    def finish_renewal(self):
        """Go on with the new metric, and, if it has changed, with the model learnt anew in it."""
        _, metric, (place, width, G), inner, kept = self.pending
        later = [sample for sample in self.kept if sample[0] > kept[-1][0]]
        began = self.n_kept - len(later)
        self.place, self.width, self.before, self.pending = place, width, G, None
        forgets = self.forgetting == 1 and began > KEPT
        least = LEAST_CHANGE_FORGETTING if forgets else LEAST_CHANGE
        if np.linalg.norm(self.metric - metric) > least * np.linalg.norm(metric):
            self.metric = metric
            self.n_renewals += 1
            last = min(len(later) // 4, BLOCK)
            self.learn_anew(Moved(inner, root_of(metric)), [*kept, *later[: len(later) - last]])
            entered = list(self.entered)
            for i, x, y, weight in later[len(later) - last :]:
                super().learn(i, x, y, weight)
            self.entered = entered

    def metric_to_be(self, G, place, width):
        """Return the metric of a form and a width."""
        full, factor = FORMS[place]
        return width * metric_of(G if full else np.diag(np.diag(G)), factor * self.exponent)

    def choose(self, kept, draws):
        """Choose the form, then the width."""
        half, form, width = min(len(kept) // 2, HALF), self.place, self.width
        landmarks = sorted(draws.permutation(half)[:TRIED])
        last = kept[-2 * half :]

        def error(place, width):
            return self.error(last, landmarks, self.metric_to_be(self.before, place, width))

        errors = [error(place, width) for place in range(len(FORMS))]
        best = int(np.argmin(errors))
        if errors[best] < (1 - LEAST_GAIN) * errors[form]:
            form = best
        widths = [width, *(width * step for step in STEPS)]
        errors = [error(form, tried) for tried in widths]
        best = int(np.argmin(errors))
        return form, widths[best] if errors[best] < (1 - LEAST_GAIN) * errors[0] else width

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
        # The small model has no constant.
        constant = [self.n_features] if self.linear else []
        phi = np.array([np.delete(self.phi(x), constant) for _, x, _, _ in last])
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

    def landmarks(self, kept, metric, draws):
        """Return the features of landmarks among samples, in a metric."""
        inner = self.map.inner
        if not isinstance(inner, Landmarks):
            return inner
        inner = Landmarks(inner.kernel, inner.n_components, inner.selection, inner.floor,
                          inner.rounding)  # fmt: skip
        places = np.arange(len(kept))
        if inner.selection == "first":
            places = np.sort(draws.permutation(len(kept))[: inner.n_components])
        root = root_of(metric)
        for place in places:
            i, x, _, weight = kept[place]
            inner.consider(i, root @ x, weight > 0)
        return inner

    def learn_anew(self, map, samples):
        """Learn those of the samples that had entered, with other features."""
        self.map = map
        entered = [(self.phi(x), weight, y) for _, x, y, weight in samples if weight > 0]
        self.A = self.reg * np.eye(len(self.phi(samples[0][1])))
        self.b = np.zeros((len(self.A), self.n_outputs))
        for age, (phi, weight, y) in enumerate(reversed(entered)):
            self.A += self.forgetting**age * weight * np.outer(phi, phi)
            self.b += self.forgetting**age * weight * np.outer(phi, y)
        self.features = [phi for phi, _, _ in entered]
        self.terms = [(weight, y) for _, weight, y in entered]
        self.since, self.at_once, self.later = 0, len(entered), None
        if self.due < np.inf:
            self.due = FIRST_CHOICE
            self.choose_reg()
