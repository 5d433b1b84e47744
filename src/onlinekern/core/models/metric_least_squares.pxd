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
    cdef readonly Py_ssize_t first_taught  # the metric is learnt from the outputs from this one on
    cdef readonly double exponent
    cdef readonly uint64_t seed
    cdef readonly int64_t interval     # most samples between two renewals
    cdef readonly MetricChoice choice  # None: the form of the metric is fixed
    cdef readonly Py_ssize_t n_anew    # most samples that a new model learns
    # The model when the renewal under way began: samples, weights, r, whether rows were multiplied
    # in double. None: no renewal is under way.
    cdef readonly tuple begun
    cdef int64_t begins, ends          # samples at which that renewal begins and ends
    cdef MetricRenewal renewal         # its work so far; None: it is to be repeated from its start
    cdef tuple saved_begun
    cdef FeatureMap saved_map
    cdef FeatureWindow saved_window
    cdef MetricChoice saved_choice
    cdef double[::1] y                 # targets of the sample observed last

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
