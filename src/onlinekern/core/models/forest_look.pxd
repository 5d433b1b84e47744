# What a renewal of a forest begins with. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.plan cimport Plan
from onlinekern.core.models.cell_experts cimport Generation
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport Scale


cdef class ForestLook:
    cdef readonly int64_t begun      # samples learnt when it began
    cdef bint is_light
    cdef readonly bint is_whole      # whether all trees are replaced; if not, their leaves are cut
    cdef readonly Generation fresh   # what replaces the forest, or tells of its growth
    cdef readonly object interruption
    cdef Generation before
    cdef RecentRows recent
    cdef Grower grower
    cdef tuple settings, categories, cut_weights
    cdef uint64_t seed
    cdef Py_ssize_t d, n_labels, n_outputs, n_trees
    cdef Py_ssize_t n_telling        # of the outputs those that tell where to cut
    cdef Py_ssize_t n_exact          # trees that are cut exactly, the last ones
    cdef Py_ssize_t n                # samples that it grows from,
    cdef Py_ssize_t lag              # and those that it is spread over
    cdef Plan look                   # what that is made of, once `n_planned` says so
    cdef list stages
    cdef Py_ssize_t n_planned        # parts of the plan that are made,
    cdef Py_ssize_t planned_over     # over so many samples
    cdef Py_ssize_t n_orders         # units that order categories
    cdef object X, y, weight, bends, spread, hot, tables, groups, gaps, seen, teacher, leading
    cdef object along
    cdef object landmarks
    cdef object mean, slopes, told, metric, mixed, directions, shares, scaled, sought
    cdef Scale axes                  # what the kernel machine sees,
    cdef Scale directed              # and what trees do, if that is another one
    cdef float[:, ::1] rows          # all of them, scaled

    cdef bint is_planned(self) noexcept nogil
    cdef Status plan_until(self, int64_t entered) noexcept nogil
    cdef Status look_until(self, double share) noexcept nogil
