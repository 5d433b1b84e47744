"""Combination: weights of experts, some of them negative, with the least mean squared error.

The weights w sum to 1 and minimise w' E w + h |w - v|^2. E has the mean products of two experts'
errors, so w' E w is the mean squared error of the combination (Bates and Granger 1969). The second
term keeps w near the shares v as long as there are few samples, whose errors differ by chance. h is
10 times the mean squared error of the best expert, or a given sum of squared errors if that is
larger, divided by the number of samples.
"""
from libc.math cimport INFINITY, isfinite, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

# The shares count as much as this number of samples with the error of the best expert.
cdef double PRIOR = 10
# A pivot below this share of the diagonal element is a rounding error.
cdef double LEAST_PIVOT = 1e-12


cdef Py_ssize_t memory_size(Py_ssize_t m) noexcept nogil:
    """Size of the memory for `combine`, in doubles."""
    return m * (m + 3)


cdef void combine(const double *errors, const double *met, const double *shares,
                  const unsigned char *voting, Py_ssize_t m, double least_error,
                  double *memory, double *weights) noexcept nogil:
    """Compute the weights of m experts; they are the shares if the equations have no solution.

    The lower triangle of `errors` has the weighted sums of products of two experts' errors, and
    `met` the sum of the weights for each expert. Experts that do not vote have the weight 0; all
    vote if `voting` is NULL.
    """
    cdef Py_ssize_t i, j, pair, n = 0
    cdef double least = INFINITY, fewest = INFINITY, level, first = 0, second = 0
    cdef double *matrix = memory
    cdef double *a = memory + m * m
    cdef double *c = a + m
    cdef Py_ssize_t *numbers = <Py_ssize_t *> (c + m)
    for i in range(m):
        weights[i] = shares[i]
        if voting == NULL or voting[i]:
            numbers[n] = i
            n += 1
    for i in range(n):
        fewest = min(fewest, met[numbers[i]])
    if not fewest > 0:
        return
    for i in range(n):
        for j in range(i + 1):
            pair = numbers[i] * m + numbers[j]
            # Divided by sqrt(met_i met_j), whose argument may overflow, or underflow to 0.
            matrix[i * m + j] = errors[pair] / met[numbers[i]] \
                * sqrt(met[numbers[i]] / met[numbers[j]])
        least = min(least, matrix[i * m + i])
    level = max(PRIOR * least, least_error) / fewest
    for i in range(n):
        matrix[i * m + i] += level
        a[i], c[i] = level * shares[numbers[i]], 1
    # a: the minimum without the constraint on the sum; c: its derivative by the multiplier.
    if not factor(matrix, n, m):
        return
    solve(matrix, n, m, a)
    solve(matrix, n, m, c)
    for i in range(n):
        first += a[i]
        second += c[i]
    if second > 0 and isfinite(second) and isfinite(first):
        for i in range(n):
            weights[numbers[i]] = a[i] + c[i] * (1 - first) / second


cdef void fade(double *errors, double *met, const unsigned char *fed, Py_ssize_t m,
               double discount, double weight) noexcept nogil:
    """Discount the sums, and count a sample that the experts of `fed` learn (NULL: all of them).

    If only one of two experts learns, their product is discounted by the square root. So the matrix
    stays positive semidefinite, and no combination has a negative mean squared error.
    """
    cdef Py_ssize_t i, j
    cdef double half = sqrt(discount)
    for i in range(m):
        if fed == NULL or fed[i]:
            met[i] = discount * met[i] + weight
        for j in range(i + 1):
            if fed == NULL or (fed[i] and fed[j]):
                errors[i * m + j] *= discount
            elif fed[i] or fed[j]:
                errors[i * m + j] *= half


cdef void add_products(double *errors, const double *own, const unsigned char *fed, Py_ssize_t m,
                       double weight) noexcept nogil:
    """Add the products of errors, at one output, of the experts that learn."""
    cdef Py_ssize_t i, j
    for i in range(m):
        if fed == NULL or fed[i]:
            for j in range(i + 1):
                if fed == NULL or fed[j]:
                    errors[i * m + j] += weight * own[i] * own[j]


