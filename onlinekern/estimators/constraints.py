"""Constraints that several parameters share, in the terms of scikit-learn."""

from numbers import Integral, Real

from onlinekern.estimators.scikit_learn import Interval, StrOptions

# The core counts with machine words, and multiplies counts with the bytes of a number.
COUNT = [Interval(Integral, 1, 2**48, closed="both")]
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
# False, or which average of the models predicts; True is "uniform".
AVERAGE = ["boolean", StrOptions({"uniform", "decay"}), Interval(Real, 0, 1, closed="neither")]
KERNEL_WIDTH = [StrOptions({"median", "scale", "auto"}), *POSITIVE]
