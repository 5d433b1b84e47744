# Numbers that stand for missing values, found along a stream. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.samples.rows cimport Rows


# What is known of the values of a feature, doubles all. Weights are in units of the moments.
cdef struct Ends:
    double low           # the lowest value,
    double low_next      # the lowest one but it, itself if there is none
    double high_next
    double high
    double mean          # of the values between
    double variance
    double weight
    double side          # which of its ends stands for missing values: LOW, HIGH or NONE
    double low_count     # how many rows have the lowest value,
    double low_weight    # and their weight, 0 where it is the highest one too
    double high_count
    double high_weight
    double n_values      # values that the feature has, at least; < 0: it is looked at no more


cdef enum:
    N_ENDS = 13          # fields of `Ends`
    NONE = 0
    LOW = 1
    HIGH = 2
    # Places of fields.
    AT_LOW = 0
    AT_LOW_NEXT = 1
    AT_HIGH_NEXT = 2
    AT_HIGH = 3
    AT_MEAN = 4
    AT_VARIANCE = 5
    AT_WEIGHT = 6
    AT_SIDE = 7
    AT_LOW_COUNT = 8
    AT_LOW_WEIGHT = 9
    AT_HIGH_COUNT = 10
    AT_HIGH_WEIGHT = 11
    AT_N_VALUES = 12


cdef class Sentinels:
    cdef readonly Py_ssize_t d
    cdef readonly Py_ssize_t n           # features in which a number stands for missing values
    cdef Py_ssize_t n_saved
    cdef JournaledMatrix ends            # a row for each field of `Ends`, of all features
    cdef double *before                  # room for the moments before a row

    cdef inline bint is_missing(self, Py_ssize_t j, double x) noexcept nogil:
        """Whether x stands for a missing value of feature j."""
        cdef double side = self.ends.row(AT_SIDE)[j]
        return side != NONE and x == self.ends.row(AT_LOW if side == LOW else AT_HIGH)[j]

    cdef Ends load(self, Py_ssize_t j) noexcept nogil
    cdef void touch(self) noexcept nogil
    cdef void store(self, Py_ssize_t j, const Ends *own) noexcept nogil
    cdef void keep(self, const double *means, const double *variances) noexcept nogil
    cdef void put_back(self, const Rows *rows, Py_ssize_t i, double *means,
                       double *variances) noexcept nogil
    cdef void learn_row(self, const Rows *rows, Py_ssize_t i, double weight, int64_t count,
                        double *means, double *variances) noexcept nogil
    cdef void scale_weights(self, double factor) noexcept nogil
    cdef void blank(self, const Rows *rows, Py_ssize_t i, char *out, double value) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
