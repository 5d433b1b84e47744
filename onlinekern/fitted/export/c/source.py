"""Source of a C file: tables, and each needed function once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Template
from typing import Any, ClassVar

import numpy as np

from onlinekern.estimators.types import Array
from onlinekern.fitted.export.c.fields import (
    ANY,
    COUNTER,
    FINITE,
    HEAD,
    PER_LINE,
    VERSION,
    Field,
    dtype_of,
    literal_of,
)
from onlinekern.fitted.export.c.reentrant import Function, called, with_model, wrappers
from onlinekern.fitted.export.c.sections import sections

# Number of table entries between 2^0 and 2^-1, and fractional bits of an entry.
PARTS, VALUE_BITS = 256, 30
ENTRIES_PER_LINE = 8


def halves() -> Array:
    """Return the table of 2^-t for t from 0 to 1, as an ndarray (PARTS + 1,) of whole numbers."""
    return np.rint(np.exp2(VALUE_BITS - np.arange(PARTS + 1) / PARTS)).astype(np.int64)


def exponential(prefix: str) -> str:
    """Return the definition of EXP for float: from a table if a macro asks for it, else expf."""
    entries = [f"{entry}u" for entry in halves().tolist()]
    rows = [entries[i : i + ENTRIES_PER_LINE] for i in range(0, len(entries), ENTRIES_PER_LINE)]
    lines = ",\n    ".join(", ".join(row) for row in rows)
    table = f"static const uint32_t halves[{len(entries)}] = {{\n    {lines}\n}};\n\n"
    function, _ = sections()["table_exp"]
    name = f"{prefix.upper()}_TABLE_EXP"
    return (
        f"#ifdef {name}\n{table}{function}#define EXP table_exp\n#else\n#define EXP expf\n#endif\n"
    )


FUNCTIONS = ("exp", "tanh", "sqrt", "fabs", "cos", "sin", "pow", "expm1", "log", "log1p")
STRINGS = r"\b(mem(set|cpy|move)|str(cmp|len))\b"
CALENDAR = r"\b(floor|fmod)\("


def mentions(parts: list[str], pattern: str) -> bool:
    """Return whether some part of a file matches a pattern."""
    return any(re.search(pattern, part) for part in parts)


def includes(used: list[str], parts: list[str]) -> str:
    """Return the includes that parts of a file need; `used` are functions of <math.h>."""
    math = "#include <math.h>\n" if used or mentions(parts, CALENDAR) else ""
    return math + ("#include <string.h>\n" if mentions(parts, STRINGS) else "")


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
        Bytes of the constant tables and of a model.
    fields : list of Field
        Fields that learning changes.
    identity, room : int
        Numbers by which a state identifies its model: `identity`, and the room for support vectors.
    fixed : bool
        Whether there are landmarks, and they are constants.
    scratch : dict
        Name -> declaration of working memory, which each call overwrites.
    """

    # Section with the types that functions use, if any.
    types: ClassVar[str] = "types"

    def __init__(self, dtype: Any, prefix: str) -> None:
        self.dtype = np.dtype(dtype)
        self.names = {"prefix": prefix, "PREFIX": prefix.upper()}
        self.flash = self.ram = 0
        self.fields: list[Field] = []
        self.scratch: dict[str, str] = {}
        self.shared: list[Function] = []
        self.identity = self.room = 0
        self.fixed = False
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
        """Add functions by name, with those that they need."""
        for name in names:
            if name not in self.used:
                self.used.add(name)
                self.fill(name)

    def fill(self, name: str, **values: Any) -> None:
        """Add a template filled with these values."""
        self.code.append(self.filled(name, **values))

    def filled(self, name: str, **values: Any) -> str:
        """Return a template filled with values, after adding the functions that it needs."""
        text, needed = sections()[name]
        self.use(*needed)
        return Template(text).substitute(self.names | {k: str(v) for k, v in values.items()})

    def number(self, value: Any) -> str:
        """Return a number as a literal from which the compiler gets the same bits."""
        return self.literal(float(self.dtype.type(self.checked(np.float64(value)))))

    def literal(self, value: float) -> str:
        """Return the literal of a number that fits the type."""
        return literal_of(value, self.dtype)

    def literals(self, values: Any) -> list[str]:
        """Return the literals of an array."""
        narrow = self.checked(np.ravel(values)).astype(self.dtype)
        return [self.literal(value) for value in narrow.tolist()]

    def checked(self, values: Any) -> Any:
        """Return the values; raise ValueError if one is too large for the number type."""
        with np.errstate(over="ignore"):
            fits = np.isfinite(values) & np.isfinite(np.asarray(values).astype(self.dtype))
        if not np.all(fits):
            largest = np.max(np.abs(values))
            raise ValueError(
                f"dtype={self.dtype.name!r} has no room for a number of the model, {largest}"
            )
        return values

    def constants(self, name: str, values: Any) -> None:
        """Add a constant table of numbers."""
        texts = self.literals(values)
        self.flash += len(texts) * self.dtype.itemsize
        self.table(f"static const real {name}", texts, len(texts))

    def exact(self, id_: str, **tables: Array) -> None:
        """Add tables of one term, whose numbers keep their own types."""
        for name, values in tables.items():
            self.flash += values.nbytes
            texts = [literal_of(value, values.dtype) for value in values.ravel().tolist()]
            type_name = "float" if values.dtype == np.float32 else "double"
            self.table(f"static const {type_name} {id_}_{name}", texts, len(texts))

    def records(self, name: str, type_name: str, itemsize: int, texts: list[str]) -> None:
        """Add a constant table of records, whose type is declared before."""
        self.flash += itemsize * len(texts)
        self.table(f"static const {type_name} {name}", texts, len(texts))

    def integers(self, name: str, values: Array, type_name: str, itemsize: int) -> None:
        """Add a constant table of integers."""
        self.flash += values.size * itemsize
        texts = (str(int(value)) for value in values)
        self.table(f"static const {type_name} {name}", texts, values.size)

    def changing(self, name: str, values: Array) -> None:
        """Add floats to the state, whatever the number type of the file."""
        self.remember(name, "float", values.ravel(), max(1, values.size))

    def state(self, name: str, values: Any, capacity: int = 0) -> None:
        """Add numbers to the state, with room for `capacity` of them."""
        numbers = self.checked(np.ravel(values)).astype(self.dtype)
        self.remember(name, "real", numbers, max(1, capacity, len(numbers)))

    def scalar(self, name: str, value: Any) -> None:
        """Add a number to the state."""
        self.remember(name, "real", self.checked(np.array([value], dtype=np.float64)), 0)

    def counter(
        self, name: str, value: int, type_name: str = "int64_t", most: int = COUNTER
    ) -> None:
        """Add a whole number from 0 to `most` to the state."""
        self.remember(name, type_name, np.array([value]), 0, most)

    def whole_numbers(
        self, name: str, values: Array, type_name: str, room: int, most: int = COUNTER
    ) -> None:
        """Add whole numbers from 0 to `most` to the state, with room for `room` of them."""
        self.remember(name, type_name, values, room, most)

    def words(self, name: str, values: Any) -> None:
        """Add words of 64 bits to the state."""
        self.remember(name, "uint64_t", np.array(values, dtype=np.uint64), len(values), ANY)

    def structure(self, name: str, members: dict[str, Any]) -> None:
        """Add a structure of numbers and arrays to the state; its type has the same name."""
        sizes = [np.size(value) if np.ndim(value) else 0 for value in members.values()]
        record = tuple(zip(members, sizes, strict=True))
        values = self.checked(np.concatenate([np.ravel(value) for value in members.values()]))
        self.remember(name, "real", values, len(values), FINITE, record)

    def remember(
        self,
        name: str,
        type_name: str,
        values: Array,
        room: int,
        most: int = FINITE,
        record: tuple[tuple[str, int], ...] = (),
    ) -> None:
        """Add a field to the state; without `room` it is a single number.

        The field takes RAM, and its first values take flash.
        """
        padded = np.zeros(max(1, room), dtype_of(type_name, self.dtype))
        padded[: len(values)] = values
        self.fields.append(Field(name, type_name, padded, room == 0, most, record))
        self.flash += padded.nbytes
        self.ram += padded.nbytes

    def memory(self, name: str, count: int, type_name: str = "real") -> None:
        """Add working memory, which each call overwrites."""
        self.ram += count * (self.dtype.itemsize if type_name == "real" else 4)
        self.scratch[name] = f"{self.public(type_name)} {name}[{count}];"

    def public(self, type_name: str) -> str:
        """Return the name of a type in the header."""
        return f"{self.names['prefix']}_real" if type_name == "real" else type_name

    def table(self, declaration: str, texts: Iterable[str], count: int) -> None:
        """Add a table with its contents."""
        items = list(texts)
        rows = [items[i : i + PER_LINE] for i in range(0, len(items), PER_LINE)]
        lines = ",\n    ".join(", ".join(row) for row in rows) or "0"
        self.tables.append(f"{declaration}[{count}] = {{\n    {lines}\n}};\n")

    def text(self, header: str) -> str:
        """Return the text of the file, which includes this header."""
        fields, scratch = [each.name for each in self.fields], [*self.scratch]
        self.code = called(self.code)
        functions, self.shared = with_model(self.code, self.names["prefix"], fields, scratch)
        used = [name for name in FUNCTIONS if mentions(functions, rf"\b{name.upper()}\b")]
        has_table = self.type == "float" and "exp" in used
        by_table = [exponential(self.names["prefix"])] if has_table else []
        macros = "".join(self.macro(name) for name in used if name != "exp" or not has_table)
        typedefs = self.typedefs(functions)
        functions += self.own_functions()
        included = includes(used, [*functions, *by_table])
        types = self.filled(self.types) if self.types else ""
        top = f'#include "{header}"\n\n{included}\n{macros}\n{types}{typedefs}\n'
        parts = [*by_table, *self.tables, *self.first_values(), *functions]
        return top.replace("\n\n\n", "\n\n") + "\n".join(parts)

    def macro(self, name: str) -> str:
        """Return the macro for a function of <math.h> in the number type."""
        return f"#define {name.upper()} {name}{'f' if self.type == 'float' else ''}\n"

    def typedefs(self, functions: list[str]) -> str:
        """Return typedefs for columns and targets, if functions use them."""
        column = "int32_t" if self.wide_columns else "uint16_t"
        found = [f"typedef {column} column;\n"] if mentions(functions, r"column \*") else []
        for each in self.fields:
            if each.name.rpartition("_")[2] == "target" and each.record:
                own = f"struct {self.names['prefix']}_{each.name}"
                found.append(f"typedef {own} {each.name}_type;\n")
        return "".join(found)

    def own_functions(self) -> list[str]:
        """Return the functions for models of the caller, and those for the shared model."""
        if not self.fields and not self.scratch:
            return []
        found = [self.filled("init_state" if self.fields else "init_scratch")]
        if self.fields:
            own = ",\n".join(each.entry(self.names["prefix"]) for each in self.fields)
            given = {"version": VERSION, "identity": self.identity, "room": self.room}
            given["fixed"] = int(self.fixed)
            found.append(self.filled("state_bytes", fields=own, **given))
        if self.shared:
            names = f"{self.names['PREFIX']}_NO_SHARED_MODEL"
            shared = self.filled("shared_model") + "\n" + wrappers(self.shared)
            found.append(f"#ifndef {names}\n{shared}#endif\n")
        return found

    def n_bytes(self) -> int:
        """Return the bytes of a state."""
        return HEAD + sum(each.values.nbytes for each in self.fields) + 4

    def first_values(self) -> list[str]:
        """Return the table of the first values of a model, if it learns."""
        if not self.fields:
            return []
        lines = ",\n    ".join(each.contents() for each in self.fields)
        return [
            f"static const {self.names['prefix']}_state exported_values = {{\n    {lines}\n}};\n"
        ]

    def structures(self) -> str:
        """Return the types of the header for state and working memory of a model."""
        prefix = self.names["prefix"]
        found = "".join(each.structure(prefix) for each in self.fields)
        members = [f"    {declaration}\n" for declaration in self.scratch.values()]
        if self.fields:
            own = "".join(f"    {each.declaration(prefix)}\n" for each in self.fields)
            found += f"/* What learning changes. */\ntypedef struct {{\n{own}}} {prefix}_state;\n\n"
            members.insert(0, f"    {prefix}_state state;\n")
        if not members:
            return ""
        text = "/* A model: its state, then working memory. */\ntypedef struct {\n"
        return f"\n{found}{text}{''.join(members)}}} {prefix}_t;\n"
