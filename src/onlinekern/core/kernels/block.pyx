"""The rows of one look-ahead block.

A block is opened on up to `capacity` coming samples. It hides their layout: its users see rows by
number. `KernelBlock` adds what a kernel needs of them.

When row i becomes a support vector in the middle of a block, its kernel values with the later rows
are needed (`kernel_column`). For that the block is copied into feature-major panels, once
(`make_panels`), and the primitive that multiplies rows with panels of support vectors multiplies
row i with the panels of the block. Both give the same bits (see vector.h), so results do not depend
on the length of a block.

The panels of sparse rows hold only the columns that occur in the block, which `local_column`
numbers, unless numbering costs more than it saves. Their size follows the stored elements, not the
number of features.
"""
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport size_of
from onlinekern.core.base.vector cimport (
    OK_ABSOLUTE, OK_DOT, OK_PANEL, OK_SQUARED, aligned_resize, grow, ok_sparse_row, ops_for,
    whole_panels,
)
from onlinekern.core.kernels.cost_model cimport (
    pays_to_compress, pays_to_multiply_all, pays_to_number,
)
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row
from onlinekern.core.samples.sparse_rows cimport (
    nonzeros, of_sparse_rows, pack, scatter, sparse_distance, sparse_square, vanishes)

# Up to this norm term, the exponent of an expanded l1 distance is off by no more than about 1.
cdef double MOST_SIFTED = 2.0 ** 19
# Rows are exact from some ||x||^2 on. Up to MOST_WIDE times that, their distances use products in
# double: the exponent then has an error of about 2^-29 for each feature.
cdef double MOST_WIDE = 2.0 ** 18


