"""SDROGD and frequent directions, with explicit d x d matrices and singular value decompositions.

H. Xue, Z. Ren, "Sketch discriminatively regularized online gradient descent classification",
Applied Intelligence 50, 2020 (equation numbers are its own); E. Liberty, "Simple and deterministic
matrix sketching", KDD 2013. Labels are class indices; two classes have one output, y = +1 for 1.
"""

from dataclasses import dataclass, field

import numpy as np


class Sketch:
    """Frequent directions: rows C, at most 2 l - 1 of them, none of them zero."""

    def __init__(self, size, n_features):
        self.size = min(size, n_features)
        self.rows = np.zeros((0, n_features))
        self.shrinkage = 0.0

    def insert(self, x):
        """Fill a zero row; when none is left, lower the squared singular values by the (l+1)-th."""
        if not np.any(x):
            return
        self.rows = np.vstack([self.rows, x])
        if len(self.rows) < 2 * self.size:
            return
        _, values, directions = np.linalg.svd(self.rows, full_matrices=False)
        squares = np.append(values**2, 0.0)
        delta = squares[self.size] if len(values) > self.size else 0.0
        left = np.sqrt(np.maximum(squares[:-1] - delta, 0.0))
        keep = left[: self.size] > 1e-12 * values[0]
        self.rows = (left[:, np.newaxis] * directions)[: self.size][keep]
        self.shrinkage += delta


class Statistics:
    """Class weights and means, and the sketch: of x itself, or of centred rows."""

    def __init__(self, size, n_features, n_classes, centred):
        self.sketch = Sketch(size, n_features)
        self.centred = centred
        self.weights = np.zeros(n_classes)
        self.means = np.zeros((n_classes, n_features))
        self.squares = 0.0
        # The power method starts from the signs of splitmix64.
        self.top = np.array([_sign(j) for j in range(n_features)]) / np.sqrt(n_features)

    def add(self, x, label, weight):
        """Add a sample; a weight w counts as w samples."""
        before = self.weights[label]
        after = before + weight
        difference = x - self.means[label]
        if self.centred:
            self.sketch.insert(np.sqrt(weight * before / after) * difference)
        else:
            self.sketch.insert(np.sqrt(weight) * x)
        self.means[label] += weight / after * difference
        self.weights[label] = after
        self.squares += weight * x @ x

    def scatter(self):
        """Return S_w, S_b, both d x d, (10)-(11), and the shares N_c / N with u_c - u."""
        total = self.weights.sum()
        shares = self.weights / total
        overall = shares @ self.means
        apart = np.where(self.weights[:, np.newaxis] > 0, self.means - overall, 0.0)
        between = sum(p * np.outer(v, v) for p, v in zip(shares, apart, strict=True))
        within = self.sketch.rows.T @ self.sketch.rows / total
        if not self.centred:
            within = within - np.outer(overall, overall) - between
        return within, between, shares, apart

    def largest_eigenvalue(self):
        """Return the result of eight more steps of the power method on C'C / N."""
        value, matrix = 0.0, self.sketch.rows.T @ self.sketch.rows
        for _ in range(8):
            image = matrix @ self.top
            if not np.any(image):
                break
            value = np.linalg.norm(image)
            self.top = image / value
        return value / self.weights.sum()


def _sign(j):
    mask = (1 << 64) - 1
    bits = (j + 1) * 0x9E3779B97F4A7C15 & mask
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & mask
    return 1.0 if bits >> 63 else -1.0


@dataclass
class Result:
    """Result of a run; K outputs.

    Attributes
    ----------
    w, b, w_average, b_average : ndarray of shape (K, d) or (K,)
    predictions : list of int
        Prediction of each sample before it was learnt, by the model that predicts.
    trace : list of dict
        After each batch: t, alpha, curvature, w.
    """

    w: np.ndarray
    b: np.ndarray
    w_average: np.ndarray
    b_average: np.ndarray
    statistics: Statistics
    predictions: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    mistakes: int = 0
    trace: list = field(default_factory=list)


