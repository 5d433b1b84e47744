"""The online Newton step of logistic regression: the rule of the second order for the log loss.

The weights of the model are a Gaussian with mean mu and covariance S; q = x'Sx. A sample of weight
w moves mu to the minimum of (mu - mu_t)'S^-1 (mu - mu_t) / 2 + (w / r) l(mu'x). This is an implicit
step: p, the probability of an error, is that after the step. Then S^-1 grows by the curvature
there, (w / r) p (1 - p) x x'. This is Laplace's approximation of the posterior.

The minimum lies on mu_t + a S x, so there is one equation for each score. Let c = q w / r. The
margin m' of two classes solves m' = m + c p with p = 1 / (1 + exp(m')). The scores f' of several
classes solve f'_k = f_k + c_k (1[k = y] - p_k), where p is the softmax of f'.
"""
from libc.math cimport INFINITY, exp, fabs, log
from libc.stdint cimport int64_t

from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.odds cimport log_sum_exp, omega
from onlinekern.core.learning.rules cimport Classes, Rule

# Newton's method stops when a step is a rounding error.
cdef int MOST_STEPS = 50
cdef double PRECISION = 4e-16
cdef double LAST_STEP = 1e-9


cdef double lesser(double m, double c) noexcept nogil:
    """The root p <= 1/2 of log(p / (1 - p)) + c p + m = 0, for m >= -c/2.

    In u = log(p / (1 - p)) <= 0 the left side is convex, and smaller than with exp(u) instead of p.
    Newton's method begins at the root of the latter. Its first step lands at the wanted root or
    above it, and the next steps descend to it.
    """
    cdef double u = -m if c <= 0 else min(0.0, -m - omega(log(c) - m))
    cdef double p, before
    cdef int _step
    for _step in range(MOST_STEPS):
        p = exp(u) / (1 + exp(u))
        before = u
        u = min(0.0, u - (u + c * p + m) / (1 + c * p * (1 - p)))
        if not fabs(u - before) > PRECISION * (1 + fabs(u)):
            break
    return exp(u) / (1 + exp(u))


cdef double probability_of(Py_ssize_t k, const Classes *classes, const double *c,
                           const double *logs, double total) noexcept nogil:
    """p_k after the step: the root p of log p + c_k p = f_k + c_k 1[k = y] - total.

    `logs` are the logarithms of c.
    """
    cdef double score = classes.scores[k] - total
    if k == classes.label:
        score += c[k]
    return omega(logs[k] + score) / c[k] if c[k] > 0 else exp(score)


cdef double total_of(const Classes *classes, const double *c, const double *logs) noexcept nogil:
    """log sum_k exp(f'_k): the `total` for which the p_k add up to 1.

    The p_k fall as it rises. Lower bounds are the score of the label, and that of each other class
    less its c; the upper bound is the `log_sum` of all f_k + c_k 1[k = y]. Newton's method solves
    for the logarithm of the sum, which is nearly linear in `total`.
    """
    cdef Py_ssize_t k
    cdef double p, sum, slope, low = -INFINITY, high, total, new
    cdef int _step
    high = log_sum_exp(classes.scores, classes.n, classes.label, c[classes.label])
    for k in range(classes.n):
        low = max(low, classes.scores[k] - (0 if k == classes.label else c[k]))
    total = low
    for _step in range(MOST_STEPS):
        sum = slope = 0
        for k in range(classes.n):
            p = probability_of(k, classes, c, logs, total)
            sum += p
            slope += p / (1 + c[k] * p)
        if sum >= 1:
            low = total
        else:
            high = total
        new = total + log(sum) * sum / slope
        if not low <= new <= high:
            new = low + (high - low) / 2
        # The next step would have the square of this one.
        elif fabs(new - total) < LAST_STEP:
            return new
        if not fabs(new - total) > PRECISION * (1 + fabs(new)):
            return new
        total = new
    return total


cdef class LogisticNewton(Rule):
    """Coefficient (w / r) p y, contraction h / (1 + h q), h = (w / r) p (1 - p), after the step.

    Parameters
    ----------
    loss : Loss
        The logistic loss, which is summed up and given to the sampler.
    r : float > 0
        Divides the loss. S^-1 is I at first, which is a ridge penalty of r / 2.
    """

    cdef double r

    def __init__(self, Loss loss not None, double r=1.0):
        self.loss = loss
        self.r = r
        self.second_order = True
        self.arguments = (loss, r)

    cdef double wrong(self, double m, double q, double importance, double *right) noexcept nogil:
        """p after the step; 1 - p into `right`."""
        cdef double c = q * importance / self.r, p
        if m >= -c / 2:
            p = lesser(m, c)
            right[0] = 1 - p
        else:
            right[0] = lesser(-m - c, c)
            p = 1 - right[0]
        return p

    cdef double contraction_of(self, double curvature, double q, double importance) noexcept nogil:
        cdef double h = curvature * importance / self.r
        return h / (1 + h * q)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        cdef double right
        if q <= 0:
            return 0
        return y * self.wrong(y * f, q, importance, &right) * importance / self.r

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        cdef double right, p
        if q <= 0:
            return 0
        p = self.wrong(y * f, q, importance, &right)
        return self.contraction_of(p * right, q, importance)

    cdef void solve_classes(self, const Classes *classes, int64_t t, double importance,
                            double *coefficients, double *contractions) noexcept nogil:
        """Several classes: coefficients (w / r) (1[k = y] - p_k), curvatures p_k (1 - p_k)."""
        cdef double scale = importance / self.r, total, others = 0, p, q
        cdef Py_ssize_t k, label = classes.label
        # Until they are known, c and its logarithms are in their place.
        for k in range(classes.n):
            contractions[k] = scale * max(classes.lengths[k], 0.0)
            coefficients[k] = log(contractions[k])
        total = total_of(classes, contractions, coefficients)
        for k in range(classes.n):
            coefficients[k] = probability_of(k, classes, contractions, coefficients, total)
            if k != label:
                others += coefficients[k]
        for k in range(classes.n):
            p, q = coefficients[k], classes.lengths[k]
            if q <= 0:
                coefficients[k] = contractions[k] = 0
                continue
            coefficients[k] = scale * (others if k == label else -p)
            contractions[k] = self.contraction_of(
                p * (others if k == label else max(0.0, 1 - p)), q, importance)


RULES = {"logistic_newton": LogisticNewton}
