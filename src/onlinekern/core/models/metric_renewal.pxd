# The renewal of a metric while samples come. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.plan cimport Plan
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.models.learnt_anew cimport LearntAnew
from onlinekern.core.models.metric_choice cimport MetricChoice
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class MetricRenewal:
    cdef readonly int64_t begun        # samples before it
    cdef int64_t reached               # samples up to the last one that is in the new sums
    cdef readonly MetricChoice chosen  # what the choice will be
    cdef readonly object root          # M^(1/2) as the gradients have it, or None
    cdef LearntAnew fresh              # what replaces the model, or None
    cdef RecentRows recent
    cdef Py_ssize_t n, n_taught, n_outputs, n_labels, first_taught
    # Samples that it is spread over, and those of them that the new sums have.
    cdef int64_t lag, summed
    cdef double exponent, least, reg
    cdef bint is_full                  # whether the gradients are those of a full metric
    cdef Plan plan, ending
    cdef FeatureMap map                # in which it began
    cdef object block, weights, draws, X, y, weight, gradient, total, search, look

    cdef int advance(self, int64_t count) except -1
    cdef bint has_work(self, int64_t count) noexcept nogil
    cdef bint ends_after(self, int64_t count) noexcept nogil
    cdef double share_of_plan(self, int64_t count) noexcept nogil
    cdef double share_of_ending(self, int64_t count) noexcept nogil
    cdef int go_on_until(self, Plan plan, double share) except -1
    cdef int learn_until(self, int64_t last) except -1
