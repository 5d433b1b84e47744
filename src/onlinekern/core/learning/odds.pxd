# Softmax of scores, by logarithms. May change at minor versions.


cdef double log_sum(const double *scores, Py_ssize_t n) noexcept nogil
cdef double log_sum_exp(const double *scores, Py_ssize_t n, Py_ssize_t k,
                        double shift) noexcept nogil
cdef double log_odds(const double *scores, Py_ssize_t n, Py_ssize_t k,
                     double total) noexcept nogil
cdef double omega(double z) noexcept nogil
cdef void shares_of(const double *scores, Py_ssize_t n, double slope, double *out) noexcept nogil
