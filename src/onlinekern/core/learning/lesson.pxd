# Learning the rows of a call with a rival during trials. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.learning.trials cimport Trials


cdef class Lesson:
    cdef Trials trials
    cdef Py_ssize_t n
    cdef const Py_ssize_t *order  # row numbers; NULL: 0, 1, ...
    cdef const double *weights    # weight of each row; NULL: all 1

    cdef inline Py_ssize_t row(self, Py_ssize_t i) noexcept nogil:
        """The number of the row at place i of the order."""
        return self.order[i] if self.order else i

    cdef inline double weight(self, Py_ssize_t row) noexcept nogil:
        """The weight of a row."""
        return self.weights[row] if self.weights else 1

    cdef int learn(self, int64_t seen) except -1
    cdef Py_ssize_t watch(self, Py_ssize_t first, Py_ssize_t last, int64_t seen) except -1
    cdef bint compare(self, Py_ssize_t first, Py_ssize_t last, int64_t seen) except -1
    cdef int64_t count(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t piece(self) except -1
    cdef int teach(self, bint rival, Py_ssize_t first, Py_ssize_t last) except -1
    cdef double loss(self, bint rival, Py_ssize_t row) noexcept
    cdef int give(self, bint rival, Py_ssize_t row) except -1
    cdef int begin(self, int64_t seen) except -1
    cdef int exchange(self, int64_t seen) except -1
    cdef int drop(self) except -1
