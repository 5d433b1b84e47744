"""Export of C99 that computes what a description says."""

from __future__ import annotations

import os
import re
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.learning import describe_learning
from onlinekern.fitted.export.states import ForestState, KernelState, Learning
from onlinekern.fitted.save.atomic import replacing

# These are words of C, and names in the generated files.
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
) -> tuple[Path, Path, int, int, bool]:
    """Write the two files; see `Exportable.export_c`."""
    from onlinekern.fitted.export.c.generate import generate

    code, header = paths_of(path)
    kind, names = dtype_of(dtype), prefix_of(prefix, code)
    check_learning(learn, capacity)
    scoring = describe(estimator)
    learning = learning_of(estimator, scoring.name, learn, capacity)
    made = generate(scoring, kind, names, header.name, learning, capacity)
    for target, text in ((header, made.header), (code, made.code)):
        with replacing(target) as stream:
            stream.write(text.encode("ascii"))
    return code, header, made.flash, made.ram, made.learns


def check_learning(learn: Any, capacity: Any) -> None:
    """Raise ValueError unless `learn` and `capacity` have values that fit together."""
    if learn is not None and not isinstance(learn, bool):
        raise ValueError(f"learn must be True, False or None, got {learn!r}")
    whole = isinstance(capacity, Integral) and not isinstance(capacity, bool)
    if capacity is not None and (not whole or capacity < 1):
        raise ValueError(f"capacity must be an integer >= 1 or None, got {capacity!r}")
    if capacity is not None and learn is False:
        raise ValueError("capacity has no effect with learn=False")


def learning_of(
    estimator: Any, name: str, learn: bool | None, capacity: int | None
) -> Learning | None:
    """Return what the model needs to go on learning; None if it shall not learn, or cannot.

    Without a capacity, support vectors without a budget are exported to be scored only, unless
    learning is asked for. So are forests: what their experts have learnt of the cells takes two to
    four times the memory of what it comes to.
    """
    if learn is False:
        return None
    try:
        learning = describe_learning(estimator)
    except TypeError as error:
        if learn is None and capacity is None:
            return None
        raise TypeError(f"{name} cannot be exported to learn: {error}") from error
    grows = isinstance(learning.state, KernelState) and learning.state.unbounded
    if capacity is not None and not grows:
        raise ValueError(f"capacity={capacity} has no effect on {name}, whose memory does not grow")
    is_large = grows or isinstance(learning.state, ForestState)
    return None if learn is None and is_large and capacity is None else learning


def paths_of(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the paths of the C file and of its header."""
    code = Path(path)
    if code.suffix != ".c":
        raise ValueError(f"path must end in .c, got {os.fspath(path)!r}")
    return code, code.with_suffix(".h")


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """Return the dtype, float32 or float64; raise ValueError for another one."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if dtype is None or found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    assert found is not None
    return found


def prefix_of(prefix: str | None, code: Path) -> str:
    """Return what names begin with; raise ValueError if it is no identifier."""
    given = prefix if prefix is not None else re.sub(r"\W", "_", code.stem, flags=re.ASCII)
    if not re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII) or given in KEYWORDS.split():
        where = "" if prefix is not None else f", which {code.name!r} does not give"
        raise ValueError(
            f"prefix must be a C identifier that begins with a letter{where}, got {given!r}"
        )
    return given
