"""CW, SCW and AROW: a Gaussian over the weights, sample by sample.

.. [9] K. Crammer, M. Dredze, F. Pereira, "Exact convex confidence-weighted learning", NIPS 2008.
.. [11] M. Dredze, K. Crammer, F. Pereira, "Confidence-weighted linear classification", ICML 2008.
.. [10] J. Wang, P. Zhao, S. Hoi, "Exact soft confidence-weighted learning", ICML 2012.
.. [8] K. Crammer, A. Kulesza, M. Dredze, "Adaptive regularization of weight vectors", NIPS 2009.

Each output k has mean mu_k and covariance Sigma_k, at first 0 and the identity. A step of the
scalar problem with direction e (see `heads`) is mu_k += e_k alpha y Sigma_k x and
Sigma_k -= |e_k| beta Sigma_k x x' Sigma_k, alpha and beta from m = y f and
v = sum_k e_k^2 x' Sigma_k x. For the margin head that is the lifted sample of Crammer and Singer
with the blocks of the covariance between two classes left at 0. What is kept of the new matrices
are the classes of `COVARIANCES`.
"""

import math
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from statistics import NormalDist

import numpy as np

from .heads import HEADS
from .losses import LOSSES
from .rules import AROW, Rule
from .sdrogd import Sketch
from .stream import head_of_labels, step_and_contraction, tested


class ConfidenceWeighted(Rule):
    """CW, lemma 1 of [9]_: m = y f, v = q, phi the quantile of the confidence.

    alpha = max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta)), psi = 1 + phi^2 / 2,
    zeta = 1 + phi^2, and beta = alpha phi / (sqrt(u) + v alpha phi) with
    sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2. As printed the differences cancel
    near m = phi sqrt(v), so they are taken in fifty digits.
    """

    def __init__(self, loss, *, confidence=0.75, **parameters):
        super().__init__(loss, **parameters)
        self.phi = Decimal(NormalDist().inv_cdf(confidence))

    def quantile(self, importance):
        """Return phi; a weight w demands the margin sqrt(w) phi."""
        return self.phi * Decimal(importance).sqrt()

    def alpha(self, m, v, importance):
        phi = self.quantile(importance)
        psi, zeta = 1 + phi**2 / 2, 1 + phi**2
        return (-m * psi + (m**2 * phi**4 / 4 + v * phi**2 * zeta).sqrt()) / (v * zeta)

    def alpha_and_beta(self, f, y, q, importance):
        """Return both in double, 0 where v <= 0."""
        if q <= 0.0:
            return 0.0, 0.0
        with localcontext() as context:
            context.prec = 50
            v, phi = Decimal(float(q)), self.quantile(importance)
            alpha = max(Decimal(0), self.alpha(Decimal(float(y * f)), v, Decimal(importance)))
            root_u = (-alpha * v * phi + (alpha**2 * v**2 * phi**2 + 4 * v).sqrt()) / 2
            return float(alpha), float(alpha * phi / (root_u + v * alpha * phi))

    def coefficient(self, f, y, q, t, importance=1.0):
        return y * self.alpha_and_beta(f, y, q, importance)[0]

    def contraction(self, f, y, q, t, importance=1.0):
        return self.alpha_and_beta(f, y, q, importance)[1]


class VarianceConfidenceWeighted(ConfidenceWeighted):
    """CW of [11]_, whose constraint is m >= phi v; a weight w demands w phi.

    alpha = max(0, (-(1 + 2 phi m) + sqrt((1 + 2 phi m)^2 - 8 phi (m - phi v))) / (4 phi v)), and
    the inverse of Sigma grows by 2 alpha phi x x'.
    """

    def quantile(self, importance):
        return self.phi * Decimal(importance)

    def alpha_and_beta(self, f, y, q, importance):
        """Return both in double, 0 where v <= 0."""
        if q <= 0.0:
            return 0.0, 0.0
        with localcontext() as context:
            context.prec = 50
            m, v, phi = Decimal(float(y * f)), Decimal(float(q)), self.quantile(importance)
            middle = 1 + 2 * phi * m
            root = (middle**2 - 8 * phi * (m - phi * v)).sqrt() if m < phi * v else middle
            alpha = max(Decimal(0), (root - middle) / (4 * phi * v))
            growth = 2 * alpha * phi
            return float(alpha), float(growth / (1 + growth * v))


