"""Gates: does this sample update, and with what importance?

A gate that accepts with probability p passes 1/p on, so that the expected step is that of
the ungated rule. One uniform number serves all the outputs of a sample (`uniform` is negative until
it has been drawn): the K one-vs-rest problems are then accepted together as often as they can be,
and the expected number of support rows is that of the most likely problem, not of the union of K
draws.
"""
from libc.math cimport fabs

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.losses cimport Loss


cdef inline double let_through(double probability, Generator rng,
                               double *uniform) noexcept nogil:
    """1/p with probability p, else 0."""
    # Drawn for a probability of 0 as well: a repeated row has a loss of 0 but for rounding, which
    # would otherwise decide about all the numbers that come after it.
    if uniform[0] < 0:
        uniform[0] = rng.uniform()
    return 1 / probability if uniform[0] < probability else 0


cdef class Gate(Part):
    """Base of the gates, and the open one: every sample may update.

    Attributes
    ----------
    open : bool
        Whether it is this one, of an importance of 1 without asking.
    """

    def __cinit__(self, *args, **kwargs):
        self.always = type(self) is Gate

    cdef double importance(self, Loss loss, double f, double y, double suffered, Generator rng,
                           double *uniform) noexcept nogil:
        """1/p if the sample is let through (which has probability p), else 0.

        `suffered` is the value of the loss at score f and target y.
        """
        return 1


cdef class LossProportional(Gate):
    """Accept with probability min(alpha, loss) / beta (SPA: Lu, Zhao and Hoi 2016, eq. 5).

    Parameters
    ----------
    alpha : float > 0
    beta : float >= alpha
    """

    cdef double alpha, beta

    def __init__(self, double alpha=1.0, double beta=5.0):
        self.alpha = alpha
        self.beta = beta
        self.arguments = (alpha, beta)

    cdef double importance(self, Loss loss, double f, double y, double suffered, Generator rng,
                           double *uniform) noexcept nogil:
        return let_through(min(self.alpha, suffered) / self.beta, rng, uniform)


cdef class SlopeProportional(Gate):
    """Accept with probability |dl/df| / G, at most 1 (OSKL: Zhang et al. 2013).

    A gradient step of importance 1/p then has the length eta G, or eta |dl/df| where p is 1.

    Parameters
    ----------
    G : float > 0
    """

    cdef double G

    def __init__(self, double G=5.0):
        self.G = G
        self.arguments = (G,)

    cdef double importance(self, Loss loss, double f, double y, double suffered, Generator rng,
                           double *uniform) noexcept nogil:
        return let_through(min(1.0, fabs(loss.slope(f, y)) / self.G), rng, uniform)


GATES = {
    "always": Gate,
    "loss_proportional": LossProportional,
    "slope_proportional": SlopeProportional,
}
