"""SecondOrderSpace: linear functions with a covariance of the weights (CW, AROW, SCW).

The squared length of a sample x for output k is its variance x'S_k x, S_k the covariance of the
output. A step goes along S_k x and contracts S_k. The intercept is the weight of a feature that is
always 1.

A multi-class step moves two outputs: the class of the sample and its rival. Its variance is the sum
of the variances of both, and both matrices are contracted alike. The exact step would also make
covariances between the two outputs; they are left at 0.
"""
from libc.math cimport isfinite

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.scaled_average cimport companion_step
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.linear cimport LINE, LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector, add_vector

from onlinekern.core.models.covariances import COVARIANCES

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
