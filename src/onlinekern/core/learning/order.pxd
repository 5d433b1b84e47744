# Orders: which row is learnt next. May change at minor versions.

cdef class Order:
    cdef const Py_ssize_t *rows    # their numbers; NULL: as they stand
    cdef readonly Py_ssize_t n     # rows in all; -1: all
    cdef readonly Py_ssize_t most  # rows of a block at most
    cdef object owner
    cdef void choose(self, Py_ssize_t first) noexcept nogil
