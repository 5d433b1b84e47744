"""Combination of experts: the weights, some of them negative, by which their answers add up best.

The weights w sum to 1 and minimise w' E w + h |w - v|^2. E holds the means of the products of two
experts' errors, so that w' E w is the mean squared error of the combination (Bates and Granger
1969); v are shares, near which the weights stay as long as little is known: h is the mean squared
error of the best expert times 10 over the number of samples.
"""
from libc.math cimport INFINITY, isfinite, sqrt

# So many samples of the best expert's error stand for the shares.
cdef double PRIOR = 10
# A pivot that is a smaller share of the diagonal is a rounding error.
cdef double LEAST_PIVOT = 1e-12


cdef Py_ssize_t memory_size(Py_ssize_t m) noexcept nogil:
    """Numbers that `combine` needs room for."""
    return m * (m + 3)


cdef void combine(const double *errors, const double *met, const double *shares,
                  const unsigned char *voting, Py_ssize_t m, double *memory,
                  double *weights) noexcept nogil:
    """Compute the weights of m experts, which are the shares if nothing better is known.

    The lower triangles of `errors` and `met` have the sums of the products of two experts' errors,
    and how many they are. Experts that do not vote have the weight 0.
    """
    cdef Py_ssize_t i, j, pair, n = 0
    cdef double least = INFINITY, fewest = INFINITY, level, first = 0, second = 0
    cdef double *matrix = memory
    cdef double *a = memory + m * m
    cdef double *c = a + m
    cdef Py_ssize_t *numbers = <Py_ssize_t *> (c + m)
    for i in range(m):
        weights[i] = shares[i]
        if voting[i]:
            numbers[n] = i
            n += 1
    for i in range(n):
        for j in range(i + 1):
            fewest = min(fewest, met[numbers[i] * m + numbers[j]])
    if not fewest > 0:
        return
    for i in range(n):
        for j in range(i + 1):
            pair = numbers[i] * m + numbers[j]
            matrix[i * m + j] = errors[pair] / met[pair]
        least = min(least, matrix[i * m + i])
    level = PRIOR * least / fewest
    for i in range(n):
        matrix[i * m + i] += level
        a[i], c[i] = level * shares[numbers[i]], 1
    # The minimum without the bound on the sum, and how it moves with that sum.
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


cdef bint factor(double *matrix, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
    """Turn the lower triangle of a matrix into its Cholesky factor; False if it is not positive."""
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
    """Solve by a factor that `factor` made; x holds the right side, then the solution."""
    cdef Py_ssize_t i, k
    for i in range(n):
        for k in range(i):
            x[i] -= triangle[i * stride + k] * x[k]
        x[i] /= triangle[i * stride + i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= triangle[k * stride + i] * x[k]
        x[i] /= triangle[i * stride + i]
