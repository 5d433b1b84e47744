# The leading eigenvectors of a symmetric matrix. May change at minor versions.

cdef class LeadingEigenvectors:
    cdef readonly int n, count
    # n x n. `solve` reads the lower triangle (in the column order of BLAS) and overwrites it.
    cdef double *matrix
    cdef double *values          # n, ascending
    cdef double *vectors         # n x n; the last `count` rows (columns, to BLAS) are eigenvectors
    cdef double *off_diagonal
    cdef double *reflectors
    cdef double *work
    cdef int *integers
    cdef int work_size, integers_size

    cdef double *vector(self, Py_ssize_t i) noexcept nogil
    cdef bint solve(self) noexcept nogil
