"""LiftedWeights: K hyperplanes over a lifted sample, which is 0 but in a few blocks.

A lifted sample is a list of terms, in block b it is gain * features; it is never made
in full. Block 0 is the shared one. Each block has a prior variance S, the metric in which a
step is the shortest: score sum_b g_b u_b.f_b, squared length sum_b g_b^2 f_b'S_b f_b, step
u_b += c g_b S_b f_b. First-order weights keep S; second-order ones keep its diagonal per output
and contract it: S_b -= beta (g_b S_b f_b)^2 (diagonal AROW).

The features of a term are `width` numbers, or those of a sparse sample with their places.

Averaging. A step c made while the model of step i was scored is in the models i + 1, i + 2, ...:
its companion c i gives the mean of the models 1 ... t + 1 as ((t + 1) value - companion) / (t + 1).
"""
from libc.stdint cimport int32_t

from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, ok_vector_ops, ops_for
from onlinekern.core.learning.heads cimport Update

cdef double squared_length(const Term *term, const ok_vector_ops *ops) noexcept nogil:
    cdef Py_ssize_t i
    cdef double sum = 0
    if term.places == NULL:
        return ops.dot(term.features, term.features, term.count)
    for i in range(term.count):
        sum += term.features[i] * term.features[i]
    return sum


cdef void add_along(double *numbers, const double *features, const int32_t *places,
                    Py_ssize_t count, double scale) noexcept nogil:
    """numbers += scale * features, at their places."""
    cdef Py_ssize_t i
    if places == NULL:
        for i in range(count):
            numbers[i] += scale * features[i]
    else:
        for i in range(count):
            numbers[places[i]] += scale * features[i]


