"""Transformers to explicit features whose inner products equal or approximate a kernel."""

import copy
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from onlinekern.core import FEATURE_MAPS
from onlinekern.core.features.map import FeatureMap
from onlinekern.core.samples.rows import rows_at
from onlinekern.estimators.atomic import fit_method
from onlinekern.estimators.blas_threads import one_blas_thread
from onlinekern.estimators.features import DistanceKernel, Frequencies, fourier_map, frequencies_of
from onlinekern.estimators.kernel import as_csr, new_kernel
from onlinekern.estimators.kernel_width import check_representable, kernel_width
from onlinekern.estimators.median_width import COUNTS, is_matrix
from onlinekern.estimators.parameters import (
    Count,
    Finite,
    KernelName,
    KernelWidth,
    RandomState,
    estimator,
    warn_of_waiting,
)
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.estimators.savable import require
from onlinekern.estimators.scikit_learn import in_container
from onlinekern.estimators.types import Array, Floats, Samples, Targets
from onlinekern.estimators.validation import check_results
from onlinekern.preprocessing.transformer import CoreTransformer


@estimator
class FeatureTransformer(ClassNamePrefixFeaturesOutMixin, CoreTransformer):
    """Base of the transformers around a feature map of the core.

    In a stream, the first rows are stored. At the numbers of rows that `_counts` lists, the map is
    computed again from the stored rows with the same random numbers. After the last of these counts
    it stays the same. A subclass computes the map of validated samples in ``_new_map(X, draws)``,
    and in a stream in ``_stream_map(X, draws)``.
    """

    kernel: KernelName = "gaussian"
    gamma: KernelWidth = "median"
    random_state: RandomState = None

    _learnt_as = "_map"
    _kind = FeatureMap

    @fit_method
    def fit(self, X: Samples, y: Targets = None) -> Self:
        """Compute the map from these samples; later calls of `partial_fit` do not change it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float32 samples give float32 features, everything else becomes float64.
        y : None
            Not used.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X or a parameter is invalid, or parameters contradict each other.
        MemoryError
            If the map does not fit into the available memory.
        """
        X = self._validate(X, reset=True)
        warn_of_waiting(self, start=True)
        self.__dict__.pop("_first", None)
        self.gamma_ = kernel_width(self.gamma, X, self.kernel)
        self._map = self._new_map(X, check_random_state(self.random_state))
        return self

    def partial_fit(self, X: Samples, y: Targets = None) -> Self:
        """Compute the map from the first samples of a stream; later samples do not change it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        if self._is_settled():
            self._validate(X)
            warn_of_waiting(self)
        else:
            self._learn_first(X)
        return self

    @in_container
    def learn_transform(self, X: Samples, y: Targets = None) -> Array:
        """Learn each row of X as `partial_fit` does, then compute its features.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        if self._is_settled():
            warn_of_waiting(self)
            return self._features_of(self._validate(X))
        return self._learn_first(X, transform=True)

    def transform(self, X: Samples) -> Array:
        """Compute the features of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)

        Raises
        ------
        NotFittedError
            If the transformer has not been fitted.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        check_is_fitted(self)
        return self._features_of(self._validate(X))

    @fit_method
    def _learn_first(self, X: Any, transform: bool = False) -> Any:
        """Learn rows until the map is final. If `transform`, return their features."""
        warn_of_waiting(self)
        if self.__sklearn_is_fitted__():
            X = self._validate(X)
            rows, draws, parameters = vars(self)["_first"]
        else:
            X = self._validate(X, reset=True)
            given = check_random_state(self.random_state)
            rows, draws, parameters = X[:0], copy.deepcopy(given), self.get_params(deep=False)
            given.random_sample()  # other users of a shared generator then get different numbers
        maker = self._with(parameters)
        known, counts = rows.shape[0], maker._counts()
        rows = one_after_another([rows, rows_at(X, np.arange(min(X.shape[0], counts[-1] - known)))])
        places = [count - 1 - known for count in counts if known < count <= rows.shape[0]]
        found = []
        for piece in np.split(np.arange(X.shape[0]), places):
            if len(piece) and piece[0] in places:
                first = rows_at(rows, np.arange(known + piece[0] + 1))
                maker.gamma_ = kernel_width(maker.gamma, first, maker.kernel)
                maker._map = maker._stream_map(first, copy.deepcopy(draws))
                made = {k: v for k, v in vars(maker).items() if k not in parameters}
                self.__dict__.update(made)
            if len(piece) and transform:
                found.append(self._features_of(rows_at(X, piece)))
        self._first = rows, draws, parameters
        if rows.shape[0] == counts[-1]:
            del self._first
        return np.concatenate(found) if transform else self

    def _with(self, parameters: dict[str, Any]) -> Self:
        """Return a copy with the parameters of the first call, before changes since then."""
        twin = object.__new__(type(self))
        twin.__dict__.update({**vars(self), **parameters})
        return twin

    def _is_settled(self) -> bool:
        """Return whether further samples of the stream leave the map unchanged."""
        return self.__sklearn_is_fitted__() and "_first" not in vars(self)

    def _features_of(self, X: Any) -> Array:
        features = self._map.transform(X)
        check_results(features, "feature vector")
        return features

    @property
    def _n_features_out(self) -> Any:
        return self._map.n_features

    @property
    def _dtype(self) -> Any:
        return np.float32 if self._map.itemsize == 4 else np.float64

    def _check_loaded(self) -> None:
        super()._check_loaded()
        own = vars(self)
        if "_first" not in own:
            return
        first = own["_first"]
        known: Any = own.get("_map")
        require(type(first) is tuple and len(first) == 3, "its first rows are none")
        rows, draws, parameters = first
        names = set(self._get_param_names())
        known_names = type(parameters) is dict and parameters.keys() == names
        require(known_names, "the parameters of its first rows are none")
        begun = self._with(parameters)
        begun._validate_params()
        require(isinstance(draws, np.random.RandomState), "its draws are none")
        require(is_matrix(rows) and known is not None, "it has no map")
        fits = rows.shape[1] == known.d and rows.dtype.itemsize == known.itemsize
        require(fits and rows.dtype.kind == "f", "its first rows are others")
        require(0 < rows.shape[0] < begun._counts()[-1], "its map is settled")


@estimator
class FourierFeatures(FeatureTransformer):
    """Random Fourier features, whose inner products approximate a kernel.

    ``z(x) = [cos(omega_j . x), sin(omega_j . x)] / sqrt(n_components)`` with frequencies drawn from
    the spectral measure of the kernel. The expectation of ``z(x) . z(s)`` is ``kappa(x, s)``; its
    standard deviation is at most ``1 / sqrt(2 n_components)`` [1]_. `FOGDClassifier` and
    `DualSGDClassifier` use the same features.

    Parameters
    ----------
    n_components : int >= 1, default=200
        Number of frequencies; each gives a cosine and a sine.
    frequencies : {'auto', 'plain', 'orthogonal', 'structured', 'hashed'}, default='auto'
        How the frequencies are drawn. 'plain' draws all independently. 'orthogonal' makes the
        directions of each n_features frequencies orthogonal: the mean is the same and the deviation
        smaller, much smaller where ``gamma ||x - s||^2`` is small [2]_. It needs the Gaussian
        kernel. 'structured' multiplies by Hadamard matrices and random signs instead of a matrix
        (section 4 of [2]_), in O(n_components log n_features): for dense samples of some 100
        features or more, and the Gaussian kernel. 'hashed' finds each frequency in a table of 4,096
        x 64 random numbers by a hash of its column: for sparse samples of any number of features,
        in memory that does not depend on it. 'auto' is 'plain', and 'hashed' for more than 2^14
        features where the matrix would have more than 2^25 numbers.
    kernel : {'gaussian', 'laplacian'}, default='gaussian'
        The kernel: ``exp(-gamma ||x - z||^2)``, also called 'rbf', or ``exp(-gamma ||x - z||_1)``.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of the kernel. 'median' is 2 over the median of ``||x - z||^2`` (Laplacian:
        ``||x - z||_1``) over all pairs of 200 rows of X at equal intervals, 'scale' is
        ``1 / (n_features * X.var())``, 'auto' ``1 / n_features``.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_components, n_features)
        The frequencies, in the dtype of the samples. For hashed and structured frequencies, the
        full array is computed; MemoryError if it does not fit into memory.
    gamma_ : float
        The kernel width in use.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    The cosines come first. float32 samples give float32 features. If the product of a sample and a
    frequency is larger than 2^13 (2^26 for float64), its cosine has too few correct digits. Scale
    the features to avoid this.

    In a stream (`partial_fit`, `learn_transform`), the widths 'median' and 'scale' are estimated
    from the first 200 samples: after 1, 2, 5, 10, 20, 50, 100 and 200 of them. The frequencies are
    rescaled each time, with the same random numbers. The learner after this transformer is not
    reset, so it has learnt its first samples with other features. The features do not depend on how
    the stream is divided into calls.

    References
    ----------
    .. [1] A. Rahimi, B. Recht (2007). Random features for large-scale kernel machines. Advances in
       Neural Information Processing Systems 20.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar (2016). Orthogonal
       random features. Advances in Neural Information Processing Systems 29, 1975-1983.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import FourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(5, 3))
    >>> z = FourierFeatures(n_components=5000, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(z[0] @ z[1] - np.exp(-0.5 * ((X[0] - X[1]) ** 2).sum())) < 0.05)
    True
    """

    n_components: Count = 200
    frequencies: Frequencies = "auto"
    kernel: DistanceKernel = "gaussian"

    def _new_map(self, X: Any, draws: np.random.RandomState) -> Any:
        return fourier_map(self, self.gamma_, X, draws)

    _stream_map = _new_map

    def _counts(self) -> tuple[int, ...]:
        measured = isinstance(self.gamma, str) and self.gamma != "auto"
        return (1, *COUNTS) if measured else (1,)

    @property
    def frequencies_(self) -> Floats:
        """Frequencies, ndarray of shape (n_components, n_features)."""
        return frequencies_of(self._map)


@estimator
class NystroemFeatures(FeatureTransformer):
    """Nystroem features, in which the kernel is exact among some landmarks.

    Let ``K = V D V'`` be the kernel matrix of the landmarks, and k(x) their kernel values with x.
    Then ``z(x) = D_k^{-1/2} V_k' k(x)``, where D_k has the k largest eigenvalues [1]_.
    `NOGDClassifier` uses the same features and chooses its own landmarks.

    Parameters
    ----------
    n_components : int >= 1, default=100
        Largest number k of features. There are at most as many features as landmarks. Eigenvalues
        below 1e-10 of the largest one are rounding errors and give no feature.
    n_landmarks : int >= 1 or None, default=None
        Number of landmarks; None is `n_components`. If there are fewer samples, all are landmarks.
    selection : {'random', 'first'}, default='random'
        The landmarks are a random subset of the samples given to `fit`, or the first of them. In a
        stream they are the first ones.
    kernel : {'gaussian', 'exponential', 'laplacian', 'polynomial', 'linear', 'sigmoid', \
'cosine'}, default='gaussian'
        The kernel; 'rbf' and 'poly' are other names of 'gaussian' and 'polynomial'. 'exponential'
        is ``exp(-sqrt(gamma) ||x - z||)``, the Laplace kernel of the Euclidean distance.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of the kernel. 'median' is 2 over the median of ``||x - z||^2`` (Laplacian:
        ``||x - z||_1``) over all pairs of 200 rows of X at equal intervals, 'scale' is
        ``1 / (n_features * X.var())``, 'auto' ``1 / n_features``.
    degree : int >= 1, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    random_state : int, RandomState instance or None, default=None
        Seed of the selection.

    Attributes
    ----------
    landmarks_ : ndarray or CSR matrix of shape (n_landmarks, n_features)
        The samples chosen, as `fit` was given them.
    landmark_indices_ : ndarray of shape (n_landmarks,), int64
        Indices of the landmarks in the samples of `fit`.
    projection_ : ndarray of shape (n_features_out, n_landmarks)
        The matrix ``D_k^{-1/2} V_k'``, in the dtype of the samples.
    gamma_ : float
        The kernel width in use.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    In a stream (`partial_fit`, `learn_transform`), the first `n_landmarks` samples are the
    landmarks. The map is computed again after 1, 2, 5, 10, 20, 50, 100, 200 and all of them.
    Features that do not exist yet are 0, and so are those of eigenvalues that are too small. The
    learner after this transformer is not reset when the map changes. The features do not depend on
    how the stream is divided into calls.

    References
    ----------
    .. [1] C. K. I. Williams, M. Seeger (2001). Using the Nyström method to speed up kernel
       machines. Advances in Neural Information Processing Systems 13, 682-688.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import NystroemFeatures
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> z = NystroemFeatures(n_components=20, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(z[0] @ z[1] - np.exp(-0.5 * ((X[0] - X[1]) ** 2).sum())) < 1e-6)
    True
    """

    n_components: Count = 100
    n_landmarks: Count | None = None
    selection: Literal["random", "first"] = "random"
    degree: Count = 3
    coef0: Finite = 0.0

    @one_blas_thread
    def _new_map(self, X: Any, draws: np.random.RandomState) -> Any:
        count = min(self._most_landmarks, X.shape[0])
        chosen = np.arange(count)
        if self.selection == "random":
            chosen = np.sort(draws.permutation(X.shape[0])[:count])
        self.landmark_indices_ = chosen
        self.landmarks_ = X[chosen]
        check_representable(self.gamma_, X, self.kernel)
        kernel = new_kernel(self.kernel, self.gamma_, self.degree, self.coef0)
        new_map = FEATURE_MAPS["nystroem"].of_rows
        return new_map(kernel, self.landmarks_, self.n_components)

    def _stream_map(self, X: Any, draws: np.random.RandomState) -> Any:
        """Return the map of all rows, padded to the final number of features."""
        own = self._new_map(X, draws)
        missing = min(self.n_components, self._most_landmarks) - own.n_features
        projection = np.pad(own.projection(), ((0, missing), (0, 0)))
        return FEATURE_MAPS["nystroem"](own.landmarks, projection)

    @property
    def _most_landmarks(self) -> int:
        return self.n_landmarks or self.n_components

    def _counts(self) -> tuple[int, ...]:
        most = self._most_landmarks
        return (*(count for count in (1, *COUNTS) if count < most), most)

    def _validate(self, X: Any, reset: bool = False) -> Any:
        rows = super()._validate(X, reset)
        return rows if reset else as_csr(rows, self._map.landmarks.stored_sparse)

    @property
    def projection_(self) -> Floats:
        """Matrix D_k^{-1/2} V_k', ndarray of shape (n_features_out, n_landmarks)."""
        return self._map.projection()
