"""Sections of the C files in this folder.

A section begins with ``/*** name: others ***/``; `others` are the sections that it needs before it.
Sections with `$names` are templates, which are filled in for each use. Sections without them are
functions. `src/native/loops.py` uses the same templates for the C library, so this module imports
no other.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

HEADING = re.compile(r"^/\*\*\* (\w+)(?:: ([\w ]+))? \*\*\*/\n", re.M)
FILES = (
    *("scoring.c", "forest.c", "entries.c", "learning.c", "admission.c", "slots.c", "factor.c"),
    *("inverse.c", "halving.c", "affine.c", "race.c"),
    *("steps.c", "squares.c", "second_order.c", "detectors.c", "state.c", "table.c"),
    *("declarations.h", "fixed/fixed.c"),
)

# For each kernel, its value as an expression of a product p with a vector, and the function that
# computes this product.
VALUES = {
    "gaussian": ("EXP(-$gamma * p)", "squared_distance"),
    "exponential": ("EXP(-SQRT($gamma * p))", "squared_distance"),
    "laplacian": ("EXP(-$gamma * p)", "absolute_distance"),
    "polynomial": ("power($gamma * p + $coef0, $degree)", "dot"),
    "linear": ("p", "dot"),
    "sigmoid": ("TANH($gamma * p + $coef0)", "dot"),
    "cosine": ("p * norm * ${id}_norms[i]", "dot"),
}


@cache
def sections() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the text of each section by name, with the names of the sections that it needs."""
    found = {}
    for name in FILES:
        text = Path(__file__).parent.joinpath(name).read_text(encoding="utf-8")
        _, *parts = HEADING.split(text)
        for section, needed, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            found[section] = body.rstrip() + "\n", tuple((needed or "").split())
    return found


def diagonal(kernel: str) -> str:
    """Return the expression for the kernel value of a row with itself."""
    if kernel in ("gaussian", "exponential", "laplacian"):
        return "1"
    if kernel == "cosine":
        return "square(x) > 0 ? 1 : 0"
    value, _ = VALUES[kernel]
    return "square(x)" if kernel == "linear" else value.replace(" p", " square(x)")
