"""Covariances of the weights of second-order learners (CW, AROW, SCW).

Each output k has a symmetric matrix S_k, the identity at first. An update contracts it in the
direction of S_k x: S_k <- S_k - beta (S_k x)(S_k x)'. `Diagonal` keeps only the diagonal of S_k,
`Full` the whole matrix.

`Shared` keeps one matrix S for all outputs: every output has the variance x'S x, and moves along
S x. A sample contracts S once, whichever outputs it moves. So the variance of a direction is small
if any output has learnt along it.
"""
from libc.math cimport NAN, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NOT_GIVEN, OK, Status
from onlinekern.core.base.state cimport (
    MOST_FEATURES, MOST_OUTPUTS, doubles_of_shape, integer_within, is_symmetric, subclass_of,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, ops_for, resize_array, whole_panels
from onlinekern.core.models.linear cimport LINE
from onlinekern.core.samples.row_arithmetic cimport (
    Vector, ok_remaining, ok_sparse_contract, ok_sparse_products)


cdef class Covariance:
    """Base of the covariances.

    Parameters
    ----------
    n_outputs : int
    length : int
        Number of features, the constant feature included.

    Attributes
    ----------
    n_matrices : int
        n_outputs, or 1 for a class with an attribute `shared`: output k then has matrix 0.
    """

    abstract = True

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t length, *_):
        integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        # The intercept is one more feature.
        integer_within("length", length, 0, <Py_ssize_t> MOST_FEATURES + 1)
        self.ops = ops_for(sizeof(double))
        self.n_outputs = n_outputs
        self.n_matrices = 1 if hasattr(type(self), "shared") else n_outputs
        self.length = length
        self.width = whole_panels(length)
        self.directions = <double *> resize_array(
            NULL, 0, self.n_matrices, self.width * sizeof(double))
        if self.directions == NULL:
            raise MemoryError(f"no memory for {self.n_matrices} directions of {length} features")

    def __dealloc__(self):
        free(self.directions)

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        """x'S_k x of matrix k. Keeps S_k x until the next call."""
        self.missing = b"Covariance.measure"
        return NAN

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        """S_k x of the measured sample. Call before `contract`."""
        self.missing = b"Covariance.direction"
        return x[0]

    cdef Status contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        """S_k -= contraction (S_k x)(S_k x)', where x is the measured sample. Returns a status.

        The contraction is at most 1 / x'S_k x, so S_k stays positive up to rounding.
        """
        self.missing = b"Covariance.contract"
        return NOT_GIVEN

    cdef Py_ssize_t work(self, Py_ssize_t length) noexcept nogil:
        """Work per sample with `length` nonzero features, in kernel values of 16 features."""
        return self.n_matrices * (1 + length // 16)

    @classmethod
    def nbytes(cls, n_outputs, length):
        """Bytes of the variances of n_outputs, including their copy for `rollback`."""
        return 2 * n_outputs * whole_panels(length) * sizeof(double)

    def __reduce__(self):
        return _restore, (type(self), self.n_outputs, self.length, self.to_array())

    cdef void checkpoint(self) noexcept nogil:
        """Save the covariances for `rollback`."""
        self.blocks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.blocks.rollback()


cdef class Diagonal(Covariance):
    """One variance per feature and output: s_i -= beta (s_i x_i)^2.

    This is the diagonal of the contracted matrix. An update costs O(stored entries of the sample).
    """

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t length):
        cdef Py_ssize_t j
        self.blocks = JournaledMatrix("variances", n_outputs * self.width // LINE, LINE)
        for j in range(n_outputs * self.width):
            self.blocks.values[j] = 1

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef Py_ssize_t j
        cdef const double *variances = self.blocks.values + k * self.width
        cdef double *direction = self.directions + k * self.width
        if x.places == NULL:
            for j in range(x.count):
                direction[j] = x.values[j] * variances[j]
            return self.ops.dot(x.values, direction, self.width)
        return ok_sparse_products(x.values, x.places, x.count, variances, direction)

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef Vector direction = x[0]
        direction.values = self.directions + k * self.width
        return direction

    cdef Status contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        cdef Py_ssize_t j, first = k * self.width
        cdef double *variances = self.blocks.values + first
        cdef const double *direction = self.directions + first
        if x.places == NULL:
            if not self.blocks.all_touched():
                for j in range((x.count + LINE - 1) // LINE):
                    self.blocks.touch(first // LINE + j)
            for j in range(x.count):
                # At most 1 / x'Sx is contracted: only rounding makes a variance negative.
                variances[j] = ok_remaining(
                    variances[j], contraction * direction[j] * direction[j])
            return OK
        if not self.blocks.all_touched():
            for j in range(x.count):
                self.blocks.touch((first + x.places[j]) // LINE)
        ok_sparse_contract(direction, x.places, x.count, contraction, variances)
        return OK

    def to_array(self):
        """Variances, ndarray of shape (n_outputs, length)."""
        return np.ascontiguousarray(
            self.blocks.to_array().reshape(self.n_outputs, self.width)[:, :self.length])

    def set_array(self, array):
        """Restore the result of `to_array`."""
        whole = np.ones((self.n_outputs, self.width))
        whole[:, :self.length] = doubles_of_shape(
            self.blocks.name, array, (self.n_outputs, self.length))
        if (array < 0).any():
            raise ValueError(f"variances must be >= 0, got {array.min()}")
        self.blocks.set_array(whole.reshape(self.blocks.n_rows, LINE))


cdef class Full(Covariance):
    """One symmetric matrix per output.

    A row is divided into panels of OK_PANEL columns. Only the panels up to the diagonal are used.
    The panel on the diagonal is part of a square that holds both (i, j) and (j, i); both are
    computed by the same product, so the square is exactly symmetric.

    A feature that was 0 in all samples so far, or is padding, has never been contracted: its row is
    that of the identity. Products skip this row if the sample is 0 there.

    A contraction costs length^2 / 2 multiplications. So does S_k x for a dense sample; for a sparse
    one it costs length times the stored entries.

    A contraction is deferred until the next sample is measured or the next checkpoint is set, so
    that `rollback` can drop it. A call that learns one sample therefore never copies a matrix. A
    call that learns many copies each matrix once.
    """

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t length):
        cdef Py_ssize_t i, k
        self.blocks = JournaledMatrix("covariances", self.n_matrices, length * self.width)
        self.deferred = <char *> calloc(self.n_matrices, 1)
        self.contracted = <char *> resize_array(NULL, 0, self.n_matrices, length)
        if self.deferred == NULL or self.contracted == NULL:
            raise MemoryError(f"no memory for {self.n_matrices} matrices")
        for k in range(self.n_matrices):
            for i in range(length):
                self.blocks.row(k)[i * self.width + i] = 1

    def __dealloc__(self):
        free(self.deferred)
        free(self.contracted)

    cdef Py_ssize_t work(self, Py_ssize_t length) noexcept nogil:
        return Covariance.work(self, length) * (1 + length)

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        if self.deferred[k]:
            self.apply_contraction(k, self.blocks.touch(k))
            self.deferred[k] = False
        return self.product(k, x, self.directions + k * self.width)

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef Vector direction
        direction.values = self.directions + k * self.width
        direction.places = NULL
        direction.count = self.length
        return direction

    cdef Status contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        cdef Py_ssize_t j
        cdef double root = sqrt(contraction)
        cdef double *direction = self.directions + k * self.width
        for j in range(self.length):
            direction[j] *= root
        self.deferred[k] = True
        return OK

    cdef double product(self, Py_ssize_t k, const Vector *x, double *out) noexcept nogil:
        """out = S_k x; returns x'S_k x."""
        cdef Py_ssize_t j
        cdef const double *matrix = self.blocks.row(k)
        cdef double sum = 0
        memset(out, 0, self.width * sizeof(double))
        if x.places == NULL:
            self.product_dense(matrix, self.contracted + k * self.length, x.values, out)
            return self.ops.dot(x.values, out, self.width)
        self.product_sparse(matrix, x, out)
        for j in range(x.count):
            sum += x.values[j] * out[x.places[j]]
        return sum

    cdef void product_dense(self, const double *matrix, const char *contracted, const double *x,
                            double *out) noexcept nogil:
        """out += S x for dense x. Row i also serves as column i, except within its square."""
        cdef Py_ssize_t i, square
        cdef const double *row
        for i in range(self.length):
            if x[i] == 0 and not contracted[i]:
                continue
            row = matrix + i * self.width
            square = i // OK_PANEL * OK_PANEL
            out[i] += self.ops.dot(row, x, square + OK_PANEL)
            if x[i] != 0:
                self.ops.add(row, x[i], out, square)

    cdef void product_sparse(self, const double *matrix, const Vector *x,
                             double *out) noexcept nogil:
        """out += S x for sparse x."""
        cdef Py_ssize_t i, j, square, n = 0, next = 0
        cdef double sum
        cdef const double *row
        for i in range(self.length):
            row = matrix + i * self.width
            square = i // OK_PANEL * OK_PANEL
            while n < x.count and x.places[n] < square + OK_PANEL:
                n += 1
            sum = 0
            for j in range(n):
                sum += x.values[j] * row[x.places[j]]
            out[i] += sum
            if next < x.count and x.places[next] == i:
                self.ops.add(row, x.values[next], out, square)
                next += 1

    cdef void apply_contraction(self, Py_ssize_t k, double *matrix) noexcept nogil:
        """Apply the deferred contraction of output k to a matrix."""
        cdef Py_ssize_t i
        cdef const double *direction = self.directions + k * self.width
        cdef double *row
        for i in range(self.length):
            row = matrix + i * self.width
            if direction[i] != 0:
                self.contracted[k * self.length + i] = True
                self.ops.add(direction, -direction[i], row, (i // OK_PANEL + 1) * OK_PANEL)
            if row[i] < 0:
                row[i] = 0

    cdef void checkpoint(self) noexcept nogil:
        cdef Py_ssize_t k
        self.blocks.checkpoint()
        for k in range(self.n_matrices):
            if self.deferred[k]:
                # Not journaled: this is the state that `rollback` restores.
                self.apply_contraction(k, self.blocks.row(k))
                self.deferred[k] = False

    cdef void rollback(self) noexcept nogil:
        memset(self.deferred, 0, self.n_matrices)
        self.blocks.rollback()

    @classmethod
    def nbytes(cls, n_outputs, length):
        """Bytes of the matrices of n_outputs, including the copy for `rollback`."""
        return length * Covariance.nbytes(1 if hasattr(cls, "shared") else n_outputs, length)

    def to_array(self):
        """Covariances, ndarray of shape (n_matrices, length, length)."""
        cdef Py_ssize_t k, first, last
        cdef double[:, ::1] raw
        raw = whole = self.blocks.to_array()
        for k in range(self.n_matrices):
            if self.deferred[k]:
                self.apply_contraction(k, &raw[k, 0])
        shaped = whole.reshape(self.n_matrices, self.length, self.width)[:, :, :self.length]
        out = np.ascontiguousarray(shaped)
        # Panels to the right of the diagonal are unused: take them from the transpose.
        for first in range(0, self.length, OK_PANEL):
            last = min(first + OK_PANEL, self.length)
            out[:, first:last, last:] = shaped[:, last:, first:last].transpose(0, 2, 1)
        return out

    def set_array(self, array):
        """Restore the result of `to_array`."""
        cdef Py_ssize_t i, k
        array = doubles_of_shape(
            self.blocks.name, array, (self.n_matrices, self.length, self.length))
        cdef const double[:, :, ::1] values = array
        if (np.diagonal(array, 0, 1, 2) < 0).any() \
                or not all([is_symmetric(matrix) for matrix in array]):
            raise ValueError("covariances must be symmetric, with a diagonal >= 0")
        changed = (array != np.eye(self.length)).any(axis=2)
        for k in range(self.n_matrices):
            for i in range(self.length):
                self.contracted[k * self.length + i] = changed[k, i]
                memcpy(self.blocks.row(k) + i * self.width, &values[k, i, 0],
                       self.length * sizeof(double))


cdef class Shared(Full):
    """One symmetric matrix for all outputs. The loop measures and contracts it once per sample."""

    shared = True


def _restore(cls, n_outputs, length, array):
    subclass_of(cls, "the class of a covariance", Covariance)
    # Compare the sizes with the array before memory is allocated for them.
    shape = 1 if hasattr(cls, "shared") else n_outputs, length
    if np.shape(array)[:2] != shape:
        raise ValueError(f"the array of {cls.__name__} must begin with the axes {shape}, got shape "
                         f"{np.shape(array)}")
    covariance = cls(n_outputs, length)
    covariance.set_array(array)
    return covariance


COVARIANCES = {"diagonal": Diagonal, "full": Full, "shared": Shared}
