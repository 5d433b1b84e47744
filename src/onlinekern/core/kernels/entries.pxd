# The coefficients that are not 0, listed for each output. May change at minor versions.
from libc.stdint cimport int32_t, int64_t, uint64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.scaled_average cimport ScaledAverage


# The entries of one output, slots ascending. `values` begins the one piece of memory of all three.
cdef struct EntryList:
    Py_ssize_t count, room
    double *values
    double *companions     # NULL without an average
    int32_t *slots


cdef class Entries:
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t total        # entries of all outputs
    cdef bint averaged
    cdef EntryList *lists
    cdef EntryList *kept         # of each output that has changed: its list at the checkpoint
    cdef Py_ssize_t *changed     # the outputs whose list was kept
    cdef Py_ssize_t n_changed
    cdef uint64_t stamp          # of the checkpoint
    cdef uint64_t *stamps        # the checkpoint after which each list was last kept
    cdef Py_ssize_t saved_n      # slots at the checkpoint: entries of later ones need no copy

    cdef Py_ssize_t find(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil
    cdef double value(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil
    cdef Status add(self, Py_ssize_t k, Py_ssize_t slot, double value,
                    double companion) noexcept nogil
    cdef Status remove(self, Py_ssize_t slot) noexcept nogil
    cdef Status keep(self, Py_ssize_t k) noexcept nogil
    cdef Status keep_all(self) noexcept nogil
    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef void renew(self, const ScaledAverage *average, int64_t lead) noexcept nogil
    cdef void fold(self, ScaledAverage *average, double factor) noexcept nogil
    cdef void add_squares(self, double *out) noexcept nogil
    cdef void add_products(self, Py_ssize_t slot, double *out) noexcept nogil
    cdef int read(self, const double[:, ::1] values, const double[:, ::1] companions) except -1
    cdef void write(self, double *values, double *companions, Py_ssize_t stride) noexcept nogil
