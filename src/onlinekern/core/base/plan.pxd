# Work that is done a little at a time. May change at minor versions.


cdef class Plan:
    cdef list stages                 # those that are not done have units left
    cdef Py_ssize_t n_stages, stage, unit
    # The cost of all of it, of what is done, and of that with the next unit.
    cdef readonly double work
    cdef double done, next

    cdef bint is_left(self) noexcept nogil
    cdef bint has_unit(self, double share) noexcept nogil
    cdef int begin_unit(self) except -1
    cdef int go_on(self) except -1
