"""LeadingEigenvectors: all eigenvalues of a small symmetric matrix, and some of its eigenvectors.

LAPACK's divide and conquer (dsyevd) in its three steps, the last of which, turning the
eigenvectors of the tridiagonal matrix back, is taken for those only that are asked for.
"""
from libc.stdlib cimport calloc, free
from scipy.linalg.cython_lapack cimport dormtr, dstedc, dsytrd

from onlinekern.core.base.vector cimport aligned_resize


cdef class LeadingEigenvectors:
    """Room for matrices of one size.

    Parameters
    ----------
    n : int >= 1
    count : int in 1 ... n
        Eigenvectors of the largest eigenvalues that are computed.
    """

    def __init__(self, int n, int count):
        cdef int ask = -1, info
        cdef double a, b, c, needed, most
        self.n = n
        self.count = count
        dsytrd(b"L", &n, &a, &n, &b, &c, &a, &needed, &ask, &info)
        most = needed
        dormtr(b"L", b"L", b"N", &n, &count, &a, &n, &b, &c, &n, &needed, &ask, &info)
        # That of dstedc by its documentation.
        self.work_size = <int> max(most, needed, 1 + 4 * n + <double> n * n)
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
        """The eigenvector of values[i], n numbers; i >= n - count."""
        return self.vectors + i * self.n

    cdef bint solve(self) noexcept nogil:
        """Decompose `matrix`, which is finite. False when LAPACK did not converge."""
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
