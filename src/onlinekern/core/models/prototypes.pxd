# Prototypes by sequential k-means. May change at minor versions.
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.samples.rows cimport Rows


cdef class Prototypes:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t k, d, itemsize, n
    cdef readonly bint fixed        # prototypes are set once, and do not move
    cdef readonly bint keeps_sums   # `centers` are sums of samples, not means
    cdef JournaledMatrix centers    # k x (d, padded), the means or sums in double
    cdef JournaledMatrix statistics  # k x 8: number of samples; squared norm of a stored sum
    cdef char *panels               # the centers in the type of the samples, feature-major
    cdef double *scales             # see `scale`
    cdef double *squares            # squared norms of the prototypes, if sums are stored
    cdef Py_ssize_t saved_n

    cdef Py_ssize_t padded_size(self) noexcept nogil
    cdef const double *center(self, Py_ssize_t j) noexcept nogil
    cdef double scale(self, Py_ssize_t j) noexcept nogil
    cdef void measure(self, Py_ssize_t j) noexcept nogil
    cdef double square_of_mean(self, Py_ssize_t j) noexcept nogil
    cdef void distances(self, const Rows *rows, Py_ssize_t row, double squared_norm,
                        char *panel_products, double *out) noexcept nogil
    cdef void add_sample(self, Py_ssize_t j, const Rows *rows, Py_ssize_t row,
                         const double *x) noexcept nogil
    cdef char *lane(self, Py_ssize_t j) noexcept nogil
    cdef void write_lane(self, Py_ssize_t j) noexcept nogil
    cdef bint are_finite(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef Py_ssize_t nearest(const double *distances, Py_ssize_t n, Py_ssize_t m,
                        Py_ssize_t *neighbors) noexcept nogil
cdef void soft_assignment(const double *distances, const Py_ssize_t *neighbors, Py_ssize_t n,
                          double bandwidth, double *assignment) noexcept nogil
