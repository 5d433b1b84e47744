"""SketchedSpace: the linear functions of SDROGD, trained by mini-batch gradient descent.

The objective is the mean loss plus a `Discriminant`. The rule gives each sample a coefficient:
minus the weighted derivative of its loss. The space adds up coefficient times sample, which is
minus the gradient of the loss, and updates the scatter matrices. A gradient step follows every
`batch_size` samples; a batch may span several calls.

A `Discriminant` is a regulariser that pulls samples of a class together and the classes apart. With
S_w and S_b the within- and between-class scatter matrices, and m the direction of the class means,

    quadratic   (lambda/2) ||w||^2 + (gamma/2) (eta w'S_w w - (1 - eta) w'S_b w)
    linear      (lambda/2) ||w||^2 + gamma ((eta/2) w'S_w w - (1 - eta) m'w)

The quadratic one is published (Xue and Ren 2020, eqs. 10 and 11, gamma = 1). It is unbounded below
where S_b outweighs the other terms. The linear one is convex and bounded below.

With the quadratic discriminant the weights may grow without bound. Weights and intercepts are
therefore stored without a common factor 2^exponent. Scaling by a power of two is exact.
"""
from libc.math cimport fabs, frexp, isfinite, ldexp, sqrt
from libc.stdint cimport int64_t
from scipy.linalg.cython_blas cimport daxpy

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, OK, Part, Status
from onlinekern.core.base.scaled_average cimport averaging_of, begin_average, share_of_last
from onlinekern.core.base.state cimport count_of, integer_within, items_of
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.linalg.scatter cimport Scatter
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.row_arithmetic cimport row_add, row_dots
from onlinekern.core.samples.rows cimport Rows


cdef class Discriminant(Part):
    """Base of the discriminants.

    Parameters
    ----------
    within_weight : float in [0, 1]
        eta
    weight : float >= 0
        gamma
    regularisation : float >= 0
        lambda
    """

    abstract = True

    def __init__(self, double within_weight, double weight, double regularisation):
        self.within_weight = within_weight
        self.weight = weight
        self.regularisation = regularisation
        self.arguments = (within_weight, weight, regularisation)

    cdef void gradient(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                       double *out) noexcept nogil:
        """out += unit * gradient at w / unit.

        `w` and `out` are n x (d + 1). The last column holds the intercepts and stays unchanged in
        `out`. Refresh `scatter` before the call.
        """
        cdef int d = <int> scatter.d, one = 1
        cdef Py_ssize_t k, stride = scatter.d + 1
        for k in range(n):
            daxpy(&d, &self.regularisation, <double *> w + k * stride, &one, out + k * stride,
                  &one)
        if self.weight == 0:
            return
        scatter.within(w, n, stride, self.weight * self.within_weight, out)
        self.between(scatter, w, n, unit, out)

    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil:
        """Add the between-class part of `gradient` to `out`."""
        self.missing = b"Discriminant.between"

    cdef double curvature(self, Scatter scatter) noexcept nogil:
        """Estimate of the largest curvature of the convex part."""
        return self.regularisation + \
            self.weight * self.within_weight * scatter.largest_eigenvalue()


cdef class LinearBetween(Discriminant):
    """Convex between-class term, -(1 - eta) m'w."""

    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil:
        scatter.discriminants(n, -self.weight * (1 - self.within_weight) * unit, out)


cdef class QuadraticBetween(Discriminant):
    """Published between-class term, -(1 - eta)/2 w'S_b w (Xue and Ren 2020)."""

    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil:
        scatter.between(w, n, scatter.d + 1, -self.weight * (1 - self.within_weight), out)


cdef class StepSize(Part):
    """Published step size alpha_t = 1 / t of batch t; base class of the other step sizes."""

    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil:
        """Step size of batch t, given the curvature L and the mean of ||x||^2."""
        return 1.0 / t


cdef class SafeStepSize(StepSize):
    """alpha_t = min(1 / t, 1 / L) with curvature L: a longer step could overshoot the minimum."""

    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil:
        return 1 / max(<double> t, curvature)


cdef class RootStepSize(StepSize):
    """alpha_t = 1 / (L + sqrt(t) / eta0)

    Parameters
    ----------
    eta0 : float >= 0
        0 means max(1, 16 / mean ||x||^2), because short samples need larger steps.
    """

    cdef double eta0

    def __init__(self, double eta0=0.0):
        self.eta0 = eta0
        self.arguments = (eta0,)

    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil:
        cdef double eta0 = self.eta0
        if eta0 == 0:
            eta0 = 16 / mean_square if mean_square < 16 and mean_square > 0 else 1
        return 1 / (curvature + sqrt(<double> t) / eta0)


DISCRIMINANTS = {"linear": LinearBetween, "quadratic": QuadraticBetween}
STEP_SIZES = {"paper": StepSize, "safe": SafeStepSize, "sqrt": RootStepSize}