cdef class LiftedWeights:
    """Weights for `n_blocks` blocks of `n_features` features each.

    Parameters
    ----------
    n_blocks, n_features, n_outputs : int
    shared_prior : float >= 0
        Prior variance of block 0; that of every other block is 1.
    averaged : bool
        Score the average of the models 1 ... t + 1 as well.
    second_order : bool
        Keep a variance for every weight.
    """

    def __init__(self, Py_ssize_t n_blocks, Py_ssize_t n_features, Py_ssize_t n_outputs,
                 double shared_prior, bint averaged, bint second_order):
        cdef Py_ssize_t b, i, size
        cdef double *variances
        # The dot products want whole panels of numbers; the features beyond are 0.
        self.width = (n_features + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        self.n_outputs = n_outputs
        self.shared_prior = shared_prior
        self.averaged = averaged
        self.second_order = second_order
        self.ops = ops_for(sizeof(double))
        size = n_outputs * self.width
        self.blocks = JournaledMatrix(
            "hyperplanes", n_blocks, (1 + averaged + second_order) * size)
        for b in range(n_blocks if second_order else 0):
            variances = self.blocks.row(b) + self.variances()
            for i in range(size):
                variances[i] = self.prior(b)

    cdef double prior(self, Py_ssize_t block) noexcept nogil:
        return self.shared_prior if block == 0 else 1

    cdef double product(self, const Term *term, const double *features,
                        const double *numbers) noexcept nogil:
        """sum_i features[i] numbers[place of i], features being those of the term or their squares.
        """
        cdef Py_ssize_t i
        cdef double sum = 0
        if term.places == NULL:
            return self.ops.dot(features, numbers, self.width)
        for i in range(term.count):
            sum += features[i] * numbers[term.places[i]]
        return sum

    cdef Py_ssize_t companions(self) noexcept nogil:
        """Where in a block its companions begin."""
        return self.n_outputs * self.width

    cdef Py_ssize_t variances(self) noexcept nogil:
        """Where in a block its variances begin."""
        return (1 + self.averaged) * self.n_outputs * self.width

    cdef void scores(self, const Term *terms, Py_ssize_t n, double *current,
                     double *averaged) noexcept nogil:
        """Scores of the present model, and of the one that predicts; they may share memory."""
        cdef Py_ssize_t k, t
        cdef const double *values
        cdef double sum, companion
        for k in range(self.n_outputs):
            sum = 0
            companion = 0
            for t in range(n):
                values = self.blocks.row(terms[t].block) + k * self.width
                sum += terms[t].gain * self.product(&terms[t], terms[t].features, values)
                if self.averaged:
                    companion += terms[t].gain * self.product(
                        &terms[t], terms[t].features, values + self.companions())
            current[k] = sum
            averaged[k] = sum
            if self.averaged:
                averaged[k] = ((self.steps + 1) * sum - companion) / (self.steps + 1)

    cdef void measure(self, Term *terms, Py_ssize_t n) noexcept nogil:
        """Fill in the squares of the terms, for `lengths`; most terms share their features."""
        cdef Py_ssize_t t, i
        for t in range(n):
            if t > 0 and terms[t].features == terms[t - 1].features:
                terms[t].square = terms[t - 1].square
                continue
            if self.second_order:
                for i in range(terms[t].count):
                    terms[t].squares[i] = terms[t].features[i] * terms[t].features[i]
            else:
                terms[t].square = squared_length(&terms[t], self.ops)

    cdef void lengths(self, const Term *terms, Py_ssize_t n, Update *update) noexcept nogil:
        """Squared length of the lifted sample for each output that needs it."""
        cdef Py_ssize_t k, t
        cdef double gain, length
        for k in range(self.n_outputs):
            if not update.needs_length[k]:
                continue
            for t in range(n):
                gain = terms[t].gain * terms[t].gain
                if self.second_order:
                    length = self.product(
                        &terms[t], terms[t].squares,
                        self.blocks.row(terms[t].block) + self.variances() + k * self.width)
                else:
                    length = self.prior(terms[t].block) * terms[t].square
                update.lengths[k] += gain * length

    cdef void update(self, const Term *terms, Py_ssize_t n, const Update *update,
                     double unit) noexcept nogil:
        """Count the sample, and add it with its coefficients.

        The lengths that the rule was given were in units of `unit`.
        """
        cdef Py_ssize_t k, t
        self.steps += 1
        for k in range(self.n_outputs if update.updates else 0):
            if update.coefficients[k] == 0:
                continue
            for t in range(n):
                if self.second_order:
                    self.add_second(&terms[t], k, update.coefficients[k] / unit,
                                    update.contractions[k] / unit)
                else:
                    self.add_first(&terms[t], k, update.coefficients[k] / unit)

    cdef void add_first(self, const Term *term, Py_ssize_t k, double coefficient) noexcept nogil:
        cdef double *values = self.blocks.touch(term.block) + k * self.width
        cdef double *companions = values + self.companions()
        cdef double scale = coefficient * term.gain * self.prior(term.block)
        add_along(values, term.features, term.places, term.count, scale)
        if self.averaged:
            add_along(companions, term.features, term.places, term.count, scale * self.steps)

    cdef void add_second(self, const Term *term, Py_ssize_t k, double coefficient,
                         double contraction) noexcept nogil:
        cdef double *values = self.blocks.touch(term.block) + k * self.width
        cdef double *companions = values + self.companions()
        cdef double *variances = values + self.variances()
        cdef const double *features = term.features
        cdef const int32_t *places = term.places
        cdef double scale = coefficient * term.gain
        cdef double late = scale * self.steps
        cdef double shrink = contraction * term.gain * term.gain
        cdef double direction, left
        cdef Py_ssize_t i, j
        if self.averaged:
            for i in range(term.count):
                j = places[i] if places != NULL else i
                companions[j] += late * variances[j] * features[i]
        for i in range(term.count):
            j = places[i] if places != NULL else i
            direction = variances[j] * features[i]
            values[j] += scale * direction
            # g^2 S f^2 is a part of v, so beta g^2 S^2 f^2 <= S v / (v + r) < S but for rounding.
            left = variances[j] - shrink * direction * direction
            variances[j] = left if left > 0 else 0

    cdef void checkpoint(self) noexcept nogil:
        self.saved_steps = self.steps
        self.blocks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.steps = self.saved_steps
        self.blocks.rollback()

    def effective(self):
        """Weights of the model that predicts, ndarray of shape (n_blocks, n_outputs, width)."""
        parts = self.blocks.to_array().reshape(self.blocks.n_rows, -1, self.n_outputs, self.width)
        if not self.averaged:
            return parts[:, 0]
        return parts[:, 0] - parts[:, 1] / (self.steps + 1)

    def spread(self):
        """Variances of second-order weights, ndarray of shape (n_blocks, n_outputs, width)."""
        if not self.second_order:
            raise ValueError("first-order weights have no variances")
        parts = self.blocks.to_array().reshape(self.blocks.n_rows, -1, self.n_outputs, self.width)
        return parts[:, -1]

    def get_state(self):
        """All that was learnt."""
        return self.steps, self.blocks.to_array()

    def set_state(self, state):
        """Take over what `get_state` gave."""
        self.steps, blocks = state
        self.blocks.set_array(blocks)
