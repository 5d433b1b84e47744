"""The base of the table readers: columns by name, targets, and errors that name the row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from onlinekern.estimators.warnings import warn
from onlinekern.preprocessing.tables.errors import difference, listed
from onlinekern.streams.errors import ExtraFeatures, StreamError, is_number, name_of
from onlinekern.streams.formats.reading import PLAIN, Reading
from onlinekern.streams.locations import as_location


class TableReader:
    """A table with named columns, one of which may be the target.

    `blocks` yields its features as dense, finite numbers. `tables` yields the columns unchanged,
    for a `TableEncoder`. Text targets are class labels and stay text; numeric targets are float64.
    The first block decides the kind of targets for the whole table, unless a table was read before.

    Parameters
    ----------
    path : str, path or Location
        File name, or "-" for standard input where the format can be read from a pipe.
    target : str
        Name of the target column.
    like : reader or Source, optional
        The reader of the files before. The table must have the same columns, in any order, and the
        same kind of targets.
    labelled : bool
        Whether to read targets. If not, the target column may be None or missing.
    reading : Reading
        How to read the file, where its name is not enough.

    Attributes
    ----------
    feature_names : list of str
        The columns of the blocks, in order.
    text_labels : bool or None
        Whether the targets are text; None before the first block.
    """

    # Whether the file stores the types of its columns.
    typed = True
    # A column of sample weights, which is read like a feature but is not one.
    weight: str | None = None

    def __init__(
        self,
        path: Any,
        target: str | None,
        like: Any = None,
        labelled: bool = True,
        reading: Reading = PLAIN,
    ) -> None:
        if like is not None and like.feature_names is None:
            raise StreamError(
                f"{name_of(path)}: a table, whose columns have names; the first file has none, and "
                "its rows are LIBSVM text"
            )
        self.path, self.target = path, target if labelled else None
        self.name, self.reading, self.faults = name_of(path), reading, reading.faults
        of_text = False if reading.numeric_targets and not self.typed else None
        self.text_labels: bool | None = of_text if like is None else like.text_labels
        # Types of columns of text; all files of a stream are read with the same types.
        self.types: dict[str, Any] = self._known_types(like)
        told = {name: (text, kind) for name, text, kind in as_location(path).folders}
        # Columns that may be missing in lines of JSON.
        before = [] if like is None else like.feature_names or []
        self._known = [name for name in before if name not in told]
        # The columns of the file, followed by those from the names of its folders: `day=1/`.
        self.names = list(self._names())
        self._folders = {name: told[name] for name in told if name not in self.names}
        found = [*self.names, *self._folders]
        self._check_named(found, target, labelled, is_first=like is None)
        others = [name for name in found if name not in (target, self.weight)]
        if not others:
            raise StreamError(f"{self.name}: no column besides the target {target!r}")
        self.feature_names = others if like is None else list(like.feature_names)
        self._check_features(others)

    def _check_named(
        self, found: list[str], target: str | None, labelled: bool, is_first: bool
    ) -> None:
        """Raise StreamError unless each named column exists exactly once."""
        if labelled and target not in found:
            given = "" if target is None else f"no column named {target!r}; "
            raise StreamError(f"{self.name}: {given}name the target column, one of {listed(found)}")
        if len(set(found)) < len(found):
            twice = next(name for name in found if found.count(name) > 1)
            raise StreamError(f"{self.name}: two columns have the same name, {twice!r}")
        unknown = next((name for name, _ in self.reading.kinds if name not in found), None)
        # For further files, `_check_features` reports missing columns.
        if unknown is not None and is_first:
            raise StreamError(
                f"{self.name}: no column {unknown!r}, whose kind is given, among {listed(found)}"
            )
        if self.weight is not None and self.weight not in found:
            raise StreamError(f"{self.name}: no column named {self.weight!r} for sample_weight")

    def _check_features(self, found: list[str]) -> None:
        """Raise StreamError unless these are the features of the first file."""
        if self.reading.ignore_extra:
            found = [name for name in found if name in self.feature_names]
        other = difference(found, self.feature_names)
        if other:
            raise (ExtraFeatures if set(found) > set(self.feature_names) else StreamError)(
                f"{self.name}: {len(found)} feature columns, the first file has "
                f"{len(self.feature_names)}; this one {other}"
            )

    def blocks(self) -> Iterator[tuple[Any, Any]]:
        """Yield (X, y): dense float64 of shape (rows, number of feature columns); y of numbers,
        float64, or of text; of unlabelled rows, zeros."""
        for row, batch, y in self._labelled(as_numbers=True):
            yield self._matrix(batch, row), y

    def _matrix(self, batch: Any, row: int) -> Any:
        """Return the features of a batch as numbers."""
        X = np.empty((batch.num_rows, len(self.feature_names)))
        for j, name in enumerate(self.feature_names):
            X[:, j] = self._numbers(batch.column(name), name, row)
        return X

    def tables(self) -> Iterator[tuple[Any, Any]]:
        """Yield (X, y): a pyarrow RecordBatch of the feature columns, in their order, and y as of
        `blocks`."""
        for _, batch, y in self._labelled(as_numbers=False):
            yield batch.select(self.feature_names), y

    def _labelled(self, as_numbers: bool) -> Iterator[tuple[int, Any, Any]]:
        """Yield the number of a batch's first row, the batch and its targets."""
        row = 1
        try:
            with self._named_errors():
                for part in self._batches(as_numbers):
                    if not part.num_rows:
                        continue
                    batch = self._with_folders(part)
                    if self.target is None:
                        yield row, batch, np.zeros(batch.num_rows)
                    else:
                        yield row, batch, self._targets(batch.column(self.target), row)
                    row += batch.num_rows
        except UnicodeDecodeError as error:
            raise StreamError(f"{self.name}, from data row {row}: not UTF-8 ({error})") from error

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Let what pyarrow says of damaged contents name the file."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError) as error:
            # Of damaged contents, an OSError has no number; it has one if the file cannot be read.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise StreamError(f"{self.name}{self._explain(str(error))}") from error

    def _known_types(self, like: Any) -> dict[str, Any]:
        """Return the types of columns of text that were read before, or are given."""
        from onlinekern.preprocessing.tables.column_types import type_of_kind

        told = {name: type_of_kind(kind) for name, kind in self.reading.kinds}
        return {**getattr(like, "types", {}), **told}

    @property
    def _columns(self) -> list[str]:
        """The columns that are read in the file."""
        return [*self._features, *([] if self._own_target is None else [self._own_target])]

    @property
    def _features(self) -> list[str]:
        """The features that are read in the file, and the weights."""
        weight = [] if self.weight is None else [self.weight]
        return [name for name in (*self.feature_names, *weight) if name not in self._folders]

    @property
    def _own_target(self) -> str | None:
        """The target, if the file has it."""
        return None if self.target in self._folders else self.target

    def _with_folders(self, batch: Any) -> Any:
        """Return a batch with the columns that the file's folders tell."""
        if not self._folders:
            return batch
        import pyarrow as pa

        from onlinekern.preprocessing.tables.column_types import type_of_kind

        columns, names = list(batch.columns), list(batch.schema.names)
        for name, (text, kind) in self._folders.items():
            value = pa.scalar(text, pa.string())
            try:
                value = value.cast(self.types.get(name, type_of_kind(kind)))
            except pa.ArrowInvalid as error:
                raise StreamError(f"{self.name}: {name}={text}, but {name!r} is no text") from error
            columns.append(pa.repeat(value, batch.num_rows))
            names.append(name)
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _names(self) -> list[str]:
        """Return the names of the columns."""
        raise NotImplementedError(f"{type(self).__name__}._names")

    def _batches(self, as_numbers: bool) -> Iterator[Any]:
        """Yield pyarrow record batches of the feature columns and the target.

        Features that are text become numbers `as_numbers`, else each what its values are.
        """
        raise NotImplementedError(f"{type(self).__name__}._batches")

    def _explain(self, message: str) -> Any:
        """Return what pyarrow says, as it follows the file's name in a message."""
        return f": {' '.join(message.split())}"

    def _numbers(self, column: Any, name: str | None, row: Any) -> Any:
        import pyarrow as pa

        kind = column.type
        if not (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
        ):
            raise StreamError(f"{self.name}: column {name!r} is not numeric ({kind})")
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return self._checked_numbers(values, name, row)

    def _checked_numbers(self, values: Any, name: str | None, row: Any) -> Any:
        """Return values; raise unless all are finite."""
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            what = "missing or NaN" if np.isnan(values[i]) else "infinite"
            raise StreamError(f"{self.name}, data row {row + i}: column {name!r} is {what}")
        return values

    def _targets(self, column: Any, row: Any) -> Any:
        """Return the targets as numbers or as text labels, of one kind in the whole table."""
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            self._set_kind_of_targets(False)
            return self._numbers(column, self.target, row)
        texts = ["" if text is None else text.strip() for text in column.to_pylist()]
        texts = self._checked_texts(texts, row)
        points = [self._with_point(text) for text in texts]
        numbers = [is_number(text) for text in points]
        if self.typed or self.text_labels is None:
            if not (self.typed or all(numbers)):
                self._warn_of_commas(texts)
            self._set_kind_of_targets(self.typed or not all(numbers))
        if self.text_labels:
            return np.array(texts)
        if not all(numbers):
            i = numbers.index(False)
            raise StreamError(
                f"{self.name}, data row {row + i}: target {texts[i][:30]!r} is not a number"
            )
        return self._numbers(pa.array(np.array(points, dtype=float)), self.target, row)

    def _with_point(self, text: str) -> str:
        """Return the text of a number with a decimal point."""
        return text

    def _checked_texts(self, texts: list[str], row: Any) -> list[str]:
        """Return targets that are text; raise if one is empty."""
        if "" in texts:
            i = texts.index("")
            raise StreamError(f"{self.name}, data row {row + i}: no value of {self.target!r}")
        return texts

    def _warn_of_commas(self, texts: list[str]) -> None:
        """Warn of targets that become classes, but may be numbers, say with decimal commas."""
        import pyarrow as pa

        from onlinekern.preprocessing.tables.column_types import looks_like_numbers

        numbers = looks_like_numbers(pa.array(texts))
        if numbers is not None:
            how = (
                "decimal=',' reads numbers (on the command line: --decimal ,)"
                if numbers[1]
                else "Make numbers of it before"
            )
            warn(
                f"the targets in column {self.target!r} are text that looks like numbers, "
                f"{numbers[0]!r} for one: each becomes a class. {how}", UserWarning
            )  # fmt: skip

    def _set_kind_of_targets(self, text: bool) -> None:
        """Record whether the targets are text; raise if they were of the other kind before."""
        if self.text_labels is None:
            self.text_labels = text
        if self.text_labels != text:
            kinds = ("text", "numbers") if text else ("numbers", "text")
            raise StreamError(
                f"{self.name}: column {self.target!r} holds {kinds[0]}, but {kinds[1]} before"
            )
