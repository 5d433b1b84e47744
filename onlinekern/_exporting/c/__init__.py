"""C99 that computes what a description says."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from onlinekern._exporting.describe import describe
from onlinekern._saving.atomic import replacing

# Words of C, and names of the generated files.
KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while row real column
"""


def write(
    estimator: Any, path: str | os.PathLike[str], dtype: Any, prefix: str | None
) -> tuple[Path, Path, int, int, bool]:
    """Write the two files; see `Exportable.export_c`."""
    from onlinekern._exporting.c.generate import generate

    code, header = paths_of(path)
    made = generate(describe(estimator), dtype_of(dtype), prefix_of(prefix, code), header.name)
    for target, text in ((header, made.header), (code, made.code)):
        with replacing(target) as stream:
            stream.write(text.encode("ascii"))
    return code, header, made.flash, made.ram, made.learns


def paths_of(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The C file and its header."""
    code = Path(path)
    if code.suffix != ".c":
        raise ValueError(f"path must end in .c, got {os.fspath(path)!r}")
    return code, code.with_suffix(".h")


def dtype_of(dtype: Any) -> np.dtype[Any]:
    """float32 or float64."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if dtype is None or found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    assert found is not None
    return found


def prefix_of(prefix: str | None, code: Path) -> str:
    """What names begin with."""
    given = prefix if prefix is not None else re.sub(r"\W", "_", code.stem, flags=re.ASCII)
    if not re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII) or given in KEYWORDS.split():
        where = "" if prefix is not None else f", which {code.name!r} does not give"
        raise ValueError(
            f"prefix must be a C identifier that begins with a letter{where}, got {given!r}"
        )
    return given
