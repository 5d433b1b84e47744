# Work that is done in small units. May change at minor versions.


cdef class Plan:
    cdef list stages                 # None when all is done
    cdef Py_ssize_t n_stages, stage, unit
    # Cost of all units, of those done, and of those done plus the next one.
    cdef readonly double work
    cdef double done, next

    cdef bint is_left(self) noexcept nogil
    cdef bint has_unit(self, double share) noexcept nogil
    cdef int begin_unit(self) except -1
    cdef int go_on(self) except -1
