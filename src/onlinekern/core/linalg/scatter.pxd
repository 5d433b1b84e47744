# Class means and scatter matrices of a stream. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.frequent_directions cimport FrequentDirections
from onlinekern.core.samples.rows cimport Rows


cdef class Scatter:
    cdef readonly FrequentDirections sketch
    cdef readonly bint centred
    cdef readonly Py_ssize_t n_classes, d
    cdef JournaledMatrix means   # n_classes x d
    cdef JournaledMatrix sums    # one row: weight of each class, sum of weight ||x||^2
    cdef JournaledMatrix top     # one row: the direction of the largest singular value of C
    cdef double *deviations      # V, n_classes x d, computed by `refresh`
    cdef double *overall         # mean of all samples, computed by `refresh`
    cdef double *scratch         # d
    cdef double *products        # work memory: products of w with the rows of C or V
    cdef double total            # weight of all samples, computed by `refresh`

    cdef void init_direction(self) noexcept nogil
    cdef Status add(self, const Rows *rows, Py_ssize_t i, Py_ssize_t label,
                    double weight) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void within(self, const double *w, Py_ssize_t n, Py_ssize_t stride, double factor,
                     double *out) noexcept nogil
    cdef void between(self, const double *w, Py_ssize_t n, Py_ssize_t stride, double factor,
                      double *out) noexcept nogil
    cdef void discriminants(self, Py_ssize_t n, double factor, double *out) noexcept nogil
    cdef double largest_eigenvalue(self) noexcept nogil
    cdef double mean_square(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
