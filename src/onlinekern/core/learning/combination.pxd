# Weights of a linear combination of experts. May change at minor versions.

cdef Py_ssize_t memory_size(Py_ssize_t m) noexcept nogil
cdef void combine(const double *errors, const double *met, const double *shares,
                  const unsigned char *voting, Py_ssize_t m, double least_error,
                  double *memory, double *weights) noexcept nogil
cdef void fade(double *errors, double *met, const unsigned char *fed, Py_ssize_t m,
               double discount, double weight) noexcept nogil
cdef void add_products(double *errors, const double *own, const unsigned char *fed, Py_ssize_t m,
                       double weight) noexcept nogil


cdef class Combination:
    cdef readonly Py_ssize_t n_experts
    cdef Py_ssize_t n_numbers        # doubles in errors, met and weights
    cdef double keep, least_error
    cdef double *errors              # n_experts x n_experts, lower triangle: sums of products
    cdef double *met                 # n_experts: sums of the weights in `errors`
    cdef double *weights             # n_experts
    cdef double *copies              # errors, met and weights at the checkpoint
    cdef double *equal               # n_experts: equal weights, 1 / n_experts
    cdef double *memory

    cdef void meet(self, double weight) noexcept nogil
    cdef void add(self, const double *own, double weight) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
