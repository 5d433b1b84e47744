# The renewal of a metric, spread over samples. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.plan cimport Plan
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.models.learnt_anew cimport LearntAnew
from onlinekern.core.models.metric_choice cimport MetricChoice
from onlinekern.core.partitions.recent_rows cimport RecentRows


cdef class MetricRenewal:
    cdef readonly int64_t begun        # samples learnt when it began
    cdef int64_t reached               # number of the next sample that the new model learns
    cdef readonly MetricChoice chosen  # the choice of the form after it
    cdef readonly object root          # M^(1/2) from the gradients, or None
    cdef LearntAnew fresh              # the new model; None: the metric has hardly changed
    cdef RecentRows recent
    cdef Py_ssize_t n, n_taught, n_outputs, n_labels, first_taught
    cdef int64_t lag                   # samples that it is spread over
    cdef int64_t summed                # the first of these, which are in the sums of the new model
    cdef double exponent, least, reg
    cdef bint is_full                  # whether full outer products are needed, not the diagonal
    cdef Plan plan, ending             # work up to the sums, and work on the inverse N
    cdef FeatureMap map                # map of the old model
    cdef object block, weights, draws, X, y, weight, gradient, total, search, look

    cdef int advance(self, int64_t count) except -1
    cdef bint has_work(self, int64_t count) noexcept nogil
    cdef bint ends_after(self, int64_t count) noexcept nogil
    cdef double share_of_plan(self, int64_t count) noexcept nogil
    cdef double share_of_ending(self, int64_t count) noexcept nogil
    cdef int go_on_until(self, Plan plan, double share) except -1
    cdef int learn_until(self, int64_t last) except -1
