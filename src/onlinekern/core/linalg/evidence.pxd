# The choice of the prior of least squares. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.information cimport Information


cdef class Evidence:
    cdef readonly Information sums
    cdef Py_ssize_t below
    # Sums of a y^2 of each output; the number of samples, those of the past forgotten; and of all.
    cdef JournaledMatrix totals

    cdef void add(self, const double *targets, double weight, double one) noexcept nogil
    cdef void decay(self, double factor) noexcept nogil
    cdef bint is_due(self, Py_ssize_t n) noexcept nogil
    cdef double surprise(self, const double *lost, double determinant) noexcept nogil
    # Of a search: the best r so far and how it does; 1 upwards, -1 downwards, 0 where it is over.
    cdef Py_ssize_t best, way
    cdef double least

    cdef void begin(self) noexcept nogil
    cdef Status step(self, Py_ssize_t used) noexcept nogil
    cdef Status measure(self, Py_ssize_t used, double reg, double *found) noexcept nogil
    cdef Status choose(self, Py_ssize_t used) noexcept nogil
    cdef Py_ssize_t nearest(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
