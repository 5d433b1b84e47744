# A metric whose form is chosen along the stream. May change at minor versions.
from onlinekern.core.features.gradient_metric cimport MetricStream
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.models.metric_choice cimport MetricChoice


cdef class ChosenMetric(MetricStream):
    cdef readonly MetricChoice choice
    cdef MetricChoice saved_choice     # at the checkpoint
    cdef FeatureMap map                # map of the small models that are compared
