"""Rules and penalties for training points that have a coefficient each, learnt in passes (OLLA).

When a point is visited, its coefficient changes by a step Lambda of the loss and a decay of the
regulariser. A rule gives Lambda as its `coefficient`. The decay eta_t is 1 - `shrink`, or, if it
depends on the score, the `contraction`. A penalty combines step and decay to the change of the
coefficient. C is multiplied by the importance of the point.

Kecman (2016), Fast online algorithm for nonlinear support vector machines and other alike models.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.schedules cimport Schedule


cdef class PointGradient(Rule):
    """Lambda = -eta_t C dl/df, as published.

    Parameters
    ----------
    loss : Loss
    schedule : Schedule
    C : float > 0
        Weight of the losses against the regulariser.
    penalised : bool
        Whether there is a regulariser, whose step size is eta_t too.
    """

    def __init__(self, Loss loss not None, Schedule schedule not None, double C=1.0,
                 bint penalised=False):
        self.loss = loss
        self.schedule = schedule
        self.C = C
        self.penalised = penalised
        self.arguments = (loss, schedule, C, penalised)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        cdef double rate = self.schedule.at(t) * self.C * importance
        return self.bounded(rate * self.loss.slope(f, y), rate, f, y, q)

    cdef double bounded(self, double step, double rate, double f, double y,
                        double q) noexcept nogil:
        """The step, bounded; `rate` is eta_t C."""
        return step

    cdef double shrink(self, int64_t t) noexcept nogil:
        return 1 - self.schedule.at(t) if self.penalised else 1


cdef class ImplicitGradient(PointGradient):
    """|Lambda| <= eta_t C |y - f| / (1 + eta_t C q): the gradient at the end of the step.

    For the squared loss, and for losses that are squared near their minimum and elsewhere have a
    bounded slope (Huber's) or are 0 (the squared hinge). If eta_t C q > 2, a plain step of the
    squared loss ends further from the minimum than it began; this step never passes the minimum.
    """

    cdef double bounded(self, double step, double rate, double f, double y,
                        double q) noexcept nogil:
        cdef double most = rate * fabs(y - f) / (1 + rate * max(q, 0.0))
        return max(-most, min(most, step))


cdef class StoppedGradient(PointGradient):
    """|Lambda| <= l / q: no step passes the kink, for losses whose slope is -1, 0 or 1."""

    cdef double bounded(self, double step, double rate, double f, double y,
                        double q) noexcept nogil:
        cdef double most
        if q <= 0:
            return step
        most = self.loss.value(f, y) / q
        return max(-most, min(most, step))


cdef class CappedGradient(PointGradient):
    """|Lambda| <= max(1, |1 - y f|) / q: the margin moves up to 1, or by 1 if that is further."""

    cdef double bounded(self, double step, double rate, double f, double y,
                        double q) noexcept nogil:
        cdef double most
        if q <= 0:
            return step
        most = max(1.0, fabs(1 - y * f)) / q
        return max(-most, min(most, step))


cdef class PointNewton(Rule):
    """The Newton-Raphson step of kernel logistic regression on one coefficient.

    Delta = omega (C s - a) / (C q c + 1), s the negative slope, c = s (1 - s) the curvature of the
    logistic loss: coefficient omega C s / (C q c + 1), contraction omega / (C q c + 1).

    Parameters
    ----------
    loss : Loss
        The logistic one.
    C : float > 0
    relaxation : float in (0, 2)
        omega: the part of the Newton step that is taken.
    """

    cdef double C, relaxation

    def __init__(self, Loss loss not None, double C=1.0, double relaxation=1.0):
        self.loss = loss
        self.C = C
        self.relaxation = relaxation
        self.second_order = True
        self.arguments = (loss, C, relaxation)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return self.C * importance * self.loss.slope(f, y) \
            * self.contraction(f, y, q, importance)

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        cdef double slope = fabs(self.loss.slope(f, y))
        cdef double curvature = slope * (1 - slope)
        return self.relaxation / (1 + self.C * importance * max(q, 0.0) * curvature)


POINT_RULES = {
    "gradient": PointGradient,
    "implicit": ImplicitGradient,
    "stopped": StoppedGradient,
    "capped": CappedGradient,
    "newton": PointNewton,
}


cdef class Penalty(Part):
    """Base of the penalties, and no penalty: the change is the step."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        """The change of a coefficient under a step of the loss and a decay of the regulariser."""
        return step

    def evaluate(self, double coefficient, double step, double decay):
        """The change of a coefficient (for tests and exploration)."""
        return self.change(coefficient, step, decay)


cdef class SquaredNorm(Penalty):
    """w'w / 2: the coefficient shrinks by a factor."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        return step - decay * coefficient


cdef class AbsoluteNorm(Penalty):
    """|w|_1 by the soft threshold: a coefficient within `decay` of 0 becomes 0."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        cdef double moved = coefficient + step
        if fabs(moved) <= decay:
            return -coefficient
        return moved - (decay if moved > 0 else -decay) - coefficient


cdef class AbsoluteNormGradient(Penalty):
    """|w|_1 by its gradient sgn(w): a coefficient oscillates around 0 in steps of `decay`."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        return step - decay * ((coefficient > 0) - (coefficient < 0))


PENALTIES = {
    "none": Penalty,
    "l2": SquaredNorm,
    "l1": AbsoluteNorm,
    "l1_sign": AbsoluteNormGradient,
}
