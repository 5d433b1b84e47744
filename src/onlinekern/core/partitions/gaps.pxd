# Values that are missing, in rows that trees cut. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.samples.rows cimport Rows


# Columns that tell of what is missing in all features together.
cdef enum:
    N_NUMBERS = 2


cdef class Gaps:
    cdef readonly Py_ssize_t n, n_givers
    cdef const int32_t[::1] sources      # features with gaps
    cdef const int32_t[::1] givers       # features that guesses come from
    cdef const float[:, ::1] guesses     # n x n_givers
    cdef const float[:, ::1] places      # n x 2: the lowest value, and the highest
    cdef const float[:, ::1] weights     # n x N_NUMBERS: of missing values, which are added up
    cdef const double[::1] means         # of the sums

    cdef void fill(self, const Rows *rows, Py_ssize_t i, float *z, float *numbers,
                   float *sides) noexcept nogil


cdef double value_at(const Rows *rows, Py_ssize_t i, Py_ssize_t j) noexcept nogil
