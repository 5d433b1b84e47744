# The order of the largest violation (layer 10). May change at minor versions.
from onlinekern.core.heads cimport Head
from onlinekern.core.orders cimport Order
from onlinekern.core.outputs cimport AllOutputs


cdef class WorstFirst(Order):
    cdef AllOutputs space
    cdef Head head
    cdef const double[::1] y, weight
    cdef Py_ssize_t[::1] chosen
    cdef double[::1] scores
