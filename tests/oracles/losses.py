"""Losses l(y, f) and their negative slopes -dl/df, for one sample.

Classification losses take y in {-1, +1} and depend on the margin m = y f; regression losses
depend on the residual r = y - f. At a kink the negative slope is the one-sided value that makes
no step when the loss is 0 (hinge at m = 1, epsilon-insensitive at abs(r) = epsilon) and 0 for the
absolute loss at r = 0.

.. [12] N. Karampatziakis, J. Langford, "Online importance weight aware updates", UAI 2011.
"""

import math

import numpy as np
from scipy.special import wrightomega

# exp(1e4) is not a float64, so the exponential loss must stop growing somewhere. The bound
# leaves room to multiply by a step size or a weight: exp(700) = 1.01e304 < 1.8e308.
LARGEST_EXPONENT = 700.0


class Loss:
    """Base of the losses: two parameters that some of them have.

    Parameters
    ----------
    delta : float, default=1.0
        Width of the quadratic part of the smooth hinge; threshold of the Huber loss; > 0.
    epsilon : float, default=0.1
        Half-width of the insensitive tube; >= 0.
    """

    def __init__(self, delta=1.0, epsilon=0.1):
        self.delta = float(delta)
        self.epsilon = float(epsilon)

    def value(self, y, f):
        """Return l(y, f)."""
        raise NotImplementedError

    def negative_slope(self, y, f):
        """Return -dl/df at (y, f)."""
        raise NotImplementedError

    def travel(self, y, f, size):
        """Return d(size), where d(0) = 0 and d' = -dl/df at (y, f + d) [12]_, table 1."""
        raise NotImplementedError


class Hinge(Loss):
    """l = max(0, 1 - y f)."""

    def value(self, y, f):
        return max(0.0, 1.0 - y * f)

    def negative_slope(self, y, f):
        return float(y) if y * f < 1.0 else 0.0

    def travel(self, y, f, size):
        return y * min(size, self.value(y, f))


class SquaredHinge(Loss):
    """l = max(0, 1 - y f)^2 / 2."""

    def value(self, y, f):
        return 0.5 * max(0.0, 1.0 - y * f) ** 2

    def negative_slope(self, y, f):
        return y * max(0.0, 1.0 - y * f)

    def travel(self, y, f, size):
        return self.negative_slope(y, f) * (1.0 - math.exp(-size))


class SmoothHinge(Loss):
    """The hinge with its corner rounded over 1 - delta <= y f < 1 (huberised hinge)."""

    def value(self, y, f):
        margin = y * f
        if margin >= 1.0:
            return 0.0
        if margin >= 1.0 - self.delta:
            return (1.0 - margin) ** 2 / (2.0 * self.delta)
        return 1.0 - margin - self.delta / 2.0

    def negative_slope(self, y, f):
        margin = y * f
        if margin >= 1.0:
            return 0.0
        if margin >= 1.0 - self.delta:
            return y * (1.0 - margin) / self.delta
        return float(y)

    def travel(self, y, f, size):
        # A Huber loss of the distance from the margin 1, whose steps are longer by 1 / delta.
        rounded = Huber(self.delta)
        return y * rounded.travel(0.0, min(0.0, y * f - 1.0), size / self.delta)


class Logistic(Loss):
    """l = ln(1 + exp(-y f)), with exponentials of negative numbers only."""

    def value(self, y, f):
        margin = y * f
        # ln(1 + e^-m) = -m + ln(1 + e^m): take the form whose exponent is not positive.
        return max(0.0, -margin) + math.log1p(math.exp(-abs(margin)))

    def negative_slope(self, y, f):
        margin = y * f
        small = math.exp(-abs(margin))
        if margin >= 0.0:
            return y * small / (1.0 + small)
        return y / (1.0 + small)

    def travel(self, y, f, size):
        """Solve x + e^x = m + e^m + size for the margin x, by Wright's function: omega = e^x."""
        margin = y * f
        if margin > 30.0:
            return y * math.log1p(size * math.exp(-margin))
        total = margin + math.exp(margin) + size
        return y * (total - float(wrightomega(total)) - margin)


class Exponential(Loss):
    """l = exp(-y f), the exponent bounded by `LARGEST_EXPONENT`."""

    def value(self, y, f):
        return math.exp(min(-y * f, LARGEST_EXPONENT))

    def negative_slope(self, y, f):
        return y * math.exp(min(-y * f, LARGEST_EXPONENT))

    def travel(self, y, f, size):
        return y * (float(np.logaddexp(y * f, math.log(size))) - y * f)


class Squared(Loss):
    """l = (y - f)^2 / 2."""

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def negative_slope(self, y, f):
        return float(y - f)

    def travel(self, y, f, size):
        return (y - f) * (1.0 - math.exp(-size))


class Absolute(Loss):
    """l = abs(y - f)."""

    def value(self, y, f):
        return abs(y - f)

    def negative_slope(self, y, f):
        if y == f:
            return 0.0
        return 1.0 if y > f else -1.0

    def travel(self, y, f, size):
        return math.copysign(min(size, abs(y - f)), y - f)


class EpsilonInsensitive(Loss):
    """l = max(0, abs(y - f) - epsilon)."""

    def value(self, y, f):
        return max(0.0, abs(y - f) - self.epsilon)

    def negative_slope(self, y, f):
        if abs(y - f) <= self.epsilon:
            return 0.0
        return 1.0 if y > f else -1.0

    def travel(self, y, f, size):
        return math.copysign(min(size, self.value(y, f)), y - f)


class Huber(Loss):
    """l = r^2 / 2 for abs(r) <= delta, else delta (abs(r) - delta / 2), with r = y - f."""

    def value(self, y, f):
        residual = abs(y - f)
        if residual <= self.delta:
            return 0.5 * residual**2
        return self.delta * (residual - 0.5 * self.delta)

    def negative_slope(self, y, f):
        return max(-self.delta, min(self.delta, y - f))

    def travel(self, y, f, size):
        gap = abs(y - f)
        time = max(0.0, gap - self.delta) / self.delta  # until the slope falls
        if size <= time:
            return math.copysign(self.delta * size, y - f)
        left = min(gap, self.delta) * math.exp(time - size)
        return math.copysign(gap - left, y - f)


class PerceptronLoss(Loss):
    """l = max(0, -y f): the loss that the Perceptron reports.

    Not in `LOSSES`: no estimator offers it as a choice. At f = 0 the loss is 0, and the negative
    slope is y: the Perceptron steps at y f <= 0.
    """

    def value(self, y, f):
        return max(0.0, -y * f)

    def negative_slope(self, y, f):
        return float(y) if y * f <= 0.0 else 0.0

    def travel(self, y, f, size):
        return y * min(size, self.value(y, f))


LOSSES = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "smooth_hinge": SmoothHinge,
    "logistic": Logistic,
    "exponential": Exponential,
    "squared": Squared,
    "absolute": Absolute,
    "epsilon_insensitive": EpsilonInsensitive,
    "huber": Huber,
}
