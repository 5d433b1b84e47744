"""LeadingEigenvectors: all eigenvalues of a small symmetric matrix, and some of its eigenvectors.

These are the three steps of LAPACK's divide and conquer (dsyevd). The last one, which transforms
eigenvectors of the tridiagonal matrix into those of the original, is done for the leading ones
only.
"""
from libc.limits cimport INT_MAX
from libc.stdlib cimport calloc, free
from scipy.linalg.cython_lapack cimport dormtr, dstedc, dsytrd

from onlinekern.core.base.vector cimport aligned_resize


cdef class LeadingEigenvectors:
    """A decomposition of matrices of one size, with its work memory.

    Parameters
    ----------
    n : int >= 1
    count : int in 1 ... n
        Number of eigenvectors to compute, those of the largest eigenvalues.

    Raises
    ------
    MemoryError
        When there is no memory for n x n numbers, or n is above 46,338, where LAPACK's work memory
        exceeds the range of its 32-bit sizes.
    """

    def __cinit__(self, int n, int count):
        cdef int ask = -1, info
        cdef double a, b, c, needed, most
        if not 1 <= count <= n:
            raise ValueError(f"count must be in [1, {n}], got {count}")
        self.n = n
        self.count = count
        dsytrd(b"L", &n, &a, &n, &b, &c, &a, &needed, &ask, &info)
        most = needed
        dormtr(b"L", b"L", b"N", &n, &count, &a, &n, &b, &c, &n, &needed, &ask, &info)
        # The third size is that of dstedc, from its documentation.
        needed = max(most, needed, 1 + 4.0 * n + <double> n * n)
        if needed > INT_MAX:
            raise MemoryError(f"a {n} x {n} matrix is too large for LAPACK")
        self.work_size = <int> needed
        self.integers_size = 3 + 5 * n
        self.matrix = <double *> aligned_resize(NULL, 0, <Py_ssize_t> n * n * sizeof(double))
        self.vectors = <double *> aligned_resize(NULL, 0, <Py_ssize_t> n * n * sizeof(double))
        self.values = <double *> calloc(3 * n, sizeof(double))
        self.work = <double *> calloc(self.work_size, sizeof(double))
        self.integers = <int *> calloc(self.integers_size, sizeof(int))
        if self.matrix == NULL or self.vectors == NULL or self.values == NULL \
                or self.work == NULL or self.integers == NULL:
            raise MemoryError(f"no memory for the eigenvectors of a {n} x {n} matrix")
        self.off_diagonal = self.values + n
        self.reflectors = self.values + 2 * n

    def __dealloc__(self):
        free(self.matrix)
        free(self.vectors)
        free(self.values)
        free(self.work)
        free(self.integers)

    cdef double *vector(self, Py_ssize_t i) noexcept nogil:
        """The eigenvector of values[i], n numbers, for i >= n - count."""
        return self.vectors + i * self.n

    cdef bint solve(self) noexcept nogil:
        """Decompose `matrix`, which must be finite. False when LAPACK did not converge."""
        cdef int n = self.n, info = 0
        dsytrd(b"L", &n, self.matrix, &n, self.values, self.off_diagonal, self.reflectors,
               self.work, &self.work_size, &info)
        if info != 0:
            return False
        dstedc(b"I", &n, self.values, self.off_diagonal, self.vectors, &n, self.work,
               &self.work_size, self.integers, &self.integers_size, &info)
        if info != 0:
            return False
        dormtr(b"L", b"L", b"N", &n, &self.count, self.matrix, &n, self.reflectors,
               self.vector(n - self.count), &n, self.work, &self.work_size, &info)
        return info == 0
