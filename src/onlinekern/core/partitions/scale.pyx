"""Scale: transforms a sample to the float32 row that trees split.

Features are centred and divided by their spread, in double, before the cast to float32: otherwise
float32 could not distinguish close values far from 0, such as dates. Features with heavy tails are
bent first (`Bends`). Tables replace a category by its rank in an order, so that a split divides the
categories into two sets. `Groups` transform one-hot columns, and `Gaps` missing values. Products of
the row with directions follow.
"""
from libc.math cimport floor
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.partitions.bends cimport Bends
from onlinekern.core.partitions.gaps cimport N_NUMBERS, Gaps, value_at
from onlinekern.core.partitions.groups cimport Groups
from onlinekern.core.partitions.loops cimport OK_FARTHEST, forest_loops
from onlinekern.core.samples.rows cimport (
    Rows, Samples, dense_row, is_sparse, samples_of, sparse_row)

from onlinekern.core.partitions.bends import BENDS, bends_of, fields_of_bends
from onlinekern.core.partitions.gaps import GAPS, fields_of_gaps, gaps_of
from onlinekern.core.partitions.groups import GROUPS, fields_of_groups, groups_of

# The fields of a scale in a state.
SCALE = ("center", "factor", "directions",
         "table_sources", "table_columns", "table_starts", "table_entries", *GAPS, *GROUPS,
         *BENDS)


cdef inline float scaled(double x, double center, double factor) noexcept nogil:
    """A value in units of the spread of its feature; 0 if it is missing."""
    return <float> max(min((x - center) * factor, OK_FARTHEST), -OK_FARTHEST) if x == x else 0


