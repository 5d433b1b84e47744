# What trees cut: rows in units of their spread, tables of codes, one-hot columns. May change at
# minor versions.
from libc.stdint cimport int32_t

from onlinekern.core.partitions.bends cimport Bends
from onlinekern.core.partitions.gaps cimport Gaps
from onlinekern.core.partitions.groups cimport Groups
from onlinekern.core.samples.rows cimport Rows


# Values are cast to float32: these are the samples in units of their spread, and cut off here.
cdef enum:
    MOST_COLUMNS = 65535     # of a row that is walked
    N_DIRECTIONS = 8         # directions beside the axes: so many floats are added up together
    MOST_CODE = 65535        # the largest number of a category
    ABSENT = 0               # the entries of a table: of what it does not know,
    MISSING = 1              # of a missing value,
    FIRST_CODE = 2           # and of the categories from 0 on


# A column of a scaled row whose numbers are looked up.
cdef struct Table:
    int32_t source           # the feature
    int32_t column
    int32_t first            # where its entries begin among all
    int32_t size


cdef class Scale:
    cdef readonly Py_ssize_t d, n_axes, n_directions, n_tables, n_sides
    cdef double *center          # d
    cdef double *factor          # d, 0 where a feature is constant
    cdef float *zero             # d, a sample of zeros
    cdef float *directions       # n_axes x N_DIRECTIONS, of scaled samples; NULL without
    cdef Table *tables
    cdef float *entries          # of all tables
    cdef readonly Gaps gaps      # None: no values are missing
    cdef readonly Groups groups  # None: no columns are one-hot
    cdef readonly Bends bends    # None: all features are as they are
    cdef bint has_groups, has_bends

    cdef inline Py_ssize_t width(self) noexcept nogil:
        """Numbers of a scaled row: the axes, the directions, then the sides of gaps."""
        return self.n_axes + self.n_directions + self.n_sides

    cdef float axis(self, Py_ssize_t j, double x) noexcept nogil
    cdef void load(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil
    cdef void load_axes(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil
    cdef void direct(self, float *z, Py_ssize_t n) noexcept nogil
    cdef void look_up(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil


cdef int check_codes(const Rows *rows, tuple categories) except -1


cdef inline int32_t entry_of(double value, int32_t size) noexcept nogil:
    """The entry of a value in a table of so many."""
    if value != value:
        return MISSING
    # What is no category is absent, as is one that the table has not learnt.
    if not 0 <= value < size - FIRST_CODE:
        return ABSENT
    return FIRST_CODE + <int32_t> value
