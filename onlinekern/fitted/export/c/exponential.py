"""The exponential by a table: in fixed point, and as float for chips whose libc is slow."""

from __future__ import annotations

import numpy as np

from onlinekern.estimators.types import Array
from onlinekern.fitted.export.c.sections import sections

# Steps of the table between 2^0 and 2^-1, and the bits of an entry behind the point.
PARTS, VALUE_BITS = 256, 30
PER_LINE = 8


def halves() -> Array:
    """Return the table of 2^-t, of t from 0 to 1, ndarray (PARTS + 1,) of whole numbers."""
    return np.rint(np.exp2(VALUE_BITS - np.arange(PARTS + 1) / PARTS)).astype(np.int64)


def exponential(prefix: str) -> str:
    """Return the text that defines EXP of float: a table if the compiler is told so, else expf."""
    entries = [f"{entry}u" for entry in halves().tolist()]
    rows = [entries[i : i + PER_LINE] for i in range(0, len(entries), PER_LINE)]
    lines = ",\n    ".join(", ".join(row) for row in rows)
    table = f"static const uint32_t halves[{len(entries)}] = {{\n    {lines}\n}};\n\n"
    function, _ = sections()["table_exp"]
    name = f"{prefix.upper()}_TABLE_EXP"
    return (
        f"#ifdef {name}\n{table}{function}#define EXP table_exp\n#else\n#define EXP expf\n#endif\n"
    )