# The weights are rescaled if a typical sample gets a larger score. Margins are about 1, so such
# weights must have grown without bound.
cdef double LARGEST_SCORE = 2.0 ** 30
# Largest exponent applied to scores, so that they stay finite. Beyond it, sign and order of the
# scores are right, but their size is not.
cdef int LARGEST_EXPONENT = 300
# Largest exponent that may be restored: each step adds at most 1100.
cdef Py_ssize_t MOST_EXPONENT = 1 << 30
cdef Py_ssize_t MOST_ROWS = 1 << 62


cdef class SketchedSpace(Space):
    """Linear functions, 0 at first.

    Parameters
    ----------
    scatter : Scatter
    discriminant : Discriminant
    step_size : StepSize
    n_outputs : int
        1 for two classes, else the number of classes.
    batch_size : int
    intercept : bool
        Learn an intercept. Only the loss changes it, not the discriminant.
    averaged : bool, 'uniform', 'decay' or float in (0, 1)
        Predict with an average of the models after each batch, w_bar <- w_bar + p_t (w - w_bar),
        p_t the share of model t in an average of `base.scaled_average`. True is 'decay', with
        p_t = 4 / (t + 3).
    """

    def __cinit__(self, Scatter scatter not None, Discriminant discriminant not None,
                  StepSize step_size not None, Py_ssize_t n_outputs, Py_ssize_t batch_size,
                  bint intercept, averaged):
        integer_within("batch_size", batch_size, 1, MOST_ROWS)
        if n_outputs != (1 if scatter.n_classes == 2 else scatter.n_classes):
            raise ValueError(f"{scatter.n_classes} classes need "
                             f"{1 if scatter.n_classes == 2 else scatter.n_classes} outputs, got "
                             f"n_outputs={n_outputs}")
        self.scatter = scatter
        self.discriminant = discriminant
        self.step_size = step_size
        self.n_outputs = n_outputs
        self.batch_size = batch_size
        self.intercept = intercept
        kind = averaging_of(averaged)
        self.averaged = kind is not False
        # True means 'decay' here, so 'uniform' is stored by its name.
        self.averaging = averaged if isinstance(averaged, str) else kind
        begin_average(&self.shares, "decay" if self.averaging is True else kind)
        self.weights = JournaledMatrix("weights", n_outputs, scatter.d + 1)
        self.average = self.weights
        if self.averaged:
            self.average = JournaledMatrix("averaged weights", n_outputs, scatter.d + 1)
        self.negative_gradient = JournaledMatrix("batch gradient", n_outputs, scatter.d + 1)

    def components(self):
        return self.discriminant, self.step_size

    cdef tuple sample_form(self):
        return self.scatter.d, None

    cdef Py_ssize_t size(self) noexcept nogil:
        """Work per sample, in units of a kernel value of a few features."""
        return (self.scatter.sketch.size + self.n_outputs) * (self.scatter.d // 64 + 1)

    cdef double unit(self) noexcept nogil:
        """2^min(exponent, LARGEST_EXPONENT)."""
        return ldexp(1, <int> min(self.progress.exponent, <int64_t> LARGEST_EXPONENT))

    cdef void score_row(self, const Rows *rows, Py_ssize_t i, double *current,
                        double *averaged) noexcept nogil:
        cdef Py_ssize_t k, d = self.scatter.d
        cdef double[2] sums
        cdef double unit = self.unit()
        for k in range(self.n_outputs):
            row_dots(rows, i, self.weights.row(k), self.average.row(k), sums)
            current[k] = unit * (sums[0] + self.weights.row(k)[d])
            averaged[k] = unit * (sums[1] + self.average.row(k)[d])

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.score_row(&self.rows, self.row_number(i), current, averaged)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """Leave the lengths at 0: a gradient step does not use them."""

    cdef void observe(self, Py_ssize_t i, double y, double weight) noexcept nogil:
        self.label = <Py_ssize_t> y
        self.weight = weight

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Add sample i to the scatter matrices and the batch. Step if the batch is complete."""
        cdef Py_ssize_t k, row = self.row_number(i)
        cdef double *gradient_row
        cdef Status status = self.scatter.add(&self.rows, row, self.label, self.weight)
        if status < 0:
            return status
        for k in range(self.n_outputs if update.updates else 0):
            if update.coefficients[k] != 0:
                gradient_row = self.negative_gradient.touch(k)
                row_add(&self.rows, row, update.coefficients[k], gradient_row)
                gradient_row[self.scatter.d] += update.coefficients[k]
        self.progress.pending += 1
        return self.step() if self.progress.pending == self.batch_size else OK

    cdef Status step(self) noexcept nogil:
        """End the batch: take a gradient step and update the average. Returns a status."""
        cdef Py_ssize_t j, length = self.n_outputs * (self.scatter.d + 1)
        cdef double curvature, share
        cdef double *average = self.average.values
        cdef const double *weights = self.weights.values
        self.weights.touch_all()
        self.average.touch_all()
        self.negative_gradient.touch_all()
        self.scatter.refresh()
        self.progress.steps += 1
        curvature = self.discriminant.curvature(self.scatter)
        self.gradient_step(self.step_size.at(
            self.progress.steps, curvature, self.scatter.mean_square()))
        self.progress.pending = 0
        if self.averaged:
            # Models are counted from the first batch on, without f_1 = 0.
            self.shares.steps = self.progress.steps - 1
            share = share_of_last(&self.shares)
            for j in range(length):
                average[j] += share * (weights[j] - average[j])
        return self.rescale()

    cdef void gradient_step(self, double rate) noexcept nogil:
        """w <- w - rate * (mean gradient of the loss + gradient of the discriminant)."""
        cdef Py_ssize_t j, k, d = self.scatter.d, length = self.n_outputs * (d + 1)
        cdef double unit = ldexp(1, -<int> min(self.progress.exponent, <int64_t> 5000))
        # In place: the sum becomes the gradient, then 0 for the next batch.
        cdef double *gradient = self.negative_gradient.values
        cdef double *weights = self.weights.values
        for j in range(length):
            gradient[j] *= -unit / self.progress.pending
        for k in range(0 if self.intercept else self.n_outputs):
            gradient[k * (d + 1) + d] = 0
        self.discriminant.gradient(
            self.scatter, self.weights.values, self.n_outputs, unit, gradient)
        for j in range(length):
            weights[j] -= rate * gradient[j]
            gradient[j] = 0

    cdef Status rescale(self) noexcept nogil:
        """Move a power of two from large weights to the exponent. Returns a status."""
        cdef Py_ssize_t j, length = self.n_outputs * (self.scatter.d + 1)
        cdef double largest = 0
        cdef double *weights = self.weights.values
        cdef double *average = self.average.values
        cdef int exponent
        for j in range(length):
            # `not <=` instead of `>`, so that a NaN becomes the largest.
            if not fabs(weights[j]) <= largest:
                largest = fabs(weights[j])
        if not isfinite(largest):
            return NOT_FINITE
        if largest * sqrt(self.scatter.mean_square()) <= LARGEST_SCORE:
            return OK
        frexp(largest, &exponent)
        for j in range(length):
            weights[j] = ldexp(weights[j], -exponent)
            if self.averaged:
                average[j] = ldexp(average[j], -exponent)
        self.progress.exponent += exponent
        return OK

    cdef void checkpoint(self) noexcept nogil:
        self.saved = self.progress
        self.scatter.checkpoint()
        self.weights.checkpoint()
        self.average.checkpoint()
        self.negative_gradient.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.progress = self.saved
        self.scatter.rollback()
        self.weights.rollback()
        self.average.rollback()
        self.negative_gradient.rollback()

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        """Write the scores of n samples to `out` (n x n_outputs); does not change the space."""
        cdef Py_ssize_t i
        for i in range(n):
            self.score_row(rows, first + i, out + i * self.n_outputs, out + i * self.n_outputs)
        return OK

    def end_batch(self):
        """Make the gradient step of an incomplete batch, if there is one.

        Raises
        ------
        FloatingPointError
            If the weights overflow. The space is then unchanged.
        """
        self.checkpoint()
        if self.progress.pending > 0 and self.step() < 0:
            self.rollback()
            raise FloatingPointError("the weights are no longer finite: scale the features")

    def effective(self):
        """Weights and intercepts of the predicting model, ndarray (n_outputs, d + 1)."""
        return self.unit() * self.average.to_array()

    def latest(self):
        """Weights and intercepts after the last step, ndarray (n_outputs, d + 1)."""
        return self.unit() * self.weights.to_array()

    @property
    def n_steps(self):
        """Number of batches learnt."""
        return self.progress.steps

    @property
    def n_pending(self):
        """Number of samples in the open batch."""
        return self.progress.pending

    @property
    def is_busy_next(self):
        """Whether the next sample completes the batch or fills the sketch."""
        return self.progress.pending + 1 == self.batch_size \
            or self.scatter.sketch.tally.n + 1 == 2 * self.scatter.sketch.size

    @property
    def exponent(self):
        """True weights are the stored ones times 2^exponent; > 0 if they grew without bound."""
        return self.progress.exponent

    def __reduce__(self):
        arguments = (self.scatter, self.discriminant, self.step_size, self.n_outputs,
                     self.batch_size, self.intercept, self.averaging)
        state = (self.weights.to_array(), self.average.to_array(),
                 self.negative_gradient.to_array(),
                 self.progress.steps, self.progress.exponent, self.progress.pending)
        return _restore, (arguments, state)


def _restore(arguments, state):
    cdef SketchedSpace space = SketchedSpace(*items_of(arguments, "arguments", 7))
    weights, average, gradient, steps, exponent, pending = items_of(state, "a sketched model", 6)
    space.weights.set_array(weights)
    if not space.averaged and not np.array_equal(weights, average):
        raise ValueError("without an average, the averaged weights must be the weights")
    space.average.set_array(average)
    space.negative_gradient.set_array(gradient)
    space.progress.steps = count_of("steps", steps)
    space.progress.exponent = integer_within("exponent", exponent, -MOST_EXPONENT, MOST_EXPONENT)
    space.progress.pending = integer_within("pending", pending, 0, space.batch_size - 1)
    space.checkpoint()
    return space
