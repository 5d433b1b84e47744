"""Kernel functions: from a block of products to a block of kernel values, in place.

A kernel says which product of two rows it needs (`accumulate`: dot product or l1 distance). It
gives each row a norm term, a number from its squared and absolute norms. `transform` turns a block
g of products into kernel values, with the norm terms a of its rows and b of its columns. Norm terms
enter symmetrically, so a row against a panel and a panel against a row give the same bits.

The Gaussian kernel is exp(-gamma (||x||^2 + ||s||^2 - 2 x.s)). In float32 the difference has an
error of a few times gamma ||x||^2 2^-24, in the exponent. For samples with ||x||^2 > `exact_above`
the distance is therefore computed from the differences of the features (`of_distance`).

A kernel that accumulates squared distances gets those of all rows so: the root of an expanded one
would have the root of its error where rows are near. Sparse rows have no products of that kind; all
of them are recomputed. Their l1 distances are expanded by absolute norms, with the same error:
those of long rows are recomputed too, but for kernel values that vanish beside 1.
"""
from cython cimport floating
from libc.math cimport INFINITY, pow, sqrt, tanh

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.state cimport finite_number, integer_within, positive_number
from onlinekern.core.base.vector cimport OK_ABSOLUTE, OK_DOT, OK_SQUARED, ok_vector_ops

# gamma ||x||^2 (Laplacian: gamma ||x||_1) up to which the expanded float32 distance is used. The
# error of the exponent is then at most about 64 * 2^-24 * 4 = 1.5e-5, and so is the relative error
# of the kernel value.
cdef double EXPANDED_LIMIT = 64
# A power is a product: higher ones overflow, and would take for ever.
cdef long MOST_DEGREE = 1000000


cdef class Kernel(Part):
    """Base of the kernels, and the linear one: kappa(x, z) = <x, z>.

    Attributes
    ----------
    parameters : tuple of str
        The names of its arguments, which are parameters of the learners that name it.
    """

    parameters = ()

    def __cinit__(self, *args, **kwargs):
        self.accumulate = OK_DOT
        self.exact_above = INFINITY

    cdef double norm_term(self, double square, double absolute) noexcept nogil:
        """The norm term of a row, from ||x||^2 and ||x||_1."""
        return 0

    cdef double diagonal(self, double square) noexcept nogil:
        """kappa(x, x) from ||x||^2."""
        return square

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        """Turn the n x m block g (leading dimension ld) into kernel values, in place.

        a (n) and b (m) are the norm terms. `sparse`: g comes from sparse rows, whose l1 distances
        still lack the absolute norms of both rows.
        """

    cdef void of_distance(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                          Py_ssize_t m) noexcept nogil:
        """The same from squared distances.

        For kernels with a finite `exact_above`, or that accumulate squared distances, only. Of l1
        distances where the kernel accumulates those.
        """


cdef class Gaussian(Kernel):
    """exp(-gamma ||x - z||^2); a bandwidth sigma is gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    gamma : float > 0
    """

    parameters = ("gamma",)
    cdef double gamma

    def __init__(self, double gamma):
        self.gamma = positive_number("gamma", gamma)
        self.exact_above = EXPANDED_LIMIT / gamma
        self.arguments = (gamma,)

    cdef double norm_term(self, double square, double absolute) noexcept nogil:
        return self.gamma * square

    cdef double diagonal(self, double square) noexcept nogil:
        return 1

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        ops.exponential(g, ld, n, m, 2 * self.gamma, a, b)

    cdef void of_distance(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                          Py_ssize_t m) noexcept nogil:
        ops.exponential(g, ld, n, m, -self.gamma, NULL, NULL)


