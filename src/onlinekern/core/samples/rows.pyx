"""Rows: a view of samples as plain pointers, dense (C order) or CSR, float32 or float64.

It is made from arrays whose numbers the Python side has validated. Arrays may be read-only or
memory-mapped: nothing is written. Everything that makes pointers safe is checked here: alignment,
and that the indices of a CSR matrix are within its arrays and columns. A `Samples` object owns the
arrays that its `rows` point into.
"""
cimport numpy as cnp
from cython cimport floating
from libc.math cimport fabs, isfinite, isnan
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

import numpy as np
import scipy.sparse as sp

from onlinekern.core.base.vector cimport (
    OK_CSR_COLUMNS, OK_CSR_STARTS, csr_faults, ops_for)

cnp.import_array()

# Most elements that a 32-bit index can address.
cdef Py_ssize_t MOST_INDICES = 2147483647

cdef object CSR_MATRIX = sp.csr_matrix
cdef object CSR_ARRAY = sp.csr_array

# `pack` skips blocks of this many elements if all are 0.
cdef enum: BLOCK = 64


cdef class Samples:
    """Owner of the arrays behind a `Rows`."""

    def __dealloc__(self):
        free(self.packed)


cdef const void *data_of(cnp.ndarray array):
    return cnp.PyArray_DATA(array)


cdef Samples samples_of(object X, object dtype):
    """Rows of a validated dense array or CSR matrix; copies only what has another dtype or order.

    Parameters
    ----------
    X : ndarray of shape (n, d), or scipy.sparse CSR of that shape
    dtype : numpy.float32 or numpy.float64

    Raises
    ------
    ValueError
        If a sparse X is no valid CSR matrix, see `csr_samples`.
    """
    cdef Samples known, samples = Samples()
    samples.rows.n, samples.rows.d = X.shape
    samples.rows.itemsize = np.dtype(dtype).itemsize
    # Said so, since SciPy asks an abstract base class, which takes longer than all else here.
    if cnp.PyArray_Check(X) or not sp.issparse(X):
        array = aligned(X, kind_of(samples.rows.itemsize))
        samples.owners = (array,)
        samples.rows.values = <const char *> data_of(array)
        samples.rows.columns = NULL
        samples.rows.starts = NULL
        return samples
    known = known_samples(X)
    if known is None:
        known = csr_samples(X)
    if known.rows.itemsize == samples.rows.itemsize:
        return known
    values = aligned(known.owners[0], kind_of(samples.rows.itemsize))
    samples.rows = known.rows
    samples.rows.itemsize = values.itemsize
    samples.rows.values = <const char *> data_of(values)
    samples.owners = (values, known)
    return samples


cdef int kind_of(Py_ssize_t itemsize) noexcept:
    """NumPy's number of the type of samples."""
    return cnp.NPY_FLOAT32 if itemsize == 4 else cnp.NPY_FLOAT64


cdef bint is_plain(object array, int kind):
    """Whether pointers can read this as it is: an array of this type, in C order and aligned."""
    return isinstance(array, cnp.ndarray) and cnp.PyArray_TYPE(<cnp.ndarray> array) == kind \
        and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> array) \
        and cnp.PyArray_ISALIGNED(<cnp.ndarray> array) \
        and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray> array)


cdef object aligned(object array, int kind):
    """The array with this type, in C order and aligned; copied only if it is not so already."""
    if is_plain(array, kind):
        return array
    return np.require(array, cnp.PyArray_DescrFromType(kind), ["C_CONTIGUOUS", "ALIGNED"])


cdef object int32_of(object indices, str name):
    """Indices as an aligned array of int32, each of them at most MOST_INDICES."""
    if is_plain(indices, cnp.NPY_INT32):
        return indices
    array = np.asarray(indices)
    if array.dtype.kind != "i":
        raise ValueError(f"X is no valid CSR matrix: its {name} are no integers ({array.dtype})")
    if array.dtype.itemsize > 4 and array.size > 0:
        for extreme in (array.min(), array.max()):
            if not -1 <= extreme <= MOST_INDICES:
                raise ValueError(
                    f"X is no valid CSR matrix: its {name} hold {extreme}; at most {MOST_INDICES} "
                    "columns and stored elements can be indexed, pass it in smaller pieces")
    return aligned(array, cnp.NPY_INT32)


