# Covariances of the weights of second-order learners. May change at minor versions.
from onlinekern.core.base.part cimport Component, Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.samples.row_arithmetic cimport Vector


cdef class Covariance(Component):
    cdef readonly Py_ssize_t n_outputs, n_matrices, length, width
    cdef const ok_vector_ops *ops
    cdef JournaledMatrix blocks
    cdef double *directions      # n_matrices x width: S_k x of the measured sample

    cdef inline Py_ssize_t matrix_of(self, Py_ssize_t k) noexcept nogil:
        """The matrix of output k."""
        return k if self.n_matrices > 1 else 0

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil
    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil
    cdef Status contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil
    cdef Py_ssize_t work(self, Py_ssize_t length) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef class Diagonal(Covariance):
    pass


cdef class Full(Covariance):
    cdef char *deferred          # for each matrix: a contraction is still to be applied
    # For each matrix and feature: whether its row may differ from that of the identity.
    cdef char *contracted
    cdef double product(self, Py_ssize_t k, const Vector *x, double *out) noexcept nogil
    cdef void product_dense(self, const double *matrix, const char *contracted, const double *x,
                            double *out) noexcept nogil
    cdef void product_sparse(self, const double *matrix, const Vector *x,
                             double *out) noexcept nogil
    cdef void apply_contraction(self, Py_ssize_t k, double *matrix) noexcept nogil


cdef class Shared(Full):
    pass
