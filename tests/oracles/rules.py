"""Rules: from one scalar problem to the step it takes.

After sample t the model becomes ``f <- shrink f + coefficient kappa(x_t, .)``. A rule sees the
score f = f_t(x_t), the target y, q (the squared length of the sample in feature space: kappa_tt,
doubled for the margin head), the 1-based step t and the importance of the sample: its weight,
divided by the acceptance probability of the gate.
"""

import math

from .losses import LOSSES, PerceptronLoss
from .schedules import SCHEDULES


class Rule:
    """Base of the rules: a loss, and parameters that some of them have.

    Parameters
    ----------
    loss : losses.Loss
    C : float, default=1.0
        Aggressiveness of PA-I and PA-II; > 0.
    eta, schedule, power : float, str, float
        Step size of the gradient rule, see `schedules`.
    reg : float, default=0.0
        Regularisation lambda of the gradient rule; >= 0.
    r : float, default=1.0
        Parameter r of AROW; > 0.
    """

    def __init__(self, loss, *, C=1.0, eta=0.5, schedule="constant", power=0.5, reg=0.0, r=1.0):
        self.loss = loss
        self.r = r
        self.C = C
        self.eta = eta
        self.schedule = SCHEDULES[schedule]
        self.power = power
        self.reg = reg

    def shrink(self, t):
        """Return the factor of the old model at step t; it depends on t alone."""
        return 1.0

    def coefficient(self, f, y, q, t, importance=1.0):
        """Return the coefficient of kappa(x_t, .), 0 for no step."""
        raise NotImplementedError

    def further(self, f, y, q, t, more):
        """Return what a sample adds at the score f of its first step, or None: it has no first."""
        return None

    def weighted(self, f, y, q, t, weight, importance=1.0, whole=None):
        """Return the coefficient of a sample of this weight; `importance` is that of the gate.

        A step moves the score by `whole` times its coefficient; that is q, if it is not given.

        A weight above 1 is a step of weight 1, and many small ones after it [12]_ (losses), where
        the rule says what they add.
        """
        first = self.coefficient(f, y, q, t, importance)
        if weight > 1.0 and first != 0.0:
            whole = q if whole is None else whole
            added = self.further(f + first * whole, y, whole, t, importance * (weight - 1.0))
            if added is not None:
                return first + added
        return self.coefficient(f, y, q, t, importance * weight)

    def small_steps(self, f, y, q, size):
        """Return what steps of this size in all add: the way of the score, over its length."""
        if q <= 0.0:
            return size * self.loss.negative_slope(y, f)
        return self.loss.travel(y, f, size * q) / q

    def contraction(self, f, y, q, t, importance=1.0):
        """Return beta of S <- S - beta (S x)(S x)', 0 for first-order rules."""
        return 0.0

    def step(self, f, y, q, t, importance=1.0):
        """Return the pair (coefficient, shrink)."""
        return self.coefficient(f, y, q, t, importance), self.shrink(t)


class Perceptron(Rule):
    """On y f <= 0 the coefficient is y [5]_; at f = 0 too, so the first sample is learnt."""

    def __init__(self, loss=None, **parameters):
        super().__init__(PerceptronLoss(), **parameters)

    def coefficient(self, f, y, q, t, importance=1.0):
        return y * importance if y * f <= 0.0 else 0.0


class MarginPerceptron(Rule):
    """Projectron's rule: the Perceptron's; with margins, y min(1, l) where the hinge loss l > 0.

    The importance of a sample is a matter of the budget policy.
    """

    def __init__(self, margins):
        super().__init__(LOSSES["hinge"]() if margins else PerceptronLoss())
        self.margins = margins

    def coefficient(self, f, y, q, t, importance=1.0):
        if self.margins:
            return y * min(1.0, self.loss.value(y, f))
        return self.loss.negative_slope(y, f)


class Gradient(Rule):
    """f <- max(0, 1 - eta_t lambda) f - eta_t l'(f_t) kappa(x_t, .) [2]_, equations (8)-(10).

    The importance multiplies the coefficient, never the shrink.
    """

    def further(self, f, y, q, t, more):
        return self.small_steps(f, y, q, more * self.rate(t))

    def rate(self, t):
        """Return eta_t."""
        return self.schedule(t, self.eta, self.power)

    def shrink(self, t):
        return max(0.0, 1.0 - self.rate(t) * self.reg)

    def coefficient(self, f, y, q, t, importance=1.0):
        return self.rate(t) * self.loss.negative_slope(y, f) * importance


class Pegasos(Gradient):
    """The gradient rule with eta_t = 1 / (lambda t) [4]_, hence the shrink 1 - 1/t.

    Not in `RULES`: it is a setting of the gradient rule. Written apart because the product
    lambda (1 / (lambda t)) is 1/t only up to rounding.
    """

    def rate(self, t):
        return 1.0 / (self.reg * t)

    def shrink(self, t):
        return 1.0 - 1.0 / t


class EverySample(Rule):
    """The weight of the sample. Not in `RULES`: only means use it."""

    def coefficient(self, f, y, q, t, importance=1.0):
        return importance


class LeastSquares(Rule):
    """The weighted residual. Not in `RULES`: only models that keep sums of squares use it."""

    def coefficient(self, f, y, q, t, importance=1.0):
        return importance * (y - f)