def hinge_coefficients(scores, label, multi_class):
    """Return minus the sub-gradient of the hinge loss by the K scores, and the loss."""
    coefficients = np.zeros(len(scores))
    if len(scores) == 1 or multi_class == "ovr":
        targets = np.where(np.arange(len(scores)) == label, 1.0, -1.0)
        if len(scores) == 1:
            targets = np.array([1.0 if label == 1 else -1.0])
        margins = targets * scores
        coefficients[margins < 1] = targets[margins < 1]
        return coefficients, np.maximum(0.0, 1 - margins).sum()
    rivals = np.where(np.arange(len(scores)) == label, -np.inf, scores)
    rival = int(np.argmax(rivals))
    margin = scores[label] - scores[rival]
    if margin < 1:
        coefficients[label], coefficients[rival] = 1.0, -1.0
    return coefficients, max(0.0, 1 - margin)


def sdrogd(
    X,
    y,
    *,
    n_classes=2,
    sketch_size=5,
    within_weight=0.5,
    discriminative=0.2,
    reg=1e-4,
    batch_size=60,
    between="linear",
    sketch="centred",
    schedule="sqrt",
    eta0=1.0,
    fit_intercept=True,
    average=True,
    multi_class="margin",
    sample_weight=None,
    flush=False,
):
    """Run SDROGD over a stream; `flush` ends it with a step for the last, incomplete batch.

    eta0 = None is max(1, 16 / mean ||x||^2). Other parameters as the estimator's.
    """
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    outputs = 1 if n_classes == 2 else n_classes
    statistics = Statistics(sketch_size, d, n_classes, sketch == "centred")
    w, b = np.zeros((outputs, d)), np.zeros(outputs)
    result = Result(w, b, w.copy(), b.copy(), statistics)
    weights = np.ones(n) if sample_weight is None else sample_weight
    t, batch = 0, []
    last = np.flatnonzero(np.asarray(weights) > 0)[-1]
    for i in range(n):
        scores = result.w @ X[i] + result.b
        seen = result.w_average @ X[i] + result.b_average if average else scores
        predicted = int(seen[0] > 0) if outputs == 1 else int(np.argmax(seen))
        result.predictions.append(predicted)
        if weights[i] == 0:
            continue
        coefficients, loss = hinge_coefficients(scores, y[i], multi_class)
        result.losses.append(weights[i] * loss)
        result.mistakes += predicted != y[i]
        statistics.add(X[i], y[i], weights[i])
        batch.append((weights[i] * coefficients, X[i]))
        if len(batch) < batch_size and not (flush and i == last):
            continue

        # One step along (16), (17), z = R w with R written out.
        t += 1
        within, apart_matrix, shares, apart = statistics.scatter()
        z = discriminative * within_weight * result.w @ within
        if between == "quadratic":
            z = z - discriminative * (1 - within_weight) * result.w @ apart_matrix
        elif outputs == 1:
            m = 2 * shares[0] * shares[1] * (statistics.means[1] - statistics.means[0])
            m = m if np.all(statistics.weights > 0) else np.zeros(d)
            z = z - discriminative * (1 - within_weight) * m
        else:
            z = z - discriminative * (1 - within_weight) * shares[:, np.newaxis] * apart
        curvature = reg + discriminative * within_weight * statistics.largest_eigenvalue()
        alpha = step_size(schedule, t, curvature, eta0, statistics)
        hinge = sum(np.outer(c, x) for c, x in batch) / len(batch)
        result.w = result.w - alpha * (reg * result.w + z - hinge)
        if fit_intercept:
            result.b = result.b + alpha * sum(c for c, _ in batch) / len(batch)
        share = min(1.0, 4.0 / (t + 3))
        result.w_average = result.w_average + share * (result.w - result.w_average)
        result.b_average = result.b_average + share * (result.b - result.b_average)
        result.trace.append({"t": t, "alpha": alpha, "curvature": curvature, "w": result.w})
        batch = []
    return result


def step_size(schedule, t, curvature, eta0, statistics):
    """Return alpha_t; t counts batches from 1."""
    if schedule == "paper":
        return 1.0 / t
    if schedule == "safe":
        return min(1.0 / t, 1.0 / curvature)
    if eta0 is None:
        eta0 = max(1.0, 16.0 / (statistics.squares / statistics.weights.sum()))
    return 1.0 / (curvature + np.sqrt(t) / eta0)
