"""One class by its mean in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from onlinekern._explicit import ExplicitEstimator
from onlinekern._fourier import FREQUENCY_BYTES
from onlinekern._outliers import OnlineOutlierDetector
from onlinekern._typing import Floats
from onlinekern.core import LOSSES, RULES
from onlinekern.core.models.kernel_mean import MeanSpace

if TYPE_CHECKING:
    from onlinekern.core.stream import Model


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMeanDetector(OnlineOutlierDetector, ExplicitEstimator):
    """The mean of one class in the features of a kernel (EXPoSE): a novelty and outlier detector.

    The score of a sample is its inner product with the mean of the samples so far,
    ``f(x) = z(x) . m_t`` with ``m_t = sum_s a_s z(x_s) / sum_s a_s``, ``a_s = forgetting^(t - s)``,
    and features z of a kernel. It approximates the mean kernel value of x and the samples, a
    density but for a factor [1]_. A sample is an outlier where it is below `offset_`. Time per
    sample and memory do not grow with the stream, and there is no step size.

    Parameters
    ----------
    {contamination}
    forgetting : float in (0, 1], default=1.0
        Weight of a sample relative to the next one. 1 is the mean of all samples; with 0.999 the
        last 1,000 samples have 63 % of the weight.
    features : {'fourier', 'nystroem'}, default='fourier'
        Random Fourier features, or Nystroem features of landmarks: the first `n_components` samples
        that differ from each other, whose kernel values with any sample are exact.
    n_components : int >= 1, default=200
        Random frequencies D, each of which gives a cosine and a sine; the error of a kernel value
        falls like ``1 / sqrt(D)``. Or landmarks. 200 is what the figures of docs/accuracy.md were
        measured with.
    {frequencies}
    {kernel_parameters}
    {stream_parameters}

    Attributes
    ----------
    {offset}
    frequencies_ : ndarray of shape (n_components, n_features)
        With features='fourier': drawn before the first sample, from N(0, 2 gamma_ I) for the
        Gaussian kernel.
    landmarks_ : ndarray or CSR matrix of shape (n_landmarks, n_features)
        With features='nystroem': in the order of their arrival.
    mean_ : ndarray of shape (2 * n_components,) or (n_landmarks,)
        The mean m of the features, of Fourier features the cosines first.
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
    support vectors instead, which show what the class is made of.

    Fourier features need the Gaussian or the Laplacian kernel; Nystroem features take any kernel,
    and `frequencies` does not concern them. Each new landmark adds a feature, which the samples
    before it keep at 0. That is exact as long as all samples are landmarks. A sample whose squared
    distance to the span of the landmarks is below the square root of the machine epsilon does not
    become one: what it has in common with later landmarks beyond that span, at most the root of
    that distance, is lost.

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

    features: str = "fourier"
    n_components: int = 200
    frequencies: str = "plain"
    forgetting: float = 1.0
    # Of the learners with labels, whose landmarks they may choose and whose features they extend.
    selection: ClassVar[str] = "first"  # type: ignore[misc]
    novelty: ClassVar[float] = 0.05  # type: ignore[misc]
    linear: ClassVar[bool] = False  # type: ignore[misc]

    _constraints = {
        "forgetting": [Interval(Real, 0, 1, closed="right")],
        "frequencies": [StrOptions({"plain", "orthogonal"})],
        "selection": None,
        "novelty": None,
        "linear": None,
    }

    def _rule(self) -> Any:
        return RULES["every_sample"](LOSSES["hinge"]())

    def _frequencies(self, kernel: str) -> Any:
        return SimpleNamespace(
            kernel=kernel, n_components=self.n_components, frequencies=self.frequencies
        )

    def _n_bytes(self, n_features: int, n_outputs: int, itemsize: int, is_sparse: bool) -> int:
        if self.features == "fourier":
            return FREQUENCY_BYTES * n_features * self.n_components
        return super()._n_bytes(n_features, n_outputs, itemsize, is_sparse)

    def _explicit_space(self, X: Any, n_outputs: int, features: Any) -> Any:
        return MeanSpace(features, forgetting=float(self.forgetting))

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        if self.forgetting != model.space.forgetting:
            self._validate_params()
            with model.writing():
                model.space.forgetting = self.forgetting

    @property
    def mean_(self) -> Floats:
        """The mean of the features, ndarray of shape (2 n_components,) or (n_landmarks,)."""
        return self._read(lambda space: space.effective())[0]
