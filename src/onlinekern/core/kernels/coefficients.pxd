# Coefficients of the support rows, and their running average. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.scaled_average cimport ScaledAverage
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport ok_vector_ops


cdef class Coefficients:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n_outputs, n, capacity
    cdef readonly bint averaged
    cdef readonly object averaging   # how: False, True (uniform), 'decay' or a float
    cdef double *values          # n_outputs x capacity, to be multiplied by the scale; 0 beyond n
    cdef double *companions      # the same shape, behind the values; NULL if not averaged
    cdef ScaledAverage average, saved_average
    cdef Journal journal         # of the rows of values and of companions
    cdef Py_ssize_t saved_n
    cdef Py_ssize_t least_changed   # no slot below it has changed since the caller raised it

    cdef inline double at(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil:
        """The number of output k in a slot, without the common scale."""
        return self.values[k * self.capacity + slot]

    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef void scores(self, const char *g, double *current, double *averaged) noexcept nogil
    cdef void scale_score(self, Py_ssize_t k, const double *sums, double *current,
                          double *averaged) noexcept nogil
    cdef void add_scores(self, const char *g, Py_ssize_t first, Py_ssize_t n,
                         double *sums) noexcept nogil
    cdef void finish_scores(self, const double *sums, double *current,
                            double *averaged) noexcept nogil
    cdef Status assign(self, Py_ssize_t slot, const double *step) noexcept nogil
    cdef Status add_at(self, Py_ssize_t slot, const double *step) noexcept nogil
    cdef Status reserve_features(self, Py_ssize_t length) noexcept nogil
    cdef Status add_multiples(self, const char *z, const double *factors) noexcept nogil
    cdef Status clear(self, Py_ssize_t slot) noexcept nogil
    cdef Status add_multiples_double(self, const double *z, const double *factors) noexcept nogil
    cdef Status add_scaled(self, const ok_vector_ops *ops, const void *z,
                           const double *factors) noexcept nogil
    cdef Status add_to_output(self, const ok_vector_ops *ops, Py_ssize_t k, const void *z,
                              double factor) noexcept nogil
    cdef Status overwrite(self, Py_ssize_t k, const double *fresh) noexcept nogil
    cdef Status multiply(self, const double *factors) noexcept nogil
    cdef Status clip(self, double limit) noexcept nogil
    cdef Py_ssize_t cheapest(self, const char *g, double length,
                             const double *lengths) noexcept nogil
    cdef double norm(self, Py_ssize_t slot) noexcept nogil
    cdef void norms(self, double *out) noexcept nogil
    cdef Status advance(self, int64_t lead) noexcept nogil
    cdef Status shrink(self, double factor) noexcept nogil
    cdef Status fold(self, double factor) noexcept nogil
    cdef Py_ssize_t n_vectors(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef Status preserve(self) noexcept nogil
    cdef Status preserve_output(self, Py_ssize_t k) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef object matrix(self, double *values)
