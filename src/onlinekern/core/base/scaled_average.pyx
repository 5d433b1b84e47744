"""ScaledAverage: the scale of a model, and the average of the models of all steps.

The parameters of a model (coefficients of support vectors, or weights of features) are stored as a
vector v and a scale s: w = s v. Shrinking the model multiplies s, and leaves v as it is.

The average of the models w_1 ... w_t is kept without adding up vectors. Model u has the weight c_u.
Let S be the total of c_u s_u over these models. If v had never changed, their weighted sum would be
S v. A number a that is added to v_j counts for later models only, so S v_j is too large by S a,
with the S of that moment. This excess is added to the companion k_j. At every step

    c_1 w_1 + ... + c_t w_t = S v - k.

A score of the average costs one more product, that of k with the sample. A sample that does not
change v costs nothing more. The average that predicts includes the present model, w_{t + 1} = s v:

    ((S + c_{t + 1} s) v - k) / (c_1 + ... + c_{t + 1}).

The weights are functions of the number n of a model, from 1:

    uniform       c_n = 1
    polynomial    c_n = n (n + 1) (n + 2): the average moves by the share 4 / (n + 3) towards model
                  n (Shamir and Zhang 2013, eq. 10, eta = 3)
    exponential   c_n = a^-n, but for a common factor: model n - i has the share a^i of model n

The sum of the first n is n, n (n + 1) (n + 2) (n + 3) / 4, and a geometric sum. So the exponential
average is not biased towards w_1, as one that begins with it would be.

An average of t models follows a correction after a part of t samples, however long the last model
has been right. So the polynomial one catches up: where the last model has predicted what the
average has not, and did so on the last `lead` samples on which they differed, model n gets the
share 4 / (n + 3) times 1.5^lead, up to a half, and the models before it share the rest. With
C_n the sum of n weights and b this share: S and k are multiplied by (1 - b) / (1 - 4 / (n + 3)),
and c_n is b C_n for this once. Their sum stays C_n, and the next share is what it would have been.

Polynomial weights never overflow. Exponential ones would: they start from 1 again after `period`
models, when S and the companions are divided by what the weights have grown to. Rounding does not
accumulate: the weights grow as fast as S does.

`fold_scale` multiplies the scale into v, before s leaves the range in which v and k are accurate.
S then restarts at 0, and -k is the weighted sum of the models so far.
"""
from libc.math cimport expm1, log, log1p, pow

from numbers import Real

import numpy as np

from onlinekern.core.base.state cimport shown

# Weights restart from 1 when they reach this: far from overflow, also times a coefficient.
cdef double LARGEST_WEIGHT = 2.0 ** 256
# Largest growth of the weight from one model to the next. Earlier models are then below rounding.
cdef double LARGEST_GROWTH = 1e100
# With this factor the average follows a repeated correction after some 20 samples, whatever was
# learnt before. A factor of 2 needs two thirds of them, but makes up to 0.1 points more mistakes
# (docs/defaults.md).
cdef double CATCH_UP = 1.5


cdef object averaging_of(object averaging):
    """Check the kind of averaging; returns False, True (uniform), 'decay' or a float.

    Raises
    ------
    TypeError, ValueError
        If it is none of False, True, 'uniform', 'decay' and a number in (0, 1).
    """
    if isinstance(averaging, (bool, np.bool_)):
        return bool(averaging)
    if isinstance(averaging, str) and averaging in ("uniform", "decay"):
        return True if averaging == "uniform" else averaging
    if not isinstance(averaging, Real):
        raise TypeError("averaged must be True, False, 'uniform', 'decay' or a number in (0, 1), "
                        f"got {shown(averaging)}")
    if not 0 < averaging < 1:
        raise ValueError(f"averaged must be in (0, 1) if it is a number, got {averaging}")
    return float(averaging)


