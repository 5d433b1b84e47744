"""Kernel adaptive filters, one sample at a time, as their papers write them.

KLMS is `algorithms.kernel_ogd`. QKLMS: B. Chen, S. Zhao, P. Zhu, J. C. Principe, "Quantized kernel
least mean square algorithm", IEEE TNNLS 23, 2012, table 1. KAPA: W. Liu, J. C. Principe, "Kernel
affine projection algorithms", EURASIP JASP 2008, algorithms 1 and 2. KRLS: Y. Engel, S. Mannor, R.
Meir, "The kernel recursive least-squares algorithm", IEEE TSP 52, 2004, table 1. SW-KRLS, FB-KRLS,
KRLS-T: S. Van Vaerenbergh et al., ICASSP 2006, ICASSP 2010, and "Kernel recursive least-squares
tracker for time-varying regression", IEEE TNNLS 23, 2012, algorithm 1.

Support vectors are a list of rows, the oldest first; every inverse is computed anew. Targets and
errors are vectors, of one number each target.
"""

import numpy as np

from .losses import LOSSES
from .projection import JITTER, run
from .rules import RULES

TRACKER_JITTER = 1e-6


def filtered(X, y, learn, **common):
    """Run learn(machine, x, target, error, weight) over a series."""

    def with_error(machine, x, problems, target, t, weight):
        target = np.atleast_1d(target)
        learn(machine, x, target, target - [problem.f for problem in problems], weight)

    return run(X, y, with_error, LOSSES["squared"](), **common)


def distances(rows, x, kernel):
    """Return the distances of x from rows in the space of the samples."""
    return np.linalg.norm(np.array(rows) - x, ord=1 if kernel == "laplacian" else 2, axis=1)


def qklms(X, y, *, eta=0.5, epsilon=0.5, budget=None, kernel="gaussian", **common):
    """Run QKLMS; with a budget, the nearest support vector takes all steps once it is full."""
    rule = RULES["gradient"](LOSSES["squared"](), eta=eta)

    def learn(machine, x, target, error, weight):
        far = distances(machine.rows, x, kernel) if machine.rows else np.array([np.inf])
        nearest = int(np.argmin(far))
        full = budget is not None and len(machine.rows) >= budget
        # kappa(x, x) = 1; all that is linear in the error is the same for several targets.
        step = rule.weighted(0.0, 1.0, 1.0, 1, weight) * error
        if far[nearest] <= epsilon or full:
            machine.alpha[nearest] = machine.alpha[nearest] + step
        else:
            machine.rows.append(x)
            machine.alpha.append(step)

    return filtered(X, y, learn, kernel=kernel, **common)


def bordered(machine, jitter):
    """Return K + jitter I of the support vectors."""
    return machine.kappa(machine.rows, machine.rows) + jitter * np.eye(len(machine.rows))


def nothing(machine):
    """Return the coefficients of a new support vector."""
    return np.zeros(machine.n_outputs)


def kapa(X, y, *, variant="kapa2", order=10, eta=0.1, reg=1.0, budget=500, **common):
    """Run KAPA-1 or KAPA-2; beyond the budget, what leaves the last samples is projected."""
    last = []  # (row, target, weight) of the last samples, which are the last support vectors

    def learn(machine, x, target, error, weight):
        machine.rows.append(x)
        machine.alpha.append(nothing(machine))
        last.append((x, target, weight))
        del last[:-order]
        rows = [row for row, _, _ in last]
        weights = np.array([weight for _, _, weight in last])
        errors = np.array([t for _, t, _ in last]) - machine.scores(rows)
        if variant == "kapa1":
            moves = weights[:, None] * errors
        else:
            G = machine.kappa(rows, rows)
            moves = np.linalg.solve(G + np.diag(reg / weights), errors)
        for k, move in enumerate(moves):
            place = len(machine.rows) - len(last) + k
            machine.alpha[place] = machine.alpha[place] + eta * move
        if len(machine.rows) > budget:
            project_onto_nearest(machine, len(machine.rows) - len(last) - 1)

    return filtered(X, y, learn, **common)


def project_onto_nearest(machine, r):
    """Remove support vector r: the least |alpha_r phi(x_r) - b phi(x_s)|^2 over all s and b."""
    row, alpha = machine.rows[r], machine.alpha[r]
    machine.drop(r)
    k = machine.kappa(machine.rows, [row])[:, 0]
    lengths = np.array([machine.kappa([other], [other])[0, 0] for other in machine.rows])
    gains = np.divide(k**2, lengths, out=np.zeros(len(k)), where=lengths > 0)
    s = int(np.argmax(gains))
    if gains[s] > 0:
        machine.alpha[s] = machine.alpha[s] + alpha * k[s] / lengths[s]


