# Weights and variances of all nodes of a forest in one array. May change at minor versions.
from onlinekern.core.models.cell_experts cimport CellExperts, Generation


cdef object numbers_of(CellExperts experts, Generation now)
cdef int set_numbers(CellExperts experts, Generation now, object array) except -1