cdef object fault_of(object columns, object starts, Py_ssize_t stored, Py_ssize_t d):
    """ValueError that names the first row whose indices are not within the matrix."""
    bad = np.flatnonzero((starts[:-1] < 0) | (starts[1:] < starts[:-1]) | (starts[1:] > stored))
    if starts[0] != 0 or bad.size > 0:
        row = bad[0] if starts[0] == 0 else 0
        return ValueError(
            f"X is no valid CSR matrix: row {row} is stored at {starts[row]} ... "
            f"{starts[row + 1]}, which is not within 0 ... {stored} or descends (indptr)")
    columns = columns[:starts[starts.size - 1]]
    place = np.flatnonzero((columns < 0) | (columns >= d))[0]
    row = np.searchsorted(starts, place, side="right") - 1
    return ValueError(f"X is no valid CSR matrix: row {row} has the column {columns[place]}, "
                      f"but there are {d} columns, 0 ... {d - 1} (indices)")


cdef Samples csr_samples(object X):
    """Rows of a CSR matrix whose indices are checked, columns ascending in each row.

    The flag `has_canonical_format` of the matrix is not trusted. If columns are not sorted, or have
    duplicates, a copy is sorted and duplicates are summed. Costs O(rows + stored elements), at the
    speed of memory.

    Raises
    ------
    ValueError
        If an index is outside of the matrix, if the arrays do not agree with each other, or if
        there are more columns or stored elements than a 32-bit index can name.
    """
    cdef Samples samples = Samples()
    cdef Py_ssize_t n, d, stored
    cdef int faults
    n, d = X.shape
    values = X.data
    values = aligned(values, kind_of(4 if values.dtype == np.float32 else 8))
    columns, starts = int32_of(X.indices, "indices"), int32_of(X.indptr, "indptr")
    if starts.shape != (n + 1,) or columns.ndim != 1 or values.ndim != 1:
        raise ValueError(f"X is no valid CSR matrix: indptr has {starts.size} elements, {n} rows "
                         f"need {n + 1}")
    if d > MOST_INDICES:
        raise ValueError(f"X has {d} columns; at most {MOST_INDICES} can be indexed")
    stored = min(values.size, columns.size, MOST_INDICES)
    samples.rows.n, samples.rows.d, samples.rows.itemsize = n, d, values.itemsize
    samples.rows.values = <const char *> data_of(values)
    samples.rows.columns = <const int32_t *> data_of(columns)
    samples.rows.starts = <const int32_t *> data_of(starts)
    samples.owners = (values, columns, starts)
    if n == 1:  # to give up the GIL takes longer
        faults = csr_faults(samples.rows.columns, samples.rows.starts, n, <int32_t> d,
                            <int32_t> stored)
    else:
        with nogil:
            faults = csr_faults(samples.rows.columns, samples.rows.starts, n, <int32_t> d,
                                <int32_t> stored)
    if faults & (OK_CSR_STARTS | OK_CSR_COLUMNS):
        raise fault_of(columns, starts, stored, d)
    if faults:
        # A new matrix: one that lies about itself would be left as it is.
        X = sp.csr_matrix((values, columns, starts), shape=X.shape, copy=True)
        X.sum_duplicates()
        return csr_samples(X)
    return samples


def checked_csr(X):
    """A CSR matrix whose indices are checked, with ascending columns in each row.

    The matrix remembers it: the core does not check it again.

    Parameters
    ----------
    X : CSR matrix of shape (n, d)

    Returns
    -------
    CSR matrix of shape (n, d)
        Another object than X, with the same arrays; copies where columns were not in order.

    Raises
    ------
    ValueError
        As `csr_samples`.
    """
    cdef Samples samples = csr_samples(X)
    # What copy.copy does takes five times as long.
    checked = object.__new__(type(X))
    vars(checked).update(vars(X))
    checked.data, checked.indices, checked.indptr = samples.owners
    checked.has_canonical_format = True
    checked.checked_samples = samples
    return checked


def rows_at(X, places):
    """Rows of an ndarray or CSR matrix: a slice of them without steps, or those of these numbers.

    SciPy's own way ends the process when it has no memory for a part of a matrix.
    """
    if cnp.PyArray_Check(X) or not sp.issparse(X):
        return X[places]
    starts, shape = X.indptr, X.shape
    if isinstance(places, slice):
        first, last, _ = places.indices(shape[0])
        last = max(first, last)
        stored = slice(starts[first], starts[last])
        ends = starts[first:last + 1] - starts[first]
    else:
        lengths = starts[places + 1] - starts[places]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        stored = np.arange(ends[len(ends) - 1]) + np.repeat(starts[places] - ends[:-1], lengths)
        ends = ends.astype(starts.dtype)
    return sp.csr_matrix((X.data[stored], X.indices[stored], ends), shape=(len(ends) - 1, shape[1]))


