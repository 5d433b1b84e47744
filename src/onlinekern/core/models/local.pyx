"""LocalSpace: local linear models, a shared hyperplane and one hyperplane for each prototype.

A sample x enters as f = [x - mean, 1]; the mean and the 1 are optional. With its m nearest
prototypes N and their gains g, ||g|| = 1 (g = 1 for m = 1), its score is

    w.f + sum_{j in N} g_j u_j.f_j,    f_j = f or [x - p_j, 1].

This is one linear model of the lifted sample [f; g_1 f_1; ...; g_k f_k], whose blocks outside N are
0 (Zhou et al. 2016, eqs. 12-14). `Lift` holds the blocks that are not 0. Each thread that scores
has a Lift of its own.

Order of a step. The neighbours, the gains and the mean come from the samples before x. Therefore x
has the same score whether it is predicted or learnt. The first k samples become prototypes: such a
sample is predicted with the prototypes before it, and learnt as its own nearest prototype, at
distance 0. Then the nearest prototype moves, and the running means are updated with x.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

import numpy as np

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, aligned_resize, ok_sparse_row, ops_for
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.hyperplanes cimport LiftedWeights, Term
from onlinekern.core.models.prototypes cimport Prototypes, nearest, soft_gains
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.row_arithmetic cimport load_dense, load_stored
from onlinekern.core.samples.rows cimport Rows, is_sparse, sparse_row


cdef class Lift:
    """Scratch memory for one sample in the lifted space.

    Parameters
    ----------
    n_outputs, most_terms, n_distances : int
    width : int
        Numbers of a block's features.
    second_order : bool
        Whether their squares are wanted too.
    """

    def __init__(self, Py_ssize_t n_outputs, Py_ssize_t most_terms, Py_ssize_t n_distances,
                 Py_ssize_t width, bint second_order):
        cdef Py_ssize_t planes = 1 + second_order
        self.terms = <Term *> calloc(most_terms, sizeof(Term))
        self.chosen = <Py_ssize_t *> calloc(most_terms, sizeof(Py_ssize_t))
        self.gains = <double *> calloc(most_terms, sizeof(double))
        self.unused = <double *> calloc(n_outputs, sizeof(double))
        self.places = <int32_t *> calloc(width, sizeof(int32_t))
        self.products = <char *> aligned_resize(NULL, 0, OK_PANEL * sizeof(double))
        self.numbers = <double *> aligned_resize(
            NULL, 0, (n_distances + (1 + most_terms * planes) * width) * sizeof(double))
        if self.terms == NULL or self.chosen == NULL or self.gains == NULL \
                or self.unused == NULL or self.products == NULL or self.numbers == NULL \
                or self.places == NULL:
            raise MemoryError(f"no memory for {most_terms} blocks of a sample")
        self.distances = self.numbers
        self.sample = self.distances + n_distances
        self.planes = self.sample + width
        self.plane = planes * width
        self.width = width

    def __dealloc__(self):
        free(self.terms)
        free(self.chosen)
        free(self.gains)
        free(self.unused)
        free(self.places)
        free(self.products)
        free(self.numbers)

    cdef void own_features(self, Py_ssize_t t) noexcept nogil:
        """Give term t features of its own, to be written."""
        self.terms[t].features = self.planes + t * self.plane
        self.terms[t].squares = self.terms[t].features + self.width
        self.terms[t].places = NULL
        self.terms[t].count = self.width

    cdef void read(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Row `row` in double."""
        cdef double absolute
        cdef ok_sparse_row stored
        load_dense(rows, row, self.sample)
        if is_sparse(rows):
            stored = sparse_row(rows, row)
            ops_for(rows.itemsize).norms(stored.values, stored.count, &self.square, &absolute)

    cdef void read_stored(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """The stored elements of sparse row `row` into the features of term 0; ||x||^2."""
        cdef Py_ssize_t j
        cdef double *features = self.planes
        self.own_features(0)
        self.terms[0].places = self.places
        self.terms[0].count = load_stored(rows, row, features, self.places)
        self.square = 0
        for j in range(self.terms[0].count):
            self.square += features[j] * features[j]


cdef class LocalSpace(Space):
    """Prototypes with hyperplanes.

    Parameters
    ----------
    d : int
        Features of a sample.
    dtype : numpy.float32 or numpy.float64
    n_outputs : int
    n_prototypes : int >= 1
    n_assign : int in [1, n_prototypes]
        Prototypes that a sample is shared by.
    sharing : float > 0
        lambda: the prior variance of the shared hyperplane is 1 / lambda.
    joint : bool
        Whether there is a shared hyperplane.
    center, intercept, offsets : bool
        f = x - mean; append a constant 1; f_j = x - p_j.
    averaged, second_order : bool
        See LiftedWeights.
    unitless : bool
        Lengths are given in units of the mean of ||f||^2 (without the constant), which makes the
        scale of the samples irrelevant to a rule's constant.
    sparse : bool
        Whether the samples are sparse as a rule.
    """

    def __init__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, Py_ssize_t n_prototypes,
                 Py_ssize_t n_assign, double sharing, bint joint, bint center, bint intercept,
                 bint offsets, bint averaged, bint second_order, bint unitless, bint sparse):
        self.options = (d, np.dtype(dtype), n_outputs, n_prototypes, n_assign, sharing, joint,
                        center, intercept, offsets, averaged, second_order, unitless, sparse)
        self.d = d
        self.n_outputs = n_outputs
        self.n_assign = n_assign
        self.skipped = 0 if joint else 1
        self.center = center
        self.intercept = intercept
        self.offsets = offsets
        self.unitless = unitless
        self.prototypes = Prototypes(n_prototypes, d, dtype, sparse)
        self.weights = LiftedWeights(1 + n_prototypes, d + intercept, n_outputs, 1 / sharing,
                                     averaged, second_order)
        self.mean = JournaledMatrix("mean of the samples", 1, self.weights.width)
        self.lift = self.new_window(1)

    def __reduce__(self):
        totals = (self.totals.samples, self.totals.squares, self.totals.gaps, self.totals.n_gaps)
        return _restore, (self.options, self.prototypes.get_state(), self.weights.get_state(),
                          self.mean.to_array(), totals)

    cdef Py_ssize_t size(self) noexcept nogil:
        """The work of a sample in units of a kernel value of some sixteen features."""
        return (self.prototypes.k + (1 + self.n_assign) * self.n_outputs) * (1 + self.d // 16)

    cdef void load(self, Lift lift, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """The sample in double, its distances to the prototypes, and f."""
        cdef bint sparse = is_sparse(rows)
        if sparse and self.prototypes.summed and not self.center and not self.offsets:
            # Nothing here is dense: neither f nor the move of the prototype.
            lift.read_stored(rows, row)
            self.raise_stored(lift)
        else:
            lift.read(rows, row)
            self.raise_shared(lift)
            if self.prototypes.summed and not sparse:
                lift.square = self.weights.ops.dot(lift.sample, lift.sample, self.weights.width)
        self.prototypes.distances(rows, row, lift.square, lift.products, lift.distances)

    cdef void raise_stored(self, Lift lift) noexcept nogil:
        """Make f of the stored elements in the features of term 0."""
        lift.terms[0].block = 0
        lift.terms[0].gain = 1
        lift.spread = lift.square
        if self.intercept:
            lift.places[lift.terms[0].count] = <int32_t> self.d
            lift.planes[lift.terms[0].count] = 1
            lift.terms[0].count += 1

    cdef void score_terms(self, Lift lift, double *current, double *averaged) noexcept nogil:
        self.weights.scores(lift.terms + self.skipped, lift.n_terms - self.skipped, current,
                            averaged)

    cdef void raise_shared(self, Lift lift) noexcept nogil:
        """f into the features of term 0, also where there is no shared hyperplane (I-LOL)."""
        cdef Py_ssize_t j
        cdef double *features = lift.planes
        # Before the first sample, its own place is the mean.
        cdef const double *mean = self.mean.row(0) if self.totals.samples > 0 else lift.sample
        lift.own_features(0)
        lift.terms[0].block = 0
        lift.terms[0].gain = 1
        for j in range(self.d):
            features[j] = lift.sample[j] - mean[j] if self.center else lift.sample[j]
        if self.intercept:
            features[self.d] = 0
        lift.spread = self.weights.ops.dot(features, features, self.weights.width)
        if self.intercept:
            features[self.d] = 1

    cdef void raise_local(self, Lift lift, bint as_prototype) noexcept nogil:
        """The terms of the nearest prototypes, the sample itself among them if `as_prototype`."""
        cdef Py_ssize_t t, n = self.prototypes.n
        cdef double width = 0
        if as_prototype:
            # Room for one distance more than prototypes: see new_window.
            lift.distances[n] = 0
            n += 1
        lift.n_terms = 1
        if n == 0:
            return
        if self.totals.n_gaps > 0:
            width = self.totals.gaps / self.totals.n_gaps
        if as_prototype:
            # The nearest one of a tie is the first: the sample comes before its duplicates.
            lift.chosen[0] = n - 1
            n = 1 + nearest(lift.distances, n - 1, self.n_assign - 1, lift.chosen + 1)
        else:
            n = nearest(lift.distances, n, self.n_assign, lift.chosen)
        soft_gains(lift.distances, lift.chosen, n, width, lift.gains)
        for t in range(n):
            lift.terms[1 + t].block = 1 + lift.chosen[t]
            lift.terms[1 + t].gain = lift.gains[t]
            self.local_features(lift, 1 + t)
        lift.n_terms = 1 + n

    cdef void local_features(self, Lift lift, Py_ssize_t t) noexcept nogil:
        """f_j of term t: [x - p_j, 1], or f."""
        cdef Py_ssize_t i, j = lift.terms[t].block - 1
        cdef double scale = 1
        cdef const double *origin
        cdef double *features
        if not self.offsets:
            lift.terms[t].features = lift.terms[0].features
            lift.terms[t].squares = lift.terms[0].squares
            lift.terms[t].places = lift.terms[0].places
            lift.terms[t].count = lift.terms[0].count
            return
        lift.own_features(t)
        features = lift.terms[t].features
        # Of a sample that is to become a prototype, its own place.
        origin = lift.sample
        if j < self.prototypes.n:
            origin = self.prototypes.center(j)
            scale = self.prototypes.scale(j)
        for i in range(self.d):
            features[i] = lift.sample[i] - scale * origin[i]
        if self.intercept:
            features[self.d] = 1

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        """Scores of the model that learns sample i of the block, and of the one that predicts it.

        They differ by the average, and for the first k samples (see the top of the file).
        """
        self.load(self.lift, &self.rows, self.row_number(i))
        self.raise_local(self.lift, False)
        self.score_terms(self.lift, current, averaged)
        if self.prototypes.n < self.prototypes.k:
            self.raise_local(self.lift, True)
            self.score_terms(self.lift, current, self.lift.unused)

    cdef double unit(self) noexcept nogil:
        """The mean of ||f||^2 over the samples up to the one that was scored last."""
        cdef double unit = (self.totals.squares + self.lift.spread) / (self.totals.samples + 1)
        return unit if self.unitless and unit > 0 else 1

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """Squared lengths of the sample that was scored last."""
        cdef Py_ssize_t k
        cdef Term *terms = self.lift.terms + self.skipped
        self.weights.measure(terms, self.lift.n_terms - self.skipped)
        self.weights.lengths(terms, self.lift.n_terms - self.skipped, update)
        for k in range(self.n_outputs):
            update.lengths[k] /= self.unit()

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Learn the sample that was scored last; the rules of this space do not shrink."""
        self.weights.update(self.lift.terms + self.skipped, self.lift.n_terms - self.skipped,
                            update, self.unit())
        self.follow(self.row_number(i))
        return OK

    cdef void follow(self, Py_ssize_t row) noexcept nogil:
        """Take the sample into the prototypes and the running means."""
        cdef Py_ssize_t j
        cdef const double *sample = self.lift.sample
        cdef const double *distances = self.lift.distances
        cdef double gap = INFINITY
        cdef double *mean
        for j in range(self.prototypes.n):
            if 0 < distances[j] < gap:
                gap = distances[j]
        if gap < INFINITY:
            self.totals.gaps += gap
            self.totals.n_gaps += 1
        # The first k samples were learnt as the nearest ones to themselves.
        self.prototypes.take(self.lift.chosen[0], &self.rows, row, sample)
        self.totals.squares += self.lift.spread
        self.totals.samples += 1
        if self.center:
            mean = self.mean.touch(0)
            for j in range(self.d):
                mean[j] += (sample[j] - mean[j]) / self.totals.samples

    cdef void checkpoint(self) noexcept nogil:
        self.saved = self.totals
        self.prototypes.checkpoint()
        self.weights.checkpoint()
        self.mean.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.totals = self.saved
        self.prototypes.rollback()
        self.weights.rollback()
        self.mean.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return Lift(self.n_outputs, self.n_assign + 1, self.prototypes.room() + OK_PANEL,
                    self.weights.width, self.weights.second_order)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        """Predicting scores of n samples into out (n x n_outputs).

        Reads the model only: several threads may score at once, each with its own Lift.
        """
        cdef Py_ssize_t i
        cdef double *scores
        for i in range(n):
            scores = out + i * self.n_outputs
            self.load(<Lift> window, rows, first + i)
            self.raise_local(<Lift> window, False)
            self.score_terms(<Lift> window, scores, scores)
        return OK

    def shared(self):
        """Weights of the shared hyperplane, ndarray of shape (n_outputs, d + intercept)."""
        return np.ascontiguousarray(self.weights.effective()[0, :, :self.d + self.intercept])

    def local(self):
        """Weights of the prototypes' own hyperplanes, (n, n_outputs, d + intercept)."""
        used = slice(1, 1 + self.prototypes.n)
        return np.ascontiguousarray(self.weights.effective()[used, :, :self.d + self.intercept])

    def center_of_samples(self):
        """The running mean that is taken off every sample, ndarray of shape (d,)."""
        return self.mean.to_array()[0, :self.d]


def _restore(options, prototypes, weights, mean, totals):
    cdef LocalSpace space = LocalSpace(*options)
    space.prototypes.set_state(prototypes)
    space.weights.set_state(weights)
    space.mean.set_array(mean)
    space.totals.samples, space.totals.squares, space.totals.gaps, space.totals.n_gaps = totals
    return space
