"""Schedules: the step size eta_t of sample t = 1, 2, ..."""
from libc.math cimport pow, sqrt

from onlinekern.core.base.part cimport Part


cdef class Schedule(Part):
    """Base of the schedules, and the constant one: eta_t = eta.

    Parameters
    ----------
    eta : float > 0

    Attributes
    ----------
    parameters : tuple of str
        The names of its arguments, which are parameters of the learners that name it.
    """

    parameters = ("eta",)

    def __init__(self, double eta=1.0):
        self.eta = eta
        self.arguments = (eta,)

    cdef double at(self, int64_t t) noexcept nogil:
        return self.eta

    def __call__(self, int64_t t):
        return self.at(t)


cdef class InverseSquareRoot(Schedule):
    """eta_t = eta / sqrt(t)"""

    cdef double at(self, int64_t t) noexcept nogil:
        return self.eta / sqrt(<double> t)


cdef class Inverse(Schedule):
    """eta_t = eta / t; with eta = 1 / lambda the step size of Pegasos."""

    cdef double at(self, int64_t t) noexcept nogil:
        return self.eta / t


cdef class Power(Schedule):
    """eta_t = eta / t^power"""

    parameters = ("eta", "power")
    cdef double power

    def __init__(self, double eta=1.0, double power=0.5):
        self.eta = eta
        self.power = power
        self.arguments = (eta, power)

    cdef double at(self, int64_t t) noexcept nogil:
        return self.eta * pow(<double> t, -self.power)


SCHEDULES = {
    "constant": Schedule,
    "invsqrt": InverseSquareRoot,
    "inverse": Inverse,
    "power": Power,
}
