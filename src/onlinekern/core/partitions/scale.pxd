# Input of trees: scaled features, tables of categories, one-hot groups. May change at minor
# versions.
from libc.stdint cimport int32_t

from onlinekern.core.partitions.bends cimport Bends
from onlinekern.core.partitions.gaps cimport Gaps
from onlinekern.core.partitions.groups cimport Groups
from onlinekern.core.samples.rows cimport Rows


cdef enum:
    MOST_COLUMNS = 65535     # most columns of a scaled row
    N_DIRECTIONS = 8         # directions beside the axes: 8 floats are added at once (SIMD)
    MOST_CODE = 65535        # the largest category
    ABSENT = 0               # entry of a table for unknown categories
    MISSING = 1              # entry for a missing value
    FIRST_CODE = 2           # entry for category 0; the others follow


# A lookup table for a column of a scaled row.
cdef struct Table:
    int32_t source           # the feature whose values are looked up
    int32_t column           # the column that is written
    int32_t first            # index of its first entry in `Scale.entries`
    int32_t size


cdef class Scale:
    cdef readonly Py_ssize_t d, n_axes, n_directions, n_tables, n_sides
    cdef double *center          # d
    cdef double *factor          # d; 0 if a feature is constant
    cdef float *zero             # d: the scaled row of a sample of zeros
    cdef float *directions       # n_axes x N_DIRECTIONS, of scaled samples; NULL: none
    cdef Table *tables
    cdef float *entries          # of all tables
    cdef readonly Gaps gaps      # None: no missing values
    cdef readonly Groups groups  # None: no one-hot groups
    cdef readonly Bends bends    # None: no feature is bent
    cdef bint has_groups, has_bends

    cdef inline Py_ssize_t width(self) noexcept nogil:
        """Columns of a scaled row: the axes, the directions, then two sides of each gap."""
        return self.n_axes + self.n_directions + self.n_sides

    cdef float axis(self, Py_ssize_t j, double x) noexcept nogil
    cdef void load(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil
    cdef void load_axes(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil
    cdef void direct(self, float *z, Py_ssize_t n) noexcept nogil
    cdef void look_up(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil


cdef int check_codes(const Rows *rows, tuple categories) except -1


cdef inline int32_t entry_of(double value, int32_t size) noexcept nogil:
    """Index of the entry of a value in a table of `size` entries."""
    if value != value:
        return MISSING
    # Categories that the table has not learnt, and numbers that are no categories.
    if not 0 <= value < size - FIRST_CODE:
        return ABSENT
    return FIRST_CODE + <int32_t> value