cdef bint factor(double *matrix, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
    """Cholesky decomposition of the lower triangle, in place; False if not positive definite."""
    cdef Py_ssize_t i, j, k
    cdef double value
    for i in range(n):
        for j in range(i + 1):
            value = matrix[i * stride + j]
            for k in range(j):
                value -= matrix[i * stride + k] * matrix[j * stride + k]
            if i > j:
                matrix[i * stride + j] = value / matrix[j * stride + j]
            elif value > LEAST_PIVOT * matrix[i * stride + i] and isfinite(value):
                matrix[i * stride + i] = sqrt(value)
            else:
                return False
    return True


cdef void solve(const double *triangle, Py_ssize_t n, Py_ssize_t stride, double *x) noexcept nogil:
    """Solve a linear system with the result of `factor`; x is the right side, then the solution."""
    cdef Py_ssize_t i, k
    for i in range(n):
        for k in range(i):
            x[i] -= triangle[i * stride + k] * x[k]
        x[i] /= triangle[i * stride + i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= triangle[k * stride + i] * x[k]
        x[i] /= triangle[i * stride + i]


cdef class Combination:
    """Weights of experts that all predict every sample; older errors are discounted.

    The weights are equal at first.

    Parameters
    ----------
    n_experts : int
    keep : float in (0, 1]
        Discount of the sums of errors at each sample.
    least_error : float >= 0
        Least sum of squared errors that pulls towards equal weights, as in `combine`.
    """

    def __cinit__(self, Py_ssize_t n_experts, double keep, double least_error):
        cdef Py_ssize_t k, m = n_experts
        self.n_experts, self.keep, self.least_error = m, keep, least_error
        self.n_numbers = m * m + 2 * m
        self.errors = <double *> calloc(2 * self.n_numbers + m + memory_size(m), sizeof(double))
        if self.errors == NULL:
            raise MemoryError(f"no memory for the errors of {m} experts")
        self.met = self.errors + m * m
        self.weights = self.met + m
        self.copies = self.weights + m
        self.equal = self.copies + self.n_numbers
        self.memory = self.equal + m
        for k in range(m):
            self.equal[k] = self.weights[k] = 1.0 / m
        self.checkpoint()

    def __dealloc__(self):
        free(self.errors)

    cdef void meet(self, double weight) noexcept nogil:
        """Discount the sums, and count a sample of this weight; then call `add`."""
        fade(self.errors, self.met, NULL, self.n_experts, self.keep, weight)

    cdef void add(self, const double *own, double weight) noexcept nogil:
        """Add the errors of the experts at one output."""
        add_products(self.errors, own, NULL, self.n_experts, weight)

    cdef void weigh(self) noexcept nogil:
        """Compute the weights from the sums."""
        combine(self.errors, self.met, self.equal, NULL, self.n_experts, self.least_error,
                self.memory, self.weights)

    cdef void checkpoint(self) noexcept nogil:
        memcpy(self.copies, self.errors, self.n_numbers * sizeof(double))

    cdef void rollback(self) noexcept nogil:
        memcpy(self.errors, self.copies, self.n_numbers * sizeof(double))

    def get_weights(self):
        """The weights, ndarray of shape (n_experts,)."""
        cdef Py_ssize_t k
        return np.array([self.weights[k] for k in range(self.n_experts)])

    def get_state(self):
        """The sums that the weights are computed from, as a dictionary.

        `errors`: sums of products of errors, ndarray of shape (n_experts, n_experts), of which only
        the lower triangle is used. `met`: sum of the weights of the samples.
        """
        errors = np.empty((self.n_experts, self.n_experts))
        cdef double[:, ::1] view = errors
        memcpy(&view[0, 0], self.errors, errors.nbytes)
        return {"errors": errors, "met": self.met[0]}

    def set_arrays(self, const double[:, ::1] errors, double met):
        """Set these sums. They must be finite, and the diagonal and `met` >= 0."""
        cdef Py_ssize_t k
        if (np.diagonal(errors) < 0).any() or met < 0:
            raise ValueError("sums of squared errors, and the samples met, must be >= 0")
        memcpy(self.errors, &errors[0, 0], errors.nbytes)
        for k in range(self.n_experts):
            self.met[k] = met
        self.weigh()
