"""SecondOrderSpace: linear functions with a covariance of the weights (CW, AROW, SCW).

Each output k has a symmetric matrix S_k, the identity at first. The squared length of a sample x is
its variance x'S_k x. A step goes along S_k x and contracts the matrix in that direction,
S_k <- S_k - beta (S_k x)(S_k x)'. `Diagonal` keeps the diagonal of S_k only, `Full` all of it. The
intercept is the weight of a feature that is always 1.

A multi-class step moves two outputs: the class of the sample and its rival. Its variance is the sum
of the variances of both, and both matrices are contracted alike. The exact step would also make
covariances between the two outputs; they are left at 0.
"""
from libc.math cimport NAN, isfinite, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.scaled_average cimport companion_step
from onlinekern.core.base.undo cimport JournaledMatrix, doubles_of_shape
from onlinekern.core.base.vector cimport OK_PANEL, aligned_resize, ops_for
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.linear cimport LINE, LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector, add_vector, short_dot


cdef inline double less(double variance, double part) noexcept nogil:
    """variance - part, where s x^2 is a part of x'Sx, and so beta (s x)^2 <= s but for rounding."""
    cdef double left = variance - part
    return left if left > 0 else 0


cdef class Covariance:
    """Base of the covariances.

    Parameters
    ----------
    n_outputs : int
    length : int
        Features of a sample, the constant included.
    """

    abstract = True

    def __init__(self, Py_ssize_t n_outputs, Py_ssize_t length):
        self.ops = ops_for(sizeof(double))
        self.n_outputs = n_outputs
        self.length = length
        self.width = (length + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        self.directions = <double *> aligned_resize(
            NULL, 0, n_outputs * self.width * sizeof(double))
        if self.directions == NULL:
            raise MemoryError(f"no memory for {n_outputs} directions of {length} features")

    def __dealloc__(self):
        free(self.directions)

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        """x'S_k x; remembers S_k x until the next sample is measured."""
        self.missing = b"Covariance.measure"
        return NAN

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        """S_k x of the sample that was measured last; called before `contract`."""
        self.missing = b"Covariance.direction"
        return x[0]

    cdef void contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        """S_k -= contraction (S_k x)(S_k x)' with the sample that was measured last.

        The contraction is at most 1 / x'S_k x, so that S_k stays positive but for rounding.
        """
        self.missing = b"Covariance.contract"

    cdef void checkpoint(self) noexcept nogil:
        """What the matrices are now is what `rollback` returns to."""
        self.blocks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.blocks.rollback()


cdef class Diagonal(Covariance):
    """A variance for each feature and output: s_i -= beta (s_i x_i)^2.

    That is the diagonal of the contracted matrix. A step costs the stored entries of the sample.
    """

    def __init__(self, Py_ssize_t n_outputs, Py_ssize_t length):
        cdef Py_ssize_t j
        super().__init__(n_outputs, length)
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
        for j in range(x.count):
            direction[j] = x.values[j] * variances[x.places[j]]
        return short_dot(x.values, direction, x.count)

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef Vector direction = x[0]
        direction.values = self.directions + k * self.width
        return direction

    cdef void contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        cdef Py_ssize_t j, place, first = k * self.width
        cdef double *variances = self.blocks.values + first
        cdef const double *direction = self.directions + first
        if x.places == NULL:
            if not self.blocks.all_touched():
                for j in range((x.count + LINE - 1) // LINE):
                    self.blocks.touch(first // LINE + j)
            for j in range(x.count):
                variances[j] = less(variances[j], contraction * direction[j] * direction[j])
            return
        if not self.blocks.all_touched():
            for j in range(x.count):
                self.blocks.touch((first + x.places[j]) // LINE)
        for j in range(x.count):
            place = x.places[j]
            variances[place] = less(variances[place], contraction * direction[j] * direction[j])

    def to_array(self):
        """The variances, ndarray of shape (n_outputs, length)."""
        return np.ascontiguousarray(
            self.blocks.to_array().reshape(self.n_outputs, self.width)[:, :self.length])

    def set_array(self, array):
        """Take over what `to_array` gave."""
        whole = np.ones((self.n_outputs, self.width))
        whole[:, :self.length] = doubles_of_shape(
            self.blocks.name, array, (self.n_outputs, self.length))
        self.blocks.set_array(whole.reshape(self.blocks.n_rows, LINE))


cdef class Full(Covariance):
    """A symmetric matrix for each output, n_outputs length^2 numbers.

    Only the panels of a row up to the one that holds the diagonal are kept, so symmetry is by
    construction: the panel of the diagonal holds both halves of a square, whose elements (i, j) and
    (j, i) are made by the same product. A step costs length^2 / 2 multiplications each for the
    direction and the contraction, the former length times the stored entries of a sparse sample.

    To be taken back without a copy, a contraction is not made before the next sample is measured or
    the next checkpoint is set: a call that learns one sample never copies a matrix, one that learns
    many copies each matrix once.
    """

    def __init__(self, Py_ssize_t n_outputs, Py_ssize_t length):
        cdef Py_ssize_t i, k
        super().__init__(n_outputs, length)
        self.blocks = JournaledMatrix("covariances", n_outputs, length * self.width)
        self.pending = <char *> calloc(n_outputs, 1)
        if self.pending == NULL:
            raise MemoryError(f"no memory for {n_outputs} matrices")
        for k in range(n_outputs):
            for i in range(length):
                self.blocks.row(k)[i * self.width + i] = 1

    def __dealloc__(self):
        free(self.pending)

    cdef double measure(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        if self.pending[k]:
            self.take_off(k, self.blocks.touch(k))
            self.pending[k] = False
        return self.product(self.blocks.row(k), x, self.directions + k * self.width)

    cdef Vector direction(self, Py_ssize_t k, const Vector *x) noexcept nogil:
        cdef Vector direction
        direction.values = self.directions + k * self.width
        direction.places = NULL
        direction.count = self.length
        return direction

    cdef void contract(self, Py_ssize_t k, const Vector *x, double contraction) noexcept nogil:
        cdef Py_ssize_t j
        cdef double root = sqrt(contraction)
        cdef double *direction = self.directions + k * self.width
        for j in range(self.length):
            direction[j] *= root
        self.pending[k] = True

    cdef double product(self, const double *matrix, const Vector *x, double *out) noexcept nogil:
        """out = S x; returns x'S x."""
        cdef Py_ssize_t j
        cdef double sum = 0
        memset(out, 0, self.width * sizeof(double))
        if x.places == NULL:
            self.product_dense(matrix, x.values, out)
            return self.ops.dot(x.values, out, self.width)
        self.product_sparse(matrix, x, out)
        for j in range(x.count):
            sum += x.values[j] * out[x.places[j]]
        return sum

    cdef void product_dense(self, const double *matrix, const double *x,
                            double *out) noexcept nogil:
        """Each row is used as a row, and but for its square as a column."""
        cdef Py_ssize_t i, square
        cdef const double *row
        for i in range(self.length):
            row = matrix + i * self.width
            square = i // OK_PANEL * OK_PANEL
            out[i] += self.ops.dot(row, x, square + OK_PANEL)
            if x[i] != 0:
                self.ops.add(row, x[i], out, square)

    cdef void product_sparse(self, const double *matrix, const Vector *x,
                             double *out) noexcept nogil:
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

    cdef void take_off(self, Py_ssize_t k, double *matrix) noexcept nogil:
        """Make the contraction that is pending, on a matrix."""
        cdef Py_ssize_t i
        cdef const double *direction = self.directions + k * self.width
        cdef double *row
        for i in range(self.length):
            row = matrix + i * self.width
            if direction[i] != 0:
                self.ops.add(direction, -direction[i], row, (i // OK_PANEL + 1) * OK_PANEL)
            if row[i] < 0:
                row[i] = 0

    cdef void checkpoint(self) noexcept nogil:
        cdef Py_ssize_t k
        self.blocks.checkpoint()
        for k in range(self.n_outputs):
            if self.pending[k]:
                # Written without a touch: this is the state to return to.
                self.take_off(k, self.blocks.row(k))
                self.pending[k] = False

    cdef void rollback(self) noexcept nogil:
        memset(self.pending, 0, self.n_outputs)
        self.blocks.rollback()

    @staticmethod
    def nbytes(Py_ssize_t n_outputs, Py_ssize_t length):
        """Memory that so many matrices take, with the copy that calls for many samples make."""
        width = (length + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        return 2 * n_outputs * length * width * sizeof(double)

    def to_array(self):
        """The matrices, ndarray of shape (n_outputs, length, length)."""
        cdef Py_ssize_t k
        cdef double[:, ::1] raw
        raw = whole = self.blocks.to_array()
        for k in range(self.n_outputs):
            if self.pending[k]:
                self.take_off(k, &raw[k, 0])
        shaped = whole.reshape(self.n_outputs, self.length, self.width)[:, :, :self.length]
        places = np.arange(self.length) // OK_PANEL
        # Panels right of the diagonal's are not kept.
        kept = places[:, None] >= places
        return np.where(kept, shaped, shaped.transpose(0, 2, 1))

    def set_array(self, array):
        """Take over what `to_array` gave."""
        cdef Py_ssize_t i, k
        cdef const double[:, :, ::1] values = doubles_of_shape(
            self.blocks.name, array, (self.n_outputs, self.length, self.length))
        for k in range(self.n_outputs):
            for i in range(self.length):
                memcpy(self.blocks.row(k) + i * self.width, &values[k, i, 0],
                       self.length * sizeof(double))


COVARIANCES = {"diagonal": Diagonal, "full": Full}


# A variance below so many times ||x||^2, which it was at first, is taken for 0: a full matrix has
# rounding errors of this size.
cdef double SPENT = 1e-15


cdef class SecondOrderSpace(LinearSpace):
    """Linear functions, all 0, with the identity for a covariance.

    Parameters
    ----------
    d, dtype, n_outputs, averaged
        As in LinearSpace.
    intercept : bool
        Whether there is a constant.
    kind : {'diagonal', 'full'}
        Of the covariance.
    """

    def __init__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, bint averaged, bint intercept,
                 str kind):
        super().__init__(d, dtype, n_outputs, averaged, intercept)
        self.kind = kind
        self.factor = d if kind == "full" else 3
        self.sample = Entries(d, intercept)
        self.covariance = COVARIANCES[kind](n_outputs, d + intercept)

    def components(self):
        return (self.covariance,)

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in kernel values of some sixteen features."""
        return self.factor * LinearSpace.size(self)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """x'S_k x, where it is needed; 0 where S_k has no variance left along x."""
        cdef Py_ssize_t k
        cdef double variance
        self.sample.load(&self.rows, self.row_number(i))
        self.loaded = True
        for k in range(self.n_outputs):
            if not update.needs_length[k]:
                continue
            variance = self.covariance.measure(k, &self.sample.vector)
            if not isfinite(variance):
                self.overflow = True
            elif variance <= SPENT * self.sample.square:
                self.spent += self.sample.square > 0
                variance = 0
            update.lengths[k] = variance

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Take the steps of the sample that was scored last; the rules do not shrink.

        Returns NOT_FINITE, and learns nothing, if a length or a contraction is not finite.
        """
        cdef Py_ssize_t k
        cdef Vector direction
        self.advance()
        for k in range(self.n_outputs if update.updates else 0):
            if update.coefficients[k] != 0 and not isfinite(update.contractions[k]):
                self.overflow = True
        if self.overflow:
            return NOT_FINITE
        if update.updates and not self.loaded:
            self.measure_all(i)
        self.loaded = False
        for k in range(self.n_outputs if update.updates else 0):
            if update.coefficients[k] != 0:
                direction = self.covariance.direction(k, &self.sample.vector)
                self.step(k, &direction, update.coefficients[k])
                self.covariance.contract(k, &self.sample.vector, update.contractions[k])
        return OK

    cdef void measure_all(self, Py_ssize_t i) noexcept nogil:
        """Prepare the directions of a sample whose squared lengths were not needed."""
        cdef Py_ssize_t k
        self.sample.load(&self.rows, self.row_number(i))
        for k in range(self.n_outputs):
            self.covariance.measure(k, &self.sample.vector)

    cdef void step(self, Py_ssize_t k, const Vector *direction, double coefficient) noexcept nogil:
        """w_k += coefficient direction"""
        self.add_along(k, direction, coefficient)
        if self.averaged:
            self.add_along(self.n_outputs + k, direction,
                           companion_step(&self.average, coefficient))

    cdef void add_along(self, Py_ssize_t target, const Vector *direction,
                        double factor) noexcept nogil:
        """Add to a row of the numbers."""
        cdef Py_ssize_t j
        if direction.places == NULL:
            self.touch(target)
        elif not self.blocks.all_touched():
            for j in range(direction.count):
                self.blocks.touch((target * self.width + direction.places[j]) // LINE)
        add_vector(direction, factor, self.blocks.values + target * self.width)

    cdef void checkpoint(self) noexcept nogil:
        LinearSpace.checkpoint(self)
        self.loaded = self.overflow = False
        self.spent_before = self.spent
        self.covariance.checkpoint()

    cdef void rollback(self) noexcept nogil:
        LinearSpace.rollback(self)
        self.spent = self.spent_before
        self.covariance.rollback()

    @property
    def n_spent(self):
        """How often a sample was passed over because no variance was left along it."""
        return self.spent

    def arguments(self):
        """What makes an empty space like this one."""
        return (*LinearSpace.arguments(self)[:4], bool(self.intercept), self.kind)

    def get_state(self):
        """All that was learnt, as a dictionary."""
        return {**LinearSpace.get_state(self), "covariance": self.covariance.to_array(),
                "spent": self.spent}

    def set_state(self, state):
        """Take over what `get_state` gave."""
        LinearSpace.set_state(self, state)
        self.covariance.set_array(state["covariance"])
        self.spent = state["spent"]
