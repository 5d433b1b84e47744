# Rules for training points with coefficients of their own. May change at minor versions.
from onlinekern.core.base.part cimport Part
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.schedules cimport Schedule


cdef class PointGradient(Rule):
    cdef Schedule schedule
    cdef double C
    cdef bint penalised
    cdef double bounded(self, double step, double rate, double f, double y,
                        double q) noexcept nogil


cdef class Penalty(Part):
    cdef double change(self, double coefficient, double step, double decay) noexcept nogil
