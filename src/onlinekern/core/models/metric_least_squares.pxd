# Least squares in a metric that is learnt. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.models.least_squares cimport LeastSquaresSpace
from onlinekern.core.models.learnt_anew cimport LearntAnew
from onlinekern.core.models.metric_choice cimport MetricChoice
from onlinekern.core.models.metric_renewal cimport MetricRenewal
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class MetricLeastSquares(LeastSquaresSpace):
    cdef readonly RecentRows recent
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t first_taught  # the metric is learnt from this output and those behind
    cdef readonly double exponent
    cdef readonly uint64_t seed
    cdef readonly int64_t interval     # renewals are no farther apart
    cdef readonly MetricChoice choice  # None if the form of the metric stays
    cdef readonly Py_ssize_t n_anew    # samples that a model is learnt anew from
    # Of the model where a renewal began: samples, weights, r, whether it was wide; None if none has
    cdef readonly tuple begun
    cdef int64_t begins, ends          # its first and last sample
    cdef MetricRenewal renewal         # what is done of it; None where that is to be done again
    cdef tuple saved_begun
    cdef FeatureMap saved_map
    cdef FeatureWindow saved_window
    cdef MetricChoice saved_choice
    cdef double[::1] y                 # the targets of the sample that was observed last

    cdef bint is_time(self, int64_t count) noexcept nogil
    cdef int64_t due(self) noexcept nogil
    cdef int go_on_from(self, tuple begun) except -1
    cdef MetricRenewal new_renewal(self)
    cdef int take(self, LearntAnew fresh) except -1


cdef class PresentWindow:
    cdef FeatureMap map
    cdef FeatureWindow window
    cdef Py_ssize_t rows

    cdef Status renew(self, FeatureMap map) noexcept