cdef class Block:
    """Up to `capacity` rows of `d` features, dense or sparse.

    Parameters
    ----------
    capacity, d : int
    itemsize : int
        4 or 8, the element size of the rows.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t d, Py_ssize_t itemsize, *_):
        size_of("a block of rows", capacity, (d + OK_PANEL) * itemsize)
        self.capacity = capacity
        self.d = d
        self.itemsize = itemsize
        self.ops = ops_for(itemsize)
        self.rows = <ok_sparse_row *> calloc(capacity, sizeof(ok_sparse_row))
        # Of millions of features it is hardly ever used: calloc leaves it untouched, aligned_resize
        # would write all of it.
        self.memory = <char *> calloc(max(OK_PANEL * OK_PANEL, d) * itemsize + 64, 1)
        self.scratch = self.memory + (64 - <Py_ssize_t> self.memory % 64)
        if self.rows == NULL or self.memory == NULL:
            raise MemoryError(f"no memory for a look-ahead window of {capacity} rows")

    def __dealloc__(self):
        free(self.rows)
        free(self.memory)
        free(self.gathered)
        free(self.packed_values)
        free(self.packed_columns)
        free(self.panels)
        free(self.local_column)
        free(self.used_columns)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        """Prepare rows order[first] ... order[first + n - 1] (order NULL: first + i) of `rows`.

        Returns a status.
        """
        if self.point_at_rows(rows, order, first, n) < 0:
            return NO_MEMORY
        return OK if self.sparse else self.compress_rows()

    cdef Status point_at_rows(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                              Py_ssize_t n) noexcept nogil:
        """Drop the former rows and point at the new ones. Returns a status."""
        cdef Py_ssize_t i
        self.forget_columns()
        self.sparse = is_sparse(rows)
        self.n = n
        if not self.sparse:
            return self.point_at_dense(rows, order, first)
        for i in range(n):
            self.rows[i] = sparse_row(rows, order[first + i] if order else first + i)
        return OK

    cdef Status point_at_dense(self, const Rows *rows, const Py_ssize_t *order,
                               Py_ssize_t first) noexcept nogil:
        """Point `dense` at the caller's rows, or, with an order, at a copy in that order."""
        cdef Py_ssize_t i, row_bytes = self.d * self.itemsize
        if order == NULL:
            self.dense = dense_row(rows, first)
            return OK
        if grow(<void **> &self.gathered, &self.gathered_bytes, self.capacity * row_bytes) < 0:
            return NO_MEMORY
        for i in range(self.n):
            memcpy(self.gathered + i * row_bytes, dense_row(rows, order[first + i]), row_bytes)
        self.dense = self.gathered
        return OK

    cdef Status compress_rows(self) noexcept nogil:
        """Make dense rows sparse if they are mostly zeros (one-hot features) and it pays.

        Dot products have the same bits in both layouts; l1 distances do not, so their rows must not
        be compressed. Returns a status.
        """
        cdef Py_ssize_t i, count, stored = nonzeros(self.dense, self.n * self.d, self.itemsize)
        cdef int32_t *columns
        cdef char *values
        if not pays_to_compress(self.d, self.n, stored, self.expected_panels):
            return OK
        if grow(<void **> &self.packed_columns, &self.columns_bytes,
                stored * <Py_ssize_t> sizeof(int32_t)) < 0 \
                or grow(<void **> &self.packed_values, &self.values_bytes,
                        stored * self.itemsize) < 0:
            return NO_MEMORY
        columns = self.packed_columns
        values = self.packed_values
        for i in range(self.n):
            count = pack(self.dense + i * self.d * self.itemsize, self.d, self.itemsize, values,
                         columns)
            self.rows[i].columns = columns
            self.rows[i].values = values
            self.rows[i].count = count
            columns += count
            values += count * self.itemsize
        self.sparse = True
        return OK

    cdef const char *as_dense(self, Py_ssize_t i) noexcept nogil:
        """Row i as d elements. A sparse row is copied into the scratch memory."""
        cdef Py_ssize_t j
        cdef const ok_sparse_row *row = &self.rows[i]
        if not self.sparse:
            return self.dense + i * self.d * self.itemsize
        memset(self.scratch, 0, self.d * self.itemsize)
        for j in range(row.count):
            memcpy(self.scratch + row.columns[j] * self.itemsize,
                   <const char *> row.values + j * self.itemsize, self.itemsize)
        return self.scratch

    cdef Status make_panels(self) noexcept nogil:
        """Copy the rows into panels, once per block. Returns a status."""
        cdef Py_ssize_t i, needed
        cdef int fresh
        if self.has_panels:
            return OK
        self.panel_features = self.d
        self.place = NULL
        if self.sparse and pays_to_number(self.d, self.stored()) and self.number_columns() < 0:
            return NO_MEMORY
        needed = whole_panels(self.n) * max(self.panel_features, 1) * self.itemsize
        fresh = grow(<void **> &self.panels, &self.panels_bytes, needed)
        if fresh < 0:
            return NO_MEMORY
        if self.sparse and not fresh:
            memset(self.panels, 0, needed)
        for i in range(self.n):
            self.write_lane(i, self.panel(i // OK_PANEL) + i % OK_PANEL * self.itemsize)
        self.has_panels = True
        return OK

    cdef char *panel(self, Py_ssize_t index) noexcept nogil:
        return self.panels + index * self.panel_features * OK_PANEL * self.itemsize

    cdef void write_lane(self, Py_ssize_t i, char *lane) noexcept nogil:
        """Write row i into its lane of a panel."""
        if self.sparse:
            scatter(lane, <const char *> self.rows[i].values, self.rows[i].columns, self.place,
                    self.rows[i].count, self.itemsize)
        else:
            scatter(lane, self.dense + i * self.d * self.itemsize, NULL, NULL, self.d,
                    self.itemsize)

    cdef Status number_columns(self) noexcept nogil:
        """Number the columns that occur in the block 0, 1, ... . Returns a status."""
        cdef Py_ssize_t i, j
        cdef int32_t column
        self.forget_columns()
        if self.local_column == NULL:
            self.local_column = <int32_t *> malloc(max(self.d, 1) * sizeof(int32_t))
            if self.local_column == NULL:
                return NO_MEMORY
            memset(self.local_column, 0xff, self.d * sizeof(int32_t))
        if grow(<void **> &self.used_columns, &self.used_columns_bytes,
                self.stored() * <Py_ssize_t> sizeof(int32_t)) < 0:
            return NO_MEMORY
        self.panel_features = 0
        for i in range(self.n):
            for j in range(self.rows[i].count):
                column = self.rows[i].columns[j]
                if self.local_column[column] < 0:
                    self.local_column[column] = <int32_t> self.panel_features
                    self.used_columns[self.panel_features] = column
                    self.panel_features += 1
        self.n_numbered = self.panel_features
        self.place = self.local_column
        return OK

    cdef Py_ssize_t stored(self) noexcept nogil:
        """The stored elements of all rows, which are sparse."""
        cdef Py_ssize_t i, stored = 0
        for i in range(self.n):
            stored += self.rows[i].count
        return stored

    cdef void forget_columns(self) noexcept nogil:
        """Undo `number_columns`, also where no memory was left for the panels after it.

        It reads `used_columns`, not the rows: the caller may have freed those.
        """
        cdef Py_ssize_t j
        for j in range(self.n_numbered):
            self.local_column[self.used_columns[j]] = -1
        self.n_numbered = 0
        self.has_panels = False


cdef class KernelBlock(Block):
    """A block with squared norms, norm terms and kernel values among its rows.

    Parameters
    ----------
    capacity, d, itemsize : int
        See `Block`.
    kernel : Kernel
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t d, Py_ssize_t itemsize, Kernel kernel):
        self.kernel = kernel
        self.squares = <double *> calloc(capacity, sizeof(double))
        self.norm_terms = <char *> aligned_resize(NULL, 0, whole_panels(capacity) * itemsize)
        self.wide_squares = <double *> calloc(whole_panels(capacity), sizeof(double))
        if self.squares == NULL or self.norm_terms == NULL or self.wide_squares == NULL:
            raise MemoryError(f"no memory for a look-ahead window of {capacity} rows")

    def __dealloc__(self):
        free(self.squares)
        free(self.norm_terms)
        free(self.wide_squares)
        free(self.pair_products)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t added = self.columns_made
        self.all_pairs = not is_sparse(rows) and pays_to_multiply_all(self.d, self.n, added)
        self.columns_made = 0
        if self.point_at_rows(rows, order, first, n) < 0:
            return NO_MEMORY
        self.measure_rows()
        if self.sparse or self.any_exact or self.kernel.accumulate != OK_DOT or self.kernel.of_rows:
            return OK
        return self.compress_rows()

    cdef void measure_rows(self) noexcept nogil:
        """Compute squared norms and norm terms, from the rows as they came."""
        cdef Py_ssize_t i, row_bytes = self.d * self.itemsize
        cdef double absolute, term
        self.any_exact = self.any_wide = False
        for i in range(self.n):
            if self.sparse:
                self.ops.norms(self.rows[i].values, self.rows[i].count, &self.squares[i],
                               &absolute)
            else:
                self.ops.norms(self.dense + i * row_bytes, self.d, &self.squares[i], &absolute)
            term = self.kernel.norm_term(self.squares[i], absolute)
            if self.itemsize == 4:
                (<float *> self.norm_terms)[i] = <float> term
            else:
                (<double *> self.norm_terms)[i] = term
            self.any_exact |= self.is_exact(i)
            self.wide_squares[i] = -1
            if self.is_wide(i):
                self.any_wide = True
                self.wide_squares[i] = sparse_square(&self.rows[i], self.itemsize)
            if self.kernel.of_rows:
                # Unknown: who needs it where `take_pairs` was not called gets an error.
                self.squares[i] = NAN

    cdef object dense_rows(self):
        """A copy of the rows, as an ndarray of shape (n, d)."""
        cdef Py_ssize_t i, row_bytes = self.d * self.itemsize
        cdef Py_ssize_t address
        out = np.empty((self.n, self.d), np.float32 if self.itemsize == 4 else np.float64)
        address = out.ctypes.data
        for i in range(self.n):
            memcpy(<char *> address + i * row_bytes, self.as_dense(i), row_bytes)
        return out

    cdef Status take_pairs(self, const double[:, ::1] values, Py_ssize_t first) noexcept:
        """Take over values[j, first + i] = kappa(x_j, x_i), which a Python function made.

        Returns a status.
        """
        cdef Py_ssize_t i, j, ld = whole_panels(self.n)
        if grow(<void **> &self.pair_products, &self.pair_products_bytes,
                self.n * ld * self.itemsize) < 0:
            return NO_MEMORY
        for i in range(self.n):
            self.squares[i] = values[i, first + i]
            for j in range(self.n):
                if self.itemsize == 4:
                    (<float *> self.pair_products)[i * ld + j] = <float> values[j, first + i]
                else:
                    (<double *> self.pair_products)[i * ld + j] = values[j, first + i]
        return OK

    cdef bint is_exact(self, Py_ssize_t i) noexcept nogil:
        """Whether row i is too long for the expanded distance in float32, or has no other."""
        if self.kernel.accumulate == OK_SQUARED:
            return self.sparse
        if self.kernel.accumulate == OK_ABSOLUTE:
            return self.sparse and self.itemsize == 4 \
                and (<float *> self.norm_terms)[i] > self.kernel.exact_above
        return self.itemsize == 4 and self.squares[i] > self.kernel.exact_above

    cdef bint is_wide(self, Py_ssize_t i) noexcept nogil:
        """Whether row i is exact and sparse, and its distances have products in double."""
        return self.sparse and self.kernel.accumulate == OK_DOT and self.is_exact(i) \
            and self.squares[i] <= MOST_WIDE * self.kernel.exact_above

    cdef bint is_sifted(self, Py_ssize_t i) noexcept nogil:
        """Whether kernel values of row i, which `is_exact`, need not be recomputed if they vanish.

        The expanded l1 distance must tell them from others.
        """
        return self.kernel.accumulate == OK_ABSOLUTE \
            and (<float *> self.norm_terms)[i] <= MOST_SIFTED

    cdef Status kernel_column(self, Py_ssize_t i, bint transformed, char *out) noexcept nogil:
        """out[j] = kappa(x_i, x_j) for the rows j > i of the block, whose panels are made.

        Without `transformed` it is their product, before the kernel. `out` holds n elements in
        whole panels; the others are overwritten with anything. Returns a status.
        """
        cdef Py_ssize_t j = i + 1, size = self.itemsize
        self.columns_made += 1
        if self.kernel.of_rows:
            memcpy(out + j * size, self.pair_products + (i * whole_panels(self.n) + j) * size,
                   (self.n - j) * size)
            return OK
        if self.all_pairs and not self.sparse:
            if self.columns_made == 1 and self.multiply_pairs() < 0:
                return NO_MEMORY
            memcpy(out + j * size, self.pair_products + (i * whole_panels(self.n) + j) * size,
                   (self.n - j) * size)
        else:
            self.multiply_row(i, out)
        if not transformed:
            return OK
        self.kernel.transform(self.ops, out + j * size, OK_PANEL, 1, self.n - j,
                              self.norm_terms + i * size, self.norm_terms + j * size, self.sparse)
        if self.any_exact:
            self.recompute_exact(i, out)
        return OK

    cdef Status multiply_pairs(self) noexcept nogil:
        """Multiply all dense rows with one another. Returns a status."""
        cdef Py_ssize_t q, panels = whole_panels(self.n) // OK_PANEL
        if grow(<void **> &self.pair_products, &self.pair_products_bytes,
                self.n * whole_panels(self.n) * self.itemsize) < 0:
            return NO_MEMORY
        for q in range(panels):
            self.ops.dense[self.kernel.accumulate](
                self.dense, self.d, self.n, self.d, self.panel(q),
                self.pair_products + q * OK_PANEL * self.itemsize, panels * OK_PANEL)
        return OK

    cdef void multiply_row(self, Py_ssize_t i, char *out) noexcept nogil:
        """Multiply row i with the block's panels, from the one that holds it on."""
        cdef Py_ssize_t q, panels = whole_panels(self.n) // OK_PANEL
        cdef Py_ssize_t width = OK_PANEL * self.itemsize
        cdef int accumulate = self.kernel.accumulate
        for q in range(i // OK_PANEL, panels):
            if self.sparse:
                self.ops.sparse[of_sparse_rows(accumulate)](
                    &self.rows[i], 1, self.place, self.panel(q),
                    out + q * width, OK_PANEL)
            else:
                self.ops.dense[accumulate](self.dense + i * self.d * self.itemsize, self.d, 1,
                                           self.d, self.panel(q), out + q * width, OK_PANEL)

    cdef void recompute_exact(self, Py_ssize_t i, char *out) noexcept nogil:
        """Recompute out[j] from feature differences for the rows j > i with `is_exact(j)`.

        Of those that are wide from products in double.
        """
        cdef Py_ssize_t j, held = -1
        cdef char *distance = self.scratch + OK_PANEL * self.itemsize
        cdef double value
        for j in range(i + 1, self.n):
            if not self.is_exact(j):
                continue
            if self.wide_squares[j] >= 0:
                if held != j // OK_PANEL:
                    held = j // OK_PANEL
                    self.ops.sparse_squared(
                        &self.rows[i], 1, self.place, self.panel(held),
                        self.wide_squares + held * OK_PANEL, distance, OK_PANEL)
                value = (<float *> distance)[j % OK_PANEL]
            elif self.is_sifted(j) and vanishes((<float *> out)[j]):
                value = INFINITY
            elif self.sparse:
                value = sparse_distance(&self.rows[i], &self.rows[j], self.itemsize,
                                        self.kernel.accumulate)
            else:
                self.ops.dense[OK_SQUARED](
                    self.dense + i * self.d * self.itemsize, self.d, 1, self.d,
                    self.panel(j // OK_PANEL), distance, OK_PANEL)
                value = (<float *> distance)[j % OK_PANEL]
            if self.itemsize == 4:
                (<float *> out)[j] = <float> value
            else:
                (<double *> out)[j] = value
            self.kernel.of_distance(self.ops, out + j * self.itemsize, OK_PANEL, 1, 1)