cdef Samples known_samples(object X):
    """The rows of a matrix of `checked_csr` that still has the arrays which were checked."""
    known = getattr(X, "checked_samples", None)
    if isinstance(known, Samples):
        values, columns, starts = (<Samples> known).owners
        if X.data is values and X.indices is columns and X.indptr is starts \
                and X.shape == ((<Samples> known).rows.n, (<Samples> known).rows.d):
            return known
    return None


cdef bint point_at(object x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows) except *:
    """Point `rows` at x if it is an array that can be read as it is."""
    cdef cnp.ndarray array
    if not isinstance(x, cnp.ndarray):
        return False
    array = x
    if not is_plain(array, kind_of(itemsize)) or cnp.PyArray_NDIM(array) != 1:
        return False
    if cnp.PyArray_DIM(array, 0) != d:
        raise ValueError(
            f"x has {cnp.PyArray_DIM(array, 0)} features, but the model was fitted with {d}")
    rows.values = <const char *> cnp.PyArray_DATA(array)
    rows.columns = NULL
    rows.starts = NULL
    rows.n = 1
    rows.d = d
    rows.itemsize = itemsize
    return True


cdef int check_finite(const Rows *rows, Py_ssize_t count, bint missing=False) except -1:
    """Raise ValueError unless the first `count` elements are finite, and so is their sum.

    With `missing`, NaN is allowed as a missing value.
    """
    cdef double square, absolute, x
    cdef Py_ssize_t j
    ops_for(rows.itemsize).norms(rows.values, count, &square, &absolute)
    if missing and isnan(absolute):
        absolute = 0
        for j in range(count):
            x = (<const float *> rows.values)[j] if rows.itemsize == 4 \
                else (<const double *> rows.values)[j]
            absolute += 0 if isnan(x) else fabs(x)
    if not isfinite(absolute):
        raise ValueError("x contains " + ("" if missing else "NaN or ")
                         + "infinity, or numbers too large to add up")
    return 0


cdef object plain_sparse_row(object x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows,
                             bint missing):
    """Point `rows` at one sample if it is a CSR matrix that can be read as it is.

    Returns the arrays that must live as long as `rows`; None if there is anything to convert, or to
    say of it.
    """
    if type(x) is not CSR_MATRIX and type(x) is not CSR_ARRAY:
        return None
    cdef Py_ssize_t stored
    values, columns, starts, shape = x.data, x.indices, x.indptr, x.shape
    if not is_plain(values, kind_of(itemsize)) or not is_plain(columns, cnp.NPY_INT32) \
            or not is_plain(starts, cnp.NPY_INT32) or cnp.PyArray_SIZE(<cnp.ndarray> starts) != 2 \
            or len(shape) != 2 or shape[0] != 1 or shape[1] != d:
        return None
    rows.values = <const char *> data_of(values)
    rows.columns = <const int32_t *> data_of(columns)
    rows.starts = <const int32_t *> data_of(starts)
    rows.n, rows.d, rows.itemsize = 1, d, itemsize
    stored = min(cnp.PyArray_SIZE(<cnp.ndarray> values), cnp.PyArray_SIZE(<cnp.ndarray> columns),
                 MOST_INDICES)
    if csr_faults(rows.columns, rows.starts, 1, <int32_t> d, <int32_t> stored):
        return None
    check_finite(rows, rows.starts[1], missing)
    return values, columns, starts


cdef object sparse_row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows, bint missing):
    """Point `rows` at one sample that is sparse."""
    if x.format != "csr" or x.ndim != 2:
        if hasattr(x, "check_format"):
            x.check_format(full_check=True)
        x = sp.csr_matrix(x.reshape(1, -1))
    if x.shape[0] != 1:
        raise ValueError(f"x must be one sample of {d} features, got shape {x.shape}")
    if x.shape[1] != d:
        raise ValueError(f"x has {x.shape[1]} features, but the model was fitted with {d}")
    samples = samples_of(x, np.float32 if itemsize == 4 else np.float64)
    rows[0] = (<Samples> samples).rows
    check_finite(rows, rows.starts[1], missing)
    return samples


