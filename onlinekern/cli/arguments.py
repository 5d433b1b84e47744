"""Arguments of commands: checks of what can be seen to be wrong at once, and parsing."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable
from typing import Any


def parse_value(text: str) -> Any:
    """A number, True, False or None if the text says so; else the text."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def parse_pairs(option: str, texts: Iterable[str], last: bool = False) -> dict[str, str]:
    """NAME=VALUE as name -> text; ValueError, which names the option, of anything else.

    The first equals sign divides them, or the last one.
    """
    found = {}
    for text in texts:
        parts = text.rpartition("=") if last else text.partition("=")
        name, _, value = (part.strip() for part in parts)
        if not name or not value:
            raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
        found[name] = value
    return found
