# Least squares, one block of samples at a time. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.linalg.block_memory cimport LANES
from onlinekern.core.linalg.chosen_prior cimport ChosenPrior


cdef class OpenBlock(ChosenPrior):
    cdef bint is_scaled                    # whether `scaled` holds the samples of this block

    cdef double scale(self) noexcept nogil
    cdef void set_used(self, Py_ssize_t used) noexcept nogil
    cdef int set_reg(self, double reg) except -1
    cdef void correct(self, const double *h, double *scores) noexcept nogil
    cdef void append(self, const char *row, double square, const double *h, double weight,
                     const double *scores, const double *steps) noexcept nogil
    cdef void add_products(self, double *out) noexcept nogil
    cdef void solve_multipliers(self) noexcept nogil
    cdef Status close(self) noexcept nogil
    cdef void add_targets(self) noexcept nogil
    cdef void add_squares(self) noexcept nogil
    cdef void add_block(self) noexcept nogil
    cdef void scale_rows(self, Py_ssize_t n, double *out) noexcept nogil
    cdef void leave(self, Py_ssize_t n) noexcept nogil
    cdef double[:, ::1] whole_sums(self)
    cdef void add_rows(self, Py_ssize_t n, double *rows, const double *targets) noexcept nogil
    cdef void note_targets(self) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