cdef Samples row_of_pointers(Samples x, Py_ssize_t d, Py_ssize_t itemsize, Rows *rows,
                             bint missing):
    """Point `rows` at one sparse row that is given as pointers, columns ascending."""
    cdef cnp.npy_intp count = x.rows.starts[1]
    cdef Samples samples = x
    if x.rows.d != d:
        raise ValueError(f"x has {x.rows.d} features, but the model was fitted with {d}")
    if x.rows.itemsize != itemsize:
        samples = Samples()
        kind = cnp.NPY_FLOAT32 if x.rows.itemsize == 4 else cnp.NPY_FLOAT64
        values = cnp.PyArray_SimpleNewFromData(1, &count, kind, <void *> x.rows.values)
        values = values.astype(np.float32 if itemsize == 4 else np.float64)
        samples.owners = (x, values)
        samples.rows = x.rows
        samples.rows.values = <const char *> data_of(values)
        samples.rows.itemsize = itemsize
    rows[0] = samples.rows
    check_finite(rows, count, missing)
    return samples


cdef inline Py_ssize_t pack(const floating *x, Py_ssize_t d, floating *values,
                            int32_t *columns) noexcept nogil:
    """Write the non-zeros of x and their columns; returns their number.

    There must be room for one element more.

    With NULL for `values` they are counted only.
    """
    cdef Py_ssize_t block, first, last, j, count = 0
    cdef int stored
    for block in range((d + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        last = min(first + BLOCK, d)
        stored = 0
        for j in range(first, last):
            stored += x[j] != 0
        if values == NULL or stored == 0:
            count += stored
            continue
        for j in range(first, last):
            values[count] = x[j]
            columns[count] = <int32_t> j
            count += x[j] != 0
    return count


cdef Samples packed_row(Rows *rows):
    """The dense row that `rows` point at, as a sparse one with memory of its own."""
    cdef Samples samples = Samples()
    cdef Py_ssize_t count, d = rows.d, size = rows.itemsize
    cdef const char *x = rows.values
    cdef char *values
    cdef int32_t *starts
    if size == 4:
        count = pack(<const float *> x, d, NULL, NULL)
    else:
        count = pack(<const double *> x, d, NULL, NULL)
    samples.packed = malloc((count + 1) * (size + sizeof(int32_t)) + 2 * sizeof(int32_t))
    if samples.packed == NULL:
        raise MemoryError(f"no memory for a sample of {count} stored elements")
    values = <char *> samples.packed
    starts = <int32_t *> (values + (count + 1) * size)
    starts[0], starts[1] = 0, <int32_t> count
    if size == 4:
        pack(<const float *> x, d, <float *> values, starts + 2)
    else:
        pack(<const double *> x, d, <double *> values, starts + 2)
    samples.rows = rows[0]
    samples.rows.values = values
    samples.rows.columns = starts + 2
    samples.rows.starts = starts
    return samples


cdef object row_of(object x, Py_ssize_t d, Py_ssize_t itemsize, bint sparse, Rows *rows,
                   bint missing=False):
    """Point `rows` at one sample, as a sparse row if `sparse`, without scikit-learn's validation.

    Fast for a C-contiguous ndarray of shape (d,) and of the model's dtype; anything else that has
    d numbers is converted. A sparse row stays sparse. Returns the object that must live as long
    as `rows` is used.

    Raises
    ------
    ValueError
        If x has not d finite numbers, or NaN if values may be `missing`.
    """
    cdef Samples samples
    if not point_at(x, d, itemsize, rows):
        if isinstance(x, Samples):
            return row_of_pointers(x, d, itemsize, rows, missing)
        alive = plain_sparse_row(x, d, itemsize, rows, missing)
        if alive is not None:
            return alive
        if sp.issparse(x):
            return sparse_row_of(x, d, itemsize, rows, missing)
        x = np.asarray(x)
        if x.dtype.kind == "c":
            raise ValueError("x must be real, got complex numbers")
        if x.dtype.kind in "mM":
            raise ValueError("x must hold numbers, got dates or times")
        x = aligned(x, kind_of(itemsize))
        if x.ndim != 1:
            raise ValueError(f"x must be one sample of shape ({d},), got shape {x.shape}")
        point_at(x, d, itemsize, rows)
    check_finite(rows, d, missing)
    if not sparse:
        return x
    samples = packed_row(rows)
    rows[0] = samples.rows
    return samples
