"""Local linear learners: LOL and I-LOL.

A class is its documentation, its parameters and the parts of the core that it is made of.
"""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from onlinekern.core import LOSSES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.local import LocalSpace
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.memory import Form, check_size
from onlinekern.estimators.parameters import Average, Count, Positive, Rows, estimator
from onlinekern.estimators.types import Array, Floats
from onlinekern.learners.passive_aggressive import Variant, passive_aggressive

# r="scale" is this factor times the mean squared length of the samples.
TRUST = 0.01
# n_assign=None lets so many prototypes share a sample.
N_ASSIGN = 8


def checked_prototypes(given: Any, n_features: int, dtype: Any) -> Floats:
    """Return prototypes as an array of their own; ValueError if they do not fit the samples."""
    try:
        rows: Floats = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError("prototypes must be numbers, an array of shape (k, n_features)") from error
    if rows.ndim != 2 or len(rows) == 0 or rows.shape[1] != n_features:
        raise ValueError(
            f"prototypes must have the shape (k, n_features) with n_features={n_features} and "
            f"k >= 1, got {rows.shape}"
        )
    with np.errstate(over="ignore"):
        lengths = np.square(rows.astype(dtype)).sum(axis=1)
    if not np.isfinite(lengths).all():
        place = int(np.argmin(np.isfinite(lengths)))
        raise ValueError(
            f"prototypes must have finite squared lengths in {np.dtype(dtype).name}, "
            f"got {rows[place]} in row {place}"
        )
    return rows


