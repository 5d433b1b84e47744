"""Source of a C file that grows by tables, and by the functions that it needs, each once.

The files `*.c` beside this one hold sections. A section begins with ``/*** name: others ***/`` and
needs the other sections in front of it. One without `$names` is a function; one with them is a form
that is filled in for each use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array

HEADING = re.compile(r"^/\*\*\* (\w+)(?:: ([\w ]+))? \*\*\*/\n", re.M)
FILES = (
    *("scoring.c", "forest.c", "entries.c", "learning.c", "admission.c", "steps.c"),
    *("squares.c", "second_order.c", "table.c"),
)
UNIT_END = re.compile(r"(?<=\n}\n)")
STATIC = re.compile(r"^static [\w ]+ \*?(\w+)\(", re.M)
FUNCTIONS = ("exp", "tanh", "sqrt", "fabs", "cos", "sin", "pow", "expm1", "log1p")
STRINGS = re.compile(r"\b(mem(set|cpy|move)|str(cmp|len))\b")
PER_LINE = 4


@cache
def sections() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return for each name the text of its section, and the names of those that it needs."""
    found = {}
    for name in FILES:
        text = files("onlinekern.fitted.export.c").joinpath(name).read_text(encoding="utf-8")
        _, *parts = HEADING.split(text)
        for section, needed, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            found[section] = body.rstrip() + "\n", tuple((needed or "").split())
    return found


