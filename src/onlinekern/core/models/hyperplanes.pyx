"""Hyperplanes: K linear models over lifted samples (Zhou et al. 2016, eqs. 12-14).

A lifted sample consists of blocks, of which only a few are not 0. Block b is g_b f_b, a factor
times features. Block 0 belongs to the shared hyperplane, the others to the prototypes. The sample
is stored as a list of terms, one for each block that is not 0. Each block has a prior variance S_b:

    score            sum_b g_b u_b.f_b
    squared length   sum_b g_b^2 f_b'S_b f_b
    step             u_b += c g_b S_b f_b

First-order weights keep S_b. Second-order weights store its diagonal for each output and contract
it: S_b -= beta (g_b S_b f_b)^2 (diagonal AROW).

The features of a term are dense (`width` elements), or the stored elements of a sparse sample with
their columns.

Averaging is that of `base.scaled_average`, with a scale of 1. In the uniform mean of the models
1 ... t + 1, a step computed with model i is part of the models i + 1, i + 2, ... So the companion
of a weight is the sum of i times step i, and the mean is ((t + 1) weight - companion) / (t + 1).
"""
from libc.stdint cimport int32_t

from onlinekern.core.base.scaled_average cimport (
    averaged_score, averaging_of, begin_average, companion_step, count_model,
    renew_companions, renews, resume_average,
)
from onlinekern.core.base.state cimport (
    MOST_FEATURES, MOST_OUTPUTS, count_of, integer_within, items_of, not_negative,
)
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, ok_vector_ops, ops_for
from onlinekern.core.learning.heads cimport Update


cdef double squared_norm(const Term *term, const ok_vector_ops *ops) noexcept nogil:
    cdef Py_ssize_t i
    cdef double sum = 0
    if term.columns == NULL:
        return ops.dot(term.features, term.features, term.count)
    for i in range(term.count):
        sum += term.features[i] * term.features[i]
    return sum


cdef void add_multiple(double *weights, const double *features, const int32_t *columns,
                       Py_ssize_t count, double scale) noexcept nogil:
    """weights += scale * features; dense features have columns NULL."""
    cdef Py_ssize_t i
    if columns == NULL:
        for i in range(count):
            weights[i] += scale * features[i]
    else:
        for i in range(count):
            weights[columns[i]] += scale * features[i]


