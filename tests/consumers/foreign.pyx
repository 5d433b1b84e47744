"""A compiled package with parts of its own: a loss and a rule that the core's loop calls."""
from libc.stdint cimport int64_t

from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.rules cimport Rule


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
