# A metric that is learnt from gradients. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.features.metric cimport MetricRoot
from onlinekern.core.features.taught cimport TaughtFeatures


cdef class GradientMetric(TaughtFeatures):
    cdef MetricRoot mover
    cdef MetricRoot saved_mover        # at the checkpoint

    cdef int64_t due(self)
