"""onlinekern's learners as models of river (``pip install 'onlinekern[river]'``).

river's models take samples one by one, as dictionaries whose features come and go. `Learner` makes
such a model of a learner with `partial_fit`, `learn_one` and `score_one`: of every stream learner
of this library, and of a `StreamPipeline`. The model is part of river's pipelines, evaluations,
ensembles and drift detectors. docs/river.md shows them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor

from onlinekern.estimators.validation import one_row

try:
    from river import base
    from river.utils.dataframe import into_frame, to_native_frame, to_native_series
except ImportError as error:
    raise ImportError(
        "onlinekern.compat.river needs river: pip install 'onlinekern[river]'"
    ) from error

from onlinekern.compat._classes import ClassesAsTheyCome
from onlinekern.compat._drift import RiverDriftDetector
from onlinekern.compat._on_dictionaries import Features, OnDictionaries, names_features

__all__ = ["Learner", "RiverClassifier", "RiverDetector", "RiverDriftDetector", "RiverRegressor"]


class RiverClassifier(ClassesAsTheyCome, base.MiniBatchClassifier):
    """A classifier of onlinekern as a classifier of river.

    Parameters
    ----------
    estimator : estimator
        A classifier, or a `StreamPipeline` that ends in one. It is cloned, not changed.
    max_features : int or None, default=None
        As in `Learner`.
    sparse : bool, default=False
        As in `Learner`.
    classes : list of labels or None, default=None
        As in `Learner`.

    Attributes
    ----------
    estimator_ : estimator
        The clone, which learns.
    feature_names : list
        Names of the features that have a column, in the order of the columns.

    Notes
    -----
    All labels must be text, or all must be numbers (or bool). A label that is not in `classes`
    becomes a class when it comes. While there is only one class, it is predicted, and the last
    1,000 samples are kept. They are learnt together with the first sample of the second class.
    `SDROGDClassifier` cannot add a third class.

    Examples
    --------
    >>> from onlinekern import PAClassifier
    >>> from onlinekern.compat.river import RiverClassifier
    >>> model = RiverClassifier(PAClassifier())
    >>> model.predict_one({"length": 1.0, "width": 0.5})
    >>> for k in range(20):
    ...     model.learn_one({"length": k % 3, "width": 1.0}, "long" if k % 3 > 1 else "short")
    >>> model.predict_one({"length": 2.0, "width": 1.0})
    'long'
    """

    _is_kind = staticmethod(is_classifier)
    _kind = "classifier"
    _example = "PAClassifier"

    @names_features
    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn one sample.

        Parameters
        ----------
        x : dict
            Feature name -> finite number.
        y : label
        w : float >= 0, default=1.0
            Weight of the sample.

        Raises
        ------
        ValueError
            If a feature is no finite number, the weight is negative, or the label is of another
            kind than those before. Nothing is learnt then.
        """
        self._teach_one(x, y, w)

    @names_features
    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """Predict the label of a sample; None before the first one is learnt.

        Parameters
        ----------
        x : dict
        **kwargs : dict
            Ignored.

        Returns
        -------
        label or None
        """
        if len(self._labels) < 2:
            return self._labels[0] if self._labels else None
        score = self.estimator_.score_one(self._vocabulary.row(x))
        return self._labels[score > 0 if isinstance(score, float) else int(score.argmax())]

    @names_features
    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Predict the probabilities of the labels so far; none before the first sample is learnt.

        Parameters
        ----------
        x : dict
        **kwargs : dict
            Ignored.

        Returns
        -------
        dict of label to float
        """
        if len(self._labels) < 2:
            return dict.fromkeys(self._labels, 1.0)
        values = self.estimator_.predict_proba(one_row(self._vocabulary.row(x)))[0]
        return dict(zip(self._labels, values.tolist(), strict=True))

    @names_features
    def predict_many(self, X: Any) -> Any:
        """Predict the labels of the rows of a data frame.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)

        Returns
        -------
        series of shape (n_samples,)
            Of the library of X, with its index.
        """
        frame = into_frame(X)
        if len(self._labels) < 2:
            labels = [self.predict_one({})] * len(frame)
        else:
            labels = self.estimator_.predict(self._rows(frame)).tolist()
        return to_native_series(labels, name=None, like=frame)

    @names_features
    def predict_proba_many(self, X: Any) -> Any:
        """Predict the probabilities of the labels so far, for the rows of a data frame.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)

        Returns
        -------
        data frame of shape (n_samples, n_classes)
            Of the library of X, with its index; a column for each label.
        """
        frame = into_frame(X)
        if len(self._labels) < 2:
            values = np.ones((len(frame), len(self._labels)))
        else:
            values = self.estimator_.predict_proba(self._rows(frame))
        return to_native_frame(dict(zip(self._labels, values.T, strict=True)), like=frame)

    @property
    def _multiclass(self) -> bool:
        return True


class RiverRegressor(OnDictionaries, base.MiniBatchRegressor):
    """A regressor of onlinekern as a regressor of river.

    Parameters
    ----------
    estimator : estimator
        A regressor, or a `StreamPipeline` that ends in one. It is cloned, not changed.
    max_features : int or None, default=None
        As in `Learner`.
    sparse : bool, default=False
        As in `Learner`.

    Attributes
    ----------
    estimator_ : estimator
        The clone, which learns.
    feature_names : list
        Names of the features that have a column, in the order of the columns.

    Examples
    --------
    >>> from onlinekern import AROWRegressor
    >>> from onlinekern.compat.river import RiverRegressor
    >>> model = RiverRegressor(AROWRegressor())
    >>> model.predict_one({"size": 1.0})
    0.0
    >>> for k in range(200):
    ...     model.learn_one({"size": k % 7}, 2.0 * (k % 7))
    >>> round(model.predict_one({"size": 3.0}))
    6
    """

    _is_kind = staticmethod(is_regressor)
    _kind = "regressor"
    _example = "PARegressor"

    @names_features
    def learn_one(self, x: Features, y: float, w: float = 1.0) -> None:
        """Learn one sample.

        Parameters
        ----------
        x : dict
            Feature name -> finite number.
        y : float
        w : float >= 0, default=1.0
            Weight of the sample.

        Raises
        ------
        ValueError
            If a feature or the target is no finite number, or the weight is negative. Nothing is
            learnt then.
        """
        self._teach_one(x, y, w)

    @names_features
    def predict_one(self, x: Features) -> float:
        """Predict the target of a sample; 0.0 before the first one is learnt.

        Parameters
        ----------
        x : dict

        Returns
        -------
        float
        """
        if self._vocabulary.width == 0:
            return 0.0
        return float(self.estimator_.score_one(self._vocabulary.row(x)))

    @names_features
    def predict_many(self, X: Any) -> Any:
        """Predict the targets of the rows of a data frame.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)

        Returns
        -------
        series of shape (n_samples,)
            Of the library of X, with its index.
        """
        frame = into_frame(X)
        if self._vocabulary.width == 0:
            values = np.zeros(len(frame))
        else:
            values = self.estimator_.predict(self._rows(frame))
        return to_native_series(values, name=None, like=frame)


class RiverDetector(OnDictionaries, base.AnomalyDetector):
    """An outlier detector of onlinekern as an anomaly detector of river.

    Parameters
    ----------
    estimator : estimator
        A detector, or a `StreamPipeline` that ends in one. It is cloned, not changed.
    max_features : int or None, default=None
        As in `Learner`.
    sparse : bool, default=False
        As in `Learner`.

    Attributes
    ----------
    estimator_ : estimator
        The clone, which learns.
    feature_names : list
        Names of the features that have a column, in the order of the columns.

    Examples
    --------
    >>> from onlinekern import KernelMeanDetector
    >>> from onlinekern.compat.river import RiverDetector
    >>> model = RiverDetector(KernelMeanDetector(gamma=1.0, random_state=0))
    >>> for k in range(100):
    ...     model.learn_one({"level": k % 5 / 10})
    >>> model.score_one({"level": 3.0}) > 0 > model.score_one({"level": 0.2})
    True
    """

    _is_kind = staticmethod(is_outlier_detector)
    _kind = "outlier detector"
    _example = "KernelMeanDetector"

    @names_features
    def learn_one(self, x: Features, w: float = 1.0) -> None:
        """Learn one sample.

        Parameters
        ----------
        x : dict
            Feature name -> finite number.
        w : float >= 0, default=1.0
            Weight of the sample.

        Raises
        ------
        ValueError
            If a feature is no finite number, or the weight is negative. Nothing is learnt then.
        """
        self._teach_one(x, None, w)

    @names_features
    def score_one(self, x: Features) -> float:
        """Return how much of an outlier a sample is: ``-decision_function``, > 0 for outliers.

        Parameters
        ----------
        x : dict

        Returns
        -------
        float
            0.0 before the first sample is learnt.
        """
        if self._vocabulary.width == 0:
            return 0.0
        return -float(self.estimator_.score_one(self._vocabulary.row(x)))


def Learner(
    estimator: Any, max_features: int | None = None, sparse: bool = False, classes: Any = None
) -> RiverClassifier | RiverRegressor | RiverDetector:
    """Make a model of river that learns with a clone of an estimator of this library.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor or outlier detector with `partial_fit`, `learn_one` and
        `score_one`, or a `StreamPipeline` that ends in one. It is cloned, not changed.
    max_features : int or None, default=None
        Number of columns of the rows that the estimator gets. A kernel model cannot get new columns
        during a stream, so all columns exist from the start, and are 0 until their feature comes.
        None: only the features of the first sample have columns.
    sparse : bool, default=False
        Whether the rows are CSR matrices. Use it for thousands of columns of which each sample has
        few, such as words of texts. Each sample takes two microseconds more.
    classes : list of labels or None, default=None
        Labels that are known in advance. The first sample is then learnt at once, and probabilities
        include all of these labels. Other labels become classes when they come. None: no labels
        are known.

    Returns
    -------
    RiverClassifier, RiverRegressor or RiverDetector
        By the kind of the estimator.

    Raises
    ------
    TypeError
        If the estimator is of no such kind, or lacks a method.
    ValueError
        If max_features is less than 1, or classes are given for a learner without classes, or are
        fewer than two.

    Notes
    -----
    Features are numbers or bool. If a sample lacks a feature, its value is 0. A feature that comes
    when all columns are taken is ignored, because an unattended stream should not stop for a new
    feature. The first feature ignored in learning gives a warning that names it.

    If `random_state` of the estimator is None, its seed is drawn when the model is made. So copies
    of a model learn the same, but clones do not.

    Columns that are 0 change no product and no distance, but ``gamma="auto"`` and
    ``gamma="scale"``, the widths in `StreamClassifier` and the random Fourier features depend on
    the number of columns.

    Examples
    --------
    >>> from onlinekern import StreamClassifier
    >>> from onlinekern.compat.river import Learner
    >>> from river import datasets, evaluate, metrics
    >>> model = Learner(StreamClassifier(random_state=0))
    >>> metric = evaluate.progressive_val_score(
    ...     datasets.Phishing(), model, metrics.Accuracy()
    ... )
    >>> metric.get() > 0.88
    True
    """
    kinds = (RiverClassifier, RiverRegressor, RiverDetector)
    is_estimator = isinstance(estimator, BaseEstimator)
    found = [kind for kind in kinds if is_estimator and kind._is_kind(estimator)]
    if not found:
        raise TypeError(
            f"estimator must be a classifier, regressor or outlier detector, got {estimator!r}"
        )
    if is_classifier(estimator):
        return RiverClassifier(estimator, max_features, sparse, classes)
    if classes is not None:
        raise ValueError(f"classes are for classifiers, got a {found[0]._kind}")
    return found[0](estimator, max_features, sparse)
