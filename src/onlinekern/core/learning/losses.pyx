"""Losses of a score f at a target y: the value, and the negative slope.

`slope` is the *negative* derivative -dl/df, the direction in which an update moves f. Each
loss decides its own kink, here and nowhere else: samples learnt one by one and in blocks cannot
disagree. Scalars are double whatever the dtype of the samples.

For classification y is -1 or +1; for regression it is the target.
"""
from libc.math cimport NAN, exp, expm1, fabs, log, log1p, sqrt

from onlinekern.core.base.part cimport Part


cdef class Loss(Part):
    """Base of the losses; a subclass defines `value` and `slope`.

    Attributes
    ----------
    parameters : tuple of str
        The names of its arguments, which are parameters of the learners that name it.
    """

    abstract = True
    parameters = ()

    def __cinit__(self, *args, **kwargs):
        # By exact type: a subclass may define another value or slope.
        self.hinge = type(self) is Hinge

    cdef double value(self, double f, double y) noexcept nogil:
        """The loss of score f at target y."""
        self.missing = b"Loss.value"
        return NAN

    cdef double slope(self, double f, double y) noexcept nogil:
        """Its negative derivative with respect to f."""
        self.missing = b"Loss.slope"
        return NAN

    cdef double demand(self, double f, double y, double weight) noexcept nogil:
        """How far the score must move, with its sign, until a sample of this weight has no loss.

        For losses whose slope is -1, 0 or 1; of the others the weight is ignored.
        """
        return self.slope(f, y) * self.value(f, y)

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        """How far the score moves in many small steps along the slope, together of this size.

        The limit of infinitely many: d(0) = 0, d' = slope(f + d), at `size` (Karampatziakis and
        Langford 2011). A class without a closed form takes the implicit step d = size slope(f + d),
        which is between 0 and that of the slope at f.
        """
        cdef double first = self.slope(f, y), low = 0, high = 1, middle
        cdef int _
        for _ in range(60 if first != 0 else 0):
            middle = 0.5 * (low + high)
            if self.slope(f + middle * (size * first), y) / first > middle:
                low = middle
            else:
                high = middle
        return low * (size * first)

    def evaluate(self, double f, double y):
        """The pair (value, negative slope) at a score f and a target y."""
        value, slope = self.value(f, y), self.slope(f, y)
        self.check_defined()
        return value, slope

    def evaluate_travel(self, double f, double y, double size):
        """How far the score moves in many small steps (for tests and exploration)."""
        travel = self.travel(f, y, size)
        self.check_defined()
        return travel


cdef inline double towards_corner(double gap, double delta, double size) noexcept nogil:
    """Travel of Huber's loss towards its minimum, from so far (> 0)."""
    cdef double straight = max(0.0, gap - delta)
    if delta * size <= straight:
        return delta * size
    return straight - (gap - straight) * expm1(straight / delta - size)


cdef class PerceptronLoss(Loss):
    """max(0, -y f), the loss that the Perceptron minimises."""

    cdef double value(self, double f, double y) noexcept nogil:
        return max(0.0, -y * f)

    cdef double slope(self, double f, double y) noexcept nogil:
        return y if y * f <= 0 else 0

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        return y * max(0.0, min(size, -y * f))


cdef class Hinge(Loss):
    """max(0, 1 - y f)"""

    cdef double value(self, double f, double y) noexcept nogil:
        cdef double slope
        return hinge(f, y, &slope)

    cdef double slope(self, double f, double y) noexcept nogil:
        cdef double slope
        hinge(f, y, &slope)
        return slope

    cdef double demand(self, double f, double y, double weight) noexcept nogil:
        """The margin that is demanded is sqrt(weight) (Crammer et al. 2006, section 6)."""
        cdef double gap = sqrt(weight) - y * f
        return y * gap if gap > 0 else 0

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        return y * max(0.0, min(size, 1 - y * f))


cdef class SquaredHinge(Loss):
    """max(0, 1 - y f)^2 / 2"""

    cdef double value(self, double f, double y) noexcept nogil:
        cdef double gap = max(0.0, 1 - y * f)
        return 0.5 * gap * gap

    cdef double slope(self, double f, double y) noexcept nogil:
        return y * max(0.0, 1 - y * f)

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        return -y * max(0.0, 1 - y * f) * expm1(-size)


