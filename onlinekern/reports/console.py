"""The terminal, on which text is printed as it is."""

from __future__ import annotations

from typing import Any

# Arguments with which rich prints text as it is.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
# A piped table has no terminal to ask for its width.
NARROWEST = 80


def open_console(stderr: bool = False) -> Any:
    """Return a console of rich on standard output, or on standard error."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, NARROWEST)
    return console