class Source:
    """Source of a C file with one number type.

    Parameters
    ----------
    dtype : numpy.float32 or numpy.float64
    prefix : str
        Beginning of the names that the header declares.

    Attributes
    ----------
    flash, ram : int
        Bytes of the constant tables and of the static state.
    """

    def __init__(self, dtype: Any, prefix: str) -> None:
        self.dtype = np.dtype(dtype)
        self.names = {"prefix": prefix, "PREFIX": prefix.upper()}
        self.flash = self.ram = 0
        self.tables: list[str] = []
        self.code: list[str] = []
        self.used: set[str] = set()
        self.n_ids = 0
        self.wide_columns = False

    @property
    def type(self) -> str:
        """Name of the number type in C."""
        return "float" if self.dtype == np.float32 else "double"

    def new_id(self, kind: str) -> str:
        """Return a name for the tables of one term."""
        self.n_ids += 1
        return f"{kind}{self.n_ids}"

    def use(self, *names: str) -> None:
        """Add functions of these names, and those that they need."""
        for name in names:
            if name not in self.used:
                self.used.add(name)
                self.fill(name)

    def fill(self, name: str, **values: Any) -> None:
        """Add a form, with these values in the places of its names."""
        self.code.append(self.filled(name, **values))

    def filled(self, name: str, **values: Any) -> str:
        """Return the text of a form; what it needs is added first."""
        text, needed = sections()[name]
        self.use(*needed)
        return Template(text).substitute(self.names | {k: str(v) for k, v in values.items()})

    def number(self, value: Any) -> str:
        """Return a number as a literal that the compiler reads as the same bits."""
        return self.literal(float(self.dtype.type(self.checked(np.float64(value)))))

    def literal(self, value: float) -> str:
        """Return the literal of a number that fits the type."""
        return literal_of(value, self.dtype)

    def literals(self, values: Any) -> list[str]:
        """Return the literals of an array."""
        narrow = self.checked(np.ravel(values)).astype(self.dtype)
        return [self.literal(value) for value in narrow.tolist()]

    def checked(self, values: Any) -> Any:
        """Return the values; raise ValueError if the number type has no room for them."""
        with np.errstate(over="ignore"):
            fits = np.isfinite(values) & np.isfinite(np.asarray(values).astype(self.dtype))
        if not np.all(fits):
            largest = np.max(np.abs(values))
            raise ValueError(
                f"dtype={self.dtype.name!r} has no room for a number of the model, {largest}"
            )
        return values

    def constants(self, name: str, values: Any) -> None:
        """Add a table of numbers that never change."""
        texts = self.literals(values)
        self.flash += len(texts) * self.dtype.itemsize
        self.table(f"static const real {name}", texts, len(texts))

    def exact(self, name: str, values: Array) -> None:
        """Add a table of numbers that keep their own type in a file of any type."""
        self.flash += values.nbytes
        texts = [literal_of(value, values.dtype) for value in values.ravel().tolist()]
        type_name = "float" if values.dtype == np.float32 else "double"
        self.table(f"static const {type_name} {name}", texts, len(texts))

    def changing(self, name: str, values: Array) -> None:
        """Add a table of changing floats, in a file of any type; flash has its first values."""
        self.flash += values.nbytes
        self.ram += values.nbytes
        texts = [literal_of(value, values.dtype) for value in values.ravel().tolist()]
        self.table(f"static float {name}", texts, max(1, len(texts)))

    def records(self, name: str, type_name: str, itemsize: int, texts: list[str]) -> None:
        """Add a table of records that never change, of a type that is declared before."""
        self.flash += itemsize * len(texts)
        self.table(f"static const {type_name} {name}", texts, len(texts))

    def integers(self, name: str, values: Array, type_name: str, itemsize: int) -> None:
        """Add a table of integers that never change."""
        self.flash += values.size * itemsize
        texts = (str(int(value)) for value in values)
        self.table(f"static const {type_name} {name}", texts, values.size)

    def state(self, name: str, values: Any, capacity: int = 0) -> None:
        """Add a table of changing numbers with room for `capacity`; flash has its first values."""
        texts = self.literals(values)
        room = max(capacity, len(texts))
        self.flash += room * self.dtype.itemsize
        self.ram += room * self.dtype.itemsize
        self.table(f"static real {name}", texts, room)

    def numbers(self, values: Any) -> str:
        """Return numbers as the contents of braces."""
        return ", ".join(self.literals(values))

    def scalars(self, type_name: str, itemsize: int, **values: Any) -> None:
        """Add single numbers that change."""
        for name, value in values.items():
            self.flash += itemsize
            self.ram += itemsize
            self.tables.append(f"static {type_name} {name} = {value};\n")

    def memory(self, name: str, count: int, type_name: str = "real") -> None:
        """Add static memory that a call overwrites."""
        self.ram += count * (self.dtype.itemsize if type_name == "real" else 4)
        self.tables.append(f"static {type_name} {name}[{count}];\n")

    def table(self, declaration: str, texts: Iterable[str], count: int) -> None:
        """Add a table with its contents."""
        items = list(texts)
        rows = [items[i : i + PER_LINE] for i in range(0, len(items), PER_LINE)]
        lines = ",\n    ".join(", ".join(row) for row in rows) or "0"
        self.tables.append(f"{declaration}[{count}] = {{\n    {lines}\n}};\n")

    def text(self, header: str) -> str:
        """Return the text of the file, which includes this header."""
        self.code = called(self.code)
        suffix = "f" if self.type == "float" else ""
        macros = "".join(
            f"#define {name.upper()} {name}{suffix}\n"
            for name in FUNCTIONS
            if any(re.search(rf"\b{name.upper()}\b", part) for part in self.code)
        )
        column = "int32_t" if self.wide_columns else "uint16_t"
        columns = f"typedef {column} column;\n" if any("column *" in c for c in self.code) else ""
        needs_string = any(STRINGS.search(part) for part in self.code)
        calendar = any(re.search(r"\b(floor|fmod)\(", part) for part in self.code)
        includes = "#include <math.h>\n" if macros or calendar else ""
        includes += "#include <string.h>\n" if needs_string else ""
        types = Template(TYPES).substitute(self.names)
        parts = [*self.tables, *self.code]
        top = f'#include "{header}"\n\n{includes}\n{macros}\n{types}{columns}\n'
        return top.replace("\n\n\n", "\n\n") + "\n".join(parts)


def literal_of(value: float, dtype: Any) -> str:
    """Return the literal of a number in a type; 9 digits tell floats apart."""
    single = dtype == np.float32
    text = f"{value:.9g}" if single else repr(value)
    text += ("" if "e" in text or "." in text else ".0") + ("f" if single else "")
    return f"({text})" if text.startswith("-") else text


def called(blocks: list[str]) -> list[str]:
    """Return the functions of these texts, without static ones that no other names."""
    units = [unit for block in blocks for unit in UNIT_END.split(block) if unit.strip()]
    while True:
        kept = [unit for unit in units if is_called(unit, units)]
        if len(kept) == len(units):
            return kept
        units = kept


def is_called(unit: str, units: list[str]) -> bool:
    """Return whether a function is not static, or one of the others names it."""
    found = STATIC.search(unit)
    if found is None:
        return True
    name = re.compile(rf"\b{found[1]}\b")
    return any(name.search(other) for other in units if other is not unit)


TYPES = """typedef ${prefix}_real real;

/* A row: n values, of the columns if there are some, else of the first n features. */
typedef struct {
    const real *values;
    const int32_t *columns;
    int32_t n;
} row;
"""
