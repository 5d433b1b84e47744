# OLLA: a coefficient for every training point. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.heads cimport Head
from onlinekern.core.learning.order cimport Order
from onlinekern.core.learning.point_rules cimport Penalty
from onlinekern.core.models.row_cache cimport KernelRowCache
from onlinekern.core.models.space cimport Space


cdef class OLLASpace(Space):
    cdef readonly SupportSet support   # filled by `settle`
    cdef readonly Penalty penalty
    cdef readonly bint fit_intercept
    cdef SupportSet basis              # points of the expansion while learning; else None
    cdef double[::1] offset            # n_outputs
    cdef double[:, ::1] alpha          # n_points x n_outputs
    cdef double[:, ::1] seen           # n_points x n_outputs, each at the last turn of the point
    cdef double[::1] diagonal          # kappa(x_i, x_i)
    cdef double[::1] change            # n_outputs: step of the coefficients of one point

    cdef Status step_on(self, Py_ssize_t i) noexcept nogil
    cdef int check_learning(self) except -1


cdef class AllOutputs(OLLASpace):
    cdef readonly KernelRowCache cache
    cdef double cache_bytes
    cdef double[:, ::1] values         # n_outputs x points in whole panels, without the offset
    cdef double output(self, Py_ssize_t point, Py_ssize_t k) noexcept nogil
    cdef const char *kernel_row(self, Py_ssize_t point) noexcept nogil


cdef class SupportOutputs(OLLASpace):
    cdef double tolerance
    cdef Py_ssize_t[::1] slot_of       # slot of each point in `basis`; -1: none


cdef class WorstViolatorFirst(Order):
    cdef AllOutputs space
    cdef Head head
    cdef const double[::1] y, weight
    cdef Py_ssize_t[::1] chosen
    cdef double[::1] scores
