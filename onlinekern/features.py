"""Random Fourier features: the frequencies, and a transformer."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from onlinekern._kernel import kernel_width
from onlinekern.core import KERNEL_ALIASES
from onlinekern.core.maps import RandomFourier


def draw_frequencies(kernel, gamma, shape, draws):
    """Frequencies of random Fourier features, from the spectral measure of a kernel.

    Parameters
    ----------
    kernel : {'gaussian', 'laplacian'}
    gamma : float > 0
    shape : (n_components, n_features)
    draws : numpy.random.RandomState

    Returns
    -------
    ndarray of shape (n_components, n_features)
        From N(0, 2 gamma) for exp(-gamma ||x - z||^2), from the Cauchy distribution of scale gamma
        for exp(-gamma ||x - z||_1) (Rahimi and Recht 2007, figure 1).
    """
    if kernel == "laplacian":
        return gamma * draws.standard_cauchy(shape)
    return np.sqrt(2 * gamma) * draws.standard_normal(shape)


@dataclass(kw_only=True, eq=False, repr=False)
class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features, whose inner products approximate a kernel.

    ``z(x) = [cos(omega_j . x), sin(omega_j . x)] / sqrt(n_components)`` with frequencies from the
    spectral measure of the kernel: the mean of ``z(x) . z(s)`` is ``kappa(x, s)``, with a standard
    deviation of at most ``1 / sqrt(2 n_components)`` [1]_. `DualSGDClassifier` has the same.

    Parameters
    ----------
    n_components : int >= 1, default=200
        Frequencies; each gives a cosine and a sine.
    kernel : {'gaussian', 'laplacian'}, default='gaussian'
        ``exp(-gamma ||x - z||^2)``, which is also called 'rbf', or ``exp(-gamma ||x - z||_1)``.
    gamma : {'scale', 'auto'} or float > 0, default='scale'
        Width of the kernel. 'scale' is ``1 / (n_features * X.var())``, 'auto' ``1 / n_features``.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_components, n_features)
    gamma_ : float
        The kernel width in use.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    float32 samples give float32 features. Products of samples and frequencies beyond 2^13 (2^26 for
    float64) are too large for their cosine to mean anything: scale the features.

    References
    ----------
    .. [1] A. Rahimi, B. Recht (2007). Random features for large-scale kernel machines. Advances in
       Neural Information Processing Systems 20.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import FourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(5, 3))
    >>> z = FourierFeatures(n_components=5000, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(z[0] @ z[1] - np.exp(-0.5 * ((X[0] - X[1]) ** 2).sum())) < 0.05)
    True
    """

    n_components: int = 200
    kernel: str = "gaussian"
    gamma: float | str = "scale"
    random_state: object = None

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"gaussian", "rbf", "laplacian"})],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Draw the frequencies; X tells the number of features, their dtype and 'scale'.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.gamma_ = kernel_width(self.gamma, X)
        kernel = KERNEL_ALIASES.get(self.kernel, self.kernel)
        draws = check_random_state(self.random_state)
        shape = (self.n_components, X.shape[1])
        self._map = RandomFourier(draw_frequencies(kernel, self.gamma_, shape, draws), X.dtype)
        return self

    def transform(self, X):
        """Features of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2 * n_components)
            The cosines first.
        """
        check_is_fitted(self)
        dtype = self.frequencies_.dtype
        X = validate_data(self, X, accept_sparse="csr", dtype=dtype, order="C", reset=False)
        return self._map.transform(X)

    @property
    def frequencies_(self):
        """Frequencies, ndarray of shape (n_components, n_features)."""
        return self._map.frequencies()

    @property
    def _n_features_out(self):
        return 2 * self._map.n_components

    def __sklearn_is_fitted__(self):
        return "_map" in self.__dict__

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
