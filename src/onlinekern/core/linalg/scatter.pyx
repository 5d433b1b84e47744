"""Scatter: class means, and within- and between-class scatter matrices in factored form.

No d x d matrix is stored. With N_c and u_c the weight and the mean of class c, and N and u those
of all samples,

    S_b = V'V with rows v_c = sqrt(N_c / N) (u_c - u),
    S_w = C'C / N                  from a centred sketch,
    S_w = C'C / N - uu' - S_b      from a raw one.

The rows of the centred sketch are sqrt(N_c / (N_c + 1)) (x - u_c), computed before x updates u_c.
By Welford's identity, the sum of their outer products is exactly N S_w although u_c changes, and
there is no cancellation. A sample of weight w counts as w equal samples.
"""
from libc.float cimport DBL_MIN
from libc.math cimport sqrt
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from scipy.linalg.cython_blas cimport daxpy, ddot, dgemm, dgemv, dnrm2

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, check_kind, doubles_of_shape, flag_of, integer_within, items_of, size_of,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.linalg.frequent_directions cimport FrequentDirections
from onlinekern.core.samples.row_arithmetic cimport row_follow, row_square
from onlinekern.core.samples.rows cimport Rows

# The power method runs before each step of the learner and begins at the direction it found last.
# The sketch changes little between two steps, so few iterations suffice.
cdef int POWER_ITERATIONS = 8


