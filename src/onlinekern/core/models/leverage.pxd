# The leverage of samples. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureWindow
from onlinekern.core.linalg.look_ahead cimport LookAhead
from onlinekern.core.models.least_squares cimport LeastSquaresSpace
from onlinekern.core.samples.rows cimport Rows


cdef class LeverageSpace(LeastSquaresSpace):
    cdef double share(self, LookAhead ahead, FeatureWindow window, Py_ssize_t i) noexcept nogil


cdef class LeverageWindow:
    cdef LeverageSpace space
    cdef FeatureWindow features
    cdef LookAhead ahead
    cdef double *widened
    cdef Status follow(self) noexcept nogil
    cdef Status open(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil
