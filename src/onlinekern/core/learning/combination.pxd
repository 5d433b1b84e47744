# Weights of experts whose answers add up. May change at minor versions.

cdef Py_ssize_t memory_size(Py_ssize_t m) noexcept nogil
cdef void combine(const double *errors, const double *met, const double *shares,
                  const unsigned char *voting, Py_ssize_t m, double *memory,
                  double *weights) noexcept nogil
