# Least squares over a window of coming samples. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.linalg.open_block cimport OpenBlock


cdef class LookAhead:
    cdef readonly OpenBlock block
    cdef const char *rows                  # of the window, n x length
    cdef Py_ssize_t first, n               # samples first ... n - 1 are still to come
    cdef Py_ssize_t n_lanes
    cdef readonly double reach
    cdef bint all_enter                    # whether all samples will be learnt
    cdef double *base_scores               # n x n_outputs: scores by w before the block
    cdef Py_ssize_t *lanes                 # lane of each sample whose q is known; -1: not known
    cdef char *gathered                    # rows of these samples, by lane
    cdef char *products                    # length x LANES: their q
    cdef char *own                         # n x LANES: phi_i' q of these samples
    cdef char *with_block                  # n x LANES: phi_i' q of the samples of the block
    cdef char *tile
    cdef double *h                         # h of the sample scored last
    cdef double *scores                    # its scores

    cdef Py_ssize_t n_handed               # samples of the block whose q the block has
    cdef Py_ssize_t *taken                 # lanes of the samples of the block

    cdef void open(self, const char *rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef void score_base(self) noexcept nogil
    cdef bint is_near(self, const double *scores) noexcept nogil
    cdef void multiply(self, const char *x, Py_ssize_t n, const char *panel,
                       char *out) noexcept nogil
    cdef void add_lanes(self, Py_ssize_t n) noexcept nogil
    cdef void score(self, Py_ssize_t i, double *scores) noexcept nogil
    cdef double number(self, const char *table, Py_ssize_t i, Py_ssize_t lane) noexcept nogil
    cdef void require_lane(self, Py_ssize_t i) noexcept nogil
    cdef double variance(self, Py_ssize_t i) noexcept nogil
    cdef void grow(self, Py_ssize_t i, Py_ssize_t used) noexcept nogil
    cdef void extend_lane(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil
    cdef void hand_over(self) noexcept nogil
    cdef Status enter(self, Py_ssize_t i, double weight, const double *steps) noexcept nogil
