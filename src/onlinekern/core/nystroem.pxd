# Nystroem features: a projection of kernel values (layer 7). May change at minor versions.
from onlinekern.core.eigen cimport LeadingEigenvectors
from onlinekern.core.maps cimport FeatureMap, FeatureWindow
from onlinekern.core.stores cimport PanelStore
from onlinekern.core.support cimport SupportSet
from onlinekern.core.windows cimport Window


cdef class Spectrum:
    cdef LeadingEigenvectors eigen
    cdef readonly Py_ssize_t n, rank       # landmarks, and eigenvalues that are kept
    cdef int write_matrix(self, SupportSet landmarks) except -1
    cdef double value(self, Py_ssize_t j) noexcept nogil
    cdef const double *vector(self, Py_ssize_t j) noexcept nogil
    cdef void expand(self, const double *coefficients, double *weights) noexcept nogil


cdef class Nystroem(FeatureMap):
    cdef readonly SupportSet landmarks
    cdef PanelStore panels                 # of the projection
    cdef void project(self, Window window, char *z) noexcept nogil


cdef class NystroemWindow(FeatureWindow):
    cdef Nystroem map
    cdef Window window


cdef SupportSet landmarks_of(object kernel, object rows)
