# Missing values in the input of trees. May change at minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.samples.rows cimport Rows


# Number of columns with weighted counts of a row's missing values.
cdef enum:
    N_NUMBERS = 2


cdef class Gaps:
    cdef readonly Py_ssize_t n, n_givers
    cdef const int32_t[::1] sources      # features with gaps (missing values)
    cdef const int32_t[::1] givers       # features that guesses are computed from
    cdef const float[:, ::1] guesses     # n x n_givers: weights of the givers
    cdef const float[:, ::1] places      # n x 2: lowest and highest scaled value
    cdef const float[:, ::1] weights     # n x N_NUMBERS: weights of the counts
    cdef const double[::1] means         # means of the counts

    cdef void fill(self, const Rows *rows, Py_ssize_t i, float *z, float *numbers,
                   float *sides) noexcept nogil


cdef double value_at(const Rows *rows, Py_ssize_t i, Py_ssize_t j) noexcept nogil