cdef int begin_average(ScaledAverage *average, object averaging) except -1:
    """Initialise before the first model; `averaging` is a result of `averaging_of`."""
    average.growth = 1
    average.period = 0
    if isinstance(averaging, str):
        average.growth = 0
    elif not isinstance(averaging, bool):
        average.growth = min(1 / <double> averaging, LARGEST_GROWTH)
        # A number next to 1 rounds to it.
        if average.growth > 1:
            average.period = max(1, <int64_t> (log(LARGEST_WEIGHT) / log_growth(average)))
    resume_average(average, 1, 0, 0)
    return 0


cdef double log_growth(const ScaledAverage *average) noexcept nogil:
    # growth - 1 is exact.
    return log1p(average.growth - 1)


cdef void resume_average(ScaledAverage *average, double scale, double total,
                         int64_t steps) noexcept nogil:
    """Set the state after `steps` models."""
    average.scale, average.total, average.steps = scale, total, steps
    weigh(average)


cdef void weigh(ScaledAverage *average) noexcept nogil:
    """Set the weight of the present model, and the sum of the weights."""
    cdef int64_t number = max(<int64_t> 1, n_averaged(average))
    cdef double n = <double> number
    if average.growth == 1:
        average.weight, average.weights = 1, n
    elif average.growth == 0:
        average.weight = n * (n + 1) * (n + 2)
        average.weights = average.weight * (n + 3) / 4
    else:
        average.weight = pow(average.growth, <double> ((number - 1) % average.period))
        average.weights = average.weight / share_of_last(average)


cdef void weigh_next(ScaledAverage *average) noexcept nogil:
    """`weigh` after a model was counted; restarts the weights at the end of a period."""
    weigh(average)
    if average.period > 0 and (n_averaged(average) - 1) % average.period == 0:
        average.total *= pow(average.growth, -<double> average.period)


cdef double share_of_last(const ScaledAverage *average) noexcept nogil:
    """The share of the present model in the average: its weight over the sum of the weights."""
    cdef double n = <double> max(<int64_t> 1, n_averaged(average))
    if average.growth == 1:
        return 1 / n
    if average.growth == 0:
        return 4 / (n + 3)
    return (average.growth - 1) / (-average.growth * expm1(-n * log_growth(average)))


cdef double leading_share(const ScaledAverage *average, int64_t lead) noexcept nogil:
    """The share of a model that catches up."""
    return min(0.5, share_of_last(average) * pow(CATCH_UP, <double> lead))


cdef double rest_after(const ScaledAverage *average, int64_t lead) noexcept nogil:
    """Factor of the models before one that catches up."""
    return (1 - leading_share(average, lead)) / (1 - share_of_last(average))


cdef void catch_up(ScaledAverage *average, int64_t lead) noexcept nogil:
    """Give the present model, which is about to be counted, the share of its lead."""
    average.total *= rest_after(average, lead)
    average.weight = leading_share(average, lead) * average.weights


cdef void renew_companions(const ScaledAverage *average, int64_t lead, double *companions,
                           Py_ssize_t n) noexcept nogil:
    """Multiply n companions by what the models before the present one are multiplied by.

    Of weights that start anew that is 1 over what they have grown to.
    """
    cdef Py_ssize_t j
    cdef double factor = rest_after(average, lead) if average.period == 0 \
        else pow(average.growth, -<double> average.period)
    for j in range(n):
        companions[j] *= factor


cdef void fold_scale(ScaledAverage *average, double factor, double *values, double *companions,
                     Py_ssize_t n) noexcept nogil:
    """Multiply scale * factor into the n values. The sum of the models so far does not change.

    `companions` is NULL for a model without an average.
    """
    cdef Py_ssize_t j
    cdef double product = average.scale * factor
    if companions != NULL:
        for j in range(n):
            companions[j] -= values[j] * average.total
    for j in range(n):
        values[j] *= product
    average.total = 0
    average.scale = 1


cdef object averaged_array(const ScaledAverage *average, object values, object companions):
    """The parameters of the average model, from arrays of v and of k."""
    return ((average.total + average.weight * average.scale) * values - companions) \
        / average.weights
