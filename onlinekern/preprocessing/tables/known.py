"""The categories that a column has learnt; finding or adding one takes constant time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from onlinekern.estimators.types import Array


class Known(Sequence[str]):
    """Texts in the order of their arrival. An object never changes; `after` returns a longer one.

    Successive versions share one list of texts and one dictionary of their places; each version
    uses only the beginning of the list. If a version other than the latest is extended, for example
    after a call that failed, the new version gets a copy.

    Parameters
    ----------
    texts : iterable of str
        Different ones.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._places = {text: place for place, text in enumerate(self._texts)}
        self._count = len(self._texts)
        self._lock = threading.Lock()  # shared by all versions, which two models may use

    def after(self, new: Iterable[str]) -> Known:
        """Return these texts followed by new ones, which must be distinct and not among these."""
        with self._lock:
            last = len(self._texts) == self._count
            more = object.__new__(Known) if last else Known(self._texts[: self._count])
            if last:
                vars(more).update(vars(self))
            for text in new:
                more._places[text] = len(more._texts)
                more._texts.append(text)
            more._count = len(more._texts)
        return more

    def with_new(self, texts: Iterable[str], most: int) -> Known:
        """Return these texts followed by the new ones among others; at most `most` in all."""
        if self._count >= most:
            return self
        new = [text for text in texts if text not in self]
        return self.after(new[: most - self._count]) if new else self

    def places(self, texts: Iterable[str], unknown: int) -> Array:
        """Return the place of each text, or `unknown` if it is not there."""
        found = map(self.place, texts)
        return np.array([unknown if k is None else k for k in found], dtype=np.int64)

    def place(self, text: str) -> int | None:
        """Return the place of a text, or None if it is not there."""
        place = self._places.get(text)
        return None if place is None or place >= self._count else place

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self._texts[: self._count][index])
        return self._texts[range(self._count)[index]]

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.place(text) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known | tuple) and self[:] == other[:]

    def __hash__(self) -> int:
        return hash(self[:])

    def __repr__(self) -> str:
        return repr(self[:])

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self[:],)  # pickles and deep copies share nothing


def are_texts(value: Any) -> bool:
    return type(value) is tuple and all(type(text) is str for text in value)


def are_known(value: Any) -> bool:
    """Return whether a value can be the categories of a column; a file may contain anything."""
    return type(value) is Known or are_texts(value)


def known_of(column: Any) -> Known:
    """Return the categories of a column; after loading or unpickling they are a tuple."""
    known = column.known
    if type(known) is tuple:
        vars(column)["known"] = known = Known(known)
    found: Known = known
    return found
