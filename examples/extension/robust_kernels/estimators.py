"""Define an estimator: its documentation, its parameters, and the parts that it is made of."""

from numbers import Real
from typing import Annotated, Any

from sklearn.utils._param_validation import Interval, StrOptions

from onlinekern.extending import (
    KERNELS,
    RULES,
    SCHEDULES,
    Count,
    KernelEstimator,
    NotNegative,
    OnlineClassifier,
    Positive,
    estimator,
)
from robust_kernels.parts import Cauchy, MostAlikeEviction, Ramp


@estimator
class RobustClassifier(OnlineClassifier, KernelEstimator):
    """Gradient descent on the ramp loss, within a budget, under the Cauchy kernel.

    Parameters
    ----------
    eta : float > 0, default=0.5
        Size of a step.
    reg : float >= 0, default=0.0
        What a step shrinks the function by, in units of `eta`.
    floor : float < 1, default=-1.0
        Margin below which a sample is an outlier. The floor should be well below the scores of
        samples that were mistaken in good faith.
    kernel : {'cauchy', 'gaussian', 'laplacian', 'polynomial', 'linear', 'sigmoid', 'cosine'}, \
default='cauchy'
    {gamma}
    degree : int >= 1, default=3
    coef0 : float, default=0.0
    {budget}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Examples
    --------
    >>> from onlinekern.streams import gaussian_mixture
    >>> from robust_kernels import RobustClassifier
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> model = RobustClassifier(budget=50, random_state=0).fit(X, y)
    >>> model.n_support_
    50
    """

    # The types say which values are valid; the bases have those of their own parameters.
    eta: Positive = 0.5
    reg: NotNegative = 0.0
    floor: Annotated[float, Interval(Real, None, 1, closed="left")] = -1.0
    kernel: Annotated[str, StrOptions({"cauchy", *KERNELS})] = "cauchy"
    budget: Count = 500

    def _rule(self) -> Any:
        return RULES["gradient"](Ramp(self.floor), SCHEDULES["constant"](self.eta), self.reg)

    def _new_kernel(self) -> Any:
        # gamma_ is a number by now: of 'median', 'scale' or 'auto' too.
        return Cauchy(self.gamma_) if self.kernel == "cauchy" else super()._new_kernel()

    def _budget(self, rng: Any) -> Any:
        return MostAlikeEviction(self.budget)
