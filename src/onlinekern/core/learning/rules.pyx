"""Update rules: from a score to the coefficient of the sample, as pure scalar mathematics.

A rule gets the score f and the target y of sample number t, and its squared length q in the
geometry of the space, for example kappa(x, x) for kernels. A rule knows nothing of kernels, support
vectors or classes.

`coefficient` is the coefficient with which the sample is added to the model. Its argument
`importance`, > 0, is the weight of the sample divided by the probability with which the sampler
accepts it.
`shrink(t)` is the factor of everything learnt before sample t. It is applied whether or not the
sample gets a coefficient.
`contraction` is for second-order rules, whose space has a covariance S, and q = x'Sx. With the
contraction b, S <- S - b (Sx)(Sx)'. See `second_order_rules`.
Passive-Aggressive is the smallest update without a loss, bounded (PA-I) or softened (PA-II) by C.
"""
from libc.math cimport INFINITY, NAN, expm1, log1p
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.state cimport integer_within
from onlinekern.core.learning.losses cimport Loss
from onlinekern.core.learning.odds cimport log_odds, log_sum
from onlinekern.core.learning.schedules cimport Schedule

from onlinekern.core.learning.losses import PerceptronLoss

# Most rows of a batch: products with the number of batches do not overflow.
cdef int64_t MOST_ROWS = 1 << 31


cdef class Rule(Part):
    """Base of the rules.

    Attributes
    ----------
    loss : Loss
        The loss that is summed up, and that the sampler and the update depend on.
    second_order : bool
        Whether `contraction` may differ from 0.
    uses_length : bool
        Whether a coefficient may depend on the squared length. True is always correct; False saves
        its computation. It is not inherited: a subclass begins with True.
    continues : bool
        Whether a sample of weight w > 1 is learnt by a step of weight 1, which `further` continues.
        Otherwise its importance is multiplied by w. Not inherited: a subclass begins with False.
    """

    abstract = True

    def __cinit__(self, *args, **kwargs):
        self.uses_length = True
        # A class of another package may inherit `solve` but define another `coefficient`.
        self.solves = type(self).__module__.startswith("onlinekern.core.")

    cdef bint needs_length(self, double f, double y, double importance) noexcept nogil:
        """Whether the coefficient at this score depends on the squared length.

        True is always correct; False, if there is no update, saves its computation.
        """
        return True

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        """The coefficient of a sample; every subclass defines it."""
        self.missing = b"Rule.coefficient"
        return NAN

    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil:
        """The coefficient of a sample of weight > 1, whose first step has this `coefficient`.

        The rest of its importance, `more`, is applied in infinitely small steps, which stop where
        the slope is 0. q includes the intercept: a coefficient c moves the score by q c.
        """
        return coefficient

    cdef double contraction(self, double f, double y, double q, double importance) noexcept nogil:
        """The contraction along a sample; rules of second order define it."""
        if self.second_order:
            self.missing = b"Rule.contraction"
        return 0

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        """Write the coefficient and, for second-order rules, the contraction.

        Classes of the library override it for the hinge, with its loss and slope as arguments, to
        save virtual calls. The results are the same bits.
        """
        if self.second_order:
            contraction[0] = self.contraction(f, y, q, importance)
        coefficient[0] = self.coefficient(f, y, q, t, importance)

    cdef void solve_classes(self, const Classes *classes, int64_t t, double importance,
                            double *coefficients, double *contractions) noexcept nogil:
        """Write coefficients and contractions of all classes for the softmax loss.

        The loss is -log p_label, with p the softmax of the scores. As a function of the score of
        class k it is a logistic loss of `log_odds`, with the same slope. Each of these scalar
        problems is solved with the other scores fixed.
        """
        cdef Py_ssize_t k
        cdef double f, y, length, total = log_sum(classes.scores, classes.n)
        for k in range(classes.n):
            f, length = log_odds(classes.scores, classes.n, k, total), classes.lengths[k]
            y = 1 if k == classes.label else -1
            contractions[k] = 0
            if self.second_order:
                contractions[k] = self.contraction(f, y, length, importance)
            coefficients[k] = self.coefficient(f, y, length, t, importance)

    cdef double shrink(self, int64_t t) noexcept nogil:
        """The factor of everything that was learnt before sample t."""
        return 1

    cdef bint shrinks_ever(self):
        """Whether the class defines `shrink`: without one, the factor is 1."""
        return <void *> self.shrink != <void *> Rule.shrink

    def components(self):
        return self.loss, *Part.components(self)

    cdef int check_loss(self) except -1:
        """Raise TypeError for a rule without a loss: one that was made without `__init__`."""
        if type(self) is Rule:
            raise NotImplementedError("Rule does not define Rule.coefficient")
        if self.loss is None:
            raise TypeError(f"{type(self).__name__} has no loss: it was made without its arguments")
        return 0

    def evaluate_contraction(self, double f, double y, double q=1.0, double importance=1.0):
        """The contraction of one update (for tests and exploration)."""
        self.check_loss()
        contraction = self.contraction(f, y, q, importance)
        self.check_defined()
        return contraction

    def evaluate(self, double f, double y, double q=1.0, int64_t t=1, double importance=1.0,
                 double weight=1.0):
        """The pair (coefficient, shrink) of one update (for tests and exploration)."""
        cdef double coefficient = 0, contraction = 0
        self.check_loss()
        solved(self, False, f, y, q, 0, t, importance, weight, &coefficient, &contraction)
        self.check_defined()
        return coefficient, self.shrink(t)

    def evaluate_together(self, double f, double y, double q=1.0, int64_t t=1,
                          double importance=1.0, double weight=1.0):
        """Coefficient, contraction and loss of one update, as the loop asks for them."""
        cdef double coefficient = 0, contraction = 0, loss
        self.check_loss()
        loss = solved(self, solves_hinge(self), f, y, q, 0, t, importance, weight, &coefficient,
                      &contraction)
        self.check_defined()
        return coefficient, contraction, loss


