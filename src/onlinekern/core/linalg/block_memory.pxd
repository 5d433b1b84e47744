# The memory of least squares over blocks of samples. May change at minor versions.
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.linalg.evidence cimport Evidence
from onlinekern.core.linalg.information cimport Information

# The largest number of samples in a block: the lanes of a panel.
cdef enum:
    LANES = 64
    WAITING = 256    # samples that A may lack; in files of older versions, now 96


# The samples of the open block, all in one piece of memory.
cdef struct Contents:
    char *products       # length x LANES: lane j is q_j = N phi_j
    char *rows           # WAITING x length: phi of the samples that wait, the block's last
    double *factor       # LANES x LANES: row j is column j of C
    double *innovations  # LANES x n_outputs: E
    double *targets      # LANES x n_outputs: what b gets of each sample
    double *weights      # WAITING


cdef class BlockMemory:
    cdef const ok_vector_ops *ops
    cdef readonly Information sums
    cdef readonly Evidence evidence        # by which r is chosen, or None
    cdef readonly Py_ssize_t below         # how far below what it finds best, see `Evidence`
    cdef readonly Py_ssize_t length, n_outputs, itemsize
    cdef readonly double forgetting
    cdef readonly Py_ssize_t block_length, epoch_length
    cdef readonly Py_ssize_t used          # numbers of a row that may be other than 0
    cdef readonly Py_ssize_t count         # samples in the block
    cdef readonly Py_ssize_t waiting       # samples that A does not contain, these included
    cdef readonly Py_ssize_t since         # samples since N was made anew, these included
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
    cdef bint contents_kept                # and whether the samples have
    cdef Py_ssize_t saved_used, saved_count, saved_waiting, saved_since

    cdef void set_diagonal(self, Py_ssize_t place, double value) noexcept nogil
    cdef char *panel(self, Py_ssize_t index) noexcept nogil
    cdef void write_inverse(self, const double *upper) noexcept nogil
    cdef void keep_contents(self) noexcept nogil
