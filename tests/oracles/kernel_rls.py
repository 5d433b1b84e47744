"""Kernel least squares, sample by sample: features that grow, one covariance, gates by margin.

The features of a sample are phi(x) = [x / sqrt(d), 1, features of the kernel], the first two only
if `linear`. With A = reg I and b = 0 at first, a sample that enters with importance w makes

    A <- forgetting A + w phi phi',    b <- forgetting b + w phi y',

and the weights are A^-1 b, solved for anew each time. After each `block` samples that entered,
(1 - forgetting^block) reg I is added to A, which takes it back to reg I if nothing is excited
(S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria, "Kernel recursive least-squares tracker for
time-varying regression", IEEE Trans. Neural Networks and Learning Systems 23(8), 2012).

Nystroem features are whitened by the Cholesky factor of the landmarks' kernel matrix, K_mm = L L',
z(x) = L^-1 k_m(x), and they are nested: a further landmark adds a coordinate and changes no other.
A gains a row and a column of 0 with reg on the diagonal, b a 0 (L. Csato, M. Opper, "Sparse on-line
Gaussian processes", Neural Computation 14, 2002).

With reg "auto" it begins with 0.1. Once 64, 128, 256, ... samples have entered, it is the one of
CHOICES that would have predicted them best: n log(sum of a e^2 / (1 + a v)) + sum of log(1 + a v)
is least, e being the error and v the variance of each sample's prediction by those before it, and
a its weight. Both are computed sample by sample. Of classes it is BELOW choices below that one.
Behind AT_ONCE samples, those of the last block do not count in this, and what was learnt has the
new reg after three quarters of the next block; features that come before have it from the first on.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .dual_sgd import random_features
from .heads import HEADS
from .kernels import kernel_matrix, resolve_gamma
from .losses import LOSSES
from .stream import head_of_labels, head_of_targets, tested

CHOICES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FIRST, BELOW, AT_ONCE = 64, 2, 256


class Fourier:
    """Cosines and sines of given frequencies."""

    def __init__(self, frequencies):
        self.frequencies = np.asarray(frequencies, dtype=np.float64)

    def features(self, x):
        """Return the features of a sample."""
        return random_features(x[None], self.frequencies)[0]

    def consider(self, i, x, entered):
        """Return whether the sample adds a coordinate: never."""
        return False


class Landmarks:
    """Whitened Nystroem features whose landmarks are samples of the stream.

    Parameters
    ----------
    kernel : callable
        Two arrays of rows -> the matrix of their kernel values.
    n_components : int
    selection : {"first", "margin", "ald"}
    novelty, rounding : float
        Smallest share of kappa(x, x) that the landmarks so far must not explain; `rounding` is that
        of "first".

    Attributes
    ----------
    places : list of int
        The samples that are landmarks.
    rows : list of ndarray
        Their features.
    inverse : ndarray
        L^-1.
    """

    def __init__(self, kernel, n_components, selection, novelty, rounding):
        self.kernel, self.n_components, self.selection = kernel, n_components, selection
        self.floor = rounding if selection == "first" else novelty
        self.rounding, self.steepest = rounding, 0.001 / rounding**2
        self.places, self.rows, self.inverse = [], [], np.zeros((0, 0))

    def features(self, x):
        """Return z(x) = L^-1 k_m(x)."""
        if not self.rows:
            return np.zeros(0)
        return self.inverse @ self.kernel(x[None], np.array(self.rows))[0]

    def consider(self, i, x, entered):
        """Make sample i a landmark if its rule wants it; return whether it did."""
        if len(self.rows) >= self.n_components or (self.selection == "margin" and not entered):
            return False
        c, own = self.features(x), self.kernel(x[None], x[None])[0, 0]
        left = own - c @ c
        if not left > self.floor * own:
            return False
        delta, m = np.sqrt(left), len(self.rows)
        inverse = np.zeros((m + 1, m + 1))
        inverse[:m, :m] = self.inverse
        inverse[m, :m], inverse[m, m] = -(c @ self.inverse) / delta, 1 / delta
        if np.linalg.norm(inverse[m]) * np.sqrt(own) > self.steepest:
            return False
        self.inverse = inverse
        self.places.append(i)
        self.rows.append(x)
        return True


@dataclass
class Gate:
    """Which samples enter, and with which importance.

    Attributes
    ----------
    name : {"always", "margin", "loss_proportional"}
    margin : float
        Of "margin": samples with a smaller margin enter.
    alpha, beta, weighted
        Of "loss_proportional": a sample enters with probability min(alpha, loss) / beta, loss =
        max(0, 1 - margin), and with importance 1, or 1 / probability if `weighted`.
    uniforms : iterator of float in [0, 1)
        One number a sample, also where the probability is 0.
    """

    name: str = "always"
    margin: float = 1.0
    alpha: float = 1.0
    beta: float = 1.0
    weighted: bool = False
    uniforms: object = None
    n_uniforms: int = 0

    def importance(self, margin, weight):
        """Return the importance of a sample of this margin, 0 if it does not enter."""
        if self.name == "always":
            return 1.0
        if self.name == "margin":
            return 1.0 if margin < self.margin else 0.0
        # Without 1 / probability, the weight acts on the step alone.
        seen = weight if self.weighted else 1.0
        probability = min(self.alpha, seen * max(0.0, 1.0 - margin)) / self.beta
        self.n_uniforms += 1
        if not next(self.uniforms) < probability:
            return 0.0
        return 1.0 / probability if self.weighted else 1.0


@dataclass
class Run:
    """The learner, and the result of a run; n samples, K outputs, D features.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Class or number, before the sample was learnt.
    scores : ndarray of shape (n, K)
    variances, leverages : ndarray of shape (n,)
        v = phi' A^-1 phi before the sample was learnt, in units of the noise; v / (1 + v), its
        share in its own fit if it enters with importance 1.
    A, b : ndarray of shape (D, D), (D, K)
    entered : list of int
    features : list of ndarray
        phi of each sample that entered, as it entered.
    at_once : int
        How many of these the model has learnt together, outside of any block.
    mistakes, cumulative_loss, n_seen
        Samples of weight 0 are not counted, and mistakes not in regression.
    """

    map: object
    gate: Gate
    n_outputs: int
    n_features: int
    linear: bool
    reg: float | str
    forgetting: float
    block: int
    closing: int = 64
    predictions: np.ndarray = None
    scores: np.ndarray = None
    variances: np.ndarray = None
    entered: list = field(default_factory=list)
    features: list = field(default_factory=list)
    mistakes: int | None = 0
    cumulative_loss: float = 0.0
    n_seen: int = 0
    since: int = 0
    due: float = np.inf
    later: np.ndarray | None = None
    at_once: int = 0
    below: int = 0
    terms: list = field(default_factory=list)

    def __post_init__(self):
        if self.reg == "auto":
            self.reg, self.due = 0.1, FIRST
        length = len(self.phi(np.zeros(self.n_features)))
        self.A = self.reg * np.eye(length)
        self.b = np.zeros((length, self.n_outputs))

    @property
    def weights(self):
        """A^-1 b, of shape (K, D)."""
        return np.linalg.solve(self.A, self.b).T

    @property
    def leverages(self):
        return self.variances / (1 + self.variances)

    def phi(self, x):
        """Return the features of a sample."""
        beside = [*(x / np.sqrt(len(x))), 1.0] if self.linear else []
        return np.array([*beside, *self.map.features(x)])

    def decision_function(self, Z):
        """Return the scores of new samples, (m, K)."""
        weights = self.weights
        return np.array([weights @ self.phi(z) for z in np.asarray(Z, float)])

    def answer(self, x):
        """Return the scores of a sample, (K,), and phi' A^-1 phi."""
        phi = self.phi(x)
        told = phi @ np.linalg.solve(self.A, np.column_stack([self.b, phi]))
        return told[:-1], told[-1]

    def learn(self, i, x, targets, importance):
        """Learn sample i; it enters if the importance is above 0."""
        if self.map.consider(i, x, importance > 0):
            length = len(self.A)
            bordered = self.reg * np.eye(length + 1)
            bordered[:length, :length] = self.A
            self.A = bordered
            self.b = np.vstack([self.b, np.zeros(self.n_outputs)])
            self.later = None if self.later is None else np.append(self.later, 0.0)
        if importance == 0:
            return
        phi = self.phi(x)
        self.A = self.forgetting * self.A + importance * np.outer(phi, phi)
        self.b = self.forgetting * self.b + importance * np.outer(phi, targets)
        self.entered.append(i)
        self.features.append(phi)
        self.terms.append((importance, targets))
        self.since += 1
        if self.since == self.block:
            self.give_back()
        own = len(self.features) - self.at_once
        if self.later is not None and own % self.closing == 3 * self.closing // 4:
            self.A += np.diag(self.later)
            self.later = None
        if len(self.features) >= self.due and own % self.closing == 0:
            self.give_back()
            self.choose_reg(beside=self.forgetting == 1)

    def give_back(self):
        """Add to A what has been forgotten of the prior."""
        self.A += (1 - self.forgetting**self.since) * self.reg * np.eye(len(self.A))
        self.since = 0

    def choose_reg(self, beside=False):
        """Take the reg of the best predictions so far; `beside` the next samples, if it can be."""
        beside = beside and self.due > AT_ONCE
        while self.due <= len(self.features):
            self.due *= 2
        n = len(self.features) - (self.closing if beside else 0)
        place = int(np.argmin(self.surprises(CHOICES, n)))
        best = CHOICES[max(place - self.below, 0)]
        more = (best - self.reg) * np.ones(len(self.A))
        self.reg = best
        if beside:
            self.later = more
        else:
            self.A += np.diag(more)

    def surprises(self, regs, n):
        """Return how badly least squares with each reg predict the first n samples that entered."""
        length = len(self.A)
        A = np.multiply.outer(regs, np.eye(length))
        b, totals = np.zeros((len(regs), length, self.n_outputs)), 0.0
        logarithms, ages = 0.0, self.forgetting ** np.arange(n - 1.0, -1, -1)
        entered = zip(self.features[:n], self.terms[:n], ages, strict=True)
        for phi, (weight, targets), age in entered:
            row, a = np.zeros((length, 1)), weight * age
            row[: len(phi), 0] = phi
            columns = np.concatenate([b, np.broadcast_to(row, (len(regs), length, 1))], axis=2)
            told = row[:, 0] @ np.linalg.solve(A, columns)
            e, v = targets - told[:, :-1], told[:, -1:]
            totals = totals + a * e**2 / (1 + a * v)
            logarithms = logarithms + np.log(1 + a * v)
            A += a * row * row.T
            b += a * row * targets
        return (ages.sum() * np.log(totals) + logarithms).sum(axis=1)


