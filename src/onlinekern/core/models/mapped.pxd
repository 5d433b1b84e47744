# Linear models of explicit features. May change at minor versions.
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.models.space cimport Space


cdef class MappedSpace(Space):
    cdef readonly FeatureMap map
    cdef readonly Coefficients weights     # one per output and feature
    cdef FeatureWindow window
    cdef int set_weights(self, object state) except -1
