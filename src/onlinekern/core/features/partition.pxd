# Trees whose leaves are features. May change at minor versions.
from libc.stdint cimport int64_t, uint64_t

from onlinekern.core.features.taught cimport TaughtFeatures
from onlinekern.core.partitions.trees cimport Forest
from onlinekern.core.samples.rows cimport Rows


cdef class Partition(TaughtFeatures):
    cdef uint64_t seed
    cdef readonly int64_t last           # number of samples at which the last trees grow
    cdef readonly tuple forests          # the forests grown so far
    cdef readonly int64_t entered        # samples learnt, at most `last`
    cdef object shares                   # importances of the features, ndarray of shape (d,)
    # At the checkpoint.
    cdef tuple saved_forests
    cdef int64_t saved_entered
    cdef object saved_shares

    cdef object walk(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n)