def targets_of(head, label, n_outputs):
    """Return what the outputs should be: -1 and 1 one-versus-rest, or the number itself."""
    return np.array([problem.y for problem in head.problems(np.zeros(n_outputs), label)])


def margin_of(scores, label):
    """Return y f of two classes, and f of the sample's class less the largest other one of more."""
    if len(scores) == 1:
        return scores[0] if label == 1 else -scores[0]
    return scores[label] - np.delete(scores, label).max()


def learn(run, X, y, head, sample_weight):
    """Run over a stream; y are class indices, or numbers, or rows of them, as `head` says."""
    classification = not isinstance(head, HEADS["regression"])
    run.scores, run.variances = np.zeros((len(X), run.n_outputs)), np.zeros(len(X))

    def predict(i):
        run.scores[i], run.variances[i] = run.answer(X[i])
        return head.predict(run.scores[i])

    for i, weight in tested(run, y, sample_weight, predict):
        run.n_seen += 1
        if classification:
            margin = margin_of(run.scores[i], y[i])
            loss = LOSSES["hinge"]().value(1, margin)
            importance = run.gate.importance(margin, weight)
        else:
            losses = map(LOSSES["squared"]().value, np.atleast_1d(y[i]), run.scores[i])
            loss, importance = sum(losses), 1.0
        run.cumulative_loss += weight * loss
        run.learn(i, X[i], targets_of(head, y[i], run.n_outputs), weight * importance)


