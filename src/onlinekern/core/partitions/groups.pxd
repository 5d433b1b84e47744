# Groups of one-hot columns. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.samples.rows cimport Rows


# Orders of a categorical column, and of a group of one-hot columns with one output. The orders of a
# group replace its first columns.
cdef enum:
    ORDERS = 3


cdef class Groups:
    cdef readonly Py_ssize_t n, n_members
    cdef readonly Py_ssize_t n_empty     # members whose axes are always 0
    cdef const int32_t[::1] members      # features, group by group, ascending in each
    cdef const int32_t[::1] starts       # n + 1: first member of each group
    cdef const double[::1] middles       # a member is on if its value is larger
    cdef readonly Py_ssize_t n_orders    # most orders of a group
    cdef const float[:, ::1] bases       # n x n_orders: values if no member is on
    cdef const float[:, ::1] steps       # n_members x n_orders: added if the member is on
    cdef const double[::1] rates         # share of samples in which each member is on
    cdef int32_t[::1] numbers            # member number of each feature, or -1
    cdef int32_t[::1] owners             # group of each member
    cdef int32_t[::1] ends               # end of the members whose axes have orders, per group

    cdef void fill(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil


cdef class GroupLearner:
    cdef readonly Py_ssize_t n, n_columns
    cdef Py_ssize_t n_words, stretch
    cdef object packed
    cdef uint64_t[:, ::1] bits           # bit set of each binary column: samples where it is on
    # Of each binary column: its feature, how often it is on, its threshold, and its stretch:
    # columns of one stretch have no other features between them.
    cdef list columns, counts, middles, stretches
    cdef readonly list groups            # members of each group, as numbers of binary columns
    cdef list waiting                    # columns in no run, by falling count
    cdef list sizes, order               # samples that are on in each group; groups by falling size
    cdef object unions
    cdef uint64_t[:, ::1] union_bits     # bit set of each group: samples where a member is on
    cdef Py_ssize_t n_groups, n_runs     # the first n_runs groups are runs

    cdef bint overlaps(self, Py_ssize_t group, Py_ssize_t column) noexcept nogil
    cdef void unite(self, Py_ssize_t group, Py_ssize_t column) noexcept nogil
