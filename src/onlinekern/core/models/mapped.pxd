# Linear models of explicit features. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.features.nystroem cimport NystroemWindow, Spectrum
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.models.space cimport KernelSpace, Space


cdef class MappedSpace(Space):
    cdef readonly FeatureMap map
    cdef readonly Coefficients weights     # of the features
    cdef FeatureWindow window


cdef class NystroemScoring:
    cdef Window kernel_values
    cdef NystroemWindow features


cdef class NystroemSpace(KernelSpace):
    cdef readonly Py_ssize_t n_landmarks, n_components
    cdef readonly bint moved               # from kernel values to features
    cdef MappedSpace mapped                # what is learnt since then
    cdef bint saved_moved
    cdef Status move(self) noexcept nogil
    cdef Status build(self) noexcept
    cdef MappedSpace new_space(self, object projection)
    cdef int carry_over(self, Spectrum spectrum) except -1
    cdef Status fit_window(self, NystroemScoring window) noexcept nogil
