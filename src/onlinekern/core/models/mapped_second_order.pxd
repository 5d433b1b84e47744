# Second-order models of explicit features. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.models.confidence cimport Confidence
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.models.mapped cimport MappedSpace
from onlinekern.core.samples.row_arithmetic cimport Vector


cdef class MappedSecondOrderSpace(MappedSpace):
    cdef readonly Covariance covariance
    cdef Confidence confidence
    cdef double *numbers         # buffer for the features of a sample, if they are not double
    cdef Vector features         # features of the sample that was loaded last
    cdef Status grown            # what `FeatureMap.consider` returned for the sample scored last
    cdef double load(self, Py_ssize_t i) noexcept nogil
