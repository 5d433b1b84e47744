"""Samplers: whether a sample may update, drawn at random, and with what importance.

A sampler that accepts with probability p gives the importance 1/p, so the expected update is the
same as without a sampler. All outputs of a sample share one random number, `uniform`, which is
negative until it is drawn. The K one-vs-rest problems are then accepted together as often as
possible, so the expected number of support vectors is that of the most likely problem, not of the
union of K draws.
"""
from libc.math cimport fabs

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.losses cimport Loss


cdef inline double accept(double probability, Generator rng, double *uniform) noexcept nogil:
    """1/p with probability p, else 0."""
    # Draw even if the probability is 0. The loss of a repeated row may be 0 or a rounding error,
    # which must not change the random numbers of later samples.
    if uniform[0] < 0:
        uniform[0] = rng.uniform()
    return 1 / probability if uniform[0] < probability else 0


cdef class Sampler(Part):
    """Base of the samplers, and the one that lets every sample update.

    Attributes
    ----------
    always : bool
        Whether it is this class: the importance is then 1, without a virtual call.
    """

    def __cinit__(self, *args, **kwargs):
        self.always = type(self) is Sampler

    cdef double importance(self, Loss loss, double f, double y, double suffered, double weight,
                           Generator rng, double *uniform) noexcept nogil:
        """1/p with probability p, else 0: the sample does not update.

        `suffered` is the value of the loss at score f and target y, of a sample of this weight.
        """
        return 1


cdef class WithinMargin(Sampler):
    """Accept if y f < margin.

    Parameters
    ----------
    margin : float
    """

    cdef double margin

    def __init__(self, double margin=1.0):
        self.margin = margin
        self.arguments = (margin,)

    cdef double importance(self, Loss loss, double f, double y, double suffered, double weight,
                           Generator rng, double *uniform) noexcept nogil:
        return y * f < self.margin


cdef class LossProportional(Sampler):
    """Accept with probability min(alpha, loss) / beta (SPA: Lu, Zhao and Hoi 2016, eq. 5).

    The loss is that of the sample times its weight, if the importance is 1/p. If it is 1, the
    weight acts on the step alone: it would count twice.

    Parameters
    ----------
    alpha : float > 0
    beta : float >= alpha
    weighted : bool, default=True
        Whether the importance is 1/p, as in the paper, or 1: samples of a larger loss then have
        more influence.
    """

    cdef double alpha, beta
    cdef bint weighted

    def __init__(self, double alpha=1.0, double beta=5.0, bint weighted=True):
        self.alpha = alpha
        self.beta = beta
        self.weighted = weighted
        # Equal to one that was saved before there was a choice.
        self.arguments = (alpha, beta)
        if not weighted:
            self.arguments = (alpha, beta, False)

    cdef double importance(self, Loss loss, double f, double y, double suffered, double weight,
                           Generator rng, double *uniform) noexcept nogil:
        cdef double seen = weight * suffered if self.weighted else suffered
        cdef double importance = accept(min(self.alpha, seen) / self.beta, rng, uniform)
        return importance if self.weighted else <double> (importance > 0)


cdef class SlopeProportional(Sampler):
    """Accept with probability |dl/df| / G, at most 1 (OSKL: Zhang et al. 2013).

    The coefficient of a gradient rule is then eta G, or eta |dl/df| where p is 1. The slope is that
    of the loss times the weight of the sample.

    Parameters
    ----------
    G : float > 0
    """

    cdef double G

    def __init__(self, double G=5.0):
        self.G = G
        self.arguments = (G,)

    cdef double importance(self, Loss loss, double f, double y, double suffered, double weight,
                           Generator rng, double *uniform) noexcept nogil:
        return accept(min(1.0, weight * fabs(loss.slope(f, y)) / self.G), rng, uniform)


SAMPLERS = {
    "always": Sampler,
    "loss_proportional": LossProportional,
    "within_margin": WithinMargin,
    "slope_proportional": SlopeProportional,
}
