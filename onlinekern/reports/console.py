"""The terminal: text is printed as it is, and a bar moves while something takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onlinekern.estimators.progress import moving_bar

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


@contextmanager
def bar_on(console: Any) -> Iterator[Any]:
    """Yield a function (done, total, text) that moves a bar, or does nothing off a terminal."""
    if not console.is_terminal or not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    with moving_bar(console, transient=True) as show:
        yield show
