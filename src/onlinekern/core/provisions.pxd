# The provision of DualSGD: a budget policy that predicts too (layer 8). May change at
# minor versions.
from onlinekern.core.budgets cimport Budget, Verdict
from onlinekern.core.chunks cimport Chunk
from onlinekern.core.journals cimport Journal
from onlinekern.core.maps cimport FeatureBlock, FeatureMap
from onlinekern.core.slots cimport Queue
from onlinekern.core.support cimport SupportSet
from onlinekern.core.weights cimport Weights


cdef class Provision(Budget):
    cdef readonly FeatureMap map
    cdef readonly Py_ssize_t max_support, merge_size
    cdef readonly bint offset
    cdef Weights weights
    cdef Queue queue
    cdef FeatureBlock window           # features of the coming samples
    cdef FeatureBlock features         # and of the support rows, by slot
    cdef Journal old_features

    cdef int make_room(self, Py_ssize_t rows) except -1
    cdef void open(self, Chunk chunk) noexcept nogil
    cdef void add_scores(self, const char *z, double *current, double *averaged) noexcept nogil
    cdef Verdict merge(self, SupportSet support) noexcept nogil
    cdef void requeue(self, SupportSet support) noexcept nogil
