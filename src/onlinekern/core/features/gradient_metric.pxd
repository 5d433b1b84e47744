# A metric that is learnt from gradients. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.features.metric cimport MetricRoot
from onlinekern.core.features.taught cimport TaughtFeatures


cdef class MetricStream(TaughtFeatures):
    cdef MetricRoot mover
    cdef MetricRoot saved_mover        # at the checkpoint
    cdef int64_t seed

    cdef int begin(self, root, kind, seed) except -1
    cdef int64_t due(self)
    cdef object learnt_root(self, bint chooses)
    cdef tuple forms_of_root(self)
    cdef object goals(self, object y)
    cdef object draws(self)
    cdef object gradients(self, object X, object goals, object draws, bint full)
    cdef dict own_state(self)
    cdef int set_own_state(self, dict state) except -1


cdef class GradientMetric(MetricStream):
    pass
