# Budget policies. May change at minor versions.
from onlinekern.core.base.part cimport Component, Status
from onlinekern.core.kernels.support_set cimport SupportSet


cdef class Budget(Component):
    cdef readonly tuple arguments        # of the constructor; a subclass sets them
    cdef readonly SupportSet support     # None: not attached yet
    cdef readonly Py_ssize_t refused
    cdef Py_ssize_t refused_before       # at the checkpoint
    cdef dict restored                   # the state of a copy that is not attached yet

    cdef int attach(self, SupportSet support) except -1
    cdef int check_support(self, SupportSet support) except -1
    cdef dict fields_learnt(self, object learnt, tuple names)
    cdef int prepare(self) except -1
    cdef void foresee(self, const double *labels, const Py_ssize_t *order,
                      Py_ssize_t n) noexcept nogil
    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil
    cdef bint takes_targets(self, Py_ssize_t n)
    cdef void observe(self, const double *targets, double weight) noexcept nogil
    cdef void shift(self, double *scores) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef class Bounded(Budget):
    cdef readonly Py_ssize_t max_support
    cdef double *step            # room for K coefficients
    cdef double *noted           # targets of the sample, K numbers, see `note`
    cdef double weight           # of the sample
    cdef double *work            # room for a number per slot, see `make_room`
    cdef Py_ssize_t room

    cdef bint fills_slots(self) noexcept
    cdef void note(self, const double *targets, double weight) noexcept nogil
    cdef bint is_full(self) noexcept nogil
    cdef bint is_exceeded(self) noexcept nogil
    cdef Status make_room(self, Py_ssize_t slots) noexcept nogil


cdef class RefuseWhenFull(Bounded):
    pass


cdef Py_ssize_t bound_of(str name, Py_ssize_t number, Py_ssize_t least) except -1
cdef int change_arguments(Budget policy, tuple arguments, Py_ssize_t n_sizes) except -1
