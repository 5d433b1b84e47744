"""RecentRows: ring buffer of the last samples of a stream, dense, with targets and weights.

Its memory grows with the stream, up to the capacity.
"""
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport (
    count_of, doubles_of_shape, float_dtype, rows_of_form)
from onlinekern.core.base.undo cimport Journal
from onlinekern.core.base.vector cimport aligned_resize, ok_sparse_row
from onlinekern.core.samples.rows cimport Rows, dense_row, is_sparse, sparse_row


cdef class RecentRows:
    """The last samples of a stream, none at first.

    Parameters
    ----------
    d : int
        Features.
    dtype : dtype
        float32 or float64.
    capacity : int
        Most samples that are kept.
    n_targets : int
        Targets of a sample.
    """

    def __cinit__(self, Py_ssize_t d, dtype, Py_ssize_t capacity, Py_ssize_t n_targets=1):
        self.d, self.capacity, self.n_targets = d, capacity, n_targets
        self.itemsize = float_dtype(dtype).itemsize
        # Rounded up to whole doubles, so that each record is aligned.
        self.begin = (n_targets + 1) * sizeof(double)
        self.size = self.begin + (d * self.itemsize + 7) // 8 * 8
        self.journal = Journal(self.size)

    def __dealloc__(self):
        free(self.records)

    cdef Py_ssize_t n(self) noexcept nogil:
        """Number of samples kept."""
        return <Py_ssize_t> min(self.count - self.oldest, <int64_t> self.capacity)

    cdef Rows row(self, int64_t number) noexcept nogil:
        """A kept sample, by its number in the stream, as `Rows` of one row."""
        cdef Rows rows
        rows.values = self.record(number) + self.begin
        rows.columns = rows.starts = NULL
        rows.n, rows.d, rows.itemsize = 1, self.d, self.itemsize
        return rows

    cdef Status keep(self, const Rows *rows, Py_ssize_t i, const double *y,
                     double weight) noexcept nogil:
        """Keep row i of some rows; at capacity it replaces the oldest sample."""
        cdef Py_ssize_t place = <Py_ssize_t> (self.count % self.capacity), more
        cdef char *record
        cdef void *fresh
        if place >= self.room:
            # Grow at 96, 192, ... samples, not at powers of two: the model has other work there.
            more = min(max(2 * self.room, place + 96), self.capacity)
            fresh = aligned_resize(self.records, self.room * self.size, more * self.size)
            if fresh == NULL:
                return NO_MEMORY
            self.records, self.room = <char *> fresh, more
        record = self.records + place * self.size
        if self.journal.keep(place, record) < 0:
            return NO_MEMORY
        memcpy(record, y, self.n_targets * sizeof(double))
        (<double *> record)[self.n_targets] = weight
        copy_row(rows, i, record + self.begin)
        self.count += 1
        return OK

    cdef void checkpoint(self) noexcept nogil:
        self.saved_count = self.count
        self.journal.begin(self.room)

    cdef void rollback(self) noexcept nogil:
        self.journal.restore(self.records, self.size)
        self.count = self.saved_count

    @property
    def dtype(self):
        return np.dtype(np.float32 if self.itemsize == 4 else np.float64)

    def shape_of(self, n):
        """Shape of the targets of n samples; several targets are columns."""
        return (n,) if self.n_targets == 1 else (n, self.n_targets)

    def arrays(self):
        """Rows, targets and weights of the kept samples, the oldest first."""
        n = self.n()
        return self.part(self.count - n, n)

    def part(self, int64_t first, Py_ssize_t n):
        """Rows, targets and weights of n kept samples, from number `first` on."""
        cdef Py_ssize_t i
        X, weight = np.empty((n, self.d), dtype=self.dtype), np.empty(n)
        y = np.empty(self.shape_of(n))
        cdef signed char[::1] rows = X.view(np.int8).reshape(-1)
        cdef double[::1] targets = y.reshape(-1), weights = weight
        cdef const char *record
        if first < self.count - self.n() or first + n > self.count:
            raise ValueError(f"samples {first} to {first + n} are not kept")
        for i in range(n):
            record = self.record(first + i)
            memcpy(&targets[i * self.n_targets], record, self.n_targets * sizeof(double))
            weights[i] = (<const double *> record)[self.n_targets]
            if self.d > 0:
                memcpy(&rows[i * self.d * self.itemsize], record + self.begin,
                       self.d * self.itemsize)
        return X, y, weight

    def set_arrays(self, count, X, y, weight, bint missing=False):
        """Restore a result of `arrays` after `count` samples; the oldest rows may be left out.

        `missing`: whether the rows may contain NaN.
        """
        cdef Rows rows
        cdef Py_ssize_t i
        count = count_of("count", count)
        n = min(len(y) if isinstance(y, np.ndarray) else 0, count, self.capacity)
        X = rows_of_form("rows", X, self.d, self.dtype, False, missing)
        cdef const double[::1] targets = np.ravel(
            doubles_of_shape("targets", y, self.shape_of(n)))
        cdef const double[::1] weights = doubles_of_shape("weights", weight, (n,))
        if len(X) != n:
            raise ValueError(f"rows must be those of the last {n} samples, got {len(X)}")
        cdef const signed char[::1] values = X.view(np.int8).reshape(-1)
        rows.values = <const char *> &values[0] if values.shape[0] > 0 else NULL
        rows.columns = rows.starts = NULL
        rows.n, rows.d, rows.itemsize = n, self.d, self.itemsize
        if (weight < 0).any():
            raise ValueError(f"weights must be >= 0, got {weight.min()}")
        self.count = self.oldest = count - n
        self.journal.begin(0)
        for i in range(n):
            if self.keep(&rows, i, &targets[i * self.n_targets], weights[i]) < 0:
                raise MemoryError(f"no memory for {n} samples")
        self.checkpoint()


cdef void copy_row(const Rows *rows, Py_ssize_t i, char *out) noexcept nogil:
    """Write row i in dense form."""
    cdef ok_sparse_row x
    cdef Py_ssize_t j, size = rows.itemsize
    if not is_sparse(rows):
        memcpy(out, dense_row(rows, i), rows.d * size)
        return
    memset(out, 0, rows.d * size)
    x = sparse_row(rows, i)
    for j in range(x.count):
        memcpy(out + x.columns[j] * size, <const char *> x.values + j * size, size)
