"""One class by its mean in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import Interval

from onlinekern._fourier import FourierEstimator
from onlinekern._outliers import OnlineOutlierDetector
from onlinekern._typing import Floats
from onlinekern.core import FEATURE_MAPS, LOSSES, RULES
from onlinekern.core.models.kernel_mean import MeanSpace

if TYPE_CHECKING:
    from onlinekern.core.stream import Model


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMeanDetector(OnlineOutlierDetector, FourierEstimator):
    """The mean of one class in the features of a kernel (EXPoSE): a novelty and outlier detector.

    The score of a sample is its inner product with the mean of the samples so far,
    ``f(x) = z(x) . m_t`` with ``m_t = sum_s a_s z(x_s) / sum_s a_s``, ``a_s = forgetting^(t - s)``,
    and random Fourier features z. It approximates the mean kernel value of x and the samples, a
    density but for a factor [1]_. A sample is an outlier where it is below `offset_`. Time per
    sample and memory do not grow with the stream, and there is no step size.

    Parameters
    ----------
    {contamination}
    forgetting : float in (0, 1], default=1.0
        Weight of a sample relative to the next one. 1 is the mean of all samples; with 0.999 the
        last 1,000 samples have 63 % of the weight.
    n_components : int >= 1, default=200
        Random frequencies D; each gives a cosine and a sine. The error of a kernel value falls like
        ``1 / sqrt(D)``. 200 is what the figures of docs/accuracy.md were measured with.
    {frequencies}
    {fourier_kernel}
    {stream_parameters}

    Attributes
    ----------
    {offset}
    frequencies_ : ndarray of shape (n_components, n_features)
        Drawn before the first sample, from N(0, 2 gamma_ I) for the Gaussian kernel.
    mean_ : ndarray of shape (2 * n_components,)
        The mean m of the features, cosines first.
    gamma_ : float
        The kernel width in use.
    n_seen_ : int
        Samples learnt.
    cumulative_loss_ : float
        Sum of weight times ``max(0, 1 - f)``, each before its sample was learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Scale the features: the width of the kernel is the same in all of them. A `sample_weight`
    multiplies a_s: without forgetting, a sample of weight 2 is two samples. `SPAOneClass` keeps
    support vectors instead, which show what the class is made of, and takes any kernel.

    References
    ----------
    .. [1] M. Schneider, W. Ertel, F. Ramos (2016). Expected similarity estimation for large-scale
       batch and streaming anomaly detection. Machine Learning 105, 305-333.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelMeanDetector
    >>> X = np.random.default_rng(0).standard_normal((2000, 2))
    >>> model = KernelMeanDetector(gamma=0.5, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    forgetting: float = 1.0

    _constraints = {"forgetting": [Interval(Real, 0, 1, closed="right")]}

    def _rule(self) -> Any:
        return RULES["every_sample"](LOSSES["hinge"]())

    def _fourier_space(self, X: Any, n_outputs: int, frequencies: Any) -> Any:
        features = FEATURE_MAPS["random_fourier"](frequencies, X.dtype)
        return MeanSpace(features, forgetting=float(self.forgetting))

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        if self.forgetting != model.space.forgetting:
            self._validate_params()
            with model.writing():
                model.space.forgetting = self.forgetting

    @property
    def frequencies_(self) -> Floats:
        """Random frequencies, ndarray of shape (n_components, n_features)."""
        return self._read(lambda space: space.map.frequencies())

    @property
    def mean_(self) -> Floats:
        """The mean of the features, cosines first, ndarray of shape (2 n_components,)."""
        return self._read(lambda space: space.effective())[0]