@estimator
class LOLClassifier(OnlineClassifier):
    """Local online learning (LOL), and with ``joint=False`` independent local learning (I-LOL).

    Sequential k-means divides the space among `n_prototypes` prototypes. Each prototype j has a
    hyperplane u_j, and all share a hyperplane w; the score of x is ``(w + u_j) . x`` with the
    nearest prototype j (eq. 12 of [1]_). This is one linear model of a longer sample, of squared
    length ``(1 + 1 / sharing) ||x||^2``. It learns by Passive-Aggressive steps: ``w += tau y x /
    sharing`` and ``u_j += tau y x`` (algorithm 1). The cost of a sample and the memory do not grow
    with the stream.

    By default samples are centred and shared by several prototypes, each weight has a variance, and
    an average of the hyperplanes predicts: fewer errors, at several times the cost of a sample
    (docs/defaults.md). The paper's setting is ``n_prototypes=60, n_assign=1, step="pa",
    center=False, fit_intercept=False, average=False``.

    Parameters
    ----------
    n_prototypes : int >= 1, default=100
        Number k of prototypes. The first k samples are the first prototypes.
    prototypes : array-like of shape (k, n_features) or None, default=None
        Prototypes that are known before the stream, say the centres of k-means on earlier samples.
        They do not move, and their number takes the place of `n_prototypes`.
    joint : bool, default=True
        Whether to learn a shared hyperplane (LOL). False is I-LOL, the limit of an infinite
        `sharing`.
    sharing : float > 0, default=1.0
        The paper's lambda: the larger, the less is learnt by the shared hyperplane. Results change
        little with it.
    step : {'arow', 'pa'}, default='arow'
        How hyperplanes move. 'pa' is the Passive-Aggressive step of `variant`. 'arow' gives each
        weight a variance (adaptive regularisation [2]_ with a diagonal covariance for each class),
        so that weights of frequent features move less.
    C : float > 0, default=1.0
        Aggressiveness of PA-I and PA-II, with ``step='pa'``. Not used by plain PA nor by 'arow'.
    variant : {'pa', 'pa1', 'pa2'}, default='pa1'
        Which step 'pa' takes. PA-I tolerates noisy labels, plain PA does not.
    r : 'scale' or float > 0, default='scale'
        Parameter of 'arow': the larger, the smaller the steps. 'scale' is 0.01 times the running
        mean of ``||x||^2`` (of ``||x - mean||^2`` if the samples are centred), so that the units of
        x do not matter.
    n_assign : int in [1, k] or None, default=None
        Number m of prototypes of a sample (None: 8, or all if there are fewer). Each sample is
        shared by its m nearest ones, with weights ``g_j = exp(-(d_j^2 - d_min^2) / s)`` scaled to
        unit length; d_j is the distance and s the running mean of the smallest squared distance
        that is not 0. The score is ``w . x + sum_j g_j u_j . x``.
    center : bool, default=True
        Subtract the running mean from the samples. Sparse samples are then converted to dense
        ones: use False for samples of many features.
    local_features : {'sample', 'offset'}, default='sample'
        Input of the prototypes' hyperplanes: the sample x (centred if `center`), or ``x - p_j``.
        'offset' also converts sparse samples to dense ones.
    fit_intercept : bool, default=True
        Append a constant 1 to the input of each hyperplane.
    average : bool, 'uniform', 'decay' or float in (0, 1), default='decay'
        Predict with an average of all hyperplanes so far; False predicts with the last ones. True
        is 'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
        ``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013, eta = 3); where the last
        hyperplanes alone are right, it catches up. A number a in (0, 1) forgets exponentially, for
        streams that change: the model before the last i samples has the weight ``a**i``, so that
        about the last ``1 / (1 - a)`` models count. The weights are divided by their sum.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    multi_class : {'ovr', 'margin'}, default='ovr'
        For more than two classes: 'ovr' solves one binary problem per class, 'margin' compares the
        true class with its strongest rival (Crammer and Singer 2001). All classes share one set of
        prototypes.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result, and hardly the speed: each sample
        moves a prototype, so distances cannot be computed ahead.
    n_jobs : int or None, default=None
        Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        Samples whose prediction, made before they were learnt, was wrong.
    cluster_centers_ : ndarray of shape (n_prototypes, n_features), float64
        The prototypes; without `prototypes`, fewer while fewer samples have been seen.
    cluster_counts_ : ndarray of shape (n_prototypes,), int64
        Number of samples of each prototype.
    coef_ : ndarray of shape (n_outputs, n_features), float64
        The shared hyperplanes of the model that predicts, 0 for I-LOL. n_outputs is 1 for two
        classes, else the number of classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Constants of the shared hyperplanes.
    local_coef_ : ndarray of shape (n_prototypes, n_outputs, n_features), float64
        The prototypes' hyperplanes of the model that predicts.
    local_intercept_ : ndarray of shape (n_prototypes, n_outputs), float64
        Constants of the prototypes' hyperplanes.
    mean_ : ndarray of shape (n_features,), float64
        The mean that `center` subtracts, 0 without it.
    cumulative_loss_ : float
        Sum of weight times hinge loss, each sample's before it was learnt.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    Equation 18 of [1]_ lacks the label, its algorithm 1 gives the step for ``sharing = 1`` only,
    and the count that moves a prototype includes the present sample. A sample is predicted before
    it changes anything. Each of the first k samples becomes a prototype, and is learnt with itself
    as nearest prototype. A sample that is all zero takes no step unless there is a constant.

    Given `prototypes` are there from the first sample, and are not changed; `cluster_counts_`
    begins at 0. `merge` keeps them, and averages the hyperplanes of models that have the same ones.

    The average of the hyperplanes runs over the models 1 ... T + 1 after T samples, including the
    last one; prototypes and mean are not averaged. A `sample_weight` multiplies C of PA-I and
    PA-II, and divides r; with plain PA, the margin that is demanded is its square root. Prototypes
    count samples, not weights.

    `n_assign`, `center`, `local_features` and the step 'arow' go beyond the paper. Memory is
    ``8 n_prototypes n_outputs n_features`` bytes for the weights, as much for the average, as much
    for the variances, and the same again to undo a call that fails.

    References
    ----------
    .. [1] Z. Zhou, W.-S. Zheng, J.-F. Hu, Y. Xu, J. You (2016). One-pass online learning: a local
       approach. Pattern Recognition.
    .. [2] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.

    Examples
    --------
    >>> from onlinekern import LOLClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = LOLClassifier(random_state=0).fit(X, y)
    >>> paper = LOLClassifier(n_prototypes=60, n_assign=1, step="pa", center=False,
    ...                       fit_intercept=False, average=False, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > paper.score(X, y) > 0.7)
    True
    >>> model.cluster_centers_.shape, model.local_coef_.shape
    ((100, 2), (100, 1, 2))
    """

    n_prototypes: Count = 100
    prototypes: Rows | None = None
    joint: bool = True
    sharing: Positive = 1.0
    step: Literal["pa", "arow"] = "arow"
    C: Positive = 1.0
    variant: Variant = "pa1"
    r: Literal["scale"] | Positive = "scale"
    n_assign: Count | None = None
    center: bool = True
    local_features: Literal["sample", "offset"] = "sample"
    fit_intercept: bool = True
    average: Average = "decay"

    _size = "n_prototypes"

    def _rule(self) -> Any:
        hinge = LOSSES["hinge"]()
        if self.step == "arow":
            return RULES["arow"](hinge, TRUST if self.r == "scale" else self.r)
        return passive_aggressive(self.variant, hinge, self.C)

    def _n_bytes(self, form: Form) -> int:
        # Prototypes and hyperplanes have copies, which undo a failed call.
        each = 2 * 8 * form.n_features * (1 + form.n_outputs)
        if self.prototypes is None:
            return each * self.n_prototypes
        n = len(checked_prototypes(self.prototypes, form.n_features, f"f{form.itemsize}"))
        check_size("len(prototypes)", n, each * n, form.n_features)
        return each * n

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        fixed, k = None, self.n_prototypes
        if self.prototypes is not None:
            fixed = checked_prototypes(self.prototypes, X.shape[1], X.dtype)
            k = len(fixed)
        n_assign = min(N_ASSIGN, k) if self.n_assign is None else self.n_assign
        if n_assign > k:
            number = f"n_prototypes={k}" if fixed is None else f"the number of prototypes, {k}"
            raise ValueError(f"n_assign must be at most {number}, got {n_assign}")
        arow = self.step == "arow"
        form, prototypes = (X.shape[1], X.dtype, n_outputs), (k, n_assign, self.sharing)
        shapes = bool(self.joint), bool(self.center), bool(self.fit_intercept)
        offsets, scales = self.local_features == "offset", arow and self.r == "scale"
        steps = self.average, arow, scales, sp.issparse(X), fixed is not None
        space = LocalSpace(*form, *prototypes, *shapes, offsets, *steps)
        if fixed is not None:
            space.prototypes.set_fixed(fixed)
        return space

    @property
    def cluster_centers_(self) -> Floats:
        """Prototypes, ndarray of shape (n_prototypes, n_features)."""
        return self._read(lambda space: space.prototypes.means())

    @property
    def cluster_counts_(self) -> Array:
        """Number of samples of each prototype, ndarray of shape (n_prototypes,)."""
        return self._read(lambda space: space.prototypes.counts())

    @property
    def coef_(self) -> Floats:
        """Shared hyperplanes, ndarray of shape (n_outputs, n_features)."""
        return self._read(lambda space: space.shared())[:, : self._fitted_model.d]

    @property
    def intercept_(self) -> Floats:
        """Constants of the shared hyperplanes, ndarray of shape (n_outputs,)."""
        weights = self._read(lambda space: space.shared())
        return weights[:, -1] if self._fitted_model.space.intercept else np.zeros(len(weights))

    @property
    def local_coef_(self) -> Floats:
        """Hyperplanes of the prototypes, ndarray of shape (n_prototypes, n_outputs, n_features)."""
        return self._read(lambda space: space.local())[:, :, : self._fitted_model.d]

    @property
    def local_intercept_(self) -> Floats:
        """Constants of the prototypes' hyperplanes, ndarray of shape (n_prototypes, n_outputs)."""
        weights = self._read(lambda space: space.local())
        present = self._fitted_model.space.intercept
        return weights[:, :, -1] if present else np.zeros(weights.shape[:2])

    @property
    def mean_(self) -> Floats:
        """Mean that is subtracted from the samples, ndarray of shape (n_features,)."""
        return self._read(lambda space: space.center_of_samples())
