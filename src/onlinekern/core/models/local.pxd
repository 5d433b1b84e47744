# Local linear models: prototypes, each with its own hyperplanes. May change at minor versions.
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.models.hyperplanes cimport Hyperplanes, Term
from onlinekern.core.models.prototypes cimport Prototypes
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows


cdef class LiftedSample:
    cdef Py_ssize_t n_terms
    cdef Term *terms             # term 0: the shared block; then those of the neighbors
    cdef Py_ssize_t *neighbors   # indices of the nearest prototypes
    cdef double *assignment      # assignment weights of the neighbors
    cdef double *ignored_scores
    cdef char *panel_products
    cdef double *buffer          # owns the four arrays below
    cdef double *distances       # squared distances to the prototypes
    cdef double *sample          # x in double
    cdef double *features        # features of each term, followed by their squares
    cdef Py_ssize_t stride       # offset between the features of two terms
    cdef Py_ssize_t width
    cdef int32_t *columns        # columns of the stored elements of a sparse sample
    cdef double squared_norm     # ||x||^2; set if the prototypes need it
    cdef double features_squared_norm   # ||f||^2 without the constant

    cdef void use_own_features(self, Py_ssize_t t) noexcept nogil
    cdef void read_dense(self, const Rows *rows, Py_ssize_t row) noexcept nogil
    cdef void read_stored(self, const Rows *rows, Py_ssize_t row) noexcept nogil


cdef struct Totals:
    int64_t n_samples
    double squared_norms     # sum of ||f||^2
    double distances         # sum of the smallest positive squared distance of each sample
    int64_t n_distances      # samples that have one


cdef class LocalSpace(Space):
    cdef readonly Prototypes prototypes
    cdef readonly Hyperplanes hyperplanes
    cdef readonly tuple options
    cdef Py_ssize_t d, n_assign
    cdef Py_ssize_t first_term   # 0, or 1 without a shared hyperplane
    cdef readonly bint intercept
    cdef bint center, offsets, normalized
    cdef JournaledMatrix mean
    cdef Totals totals, saved
    cdef LiftedSample lifted     # the sample that was scored last

    cdef void read(self, LiftedSample lifted, const Rows *rows, Py_ssize_t row) noexcept nogil
    cdef void lift_shared_stored(self, LiftedSample lifted) noexcept nogil
    cdef void lift_shared(self, LiftedSample lifted) noexcept nogil
    cdef void lift_local(self, LiftedSample lifted, bint as_prototype) noexcept nogil
    cdef Py_ssize_t find_neighbors(self, LiftedSample lifted, bint as_prototype) noexcept nogil
    cdef void local_features(self, LiftedSample lifted, Py_ssize_t t) noexcept nogil
    cdef void score_terms(self, LiftedSample lifted, double *current,
                          double *averaged) noexcept nogil
    cdef double length_unit(self) noexcept nogil
    cdef void update_prototypes(self, Py_ssize_t row) noexcept nogil
    cdef void update_means(self) noexcept nogil
