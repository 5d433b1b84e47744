"""Projectron, BSGD and BOLSSVM, one sample at a time, as their papers write them.

F. Orabona, J. Keshet, B. Caputo, "Bounded kernel-based online learning", JMLR 10, 2009: algorithms
2 and 3. Z. Wang, K. Crammer, S. Vucetic, "Breaking the curse of kernelization", JMLR 13, 2012:
algorithm 1 and its three kinds of budget maintenance; section 6, several classes. L. Jian et al.,
"Budget online learning algorithm for least squares SVM", IEEE TNNLS 28, 2017.

Support vectors are a list of rows, the oldest first; every inverse is computed anew.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from .kernels import kernel_matrix, resolve_gamma
from .losses import LOSSES
from .rules import InverseTime
from .stream import head_of_labels, head_of_targets, tested

JITTER = 1e-8
RIDGE = 1e-5


@dataclass
class Machine:
    """Support vectors with K coefficients each, and offsets."""

    n_outputs: int
    kernel_parameters: tuple
    rows: list = field(default_factory=list)
    alpha: list = field(default_factory=list)
    offsets: np.ndarray = None
    targets: list = field(default_factory=list)
    ridges: list = field(default_factory=list)

    def __post_init__(self):
        self.offsets = np.zeros(self.n_outputs)

    def kappa(self, A, B):
        """Return the kernel matrix of two lists of rows."""
        kernel, *parameters = self.kernel_parameters
        if not len(A) or not len(B):
            return np.zeros((len(A), len(B)))
        return kernel_matrix(kernel, np.array(A), np.array(B), *parameters)

    def dual_coef(self):
        return np.array(self.alpha).reshape(-1, self.n_outputs).T

    def scores(self, Z):
        return self.kappa(Z, self.rows) @ self.dual_coef().T + self.offsets

    def drop(self, r):
        for items in (self.rows, self.alpha, self.targets, self.ridges):
            if items:
                del items[r]


@dataclass
class Result:
    """Result of a run."""

    machine: Machine
    predictions: np.ndarray = None
    scale: float = 1.0
    n_seen: int = 0
    mistakes: int = 0
    cumulative_loss: float = 0.0

    @property
    def dual_coef(self):
        return self.scale * self.machine.dual_coef()

    def decision_function(self, Z):
        scores = self.machine.kappa(Z, self.machine.rows) @ self.dual_coef.T
        scores = scores + self.machine.offsets
        return scores[:, 0] if scores.shape[1] == 1 else scores


def run(
    X,
    y,
    learn,
    loss,
    *,
    task="classification",
    classes=None,
    multi_class="margin",
    kernel="gaussian",
    gamma="scale",
    degree=3,
    coef0=0.0,
    sample_weight=None,
    decays=False,
):
    """Test, then call learn(machine, x, problems, index, t, weight) on every sample.

    With `decays` the model is the machine divided by the steps taken.
    """
    X = np.asarray(X, dtype=np.float64)
    if task == "regression":
        head, labels = head_of_targets(y), y
    else:
        head, labels, classes = head_of_labels(y, classes, multi_class)
    parameters = (kernel, resolve_gamma(gamma, X), degree, coef0)
    result = Result(Machine(head.n_outputs, parameters))

    def scores(i):
        return result.scale * result.machine.scores(X[i : i + 1])[0]

    for i, weight in tested(result, labels, sample_weight, lambda i: head.predict(scores(i))):
        result.n_seen += 1
        problems = head.problems(scores(i), labels[i])
        result.cumulative_loss += weight * sum(loss.value(p.y, p.f) for p in problems)
        learn(result.machine, X[i], problems, labels[i], result.n_seen, weight)
        result.scale = 1.0 / result.n_seen if decays else 1.0
    if task != "regression":
        result.predictions = classes[result.predictions.astype(int)]
    return result


class PerceptronLoss:
    def value(self, y, f):
        return max(0.0, -y * f)


def projectron(X, y, *, plus_plus=False, eta=0.1, budget=None, multi_class="ovr", **common):
    """Run the Projectron; margins and distances are those of a problem's own feature vector."""
    price = 1 / eta if budget is None else 0.25 * math.sqrt((budget + 1) / math.log(budget + 1))

    def learn(machine, x, problems, label, t, weight):
        K = machine.kappa(machine.rows, machine.rows)
        k = machine.kappa(machine.rows, [x])[:, 0]
        d = np.linalg.inv(K + JITTER * np.eye(len(K))) @ k
        kappa = machine.kappa([x], [x])[0, 0]
        full = budget is not None and len(machine.rows) >= budget
        added = np.zeros(machine.n_outputs)
        projected = np.zeros(machine.n_outputs)
        for problem in problems:
            length = problem.direction @ problem.direction  # 2 for a class and its rival
            covered = length * (k @ d)
            delta = math.sqrt(max(0.0, length * (kappa - k @ d)))
            margin = problem.y * problem.f
            if margin <= 0:
                step = weight * problem.y * problem.direction
                if full or delta <= eta:
                    projected += step
                else:
                    added += step
            elif plus_plus and margin < 1 and 1 - margin > delta * price:
                spare = 1 - margin - delta * price
                tau = min((1 - margin) / covered, 2 * spare / covered, weight)
                projected += tau * problem.y * problem.direction
        for alpha, part in zip(machine.alpha, d, strict=True):
            alpha += part * projected
        if added.any():
            machine.rows.append(x)
            machine.alpha.append(added)

    loss = LOSSES["hinge"]() if plus_plus else PerceptronLoss()
    return run(X, y, learn, loss, multi_class=multi_class, **common)


