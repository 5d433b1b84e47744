"""OLLA by its equations (Kecman 2016, table 1, lists 1 and 2), in float64.

Outputs are never kept: each output is computed anew as a sum over all coefficients.
"""

import math
from typing import NamedTuple

import numpy as np

from .heads import HEADS
from .kernels import kernel_matrix
from .losses import LOSSES
from .schedules import SCHEDULES


def no_penalty(a, step, decay):
    """Return a + Lambda."""
    return a + step


def squared_norm(a, step, decay):
    """Return a + Lambda - eta a."""
    return a + step - decay * a


def absolute_norm(a, step, decay):
    """Return the soft threshold at eta of a + Lambda."""
    moved = a + step
    return math.copysign(max(abs(moved) - decay, 0.0), moved)


def absolute_norm_sign(a, step, decay):
    """Return a + Lambda - eta sgn a."""
    return a + step - decay * np.sign(a)


PENALTIES = {
    "none": no_penalty,
    "l2": squared_norm,
    "l1": absolute_norm,
    "l1_sign": absolute_norm_sign,
}


def gradient(loss, f, y, q, eta, C, relaxation):
    """Return (Lambda, decay): -eta C dl/df and eta."""
    return eta * C * loss.negative_slope(y, f), eta


def implicit(loss, f, y, q, eta, C, relaxation):
    """Bound the step by eta C |y - f| / (1 + eta C q)."""
    step, decay = gradient(loss, f, y, q, eta, C, relaxation)
    most = eta * C * abs(y - f) / (1 + eta * C * q)
    return float(np.clip(step, -most, most)), decay


def stopped(loss, f, y, q, eta, C, relaxation):
    """Bound the step by l / q."""
    step, decay = gradient(loss, f, y, q, eta, C, relaxation)
    most = loss.value(y, f) / q
    return float(np.clip(step, -most, most)), decay


def capped(loss, f, y, q, eta, C, relaxation):
    """Bound the step by max(1, abs(1 - y f)) / q."""
    step, decay = gradient(loss, f, y, q, eta, C, relaxation)
    most = max(1.0, abs(1 - y * f)) / q
    return float(np.clip(step, -most, most)), decay


def newton(loss, f, y, q, eta, C, relaxation):
    """Return the two parts of omega (C y / (1 + e^yf) - a) / (C q / (4 cosh^2(yf / 2)) + 1)."""
    denominator = C * q / (4 * math.cosh(y * f / 2) ** 2) + 1
    return relaxation * C * loss.negative_slope(y, f) / denominator, relaxation / denominator


POINT_RULES = {
    "gradient": gradient,
    "implicit": implicit,
    "stopped": stopped,
    "capped": capped,
    "newton": newton,
}
SAFE = {
    "squared": implicit,
    "squared_hinge": implicit,
    "huber": implicit,
    "epsilon_insensitive": stopped,
    "exponential": capped,
}


def rule_of(loss, step, solver):
    """Return the rule of a combination."""
    if solver == "newton":
        return newton
    return SAFE.get(loss, gradient) if step == "safe" else gradient


def violation(head, scores, target):
    """Return how wrong a point is: the largest -y f of its problems, or its residual."""
    problems = head.problems(scores, target)
    if isinstance(head, HEADS["regression"]):
        return abs(target - scores[0])
    return max(-problem.y * problem.f for problem in problems)


class Result(NamedTuple):
    """Coefficients (n, K), offsets (K,), and the number of epochs made."""

    alpha: np.ndarray
    offset: np.ndarray
    n_iter: int


class Machine:
    """The coefficients of all points, and their outputs."""

    def __init__(self, kernel_values, n_outputs, outputs, support_tol):
        self.kernel_values = kernel_values
        self.alpha = np.zeros((len(kernel_values), n_outputs))
        self.offset = np.zeros(n_outputs)
        self.tolerance = support_tol if outputs == "support" else 0.0

    def output(self, i):
        """Return o_i, shape (K,)."""
        matters = (np.abs(self.alpha) > self.tolerance).any(axis=1)
        return self.kernel_values[i, matters] @ self.alpha[matters] + self.offset


def olla(
    X,
    y,
    *,
    task,
    orders,
    kernel="gaussian",
    gamma=1.0,
    degree=3,
    coef0=0.0,
    n_classes=None,
    loss="hinge",
    delta=1.0,
    epsilon=0.1,
    C=1.0,
    penalty="l2",
    prox=True,
    fit_intercept=True,
    solver="gradient",
    step="safe",
    schedule="invsqrt",
    eta=None,
    power=0.5,
    relaxation=1.0,
    selection="cyclic",
    outputs="all",
    support_tol=0.0,
    tol=0.0,
    sample_weight=None,
):
    """Learn in as many epochs as there are orders.

    Parameters
    ----------
    X, y : ndarray
        y holds class indices, or targets.
    task : {"binary", "ovr", "margin", "regression"}
    orders : list of sequence of int
        The order of each epoch; "max_violator" uses only its length.
    """  # fmt: skip
    if eta is None:
        eta = math.sqrt(2) if schedule == "invsqrt" else 1.0
    head = HEADS[task](n_classes)
    machine = Machine(
        kernel_matrix(kernel, X, X, gamma, degree, coef0), head.n_outputs, outputs, support_tol
    )
    rule, parts = rule_of(loss, step, solver), LOSSES[loss](delta, epsilon)
    pull = PENALTIES["l1_sign" if penalty == "l1" and not prox else penalty or "none"]
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    t, before = 0, None
    for epoch, order in enumerate(orders):
        now = np.zeros((len(X), head.n_outputs))
        for given in order:
            i = given
            if selection == "max_violator":
                candidates = np.flatnonzero(weight)
                wrong = [violation(head, machine.output(p), y[p]) for p in candidates]
                i = candidates[int(np.argmax(wrong))]
            now[i] = scores = machine.output(i)
            if weight[i] == 0:
                continue
            t += 1
            q = machine.kernel_values[i, i] + fit_intercept
            move, decays = np.zeros(head.n_outputs), np.zeros(head.n_outputs)
            rate = SCHEDULES[schedule](t, eta, power)
            if solver != "newton":
                decays += rate
            for problem in head.problems(scores, y[i]):
                length = q * float(problem.direction @ problem.direction)
                part, decay = rule(
                    parts, problem.f, problem.y, length, rate, C * weight[i], relaxation
                )
                move += part * problem.direction
                if solver == "newton":
                    decays += decay * np.abs(problem.direction)
            machine.alpha[i] = [
                pull(a, part, decay)
                for a, part, decay in zip(machine.alpha[i], move, decays, strict=True)
            ]
            if fit_intercept:
                machine.offset = machine.offset + move
        if selection == "max_violator":
            now = np.array([machine.output(p) for p in range(len(X))])
        if before is not None and steady(head, task, before, now, tol):
            return Result(machine.alpha, machine.offset, epoch + 1)
        before = now
    return Result(machine.alpha, machine.offset, len(orders))


def steady(head, task, before, now, tol):
    """Return whether no label changed, and the outputs by at most tol of their norm."""
    labels = task != "regression" and any(
        head.predict(one) != head.predict(other) for one, other in zip(before, now, strict=True)
    )
    return not labels and np.linalg.norm(now - before) <= tol * np.linalg.norm(now)
