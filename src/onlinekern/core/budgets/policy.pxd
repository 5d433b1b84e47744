# Budget policies. May change at minor versions.
from onlinekern.core.base.part cimport Part, Status
from onlinekern.core.kernels.support_set cimport SupportSet

cdef class Budget(Part):
    cdef readonly Py_ssize_t refused
    cdef int attach(self, SupportSet support) except -1
    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil
    cdef void observe(self, double y, double weight) noexcept nogil
    cdef void shift(self, double *scores) noexcept nogil
    cdef void checkpoint(self, SupportSet support) noexcept nogil
    cdef void rollback(self, SupportSet support) noexcept nogil


cdef class Bounded(Budget):
    cdef readonly Py_ssize_t max_support
    cdef bint full(self, SupportSet support) noexcept nogil


cdef class Cap(Bounded):
    pass


cdef class Eviction(Bounded):
    cdef double *step            # K numbers to work with
    cdef double *work            # and one per slot, with room for `room`
    cdef Py_ssize_t room

    cdef Status make_room(self, Py_ssize_t rows) noexcept nogil
    cdef void row_squares(self, SupportSet support) noexcept nogil
    cdef Status swap(self, SupportSet support, Py_ssize_t slot, Py_ssize_t i,
                     const double *coefficients) noexcept nogil
