# Coefficients of the support rows, and their running average. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.kernels.coefficient_rows cimport CoefficientRows


cdef class Coefficients(CoefficientRows):
    cdef void sums_of(self, Py_ssize_t k, const char *g, Py_ssize_t length,
                      double *sums) noexcept nogil
    cdef void scores(self, const char *g, double *current, double *averaged) noexcept nogil
    cdef void scale_score(self, Py_ssize_t k, const double *sums, double *current,
                          double *averaged) noexcept nogil
    cdef void add_scores(self, const char *g, Py_ssize_t first, Py_ssize_t n,
                         double *sums) noexcept nogil
    cdef void add_tile(self, const char *g, Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t first,
                       Py_ssize_t n, double *sums) noexcept nogil
    cdef void finish_scores(self, const double *sums, double *current,
                            double *averaged) noexcept nogil
    cdef Status assign(self, Py_ssize_t slot, const double *step) noexcept nogil
    cdef Status add_entries(self, Py_ssize_t slot, const double *step) noexcept nogil
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
    cdef void squares(self, double *out) noexcept nogil
    cdef void products(self, Py_ssize_t slot, double *out) noexcept nogil
    cdef Status advance(self, int64_t lead) noexcept nogil
    cdef Status shrink(self, double factor) noexcept nogil
    cdef Status fold(self, double factor) noexcept nogil
