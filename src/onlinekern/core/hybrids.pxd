# The model in two spaces of DualSGD (layer 9). May change at minor versions.
from onlinekern.core.maps cimport FeatureBlock
from onlinekern.core.provisions cimport Provision
from onlinekern.core.spaces cimport InverseTimeSpace
from onlinekern.core.windows cimport Window


cdef class HybridWindow:
    cdef Window window
    cdef FeatureBlock features


cdef class HybridSpace(InverseTimeSpace):
    cdef readonly Provision provision