class BatchPegasos(Rule):
    """Pegasos in batches of n [4]_, figure 2: 1 / (lambda b n) each, shrink 1 - 1/b for a batch.

    Not in `RULES`: only models that take the steps of a batch together use it.
    """

    def __init__(self, loss, *, reg, batch_size):
        super().__init__(loss, reg=reg)
        self.batch_size = batch_size

    def batch(self, t):
        """Return b = 1, 2, ..., the number of the batch of sample t."""
        return math.ceil(t / self.batch_size)

    def coefficient(self, f, y, q, t, importance=1.0):
        rate = 1.0 / (self.reg * self.batch(t))
        return importance * rate * self.loss.negative_slope(y, f) / self.batch_size

    def further(self, f, y, q, t, more):
        return self.small_steps(f, y, q, more / (self.reg * self.batch(t) * self.batch_size))

    def shrink(self, t):
        return 1.0 - 1.0 / self.batch(t) if t % self.batch_size == 1 % self.batch_size else 1.0


class InverseTime(Rule):
    """The step of Pegasos in units of 1/t: -l' / lambda, at most max_step t in size.

    Not in `RULES`: its models are divided by t at each use.
    """

    def __init__(self, loss, *, reg, max_step=math.inf):
        super().__init__(loss, reg=reg)
        self.max_step = max_step

    def coefficient(self, f, y, q, t, importance=1.0):
        step = importance * self.loss.negative_slope(y, f) / self.reg
        return max(-self.max_step * t, min(self.max_step * t, step))

    def weighted(self, f, y, q, t, weight, importance=1.0):
        first = self.coefficient(f, y, q, t, importance)
        if weight <= 1.0 or first == 0.0:
            return self.coefficient(f, y, q, t, importance * weight)
        # The model is divided by t: a coefficient moves the score by a t-th of the length.
        size = importance * (weight - 1.0) / self.reg
        whole = first + self.small_steps(f + first * q / t, y, q / t, size)
        return max(-self.max_step * t, min(self.max_step * t, whole))

    def shrink(self, t):
        return 1.0 - 1.0 / t


class PassiveAggressive(Rule):
    """PA: coefficient tau sign(-l'), tau = l / q [1]_, section 3.

    For the hinge the sign is y; for the epsilon-insensitive loss it is sign(y - f) ([1]_,
    section 6). Nothing happens at q <= 0 (an empty row under the linear kernel), where the
    constraint l = 0 cannot be met.
    """

    def tau(self, loss, q, importance):
        """Return the length of the step for a loss > 0 and q > 0."""
        return loss / q

    def suffered(self, f, y, importance):
        """Return the loss of plain PA: a margin sqrt(w) is demanded ([1]_, section 6).

        In regression, deviations up to epsilon / sqrt(w) are no loss.
        """
        if isinstance(self.loss, LOSSES["hinge"]):
            return max(0.0, math.sqrt(importance) - y * f)
        return max(0.0, abs(y - f) - self.loss.epsilon / math.sqrt(importance))

    def coefficient(self, f, y, q, t, importance=1.0):
        loss = self.suffered(f, y, importance)
        if loss <= 0.0 or q <= 0.0:
            return 0.0
        sign = y if isinstance(self.loss, LOSSES["hinge"]) else math.copysign(1.0, y - f)
        return sign * self.tau(loss, q, importance)


class PassiveAggressiveI(PassiveAggressive):
    """PA-I: tau = min(C, l / q) [1]_, section 3; the importance multiplies C."""

    def suffered(self, f, y, importance):
        return self.loss.value(y, f)

    def tau(self, loss, q, importance):
        return min(self.C * importance, loss / q)


class PassiveAggressiveII(PassiveAggressive):
    """PA-II: tau = l / (q + 1 / (2 C)) [1]_, section 3; the importance multiplies C."""

    def suffered(self, f, y, importance):
        return self.loss.value(y, f)

    def tau(self, loss, q, importance):
        return loss / (q + 1.0 / (2.0 * self.C * importance))


class ScaledPassiveAggressiveI(PassiveAggressiveI):
    """PA-I; the importance multiplies the step, not C."""

    def coefficient(self, f, y, q, t, importance=1.0):
        return importance * super().coefficient(f, y, q, t, 1.0)

    def further(self, f, y, q, t, more):
        return self.small_steps(f, y, q, self.C * more)


class ScaledPassiveAggressiveII(PassiveAggressiveII):
    """PA-II; the importance multiplies the step, not C; q = 0 is allowed."""

    def coefficient(self, f, y, q, t, importance=1.0):
        loss = self.loss.value(y, f)
        if loss <= 0.0:
            return 0.0
        sign = 1.0 if self.loss.negative_slope(y, f) > 0.0 else -1.0
        return importance * sign * self.tau(loss, q, 1.0)

    def further(self, f, y, q, t, more):
        # The step of a sample that comes again and again: each leaves the same share of the loss.
        step = self.coefficient(f, y, q, t, more)
        if q <= 0.0 or step == 0.0:
            return step
        kept = 1.0 - q / (q + 1.0 / (2.0 * self.C))
        return math.copysign(self.loss.value(y, f) / q * (1.0 - kept**more), step)


class AROW(Rule):
    """AROW: beta = 1 / (q + r), coefficient l beta y where l > 0 (Crammer, Kulesza, Dredze 2009).

    q = x' S x. The importance divides r: a weight w makes the target w times as certain.
    """

    def contraction(self, f, y, q, t, importance=1.0):
        if self.loss.value(y, f) <= 0.0 or q <= 0.0:
            return 0.0
        return 1.0 / (q + self.r / importance)

    def coefficient(self, f, y, q, t, importance=1.0):
        return y * self.loss.value(y, f) * self.contraction(f, y, q, t, importance)


RULES = {
    "perceptron": Perceptron,
    "gradient": Gradient,
    "pa": PassiveAggressive,
    "pa1": PassiveAggressiveI,
    "pa2": PassiveAggressiveII,
    "scaled_pa1": ScaledPassiveAggressiveI,
    "scaled_pa2": ScaledPassiveAggressiveII,
    "arow": AROW,
}
