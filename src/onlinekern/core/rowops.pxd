# Arithmetic of one sample with vectors of doubles (layer 2). May change at minor versions.
from onlinekern.core.rows cimport Rows


cdef double row_dot(const Rows *rows, Py_ssize_t i, const double *a) noexcept nogil
cdef void row_dots(const Rows *rows, Py_ssize_t i, const double *a, const double *b,
                   double *sums) noexcept nogil
cdef double row_square(const Rows *rows, Py_ssize_t i) noexcept nogil
cdef void row_add(const Rows *rows, Py_ssize_t i, double factor, double *out) noexcept nogil
cdef void row_follow(const Rows *rows, Py_ssize_t i, double rate, double *mean, double factor,
                     double *out) noexcept nogil
