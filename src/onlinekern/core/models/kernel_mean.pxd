# The mean of the features of samples. May change at minor versions.
from onlinekern.core.models.mapped cimport MappedSpace


cdef class MeanSpace(MappedSpace):
    cdef double factor            # of the samples so far, with every further one
    cdef double total, saved      # weight of the samples, faded; at the checkpoint
