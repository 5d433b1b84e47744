"""HashedFourier: random Fourier features of samples with any number of columns, in fixed memory.

A matrix of frequencies has D x d numbers: 3 GB for 1,600 frequencies and half a million columns. A
table of random numbers replaces it here. 64 frequencies form a panel. The frequencies of panel p in
column c are a row of the table times a sign; row and sign are a hash of (seed, c, p), so no memory
is needed for a column.

Two columns have the same row in a panel with probability 1 / rows. So ||x - s||^2 has a relative
error of at most sqrt(2 / rows) in a panel, up or down alike: 2 % for 4,096 rows, while the 64
frequencies of a panel have an error of 9 % anyway. Panels have different hashes, so both errors
decrease with the number of panels.
"""
from cython cimport floating
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    MOST_FEATURES, check_matrix, float_dtype, integer_within, integers_within,
)
from onlinekern.core.base.vector cimport (
    OK_DOT, OK_PANEL, aligned_resize, ok_sparse_row, ok_vector_ops, whole_panels,
)
from onlinekern.core.features.map cimport FourierMap
from onlinekern.core.kernels.block cimport Block

# Elements of a row in a piece.
cdef enum: PIECE = 256


cdef struct Piece:
    Py_ssize_t count
    double values[PIECE]               # or floats
    double signed_values[PIECE]
    uint64_t hashes[PIECE]
    int32_t places[PIECE]


cdef inline Py_ssize_t take(Piece *piece, const floating *x, const int32_t *columns,
                            Py_ssize_t first, Py_ssize_t count, uint64_t seed) noexcept nogil:
    """Fill a piece with the nonzero elements of a row from `first` on; returns where it stopped."""
    cdef Py_ssize_t j = first, taken = 0
    cdef floating *values = <floating *> piece.values
    while j < count and taken < PIECE:
        if x[j] != 0:
            values[taken] = x[j]
            piece.hashes[taken] = counted(seed, columns[j] if columns != NULL else j)
            taken += 1
        j += 1
    piece.count = taken
    return j


cdef inline void look_up(Piece *piece, const floating *unused, uint64_t multiplier,
                         int shift) noexcept nogil:
    """Write rows of the table, and values times signs, for one panel of frequencies.

    `unused` gives the type of the values.
    """
    cdef Py_ssize_t j
    cdef uint64_t hash
    cdef const floating *values = <const floating *> piece.values
    cdef floating *signed_values = <floating *> piece.signed_values
    for j in range(piece.count):
        hash = piece.hashes[j] * multiplier
        piece.places[j] = <int32_t> ((hash << 1) >> shift)
        signed_values[j] = -values[j] if hash >> 63 else values[j]


cdef inline void add_panel(floating *z, const floating *panel) noexcept nogil:
    cdef Py_ssize_t v
    for v in range(OK_PANEL):
        z[v] += panel[v]


