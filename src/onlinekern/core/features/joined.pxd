# Linear features beside others. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow


cdef class WithLinear(FeatureMap):
    cdef readonly FeatureMap map
    cdef readonly Py_ssize_t offset    # position of the first feature of `map`
    cdef double factor

    cdef Status consider_joined(self, JoinedWindow window, Py_ssize_t i,
                                bint entered) noexcept nogil
    cdef void write_row(self, JoinedWindow window, Py_ssize_t i) noexcept nogil
    cdef void copy_last(self, JoinedWindow window, Py_ssize_t i) noexcept nogil


cdef class JoinedWindow(FeatureWindow):
    cdef WithLinear map
    cdef FeatureWindow inner
