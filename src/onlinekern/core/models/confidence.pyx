"""Confidence: variances, directions and contractions for second-order spaces.

A rule gets the variance x'S_k x of a sample x, raw or mapped, as its squared length. An update of
output k moves its weights along S_k x and contracts S_k.

A multi-class update changes two outputs: the class of the sample and its highest-scoring rival. Its
variance is the sum of both variances, and both matrices are contracted with the same beta. The
exact update would also create covariances between the two outputs. They are kept at 0.

A shared covariance is measured once and contracted once per sample, with the largest contraction of
the outputs that move. With one matrix, the sum of both variances is 2 x'S x. AROW has the same
contraction for all outputs of a sample. So S depends only on the samples that moved some output:
with one-vs-rest it is (I + sum x x'/r)^-1, summed over these samples.
"""
from libc.math cimport isfinite

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.state cimport count_of
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.samples.row_arithmetic cimport Vector

# A variance below this fraction of its initial value ||x||^2 counts as 0: a full matrix has
# rounding errors of this size.
cdef double NEGLIGIBLE_VARIANCE = 1e-15


cdef class Confidence:
    """A covariance, and flags of the sample that it measured last.

    Parameters
    ----------
    covariance : Covariance
    """

    def __cinit__(self, Covariance covariance not None):
        self.covariance = covariance

    cdef void measure(self, const Vector *x, double square, Update *update) noexcept nogil:
        """Compute the variances x'S_k x that are needed; 0 if negligible (`square` is ||x||^2)."""
        cdef Py_ssize_t k, matrix, last = -1
        cdef double variance = 0
        self.measured = True
        for k in range(self.covariance.n_outputs):
            if not update.needs_length[k]:
                continue
            matrix = self.covariance.matrix_of(k)
            if matrix != last:
                variance = self.variance(matrix, x, square)
                last = matrix
            update.lengths[k] = variance

    cdef double variance(self, Py_ssize_t matrix, const Vector *x, double square) noexcept nogil:
        """x'S x of one matrix."""
        cdef double variance = self.covariance.measure(matrix, x)
        if not isfinite(variance):
            self.overflow = True
        elif variance <= NEGLIGIBLE_VARIANCE * square:
            self.n_degenerate += square > 0
            variance = 0
        return variance

    cdef Status check(self, const Update *update) noexcept nogil:
        """NOT_FINITE if a variance or a contraction is not finite. Call before the weights move."""
        cdef Py_ssize_t k
        for k in range(self.covariance.n_outputs if update.updates else 0):
            if update.coefficients[k] != 0 and not isfinite(update.contractions[k]):
                self.overflow = True
        return NOT_FINITE if self.overflow else OK

    cdef void measure_all(self, const Vector *x) noexcept nogil:
        """Compute S_k x for a sample whose variances the rule did not need."""
        cdef Py_ssize_t matrix
        for matrix in range(self.covariance.n_matrices):
            self.covariance.measure(matrix, x)

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        """S_k x of the measured sample. Call before `contract`."""
        return self.covariance.direction(self.covariance.matrix_of(k), x)

    cdef Status contract(self, const Vector *x, const Update *update) noexcept nogil:
        """Contract the matrices of the outputs that moved. Returns a status."""
        cdef Py_ssize_t k
        cdef double largest = 0
        cdef Status status = OK
        for k in range(self.covariance.n_outputs):
            if update.coefficients[k] == 0:
                continue
            if self.covariance.n_matrices > 1 and status == OK:
                status = self.covariance.contract(k, x, update.contractions[k])
            largest = max(largest, update.contractions[k])
        if self.covariance.n_matrices == 1:
            return self.covariance.contract(0, x, largest)
        return status

    cdef void checkpoint(self) noexcept nogil:
        self.measured = self.overflow = False
        self.saved_n_degenerate = self.n_degenerate
        self.covariance.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.n_degenerate = self.saved_n_degenerate
        self.covariance.rollback()

    cdef int restore_count(self, object n_degenerate) except -1:
        """Restore a saved `n_degenerate`."""
        self.n_degenerate = self.saved_n_degenerate = count_of("n_degenerate", n_degenerate)
        return 0
