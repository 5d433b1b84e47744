"""The transformer that standardises a stream by running means and deviations."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from onlinekern.core.linalg.running_moments import RunningMoments
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import Forgetting, Positive, estimator, warn_of_waiting
from onlinekern.estimators.scikit_learn import in_container
from onlinekern.estimators.types import Array, ArrayLike, Floats, Samples, Targets, Weights
from onlinekern.estimators.validation import (
    check_results,
    check_weights,
    learn_row,
    no_name_warnings,
    one_row,
    own_weight,
    validate_data,
)
from onlinekern.preprocessing.transformer import FLOATS, CoreTransformer


@estimator
class OnlineStandardScaler(OneToOneFeatureMixin, CoreTransformer):
    """Standardise features by their means and deviations so far: ``z = (x - mean) / scale``.

    Kernels and step sizes suit features with means near 0 and deviations near 1, but raw streams
    have any units. `learn_transform` scales each row by the statistics of this row and all rows
    before it. The result does not depend on the batches, bit for bit. With
    ``a_s = forgetting^(t - s) w_s``,

        mean = sum_s a_s x_s / sum_s a_s,    var = sum_s a_s (x_s - mean)^2 / sum_s a_s,

    are computed by the recursion of West [1]_, which stays accurate for features far from 0.
    Without forgetting they equal those of scikit-learn's StandardScaler.

    Parameters
    ----------
    with_mean : bool or None, default=None
        Whether to subtract means. None: yes for dense samples, no if the first samples are sparse.
        Without means, `scale_` is the root mean square about 0, so that zeros stay zeros and a
        sparse sample costs as much as it has stored elements.
    with_std : bool, default=True
        Whether to divide by `scale_`.
    clip : float > 0 or None, default=10.0
        Scaled values are clipped to -clip ... clip: one outlier, or a feature that wakes up after
        being constant, then cannot make a learner diverge. None does not clip. Only with
        `with_std`.
    forgetting : float in (0, 1], default=1.0
        Factor by which each new sample multiplies the weights of all earlier ones. 1 forgets
        nothing; 0.999 follows units that change over some thousand samples. A new value takes
        effect with the next sample.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,), float64
        The means; zeros if means are not subtracted.
    var_ : ndarray of shape (n_features,), float64
        Mean squared deviations from `mean_`.
    scale_ : ndarray of shape (n_features,), float64
        Square root of `var_`; 1 for features that are constant, to the rounding of their mean, and
        without `with_std`.
    n_samples_seen_ : int
        Number of rows learnt, without those of weight 0.
    n_features_in_ : int
        Features of a sample.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the first samples had names.

    Notes
    -----
    The first row becomes 0 (without means: the signs of its values), because deviations are not
    known yet. Without forgetting, a `sample_weight` of 2 counts as two samples. float32 samples
    give float32 and are summed in float64. The first call decides whether means are subtracted.
    scikit-learn's StandardScaler without means still divides by deviations from the mean. Its zeros
    stay zeros too, but a feature far from 0 is then still many deviations away from 0.

    References
    ----------
    .. [1] D. H. D. West (1979). Updating mean and variance estimates: an improved method.
       Communications of the ACM 22, 532-535.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import OnlineStandardScaler
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [1e-6, 1, 1e6] + [0, 5, 1e7]
    >>> scaler = OnlineStandardScaler()
    >>> Z = np.vstack([scaler.learn_transform(X[:300]), scaler.learn_transform(X[300:])])
    >>> bool(np.all(abs(Z[500:].std(axis=0) - 1) < 0.1))
    True
    >>> bool(np.allclose(scaler.mean_, X.mean(axis=0)) and np.allclose(scaler.var_, X.var(axis=0)))
    True
    """

    with_mean: bool | None = None
    with_std: bool = True
    clip: Positive | None = 10.0
    forgetting: Forgetting = 1.0

    _learnt_as = "_moments"
    _acts = frozenset({"with_std", "clip", "forgetting"})
    _kind = RunningMoments

    @fit_method
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Learn the statistics of X from scratch.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; None is 1 for every sample.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X or sample_weight are invalid, or X is sparse and ``with_mean=True``.
        FloatingPointError
            If a sum of squares overflows.
        """
        self._learn(X, sample_weight, start=True)
        return self

    @fit_method
    def partial_fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Learn the rows of X, in their order.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self : object
        """
        self._learn(X, sample_weight)
        return self

    @fit_method
    @in_container
    def learn_transform(
        self, X: Samples, y: Targets = None, sample_weight: Weights = None
    ) -> Array:
        """Learn each row of X, then scale it by the statistics of it and all rows before.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)
        """
        return self._learn(X, sample_weight, transform=True)

    def transform(self, X: Samples) -> Array:
        """Scale samples by the statistics of all rows learnt.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)
            The scaled samples, float32 if X is; else float64.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        check_is_fitted(self)
        X = self._validate(X)
        values = np.empty_like(elements(X))
        self._moments.transform(X, values, **self._scaling())
        return scaled_like(X, values)

    def inverse_transform(self, X: Samples) -> Array:
        """Return samples in their own units: ``z * scale_ + mean_``. Clipping cannot be undone.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Scaled samples.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` features, or is sparse although means were subtracted.
        """
        check_is_fitted(self)
        with no_name_warnings():  # Scaled rows are arrays without names, even if names were learnt.
            X = self._validate(X)
        if sp.issparse(X):
            if self._moments.centred:
                raise ValueError("X is sparse, but means were subtracted: pass dense samples")
            return scaled_like(X, elements(X) * self.scale_[X.indices].astype(X.dtype, copy=False))
        return (X * self.scale_ + self.mean_).astype(X.dtype, copy=False)

    def learn_one(self, x: ArrayLike, y: Any = None, sample_weight: float = 1.0) -> Self:
        """Learn one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)
        y : ignored
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, or the weight is negative or not finite.
        """
        if not self.__sklearn_is_fitted__() or "_waiting_parameters" in vars(self):
            return learn_row(self, x, None, own_weight(sample_weight))
        self._moments.learn_one(x, self.forgetting, weight=sample_weight)
        return self

    def learn_transform_one(self, x: ArrayLike, y: Any = None, sample_weight: float = 1.0) -> Array:
        """Learn one sample, and scale it: `learn_transform` without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)
        y : ignored
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, or the weight is negative or not finite.
        """
        if sp.issparse(x):
            return self.learn_transform(x, None, own_weight(sample_weight))
        if not self.__sklearn_is_fitted__() or "_waiting_parameters" in vars(self):
            return np.ravel(self.learn_transform(one_row(x), None, own_weight(sample_weight)))
        out, scaling = self._room_for(x), self._scaling()
        self._moments.learn_one(x, self.forgetting, out=out, **scaling, weight=sample_weight)
        return out

    def transform_one(self, x: ArrayLike) -> Array:
        """Scale one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)

        Returns
        -------
        ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If x has not `n_features_in_` finite features.
        """
        if sp.issparse(x):
            return self.transform(x)
        check_is_fitted(self)
        out = self._room_for(x)
        self._moments.transform_one(x, out, **self._scaling())
        return out

    def _learn(
        self, X: Any, sample_weight: Any, start: bool = False, transform: bool = False
    ) -> Any:
        """Learn rows. If `transform`, return them scaled, else None."""
        whole = start
        start = start or not self.__sklearn_is_fitted__()
        warn_of_waiting(self, start)
        X = self._validate(X, reset=start)
        weight = check_weights(sample_weight, X, whole)
        if start:
            self._moments = self._new_moments(X)
        values = np.empty_like(elements(X)) if transform else None
        self._moments.learn(X, weight, float(self.forgetting), out=values, **self._scaling())
        return None if values is None else scaled_like(X, values)

    def _new_moments(self, X: Any) -> RunningMoments:
        if self.with_mean and sp.issparse(X):
            raise ValueError(
                "X is sparse, and to subtract means would leave no zeros: pass dense samples, or "
                "with_mean=False or None"
            )
        check_size("n_features", X.shape[1], 4 * 8 * X.shape[1])
        centred = not sp.issparse(X) if self.with_mean is None else bool(self.with_mean)
        return RunningMoments(X.shape[1], centred)

    def _scaling(self) -> dict[str, Any]:
        """Return the arguments that the core needs for scaling."""
        return {"limit": self.clip, "scaled": self.with_std}

    def _room_for(self, x: Any) -> Array:
        """Return an empty array for the scaled x."""
        narrow = getattr(x, "dtype", None) == np.float32
        return np.empty(self.n_features_in_, np.float32 if narrow else np.float64)

    def _validate(self, X: Any, reset: bool = False) -> Any:
        dtype = getattr(X, "dtype", None)
        plain = not reset and type(dtype) is np.dtype and dtype in FLOATS
        return validate_data(self, X, dtype=dtype if plain else FLOATS, reset=reset)

    @property
    def mean_(self) -> Floats:
        """Means, ndarray of shape (n_features,)."""
        return self._known.mean()

    @property
    def var_(self) -> Floats:
        """Mean squared deviations from `mean_`, ndarray of shape (n_features,)."""
        return self._known.variance()

    @property
    def scale_(self) -> Floats:
        """Divisors of the features, ndarray of shape (n_features,)."""
        mean, variance = self._known.mean(), self._known.variance()
        # As in the core. The squared mean may overflow and would then exceed every variance.
        with np.errstate(over="ignore"):
            varies = variance > 16 * np.finfo(float).eps ** 2 * mean * mean
        return np.sqrt(np.where(varies & self.with_std, variance, 1.0))

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows learnt."""
        return self._known.n

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags


def elements(X: Any) -> Array:
    """Return the stored elements of validated samples."""
    return X.data[: X.indptr[-1]] if sp.issparse(X) else X


def scaled_like(X: Any, values: Array) -> Any:
    """Return samples in the layout of X with other elements, all of which must be finite."""
    if not sp.issparse(X):
        check_results(values, "scaled value")
        return values
    count = X.indptr[-1]
    scaled = sp.csr_matrix((values, X.indices[:count].copy(), X.indptr.copy()), shape=X.shape)
    if not np.isfinite(values).all():
        row = int(np.searchsorted(X.indptr, np.argmin(np.isfinite(values)), side="right")) - 1
        raise FloatingPointError(f"the scaled value of row {row} is not finite")
    return scaled
