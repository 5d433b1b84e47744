"""Permutation importance along a stream: what the error rises by without a feature, now."""

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from onlinekern.estimators.atomic import all_or_nothing, fit_method
from onlinekern.estimators.parameters import RandomState, Share, positional_estimator
from onlinekern.estimators.row_blocks import rows_of
from onlinekern.estimators.savable import Savable
from onlinekern.estimators.scikit_learn import BaseEstimator, HasMethods, Interval
from onlinekern.estimators.types import Array, ArrayLike, Classes, Floats, Indices, Samples, Weights
from onlinekern.evaluate.delayed import has_encoder, passes_over
from onlinekern.evaluate.errors import losses_of
from onlinekern.evaluate.exchanging import Recent, cells_of, exchanged, names_in, pooled, rows_like
from onlinekern.learners.ahead import Lesson, edges_of, is_own, labels_known
from onlinekern.preprocessing.steps import BeforeCall, BeforeCalls, undone_on_failure


@dataclass(frozen=True)
class Questions:
    """The rows that an estimator is asked of: each sample, then the same with exchanged cells.

    Attributes
    ----------
    rows : array or table of n_rows
    own, columns : ndarray of shape (n_rows,)
        Of which sample a row is, and which of its columns was exchanged; -1 for none.
    """

    rows: Any
    own: Indices
    columns: Indices

    def of(self, first: int, last: int) -> slice:
        """Return which rows are of the samples first ... last - 1."""
        edges = np.searchsorted(self.own, [first, last])
        return slice(int(edges[0]), int(edges[1]))


