# Where coefficients are, their undo and their state. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.scaled_average cimport ScaledAverage
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.kernels.entries cimport Entries


cdef class CoefficientRows:
    cdef const ok_vector_ops *ops
    cdef readonly Py_ssize_t n_outputs, n, capacity
    cdef readonly bint averaged
    cdef readonly object averaging   # how: False, True (uniform), 'decay' or a float
    # n_outputs x capacity, to be multiplied by the scale; 0 beyond n. NULL while they are listed.
    cdef double *values
    cdef double *companions      # the same shape, behind the values; NULL if not averaged
    cdef Entries entries         # of coefficients that are listed, or were at the checkpoint
    cdef readonly bint listed    # whether they are: then `entries` hold them, and no array does
    cdef ScaledAverage average, saved_average
    cdef Journal journal         # of the rows of values and of companions
    cdef Py_ssize_t saved_n
    cdef Py_ssize_t least_changed   # no slot below it has changed since the caller raised it

    cdef inline double at(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil:
        """The number of output k in a slot, without the common scale."""
        return self.entries.value(k, slot) if self.listed \
            else self.values[k * self.capacity + slot]

    cdef inline double companion_at(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil:
        """The companion of output k in a slot that has a value; there is an average."""
        if self.listed:
            return self.entries.lists[k].companions[self.entries.find(k, slot)]
        return self.companions[k * self.capacity + slot]

    cdef Status write_out(self) noexcept nogil
    cdef Status reserve(self, Py_ssize_t capacity) noexcept nogil
    cdef Py_ssize_t n_vectors(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef Status preserve(self) noexcept nogil
    cdef Status preserve_output(self, Py_ssize_t k) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef object matrix(self, bint companions)
    cdef int take_numbers(self, const double[:, ::1] values,
                          const double[:, ::1] companions) except -1
