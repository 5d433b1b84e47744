# Rules for training points with coefficients of their own (layer 3). May change at minor versions.
from onlinekern.core.rules cimport Rule
from onlinekern.core.schedules cimport Schedule


cdef class PointGradient(Rule):
    cdef Schedule schedule
    cdef double C
    cdef bint penalised
    cdef double bounded(self, double step, double rate, double f, double y,
                        double q) noexcept nogil
