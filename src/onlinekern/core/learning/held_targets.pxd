# Clipping of targets that are outliers. May change at minor versions.

cdef class HeldTargets:
    cdef readonly Py_ssize_t n_outputs
    cdef double[:, ::1] numbers      # n_outputs x FIELDS, in the order of that enum
    cdef double[:, ::1] saved        # the same at the checkpoint

    cdef double hold(self, Py_ssize_t k, double y, double score, double offset,
                     double unit) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
