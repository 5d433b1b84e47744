# The units of features and targets that a renewal of a forest finds. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.models.cell_experts cimport Generation
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class ForestUnits:
    cdef readonly int64_t begun      # samples learnt when it began
    cdef bint is_light
    cdef readonly bint is_whole      # whether all trees are replaced; if not, their leaves are cut
    cdef readonly Generation fresh   # what replaces the forest, or tells of its growth
    cdef Generation before
    cdef RecentRows recent
    cdef tuple settings, categories, cut_weights
    cdef uint64_t seed
    cdef Py_ssize_t d, n_labels, n_outputs, n_trees
    cdef Py_ssize_t n_telling        # of the outputs those that tell where to cut,
    cdef Py_ssize_t n_told           # and at most so many, sums of them if these are more
    cdef Py_ssize_t n_exact          # trees that are cut exactly, the last ones
    cdef Py_ssize_t n                # samples that it grows from,
    cdef Py_ssize_t lag              # and those that it is spread over
    cdef Py_ssize_t n_orders         # units that order categories
    cdef object X, y, weight, told, bends, spread, hot, tables, groups, gaps
