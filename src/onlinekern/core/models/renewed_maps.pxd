# Maps in another metric. May change at minor versions.
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.features.metric cimport InMetric


cdef InMetric in_metric(FeatureMap map)
