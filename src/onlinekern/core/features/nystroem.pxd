# Nystroem features: a projection of kernel values. May change at minor versions.
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.kernels.panel_store cimport PanelStore
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.linalg.symmetric_eigen cimport LeadingEigenvectors


cdef class Spectrum:
    cdef LeadingEigenvectors eigen
    cdef readonly Py_ssize_t n, rank       # number of landmarks, and of eigenvalues kept
    cdef int write_matrix(self, SupportSet landmarks) except -1
    cdef double value(self, Py_ssize_t j) noexcept nogil
    cdef const double *vector(self, Py_ssize_t j) noexcept nogil
    cdef void expand(self, const double *coefficients, double *weights) noexcept nogil


cdef class Nystroem(FeatureMap):
    cdef readonly SupportSet landmarks
    cdef PanelStore panels                 # the projection
    cdef void project(self, Window window, char *z) noexcept nogil


cdef class NystroemWindow(FeatureWindow):
    cdef Nystroem map
    cdef Window window


cdef SupportSet landmarks_of(object kernel, object rows)
