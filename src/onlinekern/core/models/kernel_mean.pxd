# The mean of the features of samples. May change at minor versions.
from onlinekern.core.models.mapped cimport MappedSpace


cdef class MeanSpace(MappedSpace):
    cdef double factor            # lambda: forgetting factor per sample
    cdef double total, saved      # n: discounted weight of the samples; at the checkpoint