@positional_estimator
class StreamImportance(Savable, MetaEstimatorMixin, BaseEstimator):
    """Permutation importance of the features along a stream, which forgets.

    How much does the error rise if a feature has a wrong value? Before a sample is learnt, it is
    predicted as it is. For some of its features in turn, it is predicted again with that feature's
    value from a recent sample. The importance of feature j is the mean rise of the loss over the
    samples in which it was exchanged, with weights that fade [1]_::

        I_j = sum_t fading^(T - t) w_t (loss(y_t, f_t(x_t with j exchanged)) - loss(y_t, f_t(x_t)))
              / sum_t fading^(T - t) w_t

    The loss is 0 or 1 in classification, and in regression the squared error, averaged over several
    targets. An importance near 0, or below, means that the model does as well without the feature.

    Parameters
    ----------
    estimator : estimator
        Any learner of this library, a pipeline, or a learner of another library with `predict`. It
        is not cloned. `partial_fit` teaches it; `update` only predicts with it.
    n_features : int or None, default=5
        Number of features that are exchanged in a sample, drawn at random for each; None: all. A
        sample costs ``1 + n_features`` more predictions.
    fading : float in (0, 1), default=0.999
        Weight of a sample relative to the next one: about the last 1 / (1 - fading) count.
    n_kept : int, default=100
        Number of recent samples from which values are drawn. A new one replaces a random one, so
        their age is `n_kept` on average.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The importances I_j of the columns of the samples or of the table; 0 for columns that have
        not been exchanged yet.
    standard_errors_ : ndarray of shape (n_features,)
        Standard errors of the importances, as if samples were independent. An importance below two
        or three of them may be chance.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have names.
    n_seen_ : int
        Samples explained.

    Notes
    -----
    Importances do not depend on how a stream is divided into calls, if predictions do not. A sample
    of weight 0 does not count.

    Values are drawn independently of the other features. So a row may be made that could never
    occur, and each of two redundant features has a small importance.

    A learner of this library predicts the exchanged rows in the call that learns the samples, as
    samples of weight 0. A learner that encodes tables, or is of another library, predicts and
    learns sample by sample; a call copies it first, to undo a failure. Tables with dates are
    pickled, but not saved.

    References
    ----------
    .. [1] F. Fumagalli, M. Muschalik, E. Hüllermeier, B. Hammer (2023). Incremental permutation
       feature importance (iPFI): towards online explanations on data streams. Machine Learning 112,
       4863-4903.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelRLSRegressor
    >>> from onlinekern.evaluate import StreamImportance
    >>> X = np.random.default_rng(0).normal(size=(6000, 3))
    >>> y = np.where(np.arange(6000) < 3000, np.sin(X[:, 0]), np.sin(X[:, 2]))
    >>> model = KernelRLSRegressor(forgetting=0.99, random_state=0)
    >>> explained = StreamImportance(model, fading=0.995, random_state=0)
    >>> explained.partial_fit(X[:3000], y[:3000]).feature_importances_.argmax()
    np.int64(0)
    >>> explained.partial_fit(X[3000:], y[3000:]).feature_importances_.argmax()
    np.int64(2)
    """

    estimator: Annotated[Any, HasMethods(["predict"])]
    n_features: Annotated[int, Interval(Integral, 1, None, closed="left")] | None = 5
    fading: Share = 0.999
    n_kept: Annotated[int, Interval(Integral, 1, None, closed="left")] = 100
    random_state: RandomState = None

    _learnt_as = "_sums"

    @all_or_nothing
    def update(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Explain samples by the current estimator, which does not learn them.

        Call it before the estimator learns them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples in the means; None is 1 for every sample.

        Returns
        -------
        self : object

        Raises
        ------
        NotFittedError
            If the estimator has learnt nothing.
        ValueError
            If X, y or sample_weight are invalid.
        """
        lesson = Lesson.of(X, np.asarray(y), sample_weight)
        asked = self._questions(lesson)
        self._count(lesson, asked, self.estimator.predict(asked.rows))
        return self

    @fit_method
    def partial_fit(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Self:
        """Explain each sample, then let the estimator learn it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        classes : array-like of shape (n_classes,), default=None
            For the estimator.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples in the means, and for the estimator; None is 1 for every
            sample.

        Returns
        -------
        self : object
        """
        self._explain_and_learn(X, y, classes, sample_weight)
        return self

    @fit_method
    def partial_fit_predict(
        self, X: Samples, y: ArrayLike, classes: Classes = None, sample_weight: Weights = None
    ) -> Array:
        """Predict and explain each sample, then let the estimator learn it.

        So it can replace the estimator in `prequential`.

        Parameters
        ----------
        X, y, classes, sample_weight
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            What the estimator predicted.
        """
        return self._explain_and_learn(X, y, classes, sample_weight)

    def predict(self, X: Samples) -> Array:
        """Predict samples, as the estimator does.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self.estimator.predict(X)

    @property
    def feature_importances_(self) -> Floats:
        """Mean rise of the loss for each feature."""
        self._check_begun()
        return self._sums[0] / np.where(self._sums[1] > 0, self._sums[1], 1.0)

    @property
    def standard_errors_(self) -> Floats:
        """Standard errors of the importances."""
        self._check_begun()
        _, weight, squares, weights = self._sums
        known = np.where(weight > 0, weight, 1.0)
        spread = np.maximum(squares / known - self.feature_importances_**2, 0.0)
        return np.sqrt(spread * weights) / known

    def _check_begun(self) -> None:
        if "_sums" not in vars(self):
            raise NotFittedError("This StreamImportance has explained no sample yet: call update "
                                 "or partial_fit first.")  # fmt: skip

    def _explain_and_learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Array:
        lesson = Lesson.of(X, np.asarray(y), sample_weight, classes)
        asked = self._questions(lesson)
        edges, has_labels = [0, len(lesson.y)], self._counts_mistakes(lesson.y)
        if is_own(self.estimator) and has_labels:
            edges = edges_of(self.estimator, lesson)
        at_once = passes_over(self.estimator) and not has_encoder(self.estimator, lesson.X)
        told: list[Any] = []
        predicted: list[Any] = []
        state = BeforeCall if at_once and len(edges) == 2 else BeforeCalls
        with undone_on_failure(self.estimator, state):
            for first, last in pairwise(edges):
                part = lesson.part(first, last)
                # A label that is new must not be known before its sample is asked of.
                alone = has_labels and at_once and last == first + 1
                is_new = alone and part.y[0] not in labels_known(self.estimator, part)
                way = ask_and_teach if at_once and not is_new else ask_and_teach_each
                answers, before = way(self.estimator, lesson, asked, first, last)
                told.append(answers)
                predicted.append(before)
            self._count(lesson, asked, np.concatenate(told))
        return np.concatenate(predicted)

    def _columns_of(self, X: Any) -> list[Any] | None:
        """Return the names of the columns of a stream, which begins with X if nothing has come."""
        names = names_in(X)
        if "_n_seen" not in vars(self):
            self._validate_params()
            self._seed = int(check_random_state(self.random_state).randint(2**31))
            self._n_seen, self._names = 0, names
            self._kept: Any = None
        if (names is None) != (self._names is None):
            raise ValueError("X must have names of columns in all calls, or in none")
        return self._names

    def _questions(self, lesson: Lesson) -> Questions:
        """Return what to ask of samples, and note those that recent values are drawn from."""
        names = self._columns_of(lesson.X)
        cells = cells_of(lesson.X, names)
        if self._kept is not None and cells.shape[1] != self._kept.shape[1]:
            raise ValueError(f"X has {cells.shape[1]} features, not {self._kept.shape[1]}")
        pool = pooled(self._kept, cells)
        before = pool.shape[0] - cells.shape[0]
        rows, columns, donors, kept = self._draw(lesson, before, cells.shape[1])
        made = exchanged(pool, rows, columns, donors)
        self._kept = pool[kept]
        return Questions(rows_like(lesson.X, names, made), rows - before, columns)

    def _draw(self, lesson: Lesson, offset: int, width: int) -> Any:
        """Return the rows of a pool to ask of, their columns and donors, and the places kept.

        The samples of the call begin at place `offset` of the pool.
        """
        most = width if self.n_features is None else min(self.n_features, width)
        recent = Recent(self.n_kept, 0 if self._kept is None else self._kept.shape[0])
        counts = lesson.counts
        n, each = int(np.count_nonzero(counts)), width + most + 1
        # The draws of a sample depend on its number alone: calls may be cut anywhere.
        source = np.random.PCG64(self._seed).advance(self._n_seen * each)
        draws = np.random.Generator(source).random((n, each))
        orders = np.argsort(draws[:, :width], axis=1, kind="stable")[:, :most]
        rows, columns, donors, k = [], [], [], 0
        for place in range(offset, offset + len(lesson.y)):
            explained = counts[place - offset] and len(recent.kept) > 0
            chosen = orders[k] if explained else np.zeros(0, dtype=np.intp)
            found = recent.draw(draws[k, width:-1]) if explained else chosen
            rows.append(np.full(len(chosen) + 1, place))
            columns.append(np.concatenate([[-1], chosen]))
            donors.append(np.concatenate([[place], found]))
            if counts[place - offset]:
                recent.add(place, float(draws[k, -1]))
                k += 1
        self._n_seen += n
        lists = (rows, columns, donors)
        return (*(np.concatenate(each).astype(np.intp) for each in lists), recent.kept)

    def _count(self, lesson: Lesson, asked: Questions, told: Any) -> None:
        """Add the rise of the losses to the means."""
        counted = self._counts_mistakes(lesson.y)
        losses = losses_of(lesson.y[asked.own], np.asarray(told), counted)
        losses = losses.mean(axis=1) if losses.ndim > 1 else losses
        assert self._kept is not None
        own = vars(self)
        sums: Floats = own["_sums"].copy() if "_sums" in own else np.zeros((4, self._kept.shape[1]))
        fade = np.array([[self.fading], [self.fading], [self.fading], [self.fading**2]])
        edges = np.flatnonzero(asked.columns < 0).tolist()
        weights = np.ones(len(lesson.y)) if lesson.weight is None else lesson.weight
        for i, (first, last) in enumerate(pairwise([*edges, len(losses)])):
            w = weights[i]
            if w == 0:
                continue
            sums *= fade
            rise = losses[first + 1 : last] - losses[first]
            ones = np.full(len(rise), w)
            sums[:, asked.columns[first + 1 : last]] += [w * rise, ones, w * rise**2, w * ones]
        self._sums: Floats = sums

    def _counts_mistakes(self, y: Array) -> bool:
        """Return whether the estimator predicts labels."""
        try:
            return bool(is_classifier(self.estimator))
        except (AttributeError, TypeError):  # it has no tags
            return y.dtype.kind not in "fc"

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Features of a sample, or columns of a table."""
        self._check_begun()
        return int(self._sums.shape[1])

    @property
    def feature_names_in_(self) -> Array:  # type: ignore[override]
        """Names of the columns."""
        if vars(self).get("_names") is None:
            raise AttributeError("the samples had no names of columns")
        return np.array(self._names, dtype=object)

    @property
    def n_seen_(self) -> int:
        """Samples explained."""
        return int(vars(self).get("_n_seen", 0))


def ask_and_teach(
    estimator: Any, lesson: Lesson, asked: Questions, first: int, last: int
) -> tuple[Array, Array]:
    """Ask a learner of this library, and teach it samples first ... last - 1, in one call."""
    part = lesson.part(first, last)
    piece = asked.of(first, last)
    own = asked.own[piece]
    n = len(own) + len(part.y)
    # A sample is learnt after all questions of it.
    taught = np.searchsorted(own, np.arange(first, last), side="right") + np.arange(last - first)
    is_taught = np.zeros(n, dtype=bool)
    is_taught[taught] = True
    weight = np.zeros(n)
    weight[is_taught] = 1.0 if part.weight is None else part.weight
    order = np.empty(n, dtype=np.intp)
    order[~is_taught] = np.arange(piece.start, piece.stop)
    order[is_taught] = np.flatnonzero(asked.columns < 0)[first:last]
    rows = asked.rows.iloc[order] if hasattr(asked.rows, "iloc") else asked.rows[order]
    whole = Lesson(rows, lesson.y[asked.own[order]], weight, lesson.classes)
    told = whole.teach(estimator, "partial_fit_predict")
    return told[~is_taught], told[is_taught]


def ask_and_teach_each(
    estimator: Any, lesson: Lesson, asked: Questions, first: int, last: int
) -> tuple[Array, Array]:
    """Ask an estimator, and teach it samples first ... last - 1, one by one."""
    part = lesson.part(first, last)
    pieces = iter([asked.of(i, i + 1) for i in range(first, last)])
    sizes = np.bincount(asked.own, minlength=last)[first:last].tolist()
    answers = part.teach_each(
        estimator, lambda model, _: model.predict(rows_of(asked.rows, next(pieces)))
    )
    nothing = lesson.y[:0].dtype.type(0) if lesson.classes is None else lesson.classes[0]
    told = [
        np.full((size, *lesson.y.shape[1:]), nothing) if one is None else one
        for one, size in zip(answers, sizes, strict=True)
    ]
    return np.concatenate(told), np.concatenate([one[:1] for one in told])
