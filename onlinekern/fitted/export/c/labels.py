"""Labels of the classes as a table in C."""

from __future__ import annotations

from onlinekern.estimators.types import Array
from onlinekern.fitted.export.c.source import Source


def label_table(source: Source, labels: Array | None) -> str:
    """Add the table of the labels to a file; return its declaration for the header."""
    if labels is None:
        return ""
    kind, texts, size = forms_of(labels)
    name = f"{source.names['prefix']}_labels"
    source.flash += size
    declaration = f"const {kind}{name}"
    source.table(declaration, texts, len(labels))
    return f"\n/* Class number -> label. */\nextern {declaration}[{len(labels)}];\n"


def forms_of(labels: Array) -> tuple[str, list[str], int]:
    """Return the type of labels in C, their literals, and the bytes that they take."""
    if labels.dtype.kind == "f":
        return "double ", [repr(float(label)) for label in labels], 8 * len(labels)
    if labels.dtype.kind in "biu":
        numbers = [int(label) for label in labels]
        if all(abs(number) < 1 << 31 for number in numbers):
            return "int32_t ", [str(number) for number in numbers], 4 * len(labels)
        if all(-(1 << 63) < number < 1 << 63 for number in numbers):
            return "int64_t ", [f"INT64_C({number})" for number in numbers], 8 * len(labels)
    texts = [str(label) for label in labels]
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) + 1 for text in texts)
    return "char *const ", [literal(text) for text in texts], n_bytes


def literal(text: str) -> str:
    """Return a string literal of ASCII characters, whose bytes are the text's in UTF-8."""
    found = ""
    for byte in text.encode("utf-8", "surrogatepass"):
        character = chr(byte)
        plain = 32 <= byte < 127 and character not in '"\\?'
        found += character if plain else f"\\{byte:03o}"
    return f'"{found}"'
