"""SecondOrderSpace: linear functions with a covariance of the weights (CW, AROW, SCW).

Output k has the covariance S_k, from which `Confidence` computes variance, direction of the step
and contraction. The intercept is the weight of a feature that is always 1.
"""
from onlinekern.core.base.part cimport NOT_FINITE, OK, Status
from onlinekern.core.base.scaled_average cimport companion_step
from onlinekern.core.base.state cimport chosen, fields_of
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.confidence cimport Confidence
from onlinekern.core.models.linear cimport LINE, LinearSpace
from onlinekern.core.samples.row_arithmetic cimport Entries, Vector, add_vector

from onlinekern.core.models.covariances import COVARIANCES
from onlinekern.core.models.linear import LINEAR_FIELDS


cdef class SecondOrderSpace(LinearSpace):
    """Linear functions, 0 at first, with the identity as covariance.

    Parameters
    ----------
    d, dtype, n_outputs, averaged
        See `LinearSpace`.
    intercept : bool
        Learn an intercept.
    kind : {'diagonal', 'full', 'shared'}
        Form of the covariance, a key of `COVARIANCES`.
    """

    def __init__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, averaged, bint intercept,
                 str kind):
        super().__init__(d, dtype, n_outputs, averaged, intercept)
        if kind not in COVARIANCES:
            raise ValueError(f"kind must be one of {', '.join(COVARIANCES)}, got {kind!r}")
        self.kind = kind
        self.relative_work = 3 if kind == "diagonal" else d
        self.sample = Entries(d, intercept)
        self.covariance = COVARIANCES[kind](n_outputs, d + intercept)
        self.confidence = Confidence(self.covariance)

    def components(self):
        return (self.covariance,)

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in units of a kernel value of about 16 features."""
        return self.relative_work * LinearSpace.size(self)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """Compute the variances x'S_k x that are needed; 0 if negligible against ||x||^2."""
        self.sample.load(&self.rows, self.row_number(i))
        self.confidence.measure(&self.sample.vector, self.sample.square, update)

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Update weights and covariances with the sample scored last. The rules do not shrink.

        Returns NOT_FINITE and changes no weights if a variance or a contraction is not finite.
        """
        cdef Py_ssize_t k
        cdef Vector direction
        cdef bint measured = self.confidence.measured
        self.advance(update.lead)
        self.confidence.measured = False
        if self.confidence.check(update) < 0:
            return NOT_FINITE
        if not update.updates:
            return OK
        if not measured:
            self.sample.load(&self.rows, self.row_number(i))
            self.confidence.measure_all(&self.sample.vector)
        for k in range(self.n_outputs):
            if update.coefficients[k] != 0:
                direction = self.confidence.direction(k, &self.sample.vector)
                self.step(k, &direction, update.coefficients[k])
        return self.confidence.contract(&self.sample.vector, update)

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
        self.confidence.checkpoint()

    cdef void rollback(self) noexcept nogil:
        LinearSpace.rollback(self)
        self.confidence.rollback()

    @property
    def n_degenerate(self):
        """Number of samples that were skipped because their variance is negligible."""
        return self.confidence.n_degenerate

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
        LinearSpace.set_state(self, chosen(state, LINEAR_FIELDS))
        self.confidence.restore_count(state["n_degenerate"])
        self.covariance.set_array(state["covariance"])
