"""MappedSecondOrderSpace: linear functions of explicit features, with a covariance of the weights.

`Confidence` works on the features z(x) of a sample instead of x.

A map that grows may add a coordinate to the features of a sample. It does so before the variance is
measured, so that variance, step and contraction use the new coordinate. Its weight is 0, its
variance 1, and its covariances 0, as if it had existed from the start.
"""
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport check_kind, fields_of
from onlinekern.core.base.vector cimport ops_for, resize_array
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.confidence cimport Confidence
from onlinekern.core.models.covariances cimport Covariance
from onlinekern.core.models.mapped cimport MappedSpace
from onlinekern.core.samples.row_arithmetic cimport Vector, load_numbers

import copy

import numpy as np

from onlinekern.core.kernels.coefficient_rows import FIELDS


cdef class MappedSecondOrderSpace(MappedSpace):
    """A map, the weights of its features, 0 at first, and their covariance.

    Parameters
    ----------
    map : FeatureMap
    n_outputs : int
    averaged
        See `MappedSpace`.
    covariance : Covariance
        Of n_outputs outputs and `map.length` features.
    """

    def __cinit__(self, FeatureMap map not None, Py_ssize_t n_outputs=1, averaged=False, *,
                  Covariance covariance not None):
        if (covariance.n_outputs, covariance.length) != (n_outputs, map.length):
            raise ValueError(
                f"the covariance must be one of {n_outputs} outputs and {map.length} features, "
                f"got {covariance.n_outputs} outputs and {covariance.length} features")
        self.covariance = covariance
        self.confidence = Confidence(covariance)
        self.features.places = NULL
        self.features.count = map.length
        self.numbers = <double *> resize_array(NULL, 0, map.length, sizeof(double))
        if self.numbers == NULL:
            raise MemoryError(f"no memory for {map.length} features")

    def __dealloc__(self):
        free(self.numbers)

    def components(self):
        return self.map, self.covariance

    def __reduce__(self):
        return _restore, (self.map, self.weights.averaging, self.covariance,
                          self.confidence.n_degenerate, self.weights.get_state())

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.map.work() + self.covariance.work(self.map.used())

    cdef double load(self, Py_ssize_t i) noexcept nogil:
        """Set `features` to those of sample i of the window. Returns their squared length."""
        cdef const char *row = self.window.features.row(i)
        if self.map.itemsize == sizeof(double):
            self.features.values = <const double *> row
        else:
            load_numbers(row, self.map.itemsize, self.map.length, self.numbers)
            self.features.values = self.numbers
        return self.map.square(row)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """Compute the variances z'S_k z that are needed; 0 if negligible against ||z||^2."""
        cdef double square
        self.grown = self.map.consider(self.window, i, update.enters)
        square = self.load(i)
        self.confidence.measure(&self.features, square, update)

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Update weights and covariances with the sample scored last. The rules do not shrink."""
        cdef Py_ssize_t k
        cdef Vector direction
        cdef bint measured = self.confidence.measured
        self.confidence.measured = False
        if self.weights.advance(update.lead) < 0:
            return NO_MEMORY
        if not measured:
            self.grown = self.map.consider(self.window, i, update.updates)
        if self.grown < 0:
            return self.grown
        if self.confidence.check(update) < 0:
            return NOT_FINITE
        if not update.updates:
            return OK
        if not measured:
            self.load(i)
            self.confidence.measure_all(&self.features)
        for k in range(self.n_outputs):
            if update.coefficients[k] != 0:
                direction = self.confidence.direction(k, &self.features)
                if self.weights.add_to_output(ops_for(sizeof(double)), k, direction.values,
                                              update.coefficients[k]) < 0:
                    return NO_MEMORY
        return self.confidence.contract(&self.features, update)

    cdef void checkpoint(self) noexcept nogil:
        MappedSpace.checkpoint(self)
        self.confidence.checkpoint()

    cdef void rollback(self) noexcept nogil:
        MappedSpace.rollback(self)
        self.confidence.rollback()

    @property
    def n_degenerate(self):
        """Number of samples that were skipped because their variance is negligible."""
        return self.confidence.n_degenerate

    def positions(self):
        """Positions of the features in use in a row, the constant last, ndarray of intp."""
        columns = self.map.columns()
        return columns if self.map.constant < 0 else np.append(columns, self.map.constant)


def _restore(map, averaged, covariance, n_degenerate, state):
    check_kind(map, "map", FeatureMap)
    check_kind(covariance, "covariance", Covariance)
    fields_of(state, "weights of features", FIELDS)
    # copy.copy of a space passes the covariance of the original, so it is copied.
    cdef MappedSecondOrderSpace space = MappedSecondOrderSpace(
        map, (<Covariance> covariance).n_outputs, averaged, covariance=copy.copy(covariance))
    space.set_weights(state)
    space.confidence.restore_count(n_degenerate)
    return space
