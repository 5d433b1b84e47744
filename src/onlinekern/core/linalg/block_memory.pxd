# The memory of least squares over blocks of samples. May change at minor versions.
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.linalg.evidence cimport Evidence
from onlinekern.core.linalg.information cimport Information

cdef enum:
    LANES = 64       # most samples of a block: the lanes of a panel
    WAITING = 256    # most samples that are not in A yet: 96, in files of older versions 256


# The samples of the open block, in one allocation.
cdef struct Contents:
    char *products       # length x LANES: lane j is q_j = N phi_j
    char *rows           # WAITING x length: phi of samples not in A; those of the block are last
    double *factor       # LANES x LANES: row j is column j of C
    double *innovations  # LANES x n_outputs: E
    double *targets      # LANES x n_outputs: a y, which each sample adds to b
    double *weights      # WAITING: weights a


cdef class BlockMemory:
    cdef const ok_vector_ops *ops
    cdef readonly Information sums
    cdef readonly Evidence evidence        # chooses r; None: r is fixed
    cdef readonly Py_ssize_t below         # see `Evidence`
    cdef readonly Py_ssize_t length, n_outputs, itemsize
    cdef readonly double forgetting
    cdef readonly Py_ssize_t block_length, epoch_length
    cdef readonly Py_ssize_t used          # the first numbers of a row, which may not be 0
    cdef readonly Py_ssize_t count         # samples in the block
    cdef readonly Py_ssize_t waiting       # samples that are not in A, those of the block included
    cdef readonly Py_ssize_t since         # samples since N was recomputed, including the block
    cdef JournaledMatrix base              # w before the block
    cdef double *current                   # w after it, as of the last `settle`
    cdef bint settled
    cdef char *inverse                     # N, a panel of columns after the other
    cdef Contents contents
    cdef Py_ssize_t inverse_bytes, contents_bytes
    cdef double *scaled                    # WAITING x length
    cdef double *multipliers               # n_outputs x LANES
    cdef char *solved                      # length x LANES: C^-1 Q
    cdef float *factor32                   # LANES x LANES
    # Copies for `rollback`.
    cdef char *saved_inverse
    cdef char *saved_contents
    cdef bint kept                         # whether N has been copied since the checkpoint
    cdef bint contents_kept                # whether the samples have been copied since then
    cdef Py_ssize_t saved_used, saved_count, saved_waiting, saved_since

    cdef void set_diagonal(self, Py_ssize_t place, double value) noexcept nogil
    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef void write_inverse(self, const double *upper) noexcept nogil
    cdef void keep_contents(self) noexcept nogil
