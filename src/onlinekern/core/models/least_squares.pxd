# Least squares over explicit features. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.linalg.look_ahead cimport LookAhead
from onlinekern.core.linalg.open_block cimport OpenBlock
from onlinekern.core.models.residuals cimport Residuals
from onlinekern.core.models.space cimport Space


cdef class LeastSquaresSpace(Space):
    cdef readonly FeatureMap map
    cdef readonly OpenBlock block
    cdef OpenBlock saved_block
    cdef readonly Residuals residuals
    cdef LookAhead ahead
    cdef LookAhead saved_ahead
    cdef Status failure            # status of the change to double
    cdef readonly double reg       # r, or the first r if it is chosen along the stream
    cdef readonly int64_t entered  # samples learnt
    cdef int64_t saved_entered
    cdef FeatureWindow window
    cdef double *widened           # rows of a float32 map in double

    cdef bint is_wide(self) noexcept nogil
    cdef void widen_for(self, Py_ssize_t i) noexcept nogil
    cdef void widen(self, Py_ssize_t i) noexcept nogil
    cdef const char *rows_of(self, FeatureWindow window, double *widened, Py_ssize_t first,
                             Py_ssize_t n) noexcept nogil
    cdef Status take_up(self, Py_ssize_t i, double weight, const double *steps) noexcept nogil
    cdef int set_state(self, object entered, object state) except -1


cdef double *new_rows(Py_ssize_t length) except NULL