def sizes(machine):
    """Return ||alpha|| sqrt(kappa), rounded, so that values equal up to rounding are ties."""
    lengths = [math.sqrt(machine.kappa([row], [row])[0, 0]) for row in machine.rows]
    return np.round(np.linalg.norm(machine.alpha, axis=1) * lengths, 9)


def remove(machine):
    """Remove the smallest support vector, the oldest of a tie."""
    machine.drop(int(np.argmin(sizes(machine))))


def project(machine):
    """Project the smallest support vector onto the span of the others."""
    r = int(np.argmin(sizes(machine)))
    others = [row for j, row in enumerate(machine.rows) if j != r]
    K = machine.kappa(others, others)
    k = machine.kappa(others, [machine.rows[r]])[:, 0]
    d = np.linalg.inv(K + RIDGE * np.eye(len(K))) @ k
    leaving = machine.alpha[r]
    machine.drop(r)
    for alpha, part in zip(machine.alpha, d, strict=True):
        alpha += part * leaving


def merged(alpha, beta, kappa):
    """Return (error, h) of the best point h x_m + (1 - h) x_n, by golden section in [0, 1/2].

    The error is ||alpha phi(x_m) + beta phi(x_n) - (alpha k_m + beta k_n) phi(z)||^2, summed over
    the outputs, expanded; a grid first finds the neighbourhood of the best point.
    """

    def error(h):
        k_m, k_n = kappa ** ((1 - h) ** 2), kappa ** (h**2)
        gain = np.sum((alpha * k_m + beta * k_n) ** 2)
        return alpha @ alpha + beta @ beta + 2 * kappa * (alpha @ beta) - gain

    grid = np.linspace(0, 0.5, 51)
    best = int(np.argmin([error(h) for h in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 50)]
    golden = (math.sqrt(5) - 1) / 2
    while high - low > 1e-9:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if error(left) <= error(right):
            high = right
        else:
            low = left
    return error((low + high) / 2), (low + high) / 2


def merge(machine):
    """Merge the smallest support vector with the partner that leaves the least error."""
    m = int(np.argmin(np.linalg.norm(machine.alpha, axis=1)))
    kappas = machine.kappa(machine.rows, [machine.rows[m]])[:, 0]
    candidates = [
        (*merged(machine.alpha[m], machine.alpha[n], kappas[n]), n)
        for n in range(len(machine.rows))
        if n != m and machine.alpha[m] @ machine.alpha[n] > 0
    ]
    if candidates:
        _, h, n = min(candidates, key=lambda candidate: candidate[0])
        k_m, k_n = kappas[n] ** ((1 - h) ** 2), kappas[n] ** (h**2)
        machine.rows[n] = h * machine.rows[m] + (1 - h) * machine.rows[n]
        machine.alpha[n] = k_m * machine.alpha[m] + k_n * machine.alpha[n]
    machine.drop(m)


MAINTENANCE = {"remove": remove, "project": project, "merge": merge}


def bsgd(
    X, y, *, budget, maintenance="merge", reg=1e-4, loss="hinge", epsilon=0.1, max_step=None,
    multi_class="margin", **common,
):  # fmt: skip
    """Run BSGD; coefficients are -l' / reg, to be divided by t."""
    loss = LOSSES[loss](epsilon=epsilon)
    rule = InverseTime(loss, reg=reg, max_step=max_step or math.inf)

    def learn(machine, x, problems, label, t, weight):
        step = np.zeros(machine.n_outputs)
        for problem in problems:
            q = np.dot(problem.direction, problem.direction) * machine.kappa([x], [x])[0, 0]
            arguments = (problem.f, problem.y, q, t, weight)
            step += rule.weighted(*arguments) * problem.direction
        if step.any():
            machine.rows.append(x)
            machine.alpha.append(step)
            if len(machine.rows) > budget:
                MAINTENANCE[maintenance](machine)

    return run(X, y, learn, loss, multi_class=multi_class, decays=True, **common)


def least_squares(machine):
    """Solve the bordered system; return the inverse of its matrix."""
    n = len(machine.rows)
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = 1
    A[1:, 1:] = machine.kappa(machine.rows, machine.rows) + np.diag(machine.ridges)
    inverse = np.linalg.inv(A)
    solution = inverse[:, 1:] @ np.array(machine.targets)
    machine.offsets = solution[0]
    machine.alpha = list(solution[1:])
    return inverse


def margins_without(machine, errors):
    """Return the margins of support vectors by the machines without each, given y - f there."""
    targets = np.array(machine.targets)
    scores = targets - errors
    if scores.shape[1] == 1:
        return (targets * scores)[:, 0]
    own = (scores * (targets > 0)).sum(axis=1)
    return own - np.where(targets > 0, -np.inf, scores).max(axis=1)


def leaving(machine, inverse, share):
    """Return who leaves: the most contradicted if too many are, else the most redundant."""
    errors = np.array(machine.alpha) / np.diag(inverse)[1:, None]
    margins = margins_without(machine, errors)[:-1]
    if share < 1 and np.sum(margins < 0) > share * len(margins):
        return int(np.argmin(margins))
    return int(np.argmin(np.linalg.norm(errors, axis=1)))


def bolssvm(X, y, *, budget, C=10.0, removal="contradicted", multi_class="margin", **common):
    """Run BOLSSVM; of the paper with removal "redundant"."""
    share = {"contradicted": 0.3, "redundant": 1.0}[removal]

    def learn(machine, x, problems, label, t, weight):
        if all(problem.y * problem.f > 0 for problem in problems):
            return
        K = machine.n_outputs
        own = [1.0 if label == k else -1.0 for k in range(K)]
        machine.rows.append(x)
        machine.targets.append([1.0 if label == 1 else -1.0] if K == 1 else own)
        machine.ridges.append(1 / (C * weight))
        inverse = least_squares(machine)
        if len(machine.rows) > budget:
            machine.drop(leaving(machine, inverse, share))
            least_squares(machine)

    return run(X, y, learn, PerceptronLoss(), multi_class=multi_class, **common)