cdef class SmoothHinge(Loss):
    """The hinge with a quadratic piece of width `delta` > 0 below 1 (huberised hinge)."""

    parameters = ("delta",)
    cdef double delta

    def __init__(self, double delta=1.0):
        self.delta = delta
        self.arguments = (delta,)

    cdef double value(self, double f, double y) noexcept nogil:
        cdef double gap = 1 - y * f
        if gap <= 0:
            return 0
        if gap <= self.delta:
            return gap * gap / (2 * self.delta)
        return gap - self.delta / 2

    cdef double slope(self, double f, double y) noexcept nogil:
        cdef double gap = 1 - y * f
        if gap <= 0:
            return 0
        return y * gap / self.delta if gap <= self.delta else y

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        cdef double gap = 1 - y * f
        return 0 if gap <= 0 else y * towards_corner(gap, self.delta, size / self.delta)


cdef class Logistic(Loss):
    """ln(1 + exp(-y f)), computed without an exponential that overflows."""

    cdef double value(self, double f, double y) noexcept nogil:
        cdef double margin = y * f
        return log1p(exp(-fabs(margin))) + max(0.0, -margin)

    cdef double slope(self, double f, double y) noexcept nogil:
        cdef double margin = y * f, small = exp(-fabs(margin))
        return y * (small if margin > 0 else 1.0) / (1 + small)

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        """The margin m + d solves x + e^x = m + e^m + size: Newton's method, from above."""
        cdef double margin = y * f, total, x
        cdef int _
        if margin > 36:
            return y * log1p(size * exp(-margin))
        total = margin + exp(margin) + size
        x = total if total <= 1 else log(total)
        for _ in range(8):
            x -= (x + exp(x) - total) / (1 + exp(x))
        return y * max(0.0, x - margin)


cdef class Exponential(Loss):
    """exp(-y f), with an exponent of at most 700, so that the value stays finite."""

    cdef double value(self, double f, double y) noexcept nogil:
        return exp(min(-y * f, 700.0))

    cdef double slope(self, double f, double y) noexcept nogil:
        return y * exp(min(-y * f, 700.0))

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        cdef double margin = y * f
        if margin > 0:
            return y * log1p(size * exp(-margin))
        return y * (log(exp(margin) + size) - margin)


cdef class Squared(Loss):
    """(y - f)^2 / 2"""

    cdef double value(self, double f, double y) noexcept nogil:
        return 0.5 * (y - f) * (y - f)

    cdef double slope(self, double f, double y) noexcept nogil:
        return y - f

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        return (f - y) * expm1(-size)


cdef class EpsilonInsensitive(Loss):
    """max(0, |y - f| - epsilon), epsilon >= 0"""

    parameters = ("epsilon",)
    cdef double epsilon

    def __init__(self, double epsilon=0.1):
        self.epsilon = epsilon
        self.arguments = (epsilon,)

    cdef double value(self, double f, double y) noexcept nogil:
        return max(0.0, fabs(y - f) - self.epsilon)

    cdef double slope(self, double f, double y) noexcept nogil:
        if fabs(y - f) <= self.epsilon:
            return 0
        return 1 if y > f else -1

    cdef double demand(self, double f, double y, double weight) noexcept nogil:
        """The deviation that is no loss is epsilon / sqrt(weight)."""
        cdef double gap = fabs(y - f) - self.epsilon / sqrt(weight)
        if gap <= 0:
            return 0
        return gap if y > f else -gap

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        cdef double way = max(0.0, min(size, fabs(y - f) - self.epsilon))
        return way if y > f else -way


cdef class Absolute(EpsilonInsensitive):
    """|y - f|: the epsilon-insensitive loss at epsilon = 0."""

    parameters = ()

    def __init__(self):
        self.epsilon = 0
        self.arguments = ()


cdef class Huber(Loss):
    """(y - f)^2 / 2 up to |y - f| = delta, delta (|y - f| - delta / 2) beyond."""

    parameters = ("delta",)
    cdef double delta

    def __init__(self, double delta=1.0):
        self.delta = delta
        self.arguments = (delta,)

    cdef double value(self, double f, double y) noexcept nogil:
        cdef double gap = fabs(y - f)
        if gap <= self.delta:
            return 0.5 * gap * gap
        return self.delta * (gap - 0.5 * self.delta)

    cdef double slope(self, double f, double y) noexcept nogil:
        return max(-self.delta, min(self.delta, y - f))

    cdef double travel(self, double f, double y, double size) noexcept nogil:
        cdef double way = 0 if y == f else towards_corner(fabs(y - f), self.delta, size)
        return way if y > f else -way


LOSSES = {
    "perceptron": PerceptronLoss,
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
