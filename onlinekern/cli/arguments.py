"""Parsing of arguments, and checks that need no data."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

PAGES = (".html", ".htm")


def check_values(request: Any) -> None:
    """Raise ValueError unless each option is None or one of the allowed values of its field."""
    for field in fields(request):
        value, (known, least, most) = getattr(request, field.name), field.metadata["allowed"]
        if value is None:
            continue
        if known is not None and value not in known:
            from onlinekern.estimators.validation import one_of

            one_of(flag_of(field, value), value, known)
        if least is not None and not least <= value <= most:
            wanted = f"at least {least}" if most == inf else f"from {least} to {most}"
            raise ValueError(f"{flag_of(field, value)} must be {wanted}, got {value}")


def check_unused(request: Any, why: str, *names: str) -> None:
    """Raise ValueError if an option without effect has been given, even with its default.

    Parameters
    ----------
    request : Request
    why : str
        What follows the option's name in the message.
    *names : str
        Fields; those that the request does not have are left out.
    """
    for field in fields(request):
        value = getattr(request, field.name, None)
        if field.name in names and (value != default_of(field) or field.name in request.named):
            raise ValueError(f"{flag_of(field, value)} {why}")


def default_of(field: Field[Any]) -> Any:
    """Return the default of an option, or MISSING if it is required."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def flag_of(field: Field[Any], value: Any) -> str:
    """Return the command-line text that sets an option to this value."""
    # In an annotation, the first name of typer.Option is at the position of a default.
    declared = field.metadata["parameter"].default
    prefix = "--no-" if value is False else "--"
    return declared if isinstance(declared, str) else prefix + field.name.replace("_", "-")


def check_report(path: str | None) -> None:
    """Raise ValueError or ImportError if the page could not be written at the end of a run."""
    if path is None:
        return
    if Path(path).suffix.lower() not in PAGES:
        raise ValueError(f"--report {path}: the name must end in {' or '.join(PAGES)}")
    import_module("matplotlib")


def check_share(option: str, value: float | None) -> None:
    """Raise ValueError if a share is not between 0 and 1."""
    if value is not None and not 0 < value < 1:
        raise ValueError(f"{option} must be between 0 and 1, got {value}")


def parse_value(text: str) -> Any:
    """Return text as a number, True, False or None if possible; otherwise unchanged."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def parse_pairs(option: str, texts: Iterable[str], last: bool = False) -> dict[str, str]:
    """Parse NAME=VALUE texts into a dictionary; ValueError names the option.

    A name given twice is an error too. A text is divided at the first equals sign, or at the last.
    """
    found: dict[str, str] = {}
    for text in texts:
        parts = text.rpartition("=") if last else text.partition("=")
        name, _, value = (part.strip() for part in parts)
        if not name or not value:
            raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
        if found.setdefault(name, value) != value:
            raise ValueError(f"{option} {text!r}: {name} has the value {found[name]} already")
    return found
