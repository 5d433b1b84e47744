# Prototypes by sequential k-means. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.samples.rows cimport Rows


cdef class Prototypes:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t k, d, itemsize, n
    cdef readonly bint summed   # keep sums of samples, which a sparse one changes in few places
    cdef JournaledMatrix centers  # k x (d, padded), the means (or sums) in double
    cdef JournaledMatrix tallies  # k x 8: samples of the prototype, squared norm of its center
    cdef char *panels           # the centers in the type of the samples, feature-major
    cdef Py_ssize_t saved_n

    cdef Py_ssize_t room(self) noexcept nogil
    cdef const double *center(self, Py_ssize_t j) noexcept nogil
    cdef void distances(self, const Rows *rows, Py_ssize_t row, double square, char *products,
                        double *out) noexcept nogil
    cdef double scale(self, Py_ssize_t j) noexcept nogil
    cdef void take(self, Py_ssize_t j, const Rows *rows, Py_ssize_t row,
                   const double *x) noexcept nogil
    cdef char *lane(self, Py_ssize_t j) noexcept nogil
    cdef void write_lane(self, Py_ssize_t j) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef Py_ssize_t nearest(const double *distances, Py_ssize_t n, Py_ssize_t wanted,
                        Py_ssize_t *chosen) noexcept nogil
cdef void soft_gains(const double *distances, const Py_ssize_t *chosen, Py_ssize_t n,
                     double width, double *gains) noexcept nogil