def in_metric(metric, exponent, seed, first_taught):
    """Return what makes the learner in a metric, which is a `Run` too."""
    from .metric import InMetric

    parameters = {"form": metric, "exponent": exponent, "seed": seed}
    return partial(InMetric, **parameters, first_taught=first_taught)


def kernel_rls(X, y, frequencies=None, *, features="nystroem", n_components=400, selection="first",
               novelty=0.05, linear=True, reg=0.1, forgetting=1.0, block=1, closing=64, gate=None,
               margin=1.0, alpha=1.0, beta=1.0, weighted=False, uniforms=None, kernel="gaussian",
               gamma="scale", degree=3, coef0=0.0, classes=None, task="classification",
               sample_weight=None, dtype=np.float64, metric="none", metric_exponent=0.5,
               seed=0, first_taught=0, landmarks=()):  # fmt: skip
    """Run over a stream of labels of any kind, or, for regression, of numbers or rows of them.

    Parameters
    ----------
    frequencies : ndarray of shape (n_components // 2, d)
        Of features "fourier".
    block : int
        Samples that enter between two steps back to the prior.
    closing : int
        With reg "auto", it is chosen after multiples of so many samples.
    gate : {None, "always", "margin", "loss_proportional"}
        None is "margin" for classification, and "always", the only one, for regression.
    uniforms : iterator of float in [0, 1)
        Randomness of "loss_proportional".
    dtype : type
        Of the samples that the library learns; only its rounding matters here.
    metric : {"none", "diagonal", "full"}
        See `oracles.metric`.
    seed : int
        Of the landmarks that are drawn in a new metric.
    first_taught : int
        The metric is learnt from the outputs from this one on.
    landmarks : sequence of ndarray
        Landmarks that are known before the first sample, as in a second pass.

    Returns
    -------
    Run
    """
    X = np.asarray(X, dtype=np.float64)
    if features == "fourier":
        feature_map = Fourier(frequencies)
    else:
        width = resolve_gamma(gamma, X)
        rounding = float(np.sqrt(np.finfo(dtype).eps))
        feature_map = Landmarks(
            lambda Z, rows: kernel_matrix(kernel, Z, rows, width, degree, coef0),
            n_components, selection, novelty, rounding,
        )  # fmt: skip
        for x in landmarks:
            feature_map.consider(-1, x, True)
    classification = task == "classification"
    name = gate or ("margin" if classification else "always")
    gates = Gate(name, margin, alpha, beta, weighted, uniforms)
    if classification:
        head, labels, classes = head_of_labels(y, classes)
    else:
        labels = np.asarray(y, dtype=np.float64)
        head = head_of_targets(labels)
    kind = Run if metric == "none" else in_metric(metric, metric_exponent, seed, first_taught)
    run = kind(feature_map, gates, head.n_outputs, X.shape[1], linear, reg, forgetting,
               block, closing, below=BELOW if classification else 0)  # fmt: skip
    learn(run, X, labels, head, sample_weight)
    if classification:
        run.predictions = classes[run.predictions.astype(np.intp)]
    else:
        run.mistakes = None
    return run
