# Least squares refitted to the samples that are kept. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.linalg.open_block cimport OpenBlock


cdef class LearntAnew:
    cdef FeatureMap map
    cdef FeatureWindow window
    cdef OpenBlock block
    cdef double[:, ::1] rows, scaled   # features and targets, times the root of the weight
    cdef double[::1] totals            # state of an `Evidence`, see its `totals`
    cdef Status status                 # of the stages so far

    cdef Status add(self, Py_ssize_t n, const double[:, ::1] targets,
                    const double[::1] weights) noexcept nogil
    cdef Py_ssize_t panels(self) noexcept nogil


cdef object targets_of(object y, Py_ssize_t n_labels, Py_ssize_t n_outputs)
