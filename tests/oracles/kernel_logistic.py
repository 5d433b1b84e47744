"""Logistic regression by online Newton steps, on features of a kernel that may grow.

A sample of weight w moves the weights to the minimum of

    sum_k (mu_k - m_k)' S_k^-1 (mu_k - m_k) / 2 + (w / r) l,

with m the weights before, and l the log loss of its label, by the scores mu_k' phi. Then S_k^-1
grows by (w / r) p_k (1 - p_k) phi phi', with p at the minimum. On mu_k = m_k + a_k S_k phi, with
q_k = phi' S_k phi, that is a problem of K numbers:

    sum_k a_k^2 q_k / 2 + (w / r) l(f + q a).

Two classes have one score, and the logistic loss. The features, and what is kept of S, are those
of `kernel_second_order`.
"""

from decimal import Decimal, localcontext

import numpy as np

from .kernel_second_order import Run, learn
from .losses import LOSSES
from .rules import Rule


class LogisticNewton(Rule):
    """One score: p = 1 / (1 + exp(m + q p w / r)), m = y f, in thirty digits.

    The coefficient is y p w / r, and the contraction h / (1 + h q) with h = p (1 - p) w / r.
    """

    def solved(self, m, q, importance):
        """Return p and 1 - p after the step, by Newton's method, or halves of an interval."""
        with localcontext() as context:
            context.prec = 30
            m, c = Decimal(float(m)), Decimal(float(q)) * Decimal(float(importance))
            c /= Decimal(float(self.r))
            low, high = max(-m - c, Decimal(-100_000)), -m  # of u = log(p / (1 - p))
            u = (low + high) / 2
            for _ in range(200):
                p = 1 / (1 + (-u).exp())
                excess = u + c * p + m
                low, high = (low, u) if excess > 0 else (u, high)
                before, u = u, u - excess / (1 + c * p * (1 - p))
                if abs(u - before) < Decimal("1e-22"):
                    break
                u = u if low < u < high else (low + high) / 2
            return float(p), float(1 / (1 + u.exp()))

    def coefficient(self, f, y, q, t, importance=1.0):
        if q <= 0:
            return 0.0
        return y * self.solved(y * f, q, importance)[0] * importance / self.r

    def contraction(self, f, y, q, t, importance=1.0):
        if q <= 0:
            return 0.0
        wrong, right = self.solved(y * f, q, importance)
        h = wrong * right * importance / self.r
        return h / (1 + h * q)


def softmax(scores):
    """Return exp(f_k) / sum_j exp(f_j)."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def minimum(scores, lengths, label, scale):
    """Return the a that minimise sum a^2 q / 2 - scale log softmax(f + q a)_label.

    By Newton's method, halving each step until the sum falls.
    """
    truth = np.arange(len(scores)) == label

    def value(a):
        moved = scores + lengths * a
        return (a**2 * lengths).sum() / 2 + scale * (np.logaddexp.reduce(moved) - moved[label])

    a = np.zeros(len(scores))
    for _ in range(200):
        p = softmax(scores + lengths * a)
        gradient = a - scale * (truth - p)  # each divided by its q
        curvature = np.eye(len(a)) + scale * (np.diag(p) - np.outer(p, p)) * lengths
        step = np.linalg.solve(curvature, gradient)
        while value(a - step) > value(a) + 1e-12 * abs(value(a)):
            step /= 2
        a = a - step
        if np.abs(step).max() <= 1e-15 * (1 + np.abs(a).max()):
            break
    return a


class SoftmaxRun(Run):
    """Several classes with one loss, which are solved together."""

    def solve(self, problems, importances, rule, weight, lengths):
        scores, label = self.scores, self.label
        self.cumulative_loss += weight * (np.logaddexp.reduce(scores) - scores[label])
        if importances[0] == 0:
            return np.zeros(len(scores)), np.zeros(len(scores))
        scale = weight * importances[0] / rule.r
        a = minimum(scores, lengths, label, scale)
        p = softmax(scores + lengths * a)
        h = scale * p * (1 - p)
        return a, h / (1 + h * lengths)

    def learn(self, i, x, problems, importances, rule, weight):
        self.scores = self.mu @ self.phi(x)
        self.label = next(k for k, problem in enumerate(problems) if problem.y > 0)
        super().learn(i, x, problems, importances, rule, weight)


def kernel_logistic(X, y, *, r=1.0, multi_class="softmax", gate="all", weighted=True, **parameters):
    """Logistic regression; the parameters are those of `kernel_second_order.learn`."""
    together = multi_class == "softmax" and len(np.unique(parameters.get("classes", y))) > 2
    return learn(
        LogisticNewton(LOSSES["logistic"](), r=r),
        X,
        y,
        multi_class=multi_class,
        gate=gate,
        weighted=weighted,
        kind=SoftmaxRun if together else Run,
        **parameters,
    )
