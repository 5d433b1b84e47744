"""The kinds of table columns: the learnt state of a column, and the features it becomes.

A column object never changes. `learnt` returns a new column that has also learnt some values. So a
call that fails changes nothing, and other threads can use the old column meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.utils import murmurhash3_32

from onlinekern.estimators.categories import MOST_CODE
from onlinekern.estimators.types import Array, Floats
from onlinekern.estimators.warnings import warn_once
from onlinekern.preprocessing.tables.column_types import (
    distinct_texts,
    hashed,
    holds_value,
    is_value,
    is_width,
    number_of,
    one_of_each,
    text_of,
    texts_of,
)
from onlinekern.preprocessing.tables.dates import (
    PARTS,
    features_of,
    names_of,
    seconds_of,
    seconds_of_one,
)
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.preprocessing.tables.known import are_known, are_texts, known_of

# Feature shared by the categories that come after all one-hot features of a column are taken.
OTHERS = "(others)"
MISSING = "(missing)"

# The column after a value, and the value's features: pairs of a position and a number; the others
# are 0.
Found: TypeAlias = tuple[Any, list[tuple[int, float]]]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
    """

    kind: ClassVar[str]
    accepts: ClassVar[tuple[str, ...]]
    # Whether the features are a CSR matrix.
    is_sparse: ClassVar[bool] = False
    # Whether the feature is the number of a category.
    is_coded: ClassVar[bool] = False
    # Whether all columns of this kind share their features, which are then `folded`.
    shares: ClassVar[bool] = False
    # Default values of fields that are not in older files.
    later: ClassVar[tuple[str, ...]] = ()

    name: str

    def learnt(self, values: Any) -> Self:
        """Return this column after it has learnt these values."""
        return self

    def features(self, values: Any) -> Any:
        """Return the features of values: an ndarray or CSR matrix with a row for each value."""
        raise NotImplementedError(f"{type(self).__name__}.features")

    def learnt_features(self, values: Any) -> tuple[Self, Any]:
        """Return `learnt`, and each value's features when it, but no later one, is learnt."""
        column = self.learnt(values)
        return column, column.features(values)

    def of_one(self, value: Any, learn: bool) -> Found | None:
        """Return the column after one value, which it learns if `learn`, and the value's features.

        The bits are the same as from `features`. None means that the value is not plain, and must
        be converted as a table.
        """
        text = text_of(value)
        return None if text is None else self.of_text(text, learn)

    def of_text(self, text: str, learn: bool) -> Found | None:
        """Return the same for a plain text; "" is a missing value."""
        return None

    def changed(self, **attributes: Any) -> Self:
        """Return a copy with other attributes. It is ten times as fast as `dataclasses.replace`."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), **attributes)
        return twin

    def is_sound(self) -> bool:
        """Return whether the attributes are valid; a file may contain anything."""
        names = {own.name for own in fields(self)}
        sound = vars(self).keys() <= names and names - vars(self).keys() <= {*self.later}
        return sound and type(self.name) is str

    @property
    def n_features(self) -> int:
        """Number of features."""
        raise NotImplementedError(f"{type(self).__name__}.n_features")

    @property
    def n_empty(self) -> int:
        """Number of features that are 0 in all rows so far, reserved for new categories."""
        return 0

    @property
    def layout(self) -> list[tuple[int, int]]:
        """How a forest sees the features, numbered from 0 (`core.samples.coded`)."""
        return [(place, 1) for place in range(self.n_features)]

    def feature_names(self) -> list[str]:
        """Return the names of the features, in order."""
        raise NotImplementedError(f"{type(self).__name__}.feature_names")


@dataclass(frozen=True)
class NumberColumn(Column):
    """Numbers, or true and false. Missing values become the mean of the earlier values.

    Parameters
    ----------
    name : str
    indicator : bool
        Whether a second feature is 1 where the value is missing.
    count : int
        Values learnt.
    total : float
        Sum of the values learnt.
    """

    kind = "number"
    accepts = ("number", "boolean")
    # Whether missing values become the mean; otherwise they become NaN.
    fills: ClassVar[bool] = True

    indicator: bool = False
    count: int = 0
    total: float = 0.0

    def learnt_features(self, values: Any) -> tuple[Self, Floats]:
        numbers, missing = self._numbers(values)
        # The sums are updated value by value, so that their bits do not depend on the batches.
        with np.errstate(over="ignore"):
            sums = np.cumsum(np.concatenate(([self.total], np.where(missing, 0.0, numbers))))
        if not np.isfinite(sums[-1]):
            raise TableError(self.name, "has a sum that overflows")
        counts = self.count + np.concatenate(([0], np.cumsum(~missing)))
        means = sums[:-1] / np.maximum(counts[:-1], 1)
        column = replace(self, count=int(counts[-1]), total=float(sums[-1]))
        return column, self._rows(numbers, missing, means)

    def is_sound(self) -> bool:
        sums = type(self.count) is int and type(self.total) is float
        return super().is_sound() and sums and self.count >= 0 and type(self.indicator) is bool

    def features(self, values: Any) -> Floats:
        return self._rows(*self._numbers(values), self.total / max(self.count, 1))

    def of_one(self, value: Any, learn: bool) -> Found | None:
        number = number_of(value)
        if number is None or not self.fills:
            return None if number is None else (self, [(0, number)])
        is_missing, column = math.isnan(number), self
        shown = self.total / max(self.count, 1) if is_missing else number
        if learn:
            total = self.total + (0.0 if is_missing else number)
            if math.isinf(total):
                return None
            column = self.changed(count=self.count + (not is_missing), total=total)
        return column, [(0, shown), (1, float(is_missing))] if self.indicator else [(0, shown)]

    @property
    def n_features(self) -> int:
        return 2 if self.indicator else 1

    @property
    def layout(self) -> list[tuple[int, int]]:
        return [(0, 0 if self.indicator else 1)]

    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name} {MISSING}"] if self.indicator else [self.name]

    def _rows(self, numbers: Floats, missing: Array, means: Any) -> Floats:
        rows = np.empty((len(numbers), self.n_features))
        rows[:, 0] = np.where(missing, means, numbers)
        if self.indicator:
            rows[:, 1] = missing
        return rows

    def _numbers(self, values: Any) -> tuple[Floats, Array]:
        if pa.types.is_duration(values.type):
            numbers = pc.cast(values, pa.duration("us"), safe=False).cast(pa.int64())
            numbers = pc.divide(pc.cast(numbers, pa.float64(), safe=False), 1e6)
        else:
            numbers = pc.cast(values, pa.float64(), safe=False)
        numbers = numbers.to_numpy(zero_copy_only=False)
        infinite = np.isinf(numbers)
        if infinite.any():
            raise TableError(self.name, "is infinite", int(np.argmax(infinite)))
        return numbers, np.isnan(numbers)


@dataclass(frozen=True)
class BooleanColumn(NumberColumn):
    """True and false values, as 1 and 0."""

    kind = "boolean"


@dataclass(frozen=True)
class KeptNumberColumn(NumberColumn):
    """Numbers; missing values stay NaN."""

    fills = False

    def learnt_features(self, values: Any) -> tuple[Self, Floats]:
        return self, self.features(values)

    def features(self, values: Any) -> Floats:
        return self._numbers(values)[0][:, np.newaxis]


@dataclass(frozen=True)
class KeptBooleanColumn(KeptNumberColumn):
    """True and false as 1 and 0; missing values stay NaN."""

    kind = "boolean"


@dataclass(frozen=True)
class TextualColumn(Column):
    """Base of the columns that convert their values to text."""

    is_sparse = True


@dataclass(frozen=True)
class HotColumn(TextualColumn):
    """Base of the columns of categories with one feature that is 1."""

    @property
    def layout(self) -> list[tuple[int, int]]:
        return [(0, self.n_features)]


@dataclass(frozen=True)
class CategoryColumn(HotColumn):
    """One-hot categories: each new category takes the next free feature.

    When all features are taken, later categories share one more feature. As long as a feature is
    free, categories that have not been learnt have only zeros.

    Parameters
    ----------
    name : str
    room : int
        Number of features for categories.
    known : sequence of str
        The categories in the order of their features; "" is a missing value.
    """

    kind = "category"
    accepts = ("text", "number", "boolean")

    room: int = 10
    known: Sequence[str] = ()

    def is_sound(self) -> bool:
        room = is_width(self.room) and are_known(self.known) and len(self.known) <= self.room
        return super().is_sound() and room

    def learnt(self, values: Any) -> Self:
        known = known_of(self)
        more = known.with_new(distinct_texts(values)[0], self.room)
        return self if more is known else self.changed(known=more)

    def features(self, values: Any) -> Any:
        texts, codes = distinct_texts(values)
        unknown = self.room if len(self.known) == self.room else -1
        return one_of_each(known_of(self).places(texts, unknown)[codes], self.n_features)

    def of_text(self, text: str, learn: bool) -> Found:
        known = known_of(self)
        if (place := known.place(text)) is not None:
            return self, [(place, 1.0)]
        if len(known) == self.room:
            return self, [(self.room, 1.0)]
        if not learn:
            return self, []
        return self.changed(known=known.after([text])), [(len(known), 1.0)]

    @property
    def n_features(self) -> int:
        return self.room + 1

    @property
    def n_empty(self) -> int:
        return self.n_features - len(self.known) if len(self.known) < self.room else 0

    def feature_names(self) -> list[str]:
        free = range(len(self.known), self.room)
        texts = [text or MISSING for text in self.known]
        return [
            *(f"{self.name}={text}" for text in texts),
            *(f"{self.name} (free {place})" for place in free),
            f"{self.name} {OTHERS}",
        ]


@dataclass(frozen=True)
class CodedColumn(Column):
    """Categories as numbers in the order of their first occurrence; missing values are NaN.

    `MOST_CODE` is the number of all categories that have not been learnt, and of those that come
    when all other numbers are taken.

    Parameters
    ----------
    name : str
    known : sequence of str
        The categories in the order of their numbers.
    """

    kind = "category"
    accepts = ("text", "number", "boolean")
    is_coded = True

    known: Sequence[str] = ()

    def is_sound(self) -> bool:
        known = are_known(self.known) and len(self.known) <= MOST_CODE
        return super().is_sound() and known and len({*self.known}) == len(self.known)

    def learnt(self, values: Any) -> Self:
        known = known_of(self)
        more = known.with_new(filter(None, distinct_texts(values)[0]), MOST_CODE)
        return self if more is known else self.changed(known=more)

    def features(self, values: Any) -> Floats:
        texts, codes = distinct_texts(values)
        missing = np.array([not text for text in texts], dtype=bool)
        found = np.where(missing, np.nan, known_of(self).places(texts, MOST_CODE))
        return found[codes][:, np.newaxis]

    def of_text(self, text: str, learn: bool) -> Found:
        if not text:
            return self, [(0, math.nan)]
        known = known_of(self)
        if (place := known.place(text)) is not None:
            return self, [(0, float(place))]
        if not learn or len(known) == MOST_CODE:
            return self, [(0, float(MOST_CODE))]
        return self.changed(known=known.after([text])), [(0, float(len(known)))]

    @property
    def n_features(self) -> int:
        return 1

    def feature_names(self) -> list[str]:
        return [self.name]


@dataclass(frozen=True)
class HashedColumn(HotColumn):
    """Columns with many categories: a hash of the category selects the feature that is 1.

    Parameters
    ----------
    name : str
    width : int
        Number of features.
    """

    kind = "hashed"
    accepts = ("text", "number", "boolean")

    width: int = 64

    def is_sound(self) -> bool:
        return super().is_sound() and is_width(self.width)

    def features(self, values: Any) -> Any:
        texts, codes = distinct_texts(values)
        return one_of_each(hashed(texts)[codes] % self.width, self.width)

    def of_text(self, text: str, learn: bool) -> Found:
        return self, [(murmurhash3_32(text, positive=True) % self.width, 1.0)]

    @property
    def n_features(self) -> int:
        return self.width

    def feature_names(self) -> list[str]:
        return [f"{self.name} (hash {place})" for place in range(self.width)]


@dataclass(frozen=True)
class TextColumn(TextualColumn):
    """Text: hashed counts of words and of pairs of neighbouring words, scaled to length 1.

    Parameters
    ----------
    name : str
    width : int
        Number of features.
    """

    kind = "text"
    accepts = ("text",)

    width: int = 1024

    def is_sound(self) -> bool:
        return super().is_sound() and is_width(self.width)

    def features(self, values: Any) -> Any:
        # Imported here, because it loads a large part of scikit-learn, which few tables need.
        from sklearn.feature_extraction.text import HashingVectorizer

        hashing = HashingVectorizer(n_features=self.width, ngram_range=(1, 2))
        return hashing.transform(texts_of(values).to_pylist())

    @property
    def n_features(self) -> int:
        return self.width

    def feature_names(self) -> list[str]:
        return [f"{self.name} (words {place})" for place in range(self.width)]


@dataclass(frozen=True)
class DateColumn(Column):
    """Dates and times, as positions on circles and as calendar numbers.

    Circles give a sine and a cosine, so that Sunday is near Monday, and December near January. If
    the value is missing, all features are 0.

    Parameters
    ----------
    name : str
    circles : tuple of str
        Parts of the calendar that become features (`dates.PARTS`).
    zone : str or None
        Time zone in which a moment is converted to a date; None is UTC.
    """

    kind = "date"
    accepts = ("date", "text")
    later = ("zone",)
    # Value of all features if the date is missing.
    absent: ClassVar[float] = 0.0

    circles: tuple[str, ...] = ("day", "week", "year")
    zone: str | None = None

    def is_sound(self) -> bool:
        known = are_texts(self.circles) and {*self.circles} <= PARTS.keys()
        return super().is_sound() and known and isinstance(self.zone, str | None)

    def features(self, values: Any) -> Floats:
        seconds, missing = seconds_of(values, self.name, self.zone)
        rows = np.column_stack(features_of(seconds, self.circles))
        rows[missing] = self.absent
        return rows

    def of_one(self, value: Any, learn: bool) -> Found | None:
        seconds = seconds_of_one(value)
        if seconds is None:
            return None
        if math.isnan(seconds):
            return self, [(place, self.absent) for place in range(self.n_features)]
        features = features_of(np.array([seconds]), self.circles)
        return self, [(place, feature.item()) for place, feature in enumerate(features)]

    @property
    def n_features(self) -> int:
        return len(names_of(self.circles))

    def feature_names(self) -> list[str]:
        return [f"{self.name} ({part})" for part in names_of(self.circles)]


@dataclass(frozen=True)
class KeptDateColumn(DateColumn):
    """Dates and times, as positions on circles; if the value is missing, all features are NaN."""

    absent = np.nan


@dataclass(frozen=True)
class IgnoredColumn(Column):
    """A column without features.

    Parameters
    ----------
    name : str
    waits : bool
        Whether to warn when the first value comes. It is True if no value has come so far, and the
        caller has not asked to ignore the column.
    """

    kind = "ignore"
    accepts = ("number", "boolean", "text", "date", "other")
    later = ("waits",)

    waits: bool = False

    def is_sound(self) -> bool:
        return super().is_sound() and type(self.waits) is bool

    def learnt(self, values: Any) -> Self:
        return self._warned() if self.waits and holds_value(values) else self

    def _warned(self) -> Self:
        """Return the column after it has warned about its first value.

        If the call fails afterwards, the model gets this column, so that it does not warn again.
        """
        warn_once(
            self,
            f"column {self.name!r} has values now. It had none at first, and is left out of the "
            "model for good: a new one, which begins with such rows or is told "
            f"TableEncoder(kinds={{{self.name!r}: ...}}), takes it up",
            UserWarning,
        )
        return self.changed(waits=False)

    def features(self, values: Any) -> Floats:
        return np.empty((len(values), 0))

    def of_one(self, value: Any, learn: bool) -> Found:
        return self._warned() if self.waits and learn and is_value(value) else self, []

    @property
    def n_features(self) -> int:
        return 0

    def feature_names(self) -> list[str]:
        return []
