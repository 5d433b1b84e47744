# The model of NOGD. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.features.nystroem cimport Spectrum
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.models.mapped cimport MappedSpace
from onlinekern.core.models.space cimport KernelSpace, Space


cdef class StageWindow:
    cdef Py_ssize_t rows
    cdef Space stage               # stage that made `window`
    cdef object window


cdef class NystroemSpace(Space):
    cdef readonly SupportSet support
    cdef readonly Py_ssize_t n_landmarks, n_components
    cdef KernelSpace expansion     # the first stage
    cdef Space stage, saved_stage  # the present one, and that of the checkpoint
    cdef Status enter_second_stage(self) noexcept nogil
    cdef Status build_second_stage(self) noexcept
    cdef MappedSpace new_mapped(self, object projection)
    cdef int carry_over(self, Spectrum spectrum, MappedSpace mapped) except -1
    cdef Status fit_window(self, StageWindow window) noexcept nogil
