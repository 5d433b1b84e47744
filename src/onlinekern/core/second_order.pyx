"""SecondOrderSpace: linear functions whose steps and lengths follow a covariance of the weights.

Layer 10. The squared length of a sample is its variance x'S_k x, a step goes along S_k x, and
contracts S_k there. The constant is a feature like the others, of value 1.

With two outputs in one problem (the margin of a class over a rival) the lifted sample has one block
for each of them: its variance is the sum of both, and both are contracted alike. What the exact
step would put between the two classes is left at 0.
"""
from libc.math cimport isfinite

from onlinekern.core.entries cimport Entries, Vector, add_vector
from onlinekern.core.linear cimport LINE, LinearSpace

from onlinekern.core.covariances import COVARIANCES

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

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in kernel values of some sixteen features."""
        return self.factor * LinearSpace.size(self)

    cdef void lengths(self, Py_ssize_t i, double *out) noexcept nogil:
        """x'S_k x, where it will be looked at; 0 where S_k has lost the direction."""
        cdef Py_ssize_t k
        self.loaded = self.overflow = False
        for k in range(self.n_outputs):
            if out[k] == 0:
                continue
            if not self.loaded:
                self.sample.load(&self.rows, self.row_number(i))
                self.loaded = True
            out[k] = self.covariance.measure(k, &self.sample.vector)
            if not isfinite(out[k]):
                self.overflow = True
            elif out[k] <= SPENT * self.sample.square:
                self.spent += self.sample.square > 0
                out[k] = 0

    cdef int update(self, Py_ssize_t i, double shrink, bint updates,
                    const double *coefficients) noexcept nogil:
        """Take the steps of the sample that was scored last; the rules do not shrink.

        -2: a length or a contraction is not finite; nothing of this sample has been learnt.
        """
        cdef Py_ssize_t k
        cdef Vector direction
        self.advance()
        for k in range(self.n_outputs if updates else 0):
            if coefficients[k] != 0 and not isfinite(coefficients[self.n_outputs + k]):
                self.overflow = True
        if self.overflow:
            return -2
        if updates and not self.loaded:
            self.measure_all(i)
        for k in range(self.n_outputs if updates else 0):
            if coefficients[k] != 0:
                direction = self.covariance.direction(k, &self.sample.vector)
                self.step(k, &direction, coefficients[k])
                self.covariance.contract(k, &self.sample.vector,
                                         coefficients[self.n_outputs + k])
        return 0

    cdef void measure_all(self, Py_ssize_t i) noexcept nogil:
        """What `lengths` does, for the steps of a rule that looks at none."""
        cdef Py_ssize_t k
        self.sample.load(&self.rows, self.row_number(i))
        for k in range(self.n_outputs):
            self.covariance.measure(k, &self.sample.vector)

    cdef void step(self, Py_ssize_t k, const Vector *direction, double coefficient) noexcept nogil:
        """w_k += coefficient direction"""
        self.add_along(k, direction, coefficient)
        if self.averaged:
            self.add_along(self.n_outputs + k, direction, coefficient * self.passed.total)

    cdef void add_along(self, Py_ssize_t target, const Vector *direction,
                        double factor) noexcept nogil:
        """Add to a row of the numbers."""
        cdef Py_ssize_t j
        if direction.places == NULL:
            self.touch(target)
        elif not self.blocks.settled():
            for j in range(direction.count):
                self.blocks.touch((target * self.width + direction.places[j]) // LINE)
        add_vector(direction, factor, self.blocks.data + target * self.width)

    cdef void checkpoint(self) noexcept nogil:
        LinearSpace.checkpoint(self)
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
        self.covariance.from_array(state["covariance"])
        self.spent = state["spent"]
