"""What several parameters may be, in scikit-learn's terms."""

from numbers import Real

from sklearn.utils._param_validation import Interval

POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
