"""AROW and SCW on features of a kernel that may grow, sample by sample.

The features are phi(x) = [x / sqrt(d), 1, features of the kernel], the first two only if `linear`;
see `kernel_rls`. Steps and covariances are those of `second_order`. A sample is considered as a
landmark before its variance is taken: its own coordinate has weight 0 and variance 1.
"""

from dataclasses import dataclass, field

import numpy as np

from .kernel_rls import Fourier, Landmarks
from .kernels import kernel_matrix, resolve_gamma
from .losses import LOSSES
from .rules import AROW
from .second_order import COVARIANCES, RULES
from .stream import head_of_labels, tested


@dataclass
class Run:
    """The learner, and the result of a run; K outputs, D features in use.

    Attributes
    ----------
    mu, past : ndarray of shape (K, D)
        The last weights, and the sum of all before them.
    sigma : object
        Of `COVARIANCES`.
    entered : list of int
        The samples that moved an output.
    """

    map: object
    linear: bool
    average: bool
    mu: np.ndarray = None
    past: np.ndarray = None
    sigma: object = None
    predictions: np.ndarray = None
    entered: list = field(default_factory=list)
    mistakes: int = 0
    cumulative_loss: float = 0.0
    n_seen: int = 0

    @property
    def weights(self):
        """Weights of the model that predicts."""
        return (self.past + self.mu) / (self.n_seen + 1) if self.average else self.mu

    def phi(self, x):
        """Return the features of a sample."""
        beside = [*(x / np.sqrt(len(x))), 1.0] if self.linear else []
        return np.array([*beside, *self.map.features(x)])

    def decision_function(self, Z):
        """Return the scores of new samples, (m, K)."""
        return np.array([self.weights @ self.phi(z) for z in np.asarray(Z, float)])

    def grow(self):
        """Add a coordinate of weight 0."""
        self.mu, self.past = (np.pad(w, [(0, 0), (0, 1)]) for w in (self.mu, self.past))
        self.sigma.grow()

    def solve(self, problems, importances, rule, weight, lengths):
        """Count the loss; return the steps and contractions of the outputs."""
        steps, contractions = np.zeros(len(self.mu)), np.zeros(len(self.mu))
        for problem, importance in zip(problems, importances, strict=True):
            self.cumulative_loss += weight * rule.loss.value(problem.y, problem.f)
            if importance == 0:
                continue
            q = np.dot(problem.direction**2, lengths)
            arguments = (problem.f, problem.y, q, self.n_seen + 1, weight * importance)
            steps += rule.coefficient(*arguments) * problem.direction
            contractions += rule.contraction(*arguments) * np.abs(problem.direction)
        return steps, contractions

    def learn(self, i, x, problems, importances, rule, weight):
        """Learn sample i from its scalar problems, with the importances that the gate gave them."""
        enters = any(
            importance > 0 and rule.loss.value(problem.y, problem.f) > 0
            for problem, importance in zip(problems, importances, strict=True)
        )
        if self.map.consider(i, x, enters):
            self.grow()
        phi, K = self.phi(x), len(self.mu)
        lengths = np.array([phi @ self.sigma.of(k) @ phi for k in range(K)])
        steps, contractions = self.solve(problems, importances, rule, weight, lengths)
        self.past = self.past + self.mu
        self.mu = self.mu.copy()
        for k in np.flatnonzero(steps):
            self.mu[k] += steps[k] * self.sigma.of(k) @ phi
        self.sigma.contract(np.where(steps == 0, 0, contractions), phi)
        self.n_seen += 1
        if np.any(steps != 0):
            self.entered.append(i)


def importances_of(problems, rule, alpha, beta, weighted, uniform, weight):
    """Return what a gate that samples by loss says of each problem; they share one number."""
    found = []
    for problem in problems:
        loss = rule.loss.value(problem.y, problem.f)
        # Without 1 / probability, the weight acts on the step alone.
        probability = min(alpha, weight * loss if weighted else loss) / beta
        passes = uniform < probability
        found.append((1 / probability if weighted else 1.0) if passes else 0.0)
    return found


def learn(rule, X, y, *, frequencies=None, features="nystroem", n_components=400,
          selection="first", novelty=0.05, linear=True, covariance="full", sketch_size=50,
          gate="margin", alpha=1.0, beta=1.0, weighted=False, uniforms=None, average=False,
          kernel="gaussian", gamma="scale", degree=3, coef0=0.0, multi_class="ovr", classes=None,
          sample_weight=None, dtype=np.float64, kind=Run):  # fmt: skip
    """Run over a stream of labels of any kind; see `kernel_rls` for the parameters."""
    X = np.asarray(X, dtype=np.float64)
    feature_map = Fourier(frequencies)
    if features == "nystroem":
        width = resolve_gamma(gamma, X)
        feature_map = Landmarks(
            lambda Z, rows: kernel_matrix(kernel, Z, rows, width, degree, coef0),
            n_components, selection, novelty, float(np.sqrt(np.finfo(dtype).eps)),
        )  # fmt: skip
    head, indices, classes = head_of_labels(y, classes, multi_class)
    run = kind(feature_map, linear, average)
    length = len(run.phi(X[0]))
    sizes = [sketch_size] if covariance == "sketched" else []
    run.sigma = COVARIANCES[covariance](head.n_outputs, length, *sizes)
    run.mu = run.past = np.zeros((head.n_outputs, length))

    def predict(i):
        return head.predict(run.weights @ run.phi(X[i]))

    for i, weight in tested(run, indices, sample_weight, predict):
        scores, label = run.mu @ run.phi(X[i]), indices[i]
        problems = head.problems(scores, label)
        importances = [1.0] * len(problems)
        if gate == "loss_proportional":
            judged = head.judged(scores, label)
            importances = importances_of(
                judged, rule, alpha, beta, weighted, next(uniforms), weight
            )
        run.learn(i, X[i], problems, importances, rule, weight)
    run.predictions = classes[run.predictions.astype(np.intp)]
    return run


def kernel_arow(X, y, *, r=1.0, **parameters):
    """AROW."""
    return learn(AROW(LOSSES["hinge"](), r=r), X, y, **parameters)


def kernel_scw(X, y, *, C=1.0, variant="scw1", confidence=0.75, **parameters):
    """SCW-I and SCW-II."""
    rule = RULES[variant](LOSSES["hinge"](), C=C, confidence=confidence)
    return learn(rule, X, y, **parameters)
