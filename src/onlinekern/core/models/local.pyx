"""LocalSpace: local linear models, a shared hyperplane and one hyperplane for each prototype.

A sample x becomes the features f = [x - mean, 1]; subtracting the mean and appending the 1 are
optional. Let N be its m nearest prototypes, with assignment weights g, ||g|| = 1 (g = 1 for m = 1).
The score of x is

    w.f + sum_{j in N} g_j u_j.f_j,    f_j = f or [x - p_j, 1].

This is one linear model of the lifted sample [f; g_1 f_1; ...; g_k f_k], whose blocks outside N are
0 (Zhou et al. 2016, eqs. 12-14). A `LiftedSample` stores the other blocks; each thread that scores
has its own one.

Order of a step: neighbors, assignment and mean are computed from the samples before x, so x has the
same score in predicting and learning. The first k samples are an exception, because they become
prototypes. Such a sample is predicted with the prototypes before it, and learnt as its own nearest
prototype, at distance 0. The hyperplanes are updated first, then the nearest prototype moves, then
the running means are updated with x.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

import numpy as np

from onlinekern.core.base.part cimport OK, OVERFLOWED, Status
from onlinekern.core.base.scaled_average cimport averaging_of
from onlinekern.core.base.state cimport (
    MOST_FEATURES, MOST_OUTPUTS, count_of, integer_within, items_of, not_negative, positive_number,
    size_of,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, aligned_resize, ok_sparse_row, ops_for
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.hyperplanes cimport Hyperplanes, Term
from onlinekern.core.models.prototypes cimport Prototypes, nearest, soft_assignment
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.row_arithmetic cimport load_dense, load_stored
from onlinekern.core.samples.rows cimport Rows, is_sparse, sparse_row


cdef class LiftedSample:
    """The terms of one lifted sample, and buffers to compute them.

    Parameters
    ----------
    n_outputs, max_terms, n_distances : int
    width : int
        Elements of a block, padded to whole panels.
    second_order : bool
        Reserve memory for squared features.

    Raises
    ------
    MemoryError
    """

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t max_terms, Py_ssize_t n_distances,
                  Py_ssize_t width, bint second_order):
        cdef Py_ssize_t arrays = 1 + second_order
        self.terms = <Term *> calloc(max_terms, sizeof(Term))
        self.neighbors = <Py_ssize_t *> calloc(max_terms, sizeof(Py_ssize_t))
        self.assignment = <double *> calloc(max_terms, sizeof(double))
        self.ignored_scores = <double *> calloc(n_outputs, sizeof(double))
        self.columns = <int32_t *> calloc(width, sizeof(int32_t))
        self.panel_products = <char *> aligned_resize(NULL, 0, OK_PANEL * sizeof(double))
        self.buffer = <double *> aligned_resize(
            NULL, 0, n_distances * sizeof(double) + size_of(
                "a lifted sample", 1 + max_terms * arrays, width * sizeof(double)))
        if self.terms == NULL or self.neighbors == NULL or self.assignment == NULL \
                or self.ignored_scores == NULL or self.panel_products == NULL \
                or self.buffer == NULL or self.columns == NULL:
            raise MemoryError(f"no memory for {max_terms} blocks of a sample")
        self.distances = self.buffer
        self.sample = self.distances + n_distances
        self.features = self.sample + width
        self.stride = arrays * width
        self.width = width

    def __dealloc__(self):
        free(self.terms)
        free(self.neighbors)
        free(self.assignment)
        free(self.ignored_scores)
        free(self.columns)
        free(self.panel_products)
        free(self.buffer)

    cdef void use_own_features(self, Py_ssize_t t) noexcept nogil:
        """Point term t to its own dense features; the caller writes them."""
        self.terms[t].features = self.features + t * self.stride
        self.terms[t].squared_features = self.terms[t].features + self.width
        self.terms[t].columns = NULL
        self.terms[t].count = self.width

    cdef void read_dense(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Read a row into `sample`; for a sparse row, also compute ||x||^2."""
        cdef double absolute
        cdef ok_sparse_row stored
        load_dense(rows, row, self.sample)
        if is_sparse(rows):
            stored = sparse_row(rows, row)
            ops_for(rows.itemsize).norms(stored.values, stored.count, &self.squared_norm,
                                         &absolute)

    cdef void read_stored(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Read the stored elements of a sparse row into term 0, and compute ||x||^2."""
        cdef Py_ssize_t j
        cdef double *features = self.features
        self.use_own_features(0)
        self.terms[0].columns = self.columns
        self.terms[0].count = load_stored(rows, row, features, self.columns)
        self.squared_norm = 0
        for j in range(self.terms[0].count):
            self.squared_norm += features[j] * features[j]


cdef class LocalSpace(Space):
    """For each output a shared hyperplane, and one hyperplane per prototype.

    Parameters
    ----------
    d : int
        Features of a sample.
    dtype : numpy.float32 or numpy.float64
        Type of the samples.
    n_outputs : int
    n_prototypes : int >= 1

    n_assign : int in [1, n_prototypes]
        m, the number of prototypes that a sample is assigned to.
    sharing : float > 0
        lambda: the prior variance of the shared hyperplane is 1 / lambda.
    joint : bool
        Use a shared hyperplane (LOL); without one, the local hyperplanes are independent (I-LOL).
    center, intercept, offsets : bool
        Subtract the mean from x in f; append a constant 1; use f_j = x - p_j instead of f.
    averaged, second_order
        See Hyperplanes.
    normalized : bool
        Divide squared lengths by the mean of ||f||^2 (without the constant). A rule's constant then
        does not depend on the scale of the samples.
    sparse : bool
        Most samples are sparse, so the prototypes store sums (see Prototypes).
    fixed : bool
        The prototypes are set before the stream by `Prototypes.set_fixed`, and do not move.
    """

    def __cinit__(self, Py_ssize_t d, dtype, Py_ssize_t n_outputs, Py_ssize_t n_prototypes,
                  Py_ssize_t n_assign, double sharing, bint joint, bint center, bint intercept,
                  bint offsets, averaged, bint second_order, bint normalized, bint sparse,
                  bint fixed=False):
        integer_within("n_prototypes", n_prototypes, 1, MOST_OUTPUTS)
        integer_within("n_assign", n_assign, 1, n_prototypes)
        positive_number("sharing", sharing)
        self.options = (d, np.dtype(dtype), n_outputs, n_prototypes, n_assign, sharing, joint,
                        center, intercept, offsets, averaging_of(averaged), second_order,
                        normalized, sparse, fixed)
        self.d = d
        self.n_outputs = n_outputs
        self.n_assign = n_assign
        self.first_term = 0 if joint else 1
        self.center = center
        self.intercept = intercept
        self.offsets = offsets
        self.normalized = normalized
        self.prototypes = Prototypes(n_prototypes, d, dtype, sparse, fixed)
        self.hyperplanes = Hyperplanes(1 + n_prototypes, d + intercept, n_outputs, 1 / sharing,
                                       averaged, second_order)
        self.mean = JournaledMatrix("mean of the samples", 1, self.hyperplanes.width)
        self.lifted = self.new_window(1)

    def __reduce__(self):
        totals = (self.totals.n_samples, self.totals.squared_norms, self.totals.distances,
                  self.totals.n_distances)
        return _restore, (self.options, self.prototypes.get_state(), self.hyperplanes.get_state(),
                          self.mean.to_array(), totals)

    cdef tuple sample_form(self):
        return self.d, self.prototypes.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        """Cost of scoring a sample, in kernel values of about sixteen features."""
        return (self.prototypes.k + (1 + self.n_assign) * self.n_outputs) * (1 + self.d // 16)

    cdef void read(self, LiftedSample lifted, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Read a sample: compute its shared term and its distances to the prototypes."""
        cdef bint sparse = is_sparse(rows)
        if sparse and self.prototypes.keeps_sums and not self.center and not self.offsets:
            # Both f and the update of the prototype are sparse: no dense copy is needed.
            lifted.read_stored(rows, row)
            self.lift_shared_stored(lifted)
        else:
            lifted.read_dense(rows, row)
            self.lift_shared(lifted)
            if self.prototypes.keeps_sums and not sparse:
                lifted.squared_norm = self.hyperplanes.ops.dot(lifted.sample, lifted.sample,
                                                               self.hyperplanes.width)
        self.prototypes.distances(rows, row, lifted.squared_norm, lifted.panel_products,
                                  lifted.distances)

    cdef void lift_shared_stored(self, LiftedSample lifted) noexcept nogil:
        """Complete term 0, whose features are the stored elements of x."""
        lifted.terms[0].block = 0
        lifted.terms[0].factor = 1
        lifted.features_squared_norm = lifted.squared_norm
        if self.intercept:
            lifted.columns[lifted.terms[0].count] = <int32_t> self.d
            lifted.features[lifted.terms[0].count] = 1
            lifted.terms[0].count += 1

    cdef void lift_shared(self, LiftedSample lifted) noexcept nogil:
        """Write f to term 0, also for I-LOL, whose local terms may use the same features."""
        cdef Py_ssize_t j
        cdef double *features = lifted.features
        # The first sample is its own mean.
        cdef const double *mean = self.mean.row(0) if self.totals.n_samples > 0 else lifted.sample
        lifted.use_own_features(0)
        lifted.terms[0].block = 0
        lifted.terms[0].factor = 1
        for j in range(self.d):
            features[j] = lifted.sample[j] - mean[j] if self.center else lifted.sample[j]
        if self.intercept:
            features[self.d] = 0
        lifted.features_squared_norm = self.hyperplanes.ops.dot(features, features,
                                                                self.hyperplanes.width)
        if self.intercept:
            features[self.d] = 1

    cdef Py_ssize_t find_neighbors(self, LiftedSample lifted, bint as_prototype) noexcept nogil:
        """Find the nearest prototypes; return their number.

        With `as_prototype`, the sample counts as prototype n and is its own nearest one.
        """
        cdef Py_ssize_t n = self.prototypes.n
        if not as_prototype:
            return nearest(lifted.distances, n, self.n_assign, lifted.neighbors)
        # new_window reserves an element for this distance. The sample is its own nearest prototype
        # even if an earlier one is at distance 0 too.
        lifted.distances[n] = 0
        lifted.neighbors[0] = n
        return 1 + nearest(lifted.distances, n, self.n_assign - 1, lifted.neighbors + 1)

    cdef void lift_local(self, LiftedSample lifted, bint as_prototype) noexcept nogil:
        """Write the local terms, one for each neighbor (see `find_neighbors`)."""
        cdef Py_ssize_t t, n = self.find_neighbors(lifted, as_prototype)
        cdef double bandwidth = 0
        lifted.n_terms = 1 + n
        if n == 0:
            return
        if self.totals.n_distances > 0:
            bandwidth = self.totals.distances / self.totals.n_distances
        soft_assignment(lifted.distances, lifted.neighbors, n, bandwidth, lifted.assignment)
        for t in range(n):
            lifted.terms[1 + t].block = 1 + lifted.neighbors[t]
            lifted.terms[1 + t].factor = lifted.assignment[t]
            self.local_features(lifted, 1 + t)

    cdef void local_features(self, LiftedSample lifted, Py_ssize_t t) noexcept nogil:
        """Set the features f_j of term t: [x - p_j, 1], or those of term 0."""
        cdef Py_ssize_t i, j = lifted.terms[t].block - 1
        cdef double scale = 1
        cdef const double *center
        cdef double *features
        if not self.offsets:
            lifted.terms[t].features = lifted.terms[0].features
            lifted.terms[t].squared_features = lifted.terms[0].squared_features
            lifted.terms[t].columns = lifted.terms[0].columns
            lifted.terms[t].count = lifted.terms[0].count
            return
        lifted.use_own_features(t)
        features = lifted.terms[t].features
        # A sample that becomes a prototype is its own center.
        center = lifted.sample
        if j < self.prototypes.n:
            center = self.prototypes.center(j)
            scale = self.prototypes.scale(j)
        for i in range(self.d):
            features[i] = lifted.sample[i] - scale * center[i]
        if self.intercept:
            features[self.d] = 1

    cdef void score_terms(self, LiftedSample lifted, double *current,
                          double *averaged) noexcept nogil:
        """Scores of the lifted sample; term 0 is used only with a shared hyperplane."""
        self.hyperplanes.scores(lifted.terms + self.first_term, lifted.n_terms - self.first_term,
                                current, averaged)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        """Scores of sample i of the block, by the last model and the predicting model.

        The two differ by averaging, and for the first k samples (see the top of the file).
        """
        self.read(self.lifted, &self.rows, self.row_number(i))
        self.lift_local(self.lifted, False)
        self.score_terms(self.lifted, current, averaged)
        if self.prototypes.n < self.prototypes.k:
            self.lift_local(self.lifted, True)
            self.score_terms(self.lifted, current, self.lifted.ignored_scores)

    cdef double length_unit(self) noexcept nogil:
        """Mean of ||f||^2 up to the sample that was scored last; 1 if not `normalized`."""
        cdef double mean = (self.totals.squared_norms + self.lifted.features_squared_norm) \
            / (self.totals.n_samples + 1)
        return mean if self.normalized and mean > 0 else 1

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """Squared lengths of the sample that was scored last."""
        cdef Py_ssize_t k, n = self.lifted.n_terms - self.first_term
        cdef Term *terms = self.lifted.terms + self.first_term
        self.hyperplanes.square_features(terms, n)
        self.hyperplanes.squared_lengths(terms, n, update)
        for k in range(self.n_outputs):
            update.lengths[k] /= self.length_unit()

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Learn the sample that was scored last; the rules of this space do not shrink."""
        self.hyperplanes.update(self.lifted.terms + self.first_term,
                                self.lifted.n_terms - self.first_term, update, self.length_unit())
        self.update_prototypes(self.row_number(i))
        self.update_means()
        return OK

    cdef void update_prototypes(self, Py_ssize_t row) noexcept nogil:
        """Move the nearest prototype; update the mean distance, the bandwidth of the assignment."""
        cdef Py_ssize_t j
        cdef const double *distances = self.lifted.distances
        cdef double smallest = INFINITY
        cdef Py_ssize_t closest = self.lifted.neighbors[0]
        if closest < self.prototypes.n and distances[closest] > 0:
            smallest = distances[closest]
        else:
            for j in range(self.prototypes.n):
                if 0 < distances[j] < smallest:
                    smallest = distances[j]
        if smallest < INFINITY:
            self.totals.distances += smallest
            self.totals.n_distances += 1
        # The first k samples are their own neighbors (find_neighbors): each becomes a prototype.
        self.prototypes.add_sample(closest, &self.rows, row, self.lifted.sample)

    cdef void update_means(self) noexcept nogil:
        """Update the mean of ||f||^2 and the mean of the samples."""
        cdef Py_ssize_t j
        cdef const double *sample = self.lifted.sample
        cdef double *mean
        self.totals.squared_norms += self.lifted.features_squared_norm
        self.totals.n_samples += 1
        if self.center:
            mean = self.mean.touch(0)
            for j in range(self.d):
                mean[j] += (sample[j] - mean[j]) / self.totals.n_samples

    cdef Status settle(self) noexcept nogil:
        return OK if self.prototypes.are_finite() else OVERFLOWED

    cdef void checkpoint(self) noexcept nogil:
        self.saved = self.totals
        self.prototypes.checkpoint()
        self.hyperplanes.checkpoint()
        self.mean.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.totals = self.saved
        self.prototypes.rollback()
        self.hyperplanes.rollback()
        self.mean.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return LiftedSample(self.n_outputs, self.n_assign + 1,
                            self.prototypes.padded_size() + OK_PANEL, self.hyperplanes.width,
                            self.hyperplanes.second_order)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        """Write the scores of the predicting model to `out` (n x n_outputs).

        The model is not changed: several threads may score at once, each with its LiftedSample.
        """
        cdef Py_ssize_t i
        cdef double *scores
        for i in range(n):
            scores = out + i * self.n_outputs
            self.read(<LiftedSample> window, rows, first + i)
            self.lift_local(<LiftedSample> window, False)
            self.score_terms(<LiftedSample> window, scores, scores)
        return OK

    def shared(self):
        """Weights of the shared hyperplane, ndarray of shape (n_outputs, d + intercept)."""
        return np.ascontiguousarray(self.hyperplanes.effective()[0, :, :self.d + self.intercept])

    def local(self):
        """Weights of the local hyperplanes, ndarray of shape (n, n_outputs, d + intercept)."""
        used = slice(1, 1 + self.prototypes.n)
        return np.ascontiguousarray(self.hyperplanes.effective()[used, :, :self.d + self.intercept])

    def center_of_samples(self):
        """The running mean that is subtracted from every sample, ndarray of shape (d,)."""
        return self.mean.to_array()[0, :self.d]


def _restore(options, prototypes, hyperplanes, mean, totals):
    if isinstance(options, (tuple, list)) and len(options) == 14:
        options = (*options, False)  # an older file, without `fixed`
    d, _, n_outputs, n_prototypes, *_ = items_of(options, "options of a local model", 15)
    _, centers, _ = items_of(prototypes, "prototypes", 3)
    _, blocks = items_of(hyperplanes, "hyperplanes", 2)
    # Check the sizes against the arrays before memory is allocated.
    if np.ndim(centers) != 2 or np.ndim(blocks) != 2 or len(centers) != n_prototypes \
            or not 0 <= integer_within("d", d, 0, MOST_FEATURES) <= np.shape(centers)[1] \
            or not 0 < integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS) <= blocks.shape[1]:
        raise ValueError(
            f"prototypes of shape {np.shape(centers)} and hyperplanes of shape {np.shape(blocks)} "
            f"do not agree with d={d}, n_outputs={n_outputs}, n_prototypes={n_prototypes}")
    cdef LocalSpace space = LocalSpace(*options)
    space.prototypes.set_state(prototypes)
    space.hyperplanes.set_state(hyperplanes)
    space.mean.set_array(mean)
    n_samples, squared_norms, distances, n_distances = items_of(totals, "totals", 4)
    space.totals.n_samples = count_of("n_samples", n_samples)
    space.totals.squared_norms = not_negative("squared_norms", squared_norms)
    space.totals.distances = not_negative("distances", distances)
    space.totals.n_distances = count_of("n_distances", n_distances)
    if space.prototypes.n != (space.prototypes.k if space.prototypes.fixed
                              else min(space.prototypes.k, space.totals.n_samples)):
        raise ValueError(f"{n_samples} samples cannot have given {space.prototypes.n} of "
                         f"{n_prototypes} prototypes: each of the first becomes one")
    return space
