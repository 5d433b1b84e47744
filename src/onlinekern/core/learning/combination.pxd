# Weights of experts whose answers add up. May change at minor versions.

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
    cdef Py_ssize_t n_numbers        # of errors, met and weights
    cdef double keep, least_error
    cdef double *errors              # lower triangle, n_experts x n_experts
    cdef double *met                 # the samples that they are sums of, for each expert
    cdef double *weights
    cdef double *copies              # of these three, at the checkpoint
    cdef double *equal
    cdef double *memory

    cdef void meet(self, double weight) noexcept nogil
    cdef void add(self, const double *own, double weight) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
