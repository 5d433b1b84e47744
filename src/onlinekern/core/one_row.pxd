# One row of a C caller, learnt and scored without Python. May change at minor versions.
from libc.stddef cimport ptrdiff_t

from onlinekern.core.samples.c_rows cimport ok_matrix


cdef class Way:
    cdef bint learns, labels, asks, scores, predicts, streams


cdef bint learn_row(object estimator, Way way, const ok_matrix *x, double y) except -1
cdef bint takes_rows(object estimator, Way way) except -1
cdef bint score_row(object estimator, Way way, const ok_matrix *x, double *out,
                    ptrdiff_t size) except -1
cdef bint predict_row(object estimator, Way way, const ok_matrix *x, double *out) except -1
