"""A finite stream that can be read any number of times in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from onlinekern.estimators.types import Array, ArrayLike, Seed, Sparse
from onlinekern.streams.blocks import in_blocks
from onlinekern.streams.buffer import BUDGET_BYTES, RowBuffer
from onlinekern.streams.errors import StreamError, check_count, check_dtype, stored
from onlinekern.streams.formats.libsvm import LARGEST_INDEX
from onlinekern.streams.layout import SCALES, make_layout, range_hint
from onlinekern.streams.statistics import FeatureStatistics, TargetStatistics

# Rows in a block made from arrays; few enough for the temporary arrays of the statistics.
ARRAY_ROWS = 4096
TASKS = ("auto", "classification", "regression")


class SourceOptions(TypedDict, total=False):
    """The options of a `Source` that `open_source` passes on."""

    dtype: DTypeLike
    scale: str
    task: str
    zero_based: bool | str
    limit: int | None
    n_features: int | None
    budget: int


class ArrayOptions(SourceOptions, total=False):
    """The options of `Source.from_arrays`."""

    name: str
    like: Source | None


class Source:
    """A finite stream that can be read any number of times in bounded memory.

    Parameters
    ----------
    blocks : iterable of (X, y)
        Raw rows, float64, all dense or all CSR; read once.
    name : str
        Name of the stream in messages and tables.
    dtype : {"float32", "float64"}
        Type of the rows given to the learner.
    scale : {"none", "minmax", "standard"}
        Map every feature to [-1, 1], or to mean 0 and variance 1, by this stream's statistics. Rows
        that stay sparse (more than 2048 features) are divided by the largest absolute value, or by
        the standard deviation, so that zeros stay zeros.
    task : {"auto", "classification", "regression"}
        "auto": at most 200 distinct targets, all of them integers, make a classification.
        Regression targets are standardised for the learner (``layout.target_deviation`` is the
        unit), because the usual step sizes presume targets of size one.
    zero_based : {"auto", True, False}
        Whether CSR indices start at 0. "auto": they do if an index 0 occurs anywhere.
    limit : int, optional
        Number of rows to read. None: all.
    n_features : int, optional
        Number of features of CSR rows, if it is larger than the largest index indicates.
    like : Source, optional
        Take dtype, scaling, task, indices and number of features from this training stream.
    budget : int
        Bytes of rows held in memory.

    Attributes
    ----------
    n_samples, n_features : int
    task : "classification" or "regression"
    classes : ndarray or None
        Sorted distinct targets of a classification.
    class_counts : dict
        Number of samples of every class.
    layout : Layout
    statistics : FeatureStatistics
    feature_names : list of str or None
        Column names of a table.
    text_labels : bool
        Whether the targets are text.
    hint : str or None
        Advice, if the features' ranges differ wildly and nothing scales them.
    """

    feature_names = None

    def __init__(
        self,
        blocks: Iterable[tuple[Any, Array]],
        *,
        name: str = "stream",
        dtype: DTypeLike = "float32",
        scale: str = "none",
        task: str = "auto",
        zero_based: bool | str = "auto",
        limit: int | None = None,
        n_features: int | None = None,
        like: Source | None = None,
        budget: int = BUDGET_BYTES,
    ) -> None:
        if scale not in SCALES:
            raise StreamError(f"scale must be one of {', '.join(SCALES)}, got {scale!r}")
        _check_options(dtype, task, zero_based, limit, n_features, budget)
        self.name = name
        self.statistics, self._targets = FeatureStatistics(), TargetStatistics()
        self._buffer = RowBuffer(budget)
        self._sparse = False
        # The buffer stores numbers. Text labels are numbered in order of appearance.
        self._numbers: dict[str, int] = {}
        # Scaling needs the exact values. Otherwise the dtype of the learner is enough.
        keep = np.float64 if scale != "none" or like is not None else np.dtype(dtype)
        if limit is not None:
            blocks = in_blocks(blocks, limit, limit=limit)
        for X, y in blocks:
            y = self._numbered(y)
            self.statistics.update(X)
            self._targets.update(y)
            self._sparse = sparse.issparse(X)
            self._buffer.append(stored(X, keep, name), y)
        self.n_samples = self._buffer.n_samples
        if not self.n_samples:
            raise StreamError(f"{name}: no samples")
        self.text_labels = bool(self._numbers)
        self._texts = np.array(list(self._numbers))
        if like is None:
            self._lay_out(dtype, scale, task, zero_based, n_features)
        else:
            self._follow(like)
        self.n_features = self.layout.n_features

    def _lay_out(
        self, dtype: Any, scale: Any, task: str, zero_based: Any, n_features: int | None
    ) -> None:
        first_index = 0
        if self._sparse:
            smallest = self.statistics.smallest_index
            if smallest is None:
                raise StreamError(f"{self.name}: no features, every row is empty")
            if smallest == 0 and zero_based is False:
                raise StreamError(f"{self.name}: feature index 0, but zero_based=False")
            first_index = 0 if zero_based is True or smallest == 0 else 1
            self._pad(n_features, first_index)
        self.layout = make_layout(
            self.statistics,
            is_sparse=self._sparse,
            first_index=first_index,
            dtype=dtype,
            scale=scale,
        )
        self.hint = range_hint(self.statistics, first_index) if scale == "none" else None
        self.task = self._task() if task == "auto" else task
        if self.text_labels and self.task == "regression":
            raise StreamError(f"{self.name}: the targets of a regression cannot be text")
        self.classes: Array | None = None
        self.class_counts: dict[Any, int] = {}
        if self.task == "regression" and not np.isfinite(self._targets.deviation):
            raise StreamError(f"{self.name}: the variance of the targets overflows")
        if self.task == "classification":
            self._find_classes()
        else:
            self.layout = replace(
                self.layout,
                target_mean=self._targets.mean,
                target_deviation=self._targets.deviation or 1.0,
            )

    @property
    def target_deviation(self) -> float:
        """Standard deviation of the targets; 0 if all are equal (the layout then divides by 1)."""
        return self._targets.deviation

    def _pad(self, n_features: int | None, first_index: Any) -> None:
        found = self.statistics.n_features - first_index
        if n_features is not None and n_features > LARGEST_INDEX:
            raise StreamError(f"{self.name}: n_features={n_features} is more than {LARGEST_INDEX}")
        if n_features is not None and n_features < found:
            raise StreamError(f"{self.name}: {found} features, more than n_features={n_features}")
        self.statistics.widen(first_index + (n_features or found))

    def _find_classes(self) -> None:
        if self._targets.many:
            raise StreamError(
                f"{self.name}: more than 10,000 distinct targets, too many for a classification"
            )
        self.class_counts = self._counted()
        classes = np.array(list(self.class_counts))
        if len(classes) < 2:
            label = classes[0] if self.text_labels else f"{classes[0]:g}"
            raise StreamError(
                f"{self.name}: all {self.n_samples} samples are of one class ({label}); "
                "two or more are needed"
            )
        self.classes = classes

    def _task(self) -> str:
        return "classification" if self.text_labels else self._targets.task()

    def _numbered(self, y: Array) -> Array:
        """Return targets as float64, text labels as numbers."""
        if y.dtype.kind != "U":
            return y
        known = self._numbers
        return np.array([known.setdefault(text, len(known)) for text in y.tolist()], float)

    def _named(self, y: Array) -> Array:
        """Return targets as the learner gets them: labels as text, or numbers in the layout."""
        return self._texts[y.astype(np.intp)] if self.text_labels else self.layout.targets(y)

    def _counted(self) -> dict[Any, int]:
        counts: Any = self._targets.counts.items()
        if self.text_labels:
            counts = [(str(self._texts[int(number)]), count) for number, count in counts]
        return dict(sorted(counts))

    def _follow(self, like: Source) -> None:
        if self._sparse != like._sparse:
            raise StreamError(f"{self.name}: not of the same kind of file as {like.name}")
        if self.text_labels != like.text_labels:
            kinds = ("text", "numbers") if self.text_labels else ("numbers", "text")
            raise StreamError(
                f"{self.name}: the targets are {kinds[0]}, those of {like.name} are {kinds[1]}"
            )
        self.layout, self.task, self.classes, self.hint = like.layout, like.task, like.classes, None
        self.class_counts = self._counted()
        first_index = like.layout.first_index
        if first_index and self.statistics.smallest_index == 0:
            raise StreamError(
                f"{self.name}: a feature index 0, but {like.name} counts from 1 (or has no feature "
                "0: then say that it is zero-based)"
            )
        found = self.statistics.n_features - first_index
        exact = not self._sparse
        if found > like.n_features or (exact and found != like.n_features):
            raise StreamError(
                f"{self.name}: {found} features, but {like.name} has {like.n_features}"
                + (f" (n_features {found} would pad it)" if self._sparse else "")
            )

    def blocks(self, random_state: Seed | None = None) -> Iterator[tuple[Array | Sparse, Array]]:
        """Yield (X, y) ready for the learner: all rows once.

        Parameters
        ----------
        random_state : None, int, sequence of int or numpy.random.Generator
            None keeps the order of the file; otherwise a uniformly random permutation of all rows
            that depends on it alone.

        Yields
        ------
        X : ndarray or CSR matrix of shape (rows, n_features), dtype as chosen
        y : ndarray of shape (rows,), float64, or text where the labels are text
        """
        raw = (
            self._buffer.blocks()
            if random_state is None
            else self._buffer.shuffled(np.random.default_rng(random_state))
        )
        for X, y in raw:
            yield self.layout.rows(X), self._named(y)

    def head(
        self, n_samples: int, random_state: Seed | None = None
    ) -> tuple[Array | Sparse, Array]:
        """Return the first rows (at most ``n_samples``) of ``blocks(random_state)`` as (X, y)."""
        check_count("n_samples", n_samples)
        blocks = self.blocks(random_state)
        X, y = next(in_blocks(blocks, n_samples, limit=n_samples, join=True))
        return X, y

    def close(self) -> None:
        """Drop the rows, on disk as well."""
        self._buffer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    @classmethod
    def from_arrays(cls, X: Array | Sparse, y: ArrayLike, **options: Unpack[ArrayOptions]) -> Self:
        """Make a source from arrays: X (n, d), dense or sparse; y (n,), numbers or text."""
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)
            options.setdefault("zero_based", True)
        if hasattr(X, "columns"):
            raise StreamError(
                f"X must be an array or a sparse matrix, got a {type(X).__name__}: X.to_numpy() is "
                "one if its columns are numbers"
            )
        y = np.asarray(y)
        if y.dtype.kind == "O" and all(isinstance(label, str) for label in y.flat):
            y = y.astype(str)  # As text is stored in pandas.
        if not hasattr(X, "shape") or len(X.shape) != 2 or y.shape != (X.shape[0],):
            raise StreamError(
                "X must be an array or a sparse matrix of shape (n, d), and y of shape (n,), got "
                f"the shapes {getattr(X, 'shape', None)} and {y.shape}"
            )
        if y.dtype.kind != "U":
            y = y.astype(np.float64)
        blocks = ((a.astype(np.float64), b) for a, b in in_blocks([(X, y)], ARRAY_ROWS))
        return cls(blocks, **options)


def _check_options(
    dtype: Any, task: Any, zero_based: Any, limit: Any, n_features: Any, budget: Any
) -> None:
    """Raise StreamError if an option of a source has an invalid value."""
    check_dtype(dtype)
    if task not in TASKS:
        raise StreamError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    if not (isinstance(zero_based, bool | np.bool_) or zero_based == "auto"):
        raise StreamError(f"zero_based must be 'auto', True or False, got {zero_based!r}")
    check_count("limit", limit, optional=True)
    check_count("n_features", n_features, optional=True)
    check_count("budget", budget)
