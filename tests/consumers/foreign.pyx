"""A compiled package with components of its own, some of which lack a method."""
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.second_order_rules cimport ConfidenceWeighted
from onlinekern.core.models.space cimport Space


cdef class Tilted(Loss):
    """The hinge, `tilt` times as steep for the positive class."""

    cdef double tilt

    def __init__(self, double tilt=1.0):
        self.tilt = tilt
        self.arguments = (tilt,)

    cdef double value(self, double f, double y) noexcept nogil:
        return (self.tilt if y > 0 else 1) * max(0.0, 1 - y * f)

    cdef double slope(self, double f, double y) noexcept nogil:
        return (self.tilt if y > 0 else 1) * (y if y * f < 1 else 0)


cdef class Halving(Rule):
    """A step along the slope of a loss, halved after each of the first three samples."""

    def __init__(self, Loss loss):
        self.loss = loss
        self.arguments = (loss,)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * self.loss.slope(f, y) / (1 << min(t - 1, 3))


cdef class Hesitant(ConfidenceWeighted):
    """Half the coefficient of its base, which solves a sample in one call."""

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return ConfidenceWeighted.coefficient(self, f, y, q, t, importance) / 2


cdef class NoValue(Loss):
    """A loss without `value`."""

    cdef double slope(self, double f, double y) noexcept nogil:
        return y


cdef class NoSlope(Loss):
    """A loss without `slope`."""

    cdef double value(self, double f, double y) noexcept nogil:
        return 1


cdef class NoCoefficient(Rule):
    """A rule without `coefficient`."""

    def __init__(self, Loss loss):
        self.loss = loss
        self.arguments = (loss,)


cdef class NoContraction(Halving):
    """A rule of second order without `contraction`."""

    def __init__(self, Loss loss):
        super().__init__(loss)
        self.second_order = True


cdef class NoScores(Space):
    """A space without any method."""

    def __init__(self):
        self.n_outputs = 1


cdef class NoUpdate(NoScores):
    """A space that scores, and does no more."""

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        current[0] = averaged[0] = 0


cdef class NoLengths(NoUpdate):
    """A space without `squared_lengths`, `checkpoint` and `score`."""

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        return OK


cdef class NoFill(FeatureMap):
    """A feature map without `fill`."""

    def __init__(self, Py_ssize_t d):
        self.d = self.n_features = d
        self.length = 64
        self.itemsize = 8