cdef class Perceptron(Rule):
    """y where y f <= 0 (Rosenblatt 1958; with kernels Freund and Schapire 1999)."""

    def __init__(self):
        self.loss = PerceptronLoss()
        self.uses_length = type(self) is not Perceptron

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * self.loss.slope(f, y)


cdef class Gradient(Rule):
    """f <- (1 - eta_t reg) f - eta_t dl/df kappa(x_t, .) (Kivinen et al. 2004, eq. 8).

    Parameters
    ----------
    loss : Loss
    schedule : Schedule
    regularisation : float >= 0
        The factor 1 - eta_t reg is at least 0: a negative one would change the sign of what was
        learnt.
    """

    cdef Schedule schedule
    cdef double regularisation

    def __init__(self, Loss loss not None, Schedule schedule not None, double regularisation=0.0):
        self.loss = loss
        self.schedule = schedule
        self.regularisation = regularisation
        self.continues = type(self) is Gradient or type(self) is Pegasos
        self.uses_length = not self.continues
        self.arguments = (loss, schedule, regularisation)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        cdef double slope = self.loss.slope(f, y)
        return slope if slope == 0 else importance * self.schedule.at(t) * slope

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        coefficient[0] = slope if slope == 0 else importance * self.schedule.at(t) * slope

    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil:
        return travelled(self.loss, f, y, q, more * self.schedule.at(t), coefficient)

    cdef double shrink(self, int64_t t) noexcept nogil:
        if self.regularisation == 0:
            return 1
        return max(0.0, 1 - self.schedule.at(t) * self.regularisation)


cdef class Pegasos(Gradient):
    """Gradient descent with eta_t = 1 / (lambda t): shrink 1 - 1/t (Shalev-Shwartz et al. 2011).

    The shrink is computed as (t - 1) / t, not as 1 - eta_t lambda: it is exactly 0 at t = 1, and
    the product of the first t of them is 1/t but for rounding.
    """

    cdef double shrink(self, int64_t t) noexcept nogil:
        return (t - 1.0) / t


