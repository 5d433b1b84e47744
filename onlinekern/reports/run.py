"""What the pages of all commands say of a run: what was asked for, and with which versions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from onlinekern._config import show_config
from onlinekern.reports.machine import versions
from onlinekern.reports.page import Html, card, cards, element, pairs


def about(command: str, options: Mapping[str, Any]) -> Html:
    """Return two boxes: the options of a command, and the versions that ran it."""
    given = [(name.replace("_", "-"), shown(value)) for name, value in options.items()
             if value is not None and value is not False and value != []]  # fmt: skip
    return cards(card(f"Options of onlinekern {command}", pairs(given)), built_with())


def built_with() -> Html:
    """Return a box of versions: of this library, and of what it runs with."""
    config = show_config("dicts")
    assert config is not None
    built = [("onlinekern", config["version"]), ("instruction set", config["instruction_set"])]
    return card("Versions", pairs([*built, *versions()]))


def shown(value: Any) -> str:
    """Return an option as text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "yes" if value is True else str(value)


def head(title: str, line: str) -> Html:
    """Return the title of a page, a line under it, and when it was written."""
    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    return element(
        "header", element("h1", title), element("p", line), element("p", now, class_="soft")
    )


def duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
