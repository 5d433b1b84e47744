"""Penalties: how the coefficient of a training point moves under a step and a regulariser.

Layer 1. `change` says by how much a coefficient moves when the loss asks for `step` and the
regulariser pulls with `decay` (the step size eta of a gradient step).
"""
from libc.math cimport fabs

from onlinekern.core.parts cimport Part


cdef class Penalty(Part):
    """Base of the penalties, and none: the step itself."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        return step

    def evaluate(self, double coefficient, double step, double decay):
        """The change of a coefficient (for tests and exploration)."""
        return self.change(coefficient, step, decay)


cdef class SquaredNorm(Penalty):
    """w'w / 2: the coefficient shrinks in proportion."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        return step - decay * coefficient


cdef class AbsoluteNorm(Penalty):
    """|w|_1 by its soft threshold: a coefficient within `decay` of 0 becomes 0 exactly."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        cdef double moved = coefficient + step
        if fabs(moved) <= decay:
            return -coefficient
        return moved - (decay if moved > 0 else -decay) - coefficient


cdef class AbsoluteNormGradient(Penalty):
    """|w|_1 by its slope sgn: a coefficient swings around 0 in steps of `decay`."""

    cdef double change(self, double coefficient, double step, double decay) noexcept nogil:
        return step - decay * ((coefficient > 0) - (coefficient < 0))


PENALTIES = {
    "none": Penalty,
    "l2": SquaredNorm,
    "l1": AbsoluteNorm,
    "l1_sign": AbsoluteNormGradient,
}
