"""MeanSpace: the mean of the features of the samples, f(x) = m . z(x).

This is the expected similarity of Schneider, Ertel and Ramos (2016): f(x) approximates the mean
kernel value of x and the samples. With weights a_s and forgetting factor lambda, after t samples

    m = (1 / n) sum_s lambda^(t - s) a_s z(x_s),    n = sum_s lambda^(t - s) a_s.
"""
from libc.math cimport isfinite

from onlinekern.core.base.part cimport NO_MEMORY, Status
from onlinekern.core.base.state cimport check_kind
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.mapped cimport MappedSpace


cdef class MeanSpace(MappedSpace):
    """A feature map, and the mean of the features of the samples.

    The rule must return the weight of a sample as its coefficient.

    Parameters
    ----------
    map : FeatureMap
    forgetting : float in (0, 1], default=1.0
        lambda.
    """

    def __cinit__(self, FeatureMap map not None, *, double forgetting=1.0):
        self.forgetting = forgetting

    def __reduce__(self):
        return _restore, (self.map, self.factor, self.total, self.weights.get_state())

    @property
    def forgetting(self):
        """lambda; it may change between calls."""
        return self.factor

    @forgetting.setter
    def forgetting(self, double forgetting):
        if not 0 < forgetting <= 1:
            raise ValueError(f"forgetting must be in (0, 1], got {forgetting}")
        self.factor = forgetting

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """m <- (1 - a / n) m + (a / n) z(x_i). Returns a status."""
        cdef double share
        if self.map.consider(self.window, i, True) < 0:
            return NO_MEMORY
        self.total = self.factor * self.total + update.coefficients[0]
        share = update.coefficients[0] / self.total
        if self.weights.advance(update.lead) < 0 or self.weights.shrink(1 - share) < 0:
            return NO_MEMORY
        return self.weights.add_multiples(self.window.features.row(i), &share)

    cdef void checkpoint(self) noexcept nogil:
        self.saved = self.total
        MappedSpace.checkpoint(self)

    cdef void rollback(self) noexcept nogil:
        self.total = self.saved
        MappedSpace.rollback(self)


def _restore(map, forgetting, double total, state):
    check_kind(map, "map", FeatureMap)
    cdef MeanSpace space = MeanSpace(map, forgetting=forgetting)
    if not (isfinite(total) and total >= 0):
        raise ValueError(f"the weight of the samples must be finite and at least 0, got {total}")
    space.set_weights(state)
    space.total = space.saved = total
    return space
