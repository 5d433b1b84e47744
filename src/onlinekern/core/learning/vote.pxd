# A weighted vote of experts by their discounted success. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Component


cdef class Vote(Component):
    cdef readonly Py_ssize_t n_experts, n_outputs
    cdef readonly double decay, sharpness
    cdef readonly tuple links
    cdef readonly int64_t n_mistakes
    cdef readonly double total    # of weight times the vote's own loss
    cdef bint relative            # whether only the ratios of losses count
    cdef double[::1] slopes       # of the experts' links; 0: least squares
    cdef double[::1] losses       # discounted sums: of each expert; of the vote; of the vote lately
    cdef double[::1] counts       # what they were summed up over
    cdef double[::1] work         # shares of the experts in the answer, and of an expert's outputs

    cdef bint knows_nothing(self) noexcept nogil
    cdef double loss_of(self, Py_ssize_t k) noexcept nogil
    cdef void weigh(self, const unsigned char *voting, double *shares) noexcept nogil
    cdef void answer(self, const double *scores, Py_ssize_t stride, const unsigned char *voting,
                     double *work, double *out) noexcept nogil
    cdef void add(self, double slope, double share, const double *scores, double *own,
                  double *out) noexcept nogil
    cdef double loss(self, const double *scores, double y) noexcept nogil
    cdef void note(self, Py_ssize_t k, double loss, double weight, double decay) noexcept nogil
    cdef int check(self, const double[:, :, ::1] scores, Py_ssize_t n,
                   const unsigned char[::1] voting) except -1


cdef class MeanVote(Vote):
    cdef double least, most       # of the targets seen
