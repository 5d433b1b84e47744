"""The Passive-Aggressive rules.

Layer 3. Their step is the shortest that suffers no loss on the sample, bounded (PA-I) or softened
(PA-II) by C.
"""
from libc.stdint cimport int64_t

from onlinekern.core.losses cimport Loss
from onlinekern.core.rules cimport Rule


cdef class PassiveAggressive(Rule):
    """tau = l / q in the direction of the target (Crammer et al. 2006, eq. 5).

    For losses whose slope is -1, 0 or +1 (hinge, epsilon-insensitive). A sample of length q <= 0
    (an empty row under the linear kernel) cannot move its own score and is passed over.

    Parameters
    ----------
    loss : Loss
    """

    def __init__(self, Loss loss):
        self.loss = loss
        self.arguments = (loss,)

    cdef bint idle(self, double f, double y) noexcept nogil:
        return self.loss.slope(f, y) == 0

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        if q <= 0:
            return 0
        return self.loss.slope(f, y) * self.tau(self.loss.value(f, y), q, self.C * importance)

    cdef double tau(self, double loss, double q, double C) noexcept nogil:
        return loss / q


cdef class PassiveAggressive1(PassiveAggressive):
    """tau = min(C, l / q) (PA-I, eq. 8 there).

    Parameters
    ----------
    loss : Loss
    C : float > 0
        Aggressiveness, multiplied by the importance of the sample.
    """

    def __init__(self, Loss loss, double C=1.0):
        self.loss = loss
        self.C = C
        self.arguments = (loss, C)

    cdef double tau(self, double loss, double q, double C) noexcept nogil:
        return min(C, loss / q)


cdef class PassiveAggressive2(PassiveAggressive1):
    """tau = l / (q + 1 / (2 C)) (PA-II, eq. 9 there)."""

    cdef double tau(self, double loss, double q, double C) noexcept nogil:
        return loss / (q + 1 / (2 * C))


cdef class ScaledPassiveAggressive1(PassiveAggressive1):
    """PA-I whose importance multiplies the step itself: importance min(C, l / q).

    As scikit-learn weights its samples; C = inf gives plain PA.
    """

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * PassiveAggressive.coefficient(self, f, y, q, t, 1)


cdef class ScaledPassiveAggressive2(PassiveAggressive2):
    """PA-II whose importance multiplies the step itself: importance l / (q + 1 / (2 C)).

    A sample of length 0 may move a constant that is no part of the length.
    """

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * self.loss.slope(f, y) * self.tau(self.loss.value(f, y), q, self.C)


PASSIVE_RULES = {
    "pa": PassiveAggressive,
    "pa1": PassiveAggressive1,
    "pa2": PassiveAggressive2,
    "scaled_pa1": ScaledPassiveAggressive1,
    "scaled_pa2": ScaledPassiveAggressive2,
}
