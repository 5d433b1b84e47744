"""Labels of the classes as a table in C."""

from __future__ import annotations

from onlinekern.estimators.types import Array
from onlinekern.fitted.export.c.source import Source

# Longest literal that C guarantees; compilers warn about longer ones.
LONGEST = 4095


def label_table(source: Source, labels: Array | None) -> str:
    """Add the table of labels to a file; return its declaration for the header."""
    if labels is None:
        return ""
    kind, texts, size = forms_of(source, labels)
    name = f"{source.names['prefix']}_labels"
    source.flash += size
    declaration = f"const {kind}{name}"
    source.table(declaration, texts, len(labels))
    return f"\n/* Class number -> label. */\nextern {declaration}[{len(labels)}];\n"


def forms_of(source: Source, labels: Array) -> tuple[str, list[str], int]:
    """Return the C type of labels, their literals, and the bytes that they take."""
    if labels.dtype.kind == "f":
        return "double ", [repr(float(label)) for label in labels], 8 * len(labels)
    if labels.dtype.kind in "biu":
        numbers = [int(label) for label in labels]
        if all(abs(number) < 1 << 31 for number in numbers):
            return "int32_t ", [str(number) for number in numbers], 4 * len(labels)
        if all(-(1 << 63) < number < 1 << 63 for number in numbers):
            return "int64_t ", [f"INT64_C({number})" for number in numbers], 8 * len(labels)
    texts = [str(label) for label in labels]
    return "char *const ", literals(source, texts), sum(len(in_utf8(text)) + 1 for text in texts)


def literals(source: Source, texts: list[str]) -> list[str]:
    """Return the entries of a table of texts; a text too long for a literal becomes an array."""
    return [
        literal(text) if len(in_utf8(text)) <= LONGEST else array_of(source, text) for text in texts
    ]


def array_of(source: Source, text: str) -> str:
    """Add the characters of a text to a file as an array; return its name."""
    name = source.new_id("text")
    quoted = [character(byte).replace("'", "\\'") for byte in in_utf8(text)]
    characters = [*(f"'{one}'" for one in quoted), "0"]
    source.table(f"static const char {name}", characters, len(characters))
    return name


def literal(text: str) -> str:
    """Return an ASCII string literal with the UTF-8 bytes of a text."""
    return f'"{"".join(map(character, in_utf8(text)))}"'


def character(byte: int) -> str:
    """Return a byte of a text as a character of a literal."""
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"


def in_utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of a text."""
    return text.encode("utf-8", "surrogatepass")
