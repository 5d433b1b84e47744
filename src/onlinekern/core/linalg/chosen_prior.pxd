# The prior of least squares, chosen along the stream. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.linalg.renewed_inverse cimport RenewedInverse


cdef class ChosenPrior(RenewedInverse):
    cdef bint is_choosing                  # whether a search for r is under way
    cdef Py_ssize_t n_tried                # steps of it that are done
    # The r that is set when the block is full, if it is known from a file; else 0.
    cdef double coming, saved_coming

    cdef bint chooses_beside(self) noexcept nogil
    cdef void choose_ahead(self) noexcept nogil
    cdef Status take_choice(self) noexcept nogil
    cdef Status renew(self) noexcept nogil
    cdef void give_back(self) noexcept nogil
