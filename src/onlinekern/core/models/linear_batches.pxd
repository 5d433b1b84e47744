# The space of mini-batch linear learners. May change at minor versions.
from onlinekern.core.models.linear cimport LinearSpace


cdef struct Pending:
    Py_ssize_t count     # samples of the open batch
    double shrink        # product of the shrink factors of these samples
    double squared_norm  # squared norm of the last model, including intercepts


cdef class BatchSpace(LinearSpace):
    cdef readonly Py_ssize_t batch_size
    cdef public double radius
    cdef LinearSpace batch_update  # sum of coefficient times sample over the open batch
    cdef Pending pending, saved_pending
    cdef char *is_nonzero          # flags: whether a block of `batch_update` is in `nonzero`
    cdef Py_ssize_t *nonzero       # list of the blocks that may not be 0
    cdef Py_ssize_t n_nonzero

    cdef void add_nonzero(self, Py_ssize_t block) noexcept nogil
    cdef void find_nonzero(self) noexcept nogil
    cdef void add_to_batch(self, Py_ssize_t k, Py_ssize_t row, double coefficient) noexcept nogil
    cdef void step(self) noexcept nogil
    cdef void apply_block(self, Py_ssize_t block) noexcept nogil
    cdef void project(self) noexcept nogil
