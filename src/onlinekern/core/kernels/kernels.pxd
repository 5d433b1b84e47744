# Kernel functions over blocks of products. May change at minor versions.
from onlinekern.core.base.part cimport Part
from onlinekern.core.base.vector cimport ok_vector_ops


cdef class Kernel(Part):
    cdef int accumulate
    cdef bint of_rows            # whether a Python function makes the values, see python_kernel
    cdef double exact_above      # ||x||^2, or the norm term of a kernel of l1 distances
    cdef double norm_term(self, double square, double absolute) noexcept nogil
    cdef double diagonal(self, double square) noexcept nogil
    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil
    cdef void of_distance(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                          Py_ssize_t m) noexcept nogil
