# Heads: from K scores and a label to scalar problems. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Gate


cdef struct Outcome:
    double loss      # of the sample, before the update
    double shrink    # factor on everything learnt before
    bint updates     # some coefficient of the sample is not zero


cdef class Head(Part):
    cdef readonly Py_ssize_t n_outputs
    cdef double predict(self, const double *scores) noexcept nogil
    cdef double target(self, double y) noexcept nogil
    cdef double violation(self, const double *scores, double y) noexcept nogil
    cdef void wanted(self, const double *scores, double y, Rule rule,
                     double *lengths) noexcept nogil
    cdef Outcome solve(self, const double *scores, const double *lengths, double y, double weight,
                       int64_t t, Rule rule, Gate gate, Generator rng,
                       double *coefficients) noexcept nogil
