# Spaces: what a model is. May change at minor versions.
from onlinekern.core.base.part cimport Component, Status
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.samples.rows cimport Rows


cdef object raised_by_signals()


cdef class Space(Component):
    cdef readonly Py_ssize_t n_outputs
    cdef Rows rows                   # of the open block
    cdef const Py_ssize_t *order
    cdef Py_ssize_t first
    cdef bint has_length             # whether `single_score` sets `length`
    cdef double length               # squared length of the sample scored last
    cdef double beside               # part of it that `length` leaves out, as `Update.beside`
    cdef object interruption         # the exception of an update that returned RAISED

    cdef inline Py_ssize_t row_number(self, Py_ssize_t i) noexcept nogil:
        """The row of sample i of the open block."""
        return self.order[self.first + i] if self.order else self.first + i

    cdef tuple sample_form(self)
    cdef Py_ssize_t size(self) noexcept nogil
    cdef bint stored_sparse(self) noexcept nogil
    cdef bint takes_missing(self) noexcept nogil
    cdef int check_row(self, const Rows *rows) except -1
    cdef int reserve_block(self, Py_ssize_t rows) except -1
    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil
    cdef Py_ssize_t scored_together(self, Py_ssize_t left) noexcept nogil
    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil
    cdef void foresee(self, const double *labels, const Py_ssize_t *order,
                      Py_ssize_t n) noexcept nogil
    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil
    cdef bint has_single_score(self, const Rows *rows, bint wants_length) noexcept nogil
    cdef double single_score(self, Py_ssize_t i) noexcept nogil
    cdef bint observes(self)
    cdef bint takes_targets(self, Py_ssize_t n)
    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil
    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil
    cdef void observe_targets(self, Py_ssize_t i, const double *targets,
                              double weight) noexcept nogil
    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil
    cdef Status settle(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef object new_window(self, Py_ssize_t rows)
    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil


cdef class KernelSpace(Space):
    cdef readonly SupportSet support
    cdef readonly Budget budget

    cdef Py_ssize_t most_unasked(self) except -1
    cdef Py_ssize_t learnt_together(self) noexcept nogil


cdef class InverseTimeSpace(KernelSpace):
    pass
