# Storage of sparse support rows (layer 5). May change at minor versions.
from onlinekern.core.stores cimport Store
from onlinekern.core.vector cimport ok_sparse_row


cdef class SparseStore(Store):
    cdef ok_sparse_row *rows
