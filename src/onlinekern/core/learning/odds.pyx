"""Softmax of scores: p_k = exp(f_k) / sum_j exp(f_j), by logarithms that do not overflow."""
from libc.math cimport INFINITY, exp, fabs, log, log1p

# Where exp(z) is that small, four terms of the series of omega are exact but for rounding.
cdef double SMALL = -10
# Of a class that an expert rules out: the others may still be outvoted.
cdef double LEAST_SHARE = 1e-6
# A step from a residual that small ends within rounding.
cdef double LAST = 1e-4


cdef double log_sum_besides(const double *scores, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """log sum_{j != k} exp(f_j), for n - 1 scores or more."""
    cdef Py_ssize_t j
    cdef double largest = -INFINITY, sum = 0
    for j in range(n):
        if j != k and scores[j] > largest:
            largest = scores[j]
    for j in range(n):
        if j != k:
            sum += exp(scores[j] - largest)
    return largest + log(sum)


cdef double log_sum(const double *scores, Py_ssize_t n) noexcept nogil:
    """log sum_j exp(f_j)"""
    return log_sum_besides(scores, n, n)


cdef double log_sum_exp(const double *scores, Py_ssize_t n, Py_ssize_t k,
                        double shift) noexcept nogil:
    """log sum_j exp(f_j) with `shift` added to f_k."""
    cdef double one = scores[k] + shift, others = log_sum_besides(scores, n, k)
    cdef double larger = max(one, others)
    return larger + log1p(exp(min(one, others) - larger))


cdef double log_odds(const double *scores, Py_ssize_t n, Py_ssize_t k,
                     double total) noexcept nogil:
    """log(p_k / (1 - p_k)) = f_k - log sum_{j != k} exp(f_j); `total` is `log_sum`."""
    cdef double p = exp(scores[k] - total)
    # 1 - p would cancel if p is near 1, which holds for one class at most.
    if p < 0.5:
        return scores[k] - total - log1p(-p)
    return scores[k] - log_sum_besides(scores, n, k)


cdef double omega(double z) noexcept nogil:
    """The w > 0 with w + log w = z (Wright's omega function).

    The initial guess has a relative error of at most a fifth. The steps of Fritsch, Shafer and
    Crowley (1973) converge with order four: three are enough, and mostly one or two. A small w is
    the series v - v^2 + 3/2 v^3 - 8/3 v^4 of v = exp(z).
    """
    cdef double w, residual, after, part
    cdef int _step
    if z < SMALL:
        w = exp(z)
        return w * (1 - w * (1 - w * (1.5 - w * (8.0 / 3))))
    if z < -1:
        w = exp(z)
        w /= 1 + w
    elif z < 3:
        w = (1 + (z - 1) / 2) + (z - 1) * (z - 1) / 16
    else:
        w = z - log(z)
    for _step in range(3):
        residual = z - w - log(w)
        after = 1 + w
        part = 2 * after * (after + 2 * residual / 3)
        w *= 1 + residual / after * (part - residual) / (part - 2 * residual)
        if fabs(residual) < LAST:
            break
    return w


cdef void shares_of(const double *scores, Py_ssize_t n, double slope, double *out) noexcept nogil:
    """Compute what scores of several classes give each of them, in all 1.

    By (1 + f) / 2 of a slope of 0, by 1 / (1 + exp(-slope f)) above, and below 0 by the softmax of
    -slope f.
    """
    cdef Py_ssize_t k
    cdef double total = 0, largest = -INFINITY
    if slope < 0:
        for k in range(n):
            largest = max(largest, scores[k])
    for k in range(n):
        if slope == 0:
            out[k] = max(0.0, (1 + scores[k]) / 2)
        else:
            out[k] = exp(-slope * (scores[k] - largest)) if slope < 0 \
                else 1 / (1 + exp(-slope * scores[k]))
        out[k] += LEAST_SHARE
        total += out[k]
    for k in range(n):
        out[k] /= total
