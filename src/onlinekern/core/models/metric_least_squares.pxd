# Least squares in a metric that is learnt. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.linalg.open_block cimport OpenBlock
from onlinekern.core.models.least_squares cimport LeastSquaresSpace
from onlinekern.core.models.metric_choice cimport MetricChoice
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class MetricLeastSquares(LeastSquaresSpace):
    cdef readonly RecentRows recent
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t first_taught  # the metric is learnt from this output and those behind
    cdef readonly double exponent
    cdef readonly uint64_t seed
    cdef readonly int64_t interval     # renewals are no farther apart
    cdef readonly MetricChoice choice  # None if the form of the metric stays
    cdef FeatureMap saved_map
    cdef FeatureWindow saved_window
    cdef MetricChoice saved_choice
    cdef double[::1] y                 # the targets of the sample that was observed last

    cdef bint is_time(self, int64_t count) noexcept nogil
    cdef int64_t due(self) noexcept nogil
    cdef int learn_at_once(self, FeatureMap map, FeatureWindow window, OpenBlock block, object X,
                           const double[:, ::1] targets, const double[::1] weights) except -1


cdef class PresentWindow:
    cdef FeatureMap map
    cdef FeatureWindow window
    cdef Py_ssize_t rows

    cdef Status renew(self, FeatureMap map) noexcept
