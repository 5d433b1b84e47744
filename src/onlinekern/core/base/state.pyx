"""Checks of the fields of a state before it is used.

A pickle may contain anything: arrays of other lengths, slots that do not exist, NaN, parts of
another kind. A `set_state` checks each field with one of these functions, and then the fields
against each other. Each check returns the value, or raises ValueError (TypeError for a value of
another kind) with the name of the field, the value, and what it must be.
"""
from libc.stdint cimport int64_t

from math import isfinite
from numbers import Integral, Real
import sys

import numpy as np
import scipy.sparse as sp

# Largest counter in a state: increments do not overflow.
cdef object MOST = 1 << 62


cdef dict fields_of(object state, str owner, tuple names):
    """The state as a dictionary that has exactly these fields."""
    if not isinstance(state, dict):
        raise TypeError(f"the state of {owner} must be a dictionary, got {shown(state)}")
    if state.keys() != set(names):
        raise ValueError(f"the state of {owner} must have the fields {', '.join(sorted(names))}; "
                         f"it has {', '.join(sorted(map(str, state)))}")
    return state


cdef dict chosen(dict state, tuple names):
    """The fields `names` of a state, which belong to one part."""
    return {name: state[name] for name in names}


cdef tuple items_of(object state, str owner, Py_ssize_t count):
    """The state as a tuple of `count` items."""
    if not isinstance(state, (tuple, list)):
        raise TypeError(f"the state of {owner} must be a tuple, got {shown(state)}")
    if len(state) != count:
        raise ValueError(f"the state of {owner} must have {count} items, got {len(state)}")
    return tuple(state)


cdef type subclass_of(object cls, str name, type base):
    """The class, which must be a subclass of `base` (or `base` itself)."""
    if not isinstance(cls, type) or not issubclass(cls, base):
        raise TypeError(f"{name} must be a subclass of {base.__name__}, got {shown(cls)}")
    return cls


cdef int check_kind(object part, str name, type base) except -1:
    """Raise TypeError unless a part is an instance of `base`."""
    if not isinstance(part, base):
        raise TypeError(f"{name} must be a {base.__name__}, got {shown(part)}")
    return 0


cdef int check_width(str name, Py_ssize_t d, Py_ssize_t expected) except -1:
    """Raise ValueError unless rows have the expected number of features."""
    if d != expected:
        raise ValueError(f"{name} must have {expected} features, got {d}")
    return 0


cdef object doubles_of_shape(str name, object array, tuple shape):
    """An array of finite doubles in C order."""
    array = array_of(name, array, "f", 8)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    return finite_array(name, np.ascontiguousarray(array, dtype=np.float64))


cdef bint is_symmetric(const double[:, ::1] matrix) noexcept nogil:
    """Whether a square matrix equals its transpose.

    NumPy's comparison crashes the process if it has no memory for its buffers.
    """
    cdef Py_ssize_t i, j
    for i in range(matrix.shape[0]):
        for j in range(i):
            if matrix[i, j] != matrix[j, i]:
                return False
    return True


cdef int check_matrix(str name, object array) except -1:
    """Raise TypeError or ValueError unless it is a finite matrix of at least one row and column."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        raise TypeError(f"{name} must be an ndarray of floats, got {shown(array)}")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have two axes, neither of them empty, got {array.shape}")
    finite_array(name, array)
    return 0


cdef object integers_within(str name, object array, Py_ssize_t count, object least, object most):
    """An array of `count` integers in [least, most], as int64."""
    array = array_of(name, array, "i", 8)
    if array.shape != (count,):
        raise ValueError(f"{name} must have shape {(count,)}, got {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if count > 0 and (array.min() < least or array.max() > most):
        wrong = array[(array < least) | (array > most)][0]
        raise ValueError(f"{name} must be in [{least}, {most}], got {wrong}")
    return array


cdef object array_of(str name, object array, str kind, Py_ssize_t itemsize):
    """The array, checked to hold numbers of this kind ('f' or 'i') and size, in either byte order.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be an ndarray, got {shown(array)}")
    if array.dtype.kind != kind or array.dtype.itemsize != itemsize:
        raise TypeError(f"{name} must be of {kind}{itemsize}, got {array.dtype}")
    return array


cdef object finite_array(str name, object array, bint missing=False):
    """The array, all of whose numbers must be finite, or NaN if they may be `missing`."""
    good = ~np.isinf(array) if missing else np.isfinite(array)
    if not good.all():
        raise ValueError(f"{name} must be finite, got {array[~good][0]}")
    return array


cdef object rows_of_form(str name, object rows, Py_ssize_t d, object dtype, bint sparse,
                         bint missing=False):
    """Rows of d finite numbers: an ndarray in C order, or a CSR matrix if `sparse`.

    With `missing`, NaN is allowed as a missing value. The indices of a CSR matrix are checked where
    its rows are read (`samples_of`).
    """
    cdef Py_ssize_t itemsize = dtype.itemsize
    if sparse:
        if not isinstance(rows, sp.csr_matrix):
            raise TypeError(f"{name} must be a CSR matrix, got {shown(rows)}")
        values = array_of(name, rows.data, "f", itemsize)
        axes = (values.ndim, np.ndim(rows.indices), np.ndim(rows.indptr))
        if axes != (1, 1, 1):
            raise ValueError(f"{name} must be a CSR matrix of three arrays of one axis, got {axes}")
    else:
        values = array_of(name, rows, "f", itemsize)
    shape = rows.shape
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != d:
        raise ValueError(f"{name} must have shape (n, {d}), got {shape}")
    finite_array(name, values, missing)
    return rows if sparse else np.ascontiguousarray(rows, dtype=dtype)


cdef object float_dtype(object dtype):
    """float32 or float64, as a numpy dtype."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if dtype is None or found not in (np.float32, np.float64):
        raise TypeError(f"dtype must be float32 or float64, got {shown(dtype)}")
    return found


cdef int64_t integer_within(str name, object number, object least, object most) except? -1:
    """An integer in [least, most]."""
    if not isinstance(number, Integral):
        raise TypeError(f"{name} must be an integer, got {shown(number)}")
    if not least <= number <= most:
        raise ValueError(f"{name} must be in [{least}, {most}], got {number}")
    return number


cdef int64_t count_of(str name, object number) except -1:
    """An integer >= 0."""
    return integer_within(name, number, 0, MOST)


cdef double finite_number(str name, object number) except? -1:
    """A number that is finite."""
    if not isinstance(number, Real):
        raise TypeError(f"{name} must be a number, got {shown(number)}")
    if not isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


cdef double positive_number(str name, object number) except -1:
    """A finite number > 0."""
    if not finite_number(name, number) > 0:
        raise ValueError(f"{name} must be > 0, got {number}")
    return number


cdef double not_negative(str name, object number) except -1:
    """A finite number >= 0."""
    if not finite_number(name, number) >= 0:
        raise ValueError(f"{name} must be >= 0, got {number}")
    return number


cdef bint flag_of(str name, object value) except -1:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return value


cdef Py_ssize_t size_of(str what, object count, object size) except -1:
    """count * size, a number of bytes to allocate.

    Raises
    ------
    MemoryError
        If it is negative, or too large for any allocation.
    """
    # In Python integers, which do not overflow. The bound leaves room for rounding sizes up.
    if count < 0 or size < 0 or count * size > sys.maxsize // 4:
        raise MemoryError(f"no memory for {what}: {count} times {size} bytes")
    return count * size


cdef str shown(object value):
    """The repr of a value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
