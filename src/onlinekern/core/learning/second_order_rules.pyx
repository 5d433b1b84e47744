"""Rules of second order: AROW, and confidence-weighted learning (CW, SCW).

The weights of the model are a Gaussian of mean mu and covariance S; q = x'Sx is the variance
of a score. An update is mu += a S x, S -= b S x x'S, with the coefficient a and the contraction b.

Confidence-weighted rules want a sample to be right with a given probability. With m = y f the
margin of the mean, v = q and phi the quantile of that probability, this is m >= phi sqrt(v).
Otherwise the coefficient is a = y alpha. Every alpha below is the root of a quadratic, as printed
in the paper. For m > 0 the printed difference cancels: it is computed as phi^2 v - m^2 over a sum.
The first form of CW has v in place of sqrt(v).
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from statistics import NormalDist

from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.rules cimport Rule


cdef class AROW(Rule):
    """Coefficient l y b, contraction b = 1 / (q + r) where the loss l > 0 (Crammer et al. 2009).

    Equations (8) and (9) of "Adaptive regularization of weight vectors", whose loss is the hinge.
    r is the variance of the noise of a target: a sample of importance w has r / w.

    Parameters
    ----------
    loss : Loss
        Of slope -1, 0 or +1.
    r : float > 0
        In the units of q.
    """

    cdef double r

    def __init__(self, Loss loss not None, double r=1.0):
        self.loss = loss
        self.r = r
        self.second_order = True
        self.arguments = (loss, r)

    cdef bint needs_length(self, double f, double y, double importance) noexcept nogil:
        return self.loss.slope(f, y) != 0

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        if q <= 0:
            return 0
        return self.loss.slope(f, y) * self.loss.value(f, y) / (q + self.r / importance)

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        if q <= 0 or self.loss.value(f, y) <= 0:
            return 0
        return 1 / (q + self.r / importance)

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        cdef double spread
        coefficient[0] = contraction[0] = 0
        if slope != 0 and not q <= 0:
            spread = q + self.r / importance
            coefficient[0] = slope * loss / spread
            contraction[0] = 0 if loss <= 0 else 1 / spread


cdef inline double beta(double part, double v) noexcept nogil:
    """part / (sqrt(u) + v part), part = alpha phi, u the variance that the sample is left with.

    sqrt(u) = (-v part + sqrt((v part)^2 + 4 v)) / 2.
    """
    cdef double slope = part * v
    return part / (2 * v / (slope + sqrt(slope * slope + 4 * v)) + slope)


cdef class ConfidenceWeighted(Rule):
    """CW in its exact convex form (Crammer, Dredze and Pereira 2008, lemma 1; stdev form).

    The new Gaussian is the nearest one under which the sample is right with the probability. With
    psi = 1 + phi^2 / 2 and zeta = 1 + phi^2,
    alpha = (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta).

    For a sample of weight w, phi is sqrt(w) phi: as in plain PA, the margin must be larger.

    Parameters
    ----------
    loss : Loss
        The hinge. It is counted only: the update does not depend on it.
    confidence : float in (0.5, 1)
        At 0.5 phi is 0, and nothing would ever be learnt from mu = 0.
    """

    def __init__(self, Loss loss not None, double confidence=0.9):
        self.loss = loss
        self.phi = NormalDist().inv_cdf(confidence)
        self.second_order = True
        self.arguments = (loss, confidence)

    cdef double quantile(self, double importance) noexcept nogil:
        """The margin that is demanded, in deviations of the score."""
        return self.phi * sqrt(importance)

    cdef double excess(self, double m, double v, double phi) noexcept nogil:
        """phi^2 v - m^2: at m > 0, positive where there is an update."""
        cdef double bound = phi * sqrt(v)
        return (bound - m) * (bound + m)

    cdef double bound(self, double v, double importance) noexcept nogil:
        """The margin at which a sample of variance v is left alone."""
        return self.quantile(importance) * sqrt(v)

    cdef double contraction_of(self, double alpha, double v, double importance) noexcept nogil:
        """The contraction of an update of this alpha."""
        return beta(alpha * self.quantile(importance), v)

    cdef double alpha(self, double m, double v, double importance) noexcept nogil:
        """The absolute value of the coefficient; m is below the bound, and v > 0."""
        cdef double phi = self.quantile(importance)
        cdef double square = phi * phi
        cdef double middle = m * (1 + square / 2)
        cdef double root = sqrt(m * m * square * square / 4 + v * square * (1 + square))
        if m > 0:
            return self.excess(m, v, phi) / (v * (middle + root))
        return (root - middle) / (v * (1 + square))

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        if q <= 0 or y * f >= self.bound(q, importance):
            return 0
        return y * self.alpha(y * f, q, importance)

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        if q <= 0 or y * f >= self.bound(q, importance):
            return 0
        return self.contraction_of(self.alpha(y * f, q, importance), q, importance)

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        cdef double alpha
        coefficient[0] = contraction[0] = 0
        if not (q <= 0 or y * f >= self.bound(q, importance)):
            alpha = self.alpha(y * f, q, importance)
            coefficient[0] = y * alpha
            contraction[0] = self.contraction_of(alpha, q, importance)


cdef class VarianceConfidenceWeighted(ConfidenceWeighted):
    """CW whose constraint is linear in the variance, m >= phi v (Dredze, Crammer and Pereira 2008).

    alpha is the root of the quadratic of their equation (9),
    alpha = (-(1 + 2 phi m) + sqrt((1 + 2 phi m)^2 - 8 phi (m - phi v))) / (4 phi v),
    and S^-1 grows by 2 alpha phi x x'.

    For a sample of weight w, phi is w phi: as if its variance were w times as large.
    """

    cdef double quantile(self, double importance) noexcept nogil:
        return self.phi * importance

    cdef double bound(self, double v, double importance) noexcept nogil:
        return self.quantile(importance) * v

    cdef double contraction_of(self, double alpha, double v, double importance) noexcept nogil:
        cdef double growth = 2 * alpha * self.quantile(importance)
        return growth / (1 + growth * v)

    cdef double alpha(self, double m, double v, double importance) noexcept nogil:
        cdef double phi = self.quantile(importance)
        cdef double middle = 1 + 2 * phi * m
        cdef double missing = phi * v - m
        cdef double root = sqrt(middle * middle + 8 * phi * missing)
        if middle > 0:
            return 2 * missing / (v * (middle + root))
        return (root - middle) / (4 * phi * v)


cdef class SoftConfidenceWeighted1(ConfidenceWeighted):
    """SCW-I: alpha at most C (Wang, Zhao and Hoi 2012, proposition 1).

    Parameters
    ----------
    loss, confidence
        As for CW.
    C : float > 0
        Aggressiveness, multiplied by the importance of the sample.
    """

    def __init__(self, Loss loss not None, double confidence=0.9, double C=1.0):
        super().__init__(loss, confidence)
        self.C = C
        self.arguments = (loss, confidence, C)

    cdef double quantile(self, double importance) noexcept nogil:
        # The importance multiplies C.
        return self.phi

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
            return 2 * self.excess(m, v, self.phi) / (root + middle)
        return (root - middle) / (2 * n * (n + v * square))


cdef class LeastSquares(Rule):
    """Coefficient a (y - f), contraction a, with a the importance: for spaces of least squares.

    Such a space keeps S^-1 = A, and adds a x x' to A and a y x to b: S and mu are those of AROW of
    the squared loss and r = 1.

    Parameters
    ----------
    loss : Loss
        Is counted, and seen by the sampler.
    """

    def __init__(self, Loss loss not None):
        self.loss = loss
        self.second_order = True
        self.uses_length = type(self) is not LeastSquares
        self.arguments = (loss,)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * (y - f)

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        return importance


RULES = {
    "arow": AROW,
    "cw": ConfidenceWeighted,
    "cw_variance": VarianceConfidenceWeighted,
    "scw1": SoftConfidenceWeighted1,
    "scw2": SoftConfidenceWeighted2,
    "least_squares": LeastSquares,
}
