"""Confidence-weighted rules: a sample is to be right with a given probability.

The weights are a Gaussian of mean mu and covariance S. With m = y f the margin of the
mean, v = q = x'Sx its variance and phi the quantile of the confidence, a sample wants
m >= phi sqrt(v). Where it is not so, mu += alpha y S x and S -= beta S x x'S.

Every alpha below is the printed root of a quadratic; for m > 0 it is computed from the excess
phi^2 v - m^2 over the sum of the two terms whose difference is printed, which cancels.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from statistics import NormalDist

from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.rules cimport Rule


cdef class ConfidenceWeighted(Rule):
    """CW in its exact convex form (Crammer, Dredze and Pereira 2008, lemma 1; stdev form).

    The Gaussian nearest to the last one under which the sample is right with the probability:
    with psi = 1 + phi^2 / 2 and zeta = 1 + phi^2,
    alpha = (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta).

    Parameters
    ----------
    loss : Loss
        The hinge. It is counted, and plays no part in the step.
    confidence : float in (0.5, 1)
        At 0.5 nothing would ever be learnt from mu = 0.
    """

    def __init__(self, Loss loss, double confidence=0.9):
        self.loss = loss
        self.phi = NormalDist().inv_cdf(confidence)
        self.second_order = True
        self.arguments = (loss, confidence)

    cdef double excess(self, double m, double v) noexcept nogil:
        """phi^2 v - m^2, whose sign at m > 0 says whether there is a step."""
        cdef double bound = self.phi * sqrt(v)
        return (bound - m) * (bound + m)

    cdef double alpha(self, double m, double v, double importance) noexcept nogil:
        """The length of the step; m < phi sqrt(v) and v > 0."""
        cdef double square = self.phi * self.phi
        cdef double middle = m * (1 + square / 2)
        cdef double root = sqrt(m * m * square * square / 4 + v * square * (1 + square))
        if m > 0:
            return self.excess(m, v) / (v * (middle + root))
        return (root - middle) / (v * (1 + square))

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        if q <= 0 or y * f >= self.phi * sqrt(q):
            return 0
        return y * self.alpha(y * f, q, importance)

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        """beta = alpha phi / (sqrt(u) + v alpha phi), u the variance that the sample is left with.

        sqrt(u) = (-alpha v phi + sqrt((alpha v phi)^2 + 4 v)) / 2.
        """
        cdef double step, slope
        if q <= 0 or y * f >= self.phi * sqrt(q):
            return 0
        step = self.alpha(y * f, q, importance) * self.phi
        slope = step * q
        return step / (2 * q / (slope + sqrt(slope * slope + 4 * q)) + slope)


cdef class SoftConfidenceWeighted1(ConfidenceWeighted):
    """SCW-I: alpha at most C (Wang, Zhao and Hoi 2012, proposition 1).

    Parameters
    ----------
    loss, confidence
        As for CW.
    C : float > 0
        Aggressiveness, multiplied by the importance of the sample.
    """

    def __init__(self, Loss loss, double confidence=0.9, double C=1.0):
        super().__init__(loss, confidence)
        self.C = C
        self.arguments = (loss, confidence, C)

    cdef double alpha(self, double m, double v, double importance) noexcept nogil:
        return min(self.C * importance, ConfidenceWeighted.alpha(self, m, v, importance))


cdef class SoftConfidenceWeighted2(SoftConfidenceWeighted1):
    """SCW-II (proposition 2 there): with n = v + 1 / (2 C) and
    g = phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2)),
    alpha = (-(2 m n + phi^2 m v) + g) / (2 (n^2 + n v phi^2)).
    """

    cdef double alpha(self, double m, double v, double importance) noexcept nogil:
        cdef double square = self.phi * self.phi
        cdef double n = v + 1 / (2 * self.C * importance)
        cdef double middle = m * (2 * n + square * v)
        cdef double root = self.phi * sqrt(square * m * m * v * v + 4 * n * v * (n + v * square))
        if m > 0:
            return 2 * self.excess(m, v) / (root + middle)
        return (root - middle) / (2 * n * (n + v * square))


CONFIDENCE_RULES = {
    "cw": ConfidenceWeighted,
    "scw1": SoftConfidenceWeighted1,
    "scw2": SoftConfidenceWeighted2,
}
