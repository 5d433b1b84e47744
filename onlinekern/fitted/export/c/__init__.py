"""Export of C99 that computes the scores of a described model."""

from __future__ import annotations

import os
import re
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.learning import describe_learning
from onlinekern.fitted.export.states import (
    ForestState,
    JointState,
    KernelState,
    Learning,
    RaceState,
    Space,
)
from onlinekern.fitted.save.atomic import replacing
from onlinekern.preprocessing.tables.encoder import encoder_of

# Keywords of C, and names used in the generated files.
KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while row real column
"""


def export_c(
    estimator: Any,
    path: str | os.PathLike[str],
    dtype: Any,
    prefix: str | None,
    learn: bool | None,
    capacity: int | None,
    rows: Any = None,
) -> tuple[Path, Path, int, int, bool]:
    """Write the two files; see `estimators.exportable.export_c`."""
    from onlinekern.fitted.export.c.fixed.generate import generate_fixed
    from onlinekern.fitted.export.c.generate import generate

    code, header = paths_of(path)
    kind, names = dtype_of(dtype, "int16"), prefix_of(prefix, code)
    check_learning(learn, capacity)
    check_fixed(kind, learn, capacity, rows)
    scoring = describe(estimator)
    if kind == np.int16:
        encoder = encoder_of(estimator)
        if encoder is not None and rows is not None and scoring.table is None:
            rows = encoder.transform(rows)
        made = generate_fixed(scoring, names, header.name, rows)
    else:
        learning = learning_of(estimator, scoring.name, learn, capacity)
        made = generate(scoring, kind, names, header.name, learning, capacity)
    for target, text in ((header, made.header), (code, made.code)):
        with replacing(target) as stream:
            stream.write(text.encode("ascii"))
    return code, header, made.flash, made.ram, made.learns


def check_learning(learn: Any, capacity: Any) -> None:
    """Raise ValueError unless `learn` and `capacity` are valid and consistent."""
    if learn is not None and not isinstance(learn, bool):
        raise ValueError(f"learn must be True, False or None, got {learn!r}")
    whole = isinstance(capacity, Integral) and not isinstance(capacity, bool)
    if capacity is not None and (not whole or capacity < 1):
        raise ValueError(f"capacity must be an integer >= 1 or None, got {capacity!r}")
    if capacity is not None and learn is False:
        raise ValueError("capacity has no effect with learn=False")


def check_fixed(kind: np.dtype[Any], learn: Any, capacity: Any, rows: Any) -> None:
    """Raise ValueError if an argument has no effect for this type of numbers."""
    if kind != np.int16:
        if rows is not None:
            raise ValueError(f"rows has no effect with dtype={kind.name!r}")
        return
    for name, value in (("learn", learn or None), ("capacity", capacity)):
        if value is not None:
            raise ValueError(
                f"{name}={value}: with dtype='int16' a model does not learn. Its steps shrink "
                "below the last of 16 bits, and nothing would change"
            )


def learning_of(
    estimator: Any, name: str, learn: bool | None, capacity: int | None
) -> Learning | None:
    """Return the description of learning, or None if the model is only to predict.

    With learn=None, some models are exported without learning. Support vectors without a budget
    need a capacity. Forests that learn take two to four times the memory of their scores, and races
    four times. The metric of a model in a learnt metric is not renewed in C.
    """
    if learn is False:
        return None
    try:
        learning = describe_learning(estimator)
    except TypeError as error:
        if learn is None and capacity is None:
            return None
        raise TypeError(
            f"{name} cannot be exported to learn: {error}. learn=False exports its scores"
        ) from error
    grows = isinstance(learning.state, KernelState) and learning.state.unbounded
    if capacity is not None and not grows:
        raise ValueError(f"capacity={capacity} has no effect on {name}, whose memory does not grow")
    return None if learn is None and capacity is None and asks(learning.state) else learning


def asks(state: Space) -> bool:
    """Return whether a model learns in C only if `learn` is True."""
    if isinstance(state, KernelState):
        return state.unbounded
    in_metric = isinstance(state, JointState) and state.root is not None
    return in_metric or isinstance(state, ForestState | RaceState)


def paths_of(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the paths of the C file and of its header."""
    code = Path(path)
    if code.suffix != ".c":
        raise ValueError(f"path must end in .c, got {os.fspath(path)!r}")
    return code, code.with_suffix(".h")


def dtype_of(dtype: Any, *more: str) -> np.dtype[Any]:
    """Return the dtype: float32, float64 or one of `more`; raise ValueError for another one."""
    known = ["float32", "float64", *more]
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if dtype is None or found is None or found not in map(np.dtype, known):
        names = ", ".join(map(repr, known[:-1]))
        raise ValueError(f"dtype must be {names} or {known[-1]!r}, got {dtype!r}")
    return found


def prefix_of(prefix: str | None, code: Path) -> str:
    """Return the prefix of all names; raise ValueError if it is no identifier."""
    given = prefix if prefix is not None else re.sub(r"\W", "_", code.stem, flags=re.ASCII)
    if not re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII) or given in KEYWORDS.split():
        where = "" if prefix is not None else f", which {code.name!r} does not give"
        raise ValueError(
            f"prefix must be a C identifier that begins with a letter{where}, got {given!r}"
        )
    return given
