# What a renewal of a forest begins with. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.plan cimport Plan
from onlinekern.core.models.forest_units cimport ForestUnits
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.scale cimport Scale


cdef class ForestLook(ForestUnits):
    cdef readonly object interruption
    cdef Grower grower
    cdef Plan look                   # what that is made of, once `n_planned` says so
    cdef list stages
    cdef Py_ssize_t n_planned        # parts of the plan that are made,
    cdef Py_ssize_t planned_over     # over so many samples
    cdef Py_ssize_t n_differentiated     # outputs whose gradients are found together
    cdef object seen, teacher, leading, along, landmarks
    cdef object mean, slopes, metric, mixed, directions, shares, scaled, sought
    cdef Scale axes                  # what the kernel machine sees,
    cdef Scale directed              # and what trees do, if that is another one
    cdef float[:, ::1] rows          # all of them, scaled

    cdef bint is_planned(self) noexcept nogil
    cdef Status plan_until(self, int64_t entered) noexcept nogil
    cdef Status look_until(self, double share) noexcept nogil