cdef class Scale:
    """Transforms samples of d features to rows of `width` columns.

    A row z has (x_j - center_j) factor_j for each feature, or 0 for a missing value. A table writes
    the entry of a feature's value to the feature's column, or to a further one. A group of one-hot
    columns writes its order to the column of its first member, and 0 to those of the others. Gaps
    write guesses for missing values, and two weighted counts of these after the further columns.
    Then follow the products of all these columns, the axes, with the directions, and two columns
    for each feature with gaps.

    Parameters
    ----------
    center, factor : ndarray of shape (d,)
    directions : ndarray of shape (n_axes, n), float32, optional
        n is `N_DIRECTIONS`. The axes are the features, the further columns, and the two counts.
    tables : tuple, optional
        Result of `tables_of`: feature and column of each table, int32; index of its first entry,
        int32, with the number of all entries at the end; and the entries, float32. The further
        columns are d, d + 1, ...
    gaps : Gaps, optional
    groups : Groups, optional
        The factors of their members are 0.
    bends : Bends, optional
        Center and factor are those of the bent features.
    """

    def __cinit__(self, const double[::1] center, const double[::1] factor,
                  const float[:, ::1] directions=None, tables=None, Gaps gaps=None,
                  Groups groups=None, Bends bends=None):
        cdef Py_ssize_t j, d = center.shape[0]
        if factor.shape[0] != d or d < 1:
            raise ValueError(f"center and factor must have one length >= 1, got {d} and "
                             f"{factor.shape[0]}")
        self.d = self.n_axes = d
        if tables is not None:
            self.take_tables(*tables)
        self.gaps, self.groups, self.bends = gaps, groups, bends
        self.has_groups, self.has_bends = groups is not None, bends is not None
        if gaps is not None:
            self.n_axes, self.n_sides = self.n_axes + N_NUMBERS, 2 * gaps.n
        if directions is not None and (directions.shape[0] != self.n_axes
                                       or directions.shape[1] != N_DIRECTIONS):
            raise ValueError(f"directions must have shape ({self.n_axes}, {N_DIRECTIONS}), got "
                             f"{(directions.shape[0], directions.shape[1])}")
        self.n_directions = 0 if directions is None else N_DIRECTIONS
        self.center = <double *> calloc(2 * d, sizeof(double))
        self.zero = <float *> calloc(d + self.n_axes * self.n_directions, sizeof(float))
        if self.center == NULL or self.zero == NULL:
            raise MemoryError(f"no memory for the scale of {d} features")
        self.factor = self.center + d
        memcpy(self.center, &center[0], d * sizeof(double))
        memcpy(self.factor, &factor[0], d * sizeof(double))
        for j in range(d):
            self.zero[j] = self.axis(j, 0)
        if directions is not None:
            self.directions = self.zero + d
            memcpy(self.directions, &directions[0, 0],
                   self.n_axes * N_DIRECTIONS * sizeof(float))

    def take_tables(self, const int32_t[::1] sources, const int32_t[::1] columns,
                    const int32_t[::1] starts, const float[::1] entries):
        """Copy tables that `check_tables` has checked."""
        cdef Py_ssize_t k, n = sources.shape[0]
        self.tables = <Table *> calloc(n + 1, sizeof(Table))
        self.entries = <float *> calloc(entries.shape[0] + 1, sizeof(float))
        if self.tables == NULL or self.entries == NULL:
            raise MemoryError(f"no memory for tables of {entries.shape[0]} entries")
        for k in range(n):
            self.tables[k].source, self.tables[k].column = sources[k], columns[k]
            self.tables[k].first, self.tables[k].size = starts[k], starts[k + 1] - starts[k]
            self.n_axes += columns[k] >= self.d
        for k in range(entries.shape[0]):
            self.entries[k] = entries[k]
        self.n_tables = n

    def __dealloc__(self):
        free(self.center)
        free(self.zero)
        free(self.tables)
        free(self.entries)

    cdef float axis(self, Py_ssize_t j, double x) noexcept nogil:
        """Scaled value x of feature j, bent if the feature is."""
        return scaled(self.bends.bend(j, x) if self.has_bends else x, self.center[j],
                      self.factor[j])

    cdef void load(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil:
        """Write scaled row i, with its products with the directions, to z."""
        self.load_axes(rows, i, z)
        self.direct(z, 1)

    cdef void load_axes(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil:
        """`load` without directions, which `direct` can then compute for many rows at once."""
        cdef Py_ssize_t j, m, d = self.d
        cdef ok_sparse_row x
        if is_sparse(rows):
            memcpy(z, self.zero, d * sizeof(float))
            x = sparse_row(rows, i)
            for j in range(x.count):
                m = x.columns[j]
                z[m] = self.axis(m, (<const float *> x.values)[j] if rows.itemsize == 4
                                 else (<const double *> x.values)[j])
        else:
            forest_loops().scale_row(dense_row(rows, i), rows.itemsize, self.center, self.factor,
                                     d, z)
            if self.has_bends:
                for j in range(self.bends.n):
                    m = self.bends.features[j]
                    z[m] = self.axis(m, value_at(rows, i, m))
        if self.has_groups:
            self.groups.fill(rows, i, z)
        if self.n_sides:
            self.gaps.fill(rows, i, z, z + self.n_axes - N_NUMBERS,
                           z + self.n_axes + self.n_directions)
        if self.n_tables:
            self.look_up(rows, i, z)

    cdef void direct(self, float *z, Py_ssize_t n) noexcept nogil:
        """Write the products of n scaled rows, contiguous in memory, with the directions."""
        if self.n_directions:
            forest_loops().direct_rows(z, n, self.width(), self.directions, self.n_axes)

    cdef void look_up(self, const Rows *rows, Py_ssize_t i, float *z) noexcept nogil:
        """Write the columns of row i that tables give."""
        cdef Py_ssize_t k
        cdef const Table *table
        for k in range(self.n_tables):
            table = self.tables + k
            z[table.column] = self.entries[
                table.first + entry_of(value_at(rows, i, table.source), table.size)]

    def arrays(self):
        """The constructor arguments center, factor and directions."""
        cdef Py_ssize_t d = self.d
        center, factor = np.empty(d), np.empty(d)
        cdef double[::1] a = center, b = factor
        memcpy(&a[0], self.center, d * sizeof(double))
        memcpy(&b[0], self.factor, d * sizeof(double))
        if not self.n_directions:
            return center, factor, None
        directions = np.empty((self.n_axes, N_DIRECTIONS), dtype=np.float32)
        cdef float[:, ::1] c = directions
        memcpy(&c[0, 0], self.directions, self.n_axes * N_DIRECTIONS * sizeof(float))
        return center, factor, directions

    def table_arrays(self):
        """The constructor argument `tables`."""
        cdef Py_ssize_t k, n = self.n_tables, size = 0
        if n:
            size = self.tables[n - 1].first + self.tables[n - 1].size
        sources, columns = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        starts, entries = np.empty(n + 1, dtype=np.int32), np.empty(size, dtype=np.float32)
        cdef int32_t[::1] a = sources, b = columns, c = starts
        cdef float[::1] e = entries
        for k in range(n):
            a[k], b[k], c[k] = \
                self.tables[k].source, self.tables[k].column, self.tables[k].first
        c[n] = <int32_t> size
        for k in range(size):
            e[k] = self.entries[k]
        return sources, columns, starts, entries

    def axes(self, X):
        """The axes of samples in double, ndarray (n, n_axes): input of the kernel machine."""
        center, factor, _ = self.arrays()
        Z = ((self.bends.rows(X) if self.has_bends else X) - center) * factor
        missing = np.isnan(Z)
        if missing.any():
            Z[missing] = 0
        Z = np.hstack([Z, np.empty((len(X), self.n_axes - self.d))])
        if self.has_groups:
            self.groups.fill_axes(X, Z)
        if self.n_sides:
            self.gaps.fill_axes(X, Z)
        sources, columns, starts, entries = self.table_arrays()
        for source, column, first, end in zip(sources, columns, starts[:self.n_tables],
                                              starts[1:]):
            Z[:, column] = entries[first + entries_of(X[:, source], end - first)]
        return Z

    def directed(self, directions):
        """A copy with other directions; None: without directions."""
        center, factor, _ = self.arrays()
        return Scale(center, factor, directions, self.table_arrays() if self.n_tables else None,
                     self.gaps, self.groups, self.bends)

    def source_of_axes(self):
        """The feature of each axis, ndarray of shape (n_axes,), int32; -1: counts of all gaps."""
        sources, columns, _, _ = self.table_arrays()
        further = columns >= self.d
        last = np.full(N_NUMBERS if self.n_sides else 0, -1, dtype=np.int32)
        return np.concatenate([np.arange(self.d, dtype=np.int32), sources[further], last])


cdef int check_codes(const Rows *rows, tuple categories) except -1:
    """Raise ValueError unless the single row has categories, or NaN, in these columns."""
    cdef double code
    cdef Py_ssize_t j
    for j in categories:
        code = value_at(rows, 0, j)
        if code == code and not (0 <= code <= MOST_CODE and code == floor(code)):
            raise ValueError(f"x has {code:g} in column {j}, which holds categories: they have "
                             f"the numbers 0 ... {MOST_CODE}, and NaN stands for a missing one")
    return 0


def entries_of(values, Py_ssize_t size):
    """`entry_of` for an array of values, ndarray of intp."""
    missing = np.isnan(values)
    code = np.where(missing, -1, np.clip(np.floor(values), -1, size))
    known = (code >= 0) & (code < size - FIRST_CODE)
    return np.where(missing, MISSING, np.where(known, code + FIRST_CODE, ABSENT)).astype(np.intp)


def scaled_rows(Scale scale not None, X):
    """Scale the rows of X, with directions; ndarray (n, width), float32."""
    cdef Samples samples = samples_of(X, X.dtype)
    cdef Py_ssize_t i, n = len(X)
    out = np.empty((n, scale.width()), dtype=np.float32)
    cdef float[:, ::1] view = out
    with nogil:
        for i in range(n):
            scale.load_axes(&samples.rows, i, &view[i, 0])
        if n > 0:
            scale.direct(&view[0, 0], n)
    return out


def fields_of_scale(scale):
    """State of a scale: arrays by the names in `SCALE`."""
    return dict(zip(SCALE, (*scale.arrays(), *scale.table_arrays(), *fields_of_gaps(scale.gaps),
                            *fields_of_groups(scale.groups), *fields_of_bends(scale.bends))))


def restored_scale(state, Py_ssize_t d, Py_ssize_t most_columns):
    """Check the fields of a state, and make the scale."""
    n = len(SCALE) - len(GAPS) - len(GROUPS) - len(BENDS)
    center, factor, directions, *tables = [state[name] for name in SCALE[:n]]
    gaps = gaps_of(*[state[name] for name in GAPS], d)
    groups = groups_of(*[state[name] for name in GROUPS], d)
    bends = bends_of(*[state[name] for name in BENDS], d)
    scale = scale_of(center, factor, directions, d, tables, gaps, groups, bends)
    if scale.n_axes + N_DIRECTIONS + scale.n_sides > most_columns:
        raise ValueError("table_columns and gap_sources must be those of categories and missing "
                         f"values, got {scale.width() - d} columns beside the features")
    return scale


def scale_of(center, factor, directions, Py_ssize_t d, tables=None, gaps=None, groups=None,
             bends=None):
    """Check results of `arrays` and `table_arrays`; make a scale with gaps, groups and bends."""
    center = doubles_of_shape("center", center, (d,))
    factor = doubles_of_shape("factor", factor, (d,))
    if (factor < 0).any():
        raise ValueError(f"factor must be >= 0, got {factor.min()}")
    n_axes = d + (0 if tables is None else check_tables(*tables, d))
    n_axes += 0 if gaps is None else N_NUMBERS
    if groups is not None:
        check_members(groups, factor, tables, gaps)
    if directions is not None:
        if not isinstance(directions, np.ndarray) or directions.dtype != np.float32 \
                or directions.shape != (n_axes, N_DIRECTIONS) or not np.isfinite(directions).all():
            raise ValueError(
                f"directions must be finite, float32 and of shape {(n_axes, N_DIRECTIONS)}")
        directions = np.ascontiguousarray(directions)
    if tables is None or not len(tables[0]):
        return Scale(center, factor, directions, None, gaps, groups, bends)
    tables = tuple(map(np.ascontiguousarray, tables))
    return Scale(center, factor, directions, tables, gaps, groups, bends)


def check_members(groups, factor, tables, gaps):
    """Raise ValueError unless members of groups have factor 0, no tables and no gaps."""
    members = np.concatenate(groups.parts())
    others = [] if tables is None else tables[0].tolist()
    others += [] if gaps is None else gaps.fields()[0].tolist()
    if factor[members].any() or np.isin(members, others).any():
        raise ValueError("group_members must be features whose factor is 0, without tables and "
                         "gaps")


def check_tables(sources, columns, starts, entries, Py_ssize_t d):
    """Raise TypeError or ValueError unless tables are valid; returns how many columns they add."""
    kinds = (("table_sources", sources, np.int32), ("table_columns", columns, np.int32),
             ("table_starts", starts, np.int32), ("table_entries", entries, np.float32))
    for name, array, dtype in kinds:
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise TypeError(f"{name} must be an ndarray of {np.dtype(dtype)} with one axis")
    n = len(sources)
    if len(columns) != n or len(starts) != n + 1 or starts[0] != 0 or starts[n] != len(entries) \
            or (np.diff(starts.astype(np.int64)) < FIRST_CODE).any():
        raise ValueError("table_starts must say where the entries of each table begin, from 0 to "
                         "their count, 2 or more each")
    if ((sources < 0) | (sources >= d)).any():
        raise ValueError(f"table_sources must be features, 0 ... {d - 1}")
    further = columns[columns >= d]
    own = columns[columns < d]
    if not np.array_equal(further, d + np.arange(len(further))) \
            or not np.array_equal(own, sources[columns < d]) or len(np.unique(own)) < len(own):
        raise ValueError("table_columns must be those of their features, or further ones in turn")
    if not np.isfinite(entries).all():
        raise ValueError("table_entries must be finite")
    return len(further)
