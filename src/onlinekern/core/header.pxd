# What onlinekern.h declares (layer 0). Stable: ONLINEKERN_ABI rises when something of it changes.
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t


cdef extern from "onlinekern/onlinekern.h" nogil:
    const int ONLINEKERN_ABI

    ctypedef struct ok_model:
        pass

    enum ok_dtype:
        OK_FLOAT32
        OK_FLOAT64

    ctypedef struct ok_matrix:
        const void *values
        const int32_t *indices
        const int32_t *indptr
        ptrdiff_t n_rows
        ptrdiff_t n_columns
        int dtype

    enum ok_status:
        OK_SUCCESS
        OK_ERROR
        OK_DIVERGED
        OK_NO_MEMORY
        OK_INTERRUPTED
