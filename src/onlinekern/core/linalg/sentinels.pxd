# Numbers that stand for missing values, found along a stream. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.samples.rows cimport Rows


# Statistics of a feature, all doubles. Weights are multiplied by the unit of the moments.
cdef struct Ends:
    double low           # lowest value
    double low_next      # second lowest value; `low` if there is none
    double high_next     # second highest value; `high` if there is none
    double high          # highest value
    double mean          # of the values between low and high
    double variance
    double weight
    double side          # the end that stands for missing values: LOW, HIGH or NONE
    double low_count     # number of rows with the lowest value
    double low_weight    # and their weight
    double high_count    # the same for the highest value, 0 if it is the lowest one too
    double high_weight
    double n_values      # lower bound of the distinct values; < 0: the feature is given up


cdef enum:
    N_ENDS = 13          # fields of `Ends`
    NONE = 0
    LOW = 1
    HIGH = 2
    # Indices of the fields.
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
    cdef readonly Py_ssize_t n           # number of features with a sentinel
    cdef Py_ssize_t n_saved
    cdef JournaledMatrix ends            # N_ENDS x d: a row for each field of `Ends`
    cdef double *before                  # 2 x d: means and variances before a row

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