def krls(X, y, *, nu=1e-3, budget=500, **common):
    """Run KRLS with ALD as the least-squares problem that it solves.

    Row t of A holds the combination of the dictionary that stands for sample t. A new member makes
    the function go through its target; from then on A'W A and A'W y grow by the dependent samples.
    The recursion of the paper keeps (A'W A)^-1 and the solution, which is Kinv times the values.
    """
    state = {"P": np.zeros((0, 0))}

    def learn(machine, x, target, error, weight):
        n, P = len(machine.rows), state["P"]
        inverse = np.linalg.inv(bordered(machine, JITTER))
        k = machine.kappa(machine.rows, [x]).reshape(n)
        a = inverse @ k
        delta = machine.kappa([x], [x])[0, 0] - k @ a
        alpha = machine.dual_coef().T
        if delta > nu and n < budget:
            machine.rows.append(x)
            machine.alpha = [*(alpha - np.outer(a, error) / delta), error / delta]
            state["P"] = np.block([[P, np.zeros((n, 1))], [np.zeros((1, n)), 1 / weight]])
        elif n:
            q = P @ a / (1 / weight + a @ P @ a)
            state["P"] = P - np.outer(q, a @ P)
            machine.alpha = [*(alpha + np.outer(inverse @ q, error))]

    return filtered(X, y, learn, **common)


def regularised(machine):
    """Solve (K + R) alpha = y; return the inverse."""
    inverse = np.linalg.inv(machine.kappa(machine.rows, machine.rows) + np.diag(machine.ridges))
    machine.alpha = [*(inverse @ np.array(machine.targets))]
    return inverse


def sliding_window_krls(X, y, *, reg=0.01, budget=100, **common):
    """Run SW-KRLS: ridge regression on the last samples."""

    def learn(machine, x, target, error, weight):
        machine.rows.append(x)
        machine.alpha.append(nothing(machine))
        machine.targets.append(target)
        machine.ridges.append(reg / weight)
        if len(machine.rows) > budget:
            machine.drop(0)
        regularised(machine)

    return filtered(X, y, learn, **common)


def fixed_budget_krls(X, y, *, reg=0.01, eta=0.0, budget=100, **common):
    """Run FB-KRLS: ridge regression on the samples of the largest |alpha_r| / H_rr.

    Of several targets, |alpha_r| is the Euclidean norm.
    """

    def learn(machine, x, target, error, weight):
        k = machine.kappa(machine.rows, [x]).reshape(len(machine.rows))
        for r, value in enumerate(machine.targets):
            machine.targets[r] = value + eta * k[r] * (target - value)
        machine.rows.append(x)
        machine.alpha.append(nothing(machine))
        machine.targets.append(target)
        machine.ridges.append(reg / weight)
        inverse = regularised(machine)
        if len(machine.rows) > budget:
            errors = np.linalg.norm(machine.alpha, axis=1) / np.diag(inverse)
            machine.drop(int(np.argmin(errors)))
            regularised(machine)

    return filtered(X, y, learn, **common)


def krlst(
    X, y, *, forgetting=0.999, mode="b2p", noise=0.01, budget=100, jitter=TRACKER_JITTER, **common
):
    """Run KRLS-T; the result's machine has `mean`, `covariance` and `power` as attributes."""

    def learn(machine, x, target, error, weight):
        if not machine.rows:
            machine.mean, machine.covariance = np.zeros((0, len(target))), np.zeros((0, 0))
            machine.sums = [np.zeros(len(target)), 0]
        n = len(machine.rows)
        K = bordered(machine, jitter)
        mean, S = machine.mean, machine.covariance
        if mode == "b2p":
            mean, S = np.sqrt(forgetting) * mean, forgetting * S + (1 - forgetting) * K
        else:
            S = S / forgetting
        k = machine.kappa(machine.rows, [x]).reshape(n)
        q = np.linalg.inv(K) @ k
        h = S @ q
        new = machine.kappa([x], [x])[0, 0] + jitter - k @ q
        variance = new + q @ h
        total = variance + noise / weight
        residual = target - q @ mean
        machine.sums = [
            forgetting * machine.sums[0] + residual**2 / total,
            forgetting * machine.sums[1] + 1,
        ]
        if new > 2 * jitter:
            machine.rows.append(x)
            machine.alpha.append(nothing(machine))
            mean = np.vstack([mean, q @ mean])
            S = np.block([[S, h[:, None]], [h[None], variance]])
            h = np.append(h, variance)
        mean, S = mean + np.outer(h, residual) / total, S - np.outer(h, h) / total
        Q = np.linalg.inv(bordered(machine, jitter))
        if len(machine.rows) > budget:
            r = int(np.argmin(np.linalg.norm(Q @ mean, axis=1) / np.diag(Q)))
            machine.drop(r)
            mean, S = np.delete(mean, r, 0), np.delete(np.delete(S, r, 0), r, 1)
            Q = np.linalg.inv(bordered(machine, jitter))
        machine.mean, machine.covariance = mean, S
        machine.alpha = [*(Q @ mean)]

    return filtered(X, y, learn, **common)


def krlst_variance(machine, Z, noise, jitter=TRACKER_JITTER):
    """Return the predictive variances of rows, noise included, times the power of the signals."""
    k = machine.kappa(machine.rows, Z)
    q = np.linalg.solve(bordered(machine, jitter), k)
    prior = np.array([machine.kappa([z], [z])[0, 0] for z in Z]) + jitter
    variance = prior - np.sum(k * q, 0) + np.sum(q * (machine.covariance @ q), 0) + noise
    return np.outer(variance, machine.sums[0] / machine.sums[1])
