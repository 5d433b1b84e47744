# One-hot columns of rows that trees cut. May change at minor versions.
from libc.stdint cimport int32_t, uint64_t

from onlinekern.core.samples.rows cimport Rows


# With one output: the orders of a column of categories, and of a group of columns. A group's orders
# take the axes of its first columns.
cdef enum:
    ORDERS = 3


cdef class Groups:
    cdef readonly Py_ssize_t n, n_members
    cdef readonly Py_ssize_t n_empty     # members whose axes are 0
    cdef const int32_t[::1] members      # features, group by group, ascending in each
    cdef const int32_t[::1] starts       # n + 1: where the members of each group begin
    cdef const double[::1] middles       # a member is on beyond it
    cdef readonly Py_ssize_t n_orders    # of a group of many members
    cdef const float[:, ::1] bases       # n x n_orders: where no member is on
    cdef const float[:, ::1] steps       # n_members x n_orders: what a member adds that is on
    cdef const double[::1] rates         # the share of samples in which a member is on
    cdef int32_t[::1] numbers            # of the features: which member each is, or -1
    cdef int32_t[::1] owners             # of the members: their groups
    cdef int32_t[::1] ends               # of the groups: where the members end that have orders

    cdef void fill(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil


cdef class GroupLearner:
    cdef readonly Py_ssize_t n, n_columns
    cdef Py_ssize_t n_words, stretch
    cdef object packed
    cdef uint64_t[:, ::1] bits           # of each column of two values: the samples where it is on
    cdef list columns, counts, middles, stretches
    cdef readonly list groups            # members, as numbers of such columns
    cdef list waiting                    # columns that no run has taken, the most frequent first
    cdef list sizes, order               # of the groups: samples that are on, the largest first
    cdef object unions
    cdef uint64_t[:, ::1] union_bits     # the samples where a member is on
    cdef Py_ssize_t n_groups, n_runs

    cdef bint meet(self, Py_ssize_t group, Py_ssize_t column) noexcept nogil
    cdef void unite(self, Py_ssize_t group, Py_ssize_t column) noexcept nogil