class SoftConfidenceWeightedI(ConfidenceWeighted):
    """SCW-I, proposition 1 of [10]_: min(C, alpha of CW); the importance multiplies C."""

    def quantile(self, importance):
        return self.phi

    def alpha(self, m, v, importance):
        return min(Decimal(self.C) * importance, super().alpha(m, v, importance))


class SoftConfidenceWeightedII(ConfidenceWeighted):
    """SCW-II, proposition 2 of [10]_: n = v + 1 / (2 C),
    gamma = phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2)),
    alpha = max(0, (-(2 m n + phi^2 m v) + gamma) / (2 (n^2 + n v phi^2))).
    """

    def quantile(self, importance):
        return self.phi

    def alpha(self, m, v, importance):
        phi = self.phi
        n = v + 1 / (2 * Decimal(self.C) * importance)
        gamma = phi * (phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2)).sqrt()
        return (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2))


RULES = {
    "cw": ConfidenceWeighted,
    "cw_variance": VarianceConfidenceWeighted,
    "scw1": SoftConfidenceWeightedI,
    "scw2": SoftConfidenceWeightedII,
}


class Full:
    """One matrix for each output, contracted whenever its output moves."""

    def __init__(self, n_outputs, d):
        self.matrices = np.tile(np.eye(d), (n_outputs, 1, 1))

    def of(self, k):
        """Return the covariance of output k."""
        return self.matrices[k]

    def contract(self, contractions, x):
        """Take beta Sigma x x' Sigma from the matrices of the outputs with a contraction."""
        for k in np.flatnonzero(contractions):
            along = self.matrices[k] @ x
            self.matrices[k] -= contractions[k] * np.outer(along, along)

    def grow(self):
        """Add a feature that was 0 so far."""
        self.matrices = np.pad(self.matrices, [(0, 0), (0, 1), (0, 1)])
        self.matrices[:, -1, -1] = 1

    def to_array(self):
        """Return what an estimator shows."""
        return self.matrices


class Diagonal(Full):
    """Only the diagonal of a contracted matrix is kept."""

    def contract(self, contractions, x):
        super().contract(contractions, x)
        self.matrices *= np.eye(len(x))

    def to_array(self):
        return np.array([np.diag(matrix) for matrix in self.matrices])


class Shared(Full):
    """One matrix for all outputs, contracted once per sample: by the largest of their betas."""

    def __init__(self, n_outputs, d):
        super().__init__(1, d)

    def of(self, k):
        return self.matrices[0]

    def contract(self, contractions, x):
        super().contract(np.array([np.max(contractions)]), x)


class Sketched(Shared):
    """The inverse of one matrix for all outputs, D + C'C: C by frequent directions.

    beta adds beta / (1 - beta q) x x' to the inverse; D is I and the diagonal of what the sketch
    dropped.
    """

    def __init__(self, n_outputs, d, size):
        super().__init__(n_outputs, d)
        self.sketch = Sketch(size, 10**9)
        self.sketch.rows = np.zeros((0, d))
        self.total = np.zeros(d)

    def contract(self, contractions, x):
        beta = np.max(contractions)
        row = np.sqrt(beta / (1 - beta * (x @ self.matrices[0] @ x))) * x
        self.sketch.insert(row)
        self.total = self.total + row**2
        low_rank = self.sketch.rows.T @ self.sketch.rows
        diagonal = 1 + self.total - np.diag(low_rank)
        self.matrices = np.linalg.inv(np.diag(diagonal) + low_rank)[None]

    def grow(self):
        super().grow()
        self.sketch.rows = np.pad(self.sketch.rows, [(0, 0), (0, 1)])
        self.total = np.append(self.total, 0)


COVARIANCES = {"diagonal": Diagonal, "full": Full, "shared": Shared, "sketched": Sketched}