cdef class Hyperplanes:
    """Weights of `n_outputs` linear models over `n_blocks` blocks of `n_features` features.

    Parameters
    ----------
    n_blocks, n_features, n_outputs : int
    shared_variance : float >= 0
        Prior variance of block 0. The other blocks have 1.
    averaged : bool, 'uniform', 'decay' or float in (0, 1)
        Whether to predict with an average of the models 1 ... t + 1; see `base.scaled_average`.
    second_order : bool
        Store a variance for each weight.
    """

    def __cinit__(self, Py_ssize_t n_blocks, Py_ssize_t n_features, Py_ssize_t n_outputs,
                  double shared_variance, averaged, bint second_order):
        cdef Py_ssize_t b, i, size
        cdef double *variances
        # The constant is one more feature.
        integer_within("n_features", n_features, 0, <Py_ssize_t> MOST_FEATURES + 1)
        integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        not_negative("shared_variance", shared_variance)
        # The vector primitives need whole panels; the features are padded with 0.
        self.width = (n_features + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        self.n_outputs = n_outputs
        self.shared_variance = shared_variance
        averaging = averaging_of(averaged)
        self.averaged = averaging is not False
        begin_average(&self.average, averaging)
        self.second_order = second_order
        self.ops = ops_for(sizeof(double))
        size = n_outputs * self.width
        self.blocks = JournaledMatrix(
            "hyperplanes", n_blocks, (1 + self.averaged + second_order) * size)
        for b in range(n_blocks if second_order else 0):
            variances = self.blocks.row(b) + self.variances_offset()
            for i in range(size):
                variances[i] = self.prior_variance(b)

    cdef double prior_variance(self, Py_ssize_t block) noexcept nogil:
        return self.shared_variance if block == 0 else 1

    cdef double dot(self, const Term *term, const double *features,
                    const double *weights) noexcept nogil:
        """Product of weights with `features`: those of the term, or their squares."""
        cdef Py_ssize_t i
        cdef double sum = 0
        if term.columns == NULL:
            return self.ops.dot(features, weights, self.width)
        for i in range(term.count):
            sum += features[i] * weights[term.columns[i]]
        return sum

    cdef Py_ssize_t companions_offset(self) noexcept nogil:
        """Offset of the companions in a block."""
        return self.n_outputs * self.width

    cdef Py_ssize_t variances_offset(self) noexcept nogil:
        """Offset of the variances in a block."""
        return (1 + self.averaged) * self.n_outputs * self.width

    cdef void scores(self, const Term *terms, Py_ssize_t n, double *current,
                     double *averaged) noexcept nogil:
        """Scores of the last model, and of the predicting model.

        `current` and `averaged` may be the same array.
        """
        cdef Py_ssize_t k, t
        cdef const double *values
        cdef double sum, companion
        for k in range(self.n_outputs):
            sum = 0
            companion = 0
            for t in range(n):
                values = self.blocks.row(terms[t].block) + k * self.width
                sum += terms[t].factor * self.dot(&terms[t], terms[t].features, values)
                if self.averaged:
                    companion += terms[t].factor * self.dot(
                        &terms[t], terms[t].features, values + self.companions_offset())
            current[k] = sum
            averaged[k] = sum
            if self.averaged:
                averaged[k] = averaged_score(&self.average, sum, companion)

    cdef void square_features(self, Term *terms, Py_ssize_t n) noexcept nogil:
        """Compute squared features for `squared_lengths`; only their sum if first-order.

        Adjacent terms may share their features, whose squares are then computed once.
        """
        cdef Py_ssize_t t, i
        for t in range(n):
            if t > 0 and terms[t].features == terms[t - 1].features:
                terms[t].squared_norm = terms[t - 1].squared_norm
                continue
            if self.second_order:
                for i in range(terms[t].count):
                    terms[t].squared_features[i] = terms[t].features[i] * terms[t].features[i]
            else:
                terms[t].squared_norm = squared_norm(&terms[t], self.ops)

    cdef void squared_lengths(self, const Term *terms, Py_ssize_t n,
                              Update *update) noexcept nogil:
        """Squared length of the lifted sample, for each output that needs it."""
        cdef Py_ssize_t k, t
        cdef double squared_factor, length
        for k in range(self.n_outputs):
            if not update.needs_length[k]:
                continue
            for t in range(n):
                squared_factor = terms[t].factor * terms[t].factor
                if self.second_order:
                    length = self.dot(
                        &terms[t], terms[t].squared_features,
                        self.blocks.row(terms[t].block) + self.variances_offset() + k * self.width)
                else:
                    length = self.prior_variance(terms[t].block) * terms[t].squared_norm
                update.lengths[k] += squared_factor * length

    cdef void update(self, const Term *terms, Py_ssize_t n, const Update *update,
                     double length_unit) noexcept nogil:
        """Count the sample, and add it times the coefficients of the update.

        The rule was given squared lengths divided by `length_unit`.
        """
        cdef Py_ssize_t k, t
        self.advance(update.lead)
        for k in range(self.n_outputs if update.updates else 0):
            if update.coefficients[k] == 0:
                continue
            for t in range(n):
                if self.second_order:
                    self.second_order_step(&terms[t], k, update.coefficients[k] / length_unit,
                                           update.contractions[k] / length_unit)
                else:
                    self.first_order_step(&terms[t], k, update.coefficients[k] / length_unit)

    cdef void advance(self, int64_t lead) noexcept nogil:
        """Add the last model to the average. Call before its update."""
        cdef Py_ssize_t b
        if renews(&self.average, lead):
            self.blocks.touch_all()
            for b in range(self.blocks.n_rows):
                renew_companions(&self.average, lead,
                                 self.blocks.row(b) + self.companions_offset(),
                                 self.n_outputs * self.width)
        count_model(&self.average, lead)
        self.total_weights()

    cdef void total_weights(self) noexcept nogil:
        """Compute the total of the average from the number of models, as restoring a model does."""
        self.average.total = self.average.weights - self.average.weight

    cdef void first_order_step(self, const Term *term, Py_ssize_t k,
                               double coefficient) noexcept nogil:
        """Add the term to the weights of output k."""
        cdef double *values = self.blocks.touch(term.block) + k * self.width
        cdef double *companions = values + self.companions_offset()
        cdef double scale = coefficient * term.factor * self.prior_variance(term.block)
        add_multiple(values, term.features, term.columns, term.count, scale)
        if self.averaged:
            add_multiple(companions, term.features, term.columns, term.count,
                         companion_step(&self.average, scale))

    cdef void second_order_step(self, const Term *term, Py_ssize_t k, double coefficient,
                                double contraction) noexcept nogil:
        """Add the term to the weights of output k, and contract their variances."""
        cdef double *values = self.blocks.touch(term.block) + k * self.width
        cdef double *companions = values + self.companions_offset()
        cdef double *variances = values + self.variances_offset()
        cdef const double *features = term.features
        cdef const int32_t *columns = term.columns
        cdef double scale = coefficient * term.factor
        cdef double companion_scale = companion_step(&self.average, scale)
        cdef double reduction = contraction * term.factor * term.factor
        cdef double direction, variance
        cdef Py_ssize_t i, j
        if self.averaged:
            for i in range(term.count):
                j = columns[i] if columns != NULL else i
                companions[j] += companion_scale * variances[j] * features[i]
        for i in range(term.count):
            j = columns[i] if columns != NULL else i
            direction = variances[j] * features[i]
            values[j] += scale * direction
            # beta < 1 / v, and g^2 S f^2 <= v, the squared length: only rounding gives < 0.
            variance = variances[j] - reduction * direction * direction
            variances[j] = variance if variance > 0 else 0

    cdef void checkpoint(self) noexcept nogil:
        self.saved_average = self.average
        self.blocks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.average = self.saved_average
        self.blocks.rollback()

    def effective(self):
        """Weights of the predicting model, ndarray of shape (n_blocks, n_outputs, width)."""
        parts = self.blocks.to_array().reshape(self.blocks.n_rows, -1, self.n_outputs, self.width)
        if not self.averaged:
            return parts[:, 0]
        return parts[:, 0] - parts[:, 1] / self.average.weights

    def variances(self):
        """Variances of the weights, ndarray of shape (n_blocks, n_outputs, width).

        Raises
        ------
        ValueError
            If the weights are first-order.
        """
        if not self.second_order:
            raise ValueError("first-order weights have no variances")
        parts = self.blocks.to_array().reshape(self.blocks.n_rows, -1, self.n_outputs, self.width)
        return parts[:, -1]

    def get_state(self):
        """The learned state: number of steps, blocks."""
        return self.average.steps, self.blocks.to_array()

    def set_state(self, state):
        """Restore the state returned by `get_state`."""
        steps, blocks = items_of(state, "hyperplanes", 2)
        steps = count_of("steps of the hyperplanes", steps)
        self.blocks.set_array(blocks)
        resume_average(&self.average, 1, 0, steps)
        self.total_weights()
