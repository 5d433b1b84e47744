# Nystroem features whose landmarks grow with the stream. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.kernels.window cimport Window


cdef class NestedNystroem(FeatureMap):
    cdef const ok_vector_ops *ops
    cdef readonly SupportSet landmarks
    cdef readonly Py_ssize_t n_components
    cdef readonly str selection
    cdef readonly double novelty
    cdef bint only_entered         # whether only samples that change the model are candidates
    cdef double rounding           # delta^2 below this fraction of kappa(x, x) is a rounding error
    cdef double steepest           # longest row of L^-1, in units of 1 / sqrt(kappa(x, x))
    cdef double least              # least delta^2 of a landmark, as a fraction of kappa(l, l)
    cdef double *rows              # L^-1, n_components x n_components
    cdef char *panels              # L^-1 in the dtype of the samples, in panels
    cdef double *values            # buffer: kernel values of a candidate, then c
    cdef Py_ssize_t saved_n

    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef void write_lane(self, Py_ssize_t row) noexcept nogil
    cdef void project(self, Window window, char *z) noexcept nogil
    cdef bint is_steep(self, double diagonal) noexcept nogil
    cdef double border(self, Py_ssize_t i) noexcept nogil
    cdef void extend_features(self, NestedWindow window, Py_ssize_t i,
                              double delta) noexcept nogil


cdef class NestedWindow(FeatureWindow):
    cdef NestedNystroem map
    cdef Window window
    cdef bint learning
    cdef Py_ssize_t filled         # positions of a row that may hold anything but 0
    cdef char *column              # one panel of features of the block
