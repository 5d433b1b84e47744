"""What is printed on a terminal: text as it is, and a bar for what takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Of rich's print: text as it is.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}


@contextmanager
def bar_on(console: Any) -> Iterator[Any]:
    """Yield a function (done, total, text) that moves a bar, or does nothing off a terminal."""
    if not console.is_terminal or not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, text: bar.update(
            task, completed=done, total=total, description=text
        )
