# A covariance stored as a sketch of its inverse. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.frequent_directions cimport FrequentDirections
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.samples.row_arithmetic cimport Vector


cdef class Sketched(Covariance):
    cdef readonly FrequentDirections sketch
    cdef JournaledMatrix diagonal  # D, one row
    cdef JournaledMatrix factor    # 2 size x 2 size; L is in the first n rows and columns
    cdef double *divided         # D^-1 x of the measured sample
    cdef double *solved          # L^-1 C D^-1 x of the measured sample
    cdef double *weights         # L'^-1 L^-1 C D^-1 x, from which the direction is computed
    cdef double *rows            # size x length: C D^-1/2 after a shrink
    cdef double *squares         # squared lengths of the columns of C before a shrink
    cdef double variance         # of the measured sample
    cdef bint has_direction      # whether `directions` belongs to the measured sample
    cdef void append(self, const double *x, double weight) noexcept nogil
    cdef void add_squares(self, Py_ssize_t n, double sign) noexcept nogil
    cdef Status refactor(self) noexcept nogil
