# Sequential minimal optimisation of the duals of kernel machines. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.models.active_rows cimport ActiveRows


cdef class DualMinimiser:
    cdef readonly ActiveRows rows
    cdef readonly bint offset, shrinking
    cdef readonly double tol, insensitivity
    cdef readonly double gap             # largest slope upwards - least downwards, active points
    cdef readonly Py_ssize_t n_iter, n_shrunk, n_restored
    cdef const ok_vector_ops *ops
    cdef double[::1] targets, lower, upper, ridge, diagonal, beta     # by point
    cdef double[::1] gradient            # by point; `a` contains that of the active ones
    cdef double[::1] a, up, down, lengths, best                       # by place; by panel
    # Not char, whose signedness depends on the platform.
    cdef signed char[::1] zeros          # a kernel row of zeros
    cdef Py_ssize_t[::1] kept            # places of the points that stay active
    cdef Py_ssize_t n_kept, until_shrinking
    cdef double least, top
    cdef object interruption

    cdef int place_points(self) except -1
    cdef void set_slopes(self, Py_ssize_t place) noexcept nogil
    cdef double room(self, Py_ssize_t place, bint upwards) noexcept nogil
    cdef void move(self, Py_ssize_t place, double step, bint reaches_end) noexcept nogil
    cdef double rate(self, Py_ssize_t place, const char *row, Py_ssize_t other) noexcept nogil
    cdef Py_ssize_t best_place(self, Py_ssize_t panel, const char *row,
                               Py_ssize_t other) noexcept nogil
    cdef Py_ssize_t best_panel(self) noexcept nogil
    cdef const char *row(self, Py_ssize_t place, const char *of, Py_ssize_t other) noexcept nogil
    cdef Status pair(self, Py_ssize_t i) noexcept nogil
    cdef Status single(self, Py_ssize_t i) noexcept nogil
    cdef void look(self) noexcept nogil
    cdef bint pays_to_shrink(self) noexcept nogil
    cdef int descend(self, Py_ssize_t most) noexcept nogil
    cdef bint interrupted(self) noexcept nogil
    cdef int restore(self) except -1
    cdef int shrink(self) except -1