@dataclass
class Result:
    """Result of a run; K outputs, D features with the constant.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        By the model that predicts, before the sample was learnt.
    weights : ndarray of shape (K, D)
        Of the model that predicts.
    covariance : ndarray of shape (K, D, D), (K, D) if diagonal, (1, D, D) if shared
    updated : list of int
        The samples that changed the model.
    """

    predictions: np.ndarray = None
    weights: np.ndarray = None
    covariance: np.ndarray = None
    updated: list = field(default_factory=list)
    cumulative_loss: float = 0.0
    mistakes: int = 0
    n_seen: int = 0


def learn(rule, X, y, head, *, covariance="diagonal", fit_intercept=False, average=False,
          sample_weight=None):  # fmt: skip
    """Run one rule over a stream of dense samples; y are class indices, or numbers."""
    X = np.asarray(X, dtype=np.float64)
    X = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    mu, past = np.zeros((2, head.n_outputs, X.shape[1]))
    sigma = COVARIANCES[covariance](head.n_outputs, X.shape[1])
    result = Result()

    def predicting():
        return (past + mu) / (result.n_seen + 1) if average else mu

    for i, weight in tested(result, y, sample_weight, lambda i: head.predict(predicting() @ X[i])):
        x, t = X[i], result.n_seen + 1
        lengths = np.array([x @ sigma.of(k) @ x for k in range(head.n_outputs)])
        problems = head.problems(mu @ x, y[i])
        steps, contractions = step_and_contraction(result, rule, problems, lengths, t, weight)
        past = past + mu
        mu = mu.copy()
        for k in np.flatnonzero(steps):
            mu[k] += steps[k] * sigma.of(k) @ x
        sigma.contract(np.where(steps == 0, 0, contractions), x)
        result.n_seen += 1
        if np.any(steps != 0.0):
            result.updated.append(i)
    result.weights = predicting()
    result.covariance = sigma.to_array()
    return result


def classify(rule, X, y, *, classes=None, multi_class="ovr", **arguments):
    """Call `learn` on labels of any kind; two classes always make a binary problem."""
    head, indices, classes = head_of_labels(y, classes, multi_class)
    result = learn(rule, X, indices, head, **arguments)
    result.predictions = classes[result.predictions.astype(np.intp)]
    return result


def cw(X, y, *, confidence=0.75, constraint="deviation", covariance="diagonal",
       fit_intercept=True, average=False, **common):  # fmt: skip
    """CW [9]_, or [11]_ with the variance."""
    rule = RULES["cw" if constraint == "deviation" else "cw_variance"]
    rule = rule(LOSSES["hinge"](), confidence=confidence)
    parts = {"covariance": covariance, "fit_intercept": fit_intercept, "average": average}
    return classify(rule, X, y, **parts, **common)


def scw(X, y, *, C=1.0, variant="scw1", confidence=0.75, covariance="diagonal",
        fit_intercept=True, average=False, **common):  # fmt: skip
    """SCW-I and SCW-II [10]_."""
    rule = RULES[variant](LOSSES["hinge"](), C=C, confidence=confidence)
    parts = {"covariance": covariance, "fit_intercept": fit_intercept, "average": average}
    return classify(rule, X, y, **parts, **common)


def arow(X, y, *, r=1.0, epsilon=0.0, covariance="diagonal", fit_intercept=True, average=False,
         task="classification", **common):  # fmt: skip
    """AROW [8]_; in regression with the epsilon-insensitive loss in place of the hinge."""
    parts = {"covariance": covariance, "fit_intercept": fit_intercept, "average": average}
    if task == "classification":
        return classify(AROW(LOSSES["hinge"](), r=r), X, y, **parts, **common)
    rule = RegressionAROW(LOSSES["epsilon_insensitive"](epsilon=epsilon), r=r)
    return learn(rule, X, np.asarray(y, float), HEADS["regression"](), **parts, **common)


class RegressionAROW(AROW):
    """The loss l of y - f in place of the hinge: coefficient sign(y - f) l beta.

    With epsilon = 0 that is recursive least squares: ridge regression of penalty r.
    """

    def coefficient(self, f, y, q, t, importance=1.0):
        loss = self.loss.value(y, f)
        return math.copysign(loss, y - f) * self.contraction(f, y, q, t, importance)
