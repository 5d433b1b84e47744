# Storage of sparse support vectors. May change at minor versions.
from onlinekern.core.base.vector cimport ok_sparse_row
from onlinekern.core.kernels.panel_store cimport Store


cdef class SparseStore(Store):
    cdef ok_sparse_row *rows
