# DualSGD: support vectors, and a linear function of features. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport Journal, JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.budgets.queue cimport Queue
from onlinekern.core.features.map cimport FeatureBlock, FeatureMap
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.models.space cimport InverseTimeSpace


cdef class Weights:
    cdef const ok_vector_ops *ops
    cdef Coefficients shared               # provides scale, total and steps
    cdef readonly Py_ssize_t n_outputs, length
    cdef readonly bint averaged
    cdef JournaledMatrix values            # n_outputs x length, then as many companions
    cdef JournaledMatrix offsets           # one row: n_outputs, then as many companions
    cdef void scores(self, const char *z, double *current, double *averaged) noexcept nogil
    cdef void absorb(self, Py_ssize_t slot, const char *z) noexcept nogil
    cdef void shift(self, const double *step) noexcept nogil
    cdef void advance(self, int64_t lead) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil


cdef class FeatureMerging(Bounded):
    cdef readonly FeatureMap map
    cdef readonly Py_ssize_t merge_size
    cdef readonly bint offset
    cdef Weights weights
    cdef Queue queue
    cdef FeatureBlock window           # features of the samples of the open block
    cdef FeatureBlock features         # features of the support vectors, by slot
    cdef Journal old_features

    cdef int reserve_block(self, Py_ssize_t rows) except -1
    cdef void open(self, Block block) noexcept nogil
    cdef void add_scores(self, const char *z, double *current, double *averaged) noexcept nogil
    cdef Status merge(self) noexcept nogil


cdef class DualWindow:
    cdef Window window
    cdef FeatureBlock features


cdef class DualSpace(InverseTimeSpace):
    cdef FeatureMerging merging        # the budget, with its static type
