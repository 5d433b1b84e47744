"""SecondOrderSpace: linear functions with a covariance of the weights (CW, AROW, SCW).

Output k has the covariance S_k. The variance x'S_k x of a sample x takes the place of its squared
length. An update moves the weights along S_k x and contracts S_k. The intercept is the weight of a
feature that is always 1.

A multi-class update changes two outputs: the class of the sample and its highest-scoring rival. Its
variance is the sum of both variances, and both matrices are contracted with the same beta. The
exact update would also create covariances between the two outputs. They are kept at 0.
"""
from libc.math cimport isfinite

from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.scaled_average cimport companion_step
from onlinekern.core.base.state cimport chosen, count_of, fields_of
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.linear cimport LINE, LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector, add_vector

from onlinekern.core.models.covariances import COVARIANCES
from onlinekern.core.models.linear import LINEAR_FIELDS

# A variance below this fraction of its initial value ||x||^2 counts as 0: a full matrix has
# rounding errors of this size.
cdef double NEGLIGIBLE_VARIANCE = 1e-15


cdef class SecondOrderSpace(LinearSpace):
    """Linear functions, 0 at first, with the identity as covariance.

    Parameters
    ----------
    d, dtype, n_outputs, averaged
        See `LinearSpace`.
    intercept : bool
        Learn an intercept.
    kind : {'diagonal', 'full'}
        Form of the covariance, a key of `COVARIANCES`.
    """

    def __init__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, bint averaged, bint intercept,
                 str kind):
        super().__init__(d, dtype, n_outputs, averaged, intercept)
        if kind not in COVARIANCES:
            raise ValueError(f"kind must be one of {', '.join(COVARIANCES)}, got {kind!r}")
        self.kind = kind
        self.relative_work = d if kind == "full" else 3
        self.sample = Entries(d, intercept)
        self.covariance = COVARIANCES[kind](n_outputs, d + intercept)

    def components(self):
        return (self.covariance,)

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in units of a kernel value of about 16 features."""
        return self.relative_work * LinearSpace.size(self)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """x'S_k x where needed, 0 if it is negligible against ||x||^2."""
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
            elif variance <= NEGLIGIBLE_VARIANCE * self.sample.square:
                self.n_degenerate += self.sample.square > 0
                variance = 0
            update.lengths[k] = variance

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Update weights and covariances with the sample scored last. The rules do not shrink.

        Returns NOT_FINITE and changes no weights if a variance or a contraction is not finite.
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
        """Compute S_k x of a sample whose variances were not needed."""
        cdef Py_ssize_t k
        self.sample.load(&self.rows, self.row_number(i))
        for k in range(self.n_outputs):
            self.covariance.measure(k, &self.sample.vector)

    cdef void step(self, Py_ssize_t k, const Vector *direction, double coefficient) noexcept nogil:
        """w_k += coefficient * direction"""
        self.add_along(k, direction, coefficient)
        if self.averaged:
            self.add_along(self.n_outputs + k, direction,
                           companion_step(&self.average, coefficient))

    cdef void add_along(self, Py_ssize_t target, const Vector *direction,
                        double factor) noexcept nogil:
        """Add factor * direction to a row of weights or companions."""
        cdef Py_ssize_t j
        if direction.places == NULL:
            self.journal_row(target)
        elif not self.blocks.all_touched():
            for j in range(direction.count):
                self.blocks.touch((target * self.width + direction.places[j]) // LINE)
        add_vector(direction, factor, self.blocks.values + target * self.width)

    cdef void checkpoint(self) noexcept nogil:
        LinearSpace.checkpoint(self)
        self.loaded = self.overflow = False
        self.saved_n_degenerate = self.n_degenerate
        self.covariance.checkpoint()

    cdef void rollback(self) noexcept nogil:
        LinearSpace.rollback(self)
        self.n_degenerate = self.saved_n_degenerate
        self.covariance.rollback()

    def arguments(self):
        """Arguments that construct an empty space like this one."""
        return (*LinearSpace.arguments(self)[:4], bool(self.intercept), self.kind)

    def get_state(self):
        """Learnt state, as a dictionary."""
        return {**LinearSpace.get_state(self), "covariance": self.covariance.to_array(),
                "n_degenerate": self.n_degenerate}

    def set_state(self, state):
        """Restore the result of `get_state`."""
        fields_of(state, "a model of second order", (*LINEAR_FIELDS, "covariance", "n_degenerate"))
        n_degenerate = count_of("n_degenerate", state["n_degenerate"])
        LinearSpace.set_state(self, chosen(state, LINEAR_FIELDS))
        self.covariance.set_array(state["covariance"])
        self.n_degenerate = n_degenerate
