# Discriminative regularisers and their steps (layer 5). May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.parts cimport Part
from onlinekern.core.scatters cimport Scatter


cdef class Discriminant(Part):
    cdef readonly double within_weight, weight, regularisation
    cdef void gradient(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                       double *out) noexcept nogil
    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil
    cdef double curvature(self, Scatter scatter) noexcept nogil


cdef class Step(Part):
    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil
