# First stage of a renewal of a forest: all that trees grow from. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.plan cimport Plan
from onlinekern.core.models.cell_experts cimport Generation
from onlinekern.core.partitions.growing cimport Grower
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.partitions.scale cimport Scale


cdef class ForestLook:
    cdef readonly int64_t begun      # samples learnt when the renewal began
    cdef bint is_light
    cdef readonly bint is_whole      # True: all trees are replaced; False: their leaves are split
    cdef readonly Generation fresh   # the new forest; if not is_whole, its scale and metric only
    cdef readonly object interruption
    cdef Generation before
    cdef RecentRows recent
    cdef Grower grower
    cdef tuple settings, categories, cut_weights
    cdef uint64_t seed
    cdef Py_ssize_t d, n_labels, n_outputs, n_trees
    cdef Py_ssize_t n_telling        # outputs that determine the splits
    cdef Py_ssize_t n_exact          # trees with exact cuts, the last ones
    cdef Py_ssize_t n                # samples that the trees grow from
    cdef Py_ssize_t lag              # samples of the stream that the renewal is spread over
    cdef Plan look                   # the work of the look; None before `is_planned`
    cdef list stages
    cdef Py_ssize_t n_planned        # parts of the plan made so far
    cdef Py_ssize_t planned_over     # samples of the stream that planning is spread over
    cdef Py_ssize_t n_orders         # units of work that order categories
    cdef object X, y, weight, bends, spread, hot, tables, groups, gaps, seen, teacher, leading
    cdef object along
    cdef object landmarks
    cdef object mean, slopes, told, metric, mixed, directions, shares, scaled, sought
    cdef Scale axes                  # scale of the kernel machine's input
    cdef Scale directed              # scale of the trees' input; None: `axes`
    cdef float[:, ::1] rows          # (n + lag, width): scaled samples

    cdef bint is_planned(self) noexcept nogil
    cdef Status plan_until(self, int64_t entered) noexcept nogil
    cdef Status look_until(self, double share) noexcept nogil
