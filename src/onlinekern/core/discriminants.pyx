"""Discriminants: regularisers that pull classes together and apart, and the steps that go with it.

Layer 5. With S_w and S_b the scatter matrices of a stream, eta the weight of the first and gamma
that of the discriminative part,

    quadratic   (lambda/2) ||w||^2 + (gamma/2) (eta w'S_w w - (1 - eta) w'S_b w)
    linear      (lambda/2) ||w||^2 + gamma ((eta/2) w'S_w w - (1 - eta) m'w)

The quadratic one is published (Xue and Ren 2020, eqs. 10 and 11, gamma = 1). It is unbounded below
where S_b outweighs the rest. The linear one is convex and bounded: m is the direction of the class
means.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from scipy.linalg.cython_blas cimport daxpy

from onlinekern.core.parts cimport Part
from onlinekern.core.scatters cimport Scatter


cdef class Discriminant(Part):
    """Base of the discriminants.

    Parameters
    ----------
    within_weight : float in [0, 1]
        eta
    weight : float >= 0
        gamma
    regularisation : float >= 0
        lambda
    """

    def __init__(self, double within_weight, double weight, double regularisation):
        self.within_weight = within_weight
        self.weight = weight
        self.regularisation = regularisation
        self.arguments = (within_weight, weight, regularisation)

    cdef void gradient(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                       double *out) noexcept nogil:
        """out += the gradient at unit^-1 w, times `unit`; n rows of d + 1 numbers, the last of
        each an intercept, which is let alone. `scatter` has been refreshed."""
        cdef int d = <int> scatter.d, one = 1
        cdef Py_ssize_t k, stride = scatter.d + 1
        for k in range(n):
            daxpy(&d, &self.regularisation, <double *> w + k * stride, &one, out + k * stride,
                  &one)
        if self.weight == 0:
            return
        scatter.within(w, n, stride, self.weight * self.within_weight, out)
        self.between(scatter, w, n, unit, out)

    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil:
        """The part of `gradient` that pulls the classes apart."""
        pass

    cdef double curvature(self, Scatter scatter) noexcept nogil:
        """An estimate of the largest curvature of the convex part."""
        return self.regularisation + \
            self.weight * self.within_weight * scatter.largest_eigenvalue()


cdef class LinearBetween(Discriminant):
    """The convex one: -(1 - eta) m'w."""

    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil:
        scatter.discriminants(n, -self.weight * (1 - self.within_weight) * unit, out)


cdef class QuadraticBetween(Discriminant):
    """The published one: -(1 - eta)/2 w'S_b w."""

    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil:
        scatter.between(w, n, scatter.d + 1, -self.weight * (1 - self.within_weight), out)


cdef class Step(Part):
    """Base of the step sizes, and the published one: alpha_t = 1 / t, t counting batches."""

    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil:
        return 1.0 / t


cdef class SafeStep(Step):
    """alpha_t = min(1 / t, 1 / L): never beyond the far side of the valley, L its curvature."""

    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil:
        return 1 / max(<double> t, curvature)


cdef class RootStep(Step):
    """alpha_t = 1 / (L + sqrt(t) / eta0)

    Parameters
    ----------
    eta0 : float >= 0
        0 stands for max(1, 16 / mean ||x||^2): short samples bear, and need, longer steps.
    """

    cdef double eta0

    def __init__(self, double eta0=0.0):
        self.eta0 = eta0
        self.arguments = (eta0,)

    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil:
        cdef double eta0 = self.eta0
        if eta0 == 0:
            eta0 = 16 / mean_square if mean_square < 16 and mean_square > 0 else 1
        return 1 / (curvature + sqrt(<double> t) / eta0)


DISCRIMINANTS = {"linear": LinearBetween, "quadratic": QuadraticBetween}
STEPS = {"paper": Step, "safe": SafeStep, "sqrt": RootStep}
