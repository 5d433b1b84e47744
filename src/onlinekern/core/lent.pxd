# Arrays over memory that a C caller lends (layer 2). May change at minor versions.
from libc.stddef cimport ptrdiff_t

from onlinekern.core.header cimport ok_matrix


cdef object numbers(const double *data, ptrdiff_t n, str name, bint written=*)
cdef object optional(const double *data, ptrdiff_t n, bint written=*)
cdef object matrix_of(const ok_matrix *X)
cdef object sample_of(const ok_matrix *x)