cdef class Scatter:
    """Statistics of a stream of labelled samples.

    Parameters
    ----------
    sketch : FrequentDirections
    n_classes : int >= 2
    centred : bool
        Whether the sketch is one of centred rows or of the samples themselves.

    Raises
    ------
    MemoryError
        When there is no memory for the means of all classes.
    """

    def __cinit__(self, FrequentDirections sketch not None, Py_ssize_t n_classes, bint centred):
        cdef Py_ssize_t size
        integer_within("n_classes", n_classes, 2, MOST_OUTPUTS)
        self.sketch = sketch
        self.d = sketch.d
        self.n_classes = n_classes
        self.centred = centred
        self.means = JournaledMatrix("class means", n_classes, self.d)
        self.sums = JournaledMatrix("class weights", 1, n_classes + 1)
        self.top = JournaledMatrix("direction of the power method", 1, self.d)
        self.init_direction()
        size = n_classes * self.d * sizeof(double)  # as that of `means`, which is checked
        self.deviations = <double *> aligned_resize(NULL, 0, size)
        self.overall = <double *> aligned_resize(NULL, 0, 2 * self.d * sizeof(double))
        self.products = <double *> calloc(
            size_of("products", max(2 * sketch.size, n_classes), n_classes), sizeof(double))
        if self.deviations == NULL or self.overall == NULL or self.products == NULL:
            raise MemoryError(f"no memory for {n_classes} class means of {self.d} features")
        self.scratch = self.overall + self.d

    def __dealloc__(self):
        free(self.deviations)
        free(self.overall)
        free(self.products)

    cdef void init_direction(self) noexcept nogil:
        """Begin the power method at hashed signs, hardly ever orthogonal to an eigenvector."""
        cdef Py_ssize_t j
        cdef uint64_t bits
        cdef double *top = self.top.row(0)
        for j in range(self.d):
            # The first steps of splitmix64, a hash of j.
            bits = (<uint64_t> j + 1) * <uint64_t> 0x9E3779B97F4A7C15
            bits = (bits ^ (bits >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
            top[j] = (1 if bits >> 63 else -1) / sqrt(<double> self.d)

    cdef Status add(self, const Rows *rows, Py_ssize_t i, Py_ssize_t label,
                    double weight) noexcept nogil:
        """Add sample i, of class `label`. Returns a status."""
        cdef double *sums = self.sums.touch(0)
        cdef double *mean = self.means.touch(label)
        cdef double before = sums[label]
        sums[label] += weight
        sums[self.n_classes] += weight * row_square(rows, i)
        if self.centred:
            row_follow(rows, i, weight / sums[label], mean, sqrt(weight * before / sums[label]),
                       self.sketch.next_row())
            return self.sketch.commit_row()
        row_follow(rows, i, weight / sums[label], mean, 1, self.scratch)
        return self.sketch.insert_row(rows, i, sqrt(weight))

    cdef void refresh(self) noexcept nogil:
        """Compute the overall mean and V. Call this before the products below."""
        cdef Py_ssize_t c
        cdef int d = <int> self.d, unit = 1
        cdef double *sums = self.sums.row(0)
        cdef double share, root
        self.total = 0
        memset(self.overall, 0, self.d * sizeof(double))
        memset(self.deviations, 0, self.n_classes * self.d * sizeof(double))
        for c in range(self.n_classes):
            self.total += sums[c]
        for c in range(self.n_classes):
            share = sums[c] / self.total
            daxpy(&d, &share, self.means.row(c), &unit, self.overall, &unit)
        for c in range(self.n_classes):
            root = sqrt(sums[c] / self.total)
            daxpy(&d, &root, self.means.row(c), &unit, self.deviations + c * self.d, &unit)
            root = -root
            daxpy(&d, &root, self.overall, &unit, self.deviations + c * self.d, &unit)

    cdef void within(self, const double *w, Py_ssize_t n, Py_ssize_t stride, double factor,
                     double *out) noexcept nogil:
        """out += factor S_w w for the n rows of w and out, `stride` numbers apart."""
        cdef int d = <int> self.d, rows = <int> self.sketch.tally.n, outputs = <int> n
        cdef int apart = <int> stride, unit = 1
        cdef double one = 1, zero = 0, scale = factor / self.total
        cdef Py_ssize_t k
        if rows > 0:
            dgemm(b"T", b"N", &rows, &outputs, &d, &one, self.sketch.buffer.values, &d,
                  <double *> w, &apart, &zero, self.products, &rows)
            dgemm(b"N", b"N", &d, &outputs, &rows, &scale, self.sketch.buffer.values, &d,
                  self.products, &rows, &one, out, &apart)
        if self.centred:
            return
        for k in range(n):
            scale = -factor * ddot(&d, self.overall, &unit, <double *> w + k * stride, &unit)
            daxpy(&d, &scale, self.overall, &unit, out + k * stride, &unit)
        self.between(w, n, stride, -factor, out)

    cdef void between(self, const double *w, Py_ssize_t n, Py_ssize_t stride, double factor,
                      double *out) noexcept nogil:
        """out += factor S_b w, with the arguments of `within`."""
        cdef int d = <int> self.d, classes = <int> self.n_classes, outputs = <int> n
        cdef int apart = <int> stride
        cdef double one = 1, zero = 0
        dgemm(b"T", b"N", &classes, &outputs, &d, &one, self.deviations, &d, <double *> w, &apart,
              &zero, self.products, &classes)
        dgemm(b"N", b"N", &d, &outputs, &classes, &factor, self.deviations, &d, self.products,
              &classes, &one, out, &apart)

    cdef void discriminants(self, Py_ssize_t n, double factor, double *out) noexcept nogil:
        """out += factor m, the direction of the class means; out has n rows of d + 1 numbers.

        For several classes, row c of m is (N_c / N)(u_c - u). For two classes, m is one row, the
        difference of both: 2 (N_0 N_1 / N^2)(u_1 - u_0).
        """
        cdef int d = <int> self.d, unit = 1
        cdef double share
        cdef double *sums = self.sums.row(0)
        cdef Py_ssize_t c
        for c in range(self.n_classes):
            share = factor * sqrt(sums[c] / self.total)
            if n == 1 and c == 0:
                share = -share
            daxpy(&d, &share, self.deviations + c * self.d, &unit,
                  out + (0 if n == 1 else c * (self.d + 1)), &unit)

    cdef double largest_eigenvalue(self) noexcept nogil:
        """A lower estimate of the largest eigenvalue of C'C / N, by the power method."""
        cdef int d = <int> self.d, rows = <int> self.sketch.tally.n, unit = 1, _iteration
        cdef double one = 1, zero = 0, value = 0, length
        cdef double *top
        if rows == 0:
            return 0
        top = self.top.touch(0)
        for _iteration in range(POWER_ITERATIONS):
            dgemv(b"T", &d, &rows, &one, self.sketch.buffer.values, &d, top, &unit, &zero,
                  self.products, &unit)
            dgemv(b"N", &d, &rows, &one, self.sketch.buffer.values, &d, self.products, &unit, &zero,
                  self.scratch, &unit)
            length = dnrm2(&d, self.scratch, &unit)
            # Of a smaller number the inverse would overflow.
            if not length >= DBL_MIN:
                break
            value = length
            memset(top, 0, self.d * sizeof(double))
            length = 1 / length
            daxpy(&d, &length, self.scratch, &unit, top, &unit)
        return value / self.total

    cdef double mean_square(self) noexcept nogil:
        """The mean of ||x||^2."""
        return self.sums.row(0)[self.n_classes] / self.total

    cdef void checkpoint(self) noexcept nogil:
        self.sketch.checkpoint()
        self.means.checkpoint()
        self.sums.checkpoint()
        self.top.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.sketch.rollback()
        self.means.rollback()
        self.sums.rollback()
        self.top.rollback()

    @property
    def class_weights(self):
        """N_c, ndarray of shape (n_classes,)."""
        return self.sums.to_array()[0, :-1]

    @property
    def class_means(self):
        """u_c, ndarray of shape (n_classes, d); 0 for a class without samples so far."""
        return self.means.to_array()

    def __reduce__(self):
        state = (self.means.to_array(), self.sums.to_array(), self.top.to_array())
        return _restore, (self.sketch, self.n_classes, self.centred, state)


def _restore(sketch, n_classes, centred, state):
    means, sums, top = items_of(state, "a scatter matrix", 3)
    check_kind(sketch, "sketch", FrequentDirections)
    n_classes = integer_within("n_classes", n_classes, 2, MOST_OUTPUTS)
    # Before memory is asked for: the arrays show that there are so many classes and features.
    doubles_of_shape("class means", means, (n_classes, sketch.d))
    cdef Scatter scatter = Scatter(sketch, n_classes, flag_of("centred", centred))
    if (doubles_of_shape("class weights", sums, (1, n_classes + 1)) < 0).any():
        raise ValueError(f"class weights must be >= 0, got {sums}")
    for matrix, values in zip((scatter.means, scatter.sums, scatter.top), (means, sums, top)):
        (<JournaledMatrix> matrix).set_array(values)
    scatter.checkpoint()
    return scatter