cdef class HashedFourier(FourierMap):
    """Fourier features whose frequencies are looked up in a table by a hash.

    Parameters
    ----------
    table : ndarray of shape (n_rows, 64), n_rows a power of two
        Random numbers with the distribution of the frequencies, which must be symmetric about 0.
    seed : int in [0, 2**64)
    n_components, d : int
    dtype : numpy.float32 or numpy.float64
        Of the samples and the features.
    constant : bool
        Whether to append the feature 1.
    """

    def __cinit__(self, table, seed, n_components, d, dtype, bint constant=False):
        cdef Py_ssize_t p, address
        dtype = float_dtype(dtype)
        check_matrix("table", table)
        if table.shape[1] != OK_PANEL or not 2 <= len(table) <= 1 << 30 \
                or len(table) & (len(table) - 1):
            raise ValueError(f"table must have {OK_PANEL} columns and rows that are a power of "
                             f"two, got shape {table.shape}")
        self.d = integer_within("d", d, 1, MOST_FEATURES)
        self.seed = seed
        self.itemsize = dtype.itemsize
        self.lay_out(n_components, constant)
        self.n_rows = len(table)
        self.shift = 65 - self.n_rows.bit_length()
        table = np.ascontiguousarray(table, dtype)
        address = table.ctypes.data
        self.table = <char *> aligned_resize(NULL, 0, table.nbytes)
        self.multipliers = <uint64_t *> malloc(self.panels() * sizeof(uint64_t))
        if self.table == NULL or self.multipliers == NULL:
            raise MemoryError(f"no memory for {n_components} frequencies")
        memcpy(self.table, <char *> address, table.nbytes)
        for p in range(self.panels()):
            self.multipliers[p] = counted(~self.seed, p) | 1

    def __dealloc__(self):
        free(self.table)
        free(self.multipliers)

    def __reduce__(self):
        table = self.rows_of_table()
        return HashedFourier, (table, self.seed, self.n_components, self.d, table.dtype,
                               self.constant >= 0)

    cdef Py_ssize_t panels(self) noexcept nogil:
        """Panels of frequencies."""
        return whole_panels(self.n_components) // OK_PANEL

    def rows_of_table(self):
        """The table, ndarray of shape (n_rows, 64)."""
        table = np.empty((self.n_rows, OK_PANEL), np.float32 if self.itemsize == 4 else np.float64)
        cdef Py_ssize_t address = table.ctypes.data
        memcpy(<char *> address, self.table, table.nbytes)
        return table

    def frequencies(self, columns=None):
        """The frequencies in some columns (None: all), ndarray of shape (D, number of columns)."""
        if columns is None:
            columns = np.arange(self.d)
        columns = np.asarray(columns, dtype=np.int64)
        cdef const int64_t[::1] number = integers_within("columns", columns, columns.size, 0,
                                                         self.d - 1)
        found = np.empty((self.panels(), len(columns)), np.intp)
        signs = np.empty(found.shape, np.int8)
        cdef Py_ssize_t[:, ::1] places = found
        cdef signed char[:, ::1] sign = signs
        cdef Py_ssize_t p, j
        cdef uint64_t hash
        for p in range(found.shape[0]):
            for j in range(found.shape[1]):
                hash = counted(self.seed, number[j]) * self.multipliers[p]
                places[p, j] = (hash << 1) >> self.shift
                sign[p, j] = -1 if hash >> 63 else 1
        numbers = self.rows_of_table()[found] * signs[:, :, None]
        rows = numbers.transpose(0, 2, 1).reshape(-1, len(columns))
        return np.ascontiguousarray(rows[:self.n_components])

    cdef void fill(self, Block block, char *z, char *scratch) noexcept nogil:
        cdef Py_ssize_t i, end = whole_panels(self.n_components) - self.n_components
        cdef char *row
        for i in range(block.n):
            row = z + i * self.length * self.itemsize
            self.multiply(block, i, row)
            # The last panel may have more columns than there are frequencies left: clear them.
            memset(row + self.n_components * self.itemsize, 0, end * self.itemsize)

    cdef void multiply(self, Block block, Py_ssize_t i, char *z) noexcept nogil:
        """z = products of row i with all frequencies, in whole panels.

        A row is cut into pieces without its zeros: dense and sparse rows give the same bits.
        """
        cdef Piece piece
        cdef Py_ssize_t first = 0, before = -1, count = self.d
        cdef const char *x
        cdef const int32_t *columns = NULL
        if block.sparse:
            x, columns = <const char *> block.rows[i].values, block.rows[i].columns
            count = block.rows[i].count
        else:
            x = block.dense + i * self.d * self.itemsize
        # A row without elements needs one pass too, which writes zeros.
        while before < 0 or first < count:
            before = first
            if self.itemsize == 4:
                first = take(&piece, <const float *> x, columns, first, count, self.seed)
            else:
                first = take(&piece, <const double *> x, columns, first, count, self.seed)
            multiply_piece(self, block.ops, &piece, z, before > 0)


cdef void multiply_piece(HashedFourier map, const ok_vector_ops *ops, Piece *piece, char *z,
                         bint adds) noexcept nogil:
    """z = products of a piece of a row with all frequencies; `adds`: z += these products."""
    cdef double sums[64]
    cdef ok_sparse_row row
    cdef Py_ssize_t p
    cdef char *panel
    row.columns, row.values, row.count = piece.places, piece.signed_values, piece.count
    for p in range(map.panels()):
        panel = z + p * OK_PANEL * map.itemsize
        if map.itemsize == 4:
            look_up(piece, <const float *> NULL, map.multipliers[p], map.shift)
        else:
            look_up(piece, <const double *> NULL, map.multipliers[p], map.shift)
        ops.sparse[OK_DOT](&row, 1, NULL, map.table, <char *> sums if adds else panel, OK_PANEL)
        if adds and map.itemsize == 4:
            add_panel(<float *> panel, <const float *> sums)
        elif adds:
            add_panel(<double *> panel, <const double *> sums)


FEATURE_MAPS = {"hashed_fourier": HashedFourier}