cdef class BatchPegasos(Rule):
    """Pegasos in batches: -dl/df / (lambda b n) each, shrink 1 - 1/b once (figure 2 there).

    b counts the batches of n samples; a batch shrinks with its first sample. For spaces that apply
    the updates of a batch together.

    Parameters
    ----------
    loss : Loss
    regularisation : float > 0
    batch_size : int >= 1
    """

    cdef double regularisation
    cdef int64_t batch_size

    def __init__(self, Loss loss not None, double regularisation, int64_t batch_size=1):
        self.loss = loss
        self.regularisation = regularisation
        self.batch_size = integer_within("batch_size", batch_size, 1, MOST_ROWS)
        self.continues = type(self) is BatchPegasos
        self.uses_length = not self.continues
        self.arguments = (loss, regularisation, batch_size)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return self.coefficient_of(importance * self.loss.slope(f, y), t)

    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil:
        return travelled(self.loss, f, y, q, self.coefficient_of(more, t), coefficient)

    cdef double coefficient_of(self, double slope, int64_t t) noexcept nogil:
        cdef int64_t seen = ((t - 1) // self.batch_size + 1) * self.batch_size
        return slope / (self.regularisation * seen)

    cdef double shrink(self, int64_t t) noexcept nogil:
        cdef int64_t before = (t - 1) // self.batch_size
        return 1 if (t - 1) % self.batch_size else before / (before + 1.0)


cdef class InverseTime(Rule):
    """Pegasos, -dl/df / (lambda t), for a model whose scale is exactly 1/t.

    The coefficient is in units of that scale: -dl/df / lambda. Samples of equal slope so have
    equal coefficients, whenever they come.

    Parameters
    ----------
    loss : Loss
    regularisation : float > 0
    max_step : float > 0, default=inf
        Bound on the absolute value of the coefficient, divided by t.
    """

    cdef double regularisation, max_step

    def __init__(self, Loss loss not None, double regularisation, double max_step=INFINITY):
        self.loss = loss
        self.regularisation = regularisation
        self.max_step = max_step
        self.continues = type(self) is InverseTime
        self.uses_length = not self.continues
        self.arguments = (loss, regularisation, max_step)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return self.bounded(importance * self.loss.slope(f, y) / self.regularisation, t)

    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil:
        # A coefficient moves the score of its sample by a t-th of the length.
        return self.bounded(
            travelled(self.loss, f, y, q / t, more / self.regularisation, coefficient), t)

    cdef double bounded(self, double step, int64_t t) noexcept nogil:
        cdef double most = self.max_step * t
        return max(-most, min(most, step))

    cdef double shrink(self, int64_t t) noexcept nogil:
        return (t - 1.0) / t


cdef class PassiveAggressive(Rule):
    """tau = l / q in the direction of the target (Crammer et al. 2006, eq. 5).

    For losses whose slope is -1, 0 or +1 (hinge, epsilon-insensitive). A sample of length q <= 0
    (an empty row under the linear kernel) cannot change its own score and is skipped. Of importance
    w, l is the loss with the margin sqrt(w) (section 6 there), or in regression epsilon / sqrt(w).

    Parameters
    ----------
    loss : Loss
    """

    def __init__(self, Loss loss not None):
        self.loss = loss
        self.arguments = (loss,)

    cdef bint needs_length(self, double f, double y, double importance) noexcept nogil:
        return self.loss.demand(f, y, importance) != 0

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return 0 if q <= 0 else self.loss.demand(f, y, importance) / q


cdef class PassiveAggressive1(PassiveAggressive):
    """tau = min(C, l / q) (PA-I, eq. 8 there).

    Parameters
    ----------
    loss : Loss
    C : float > 0
        Aggressiveness, multiplied by the importance of the sample.
    """

    cdef double C

    def __init__(self, Loss loss not None, double C=1.0):
        self.loss = loss
        self.C = C
        self.continues = type(self) in (ScaledPassiveAggressive1, ScaledPassiveAggressive2)
        self.arguments = (loss, C)

    cdef bint needs_length(self, double f, double y, double importance) noexcept nogil:
        return self.loss.slope(f, y) != 0

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        if q <= 0:
            return 0
        return self.loss.slope(f, y) * self.tau(self.loss.value(f, y), q, self.C * importance)

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        coefficient[0] = 0 if q <= 0 else slope * bounded_tau(loss, q, self.C * importance)

    cdef double tau(self, double loss, double q, double C) noexcept nogil:
        return bounded_tau(loss, q, C)


cdef class PassiveAggressive2(PassiveAggressive1):
    """tau = l / (q + 1 / (2 C)) (PA-II, eq. 9 there)."""

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        coefficient[0] = 0 if q <= 0 else slope * softened_tau(loss, q, self.C * importance)

    cdef double tau(self, double loss, double q, double C) noexcept nogil:
        return softened_tau(loss, q, C)


cdef class ScaledPassiveAggressive1(PassiveAggressive1):
    """PA-I whose importance multiplies the coefficient: importance min(C, l / q).

    Weights up to 1 are scikit-learn's. C = inf: plain PA.
    """

    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil:
        return travelled(self.loss, f, y, q, self.C * more, coefficient)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * PassiveAggressive1.coefficient(self, f, y, q, t, 1)

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        coefficient[0] = importance * (0 if q <= 0 else slope * bounded_tau(loss, q, self.C))


cdef class ScaledPassiveAggressive2(PassiveAggressive2):
    """PA-II whose importance multiplies the coefficient: importance l / (q + 1 / (2 C)).

    A sample of length 0 may change an intercept that is not part of the length. A weight above 1
    takes the step so often: each leaves the share 1 / (1 + 2 C q) of the loss.
    """

    cdef double further(self, double f, double y, double q, int64_t t, double more,
                        double coefficient) noexcept nogil:
        cdef double at = f + coefficient * q, left = self.loss.value(at, y) * self.loss.slope(at, y)
        if q <= 0:
            return coefficient + 2 * self.C * more * left
        return coefficient - left * (expm1(-more * log1p(2 * self.C * q)) / q)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance * self.loss.slope(f, y) * self.tau(self.loss.value(f, y), q, self.C)

    cdef void solve(self, double f, double y, double loss, double slope, double q, int64_t t,
                    double importance, double *coefficient, double *contraction) noexcept nogil:
        coefficient[0] = importance * slope * softened_tau(loss, q, self.C)


cdef class EverySample(Rule):
    """The weight of the sample, whatever its score: for models that are means of the samples.

    Parameters
    ----------
    loss : Loss
        Is counted only.
    """

    def __init__(self, Loss loss):
        self.loss = loss
        self.uses_length = type(self) is not EverySample
        self.arguments = (loss,)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        return importance


RULES = {
    "every_sample": EverySample,
    "perceptron": Perceptron,
    "gradient": Gradient,
    "pegasos": Pegasos,
    "batch_pegasos": BatchPegasos,
    "inverse_time": InverseTime,
    "pa": PassiveAggressive,
    "pa1": PassiveAggressive1,
    "pa2": PassiveAggressive2,
    "scaled_pa1": ScaledPassiveAggressive1,
    "scaled_pa2": ScaledPassiveAggressive2,
}