cdef class EuclideanLaplacian(Kernel):
    """exp(-sqrt(gamma) ||x - z||), the Laplace kernel of the Euclidean distance.

    Parameters
    ----------
    gamma : float > 0
    """

    parameters = ("gamma",)
    cdef double gamma

    def __init__(self, double gamma):
        self.gamma = positive_number("gamma", gamma)
        self.accumulate = OK_SQUARED
        self.arguments = (gamma,)

    cdef double diagonal(self, double square) noexcept nogil:
        return 1

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        # The products of sparse rows are no distances; they are overwritten.
        if not sparse:
            self.of_distance(ops, g, ld, n, m)

    cdef void of_distance(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                          Py_ssize_t m) noexcept nogil:
        if ops.itemsize == 4:
            take_roots(<float *> g, ld, n, m)
        else:
            take_roots(<double *> g, ld, n, m)
        ops.exponential(g, ld, n, m, -sqrt(self.gamma), NULL, NULL)


cdef void take_roots(floating *g, Py_ssize_t ld, Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(m):
            g[i * ld + j] = <floating> sqrt(g[i * ld + j])


cdef class Laplacian(Kernel):
    """exp(-gamma ||x - z||_1)

    Parameters
    ----------
    gamma : float > 0
    """

    parameters = ("gamma",)
    cdef double gamma

    def __init__(self, double gamma):
        self.gamma = positive_number("gamma", gamma)
        self.accumulate = OK_ABSOLUTE
        self.exact_above = EXPANDED_LIMIT
        self.arguments = (gamma,)

    cdef double norm_term(self, double square, double absolute) noexcept nogil:
        return self.gamma * absolute

    cdef double diagonal(self, double square) noexcept nogil:
        return 1

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        if sparse:
            ops.exponential(g, ld, n, m, -self.gamma, a, b)
        else:
            self.of_distance(ops, g, ld, n, m)

    cdef void of_distance(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                          Py_ssize_t m) noexcept nogil:
        ops.exponential(g, ld, n, m, -self.gamma, NULL, NULL)


cdef class Polynomial(Kernel):
    """(gamma <x, z> + coef0)^degree

    Parameters
    ----------
    gamma : float > 0
    degree : int >= 1
    coef0 : float
    """

    parameters = ("gamma", "degree", "coef0")
    cdef double gamma, coef0
    cdef long degree

    def __init__(self, double gamma, long degree=3, double coef0=0.0):
        self.gamma = finite_number("gamma", gamma)
        self.degree = integer_within("degree", degree, 1, MOST_DEGREE)
        self.coef0 = finite_number("coef0", coef0)
        self.arguments = (gamma, degree, coef0)

    cdef double diagonal(self, double square) noexcept nogil:
        return pow(self.gamma * square + self.coef0, <double> self.degree)

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        ops.power(g, ld, n, m, self.gamma, self.coef0, self.degree)


cdef class Sigmoid(Kernel):
    """tanh(gamma <x, z> + coef0); not positive definite in general.

    Parameters
    ----------
    gamma : float > 0
    coef0 : float
    """

    parameters = ("gamma", "coef0")
    cdef double gamma, coef0

    def __init__(self, double gamma, double coef0=0.0):
        self.gamma = finite_number("gamma", gamma)
        self.coef0 = finite_number("coef0", coef0)
        self.arguments = (gamma, coef0)

    cdef double diagonal(self, double square) noexcept nogil:
        return tanh(self.gamma * square + self.coef0)

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        ops.tanh(g, ld, n, m, self.gamma, self.coef0)


cdef class Cosine(Kernel):
    """<x, z> / (||x|| ||z||), 0 where either row is zero."""

    cdef double norm_term(self, double square, double absolute) noexcept nogil:
        return 1 / sqrt(square) if square > 0 else 0

    cdef double diagonal(self, double square) noexcept nogil:
        return 1 if square > 0 else 0

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        ops.scale(g, ld, n, m, a, b)


# How each kernel is made from scikit-learn's three kernel parameters.
KERNELS = {
    "gaussian": Gaussian,
    "exponential": EuclideanLaplacian,
    "laplacian": Laplacian,
    "polynomial": Polynomial,
    "linear": Kernel,
    "sigmoid": Sigmoid,
    "cosine": Cosine,
}
KERNEL_ALIASES = {"rbf": "gaussian", "poly": "polynomial"}
