# Means and variances of the features of a stream. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.sentinels cimport Sentinels
from onlinekern.core.samples.rows cimport Rows


cdef struct Tally:
    int64_t count        # rows learnt
    double unit          # forgetting^-t: factor of the weight of the present sample
    double total         # sum of the weights of all samples, each times its unit


cdef struct Scaling:
    double forgetting
    double limit         # scaled values are clipped to +-limit
    bint scaled          # whether values are divided by their deviation
    double reach         # values are clipped for the moments at this many deviations


cdef Scaling scaling_of(double forgetting, limit, bint scaled, double reach=*) except *


cdef class RunningMoments:
    cdef readonly Py_ssize_t d
    cdef readonly bint centred
    cdef readonly int64_t calls
    cdef readonly Lock lock              # for writers
    cdef Access access                   # for readers
    cdef JournaledMatrix moments         # centred: means, variances (2 x d); else sums (d x 1)
    cdef readonly Sentinels sentinels    # None: not searched for
    cdef Tally tally
    cdef Tally saved
    cdef Py_ssize_t n_before             # rows learnt by earlier parts of this call

    cdef double *means(self) noexcept nogil
    cdef double *variances(self) noexcept nogil
    cdef double advance(self, double weight, double forgetting) noexcept nogil
    cdef void renew_unit(self) noexcept nogil
    cdef Status learn_row(self, const Rows *rows, Py_ssize_t i, double weight,
                          const Scaling *scaling) noexcept nogil
    cdef void follow(self, const Rows *rows, Py_ssize_t i, double share, double weight,
                     double reach) noexcept nogil
    cdef void transform_row(self, const Rows *rows, Py_ssize_t i, const Scaling *scaling,
                            char *out) noexcept nogil
    cdef Status run(self, const Rows *rows, const double *weight, const Scaling *scaling,
                    char *out, char *known, Py_ssize_t *reached) noexcept nogil
    cdef int learn_rows(self, const Rows *rows, const double *weight, const Scaling *scaling,
                        char *out, bint goes_on, char *known=*) except -1
    cdef int scale_row(self, const Rows *rows, const Scaling *scaling, char *out,
                       char *known=*) except -1
    cdef char *copy_of(self, known, const Rows *rows) except? NULL
    cdef int check_rows(self, const Rows *rows) except -1
    cdef bint is_finite(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
